/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages from one ledger to another of a different shape. */
#include <config.h>

#include <string.h>

#include "daemon/ledger_impl.h"

/* The record is complete before its word says that there is a message. */
static void
take(struct ledger *to, uint32_t slot, const struct record *record)
{
	struct record *copy = &to->records[slot];
	uint64_t word = atomic_load(&record->word);
	uint32_t generation = ledger_word_generation(ledger_word(to, slot)) + 1;

	ledger_free_remove(to, slot);
	copy->seq = record->seq;
	copy->conn = record->conn;
	copy->received_ns = record->received_ns;
	copy->len = record->len;
	copy->imm = record->imm;
	copy->qp_num = record->qp_num;
	copy->flags = record->flags;
	copy->context_len = record->context_len;
	memcpy(copy->peer, record->peer, sizeof(copy->peer));
	memcpy(copy->context, record->context, sizeof(copy->context));
	ledger_set_word(to, slot, SLOT_READY, generation ? generation : 1,
	    ledger_word_deliveries(word));
	to->counts[SLOT_READY]++;
	ledger_ready_add_again(to, slot);
}

/*
 * Numbers go on behind those that were given. The header remembers them, since the records
 * of the messages that had them may be none of those that are moved.
 */
static void
take_numbers(struct ledger *to, const struct ledger *from)
{
	if (from->next_seq > to->next_seq) {
		to->next_seq = from->next_seq;
		to->header->moved_seq = from->next_seq - 1;
	}
	if (from->last_conn > to->last_conn) {
		to->last_conn = from->last_conn;
		to->header->moved_conn = from->last_conn;
	}
}

uint32_t
ledger_move(struct ledger *from, struct ledger *to,
    void (*copy)(void *arg, uint32_t from_slot, uint32_t to_slot, uint32_t len),
    void *arg)
{
	uint32_t moved = 0, oldest, slot;

	take_numbers(to, from);
	while (to->counts[SLOT_FREE] > 0 && ledger_ready_min(from, &oldest)) {
		const struct record *record = &from->records[oldest];

		ledger_ready_remove(from, oldest);
		if (record->len > to->header->slot_size)
			continue;
		slot = to->free[to->counts[SLOT_FREE] - 1];
		copy(arg, oldest, slot, record->len);
		take(to, slot, record);
		ledger_set_word(from, oldest, SLOT_FREE,
		    ledger_word_generation(ledger_word(from, oldest)), 0);
		moved++;
	}
	return moved;
}
