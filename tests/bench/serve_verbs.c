/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bare loop: a shared receive queue on plain verbs, whose messages go to a consumer
 * process. It sleeps until there are completions, takes them in batches, and posts again what
 * the consumer is through with.
 *
 *   serve_verbs ADDR PORT SLOTS SLOT_SIZE METER   with a consumer that counts in the file METER
 *   serve_verbs ADDR PORT SLOTS SLOT_SIZE         alone: each slot is posted again at once
 *
 * It prints "PORT PID CONSUMER" when it listens, and ends with SIGTERM.
 */
#include "tests/bench/serve_verbs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
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

static volatile sig_atomic_t is_over;

struct server {
	struct handover handover;
	bool is_alone;
	uint32_t posted;
	uint32_t free_count;
	uint32_t free_slots[HANDOVER_SLOTS_MAX]; /* to be posted */
	struct rdma_event_channel *events;
	struct rdma_cm_id *listener;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_srq *srq;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_cq *send_cq;
	struct rdma_cm_id *conns[CONNS_MAX];
};

static void
on_term(int signo)
{
	(void)signo;
	is_over = 1;
}

/* ---- receiving ---- */

/* Post all that is free, many with one call. */
static void
post(struct server *s)
{
	const struct handover *handover = &s->handover;
	struct ibv_recv_wr wrs[BATCH], *bad;
	struct ibv_sge sges[BATCH];

	while (s->free_count > 0) {
		uint32_t n;

		for (n = 0; n < BATCH && s->free_count > 0; n++) {
			uint32_t slot = s->free_slots[--s->free_count];

			sges[n] = (struct ibv_sge){ (uintptr_t)handover->memory +
				    (uintptr_t)slot * handover->slot_size,
				handover->slot_size, s->mr->lkey };
			wrs[n] = (struct ibv_recv_wr){ slot, &wrs[n + 1], &sges[n], 1 };
		}
		wrs[n - 1].next = NULL;
		errno = ibv_post_srq_recv(s->srq, wrs, &bad);
		if (errno)
			die("ibv_post_srq_recv");
		s->posted += n;
	}
}

static void
take(struct server *s, const struct ibv_wc *wc)
{
	struct handover_msg msg = {
		.slot = (uint32_t)wc->wr_id, .len = wc->byte_len, .qp_num = wc->qp_num
	};

	s->posted--;
	if (wc->status == IBV_WC_SUCCESS && !s->is_alone)
		handover_push(&s->handover, &msg);
	else
		s->free_slots[s->free_count++] = msg.slot;
}

/* Take all completions, and tell the consumer of each batch. */
static void
drain(struct server *s)
{
	struct ibv_wc wcs[BATCH];
	struct ibv_cq *cq;
	void *context;
	int i, n;

	if (ibv_get_cq_event(s->channel, &cq, &context) != 0)
		return;
	ibv_ack_cq_events(cq, 1);
	if (ibv_req_notify_cq(cq, 0) != 0)
		die("ibv_req_notify_cq");
	while ((n = ibv_poll_cq(cq, BATCH, wcs)) > 0) {
		for (i = 0; i < n; i++)
			take(s, &wcs[i]);
		if (s->is_alone)
			post(s);
		else
			handover_tell(&s->handover);
	}
}

/* ---- answering ---- */

static void
answer(struct server *s, const struct handover_msg *msg)
{
	struct ibv_sge sge = { (uintptr_t)s->handover.memory +
		    (uintptr_t)msg->slot * s->handover.slot_size,
		msg->len, s->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct ibv_wc wc;
	uint32_t i;

	for (i = 0; i < CONNS_MAX; i++)
		if (s->conns[i] && s->conns[i]->qp->qp_num == msg->qp_num)
			break;
	if (i == CONNS_MAX)
		return;
	/*
	 * One at a time is asked for: the last one's completion is there. All that want an
	 * answer are alike, so the slot may be filled again before it is sent.
	 */
	while (ibv_poll_cq(s->send_cq, 1, &wc) > 0)
		continue;
	errno = ibv_post_send(s->conns[i]->qp, &wr, &bad);
	if (errno)
		die("ibv_post_send");
}

/* Take back what the consumer is through with; it is asked to wake us only where receives run low. */
static void
take_back(struct server *s)
{
	struct handover_msg msg;
	const bool is_low = s->posted < s->handover.slots / 2;

	while (is_low ? handover_pull_or_sleep(&s->handover, &msg)
		      : handover_pull(&s->handover, &msg)) {
		if (msg.wants_answer)
			answer(s, &msg);
		s->free_slots[s->free_count++] = msg.slot;
	}
	post(s);
}

/* ---- connections ---- */

static void
make_queues(struct server *s, struct ibv_context *verbs)
{
	const struct handover *handover = &s->handover;
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = handover->slots,
					      .max_sge = 1 } };

	s->pd = ibv_alloc_pd(verbs);
	if (!s->pd)
		die("ibv_alloc_pd");
	s->mr = ibv_reg_mr(s->pd, handover->memory,
	    (size_t)handover->slots * handover->slot_size, IBV_ACCESS_LOCAL_WRITE);
	s->srq = ibv_create_srq(s->pd, &attr);
	s->channel = ibv_create_comp_channel(verbs);
	if (!s->mr || !s->srq || !s->channel)
		die("queues");
	s->cq = ibv_create_cq(verbs, (int)handover->slots + BATCH, NULL, s->channel, 0);
	s->send_cq = ibv_create_cq(verbs, SQ_SIZE * 2, NULL, NULL, 0);
	if (!s->cq || !s->send_cq || ibv_req_notify_cq(s->cq, 0) != 0)
		die("completion queues");
	if (fcntl(s->channel->fd, F_SETFL, O_NONBLOCK) != 0)
		die("completion channel");
}

static void
accept_one(struct server *s, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = { .send_cq = s->send_cq,
		.recv_cq = s->cq,
		.srq = s->srq,
		.cap = { .max_send_wr = SQ_SIZE, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RC };
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	uint32_t i;

	for (i = 0; i < CONNS_MAX && s->conns[i]; i++)
		continue;
	if (i == CONNS_MAX || rdma_create_qp(id, s->pd, &attr) != 0 ||
	    rdma_accept(id, &param) != 0)
		die("a connection");
	s->conns[i] = id;
}

static void
end(struct server *s, struct rdma_cm_id *id)
{
	uint32_t i;

	for (i = 0; i < CONNS_MAX; i++)
		if (s->conns[i] == id)
			s->conns[i] = NULL;
	(void)rdma_disconnect(id);
	rdma_destroy_qp(id);
	(void)rdma_destroy_id(id);
}

static void
on_cm(struct server *s)
{
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(s->events, &event) != 0)
		return;
	type = event->event;
	id = event->id;
	(void)rdma_ack_cm_event(event);
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		accept_one(s, id);
	else if (type == RDMA_CM_EVENT_DISCONNECTED)
		end(s, id);
}

static void
listen_at(struct server *s, const char *addr, const char *port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(port)) };

	if (inet_pton(AF_INET, addr, &sin.sin_addr) != 1) {
		errno = EINVAL;
		die(addr);
	}
	s->events = rdma_create_event_channel();
	if (!s->events ||
	    rdma_create_id(s->events, &s->listener, NULL, RDMA_PS_TCP) != 0 ||
	    rdma_bind_addr(s->listener, (struct sockaddr *)&sin) != 0)
		die(addr);
	make_queues(s, s->listener->verbs);
	if (rdma_listen(s->listener, 64) != 0)
		die("listen");
}

static void
tear_down(struct server *s)
{
	uint32_t i;

	for (i = 0; i < CONNS_MAX; i++)
		if (s->conns[i])
			end(s, s->conns[i]);
	(void)rdma_destroy_id(s->listener);
	(void)ibv_destroy_cq(s->cq);
	(void)ibv_destroy_cq(s->send_cq);
	(void)ibv_destroy_comp_channel(s->channel);
	(void)ibv_destroy_srq(s->srq);
	(void)ibv_dereg_mr(s->mr);
	(void)ibv_dealloc_pd(s->pd);
	rdma_destroy_event_channel(s->events);
}

int
serve_verbs(int argc, char **argv)
{
	static struct server s;
	struct pollfd fds[3];
	uint32_t i;

	if (argc != 5 && argc != 6) {
		fprintf(stderr,
		    "usage: serve_verbs ADDR PORT SLOTS SLOT_SIZE [METER]\n");
		return 2;
	}
	(void)sigaction(SIGTERM, &(struct sigaction){ .sa_handler = on_term }, NULL);
	s.is_alone = argc == 5;
	handover_start(&s.handover, (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]),
	    argv[5]);
	listen_at(&s, argv[1], argv[2]);
	for (i = 0; i < s.handover.slots; i++)
		s.free_slots[s.free_count++] = i;
	post(&s);
	printf("%u %ld %ld\n", ntohs(rdma_get_src_port(s.listener)), (long)getpid(),
	    (long)s.handover.consumer);
	(void)fflush(stdout);
	fds[0] = (struct pollfd){ .fd = s.events->fd, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = s.channel->fd, .events = POLLIN };
	fds[2] = (struct pollfd){ .fd = s.handover.back_fd, .events = POLLIN };
	while (!is_over) {
		/* Another thread, as the doubles have one, may get the signal. */
		if (poll(fds, 3, 1000) < 0)
			continue;
		if (fds[0].revents)
			on_cm(&s);
		if (fds[1].revents)
			drain(&s);
		if (fds[2].revents)
			handover_woken(&s.handover);
		if (!s.is_alone)
			take_back(&s);
	}
	tear_down(&s);
	return 0;
}
