/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records in shared memory, and the lists and heaps over them in ordinary memory.
 *
 * A record's word (state, generation, deliveries) is stored last and with release
 * order, so that the death of the process at any instruction leaves each record old or
 * new.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/ledger_impl.h"

const char *
slot_state_name(enum slot_state state)
{
	switch (state) {
	case SLOT_FREE:
		return "free";
	case SLOT_POSTED:
		return "posted";
	case SLOT_READY:
		return "ready";
	case SLOT_LEASED:
		return "leased";
	}
	return "unknown";
}

void
ledger_set_word(struct ledger *ledger, uint32_t slot, enum slot_state state,
    uint32_t generation, uint32_t deliveries)
{
	uint64_t word =
	    (uint64_t)generation << 32 | (uint64_t)deliveries << 8 | (uint64_t)state;

	atomic_store_explicit(&ledger->records[slot].word, word, memory_order_release);
}

static uint32_t *
count_of(struct ledger *ledger, enum slot_state state)
{
	switch (state) {
	case SLOT_FREE:
		return &ledger->counts.free;
	case SLOT_POSTED:
		return &ledger->counts.posted;
	case SLOT_READY:
		return &ledger->counts.ready;
	case SLOT_LEASED:
		break;
	}
	return &ledger->counts.leased;
}

void
ledger_change(struct ledger *ledger, uint32_t slot, enum slot_state to,
    uint32_t generation, uint32_t deliveries)
{
	(*count_of(ledger, ledger_word_state(ledger_word(ledger, slot))))--;
	ledger_set_word(ledger, slot, to, generation, deliveries);
	(*count_of(ledger, to))++;
}

void
ledger_list_push(struct ledger *ledger, uint32_t *first, uint32_t slot)
{
	struct volatile_slot *v = &ledger->slots[slot];

	v->prev = 0;
	v->next = *first;
	if (*first)
		ledger->slots[*first - 1].prev = slot + 1;
	*first = slot + 1;
}

void
ledger_list_remove(struct ledger *ledger, uint32_t *first, uint32_t slot)
{
	struct volatile_slot *v = &ledger->slots[slot];

	if (v->prev)
		ledger->slots[v->prev - 1].next = v->next;
	else
		*first = v->next;
	if (v->next)
		ledger->slots[v->next - 1].prev = v->prev;
	v->next = 0;
	v->prev = 0;
}

uint64_t
ledger_checksum(const struct header *header)
{
	const unsigned char *bytes = (const unsigned char *)header;
	uint64_t sum = 14695981039346656037u;
	size_t i;

	for (i = 0; i < offsetof(struct header, checksum); i++)
		sum = (sum ^ bytes[i]) * 1099511628211u;
	return sum;
}

size_t
ledger_memory_size(uint32_t slots)
{
	size_t bytes = HEADER_BYTES + (size_t)slots * RECORD_BYTES;

	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static void
write_header(struct header *header, uint32_t slots, uint32_t slot_size,
    uint64_t instance)
{
	memcpy(header->magic, LEDGER_MAGIC, sizeof(header->magic));
	header->version = LEDGER_VERSION;
	header->record_bytes = RECORD_BYTES;
	header->slots = slots;
	header->slot_size = slot_size;
	header->instance = instance;
	header->checksum = ledger_checksum(header);
}

struct ledger *
ledger_alloc(void *memory, uint32_t slots)
{
	struct ledger *ledger = calloc(1, sizeof(*ledger));

	if (!ledger)
		return NULL;
	ledger->header = memory;
	ledger->records = (void *)((char *)memory + HEADER_BYTES);
	ledger->slots = calloc(slots, sizeof(*ledger->slots));
	if (!ledger->slots || slot_heap_init(&ledger->ready, slots) != 0 ||
	    slot_heap_init(&ledger->timed, slots) != 0) {
		ledger_free(ledger);
		return NULL;
	}
	ledger->counts.total = slots;
	ledger->next_seq = 1;
	return ledger;
}

int
ledger_new(void *memory, uint32_t slots, uint32_t slot_size, uint64_t instance,
    struct ledger **out)
{
	struct ledger *ledger = ledger_alloc(memory, slots);
	uint32_t slot;

	if (!ledger)
		return -ENOMEM;
	write_header(ledger->header, slots, slot_size, instance);
	ledger->counts.free = slots;
	for (slot = slots; slot-- > 0;)
		ledger_list_push(ledger, &ledger->free_first, slot);
	*out = ledger;
	return 0;
}

void
ledger_free(struct ledger *ledger)
{
	if (!ledger)
		return;
	slot_heap_fini(&ledger->ready);
	slot_heap_fini(&ledger->timed);
	free(ledger->slots);
	free(ledger);
}

void
ledger_counts(const struct ledger *ledger, struct ledger_counts *out)
{
	*out = ledger->counts;
}

enum slot_state
ledger_state(const struct ledger *ledger, uint32_t slot)
{
	return ledger_word_state(ledger_word(ledger, slot));
}

uint64_t
ledger_instance(const struct ledger *ledger)
{
	return ledger->header->instance;
}

bool
ledger_check(const struct ledger *ledger)
{
	const struct ledger_counts *counts = &ledger->counts;
	uint32_t seen[SLOT_LEASED + 1] = { 0 };
	uint32_t slot;

	for (slot = 0; slot < counts->total; slot++) {
		enum slot_state state = ledger_state(ledger, slot);

		if (state > SLOT_LEASED)
			return false;
		seen[state]++;
	}
	return seen[SLOT_FREE] == counts->free && seen[SLOT_POSTED] == counts->posted &&
	    seen[SLOT_READY] == counts->ready && seen[SLOT_LEASED] == counts->leased &&
	    ledger->ready.count == counts->ready;
}

static void
post(struct ledger *ledger, uint32_t slot, const char *context, size_t context_len)
{
	struct record *record = &ledger->records[slot];
	/* 0 is the generation of a slot that was never used. */
	uint32_t generation = ledger_word_generation(ledger_word(ledger, slot)) + 1;

	ledger_list_remove(ledger, &ledger->free_first, slot);
	record->flags = context ? FLAG_CONTEXT : 0;
	record->context_len = (uint16_t)context_len;
	if (context)
		memcpy(record->context, context, context_len);
	ledger_change(ledger, slot, SLOT_POSTED, generation ? generation : 1, 0);
}

bool
ledger_post_any(struct ledger *ledger, uint32_t *slot)
{
	if (!ledger->free_first)
		return false;
	*slot = ledger->free_first - 1;
	post(ledger, *slot, NULL, 0);
	return true;
}

int
ledger_post_slot(struct ledger *ledger, uint32_t slot, const char *context,
    size_t context_len)
{
	if (ledger_state(ledger, slot) != SLOT_FREE)
		return -EBUSY;
	if (context_len > LEDGER_CONTEXT_MAX)
		return -EINVAL;
	post(ledger, slot, context, context_len);
	return 0;
}

bool
ledger_unpost(struct ledger *ledger, uint32_t slot)
{
	if (slot >= ledger->counts.total || ledger_state(ledger, slot) != SLOT_POSTED)
		return false;
	ledger_change(ledger, slot, SLOT_FREE,
	    ledger_word_generation(ledger_word(ledger, slot)), 0);
	ledger_list_push(ledger, &ledger->free_first, slot);
	return true;
}
