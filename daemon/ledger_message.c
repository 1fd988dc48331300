/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in the ledger: arrival, leases, acknowledgement, and the tokens that name
 * them. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/ledger_impl.h"
#include "lib/core/num.h"

static void
store_arrival(struct record *record, const struct ledger_arrival *arrival)
{
	record->conn = arrival->conn;
	record->received_ns = arrival->received_ns;
	record->len = arrival->len;
	record->imm = arrival->imm;
	record->qp_num = arrival->qp_num;
	if (arrival->has_imm)
		record->flags |= FLAG_IMM;
	if (arrival->is_rdma_write)
		record->flags |= FLAG_RDMA_WRITE;
	memcpy(record->peer, &arrival->peer, PEER_BYTES);
}

bool
ledger_arrive(struct ledger *ledger, uint32_t slot,
    const struct ledger_arrival *arrival)
{
	struct record *record;

	if (slot >= ledger->counts.total || ledger_state(ledger, slot) != SLOT_POSTED)
		return false;
	record = &ledger->records[slot];
	store_arrival(record, arrival);
	record->seq = ledger->next_seq++;
	ledger_change(ledger, slot, SLOT_READY,
	    ledger_word_generation(ledger_word(ledger, slot)), 0);
	slot_heap_push(&ledger->ready, slot, record->seq);
	return true;
}

static void
load_message(const struct ledger *ledger, uint32_t slot, uint32_t deliveries,
    struct ledger_message *out)
{
	const struct record *record = &ledger->records[slot];
	struct ledger_arrival *arrival = &out->arrival;

	memset(&arrival->peer, 0, sizeof(arrival->peer));
	memcpy(&arrival->peer, record->peer, PEER_BYTES);
	arrival->conn = record->conn;
	arrival->qp_num = record->qp_num;
	arrival->len = record->len;
	arrival->imm = record->imm;
	arrival->has_imm = record->flags & FLAG_IMM;
	arrival->is_rdma_write = record->flags & FLAG_RDMA_WRITE;
	arrival->received_ns = record->received_ns;
	out->slot = slot;
	out->generation = ledger_word_generation(ledger_word(ledger, slot));
	out->seq = record->seq;
	out->deliveries = deliveries;
	out->context = record->flags & FLAG_CONTEXT ? record->context : NULL;
	out->context_len = record->context_len;
}

bool
ledger_peek(const struct ledger *ledger, struct ledger_message *out)
{
	struct slot_heap_item item;

	if (!slot_heap_min(&ledger->ready, &item))
		return false;
	load_message(ledger, item.slot,
	    ledger_word_deliveries(ledger_word(ledger, item.slot)), out);
	return true;
}

bool
ledger_lease(struct ledger *ledger, struct ledger_owner *owner, uint64_t deadline_ns,
    struct ledger_message *out)
{
	struct slot_heap_item item;
	uint64_t word;
	uint32_t deliveries;

	if (!slot_heap_min(&ledger->ready, &item))
		return false;
	slot_heap_remove(&ledger->ready, item.slot);
	word = ledger_word(ledger, item.slot);
	deliveries = ledger_word_deliveries(word);
	if (deliveries < DELIVERIES_MAX)
		deliveries++;
	ledger_change(ledger, item.slot, SLOT_LEASED, ledger_word_generation(word),
	    deliveries);
	ledger->slots[item.slot].owner = owner;
	if (owner) {
		ledger_list_push(ledger, &owner->first, item.slot);
		owner->count++;
	} else {
		slot_heap_push(&ledger->timed, item.slot, deadline_ns);
	}
	load_message(ledger, item.slot, deliveries, out);
	return true;
}

/* Take a leased slot from its holder. */
static void
unlease(struct ledger *ledger, uint32_t slot)
{
	struct ledger_owner *owner = ledger->slots[slot].owner;

	if (owner) {
		ledger_list_remove(ledger, &owner->first, slot);
		owner->count--;
	} else {
		slot_heap_remove(&ledger->timed, slot);
	}
	ledger->slots[slot].owner = NULL;
}

static void
give_back(struct ledger *ledger, uint32_t slot)
{
	uint64_t word = ledger_word(ledger, slot);

	unlease(ledger, slot);
	ledger_change(ledger, slot, SLOT_READY, ledger_word_generation(word),
	    ledger_word_deliveries(word));
	slot_heap_push(&ledger->ready, slot, ledger->records[slot].seq);
}

/*
 * Whether a token names the message that the slot holds now (DONE), one that it held
 * before (ALREADY), or none.
 */
static enum ledger_result
token_judge(const struct ledger *ledger, uint32_t slot, uint32_t generation)
{
	uint64_t word;
	uint32_t now;

	if (slot >= ledger->counts.total)
		return LEDGER_UNKNOWN;
	word = ledger_word(ledger, slot);
	now = ledger_word_generation(word);
	if (generation > now || generation == 0)
		return LEDGER_UNKNOWN;
	if (generation < now)
		return LEDGER_ALREADY;
	switch (ledger_word_state(word)) {
	case SLOT_READY:
	case SLOT_LEASED:
		return LEDGER_DONE;
	case SLOT_FREE:
		return LEDGER_ALREADY;
	case SLOT_POSTED:
		break;
	}
	return LEDGER_UNKNOWN;
}

enum ledger_result
ledger_ack(struct ledger *ledger, uint32_t slot, uint32_t generation, uint64_t *conn)
{
	enum ledger_result result = token_judge(ledger, slot, generation);

	if (result != LEDGER_DONE)
		return result;
	if (ledger_state(ledger, slot) == SLOT_LEASED)
		unlease(ledger, slot);
	else
		slot_heap_remove(&ledger->ready, slot);
	if (conn)
		*conn = ledger->records[slot].conn;
	ledger_change(ledger, slot, SLOT_FREE, generation, 0);
	ledger_list_push(ledger, &ledger->free_first, slot);
	return LEDGER_DONE;
}

enum ledger_result
ledger_nack(struct ledger *ledger, uint32_t slot, uint32_t generation)
{
	enum ledger_result result = token_judge(ledger, slot, generation);

	if (result != LEDGER_DONE)
		return result;
	if (ledger_state(ledger, slot) != SLOT_LEASED)
		return LEDGER_ALREADY;
	give_back(ledger, slot);
	return LEDGER_DONE;
}

bool
ledger_undeliver(struct ledger *ledger, uint32_t slot, uint32_t generation,
    uint32_t deliveries)
{
	uint64_t word = ledger_word(ledger, slot);

	if (ledger_word_state(word) != SLOT_LEASED ||
	    ledger_word_generation(word) != generation ||
	    ledger_word_deliveries(word) != deliveries)
		return false;
	give_back(ledger, slot);
	return true;
}

uint32_t
ledger_owner_gone(struct ledger *ledger, struct ledger_owner *owner)
{
	uint32_t count = owner->count;

	while (owner->first)
		give_back(ledger, owner->first - 1);
	return count;
}

bool
ledger_next_deadline(const struct ledger *ledger, uint64_t *deadline_ns)
{
	struct slot_heap_item item;

	if (!slot_heap_min(&ledger->timed, &item))
		return false;
	*deadline_ns = item.key;
	return true;
}

uint32_t
ledger_expire(struct ledger *ledger, uint64_t now_ns)
{
	struct slot_heap_item item;
	uint32_t count = 0;

	while (slot_heap_min(&ledger->timed, &item) && item.key <= now_ns) {
		give_back(ledger, item.slot);
		count++;
	}
	return count;
}

void
ledger_token_format(const struct ledger *ledger, uint32_t slot, uint32_t generation,
    char token[LEDGER_TOKEN_MAX])
{
	(void)snprintf(token, LEDGER_TOKEN_MAX, "%016" PRIx64 ".%" PRIu32 ".%" PRIu32,
	    ledger->header->instance, slot, generation);
}

static bool
parse_u32(const char *text, size_t len, uint32_t *out)
{
	char digits[16];
	uint64_t value;

	if (len == 0 || len >= sizeof(digits) || (len > 1 && text[0] == '0'))
		return false;
	memcpy(digits, text, len);
	digits[len] = '\0';
	if (num_parse_u64(digits, &value) != 0 || value > UINT32_MAX)
		return false;
	*out = (uint32_t)value;
	return true;
}

bool
ledger_token_parse(const struct ledger *ledger, const char *token, uint32_t *slot,
    uint32_t *generation)
{
	char instance[20];
	const char *slot_text, *dot;

	(void)snprintf(instance, sizeof(instance), "%016" PRIx64 ".",
	    ledger->header->instance);
	if (strncmp(token, instance, strlen(instance)) != 0)
		return false;
	slot_text = token + strlen(instance);
	dot = strchr(slot_text, '.');
	return dot && parse_u32(slot_text, (size_t)(dot - slot_text), slot) &&
	    parse_u32(dot + 1, strlen(dot + 1), generation);
}
