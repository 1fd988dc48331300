/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the ledger share: the format of its memory, and its lists. */
#ifndef RPMAD_DAEMON_LEDGER_IMPL_H
#define RPMAD_DAEMON_LEDGER_IMPL_H

#include <netinet/in.h>
#include <stdatomic.h>

#include "daemon/ledger.h"
#include "daemon/slot_heap.h"

#define LEDGER_MAGIC   "rpmadLDG"
#define LEDGER_VERSION 1u
#define PAGE_BYTES     4096u
#define HEADER_BYTES   256u
#define RECORD_BYTES   256u
#define PEER_BYTES     28u /* sizeof(struct sockaddr_in6) */

#define FLAG_IMM        1u
#define FLAG_RDMA_WRITE 2u
#define FLAG_CONTEXT    4u

struct header {
	char magic[8];
	uint32_t version;
	uint32_t record_bytes;
	uint32_t slots;
	uint32_t slot_size;
	uint64_t instance;
	uint64_t checksum; /* FNV-1a of all before it */
	/* Of the process that has the ledger now, and of those before it. */
	_Atomic uint64_t fault_ns; /* when it died by its own fault; 0: it did not */
	uint64_t taken_ns;         /* when it was restored; 0: it was new */
	uint32_t faults;           /* such deaths soon after a restore, in a row */
	uint32_t unused;
	/* Given in ledgers that messages were moved from; 0: there was none. */
	uint64_t moved_seq;  /* the last number of a message */
	uint64_t moved_conn; /* the highest id of a connection */
};

struct record {
	_Atomic uint64_t word; /* generation << 32 | deliveries << 8 | state */
	uint64_t seq;
	uint64_t conn;
	uint64_t received_ns;
	uint32_t len;
	uint32_t imm;
	uint32_t qp_num;
	uint16_t flags;
	uint16_t context_len;
	unsigned char peer[PEER_BYTES];
	char context[LEDGER_CONTEXT_MAX];
	unsigned char unused[52];
};

_Static_assert(sizeof(struct record) == RECORD_BYTES, "the record format is fixed");
_Static_assert(sizeof(struct header) <= HEADER_BYTES, "the header format is fixed");
_Static_assert(sizeof(union ledger_peer) == PEER_BYTES, "an address fits");

#define DELIVERIES_MAX 0xffffffu

/* What is known of a slot only while the process lives. */
struct volatile_slot {
	struct ledger_owner *owner; /* leased: NULL: by time */
	uint32_t place;             /* free: in the stack of those */
};

struct ledger {
	struct header *header;
	struct record *records;
	struct volatile_slot *slots;
	/* Ready are those that arrived, which are in order, and those that came back. */
	uint32_t *fresh; /* a ring of slots; its counters wrap */
	uint32_t fresh_mask, fresh_first, fresh_end;
	struct slot_heap returned; /* by seq */
	struct slot_heap timed;    /* leases by time, by deadline */
	uint32_t *free;            /* a stack of counts[SLOT_FREE] slots */
	uint32_t total;
	uint32_t counts[SLOT_LEASED + 1];
	uint64_t next_seq;
	uint64_t last_conn; /* the highest id that came from an earlier process */
};

/* The word of a slot, and its parts. */
static inline uint64_t
ledger_word(const struct ledger *ledger, uint32_t slot)
{
	return atomic_load_explicit(&ledger->records[slot].word, memory_order_relaxed);
}

static inline enum slot_state
ledger_word_state(uint64_t word)
{
	return (enum slot_state)(word & 0xff);
}

static inline uint32_t
ledger_word_generation(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

static inline uint32_t
ledger_word_deliveries(uint64_t word)
{
	return (uint32_t)(word >> 8) & DELIVERIES_MAX;
}

/* Store a word, last of a record's changes. */
static inline void
ledger_record_set(struct record *record, enum slot_state state, uint32_t generation,
    uint32_t deliveries)
{
	uint64_t word =
	    (uint64_t)generation << 32 | (uint64_t)deliveries << 8 | (uint64_t)state;

	atomic_store_explicit(&record->word, word, memory_order_release);
}

static inline void
ledger_set_word(struct ledger *ledger, uint32_t slot, enum slot_state state,
    uint32_t generation, uint32_t deliveries)
{
	ledger_record_set(&ledger->records[slot], state, generation, deliveries);
}

/* What the header's checksum must be. */
uint64_t ledger_checksum(const struct header *header);

/* The part in ordinary memory, with counts and lists empty; NULL: no memory. */
struct ledger *ledger_alloc(void *memory, uint32_t slots);

/*
 * A slot is free now: it is counted, and the next one to be taken. Where a record was damaged it
 * may be there already, and no room for it: then the counts are wrong, as ledger_check() finds.
 */
static inline void
ledger_free_add(struct ledger *ledger, uint32_t slot)
{
	const uint32_t place = ledger->counts[SLOT_FREE];

	if (RPMAD_UNLIKELY(place == ledger->total))
		return;
	ledger->counts[SLOT_FREE] = place + 1;
	ledger->free[place] = slot;
	ledger->slots[slot].place = place;
}

/* Whether a slot is where free ones are taken from, be its record damaged or not. */
static inline bool
ledger_free_has(const struct ledger *ledger, uint32_t slot)
{
	const uint32_t place = ledger->slots[slot].place;

	return place < ledger->counts[SLOT_FREE] && ledger->free[place] == slot;
}

/* One that is there is not any more; the last one moves to its place. */
static inline void
ledger_free_remove(struct ledger *ledger, uint32_t slot)
{
	const uint32_t last = ledger->free[--ledger->counts[SLOT_FREE]];
	const uint32_t place = ledger->slots[slot].place;

	ledger->free[place] = last;
	ledger->slots[last].place = place;
}

/* A message is ready that has just arrived. */
static inline void
ledger_ready_add(struct ledger *ledger, uint32_t slot)
{
	ledger->fresh[ledger->fresh_end++ & ledger->fresh_mask] = slot;
}

/* One that has been there before. */
void ledger_ready_add_again(struct ledger *ledger, uint32_t slot);

/* The oldest. false: there is none. */
static inline bool
ledger_ready_min(const struct ledger *ledger, uint32_t *slot)
{
	const bool has_fresh = ledger->fresh_first != ledger->fresh_end;

	*slot = ledger->fresh[ledger->fresh_first & ledger->fresh_mask];
	if (RPMAD_UNLIKELY(ledger->returned.count > 0) &&
	    (!has_fresh ||
		ledger->records[*slot].seq > ledger->returned.items[0].key)) {
		*slot = ledger->returned.items[0].slot;
		return true;
	}
	return has_fresh;
}

/* A message is not ready any more; O(1) for the oldest. */
void ledger_ready_remove(struct ledger *ledger, uint32_t slot);

#endif
