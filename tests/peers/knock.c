/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many connections one after the other, each refused or accepted and closed again, for tests
 * that look for what is left of them.
 *
 *   knock server ADDR PORT                         until a client says that it was the last
 *   knock client ADDR PORT reject|accept COUNT
 *   knock client ADDR PORT last
 *
 * The client says in its private data what it wants. It ends with status 1 when it got
 * something else.
 */
#include "lib/rpma/librpma.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "tests/peers/must.h"

#define EVENT_MS 10000

static enum rpma_conn_event
next_event(struct rpma_conn *conn)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	struct pollfd fd = { .events = POLLIN };

	must(rpma_conn_get_event_fd(conn, &fd.fd), "rpma_conn_get_event_fd");
	if (poll(&fd, 1, EVENT_MS) > 0)
		must(rpma_conn_next_event(conn, &event), "rpma_conn_next_event");
	return event;
}

static void
event_is(enum rpma_conn_event event, enum rpma_conn_event wanted)
{
	if (event == wanted)
		return;
	(void)fprintf(stderr, "knock: %s instead of: %s\n",
	    rpma_utils_conn_event_2str(event), rpma_utils_conn_event_2str(wanted));
	exit(1);
}

static struct rpma_peer *
peer_at(const char *addr, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *context;
	struct rpma_peer *peer;

	must(rpma_utils_get_ibv_context(addr, type, &context),
	    "rpma_utils_get_ibv_context");
	must(rpma_peer_new(context, &peer), "rpma_peer_new");
	return peer;
}

/*
 * From beginning to end. The kernel's connection manager serves messages of a peer on several
 * processors: that a connection has ended can overtake that it was established.
 */
static void
see_off(struct rpma_conn *conn)
{
	enum rpma_conn_event event = next_event(conn);

	if (event == RPMA_CONN_CLOSED) {
		(void)printf("ended before it was established\n");
		return;
	}
	event_is(event, RPMA_CONN_ESTABLISHED);
	event_is(next_event(conn), RPMA_CONN_CLOSED);
}

/* False after the last one. */
static bool
open_door(struct rpma_ep *ep)
{
	struct rpma_conn_private_data pdata;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	char wish;

	must(rpma_ep_next_conn_req(ep, NULL, &req), "rpma_ep_next_conn_req");
	must(rpma_conn_req_get_private_data(req, &pdata), "private data");
	wish = pdata.len > 0 ? *(char *)pdata.ptr : 'r';
	if (wish != 'a') {
		must(rpma_conn_req_delete(&req), "rpma_conn_req_delete");
		return wish != 'l';
	}
	must(rpma_conn_req_connect(&req, NULL, &conn), "rpma_conn_req_connect");
	see_off(conn);
	(void)rpma_conn_disconnect(conn);
	must(rpma_conn_delete(&conn), "rpma_conn_delete");
	return true;
}

static void
serve(const char *addr, const char *port)
{
	struct rpma_peer *peer = peer_at(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_ep *ep;

	must(rpma_ep_listen(peer, addr, port, &ep), "rpma_ep_listen");
	(void)printf("listening\n");
	(void)fflush(stdout);
	while (open_door(ep))
		;
	must(rpma_ep_shutdown(&ep), "rpma_ep_shutdown");
	must(rpma_peer_delete(&peer), "rpma_peer_delete");
}

static void
knock(struct rpma_peer *peer, const char *addr, const char *port, char *wish)
{
	const struct rpma_conn_private_data pdata = { wish, 1 };
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	int result;

	must(rpma_conn_req_new(peer, addr, port, NULL, &req), "rpma_conn_req_new");
	result = rpma_conn_req_connect(&req, &pdata, &conn);
	/* Soft-iWARP has the answer at once. */
	if (result == RPMA_E_PROVIDER && *wish != 'a' &&
	    rpma_err_last_errno() == ECONNREFUSED)
		return;
	must(result, "rpma_conn_req_connect");
	if (*wish == 'a') {
		event_is(next_event(conn), RPMA_CONN_ESTABLISHED);
		must(rpma_conn_disconnect(conn), "rpma_conn_disconnect");
		event_is(next_event(conn), RPMA_CONN_CLOSED);
	} else {
		event_is(next_event(conn), RPMA_CONN_REJECTED);
	}
	must(rpma_conn_delete(&conn), "rpma_conn_delete");
}

int
main(int argc, char *argv[])
{
	struct rpma_peer *peer;
	long count;

	if (argc == 4 && strcmp(argv[1], "server") == 0) {
		serve(argv[2], argv[3]);
		return 0;
	}
	if (argc < 5 || strcmp(argv[1], "client") != 0) {
		(void)fprintf(stderr, "usage: knock server|client ADDR PORT ...\n");
		return 2;
	}
	peer = peer_at(argv[2], RPMA_UTIL_IBV_CONTEXT_REMOTE);
	count = argc > 5 ? atol(argv[5]) : 1;
	for (long i = 0; i < count; i++)
		knock(peer, argv[2], argv[3], argv[4]);
	must(rpma_peer_delete(&peer), "rpma_peer_delete");
	return 0;
}
