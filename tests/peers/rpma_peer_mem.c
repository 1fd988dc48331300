/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenarios of remote memory: the client works on the server's region. */
#include <string.h>

#include "rpma_peer.h"

static const struct shape plain = { .recvs = 2 };

static const void *
context(unsigned int number)
{
	return (const void *)(uintptr_t)number;
}

/*
 * The client keeps a copy of what the server's target should be, and when it is done says by
 * a message which sum that has; then the server looks.
 */
static void
done(struct link *link)
{
	struct run *run = link->run;
	uint32_t here = sum(run->memory + TARGET_AT, TARGET_BYTES), there;
	struct ibv_wc wc;

	if (run->is_server) {
		take(link->rcq, &wc);
		here = sum(run->memory + TARGET_AT, TARGET_BYTES);
		memcpy(&there, run->memory + RECV_AT + wc.wr_id * RECV_BYTES,
		    sizeof(there));
		say(run, "status %d, the target %s", wc.status,
		    here == there ? "is as it should be" : "DIFFERS");
	} else {
		memcpy(run->memory + SEND_AT, &here, sizeof(here));
		finish_op(link, "done",
		    rpma_send(link->conn, run->region, SEND_AT, sizeof(here),
			RPMA_F_COMPLETION_ALWAYS, context(99)));
	}
	link_close(link, false);
}

void
play_read(struct run *run)
{
	struct link link;

	fill(run, TARGET_AT, TARGET_BYTES, 7);
	link_open(run, &plain, &link);
	if (!run->is_server) {
		memset(run->memory + RECV_AT, 0, TARGET_BYTES);
		finish_op(&link, "read",
		    rpma_read(link.conn, run->region, RECV_AT + 8, link.remote,
			TARGET_AT + 100, 4000, RPMA_F_COMPLETION_ALWAYS, context(1)));
		say(run, "what was read %s",
		    memcmp(run->memory + RECV_AT + 8, run->memory + TARGET_AT + 100,
			4000)
			? "DIFFERS"
			: "is as it should be");
		say(run, "around it: %02x %02x", run->memory[RECV_AT + 7],
		    run->memory[RECV_AT + 8 + 4000]);
	}
	done(&link);
}

/*
 * On a connection without other reads: soft-iWARP of Linux 6.1 answers a read of no bytes
 * that has to wait behind the answer to another with the length of that (siw_activate_tx()
 * keeps it), which ends the connection.
 */
void
play_read_nothing(struct run *run)
{
	struct link link;

	link_open(run, &plain, &link);
	if (!run->is_server) {
		finish_op(&link, "a read of no bytes",
		    rpma_read(link.conn, run->region, RECV_AT, link.remote, TARGET_AT,
			0, RPMA_F_COMPLETION_ALWAYS, context(1)));
		finish_op(&link, "read nothing from nowhere",
		    rpma_read(link.conn, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS,
			context(2)));
	}
	done(&link);
}

void
play_write(struct run *run)
{
	struct link link;

	memset(run->memory + TARGET_AT, 0, TARGET_BYTES);
	link_open(run, &plain, &link);
	if (!run->is_server) {
		fill(run, SEND_AT, 4000, 3);
		memcpy(run->memory + TARGET_AT, run->memory + SEND_AT, 4000);
		/* No completion of its own, only an error would have one. */
		must(rpma_write(link.conn, link.remote, TARGET_AT, run->region, SEND_AT,
			 100, RPMA_F_COMPLETION_ON_ERROR, context(1)),
		    "rpma_write");
		finish_op(&link, "write",
		    rpma_write(link.conn, link.remote, TARGET_AT + 100, run->region,
			SEND_AT + 100, 3900, RPMA_F_COMPLETION_ALWAYS, context(2)));
		finish_op(&link, "write nothing to nowhere",
		    rpma_write(link.conn, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS,
			context(3)));
	}
	done(&link);
}

void
play_write_imm(struct run *run)
{
	struct link link;
	struct ibv_wc wc;

	memset(run->memory + TARGET_AT, 0, TARGET_BYTES);
	link_open(run, &plain, &link);
	if (run->is_server) {
		take(link.rcq, &wc);
		say_wc(run, "told", &wc);
	} else {
		fill(run, SEND_AT, 500, 5);
		memcpy(run->memory + TARGET_AT + 1, run->memory + SEND_AT, 500);
		finish_op(&link, "write with imm",
		    rpma_write_with_imm(link.conn, link.remote, TARGET_AT + 1,
			run->region, SEND_AT, 500, RPMA_F_COMPLETION_ALWAYS,
			0xfedcba98u, context(1)));
	}
	done(&link);
}

static void
flush(struct link *link, const char *what, enum rpma_flush_type type)
{
	must(rpma_write(link->conn, link->remote, TARGET_AT, link->run->region, SEND_AT,
		 300, RPMA_F_COMPLETION_ON_ERROR, context(1)),
	    "rpma_write");
	finish_op(link, what,
	    rpma_flush(link->conn, link->remote, TARGET_AT, 300, type,
		RPMA_F_COMPLETION_ALWAYS, context(2)));
}

void
play_flush(struct run *run)
{
	struct link link;
	size_t size;
	int types;

	memset(run->memory + TARGET_AT, 0, TARGET_BYTES);
	link_open(run, &plain, &link);
	if (!run->is_server) {
		must(rpma_mr_remote_get_size(link.remote, &size), "size");
		must(rpma_mr_remote_get_flush_type(link.remote, &types), "types");
		say(run, "the region has %zu bytes, flush types %02x", size, types);
		fill(run, SEND_AT, 300, 6);
		memcpy(run->memory + TARGET_AT, run->memory + SEND_AT, 300);
		flush(&link, "visibility", RPMA_FLUSH_TYPE_VISIBILITY);
		flush(&link, "persistent, the peer's memory unknown",
		    RPMA_FLUSH_TYPE_PERSISTENT);
		must(rpma_conn_apply_remote_peer_cfg(link.conn, link.remote_cfg),
		    "rpma_conn_apply_remote_peer_cfg");
		flush(&link, "persistent", RPMA_FLUSH_TYPE_PERSISTENT);
	}
	done(&link);
}

void
play_atomic_write(struct run *run)
{
	static const char word[8] = "atomic!";
	struct link link;

	memset(run->memory + TARGET_AT, 0, TARGET_BYTES);
	link_open(run, &plain, &link);
	if (!run->is_server) {
		memcpy(run->memory + TARGET_AT + 16, word, 8);
		finish_op(&link, "at 16",
		    rpma_atomic_write(link.conn, link.remote, TARGET_AT + 16, word,
			RPMA_F_COMPLETION_ALWAYS, context(1)));
		finish_op(&link, "at 20",
		    rpma_atomic_write(link.conn, link.remote, TARGET_AT + 20, word,
			RPMA_F_COMPLETION_ALWAYS, context(2)));
	}
	done(&link);
}

/* What is refused before it is queued. */
void
play_arguments(struct run *run)
{
	struct rpma_mr_local *mr = run->region;
	const int flags = RPMA_F_COMPLETION_ALWAYS;
	struct link link;
	struct ibv_wc wc[2];

	link_open(run, &plain, &link);
	if (!run->is_server) {
		struct rpma_mr_remote *remote = link.remote;
		const int results[] = {
			rpma_send(NULL, mr, 0, 8, flags, NULL),
			rpma_send(link.conn, mr, 0, 8, 0, NULL),
			rpma_send(link.conn, NULL, 1, 0, flags, NULL),
			rpma_send(link.conn, NULL, 0, 1, flags, NULL),
			rpma_recv(link.conn, NULL, 0, 1, NULL),
			rpma_recv(NULL, mr, 0, 1, NULL),
			rpma_read(link.conn, mr, 0, remote, 0, 8, 0, NULL),
			rpma_read(link.conn, mr, 0, NULL, 0, 0, flags, NULL),
			rpma_read(link.conn, NULL, 0, remote, 0, 0, flags, NULL),
			rpma_write(link.conn, NULL, 0, mr, 0, 8, flags, NULL),
			rpma_write(link.conn, NULL, 0, NULL, 0, 8, flags, NULL),
			rpma_flush(link.conn, NULL, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
			    flags, NULL),
			rpma_atomic_write(link.conn, remote, 0, NULL, flags, NULL),
			rpma_cq_get_wc(link.cq, 0, wc, NULL),
			rpma_cq_get_wc(link.cq, 2, wc, NULL),
			rpma_cq_get_wc(link.cq, 1, wc, NULL),
			rpma_mr_remote_from_descriptor(wc, 20, &remote),
		};

		for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
			say(run, "%zu: %s", i, rpma_err_2str(results[i]));
	}
	done(&link);
}
