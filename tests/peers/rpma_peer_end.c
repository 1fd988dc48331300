/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenarios of how connections begin and end. */
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "rpma_peer.h"

#define FLUSH_MS 2000

void
play_private_data(struct run *run)
{
	const struct shape shape = { .request = "to the server" };
	struct rpma_conn_private_data pdata;
	struct link link;

	link_open(run, &shape, &link);
	must(rpma_conn_get_private_data(link.conn, &pdata), "private data");
	if (run->is_server)
		say(run, "still there: %.13s",
		    pdata.len >= 13 ? (char *)pdata.ptr : "");
	link_close(&link, false);
}

/* The client's side of a connection that does not come about. */
static void
dial_in_vain(struct run *run, const char *port)
{
	const struct shape shape = { 0 };
	struct rpma_conn_cfg *cfg = cfg_of(&shape);
	struct rpma_conn_req *req;
	struct link link = { .run = run };
	int result;

	must(rpma_conn_req_new(run->peer, run->addr, port, cfg, &req),
	    "rpma_conn_req_new");
	must(rpma_conn_cfg_delete(&cfg), "rpma_conn_cfg_delete");
	result = rpma_conn_req_connect(&req, NULL, &link.conn);
	say(run, "connect: %s, request %s", rpma_err_2str(result),
	    req ? "left" : "gone");
	if (result)
		return;
	link_event(&link);
	/* Programs do this after any event that is no ESTABLISHED. */
	(void)rpma_conn_disconnect(link.conn);
	link_delete(&link);
}

void
play_reject(struct run *run)
{
	struct rpma_conn_req *req;

	if (!run->is_server) {
		dial_in_vain(run, run->port);
		return;
	}
	must(rpma_ep_next_conn_req(run->ep, NULL, &req), "rpma_ep_next_conn_req");
	must(rpma_conn_req_delete(&req), "rpma_conn_req_delete");
	say(run, "request %s, deleted again: %s", req ? "left" : "gone",
	    rpma_err_2str(rpma_conn_req_delete(&req)));
}

void
play_nobody(struct run *run)
{
	if (!run->is_server)
		dial_in_vain(run, "9");
}

/* What becomes of the receives that are posted: all of them, or what came in time. */
static void
say_flushed(struct link *link, unsigned int wanted)
{
	unsigned int flushed = 0, other = 0;
	struct ibv_wc wc;

	for (int ms = 0; ms < FLUSH_MS && flushed + other < wanted; ms += 10) {
		while (rpma_cq_get_wc(link->rcq, 1, &wc, NULL) == 0) {
			if (wc.status == IBV_WC_WR_FLUSH_ERR)
				flushed++;
			else
				other++;
		}
		if (flushed + other < wanted)
			(void)poll(NULL, 0, 10);
	}
	say(link->run, "%u receives flushed, %u otherwise", flushed, other);
}

static void
ends(struct run *run, bool by_server)
{
	const struct shape shape = { .recvs = 3 };
	struct link link;

	link_open(run, &shape, &link);
	if (run->is_server == by_server) {
		must(rpma_conn_disconnect(link.conn), "rpma_conn_disconnect");
		link_event(&link);
	} else {
		link_event(&link);
		(void)rpma_conn_disconnect(link.conn);
	}
	say_flushed(&link, shape.recvs);
	link_delete(&link);
}

void
play_client_ends(struct run *run)
{
	ends(run, false);
}

void
play_server_ends(struct run *run)
{
	ends(run, true);
}

/* A message tells the one who dies that the other one has seen the beginning. */
static void
dies(struct run *run, bool server)
{
	/* In one queue the answer may come before the end of the own message. */
	const struct shape shape = { .recvs = 3, .rcq_size = 4 };
	struct link link;
	struct ibv_wc wc;

	link_open(run, &shape, &link);
	/* An iWARP client has to send first; with the answer both know of each other. */
	if (!run->is_server)
		finish_op(&link, "send",
		    rpma_send(link.conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, NULL));
	take(link.rcq, &wc);
	say_wc(run, "message", &wc);
	if (run->is_server)
		finish_op(&link, "send",
		    rpma_send(link.conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, NULL));
	if (run->is_server == server) {
		say(run, "dies");
		(void)fflush(stdout);
		(void)raise(SIGKILL);
	}
	link_event(&link);
	(void)rpma_conn_disconnect(link.conn);
	say_flushed(&link, 2);
	link_delete(&link);
}

void
play_client_dies(struct run *run)
{
	dies(run, false);
}

void
play_server_dies(struct run *run)
{
	dies(run, true);
}
