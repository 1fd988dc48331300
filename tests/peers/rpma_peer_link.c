/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of rpma_peer, completions, and the lines of its transcript. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rpma_peer.h"

#define WAIT_MS 10000

void
die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)fprintf(stderr, "rpma_peer: ");
	(void)vfprintf(stderr, format, args);
	(void)fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

void
must(int result, const char *what)
{
	if (result)
		die("%s: %s", what, rpma_err_2str(result));
}

void
say(const struct run *run, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)printf("%s: ", run->scenario);
	(void)vprintf(format, args);
	(void)printf("\n");
	va_end(args);
}

void
fill(const struct run *run, size_t at, size_t len, unsigned int salt)
{
	uint32_t state = sum(run->scenario, strlen(run->scenario)) + salt;

	for (size_t i = 0; i < len; i++) {
		state = state * 1664525u + 1013904223u;
		run->memory[at + i] = (uint8_t)(state >> 24);
	}
}

/* FNV-1a. */
uint32_t
sum(const void *memory, size_t len)
{
	const uint8_t *bytes = memory;
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return hash;
}

bool
readable(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, ms) > 0;
}

struct rpma_conn_cfg *
cfg_of(const struct shape *shape)
{
	struct rpma_conn_cfg *cfg;

	must(rpma_conn_cfg_new(&cfg), "rpma_conn_cfg_new");
	must(rpma_conn_cfg_set_timeout(cfg, 5000), "rpma_conn_cfg_set_timeout");
	must(rpma_conn_cfg_set_cq_size(cfg, 32), "rpma_conn_cfg_set_cq_size");
	must(rpma_conn_cfg_set_rcq_size(cfg, shape->rcq_size),
	    "rpma_conn_cfg_set_rcq_size");
	must(rpma_conn_cfg_set_compl_channel(cfg, shape->shared),
	    "rpma_conn_cfg_set_compl_channel");
	if (shape->srq)
		must(rpma_conn_cfg_set_srq(cfg, shape->srq), "rpma_conn_cfg_set_srq");
	return cfg;
}

static void
say_private_data(struct run *run, const char *whose,
    const struct rpma_conn_private_data *pdata, bool with_sum)
{
	/* Keys and addresses of a descriptor differ from run to run. */
	if (with_sum)
		say(run, "%s: %u bytes, sum %08x", whose, pdata->len,
		    sum(pdata->ptr, pdata->len));
	else
		say(run, "%s: %u bytes", whose, pdata->len);
}

/* The server's answer: its region and its configuration, one behind the other. */
static void
make_answer(struct run *run, uint8_t *answer, struct rpma_conn_private_data *pdata)
{
	struct rpma_peer_cfg *cfg;
	size_t region_len, cfg_len;

	must(rpma_peer_cfg_new(&cfg), "rpma_peer_cfg_new");
	must(rpma_peer_cfg_set_direct_write_to_pmem(cfg, true), "rpma_peer_cfg_set");
	must(rpma_mr_get_descriptor_size(run->region, &region_len), "size");
	must(rpma_peer_cfg_get_descriptor_size(cfg, &cfg_len), "size");
	must(rpma_mr_get_descriptor(run->region, answer), "rpma_mr_get_descriptor");
	must(rpma_peer_cfg_get_descriptor(cfg, answer + region_len),
	    "rpma_peer_cfg_get_descriptor");
	must(rpma_peer_cfg_delete(&cfg), "rpma_peer_cfg_delete");
	pdata->ptr = answer;
	pdata->len = (uint8_t)(region_len + cfg_len);
	if (region_len != 21 || cfg_len != 1)
		die("descriptors of %zu and %zu bytes", region_len, cfg_len);
}

static void
take_answer(struct link *link)
{
	struct rpma_conn_private_data pdata;
	const uint8_t *answer;

	must(rpma_conn_get_private_data(link->conn, &pdata), "private data");
	say_private_data(link->run, "the server's private data", &pdata, false);
	if (pdata.len < 22)
		die("no descriptors");
	answer = pdata.ptr;
	must(rpma_mr_remote_from_descriptor(answer, 21, &link->remote),
	    "rpma_mr_remote_from_descriptor");
	must(rpma_peer_cfg_from_descriptor(answer + 21, 1, &link->remote_cfg),
	    "rpma_peer_cfg_from_descriptor");
}

static struct rpma_conn_req *
make_request(struct run *run, struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_private_data pdata;
	struct rpma_conn_req *req;
	int fd;

	if (!run->is_server) {
		must(rpma_conn_req_new(run->peer, run->addr, run->port, cfg, &req),
		    "rpma_conn_req_new");
		return req;
	}
	must(rpma_ep_get_fd(run->ep, &fd), "rpma_ep_get_fd");
	if (!readable(fd, WAIT_MS))
		die("%s: no request", run->scenario);
	must(rpma_ep_next_conn_req(run->ep, cfg, &req), "rpma_ep_next_conn_req");
	must(rpma_conn_req_get_private_data(req, &pdata), "private data");
	say_private_data(run, "the client's private data", &pdata, true);
	return req;
}

/* What the role tells the other one along with its request or its answer. */
static const struct rpma_conn_private_data *
private_data(struct run *run, const struct shape *shape, uint8_t *answer,
    struct rpma_conn_private_data *pdata)
{
	static char request[32];

	if (run->is_server) {
		make_answer(run, answer, pdata);
		return pdata;
	}
	if (!shape->request)
		return NULL;
	pdata->ptr = memcpy(request, shape->request, strlen(shape->request));
	pdata->len = (uint8_t)strlen(shape->request);
	return pdata;
}

void
link_open(struct run *run, const struct shape *shape, struct link *link)
{
	struct rpma_conn_cfg *cfg = cfg_of(shape);
	struct rpma_conn_req *req = make_request(run, cfg);
	struct rpma_conn_private_data pdata;
	uint8_t answer[64];

	*link = (struct link){ .run = run };
	for (uint32_t i = 0; i < shape->recvs; i++)
		must(rpma_conn_req_recv(req, run->region, RECV_AT + i * RECV_BYTES,
			 RECV_BYTES, (void *)(uintptr_t)i),
		    "rpma_conn_req_recv");
	must(rpma_conn_req_connect(&req, private_data(run, shape, answer, &pdata),
		 &link->conn),
	    "rpma_conn_req_connect");
	if (req)
		die("the request is still there");
	link_event(link);
	if (!run->is_server) {
		take_answer(link);
		/*
		 * Soft-iWARP of Linux 6.1 may leave what arrives right behind its answer
		 * until more arrives: siw_accept() answers before it listens for data.
		 */
		(void)poll(NULL, 0, 20);
	}
	must(rpma_conn_get_cq(link->conn, &link->cq), "rpma_conn_get_cq");
	must(rpma_conn_get_rcq(link->conn, &link->rcq), "rpma_conn_get_rcq");
	say(run, "a receive queue of its own: %s", link->rcq ? "yes" : "no");
	if (!link->rcq)
		link->rcq = link->cq;
	if (shape->srq) {
		struct rpma_cq *rcq;

		must(rpma_srq_get_rcq(shape->srq, &rcq), "rpma_srq_get_rcq");
		if (rcq)
			link->rcq = rcq;
	}
	must(rpma_conn_get_qp_num(link->conn, &link->qp_num), "rpma_conn_get_qp_num");
	must(rpma_conn_cfg_delete(&cfg), "rpma_conn_cfg_delete");
}

void
link_event(struct link *link)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	int fd;

	must(rpma_conn_get_event_fd(link->conn, &fd), "rpma_conn_get_event_fd");
	if (!readable(fd, WAIT_MS))
		die("%s: no event", link->run->scenario);
	must(rpma_conn_next_event(link->conn, &event), "rpma_conn_next_event");
	say(link->run, "event: %s", rpma_utils_conn_event_2str(event));
}

void
link_delete(struct link *link)
{
	if (link->remote)
		must(rpma_mr_remote_delete(&link->remote), "rpma_mr_remote_delete");
	if (link->remote_cfg)
		must(rpma_peer_cfg_delete(&link->remote_cfg), "rpma_peer_cfg_delete");
	must(rpma_conn_delete(&link->conn), "rpma_conn_delete");
	if (link->conn)
		die("the connection is still there");
}

void
link_close(struct link *link, bool by_server)
{
	if (link->run->is_server == by_server) {
		must(rpma_conn_disconnect(link->conn), "rpma_conn_disconnect");
		link_event(link);
	} else {
		link_event(link);
		/* An answer, which the other side may have stopped to wait for. */
		(void)rpma_conn_disconnect(link->conn);
	}
	link_delete(link);
}

void
take(struct rpma_cq *cq, struct ibv_wc *wc)
{
	int fd, result;

	must(rpma_cq_get_fd(cq, &fd), "rpma_cq_get_fd");
	while ((result = rpma_cq_get_wc(cq, 1, wc, NULL)) == RPMA_E_NO_COMPLETION) {
		if (!readable(fd, WAIT_MS))
			die("no completion");
		must(rpma_cq_wait(cq), "rpma_cq_wait");
	}
	must(result, "rpma_cq_get_wc");
}

void
say_wc(const struct run *run, const char *what, const struct ibv_wc *wc)
{
	const uint8_t *buffer = run->memory + RECV_AT + wc->wr_id * RECV_BYTES;

	if (wc->status != IBV_WC_SUCCESS)
		say(run, "%s: status %d", what, wc->status);
	else if (wc->opcode == IBV_WC_RECV)
		say(run, "%s: received %u bytes, sum %08x, imm %08x", what,
		    wc->byte_len, sum(buffer, wc->byte_len),
		    wc->wc_flags & IBV_WC_WITH_IMM ? ntohl(wc->imm_data) : 0);
	else if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
		say(run, "%s: written %u bytes, imm %08x", what, wc->byte_len,
		    ntohl(wc->imm_data));
	else
		say(run, "%s: opcode %d, context %u", what, wc->opcode,
		    (unsigned int)wc->wr_id);
}

void
finish_op(struct link *link, const char *what, int result)
{
	struct ibv_wc wc;

	if (result) {
		say(link->run, "%s: %s", what, rpma_err_2str(result));
		return;
	}
	take(link->cq, &wc);
	say_wc(link->run, what, &wc);
}
