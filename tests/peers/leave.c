/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leave ADDR PORT read|unread
 *
 * A receiver that goes in the midst of it. The objects of a device are not destroyed before each
 * of their events that was read is acknowledged, so one that forgets this waits for ever.
 *
 *   read     it reads MESSAGES messages of one peer and all events up to the end of its
 *            connection; those of completions it leaves to be acknowledged by the end
 *   unread   it reads nothing any more as soon as there is something of each kind to be read
 *
 * It asks for an event when less than LIMIT receives are posted, again after each one, and
 * prints how many events of each kind it has read and how long its end took.
 */
#include "lib/rpma/librpma.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/peers/must.h"

#define BUFS      16u
#define BUF_BYTES 64u
#define LIMIT     12u
#define MESSAGES  8u
#define STALL_MS  20000
#define END_S     60u

struct leave {
	bool is_reading, is_armed;
	struct rpma_peer *peer;
	struct rpma_cm *cm;
	struct rpma_ep *ep;
	struct rpma_srq *srq;
	struct rpma_cq *rcq, *cq;
	struct rpma_conn_cfg *cfg;
	struct rpma_mr_local *mr;
	struct rpma_conn *conn;
	struct pollfd fds[3]; /* connections, completions, the device */
	uint8_t memory[BUFS * BUF_BYTES];
	unsigned int messages, completion_events, limit_events, closed;
};

static long
now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void
arm(struct leave *l)
{
	must(rpma_srq_set_limit(l->srq, LIMIT), "rpma_srq_set_limit");
	l->is_armed = true;
}

static void
make_queue(struct leave *l)
{
	struct rpma_srq_cfg *cfg;

	must(rpma_srq_cfg_new(&cfg), "rpma_srq_cfg_new");
	must(rpma_srq_cfg_set_rq_size(cfg, BUFS), "rpma_srq_cfg_set_rq_size");
	must(rpma_srq_cfg_set_rcq_size(cfg, BUFS), "rpma_srq_cfg_set_rcq_size");
	must(rpma_srq_new(l->peer, cfg, &l->srq), "rpma_srq_new");
	must(rpma_srq_cfg_delete(&cfg), "rpma_srq_cfg_delete");
	must(rpma_srq_get_rcq(l->srq, &l->rcq), "rpma_srq_get_rcq");
	/* More than there will be. */
	must(rpma_cq_set_ack_batch(l->rcq, 1000), "rpma_cq_set_ack_batch");
	for (size_t i = 0; i < BUFS; i++)
		must(rpma_srq_recv(l->srq, l->mr, i * BUF_BYTES, BUF_BYTES, NULL),
		    "rpma_srq_recv");
	arm(l);
}

static void
set_up(struct leave *l, const char *addr, const char *port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(port)) };
	struct ibv_context *context;

	if (inet_pton(AF_INET, addr, &sin.sin_addr) != 1)
		must(RPMA_E_INVAL, addr);
	must(rpma_utils_get_ibv_context(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL, &context),
	    "rpma_utils_get_ibv_context");
	must(rpma_peer_new(context, &l->peer), "rpma_peer_new");
	must(rpma_cm_new(&l->cm), "rpma_cm_new");
	must(rpma_mr_reg(l->peer, l->memory, sizeof(l->memory), RPMA_MR_USAGE_RECV,
		 &l->mr),
	    "rpma_mr_reg");
	must(rpma_cq_new(l->peer, 2, &l->cq), "rpma_cq_new");
	make_queue(l);
	must(rpma_conn_cfg_new(&l->cfg), "rpma_conn_cfg_new");
	must(rpma_conn_cfg_set_cq(l->cfg, l->cq), "rpma_conn_cfg_set_cq");
	must(rpma_conn_cfg_set_srq(l->cfg, l->srq), "rpma_conn_cfg_set_srq");
	must(rpma_cm_get_fd(l->cm, &l->fds[0].fd), "rpma_cm_get_fd");
	must(rpma_cq_get_fd(l->rcq, &l->fds[1].fd), "rpma_cq_get_fd");
	must(rpma_peer_get_async_fd(l->peer, &l->fds[2].fd), "rpma_peer_get_async_fd");
	must(rpma_cm_listen(l->cm, l->peer, (struct sockaddr *)&sin, 0, &l->ep),
	    "rpma_cm_listen");
	(void)printf("listening\n");
	(void)fflush(stdout);
}

static void
wait_readable(struct leave *l)
{
	for (size_t i = 0; i < 3; i++)
		l->fds[i].events = POLLIN;
	if (poll(l->fds, 3, STALL_MS) > 0)
		return;
	(void)fprintf(stderr,
	    "leave: nothing happens: %u messages, %u limits, %u ends\n", l->messages,
	    l->limit_events, l->closed);
	exit(1);
}

static void
on_cm_events(struct leave *l)
{
	struct rpma_cm_event event;

	while (rpma_cm_next_event(l->cm, &event) == 0) {
		if (event.kind == RPMA_CM_REQUEST) {
			must(rpma_cm_accept(&event.req, l->cfg, NULL, &l->conn),
			    "rpma_cm_accept");
			return;
		}
		if (event.kind == RPMA_CM_CLOSED)
			l->closed++;
	}
}

static void
on_completion_event(struct leave *l)
{
	struct ibv_wc wc;

	must(rpma_cq_wait(l->rcq), "rpma_cq_wait");
	l->completion_events++;
	while (rpma_cq_get_wc(l->rcq, 1, &wc, NULL) == 0)
		l->messages += wc.status == IBV_WC_SUCCESS;
}

/* Each is the last until it is asked for again. */
static void
on_device_events(struct leave *l)
{
	struct rpma_async_event event;
	unsigned int limits = 0;

	while (rpma_peer_next_async_event(l->peer, &event) == 0)
		limits += event.kind == RPMA_ASYNC_SRQ_LIMIT;
	if (limits > l->is_armed)
		must(RPMA_E_UNKNOWN, "an event of a limit that was not set");
	if (limits == 0)
		return;
	l->limit_events++;
	l->is_armed = false;
	if (l->messages < MESSAGES)
		arm(l);
}

static void
live(struct leave *l)
{
	while (!l->conn) {
		wait_readable(l);
		on_cm_events(l);
	}
	while (l->is_reading && (l->messages < MESSAGES || l->closed == 0)) {
		wait_readable(l);
		if (l->fds[2].revents)
			on_device_events(l);
		if (l->fds[1].revents)
			on_completion_event(l);
		if (l->fds[0].revents)
			on_cm_events(l);
	}
	/* What the device had to say it has said before the end of the connection. */
	if (l->is_reading)
		on_device_events(l);
	while (!l->is_reading &&
	    !(l->fds[0].revents && l->fds[1].revents && l->fds[2].revents)) {
		wait_readable(l);
		(void)poll(NULL, 0, 50);
	}
}

static void
tear_down(struct leave *l)
{
	must(rpma_conn_delete(&l->conn), "rpma_conn_delete");
	must(rpma_ep_shutdown(&l->ep), "rpma_ep_shutdown");
	must(rpma_conn_cfg_delete(&l->cfg), "rpma_conn_cfg_delete");
	must(rpma_cq_delete(&l->cq), "rpma_cq_delete");
	must(rpma_srq_delete(&l->srq), "rpma_srq_delete");
	must(rpma_cm_delete(&l->cm), "rpma_cm_delete");
	must(rpma_mr_dereg(&l->mr), "rpma_mr_dereg");
	must(rpma_peer_delete(&l->peer), "rpma_peer_delete");
}

int
main(int argc, char *argv[])
{
	static struct leave l;
	long begin;

	if (argc != 4) {
		(void)fprintf(stderr, "usage: leave ADDR PORT read|unread\n");
		return 2;
	}
	l.is_reading = strcmp(argv[3], "read") == 0;
	set_up(&l, argv[1], argv[2]);
	live(&l);
	/* An end that does not come is a death. */
	(void)alarm(END_S);
	begin = now_ms();
	tear_down(&l);
	(void)printf(
	    "messages=%u completion_events=%u limit_events=%u closed=%u end_ms=%ld\n",
	    l.messages, l.completion_events, l.limit_events, l.closed,
	    now_ms() - begin);
	return 0;
}
