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
#include "daemon/ledger_path.h"

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
ledger_ready_add_again(struct ledger *ledger, uint32_t slot)
{
	slot_heap_push(&ledger->returned, slot, ledger->records[slot].seq);
}

void
ledger_ready_remove(struct ledger *ledger, uint32_t slot)
{
	const uint32_t mask = ledger->fresh_mask;
	uint32_t at = ledger->fresh_first;

	if (slot_heap_has(&ledger->returned, slot)) {
		slot_heap_remove(&ledger->returned, slot);
		return;
	}
	while (at != ledger->fresh_end && ledger->fresh[at & mask] != slot)
		at++;
	if (at == ledger->fresh_end)
		return;
	/* Those that are older move up. */
	for (; at != ledger->fresh_first; at--)
		ledger->fresh[at & mask] = ledger->fresh[(at - 1) & mask];
	ledger->fresh_first++;
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
	uint32_t places = 1;

	if (!ledger)
		return NULL;
	while (places < slots)
		places *= 2;
	ledger->header = memory;
	ledger->records = (void *)((char *)memory + HEADER_BYTES);
	ledger->slots = calloc(slots, sizeof(*ledger->slots));
	ledger->free = calloc(slots, sizeof(*ledger->free));
	ledger->fresh = calloc(places, sizeof(*ledger->fresh));
	ledger->fresh_mask = places - 1;
	if (!ledger->slots || !ledger->free || !ledger->fresh ||
	    slot_heap_init(&ledger->returned, slots) != 0 ||
	    slot_heap_init(&ledger->timed, slots) != 0) {
		ledger_free(ledger);
		return NULL;
	}
	ledger->total = slots;
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
	for (slot = slots; slot-- > 0;)
		ledger_free_add(ledger, slot);
	*out = ledger;
	return 0;
}

void
ledger_free(struct ledger *ledger)
{
	if (!ledger)
		return;
	slot_heap_fini(&ledger->returned);
	slot_heap_fini(&ledger->timed);
	free(ledger->fresh);
	free(ledger->free);
	free(ledger->slots);
	free(ledger);
}

void
ledger_counts(const struct ledger *ledger, struct ledger_counts *out)
{
	*out = (struct ledger_counts){ .free = ledger->counts[SLOT_FREE],
		.posted = ledger->counts[SLOT_POSTED],
		.ready = ledger->counts[SLOT_READY],
		.leased = ledger->counts[SLOT_LEASED],
		.total = ledger->total };
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

void
ledger_recount(const struct ledger *ledger, struct ledger_counts *out)
{
	uint32_t seen[SLOT_LEASED + 1] = { 0 };
	uint32_t slot, total = 0;

	for (slot = 0; slot < ledger->total; slot++) {
		enum slot_state state = ledger_state(ledger, slot);

		if (state > SLOT_LEASED)
			continue;
		seen[state]++;
		total++;
	}
	*out = (struct ledger_counts){ .free = seen[SLOT_FREE],
		.posted = seen[SLOT_POSTED],
		.ready = seen[SLOT_READY],
		.leased = seen[SLOT_LEASED],
		.total = total };
}

/* How many messages are where the next one is taken from. */
static uint32_t
count_ready(const struct ledger *ledger)
{
	uint32_t count = ledger->returned.count, at;

	for (at = ledger->fresh_first; at != ledger->fresh_end; at++)
		count += ledger_state(ledger, ledger->fresh[at & ledger->fresh_mask]) ==
		    SLOT_READY;
	return count;
}

bool
ledger_check(const struct ledger *ledger)
{
	struct ledger_counts seen;

	ledger_recount(ledger, &seen);
	return seen.free == ledger->counts[SLOT_FREE] &&
	    seen.posted == ledger->counts[SLOT_POSTED] &&
	    seen.ready == ledger->counts[SLOT_READY] &&
	    seen.leased == ledger->counts[SLOT_LEASED] &&
	    count_ready(ledger) == ledger->counts[SLOT_READY];
}

bool
ledger_post_any(struct ledger *ledger, uint32_t *slot)
{
	if (ledger->counts[SLOT_FREE] == 0)
		return false;
	*slot = *ledger_path_take_free(ledger, 1);
	ledger_path_posted(ledger, *slot);
	return true;
}

int
ledger_post_slot(struct ledger *ledger, uint32_t slot, const char *context,
    size_t context_len)
{
	struct record *record = &ledger->records[slot];

	if (ledger_state(ledger, slot) != SLOT_FREE || !ledger_free_has(ledger, slot))
		return -EBUSY;
	if (context_len > LEDGER_CONTEXT_MAX)
		return -EINVAL;
	ledger_free_remove(ledger, slot);
	ledger->counts[SLOT_POSTED]++;
	ledger_path_posted(ledger, slot);
	if (context) {
		/* Nothing has arrived there before this returns. */
		memcpy(record->context, context, context_len);
		record->context_len = (uint16_t)context_len;
		record->flags = FLAG_CONTEXT;
	}
	return 0;
}

bool
ledger_unpost(struct ledger *ledger, uint32_t slot)
{
	if (slot >= ledger->total || ledger_state(ledger, slot) != SLOT_POSTED)
		return false;
	ledger_path_free(ledger, slot, SLOT_POSTED,
	    ledger_word_generation(ledger_word(ledger, slot)));
	return true;
}
