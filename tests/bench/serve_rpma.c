/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The server of serve_verbs.c on librpma, with what its version 1.2.0 has: a shared receive
 * queue, an endpoint, and a channel of events for each connection.
 *
 *   serve_rpma ADDR PORT SLOTS SLOT_SIZE METER
 *
 * It prints "PORT PID CONSUMER" when it listens, and ends with SIGTERM.
 */
#include <errno.h>
#include <librpma.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/handover.h"
#include "tests/bench/meter.h"

#define BATCH     64
#define SQ_SIZE   16
#define CONNS_MAX 1024
#define FIXED_FDS 3 /* endpoint, completions, consumer; connections come behind them */

static volatile sig_atomic_t is_over;

struct server {
	struct handover handover;
	uint32_t posted;
	struct rpma_peer *peer;
	struct rpma_ep *ep;
	struct rpma_srq *srq;
	struct rpma_cq *cq;
	struct rpma_conn_cfg *cfg;
	struct rpma_mr_local *mr;
	struct rpma_conn *conns[CONNS_MAX];
	struct pollfd fds[FIXED_FDS + CONNS_MAX];
	uint32_t conn_count;
};

static void
on_term(int signo)
{
	(void)signo;
	is_over = 1;
}

static void
must(int result, const char *what)
{
	if (result == 0)
		return;
	fprintf(stderr, "serve_rpma: %s: %s\n", what, rpma_err_2str(result));
	exit(1);
}

/* ---- receiving ---- */

static void
post(struct server *s, uint32_t slot)
{
	must(rpma_srq_recv(s->srq, s->mr, (size_t)slot * s->handover.slot_size,
		 s->handover.slot_size, (void *)(uintptr_t)slot),
	    "rpma_srq_recv");
	s->posted++;
}

/* Take all completions, and tell the consumer of each batch. */
static void
drain(struct server *s)
{
	struct ibv_wc wcs[BATCH];
	int rc, i, n;

	must(rpma_cq_wait(s->cq), "rpma_cq_wait");
	while ((rc = rpma_cq_get_wc(s->cq, BATCH, wcs, &n)) == 0) {
		s->posted -= (uint32_t)n;
		for (i = 0; i < n; i++) {
			struct handover_msg msg = { .slot = (uint32_t)wcs[i].wr_id,
				.len = wcs[i].byte_len,
				.qp_num = wcs[i].qp_num };

			if (wcs[i].status == IBV_WC_SUCCESS)
				handover_push(&s->handover, &msg);
			else
				post(s, msg.slot);
		}
		handover_tell(&s->handover);
	}
	if (rc != RPMA_E_NO_COMPLETION)
		must(rc, "rpma_cq_get_wc");
}

/* ---- answering ---- */

static void
answer(struct server *s, const struct handover_msg *msg)
{
	struct rpma_cq *cq;
	struct ibv_wc wc;
	uint32_t i, qp_num;

	for (i = 0; i < s->conn_count; i++) {
		must(rpma_conn_get_qp_num(s->conns[i], &qp_num),
		    "rpma_conn_get_qp_num");
		if (qp_num == msg->qp_num)
			break;
	}
	if (i == s->conn_count)
		return;
	/*
	 * One at a time is asked for: the last one's completion is there. All that want an
	 * answer are alike, so the slot may be filled again before it is sent.
	 */
	must(rpma_conn_get_cq(s->conns[i], &cq), "rpma_conn_get_cq");
	while (rpma_cq_get_wc(cq, 1, &wc, NULL) == 0)
		continue;
	must(rpma_send(s->conns[i], s->mr, (size_t)msg->slot * s->handover.slot_size,
		 msg->len, RPMA_F_COMPLETION_ALWAYS, NULL),
	    "rpma_send");
}

/* As in serve_verbs.c. */
static void
take_back(struct server *s)
{
	struct handover_msg msg;
	const bool is_low = s->posted < s->handover.slots / 2;

	while (is_low ? handover_pull_or_sleep(&s->handover, &msg)
		      : handover_pull(&s->handover, &msg)) {
		if (msg.wants_answer)
			answer(s, &msg);
		post(s, msg.slot);
	}
}

/* ---- connections ---- */

static void
accept_one(struct server *s)
{
	struct rpma_conn **conn = &s->conns[s->conn_count];
	struct pollfd *pfd = &s->fds[FIXED_FDS + s->conn_count];
	struct rpma_conn_req *req;

	if (s->conn_count == CONNS_MAX)
		must(RPMA_E_NOMEM, "a connection");
	must(rpma_ep_next_conn_req(s->ep, s->cfg, &req), "rpma_ep_next_conn_req");
	must(rpma_conn_req_connect(&req, NULL, conn), "rpma_conn_req_connect");
	pfd->events = POLLIN;
	must(rpma_conn_get_event_fd(*conn, &pfd->fd), "rpma_conn_get_event_fd");
	s->conn_count++;
}

/* The last one takes its place. */
static void
end(struct server *s, uint32_t i)
{
	(void)rpma_conn_disconnect(s->conns[i]);
	(void)rpma_conn_delete(&s->conns[i]);
	s->conn_count--;
	s->conns[i] = s->conns[s->conn_count];
	s->fds[FIXED_FDS + i] = s->fds[FIXED_FDS + s->conn_count];
	s->fds[FIXED_FDS + i].revents = 0;
}

static void
on_conn_event(struct server *s, uint32_t i)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	must(rpma_conn_next_event(s->conns[i], &event), "rpma_conn_next_event");
	if (event != RPMA_CONN_ESTABLISHED)
		end(s, i);
}

static void
set_up(struct server *s, const char *addr, const char *port)
{
	const struct handover *handover = &s->handover;
	struct ibv_context *verbs;
	struct rpma_srq_cfg *cfg;

	must(rpma_utils_get_ibv_context(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL, &verbs),
	    "rpma_utils_get_ibv_context");
	must(rpma_peer_new(verbs, &s->peer), "rpma_peer_new");
	must(rpma_mr_reg(s->peer, handover->memory,
		 (size_t)handover->slots * handover->slot_size,
		 RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_SEND, &s->mr),
	    "rpma_mr_reg");
	must(rpma_srq_cfg_new(&cfg), "rpma_srq_cfg_new");
	must(rpma_srq_cfg_set_rq_size(cfg, handover->slots),
	    "rpma_srq_cfg_set_rq_size");
	must(rpma_srq_cfg_set_rcq_size(cfg, handover->slots + BATCH),
	    "rpma_srq_cfg_set_rcq_size");
	must(rpma_srq_new(s->peer, cfg, &s->srq), "rpma_srq_new");
	must(rpma_srq_cfg_delete(&cfg), "rpma_srq_cfg_delete");
	must(rpma_srq_get_rcq(s->srq, &s->cq), "rpma_srq_get_rcq");
	must(rpma_conn_cfg_new(&s->cfg), "rpma_conn_cfg_new");
	must(rpma_conn_cfg_set_srq(s->cfg, s->srq), "rpma_conn_cfg_set_srq");
	must(rpma_conn_cfg_set_sq_size(s->cfg, SQ_SIZE), "rpma_conn_cfg_set_sq_size");
	must(rpma_conn_cfg_set_cq_size(s->cfg, SQ_SIZE), "rpma_conn_cfg_set_cq_size");
	must(rpma_conn_cfg_set_rq_size(s->cfg, 1), "rpma_conn_cfg_set_rq_size");
	for (uint32_t i = 0; i < handover->slots; i++)
		post(s, i);
	must(rpma_ep_listen(s->peer, addr, port, &s->ep), "rpma_ep_listen");
	must(rpma_ep_get_fd(s->ep, &s->fds[0].fd), "rpma_ep_get_fd");
	must(rpma_cq_get_fd(s->cq, &s->fds[1].fd), "rpma_cq_get_fd");
	s->fds[2].fd = handover->back_fd;
	for (uint32_t i = 0; i < FIXED_FDS; i++)
		s->fds[i].events = POLLIN;
}

static void
serve(struct server *s)
{
	uint32_t i;

	while (!is_over) {
		if (poll(s->fds, FIXED_FDS + s->conn_count, -1) < 0)
			continue;
		for (i = s->conn_count; i > 0; i--)
			if (s->fds[FIXED_FDS + i - 1].revents)
				on_conn_event(s, i - 1);
		if (s->fds[0].revents)
			accept_one(s);
		if (s->fds[1].revents)
			drain(s);
		if (s->fds[2].revents)
			handover_woken(&s->handover);
		take_back(s);
	}
}

int
main(int argc, char **argv)
{
	static struct server s;

	if (argc != 6) {
		fprintf(stderr, "usage: serve_rpma ADDR PORT SLOTS SLOT_SIZE METER\n");
		return 2;
	}
	(void)sigaction(SIGTERM, &(struct sigaction){ .sa_handler = on_term }, NULL);
	handover_start(&s.handover, (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]),
	    argv[5]);
	set_up(&s, argv[1], argv[2]);
	printf("%s %ld %ld\n", argv[2], (long)getpid(), (long)s.handover.consumer);
	(void)fflush(stdout);
	serve(&s);
	while (s.conn_count > 0)
		end(&s, s.conn_count - 1);
	(void)rpma_ep_shutdown(&s.ep);
	(void)rpma_conn_cfg_delete(&s.cfg);
	(void)rpma_srq_delete(&s.srq);
	(void)rpma_mr_dereg(&s.mr);
	(void)rpma_peer_delete(&s.peer);
	return 0;
}
