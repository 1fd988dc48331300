/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages from the ledger into the rings of readers in place, and their answers back. */
#include <config.h>

#include <stddef.h>
#include <string.h>

#include "daemon/engine_impl.h"
#include "daemon/ledger_path.h"
#include "daemon/ring.h"

/*
 * What the reader is told of a message lies in its record as it does in the entry, so that it is
 * copied as one.
 */
#define TOLD_BYTES                                              \
	(sizeof(struct record) - offsetof(struct record, seq) - \
	    sizeof(((struct record *)0)->context) -             \
	    sizeof(((struct record *)0)->unused))
#define IS_ALIKE(first, field)                                              \
	(offsetof(struct record, field) - offsetof(struct record, first) == \
		offsetof(struct ring_entry, field) &&                       \
	    sizeof(((struct record *)0)->field) ==                          \
		sizeof(((struct ring_entry *)0)->field))
_Static_assert(IS_ALIKE(seq, seq) && IS_ALIKE(seq, conn) &&
	IS_ALIKE(seq, received_ns) && IS_ALIKE(seq, len) && IS_ALIKE(seq, imm) &&
	IS_ALIKE(seq, qp_num) && IS_ALIKE(seq, flags) && IS_ALIKE(seq, context_len) &&
	IS_ALIKE(seq, peer),
    "record and entry have the same fields");
_Static_assert(TOLD_BYTES == offsetof(struct ring_entry, slot), "and no other ones");
_Static_assert(FLAG_IMM == RING_IMM && FLAG_RDMA_WRITE == RING_RDMA_WRITE &&
	FLAG_CONTEXT == RING_CONTEXT && LEDGER_CONTEXT_MAX == RING_CONTEXT_MAX,
    "they say the same");

static inline void
put(struct ring *ring, const struct record *record, uint32_t slot, uint32_t deliveries)
{
	struct ring_entry *entry = ring_next_entry(ring);

	memcpy(entry, &record->seq, TOLD_BYTES);
	entry->slot = slot;
	entry->generation = ledger_path_generation(record);
	entry->deliveries = deliveries;
	if (RPMAD_UNLIKELY(record->flags & FLAG_CONTEXT))
		memcpy(entry->context, record->context, record->context_len);
}

/* Those that were not delivered yet. return how many */
static unsigned int
deliver_fresh(struct engine *engine, struct ledger_owner *owner,
    const struct engine_clock *clock, struct ring *ring, unsigned int want)
{
	struct ledger *ledger = engine->ledger;
	const uint32_t fresh = ledger_path_fresh(ledger),
		       count = fresh < want ? fresh : want;
	struct histogram_run queue_ns = { .histogram = &engine->queue_ns };
	uint32_t i;

	for (i = 0; i < count; i++) {
		const uint32_t slot = ledger_path_fresh_slot(ledger, i);
		const struct record *record = ledger_path_lease(ledger, slot, owner);

		engine->leased_ns[slot] = clock->now_ns;
		histogram_run_add(&queue_ns,
		    engine_waited_ns(record->received_ns, clock));
		put(ring, record, slot, 1);
	}
	histogram_run_end(&queue_ns);
	ledger_path_leased(ledger, owner, count);
	engine->polled += count;
	return count;
}

unsigned int
engine_ring_deliver(struct engine *engine, struct ledger_owner *owner,
    const struct engine_clock *clock, struct ring *ring, unsigned int max)
{
	struct ledger *ledger = engine->ledger;
	const uint32_t room = ring_room(ring);
	const unsigned int want = room < max ? room : max;
	struct ledger_message message;
	unsigned int count = 0;

	/* Among those that came back are the oldest. */
	while (count < want && !ledger_path_is_fresh(ledger) &&
	    engine_lease_at(engine, owner, clock, &message)) {
		put(ring, &ledger->records[message.slot], message.slot,
		    message.deliveries);
		count++;
	}
	if (ledger_path_is_fresh(ledger))
		count += deliver_fresh(engine, owner, clock, ring, want - count);
	return count;
}

/* What an answer says that is no acknowledgement of what owner holds. */
static void
settle_other(struct engine *engine, const struct ledger_owner *owner, struct ring *ring,
    const struct ring_answer *answer)
{
	if (answer->verb != RING_NACK ||
	    !ledger_is_held(engine->ledger, owner, answer->slot, answer->generation))
		ring_count_unknown(ring);
	else
		(void)engine_give_back(engine, answer->slot, answer->generation);
}

void
engine_ring_settle(struct engine *engine, struct ledger_owner *owner,
    const struct engine_clock *clock, struct ring *ring, unsigned int budget)
{
	struct ledger *ledger = engine->ledger;
	const uint64_t now_ns = clock->now_ns;
	const uint32_t answers = ring_answers(ring);
	uint32_t left = answers < budget ? answers : budget, acked = 0;
	struct histogram_run hold_ns = { .histogram = &engine->hold_ns };
	struct conn *recent = NULL;

	for (; left > 0; left--) {
		const struct ring_answer answer = ring_next_answer(ring);
		const uint32_t slot = answer.slot;

		if (RPMAD_UNLIKELY(answer.verb != RING_ACK || slot >= ledger->total ||
			!ledger_path_is_held(ledger, owner, slot, answer.generation))) {
			settle_other(engine, owner, ring, &answer);
			continue;
		}
		/* It was leased in this life of the daemon, so there is a time. */
		histogram_run_add(&hold_ns, now_ns - engine->leased_ns[slot]);
		conns_released(&engine->conns, ledger->records[slot].conn, &recent);
		ledger_path_free(ledger, slot, SLOT_LEASED, answer.generation);
		acked++;
	}
	histogram_run_end(&hold_ns);
	owner->count -= acked;
	engine->acked += acked;
	if (acked > 0)
		engine_slots_freed(engine);
}
