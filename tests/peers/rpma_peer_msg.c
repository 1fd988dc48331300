/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenarios of messages: which queue a receive completes in, and what it says. */
#include <string.h>

#include "rpma_peer.h"

#define COUNT 4u
#define IMM   0x01020304u

static const uint32_t lengths[COUNT] = { 1, 1000, 0, RECV_BYTES };

static void
send_one(struct link *link, uint32_t index, bool imm)
{
	struct run *run = link->run;
	struct rpma_mr_local *src = lengths[index] ? run->region : NULL;
	const void *context = (void *)(uintptr_t)(100 + index);
	int result;

	fill(run, SEND_AT, lengths[index], index);
	if (imm)
		result = rpma_send_with_imm(link->conn, src, SEND_AT, lengths[index],
		    RPMA_F_COMPLETION_ALWAYS, IMM + index, context);
	else
		result = rpma_send(link->conn, src, SEND_AT, lengths[index],
		    RPMA_F_COMPLETION_ALWAYS, context);
	finish_op(link, "send", result);
}

/* Message number index of the client, as far as it arrived as such. */
static void
say_message(struct link *link, const char *what, const struct ibv_wc *wc,
    uint32_t index)
{
	struct run *run = link->run;
	const uint8_t *buffer = run->memory + RECV_AT + wc->wr_id * RECV_BYTES;

	say_wc(run, what, wc);
	fill(run, SEND_AT, lengths[index], index);
	if (wc->status != IBV_WC_SUCCESS || wc->qp_num != link->qp_num ||
	    wc->byte_len != lengths[index] ||
	    memcmp(buffer, run->memory + SEND_AT, lengths[index]) != 0)
		say(run, "message %u DIFFERS", index);
}

static void
messages(struct run *run, const struct shape *shape, bool imm)
{
	struct link link;
	struct ibv_wc wc;

	link_open(run, shape, &link);
	for (uint32_t i = 0; i < COUNT; i++) {
		if (run->is_server) {
			take(link.rcq, &wc);
			say_message(&link, "message", &wc, i);
		} else {
			send_one(&link, i, imm);
		}
	}
	link_close(&link, false);
}

void
play_send(struct run *run)
{
	const struct shape shape = { .recvs = COUNT };

	messages(run, &shape, false);
}

void
play_send_imm(struct run *run)
{
	const struct shape shape = { .recvs = COUNT };

	messages(run, &shape, true);
}

void
play_rcq(struct run *run)
{
	const struct shape shape = { .recvs = COUNT, .rcq_size = 10 };

	messages(run, &shape, false);
}

/* Two connections, two messages over each. A client has no SRQ. */
static void
send_over_two(struct run *run)
{
	const struct shape shape = { 0 };
	struct link links[2];

	for (uint32_t i = 0; i < 2; i++)
		link_open(run, &shape, &links[i]);
	for (uint32_t i = 0; i < COUNT; i++)
		send_one(&links[i / 2], i, false);
	for (uint32_t i = 0; i < 2; i++)
		link_close(&links[i], false);
}

/*
 * What two connections receive through one SRQ. Between the connections there is no order,
 * so each one's messages are listed by themselves.
 */
static void
receive_over_two(struct run *run, const struct shape *shape)
{
	struct link links[2];
	struct ibv_wc wc[COUNT];
	uint32_t count = 0;

	for (uint32_t i = 0; i < 2; i++)
		link_open(run, shape, &links[i]);
	for (uint32_t i = 0; i < COUNT; i++)
		take(links[i / 2].rcq, &wc[i]);
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t k = 0; k < COUNT; k++)
			if (wc[k].qp_num == links[i].qp_num)
				say_message(&links[i], i ? "second" : "first", &wc[k],
				    2 * i + count++ % 2);
	for (uint32_t i = 0; i < 2; i++)
		link_close(&links[i], false);
}

static void
through_srq(struct run *run, uint32_t srq_rcq_size, struct shape *shape)
{
	struct rpma_srq_cfg *cfg;
	struct rpma_cq *rcq;

	if (!run->is_server) {
		send_over_two(run);
		return;
	}
	must(rpma_srq_cfg_new(&cfg), "rpma_srq_cfg_new");
	must(rpma_srq_cfg_set_rcq_size(cfg, srq_rcq_size), "rpma_srq_cfg_set_rcq_size");
	must(rpma_srq_new(run->peer, cfg, &shape->srq), "rpma_srq_new");
	must(rpma_srq_cfg_delete(&cfg), "rpma_srq_cfg_delete");
	must(rpma_srq_get_rcq(shape->srq, &rcq), "rpma_srq_get_rcq");
	say(run, "the SRQ has a queue: %s", rcq ? "yes" : "no");
	for (uint32_t i = 0; i < RECV_BUFS; i++)
		must(rpma_srq_recv(shape->srq, run->region, RECV_AT + i * RECV_BYTES,
			 RECV_BYTES, (void *)(uintptr_t)i),
		    "rpma_srq_recv");
	receive_over_two(run, shape);
	must(rpma_srq_delete(&shape->srq), "rpma_srq_delete");
}

void
play_srq_own_cq(struct run *run)
{
	/* The size of the connection's own does not count. */
	struct shape shape = { .rcq_size = 10 };

	through_srq(run, 20, &shape);
}

void
play_srq_conn_cq(struct run *run)
{
	struct shape shape = { 0 };

	through_srq(run, 0, &shape);
}

void
play_srq_conn_rcq(struct run *run)
{
	struct shape shape = { .rcq_size = 10 };

	through_srq(run, 0, &shape);
}

/*
 * The next completion of a queue that the shared channel has told of. One event may stand for
 * several completions, so a queue is read until it has none before the next event is due.
 */
static void
take_shared(struct link *link, bool *is_rcq, struct ibv_wc *wc)
{
	struct rpma_cq *cq;
	int fd, result;

	must(rpma_conn_get_compl_fd(link->conn, &fd), "rpma_conn_get_compl_fd");
	for (;;) {
		for (int i = 0; i < 2; i++) {
			if (!link->told[i])
				continue;
			result = rpma_cq_get_wc(i ? link->rcq : link->cq, 1, wc, NULL);
			*is_rcq = i == 1;
			if (result != RPMA_E_NO_COMPLETION) {
				must(result, "rpma_cq_get_wc");
				return;
			}
			link->told[i] = false;
		}
		if (!readable(fd, 10000))
			die("no event of the shared channel");
		must(rpma_conn_wait(link->conn, RPMA_W_WAIT_FOR_COMPLETION, &cq,
			 is_rcq),
		    "rpma_conn_wait");
		if (cq != (*is_rcq ? link->rcq : link->cq))
			die("the event is of another queue");
		link->told[*is_rcq] = true;
	}
}

/*
 * The server answers each message. The next one may come before the completion of the answer,
 * so each queue's completions are listed by themselves.
 */
static void
echo(struct link *link, uint32_t count)
{
	struct ibv_wc wc[2][COUNT] = { 0 };
	uint32_t got[2] = { 0, 0 };

	while (got[0] < count || got[1] < count) {
		struct ibv_wc next;
		bool is_rcq;

		take_shared(link, &is_rcq, &next);
		if (got[is_rcq] == count)
			die("too many completions");
		wc[is_rcq][got[is_rcq]++] = next;
		if (is_rcq)
			must(rpma_send(link->conn, link->run->region,
				 RECV_AT + next.wr_id * RECV_BYTES, 64,
				 RPMA_F_COMPLETION_ALWAYS,
				 (void *)(uintptr_t)next.wr_id),
			    "rpma_send");
	}
	for (uint32_t i = 0; i < count; i++) {
		say_wc(link->run, "receive queue", &wc[1][i]);
		say_wc(link->run, "main queue", &wc[0][i]);
	}
}

/* The client's two completions come in any order. */
static void
ask(struct link *link, uint32_t index)
{
	struct run *run = link->run;
	struct ibv_wc wc[2] = { 0 };

	fill(run, SEND_AT, 64, index);
	must(rpma_send(link->conn, run->region, SEND_AT, 64, RPMA_F_COMPLETION_ALWAYS,
		 (void *)(uintptr_t)index),
	    "rpma_send");
	for (int i = 0; i < 2; i++) {
		struct ibv_wc got;
		bool is_rcq;

		take_shared(link, &is_rcq, &got);
		wc[is_rcq] = got;
	}
	say_wc(run, "main queue", &wc[0]);
	say_wc(run, "receive queue", &wc[1]);
}

void
play_shared_channel(struct run *run)
{
	const struct shape shape = { .recvs = 3, .rcq_size = 10, .shared = true };
	struct link link;
	bool is_rcq;
	int fd;

	link_open(run, &shape, &link);
	say(run, "rpma_cq_wait: %s", rpma_err_2str(rpma_cq_wait(link.cq)));
	if (run->is_server)
		echo(&link, shape.recvs);
	else
		for (uint32_t i = 0; i < shape.recvs; i++)
			ask(&link, i);
	/* The client has its answer before the server has the acknowledgement of it, so it
	 * is the server that knows when all is done. */
	link_close(&link, true);

	/* And a connection without one. */
	link_open(run, &(struct shape){ 0 }, &link);
	say(run, "rpma_conn_get_compl_fd: %s",
	    rpma_err_2str(rpma_conn_get_compl_fd(link.conn, &fd)));
	say(run, "rpma_conn_wait: %s",
	    rpma_err_2str(rpma_conn_wait(link.conn, 0, &link.cq, &is_rcq)));
	link_close(&link, false);
}
