/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the engine in memory into a reader's ring, field by field, and its answers back. */
#include <config.h>

#include <string.h>

#include "daemon/ring.h"
#include "tests/unit/stub_engine.h"

unsigned int
engine_ring_deliver(struct engine *engine, struct ledger_owner *owner,
    const struct engine_clock *clock, struct ring *ring, unsigned int max)
{
	struct ledger_message message;
	unsigned int count;

	(void)clock;
	for (count = 0; count < max && ring_room(ring) > 0 &&
	     ledger_lease(engine->ledger, owner, 0, &message);
	     count++) {
		struct ring_entry *entry = ring_next_entry(ring);
		const struct ledger_arrival *arrival = &message.arrival;

		entry->seq = message.seq;
		entry->conn = arrival->conn;
		entry->received_ns = arrival->received_ns;
		entry->len = arrival->len;
		entry->imm = arrival->imm;
		entry->qp_num = arrival->qp_num;
		entry->flags = (uint16_t)((arrival->has_imm ? RING_IMM : 0) |
		    (arrival->is_rdma_write ? RING_RDMA_WRITE : 0) |
		    (message.context ? RING_CONTEXT : 0));
		entry->context_len = (uint16_t)message.context_len;
		memcpy(entry->peer, &arrival->peer, sizeof(entry->peer));
		entry->slot = message.slot;
		entry->generation = message.generation;
		entry->deliveries = message.deliveries;
		if (message.context)
			memcpy(entry->context, message.context, message.context_len);
	}
	return count;
}

static bool
settle(struct engine *engine, const struct ledger_owner *owner,
    const struct ring_answer *answer)
{
	if (answer->verb > RING_NACK ||
	    !ledger_is_held(engine->ledger, owner, answer->slot, answer->generation))
		return false;
	if (answer->verb == RING_ACK)
		return ledger_ack(engine->ledger, answer->slot, answer->generation,
			   NULL) == LEDGER_DONE;
	loop_defer(engine->loop, &engine->ready);
	return ledger_nack(engine->ledger, answer->slot, answer->generation) ==
	    LEDGER_DONE;
}

void
engine_ring_settle(struct engine *engine, struct ledger_owner *owner,
    const struct engine_clock *clock, struct ring *ring, unsigned int budget)
{
	(void)clock;
	for (; budget > 0 && ring_answers(ring) > 0; budget--) {
		const struct ring_answer answer = ring_next_answer(ring);

		if (!settle(engine, owner, &answer))
			ring_count_unknown(ring);
	}
}
