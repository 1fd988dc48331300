/* SPDX-License-Identifier: BSD-3-Clause */
/* Receiving: completions into the ledger, and messages out of it. */
#include <config.h>

#include <arpa/inet.h>
#include <string.h>

#include "daemon/engine_impl.h"
#include "daemon/events.h"
#include "daemon/ledger_path.h"
#include "daemon/rpma_err.h"
#include "lib/core/log.h"
#include "lib/rpma/librpma.h"

/*
 * A completion that cannot be right: "not_posted" a message in a slot that is not there or
 * not posted, "too_long" one that is longer than its slot, "error_not_posted" a failure of
 * such a slot.
 */
static void
drop(struct engine *engine, const char *reason)
{
	engine->dropped++;
	named_counts_add(&engine->drops, reason);
}

/* What a completion says in its record besides what is known by the slot. */
static inline void
fill(const struct engine *engine, struct record *record, const struct conn_info *conn,
    uint32_t qp_num, uint32_t len)
{
	record->received_ns = engine->drain_clock.wall_ns;
	record->len = len;
	record->imm = 0;
	record->qp_num = qp_num;
	if (RPMAD_UNLIKELY(!conn)) {
		record->conn = 0;
		memset(record->peer, 0, PEER_BYTES);
	} else {
		record->conn = conn->id;
		memcpy(record->peer, &conn->peer, PEER_BYTES);
	}
}

/* What completions that are read together share. */
struct batch {
	uint32_t quota;
	struct conn *recent;
	struct histogram_run size_bytes;
};

/*
 * special   it may have been announced by a write, whose length is not that of what is in the
 *           slot, or have an immediate
 */
static inline __attribute__((always_inline)) void
on_message(struct engine *engine, const struct ibv_wc *wc, struct batch *batch,
    bool special)
{
	struct ledger *ledger = engine->ledger;
	const uint32_t slot = (uint32_t)wc->wr_id, qp_num = wc->qp_num;
	const bool is_rdma_write = special && wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM;
	const uint32_t len = is_rdma_write ? 0 : wc->byte_len;
	struct record *record;

	if (RPMAD_UNLIKELY(wc->wr_id >= ledger->total ||
		ledger_word_state(ledger_word(ledger, slot)) != SLOT_POSTED)) {
		drop(engine, "not_posted");
		return;
	}
	/* A driver that says more than the slot holds is not believed. */
	if (RPMAD_UNLIKELY(len > engine->settings->pool_slot_size)) {
		drop(engine, "too_long");
		(void)ledger_unpost(ledger, slot);
		return;
	}
	record = &ledger->records[slot];
	fill(engine, record,
	    conns_message(&engine->conns, qp_num, len, engine->drain_clock.now_ns,
		batch->quota, &batch->recent),
	    qp_num, len);
	if (is_rdma_write)
		record->flags |= FLAG_RDMA_WRITE;
	if (special && wc->wc_flags & IBV_WC_WITH_IMM) {
		record->flags |= FLAG_IMM;
		record->imm = ntohl(wc->imm_data);
		engine->imms++;
	}
	ledger_path_arrive(ledger, slot, record);
	histogram_run_add(&batch->size_bytes, len);
}

static void
on_special_message(struct engine *engine, const struct ibv_wc *wc, struct batch *batch)
{
	on_message(engine, wc, batch, true);
}

/* Of one in error wr_id, status, qp_num and vendor_err alone are valid. */
static void
on_failure(struct engine *engine, const struct ibv_wc *wc)
{
	const uint32_t slot = wc->wr_id < UINT32_MAX ? (uint32_t)wc->wr_id : UINT32_MAX;

	if (!ledger_unpost(engine->ledger, slot))
		drop(engine, "error_not_posted");
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		engine->flushed++;
	else
		named_counts_add(&engine->recv_errors, wc_status_name(wc->status));
	conns_recv_failed(&engine->conns, wc->qp_num, wc->status);
}

/*
 * A successful completion is a message, whatever became of its connection; only one in
 * error gives the slot back.
 */
void
engine_on_recv_wcs(void *arg, const struct ibv_wc *wcs, int count)
{
	struct engine *engine = arg;
	const uint64_t first_seq = engine->ledger->next_seq;
	struct batch batch = { .quota = conns_quota(&engine->conns),
		.size_bytes = { .histogram = &engine->size_bytes } };
	const struct ibv_wc *wc;

	engine->conns.polled += (uint64_t)count;
	for (wc = wcs; wc < wcs + count; wc++) {
		if (RPMAD_UNLIKELY(wc->status != IBV_WC_SUCCESS))
			on_failure(engine, wc);
		else if (RPMAD_UNLIKELY(wc->opcode != IBV_WC_RECV ||
			     wc->wc_flags & IBV_WC_WITH_IMM))
			on_special_message(engine, wc, &batch);
		else
			on_message(engine, wc, &batch, false);
	}
	histogram_run_end(&batch.size_bytes);
	if (engine->ledger->next_seq != first_seq) {
		engine->messages += engine->ledger->next_seq - first_seq;
		engine->wants_ready = true;
	}
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

int
engine_open_memory(const struct engine *engine, int *fd, struct err *err)
{
	return region_open_readonly(&engine->pool.memory, fd, err);
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

struct engine_clock
engine_clock(void)
{
	return (struct engine_clock){ .now_ns = loop_now_ns(),
		.wall_ns = loop_wall_ns() };
}

static void
count_delivery(struct engine *engine, const struct ledger_message *message,
    const struct engine_clock *clock)
{
	engine->polled++;
	engine->leased_ns[message->slot] = clock->now_ns;
	if (message->deliveries > 1)
		engine->redelivered++;
	else
		histogram_add(&engine->queue_ns,
		    engine_waited_ns(message->arrival.received_ns, clock));
}

bool
engine_lease(struct engine *engine, struct ledger_owner *owner, uint64_t lease_ms,
    struct ledger_message *out)
{
	const struct engine_clock clock = engine_clock();
	bool is_timed = lease_ms != PARAM_UNSET;
	uint64_t deadline_ns = is_timed ? clock.now_ns + lease_ms * 1000000 : 0;

	if (!ledger_lease(engine->ledger, is_timed ? NULL : owner, deadline_ns, out))
		return false;
	count_delivery(engine, out, &clock);
	/* The end of the lease may be nearer than the next tick. */
	if (is_timed)
		engine_kick(engine);
	return true;
}

bool
engine_lease_at(struct engine *engine, struct ledger_owner *owner,
    const struct engine_clock *clock, struct ledger_message *out)
{
	if (!ledger_lease(engine->ledger, owner, 0, out))
		return false;
	count_delivery(engine, out, clock);
	return true;
}

bool
engine_is_low(const struct engine *engine)
{
	struct ledger_counts counts;

	ledger_counts(engine->ledger, &counts);
	return counts.posted < engine->settings->receive_low_watermark;
}

bool
engine_peek(struct engine *engine, struct ledger_message *out)
{
	return ledger_peek(engine->ledger, out);
}

static enum ledger_result
consume(struct engine *engine, uint32_t slot, uint32_t generation, uint64_t now_ns)
{
	const uint32_t deliveries = slot < engine->ledger->total
	    ? ledger_word_deliveries(ledger_word(engine->ledger, slot))
	    : 0;
	uint64_t conn = 0;
	struct conn *recent = NULL;
	enum ledger_result result = ledger_ack(engine->ledger, slot, generation, &conn);

	if (result != LEDGER_DONE)
		return result;
	/* Nobody had one that was not delivered, or not in this life of the daemon. */
	if (deliveries > 0 && engine->leased_ns[slot] != 0)
		histogram_add(&engine->hold_ns, now_ns - engine->leased_ns[slot]);
	conns_released(&engine->conns, conn, &recent);
	engine_slots_freed(engine);
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

/* Who holds it in place has it until that one is through with it, whoever knows its token. */
static bool
may_settle(const struct engine *engine, const struct ledger_owner *owner,
    const char *token, uint32_t *slot, uint32_t *generation)
{
	return ledger_token_parse(engine->ledger, token, slot, generation) &&
	    !ledger_is_read(engine->ledger, owner, *slot, *generation);
}

enum ledger_result
engine_ack(struct engine *engine, const struct ledger_owner *owner, const char *token)
{
	enum ledger_result result;
	uint32_t slot, generation;

	if (!may_settle(engine, owner, token, &slot, &generation))
		return LEDGER_UNKNOWN;
	result = consume(engine, slot, generation, loop_now_ns());
	if (result == LEDGER_DONE)
		engine->acked++;
	return result;
}

uint32_t
engine_ack_held(struct engine *engine, struct ledger_owner *owner)
{
	const uint64_t now_ns = loop_now_ns();
	uint32_t slot, generation, count = 0;

	while (ledger_owner_first(engine->ledger, owner, &slot, &generation) &&
	    consume(engine, slot, generation, now_ns) == LEDGER_DONE)
		count++;
	engine->acked += count;
	return count;
}

void
engine_auto_ack(struct engine *engine, uint32_t slot, uint32_t generation)
{
	if (!ledger_is_read(engine->ledger, NULL, slot, generation) &&
	    consume(engine, slot, generation, loop_now_ns()) == LEDGER_DONE)
		engine->auto_acked++;
}

enum ledger_result
engine_give_back(struct engine *engine, uint32_t slot, uint32_t generation)
{
	enum ledger_result result = ledger_nack(engine->ledger, slot, generation);

	if (result == LEDGER_DONE) {
		engine->nacked++;
		engine->wants_ready = true;
		engine_kick(engine);
	}
	return result;
}

enum ledger_result
engine_nack(struct engine *engine, const struct ledger_owner *owner, const char *token)
{
	uint32_t slot, generation;

	if (!may_settle(engine, owner, token, &slot, &generation))
		return LEDGER_UNKNOWN;
	return engine_give_back(engine, slot, generation);
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
