/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving: completions into the ledger, and messages out of it. */
#include <config.h>

#include <arpa/inet.h>

#include "daemon/engine_impl.h"
#include "daemon/events.h"
#include "daemon/rpma_err.h"
#include "lib/core/log.h"
#include "lib/rpma/librpma.h"

static void
on_message(struct engine *engine, uint32_t slot, const struct ibv_wc *wc)
{
	struct ledger_arrival arrival = {
		.peer = { .ss_family = AF_UNSPEC },
		.qp_num = wc->qp_num,
		.len = wc->byte_len,
		.has_imm = wc->wc_flags & IBV_WC_WITH_IMM,
		.is_rdma_write = wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM,
		.received_ns = loop_wall_ns(),
	};

	/* With RDMA write with immediate the length is that of the write, not of the
	 * slot. */
	if (arrival.is_rdma_write)
		arrival.len = 0;
	if (arrival.has_imm)
		arrival.imm = ntohl(wc->imm_data);
	if (slot >= engine->settings->pool_slots ||
	    ledger_state(engine->ledger, slot) != SLOT_POSTED) {
		engine->dropped++;
		return;
	}
	/* A driver that says more than the slot holds is not believed. */
	if (arrival.len > engine->settings->pool_slot_size) {
		engine->dropped++;
		(void)ledger_unpost(engine->ledger, slot);
		return;
	}
	conns_message(&engine->conns, &arrival, loop_now_ns());
	(void)ledger_arrive(engine->ledger, slot, &arrival);
	engine->messages++;
	engine->bytes += arrival.len;
	engine->imms += arrival.has_imm;
	histogram_add(&engine->size_bytes, arrival.len);
	engine->wants_ready = true;
}

/*
 * A successful completion is a message, whatever became of its connection; only one in
 * error gives the slot back. Of that one wr_id, status, qp_num and vendor_err alone are
 * valid.
 */
void
engine_on_recv_wc(void *arg, const struct ibv_wc *wc)
{
	struct engine *engine = arg;
	uint32_t slot = wc->wr_id < UINT32_MAX ? (uint32_t)wc->wr_id : UINT32_MAX;

	engine->conns.polled++;
	if (wc->status == IBV_WC_SUCCESS) {
		on_message(engine, slot, wc);
		return;
	}
	if (!ledger_unpost(engine->ledger, slot))
		engine->dropped++;
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		engine->flushed++;
	else
		named_counts_add(&engine->recv_errors, wc_status_name(wc->status));
	conns_recv_failed(&engine->conns, wc->qp_num, wc->status);
}

struct ledger *
engine_ledger(struct engine *engine)
{
	return engine->ledger;
}

const void *
engine_slot_data(const struct engine *engine, uint32_t slot)
{
	return (const char *)engine->pool.memory.base +
	    (size_t)slot * engine->settings->pool_slot_size;
}

static int
may_post(const struct engine *engine, struct err *err)
{
	if (engine->state == ENGINE_RUNNING)
		return 0;
	if (engine->state == ENGINE_STOPPING || engine->state == ENGINE_STOPPED)
		return err_set(err, ERR_SHUTTING_DOWN, 0, "the daemon is stopping");
	return err_set(err, ERR_NOT_READY, 0, "%s", engine->reason);
}

int
engine_post(struct engine *engine, uint32_t count, uint32_t *accepted, struct err *err)
{
	int rc = may_post(engine, err);

	if (rc == 0)
		rc = srq_post(engine->srq, count, accepted, err);
	if (rc == 0)
		engine_kick(engine);
	return rc;
}

int
engine_post_slot(struct engine *engine, uint32_t slot, uint32_t len,
    const char *context, size_t context_len, struct err *err)
{
	int rc = may_post(engine, err);

	if (rc == 0)
		rc = srq_post_slot(engine->srq, slot, len, context, context_len, err);
	if (rc == 0)
		engine_kick(engine);
	return rc;
}

bool
engine_lease(struct engine *engine, struct ledger_owner *owner, uint64_t lease_ms,
    struct ledger_message *out)
{
	const uint64_t now_ns = loop_now_ns();
	uint64_t wall_ns;
	bool is_timed = lease_ms != PARAM_UNSET;
	uint64_t deadline_ns = is_timed ? now_ns + lease_ms * 1000000 : 0;

	if (!ledger_lease(engine->ledger, is_timed ? NULL : owner, deadline_ns, out))
		return false;
	engine->polled++;
	engine->leased_ns[out->slot] = now_ns;
	/* The wall clock, which a message keeps over a restart, may have been set back. */
	if (out->deliveries > 1) {
		engine->redelivered++;
	} else {
		wall_ns = loop_wall_ns();
		histogram_add(&engine->queue_ns,
		    wall_ns > out->arrival.received_ns
			? wall_ns - out->arrival.received_ns
			: 0);
	}
	/* The end of the lease may be nearer than the next tick. */
	if (is_timed)
		engine_kick(engine);
	return true;
}

bool
engine_peek(struct engine *engine, struct ledger_message *out)
{
	return ledger_peek(engine->ledger, out);
}

static enum ledger_result
consume(struct engine *engine, uint32_t slot, uint32_t generation)
{
	uint64_t conn = 0;
	enum ledger_result result = ledger_ack(engine->ledger, slot, generation, &conn);

	if (result == LEDGER_DONE) {
		/* One of an earlier life of the daemon was not delivered in this one. */
		if (engine->leased_ns[slot] != 0)
			histogram_add(&engine->hold_ns,
			    loop_now_ns() - engine->leased_ns[slot]);
		engine->leased_ns[slot] = 0;
		conns_released(&engine->conns, conn);
		engine_slots_freed(engine);
	}
	return result;
}

void
engine_watch_srq(struct engine *engine)
{
	uint64_t now_ns = loop_now_ns();
	struct srq_stats before, after;

	srq_get_stats(engine->srq, now_ns, &before);
	srq_watch(engine->srq, now_ns);
	srq_get_stats(engine->srq, now_ns, &after);
	if (after.times_low != before.times_low)
		events_add(engine->events, EVENT_SRQ_LOW, 0, NULL, NULL, 0);
	if (after.is_empty && !before.is_empty)
		events_add(engine->events, EVENT_SRQ_EMPTY, 0, NULL, NULL, 0);
	if (!after.is_empty && before.is_empty)
		events_add(engine->events, EVENT_SRQ_REFILLED, 0, NULL, NULL,
		    after.last_stall_ns);
}

enum ledger_result
engine_ack(struct engine *engine, const char *token)
{
	enum ledger_result result;
	uint32_t slot, generation;

	if (!ledger_token_parse(engine->ledger, token, &slot, &generation))
		return LEDGER_UNKNOWN;
	result = consume(engine, slot, generation);
	if (result == LEDGER_DONE)
		engine->acked++;
	return result;
}

void
engine_auto_ack(struct engine *engine, uint32_t slot, uint32_t generation)
{
	if (consume(engine, slot, generation) == LEDGER_DONE)
		engine->auto_acked++;
}

enum ledger_result
engine_nack(struct engine *engine, const char *token)
{
	enum ledger_result result;
	uint32_t slot, generation;

	if (!ledger_token_parse(engine->ledger, token, &slot, &generation))
		return LEDGER_UNKNOWN;
	result = ledger_nack(engine->ledger, slot, generation);
	if (result == LEDGER_DONE) {
		engine->nacked++;
		engine->wants_ready = true;
		engine_kick(engine);
	}
	return result;
}

void
engine_undeliver(struct engine *engine, uint32_t slot, uint32_t generation,
    uint32_t deliveries)
{
	if (!ledger_undeliver(engine->ledger, slot, generation, deliveries))
		return;
	engine->wants_ready = true;
	engine_kick(engine);
}

void
engine_owner_gone(struct engine *engine, struct ledger_owner *owner)
{
	if (ledger_owner_gone(engine->ledger, owner) == 0)
		return;
	engine->wants_ready = true;
	engine_kick(engine);
}
