/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to and fro over one connection.
 *
 *   ping_pong server ADDR PORT            answers one client until that hangs up
 *   ping_pong client ADDR PORT [ROUNDS]   sends, waits for the answer, and so on
 *
 * The rule of messages: a receive must have been prepared before the peer sends. So the
 * server prepares the first one before it accepts, and the next before it answers.
 */
#include "common.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MESSAGE_BYTES 64
#define RECV_AT       0
#define SEND_AT       MESSAGE_BYTES

/* Memory for both directions: what is registered for SEND or RECV alone is out of reach of
 * any peer's reads and writes. */
static char *memory;
static struct rpma_mr_local *region;

static void
prepare_memory(struct rpma_peer *peer)
{
	memory = memory_new(2 * MESSAGE_BYTES);
	MUST(rpma_mr_reg(peer, memory, 2 * MESSAGE_BYTES,
	    RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &region));
}

/* A configuration with a queue of its own for completions of receives. */
static struct rpma_conn_cfg *
two_queues(void)
{
	struct rpma_conn_cfg *cfg;

	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_rcq_size(cfg, 10));
	return cfg;
}

static void
send_message(struct rpma_conn *conn, size_t len)
{
	struct rpma_cq *cq;
	struct ibv_wc wc;

	/* The call only queues the message; its memory is ours again at the completion. */
	MUST(rpma_send(conn, region, SEND_AT, len, RPMA_F_COMPLETION_ALWAYS, NULL));
	MUST(rpma_conn_get_cq(conn, &cq));
	next_completion(cq, &wc);
}

/*
 * Wait for a message, or for the peer to hang up: both have a descriptor. Returns its
 * length, or -1 when the peer has hung up.
 */
static int
next_message(struct rpma_conn *conn, struct rpma_cq *rcq)
{
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	struct ibv_wc wc;

	MUST(rpma_cq_get_fd(rcq, &fds[0].fd));
	MUST(rpma_conn_get_event_fd(conn, &fds[1].fd));
	for (;;) {
		int result = rpma_cq_get_wc(rcq, 1, &wc, NULL);

		if (result == 0 && wc.status == IBV_WC_SUCCESS)
			return (int)wc.byte_len;
		if (result == 0)
			return -1; /* flushed: the connection has ended */
		if (result != RPMA_E_NO_COMPLETION)
			must(result, "rpma_cq_get_wc");
		while (poll(fds, 2, -1) < 0 && errno == EINTR)
			;
		if (fds[0].revents)
			MUST(rpma_cq_wait(rcq));
		else
			return -1;
	}
}

static void
serve(const char *addr, const char *port)
{
	struct rpma_peer *peer = peer_at(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_conn_cfg *cfg = two_queues();
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_cq *rcq;
	struct rpma_ep *ep;
	int len, count = 0;

	prepare_memory(peer);
	MUST(rpma_ep_listen(peer, addr, port, &ep));
	printf("listening at %s %s\n", addr, port);
	MUST(rpma_ep_next_conn_req(ep, cfg, &req));
	MUST(rpma_conn_req_recv(req, region, RECV_AT, MESSAGE_BYTES, NULL));
	conn = establish(req, NULL);
	MUST(rpma_conn_get_rcq(conn, &rcq));

	while ((len = next_message(conn, rcq)) >= 0) {
		memcpy(memory + SEND_AT, memory + RECV_AT, (size_t)len);
		MUST(rpma_recv(conn, region, RECV_AT, MESSAGE_BYTES, NULL));
		send_message(conn, (size_t)len);
		count++;
	}
	printf("answered %d messages\n", count);

	wait_for_hang_up(conn);
	MUST(rpma_ep_shutdown(&ep));
	MUST(rpma_conn_cfg_delete(&cfg));
	MUST(rpma_mr_dereg(&region));
	MUST(rpma_peer_delete(&peer));
	free(memory);
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void
play(const char *addr, const char *port, int rounds)
{
	struct rpma_peer *peer = peer_at(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_conn_cfg *cfg = two_queues();
	struct rpma_conn *conn;
	struct rpma_cq *rcq;
	struct ibv_wc wc;
	double begin;

	prepare_memory(peer);
	conn = dial(peer, addr, port, cfg);
	MUST(rpma_conn_get_rcq(conn, &rcq));

	begin = seconds();
	for (int i = 0; i < rounds; i++) {
		int len = snprintf(memory + SEND_AT, MESSAGE_BYTES, "ping %d", i);

		MUST(rpma_recv(conn, region, RECV_AT, MESSAGE_BYTES, NULL));
		send_message(conn, (size_t)len);
		next_completion(rcq, &wc);
		if (wc.byte_len != (uint32_t)len ||
		    memcmp(memory + SEND_AT, memory + RECV_AT, wc.byte_len) != 0) {
			fprintf(stderr, "round %d: another answer\n", i);
			exit(1);
		}
	}
	printf("%d rounds, %.1f us each\n", rounds, (seconds() - begin) / rounds * 1e6);

	hang_up(conn);
	MUST(rpma_conn_cfg_delete(&cfg));
	MUST(rpma_mr_dereg(&region));
	MUST(rpma_peer_delete(&peer));
	free(memory);
}

int
main(int argc, char *argv[])
{
	int rounds;

	if (is_server(argc, argv, "[ROUNDS]")) {
		serve(argv[2], argv[3]);
		return 0;
	}
	rounds = argc > 4 ? atoi(argv[4]) : 1000;
	play(argv[2], argv[3], rounds > 0 ? rounds : 1);
	return 0;
}
