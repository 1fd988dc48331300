/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many connections at once on one CM channel and one send queue, at both ends; the server
 * receives through one SRQ. Each connection sends one message, so that it is known to work.
 *
 *   crowd server ADDR PORT COUNT
 *   crowd client ADDR PORT COUNT
 *
 * Each role prints how many descriptors it has, with the first connection, with all, and with
 * none again.
 */
#include "lib/rpma/librpma.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "tests/peers/must.h"

#define SRQ_BUFS  512u
#define BUF_BYTES 64u
#define AT_ONCE   16u /* dials under way */
#define STALL_MS  30000

struct crowd {
	bool is_server;
	struct rpma_peer *peer;
	struct rpma_cm *cm;
	struct rpma_ep *ep;
	struct rpma_srq *srq;
	struct rpma_cq *rcq, *cq;
	struct rpma_conn_cfg *cfg;
	struct rpma_mr_local *mr;
	uint8_t memory[SRQ_BUFS * BUF_BYTES];
	struct sockaddr_in addr;
	struct rpma_conn **conns;
	uint32_t count; /* wanted */
	uint32_t dialled, established, messages, closed;
};

static void
report(const char *when)
{
	DIR *dir = opendir("/proc/self/fd");
	int fds = -3; /* the two dots, and the folder itself */

	while (dir && readdir(dir))
		fds++;
	(void)printf("%s fds=%d\n", when, fds);
	(void)fflush(stdout);
	(void)closedir(dir);
}

static void
give(struct crowd *c, size_t index)
{
	must(rpma_srq_recv(c->srq, c->mr, index * BUF_BYTES, BUF_BYTES, (void *)index),
	    "rpma_srq_recv");
}

static void
set_up(struct crowd *c, const char *addr, const char *port)
{
	struct rpma_srq_cfg *srq_cfg;
	struct ibv_context *context;

	c->addr.sin_family = AF_INET;
	c->addr.sin_port = htons((uint16_t)atoi(port));
	if (inet_pton(AF_INET, addr, &c->addr.sin_addr) != 1)
		must(RPMA_E_INVAL, addr);
	must(rpma_utils_get_ibv_context(addr,
		 c->is_server ? RPMA_UTIL_IBV_CONTEXT_LOCAL
			      : RPMA_UTIL_IBV_CONTEXT_REMOTE,
		 &context),
	    "rpma_utils_get_ibv_context");
	must(rpma_peer_new(context, &c->peer), "rpma_peer_new");
	must(rpma_cm_new(&c->cm), "rpma_cm_new");
	must(rpma_mr_reg(c->peer, c->memory, sizeof(c->memory),
		 RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &c->mr),
	    "rpma_mr_reg");
	must(rpma_cq_new(c->peer, 2 * c->count, &c->cq), "rpma_cq_new");
	must(rpma_conn_cfg_new(&c->cfg), "rpma_conn_cfg_new");
	must(rpma_conn_cfg_set_cq(c->cfg, c->cq), "rpma_conn_cfg_set_cq");
	must(rpma_conn_cfg_set_sq_size(c->cfg, 2), "rpma_conn_cfg_set_sq_size");
	must(rpma_conn_cfg_set_rq_size(c->cfg, 1), "rpma_conn_cfg_set_rq_size");
	if (!c->is_server)
		return;
	must(rpma_srq_cfg_new(&srq_cfg), "rpma_srq_cfg_new");
	must(rpma_srq_cfg_set_rq_size(srq_cfg, SRQ_BUFS), "rpma_srq_cfg_set_rq_size");
	must(rpma_srq_cfg_set_rcq_size(srq_cfg, SRQ_BUFS), "rpma_srq_cfg_set_rcq_size");
	must(rpma_srq_new(c->peer, srq_cfg, &c->srq), "rpma_srq_new");
	must(rpma_srq_cfg_delete(&srq_cfg), "rpma_srq_cfg_delete");
	must(rpma_srq_get_rcq(c->srq, &c->rcq), "rpma_srq_get_rcq");
	for (size_t i = 0; i < SRQ_BUFS; i++)
		give(c, i);
	must(rpma_conn_cfg_set_srq(c->cfg, c->srq), "rpma_conn_cfg_set_srq");
	must(rpma_cm_listen(c->cm, c->peer, (struct sockaddr *)&c->addr, 0, &c->ep),
	    "rpma_cm_listen");
	(void)printf("listening\n");
	(void)fflush(stdout);
}

static void
tear_down(struct crowd *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->conns[i])
			must(rpma_conn_delete(&c->conns[i]), "rpma_conn_delete");
	if (c->ep)
		must(rpma_ep_shutdown(&c->ep), "rpma_ep_shutdown");
	must(rpma_conn_cfg_delete(&c->cfg), "rpma_conn_cfg_delete");
	must(rpma_cq_delete(&c->cq), "rpma_cq_delete");
	if (c->srq)
		must(rpma_srq_delete(&c->srq), "rpma_srq_delete");
	must(rpma_cm_delete(&c->cm), "rpma_cm_delete");
	must(rpma_mr_dereg(&c->mr), "rpma_mr_dereg");
	must(rpma_peer_delete(&c->peer), "rpma_peer_delete");
}

static void
dial(struct crowd *c)
{
	while (!c->is_server && c->dialled < c->count &&
	    c->dialled - c->established < AT_ONCE) {
		must(rpma_cm_dial(c->cm, c->peer, (struct sockaddr *)&c->addr, c->cfg,
			 10000, NULL, &c->conns[c->dialled]),
		    "rpma_cm_dial");
		c->dialled++;
	}
}

static void
on_event(struct crowd *c, struct rpma_cm_event *event)
{
	switch (event->kind) {
	case RPMA_CM_REQUEST:
		if (c->dialled == c->count)
			must(RPMA_E_UNKNOWN, "more connections than expected");
		must(rpma_cm_accept(&event->req, c->cfg, NULL, &c->conns[c->dialled]),
		    "rpma_cm_accept");
		c->dialled++;
		break;
	case RPMA_CM_ESTABLISHED:
		if (++c->established == 1)
			report("one");
		break;
	case RPMA_CM_CLOSED:
		(void)rpma_conn_disconnect(event->conn);
		c->closed++;
		break;
	case RPMA_CM_OTHER:
	case RPMA_CM_PATH_CHANGED:
		break;
	default:
		(void)fprintf(stderr, "crowd: event %d, status %d\n", (int)event->kind,
		    event->status);
		exit(1);
	}
}

/* Completions of what was sent or received. */
static void
on_completions(struct crowd *c, struct rpma_cq *cq)
{
	struct ibv_wc wc[32];
	int n;

	while (rpma_cq_get_wc(cq, 32, wc, &n) == 0) {
		for (int i = 0; i < n; i++) {
			if (wc[i].status != IBV_WC_SUCCESS)
				must(RPMA_E_PROVIDER, ibv_wc_status_str(wc[i].status));
			c->messages++;
			if (c->is_server)
				give(c, (size_t)wc[i].wr_id);
		}
	}
}

/* Serve until a number is reached. */
static void
run_until(struct crowd *c, const uint32_t *number)
{
	struct rpma_cq *cq = c->is_server ? c->rcq : c->cq;
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	struct rpma_cm_event event;

	must(rpma_cm_get_fd(c->cm, &fds[0].fd), "rpma_cm_get_fd");
	must(rpma_cq_get_fd(cq, &fds[1].fd), "rpma_cq_get_fd");
	while (*number < c->count) {
		dial(c);
		if (poll(fds, 2, STALL_MS) <= 0) {
			(void)fprintf(stderr,
			    "crowd: nothing happens: %u dialled, %u established, %u messages, %u closed\n",
			    c->dialled, c->established, c->messages, c->closed);
			exit(1);
		}
		if (fds[1].revents) {
			must(rpma_cq_wait(cq), "rpma_cq_wait");
			on_completions(c, cq);
		}
		while (rpma_cm_next_event(c->cm, &event) == 0)
			on_event(c, &event);
	}
}

static void
send_over_all(struct crowd *c)
{
	if (c->is_server)
		return;
	/* Soft-iWARP of Linux 6.1 may overlook what arrives right behind its answer. */
	(void)poll(NULL, 0, 50);
	for (uint32_t i = 0; i < c->count; i++)
		must(rpma_send(c->conns[i], c->mr, 0, BUF_BYTES,
			 RPMA_F_COMPLETION_ALWAYS, NULL),
		    "rpma_send");
}

int
main(int argc, char *argv[])
{
	static struct crowd c;

	if (argc != 5) {
		(void)fprintf(stderr, "usage: crowd server|client ADDR PORT COUNT\n");
		return 2;
	}
	c.is_server = strcmp(argv[1], "server") == 0;
	c.count = (uint32_t)atol(argv[4]);
	c.conns = calloc(c.count, sizeof(*c.conns));
	if (!c.conns)
		return 1;
	/* What fails is told on stderr, with its cause. */
	must(rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_WARNING),
	    "rpma_log_set_threshold");
	set_up(&c, argv[2], argv[3]);
	run_until(&c, &c.established);
	send_over_all(&c);
	run_until(&c, &c.messages);
	report("all");
	if (!c.is_server)
		for (uint32_t i = 0; i < c.count; i++)
			must(rpma_conn_disconnect(c.conns[i]), "rpma_conn_disconnect");
	run_until(&c, &c.closed);
	report("closed");
	tear_down(&c);
	(void)printf("connections=%u messages=%u\n", c.count, c.messages);
	free(c.conns);
	return 0;
}
