/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of a message through the ledger without what surrounds them, inline for the loops
 * that take many at once: each is done for every message. The caller has looked at the state of
 * the slot, which ledger_arrive() and its like do themselves.
 */
#ifndef RPMAD_DAEMON_LEDGER_PATH_H
#define RPMAD_DAEMON_LEDGER_PATH_H

#include "daemon/ledger_impl.h"

static inline uint32_t
ledger_path_generation(const struct record *record)
{
	return ledger_word_generation(atomic_load_explicit(&record->word,
	    memory_order_relaxed));
}

/* free -> posted, without a label, of a slot that was taken from the free and is counted. */
static inline void
ledger_path_posted(struct ledger *ledger, uint32_t slot)
{
	struct record *record = &ledger->records[slot];
	const uint32_t generation = ledger_path_generation(record) + 1;

	record->flags = 0;
	record->context_len = 0;
	/* 0 is the generation of a slot that was never used. */
	ledger_record_set(record, SLOT_POSTED, generation ? generation : 1, 0);
}

/*
 * Take and count that many free slots, which there are, to be posted one by one, the last one
 * first. They are good until a slot becomes free.
 */
static inline const uint32_t *
ledger_path_take_free(struct ledger *ledger, uint32_t count)
{
	ledger->counts[SLOT_FREE] -= count;
	ledger->counts[SLOT_POSTED] += count;
	return &ledger->free[ledger->counts[SLOT_FREE]];
}

/*
 * posted -> ready, where all else that the record says of the message was written: only now it
 * counts.
 */
static inline void
ledger_path_arrive(struct ledger *ledger, uint32_t slot, struct record *record)
{
	ledger->counts[SLOT_POSTED]--;
	record->seq = ledger->next_seq++;
	ledger_record_set(record, SLOT_READY, ledger_path_generation(record), 0);
	ledger->counts[SLOT_READY]++;
	ledger_ready_add(ledger, slot);
}

/* Whether nothing is ready but what has arrived since, and was never delivered. */
static inline bool
ledger_path_is_fresh(const struct ledger *ledger)
{
	return ledger->returned.count == 0;
}

/* How many that are. */
static inline uint32_t
ledger_path_fresh(const struct ledger *ledger)
{
	return ledger->fresh_end - ledger->fresh_first;
}

/* The slot of one of them, of which 0 is the oldest. */
static inline uint32_t
ledger_path_fresh_slot(const struct ledger *ledger, uint32_t i)
{
	return ledger->fresh[(ledger->fresh_first + i) & ledger->fresh_mask];
}

/* ready -> leased, of a fresh one; they are counted by ledger_path_leased(). return its record */
static inline const struct record *
ledger_path_lease(struct ledger *ledger, uint32_t slot, struct ledger_owner *owner)
{
	struct record *record = &ledger->records[slot];

	ledger_record_set(record, SLOT_LEASED, ledger_path_generation(record), 1);
	ledger->slots[slot].owner = owner;
	return record;
}

/* So many of the oldest fresh ones were leased. */
static inline void
ledger_path_leased(struct ledger *ledger, struct ledger_owner *owner, uint32_t count)
{
	ledger->fresh_first += count;
	ledger->counts[SLOT_READY] -= count;
	ledger->counts[SLOT_LEASED] += count;
	owner->least = 0;
	owner->count += count;
}

/* Whether owner holds that message, in its slot, which is one. */
static inline bool
ledger_path_is_held(const struct ledger *ledger, const struct ledger_owner *owner,
    uint32_t slot, uint32_t generation)
{
	const uint64_t held = (uint64_t)generation << 32 | SLOT_LEASED;
	const uint64_t word = ledger_word(ledger, slot);

	return (word & ~((uint64_t)DELIVERIES_MAX << 8)) == held &&
	    ledger->slots[slot].owner == owner;
}

/* To free, from a state in which it is kept nowhere else any more. */
static inline void
ledger_path_free(struct ledger *ledger, uint32_t slot, enum slot_state from,
    uint32_t generation)
{
	ledger->counts[from]--;
	ledger_record_set(&ledger->records[slot], SLOT_FREE, generation, 0);
	ledger_free_add(ledger, slot);
}

#endif
