/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * issue.c: calls one function of librpma many times, over a provider that does nothing,
 * so that what is counted is the library alone. It runs with ours and with any other of
 * the same interface; see issue.sh.
 *
 * usage: issue srq_recv|send|cq_get_wc|srq_recv_batch TIMES
 */
#include <config.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <rdma/rdma_cma.h>

#include "lib/rpma/librpma.h"

/* Buffers of one batch, and bytes of each. */
#define BATCH 32
#define LEN   64

/* ---- the provider ------------------------------------------------------------- */

static struct ibv_device device = { .transport_type = IBV_TRANSPORT_IB,
	.name = "none" };
static struct verbs_context verbs;
static struct ibv_pd pd;
static struct ibv_mr mr;
static struct ibv_srq srq;
static struct ibv_comp_channel comp_channel = { .fd = -1 };
static struct ibv_cq cq;
static struct ibv_qp qp;
static struct rdma_event_channel event_channel = { .fd = -1 };
static struct rdma_cm_id id;
static struct sockaddr_storage addr = { .ss_family = AF_INET };
static struct rdma_addrinfo addrinfo = {
	.ai_dst_addr = (struct sockaddr *)&addr,
	.ai_dst_len = sizeof(addr),
};

/* Names that the header has macros in front of. */
#undef ibv_reg_mr

static int
post_srq_recv(struct ibv_srq *to, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)to;
	(void)wr;
	(void)bad;
	return 0;
}

static int
post_send(struct ibv_qp *to, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)to;
	(void)wr;
	(void)bad;
	return 0;
}

static int
poll_cq(struct ibv_cq *from, int n, struct ibv_wc *wc)
{
	(void)from;
	(void)n;
	(void)wc;
	return 1;
}

static int
req_notify_cq(struct ibv_cq *what, int solicited)
{
	(void)what;
	(void)solicited;
	return 0;
}

static int
query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *in,
    struct ibv_device_attr_ex *attr, size_t size)
{
	(void)context;
	(void)in;
	memset(attr, 0, size);
	return 0;
}

int
ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	memset(attr, 0, sizeof(*attr));
	return 0;
}

struct ibv_pd *
ibv_alloc_pd(struct ibv_context *context)
{
	pd.context = context;
	return &pd;
}

struct ibv_mr *
ibv_reg_mr(struct ibv_pd *of, void *start, size_t length, int access)
{
	(void)access;
	mr = (struct ibv_mr){ .pd = of, .addr = start, .length = length, .lkey = 1 };
	return &mr;
}

struct ibv_mr *
ibv_reg_mr_iova2(struct ibv_pd *of, void *start, size_t length, uint64_t iova,
    unsigned int access)
{
	(void)iova;
	return ibv_reg_mr(of, start, length, (int)access);
}

struct ibv_srq *
ibv_create_srq(struct ibv_pd *of, struct ibv_srq_init_attr *attr)
{
	(void)attr;
	srq.context = of->context;
	return &srq;
}

struct ibv_comp_channel *
ibv_create_comp_channel(struct ibv_context *context)
{
	(void)context;
	return &comp_channel;
}

struct ibv_cq *
ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int vector)
{
	(void)cqe;
	(void)cq_context;
	(void)channel;
	(void)vector;
	cq.context = context;
	return &cq;
}

int
rdma_getaddrinfo(const char *node, const char *service,
    const struct rdma_addrinfo *hints, struct rdma_addrinfo **list)
{
	(void)node;
	(void)service;
	(void)hints;
	*list = &addrinfo;
	return 0;
}

void
rdma_freeaddrinfo(struct rdma_addrinfo *list)
{
	(void)list;
}

int
rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **made,
    void *context, enum rdma_port_space space)
{
	(void)channel;
	(void)space;
	id.context = context;
	id.verbs = &verbs.context;
	*made = &id;
	return 0;
}

int
rdma_resolve_addr(struct rdma_cm_id *of, struct sockaddr *src, struct sockaddr *dst,
    int timeout_ms)
{
	(void)of;
	(void)src;
	(void)dst;
	(void)timeout_ms;
	return 0;
}

int
rdma_resolve_route(struct rdma_cm_id *of, int timeout_ms)
{
	(void)of;
	(void)timeout_ms;
	return 0;
}

int
rdma_create_qp_ex(struct rdma_cm_id *of, struct ibv_qp_init_attr_ex *attr)
{
	(void)attr;
	qp.context = of->verbs;
	qp.qp_num = 1;
	of->qp = &qp;
	return 0;
}

struct rdma_event_channel *
rdma_create_event_channel(void)
{
	return &event_channel;
}

int
rdma_migrate_id(struct rdma_cm_id *of, struct rdma_event_channel *channel)
{
	(void)of;
	(void)channel;
	return 0;
}

int
rdma_connect(struct rdma_cm_id *of, struct rdma_conn_param *param)
{
	(void)of;
	(void)param;
	return 0;
}

/* ---- what is counted ---------------------------------------------------------- */

struct bench {
	struct rpma_srq *srq;
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_local *mr;
};

static int
repeat_srq_recv(const struct bench *bench, unsigned long times)
{
	int ret = 0;

	while (times-- && !ret)
		ret = rpma_srq_recv(bench->srq, bench->mr, LEN, LEN, bench);
	return ret;
}

static int
repeat_send(const struct bench *bench, unsigned long times)
{
	int ret = 0;

	while (times-- && !ret)
		ret = rpma_send(bench->conn, bench->mr, LEN, LEN,
		    RPMA_F_COMPLETION_ALWAYS, bench);
	return ret;
}

static int
repeat_get_wc(const struct bench *bench, unsigned long times)
{
	struct ibv_wc wc;
	int ret = 0;

	while (times-- && !ret)
		ret = rpma_cq_get_wc(bench->cq, 1, &wc, NULL);
	return ret;
}

/* Not every library has this one. */
static int
repeat_srq_recv_batch(const struct bench *bench, unsigned long times)
{
	__typeof__(rpma_srq_recv_batch) *batch;
	struct rpma_srq_buf bufs[BATCH];
	size_t posted;
	int ret = 0;

	*(void **)&batch = dlsym(RTLD_DEFAULT, "rpma_srq_recv_batch");
	if (!batch)
		return RPMA_E_NOSUPP;
	for (size_t i = 0; i < BATCH; i++)
		bufs[i] = (struct rpma_srq_buf){ i * LEN, LEN, bench };
	while (times-- && !ret)
		ret = batch(bench->srq, bench->mr, bufs, BATCH, &posted);
	return ret;
}

static int
make(struct bench *bench, void *memory, size_t size)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_peer *peer = NULL;
	int ret;

	verbs.sz = sizeof(verbs);
	verbs.query_device_ex = query_device_ex;
	verbs.context.device = &device;
	verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	verbs.context.ops.post_srq_recv = post_srq_recv;
	verbs.context.ops.post_send = post_send;
	verbs.context.ops.poll_cq = poll_cq;
	verbs.context.ops.req_notify_cq = req_notify_cq;
	ret = rpma_peer_new(&verbs.context, &peer);
	if (!ret)
		ret = rpma_mr_reg(peer, memory, size,
		    RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_SEND, &bench->mr);
	if (!ret)
		ret = rpma_srq_new(peer, NULL, &bench->srq);
	if (!ret)
		ret = rpma_conn_req_new(peer, "10.0.0.1", "7471", NULL, &req);
	if (!ret)
		ret = rpma_conn_req_connect(&req, NULL, &bench->conn);
	if (!ret)
		ret = rpma_conn_get_cq(bench->conn, &bench->cq);
	return ret;
}

static const struct {
	const char *name;
	int (*repeat)(const struct bench *bench, unsigned long times);
} benches[] = {
	{ "srq_recv", repeat_srq_recv },
	{ "send", repeat_send },
	{ "cq_get_wc", repeat_get_wc },
	{ "srq_recv_batch", repeat_srq_recv_batch },
};

int
main(int argc, char *argv[])
{
	static char memory[BATCH * LEN];
	struct bench bench = { .srq = NULL };
	int ret = RPMA_E_INVAL;

	if (argc == 3)
		ret = make(&bench, memory, sizeof(memory));
	for (size_t i = 0; !ret && i < sizeof(benches) / sizeof(benches[0]); i++) {
		if (strcmp(benches[i].name, argv[1]))
			continue;
		ret = benches[i].repeat(&bench, strtoul(argv[2], NULL, 10));
		if (!ret)
			return 0;
	}
	fprintf(stderr, "issue: %s\n", ret ? rpma_err_2str(ret) : "no such call");
	return 1;
}
