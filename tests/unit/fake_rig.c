/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_rig.c: see fake_rig.h. */
#include <config.h>

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/fake_rig.h"

static struct sockaddr *
address(const char *addr, uint16_t port, struct sockaddr_in *sin)
{
	memset(sin, 0, sizeof(*sin));
	sin->sin_family = AF_INET;
	sin->sin_port = htons(port);
	ck_assert_int_eq(inet_pton(AF_INET, addr, &sin->sin_addr), 1);
	return (struct sockaddr *)sin;
}

void
rig_open(struct rig *rig, uint32_t depth)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = depth, .max_sge = 1 } };
	struct sockaddr_in sin;

	memset(rig, 0, sizeof(*rig));
	rig->verbs = fake_context(0);
	rig->pd = ibv_alloc_pd(rig->verbs);
	ck_assert_ptr_nonnull(rig->pd);
	rig->mr =
	    ibv_reg_mr(rig->pd, rig->buf, sizeof(rig->buf), IBV_ACCESS_LOCAL_WRITE);
	rig->out_mr = ibv_reg_mr(rig->pd, rig->out, sizeof(rig->out), 0);
	ck_assert(rig->mr && rig->out_mr);
	rig->comp = ibv_create_comp_channel(rig->verbs);
	ck_assert_ptr_nonnull(rig->comp);
	rig->cq = ibv_create_cq(rig->verbs, 128, NULL, rig->comp, 0);
	ck_assert_ptr_nonnull(rig->cq);
	rig->srq = ibv_create_srq(rig->pd, &attr);
	ck_assert_ptr_nonnull(rig->srq);
	rig->channel = rdma_create_event_channel();
	ck_assert_ptr_nonnull(rig->channel);
	ck_assert_int_eq(fcntl(rig->channel->fd, F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(fcntl(rig->comp->fd, F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(rdma_create_id(rig->channel, &rig->listener, rig, RDMA_PS_TCP),
	    0);
	ck_assert_int_eq(rdma_bind_addr(rig->listener, address("127.0.0.1", 0, &sin)),
	    0);
	ck_assert_int_eq(rdma_listen(rig->listener, 0), 0);
	rig->port = ntohs(rdma_get_src_port(rig->listener));
	ck_assert_uint_ne(rig->port, 0);
}

void
rig_close(struct rig *rig)
{
	ck_assert_int_eq(rdma_destroy_id(rig->listener), 0);
	rdma_destroy_event_channel(rig->channel);
	ck_assert_int_eq(ibv_destroy_srq(rig->srq), 0);
	ck_assert_int_eq(ibv_destroy_cq(rig->cq), 0);
	ck_assert_int_eq(ibv_destroy_comp_channel(rig->comp), 0);
	ck_assert_int_eq(ibv_dereg_mr(rig->mr), 0);
	ck_assert_int_eq(ibv_dereg_mr(rig->out_mr), 0);
	ck_assert_int_eq(ibv_dealloc_pd(rig->pd), 0);
	ck_assert_str_eq(fake_leaks(), "");
	ck_assert_str_eq(fake_misuse(), "");
}

static struct ibv_sge
slot(const struct rig *rig, unsigned i)
{
	return (struct ibv_sge){
		.addr = (uint64_t)(uintptr_t)rig->buf[i],
		.length = RIG_SLOT,
		.lkey = rig->mr->lkey,
	};
}

int
rig_post(struct rig *rig, unsigned i)
{
	struct ibv_sge sge = slot(rig, i);
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad = NULL;
	int rc = ibv_post_srq_recv(rig->srq, &wr, &bad);

	ck_assert_ptr_eq(bad, rc ? &wr : NULL);
	return rc;
}

int
rig_post_qp(struct rig *rig, struct rdma_cm_id *id, unsigned i)
{
	struct ibv_sge sge = slot(rig, i);
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad = NULL;
	int rc = ibv_post_recv(id->qp, &wr, &bad);

	ck_assert_ptr_eq(bad, rc ? &wr : NULL);
	return rc;
}

int
rig_poll(struct rig *rig, int n, struct ibv_wc *wc)
{
	return ibv_poll_cq(rig->cq, n, wc);
}

void
rig_wait(struct rig *rig, int n, struct ibv_wc *wc)
{
	const struct timespec step = { .tv_nsec = 1000000 };
	int left = RIG_WAIT_MS;
	int got = 0;
	int rc;

	while (got < n && left-- > 0) {
		rc = ibv_poll_cq(rig->cq, n - got, wc + got);
		ck_assert_int_ge(rc, 0);
		got += rc;
		if (rc == 0)
			nanosleep(&step, NULL);
	}
	ck_assert_int_eq(got, n);
}

struct rdma_cm_id *
rig_event(struct rig *rig, enum rdma_cm_event_type type)
{
	struct pollfd pfd = { .fd = rig->channel->fd, .events = POLLIN };
	struct rdma_cm_event *event = NULL;
	struct rdma_cm_id *id;

	ck_assert_int_eq(poll(&pfd, 1, RIG_WAIT_MS), 1);
	ck_assert_int_eq(rdma_get_cm_event(rig->channel, &event), 0);
	ck_assert_str_eq(rdma_event_str(event->event), rdma_event_str(type));
	id = event->id;
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	return id;
}

void
rig_no_event(struct rig *rig)
{
	struct rdma_cm_event *event;

	ck_assert_int_eq(rdma_get_cm_event(rig->channel, &event), -1);
	ck_assert_int_eq(errno, EAGAIN);
}

int
rig_qp(struct rig *rig, struct rdma_cm_id *id, uint32_t sq_size)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = rig->cq,
		.recv_cq = rig->cq,
		.srq = rig->srq,
		.cap = {
			.max_send_wr = sq_size,
			.max_recv_wr = RIG_QP_RECVS,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = 8,
		},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = rig->pd,
	};

	return rdma_create_qp_ex(id, &attr);
}

struct rdma_cm_id *
rig_accept(struct rig *rig, struct fake_peer **peer)
{
	struct rdma_conn_param param = {
		.private_data = "reply",
		.private_data_len = 5,
		.rnr_retry_count = 7,
	};
	struct rdma_cm_id *id;

	*peer = fake_peer_connect(rig->port, "hello", 5);
	ck_assert_ptr_nonnull(*peer);
	id = rig_event(rig, RDMA_CM_EVENT_CONNECT_REQUEST);
	ck_assert_int_eq(rig_qp(rig, id, 4), 0);
	ck_assert_int_eq(rdma_accept(id, &param), 0);
	ck_assert_ptr_eq(rig_event(rig, RDMA_CM_EVENT_ESTABLISHED), id);
	return id;
}

struct rdma_cm_id *
rig_dial(struct rig *rig, const char *addr, uint16_t port)
{
	struct rdma_conn_param param = { .private_data = "dial",
		.private_data_len = 4 };
	struct rdma_cm_id *id = NULL;
	struct sockaddr_in sin;

	ck_assert_int_eq(rdma_create_id(rig->channel, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, address(addr, port, &sin), 1000),
	    0);
	ck_assert_ptr_null(id->verbs);
	ck_assert_ptr_eq(rig_event(rig, RDMA_CM_EVENT_ADDR_RESOLVED), id);
	ck_assert_ptr_nonnull(id->verbs);
	ck_assert_int_eq(rdma_resolve_route(id, 1000), 0);
	ck_assert_ptr_eq(rig_event(rig, RDMA_CM_EVENT_ROUTE_RESOLVED), id);
	ck_assert_int_eq(rig_qp(rig, id, 4), 0);
	ck_assert_int_eq(rdma_connect(id, &param), 0);
	return id;
}

int
rig_send(struct rig *rig, struct rdma_cm_id *id, const char *text, uint64_t wr_id)
{
	struct ibv_sge sge = {
		.addr = (uint64_t)(uintptr_t)rig->out,
		.length = (uint32_t)strlen(text),
		.lkey = rig->out_mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(77),
	};
	struct ibv_send_wr *bad;

	ck_assert_uint_lt(strlen(text), sizeof(rig->out));
	memcpy(rig->out, text, strlen(text));
	return ibv_post_send(id->qp, &wr, &bad);
}

void
rig_drop(struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
}
