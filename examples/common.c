/* SPDX-License-Identifier: BSD-3-Clause */
#include "common.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
must(int result, const char *call)
{
	int cause = rpma_err_last_errno();

	if (result == 0)
		return;
	/* The code says what kind of failure it is, the errno what the provider said. */
	fprintf(stderr, "%s: %s", call, rpma_err_2str(result));
	if (result == RPMA_E_PROVIDER && cause != 0)
		fprintf(stderr, " (%s)", strerror(cause));
	fprintf(stderr, "\n");
	exit(1);
}

int
is_server(int argc, char *argv[], const char *more)
{
	/* What is printed should be seen at once, also in a pipe. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc >= 4 && strcmp(argv[1], "server") == 0)
		return 1;
	if (argc >= 4 && strcmp(argv[1], "client") == 0)
		return 0;
	fprintf(stderr, "usage: %s server|client ADDR PORT %s\n", argv[0], more);
	exit(2);
}

struct rpma_peer *
peer_at(const char *addr, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *device;
	struct rpma_peer *peer;

	/* A server names an address of its own (LOCAL), a client the server's (REMOTE). */
	MUST(rpma_utils_get_ibv_context(addr, type, &device));
	MUST(rpma_peer_new(device, &peer));
	return peer;
}

void *
memory_new(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = aligned_alloc(page, (size + page - 1) / page * page);

	if (!memory) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return memset(memory, 0, size);
}

/* Wait for the next event; another one than the wanted ends the program. */
static void
expect_event(struct rpma_conn *conn, enum rpma_conn_event wanted)
{
	enum rpma_conn_event event;

	MUST(rpma_conn_next_event(conn, &event));
	if (event == wanted)
		return;
	fprintf(stderr, "%s\n", rpma_utils_conn_event_2str(event));
	exit(1);
}

struct rpma_conn *
establish(struct rpma_conn_req *req, const struct rpma_conn_private_data *pdata)
{
	struct rpma_conn *conn;

	/* The request is used up by this call, whether it succeeds or not. */
	MUST(rpma_conn_req_connect(&req, pdata, &conn));
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	return conn;
}

struct rpma_conn *
dial(struct rpma_peer *peer, const char *addr, const char *port,
    const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_req *req;

	MUST(rpma_conn_req_new(peer, addr, port, cfg, &req));
	return establish(req, NULL);
}

void
hang_up(struct rpma_conn *conn)
{
	MUST(rpma_conn_disconnect(conn));
	expect_event(conn, RPMA_CONN_CLOSED);
	MUST(rpma_conn_delete(&conn));
}

void
wait_for_hang_up(struct rpma_conn *conn)
{
	expect_event(conn, RPMA_CONN_CLOSED);
	/* The answer, without which the peer would wait for a while. It may have gone. */
	(void)rpma_conn_disconnect(conn);
	MUST(rpma_conn_delete(&conn));
}

void
next_completion(struct rpma_cq *cq, struct ibv_wc *wc)
{
	int result;

	/*
	 * One event may stand for several completions, and those of an event may have been
	 * read before: so look first, and wait only when there is nothing.
	 */
	while ((result = rpma_cq_get_wc(cq, 1, wc, NULL)) == RPMA_E_NO_COMPLETION)
		MUST(rpma_cq_wait(cq));
	must(result, "rpma_cq_get_wc");
	if (wc->status == IBV_WC_SUCCESS)
		return;
	fprintf(stderr, "completion: %s\n", ibv_wc_status_str(wc->status));
	exit(1);
}
