/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in the ledger: arrival, leases, acknowledgement, and the tokens that name
 * them. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/ledger_impl.h"
#include "daemon/ledger_path.h"

#define INSTANCE_DIGITS 16u /* of a token, in hexadecimal */

bool
ledger_arrive(struct ledger *ledger, uint32_t slot,
    const struct ledger_arrival *arrival)
{
	struct record *record;

	if (slot >= ledger->total || ledger_state(ledger, slot) != SLOT_POSTED)
		return false;
	record = &ledger->records[slot];
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
	ledger_path_arrive(ledger, slot, record);
	return true;
}

static void
load_message(const struct ledger *ledger, uint32_t slot, uint32_t deliveries,
    struct ledger_message *out)
{
	const struct record *record = &ledger->records[slot];
	struct ledger_arrival *arrival = &out->arrival;

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
	uint32_t slot;

	if (!ledger_ready_min(ledger, &slot))
		return false;
	load_message(ledger, slot, ledger_word_deliveries(ledger_word(ledger, slot)),
	    out);
	return true;
}

bool
ledger_lease(struct ledger *ledger, struct ledger_owner *owner, uint64_t deadline_ns,
    struct ledger_message *out)
{
	uint32_t slot, deliveries;
	uint64_t word;

	if (!ledger_ready_min(ledger, &slot))
		return false;
	word = ledger_word(ledger, slot);
	deliveries = ledger_word_deliveries(word);
	if (deliveries < DELIVERIES_MAX)
		deliveries++;
	ledger_ready_remove(ledger, slot);
	ledger_set_word(ledger, slot, SLOT_LEASED, ledger_word_generation(word),
	    deliveries);
	ledger->counts[SLOT_READY]--;
	ledger->counts[SLOT_LEASED]++;
	ledger->slots[slot].owner = owner;
	if (owner) {
		if (owner->count++ == 0 || slot < owner->least)
			owner->least = slot;
	} else {
		slot_heap_push(&ledger->timed, slot, deadline_ns);
	}
	load_message(ledger, slot, deliveries, out);
	return true;
}

/* Take a leased slot from its holder. */
static void
unlease(struct ledger *ledger, uint32_t slot)
{
	struct ledger_owner *owner = ledger->slots[slot].owner;

	if (owner)
		owner->count--;
	else
		slot_heap_remove(&ledger->timed, slot);
}

static void
give_back(struct ledger *ledger, uint32_t slot)
{
	uint64_t word = ledger_word(ledger, slot);

	unlease(ledger, slot);
	ledger_set_word(ledger, slot, SLOT_READY, ledger_word_generation(word),
	    ledger_word_deliveries(word));
	ledger->counts[SLOT_LEASED]--;
	ledger->counts[SLOT_READY]++;
	ledger_ready_add_again(ledger, slot);
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

	if (slot >= ledger->total)
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

bool
ledger_is_held(const struct ledger *ledger, const struct ledger_owner *owner,
    uint32_t slot, uint32_t generation)
{
	return slot < ledger->total &&
	    ledger_path_is_held(ledger, owner, slot, generation);
}

bool
ledger_is_read(const struct ledger *ledger, const struct ledger_owner *owner,
    uint32_t slot, uint32_t generation)
{
	const struct ledger_owner *holder;

	if (slot >= ledger->total)
		return false;
	holder = ledger->slots[slot].owner;
	return holder != owner && holder &&
	    ledger_path_is_held(ledger, holder, slot, generation) &&
	    holder->is_in_place;
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
		ledger_ready_remove(ledger, slot);
	if (conn)
		*conn = ledger->records[slot].conn;
	ledger_path_free(ledger, slot, ledger_state(ledger, slot), generation);
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

bool
ledger_owner_first(const struct ledger *ledger, struct ledger_owner *owner,
    uint32_t *slot, uint32_t *generation)
{
	if (owner->count == 0)
		return false;
	for (; owner->least < ledger->total; owner->least++) {
		/* Of a slot that is not leased it says who held it last. */
		if (ledger->slots[owner->least].owner != owner ||
		    ledger_state(ledger, owner->least) != SLOT_LEASED)
			continue;
		*slot = owner->least;
		*generation = ledger_word_generation(ledger_word(ledger, *slot));
		return true;
	}
	return false;
}

uint32_t
ledger_owner_gone(struct ledger *ledger, struct ledger_owner *owner)
{
	uint32_t count = owner->count, slot, generation;

	while (ledger_owner_first(ledger, owner, &slot, &generation))
		give_back(ledger, slot);
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

/*
 * A number of 32 bits as ledger_token_format() writes it, without leading zeros. *at is
 * left behind it.
 */
static bool
parse_u32(const char **at, uint32_t *out)
{
	const char *begin = *at;
	uint64_t value = 0;

	for (; **at >= '0' && **at <= '9'; ++*at) {
		value = value * 10 + (uint64_t)(**at - '0');
		if (value > UINT32_MAX)
			return false;
	}
	*out = (uint32_t)value;
	return *at > begin && (*begin != '0' || *at == begin + 1);
}

/* Whether text begins with that instance and a dot. */
static bool
is_of(uint64_t instance, const char *text)
{
	static const char digits[] = "0123456789abcdef";
	unsigned int i;

	for (i = 0; i < INSTANCE_DIGITS; i++)
		if (text[i] != digits[instance >> (60 - 4 * i) & 15])
			return false;
	return text[INSTANCE_DIGITS] == '.';
}

bool
ledger_token_parse(const struct ledger *ledger, const char *token, uint32_t *slot,
    uint32_t *generation)
{
	const char *at;

	if (!is_of(ledger->header->instance, token))
		return false;
	at = token + INSTANCE_DIGITS + 1;
	if (!parse_u32(&at, slot) || *at++ != '.')
		return false;
	return parse_u32(&at, generation) && *at == '\0';
}
