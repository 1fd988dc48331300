/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scenarios of what the archived library gets wrong and ours does not repeat: here the
 * transcripts differ, in lines that compat.sh lists.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "rpma_peer.h"

static void
set_blocking(int fd, bool blocking)
{
	int flags = fcntl(fd, F_GETFL);

	flags = blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK;
	if (flags < 0 || fcntl(fd, F_SETFL, flags))
		die("fcntl");
}

/* Empty queues of events, asked without waiting. */
static void
nothing_waits(struct run *run, struct link *link)
{
	enum rpma_conn_event event;
	struct rpma_conn_req *req;
	int fd, result;

	must(rpma_conn_get_event_fd(link->conn, &fd), "rpma_conn_get_event_fd");
	set_blocking(fd, false);
	result = rpma_conn_next_event(link->conn, &event);
	set_blocking(fd, true);
	say(run, "no event waits: %s", rpma_err_2str(result));
	if (!run->is_server)
		return;
	must(rpma_ep_get_fd(run->ep, &fd), "rpma_ep_get_fd");
	set_blocking(fd, false);
	result = rpma_ep_next_conn_req(run->ep, NULL, &req);
	set_blocking(fd, true);
	say(run, "no request waits: %s", rpma_err_2str(result));
}

static void
configurations(struct run *run)
{
	struct rpma_conn_cfg *cfg;
	struct ibv_context *context;

	must(rpma_conn_cfg_new(&cfg), "rpma_conn_cfg_new");
	say(run, "no SRQ any more: %s",
	    rpma_err_2str(rpma_conn_cfg_set_srq(cfg, NULL)));
	must(rpma_conn_cfg_delete(&cfg), "rpma_conn_cfg_delete");
	say(run, "the device of no address: %s",
	    rpma_err_2str(rpma_utils_get_ibv_context("0.0.0.0",
		RPMA_UTIL_IBV_CONTEXT_LOCAL, &context)));
}

static void
read_only_source(struct run *run)
{
	struct rpma_mr_local *mr = NULL;
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int result;

	if (page == MAP_FAILED)
		die("mmap");
	result = rpma_mr_reg(run->peer, page, 4096, RPMA_MR_USAGE_WRITE_SRC, &mr);
	say(run, "a source of writes that cannot be written: %s",
	    rpma_err_2str(result));
	if (result == 0)
		must(rpma_mr_dereg(&mr), "rpma_mr_dereg");
	(void)munmap(page, 4096);
}

void
play_recv_with_srq(struct run *run)
{
	struct shape shape = { 0 };
	struct link link;

	if (run->is_server) {
		must(rpma_srq_new(run->peer, NULL, &shape.srq), "rpma_srq_new");
		link_open(run, &shape, &link);
		say(run, "receive on a connection with an SRQ: %s",
		    rpma_err_2str(rpma_recv(link.conn, run->region, RECV_AT, 8, NULL)));
		link_close(&link, false);
		must(rpma_srq_delete(&shape.srq), "rpma_srq_delete");
	} else {
		link_open(run, &shape, &link);
		link_close(&link, false);
	}
}

/* One role's turn is over, the other one may go on. */
static void
pass_on(struct link *link, bool to_server)
{
	struct ibv_wc wc;

	if (link->run->is_server == to_server)
		take(link->rcq, &wc);
	else
		finish_op(link, "pass on",
		    rpma_send(link->conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, NULL));
}

/*
 * The server's last message, of which it does not tell: on soft-iWARP one that the client has may
 * still fail, when the client ends the connection at once. Those before it have not.
 */
static void
last_word(struct link *link)
{
	struct ibv_wc wc;

	if (link->run->is_server)
		must(rpma_send(link->conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, NULL),
		    "rpma_send");
	take(link->run->is_server ? link->cq : link->rcq, &wc);
}

void
play_remedies(struct run *run)
{
	/* In one queue the answer may come before the end of the own message. */
	const struct shape shape = { .recvs = 2, .rcq_size = 4 };
	struct link link;

	configurations(run);
	read_only_source(run);
	link_open(run, &shape, &link);
	/* Until both have looked, nobody ends the connection. */
	nothing_waits(run, &link);
	pass_on(&link, true);
	pass_on(&link, false);
	last_word(&link);
	/* Receives that nothing will arrive in. */
	say(run, "receive beyond the region: %s",
	    rpma_err_2str(rpma_recv(link.conn, run->region, REGION_BYTES - 8, 9,
		NULL)));
	say(run, "receive of 4 GiB and 5 bytes: %s",
	    rpma_err_2str(rpma_recv(link.conn, run->region, 0, ((size_t)1 << 32) + 5,
		NULL)));
	if (!run->is_server)
		finish_op(&link, "flush of a type that is none",
		    rpma_flush(link.conn, link.remote, TARGET_AT, 8,
			(enum rpma_flush_type)7, RPMA_F_COMPLETION_ALWAYS, NULL));
	link_close(&link, false);
}

/*
 * One operation that ends the connection, or does not. What the other side sees of the end
 * depends on the device, so that this is no part of the transcript.
 */
static void
last_op(struct run *run, struct link *link, const char *what, int result)
{
	enum rpma_conn_event event;
	struct ibv_wc wc;
	int fd;

	if (!run->is_server && result) {
		say(run, "%s: %s", what, rpma_err_2str(result));
	} else if (!run->is_server) {
		take(link->cq, &wc);
		say(run, "%s: %s", what,
		    wc.status == IBV_WC_SUCCESS ? "it worked" : "the connection fails");
	}
	must(rpma_conn_get_event_fd(link->conn, &fd), "rpma_conn_get_event_fd");
	if (!run->is_server)
		(void)rpma_conn_disconnect(link->conn);
	if (readable(fd, 5000))
		must(rpma_conn_next_event(link->conn, &event), "rpma_conn_next_event");
	if (run->is_server)
		(void)rpma_conn_disconnect(link->conn);
	link_delete(link);
}

void
play_beyond(struct run *run)
{
	struct link link;
	int result = 0;

	link_open(run, &(struct shape){ 0 }, &link);
	if (!run->is_server)
		result = rpma_read(link.conn, run->region, RECV_AT, link.remote,
		    REGION_BYTES - 8, 9, RPMA_F_COMPLETION_ALWAYS, NULL);
	last_op(run, &link, "read beyond the peer's region", result);
}

void
play_tail_flush(struct run *run)
{
	struct link link;
	int result = 0;

	link_open(run, &(struct shape){ 0 }, &link);
	if (!run->is_server)
		result = rpma_flush(link.conn, link.remote, REGION_BYTES - 4, 4,
		    RPMA_FLUSH_TYPE_VISIBILITY, RPMA_F_COMPLETION_ALWAYS, NULL);
	last_op(run, &link, "flush of the last 4 bytes", result);
}
