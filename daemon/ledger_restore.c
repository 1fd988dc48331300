/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ledger from the memory that an earlier process left behind. That process may have died
 * at any instruction, and nothing in the memory is trusted: a record that cannot be true
 * costs its own slot.
 */
#include <config.h>

#include <errno.h>
#include <string.h>

#include "daemon/ledger_impl.h"
#include "lib/core/text.h"

/* No pool takes so many messages or connections: numbers beyond these are damage. */
#define SEQ_LIMIT  ((uint64_t)1 << 62)
#define CONN_LIMIT ((uint64_t)1 << 52)

int
ledger_probe(const void *memory, size_t bytes, uint32_t *slots, uint32_t *slot_size,
    struct err *err)
{
	const struct header *header = memory;

	if (bytes < sizeof(*header) ||
	    memcmp(header->magic, LEDGER_MAGIC, sizeof(header->magic)) != 0)
		return err_set(err, ERR_INTERNAL_ERROR, EBADMSG,
		    "this is the memory of no ledger");
	if (header->version != LEDGER_VERSION || header->record_bytes != RECORD_BYTES)
		return err_set(err, ERR_UNSUPPORTED, EPROTONOSUPPORT,
		    "the ledger has version %u, this program knows version %u",
		    header->version, LEDGER_VERSION);
	if (header->checksum != ledger_checksum(header) || header->instance == 0 ||
	    header->slots == 0)
		return err_set(err, ERR_INTERNAL_ERROR, EBADMSG,
		    "the ledger's header is damaged");
	if (bytes < ledger_memory_size(header->slots))
		return err_set(err, ERR_INTERNAL_ERROR, EBADMSG,
		    "the ledger's memory has %zu bytes, not the %zu of its slots",
		    bytes, ledger_memory_size(header->slots));
	*slots = header->slots;
	*slot_size = header->slot_size;
	return 0;
}

uint32_t
ledger_count_messages(const void *memory)
{
	const struct header *header = memory;
	const struct record *records =
	    (const void *)((const char *)memory + HEADER_BYTES);
	uint32_t count = 0, slot;

	for (slot = 0; slot < header->slots; slot++) {
		unsigned int state =
		    (unsigned int)(atomic_load(&records[slot].word) & 0xff);

		count += state == SLOT_READY || state == SLOT_LEASED;
	}
	return count;
}

_Atomic uint64_t *
ledger_fault_mark(void *memory)
{
	return &((struct header *)memory)->fault_ns;
}

uint32_t
ledger_begin_life(void *memory, uint64_t now_ns)
{
	struct header *header = memory;
	uint64_t fault_ns = atomic_exchange(&header->fault_ns, 0);
	uint64_t taken_ns = header->taken_ns;

	/* The first process had nothing restored that could have been the cause. */
	if (fault_ns != 0 && taken_ns != 0 && fault_ns >= taken_ns &&
	    fault_ns - taken_ns <= LEDGER_FAULT_WINDOW_NS)
		header->faults++;
	else
		header->faults = 0;
	header->taken_ns = now_ns;
	return header->faults;
}

/* A label that is no UTF-8 could not be told to anybody, and nor could what waits behind it. */
static bool
has_good_label(const struct record *record)
{
	return !(record->flags & FLAG_CONTEXT) ||
	    text_is_utf8(record->context, record->context_len);
}

/* Whether a record that claims to hold a message can be true. */
static bool
is_message(const struct ledger *ledger, const struct record *record)
{
	const unsigned int known = FLAG_IMM | FLAG_RDMA_WRITE | FLAG_CONTEXT;
	sa_family_t family;

	memcpy(&family, record->peer, sizeof(family));
	return record->seq > 0 && record->seq < SEQ_LIMIT &&
	    record->conn < CONN_LIMIT && record->len <= ledger->header->slot_size &&
	    !(record->flags & ~known) && record->context_len <= LEDGER_CONTEXT_MAX &&
	    has_good_label(record) &&
	    (family == AF_INET || family == AF_INET6 || family == AF_UNSPEC);
}

uint64_t
ledger_last_conn(const struct ledger *ledger)
{
	return ledger->last_conn;
}

/* Neither a message's number nor a connection's id comes twice. */
static void
restore_numbers(struct ledger *ledger, uint64_t seq, uint64_t conn)
{
	if (seq >= ledger->next_seq && seq < SEQ_LIMIT)
		ledger->next_seq = seq + 1;
	if (conn > ledger->last_conn && conn < CONN_LIMIT)
		ledger->last_conn = conn;
}

/* Take one slot over. */
static void
restore_slot(struct ledger *ledger, uint32_t slot, struct ledger_restored *out)
{
	struct record *record = &ledger->records[slot];
	uint64_t word = ledger_word(ledger, slot);
	uint32_t generation = ledger_word_generation(word);
	unsigned int state = (unsigned int)(word & 0xff);
	bool is_held = state == SLOT_READY || state == SLOT_LEASED;

	/* Of a slot whose use was over, and of a bad record, these alone count. */
	restore_numbers(ledger, record->seq, record->conn);
	if (state > SLOT_LEASED || (state != SLOT_FREE && generation == 0) ||
	    (is_held && !is_message(ledger, record))) {
		/* Tokens that named what was there must not name what comes. */
		ledger_set_word(ledger, slot, SLOT_FREE, generation + 1, 0);
		out->bad++;
		return;
	}
	if (!is_held) {
		out->posted += state == SLOT_POSTED;
		ledger_set_word(ledger, slot, SLOT_FREE, generation, 0);
		return;
	}
	out->messages++;
	out->leased += state == SLOT_LEASED;
	ledger_set_word(ledger, slot, SLOT_READY, generation,
	    ledger_word_deliveries(word));
	ledger_ready_add_again(ledger, slot);
}

int
ledger_restore(void *memory, size_t bytes, uint32_t slots, uint32_t slot_size,
    struct ledger **out, struct ledger_restored *restored, struct err *err)
{
	struct ledger *ledger;
	uint32_t its_slots, its_slot_size, slot;
	int rc;

	rc = ledger_probe(memory, bytes, &its_slots, &its_slot_size, err);
	if (rc != 0)
		return rc;
	if (its_slots != slots || its_slot_size != slot_size)
		return err_set(err, ERR_UNSUPPORTED, EINVAL,
		    "the ledger is of %u slots of %u bytes, %u of %u are configured",
		    its_slots, its_slot_size, slots, slot_size);
	ledger = ledger_alloc(memory, slots);
	if (!ledger)
		return err_set(err, ERR_INTERNAL_ERROR, ENOMEM,
		    "ledger: out of memory");
	memset(restored, 0, sizeof(*restored));
	restore_numbers(ledger, ledger->header->moved_seq, ledger->header->moved_conn);
	for (slot = 0; slot < slots; slot++)
		restore_slot(ledger, slot, restored);
	for (slot = slots; slot-- > 0;)
		if (ledger_state(ledger, slot) == SLOT_FREE)
			ledger_free_add(ledger, slot);
	ledger->counts[SLOT_READY] = restored->messages;
	*out = ledger;
	return 0;
}
