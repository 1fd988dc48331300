/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger of the pool: which slot is in which state, the messages that have arrived,
 * and who holds them. Pure bookkeeping over caller-given memory; no I/O, no clock.
 *
 *     free -> posted -> ready -> leased -> free
 *
 * free + posted + ready + leased == slots, always.
 */
#ifndef RPMAD_DAEMON_LEDGER_H
#define RPMAD_DAEMON_LEDGER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "lib/core/compiler.h"
#include "lib/core/err.h"

#define LEDGER_CONTEXT_MAX 128u /* bytes of a label */
#define LEDGER_TOKEN_MAX   48u  /* characters of a token with its NUL */

enum slot_state {
	SLOT_FREE,
	SLOT_POSTED,
	SLOT_READY,
	SLOT_LEASED
};
const char *slot_state_name(enum slot_state state);

struct ledger;

/* Who holds leases: embedded in the holder, zero-initialised. */
struct ledger_owner {
	uint32_t least; /* it holds no slot below that */
	uint32_t count;
	bool is_in_place; /* it reads in its slots: nobody else frees them */
};

/* An address without the room that others would need. AF_UNSPEC: unknown. */
union ledger_peer {
	struct sockaddr_in6 in6;
	struct sockaddr_in in;
	sa_family_t family;
};

/* What is known of a message when it arrives. */
struct ledger_arrival {
	uint64_t conn; /* 0: unknown */
	union ledger_peer peer;
	uint32_t qp_num;
	uint32_t len; /* bytes */
	uint32_t imm; /* host order, when has_imm */
	bool has_imm;
	bool is_rdma_write;   /* completion of an RDMA write with immediate */
	uint64_t received_ns; /* wall clock */
};

/* A message as a consumer sees it. */
struct ledger_message {
	struct ledger_arrival arrival;
	uint32_t slot;
	uint32_t generation;
	uint64_t seq;        /* arrival number in the pool, from 1 */
	uint32_t deliveries; /* this one included: 1 the first time */
	const char *context; /* borrowed from the slot's record, NULL: none */
	size_t context_len;
};

struct ledger_counts {
	uint32_t free;
	uint32_t posted;
	uint32_t ready;
	uint32_t leased;
	uint32_t total;
};

/* Bytes of memory for a ledger of that many slots, page-rounded. */
size_t ledger_memory_size(uint32_t slots);

/*
 * A ledger with all slots free over zeroed memory of ledger_memory_size() bytes
 * (borrowed), whose header is written here.
 *
 * slots     1 .. 65536
 * instance  names this life of the pool in tokens, not 0
 * return    0; -ENOMEM
 */
RPMAD_MUST_USE int ledger_new(void *memory, uint32_t slots, uint32_t slot_size,
    uint64_t instance, struct ledger **out);
void ledger_free(struct ledger *ledger);

/* What was found when a ledger was restored. */
struct ledger_restored {
	uint32_t messages; /* ready now, the leased among them */
	uint32_t leased;   /* were leased: they are delivered again */
	uint32_t
	    posted; /* were posted: free now; a message may have arrived there unseen */
	uint32_t bad; /* records that could not be true: their slots are free now */
};

/*
 * A ledger over the memory that an earlier process left, whatever instruction it died at:
 * the same instance, so tokens given out then are good now.
 *
 * memory   of bytes bytes, borrowed; unchanged when it is refused
 * return   0; ERR_INTERNAL_ERROR: no ledger, or its header is damaged (EBADMSG), ENOMEM;
 *          ERR_UNSUPPORTED: of a version that is not known (EPROTONOSUPPORT), or of other
 *          slots than these (EINVAL)
 */
RPMAD_MUST_USE int ledger_restore(void *memory, size_t bytes, uint32_t slots,
    uint32_t slot_size, struct ledger **out, struct ledger_restored *restored,
    struct err *err);

/*
 * The shape of the ledger in a memory: what ledger_restore() asks for.
 * return   0; the errors of ledger_restore() but for other slots
 */
RPMAD_MUST_USE int ledger_probe(const void *memory, size_t bytes, uint32_t *slots,
    uint32_t *slot_size, struct err *err);

/* The messages in a memory that ledger_probe() found good, as its records claim. */
uint32_t ledger_count_messages(const void *memory);

/* Where a process that dies by its own fault writes when, in ns since boot. */
_Atomic uint64_t *ledger_fault_mark(void *memory);
/*
 * A process begins to use the memory of another, which ledger_probe() found good.
 * now_ns   since boot, not 0
 * return   how many processes in a row died by their own fault within
 *          LEDGER_FAULT_WINDOW_NS of a restore
 */
RPMAD_MUST_USE uint32_t ledger_begin_life(void *memory, uint64_t now_ns);
#define LEDGER_FAULT_WINDOW_NS 60000000000u

/*
 * Move messages that are ready to another ledger, the oldest first, with their numbers
 * and deliveries, as far as they fit its slots. copy takes the bytes over, before either
 * ledger changes; the message is in both when the process dies between the two changes.
 * Tokens of from name nothing in to. Only ledger_free() may follow for from.
 * return   how many were moved
 */
uint32_t ledger_move(struct ledger *from, struct ledger *to,
    void (*copy)(void *arg, uint32_t from_slot, uint32_t to_slot, uint32_t len),
    void *arg);

void ledger_counts(const struct ledger *ledger, struct ledger_counts *out);
enum slot_state ledger_state(const struct ledger *ledger, uint32_t slot);
/* The counts as the records say it; total: of those that are in any state. O(slots). */
void ledger_recount(const struct ledger *ledger, struct ledger_counts *out);
/* Whether the counts and the records agree; O(slots). */
bool ledger_check(const struct ledger *ledger);
uint64_t ledger_instance(const struct ledger *ledger);
/*
 * The highest id of a connection that messages of an earlier process came from, be they
 * here or acknowledged; 0: none. Ids above it name no message that is there.
 */
uint64_t ledger_last_conn(const struct ledger *ledger);

/* free -> posted: any free slot. false: none is free. */
bool ledger_post_any(struct ledger *ledger, uint32_t *slot);
/* The same for one given slot, with a label of at most LEDGER_CONTEXT_MAX bytes.
 * -EBUSY. */
RPMAD_MUST_USE int ledger_post_slot(struct ledger *ledger, uint32_t slot,
    const char *context, size_t context_len);
/* posted -> free: the receive was refused, or flushed. false: it is not posted. */
bool ledger_unpost(struct ledger *ledger, uint32_t slot);
/* posted -> ready. false: it is not posted. */
bool ledger_arrive(struct ledger *ledger, uint32_t slot,
    const struct ledger_arrival *arrival);

/*
 * ready -> leased: the oldest message. It belongs to owner, or (NULL) to nobody until
 * deadline_ns on the caller's monotonic clock. false: nothing is ready.
 */
bool ledger_lease(struct ledger *ledger, struct ledger_owner *owner,
    uint64_t deadline_ns, struct ledger_message *out);
/* The oldest ready message without taking it. */
bool ledger_peek(const struct ledger *ledger, struct ledger_message *out);

/* What became of a token. */
enum ledger_result {
	LEDGER_DONE,    /* acknowledged, or given back */
	LEDGER_ALREADY, /* was acknowledged (or given back) before */
	LEDGER_UNKNOWN, /* of another life, out of range, or of no message yet */
};

/*
 * Whether another one than owner (NULL: nobody in particular) holds that message and reads it in
 * its slot. Its token may be known from an earlier lease, which has ended.
 */
bool ledger_is_read(const struct ledger *ledger, const struct ledger_owner *owner,
    uint32_t slot, uint32_t generation);
/* Whether owner holds that message. */
bool ledger_is_held(const struct ledger *ledger, const struct ledger_owner *owner,
    uint32_t slot, uint32_t generation);

/* leased or ready -> free. *conn (may be NULL): the message's connection, when DONE. */
enum ledger_result ledger_ack(struct ledger *ledger, uint32_t slot, uint32_t generation,
    uint64_t *conn);
/* leased -> ready, in its old place by seq. */
enum ledger_result ledger_nack(struct ledger *ledger, uint32_t slot,
    uint32_t generation);

/*
 * leased -> ready, of that one delivery: its reply was lost. false: the message has gone on,
 * be it acknowledged, given back or leased to somebody else.
 */
bool ledger_undeliver(struct ledger *ledger, uint32_t slot, uint32_t generation,
    uint32_t deliveries);

/*
 * The least slot of those that owner holds, whose count and hint are used for that. false: it
 * holds none. O(slots), also for all of them one after the other.
 */
bool ledger_owner_first(const struct ledger *ledger, struct ledger_owner *owner,
    uint32_t *slot, uint32_t *generation);
/* leased -> ready for all that owner holds; the number. O(slots). */
uint32_t ledger_owner_gone(struct ledger *ledger, struct ledger_owner *owner);
/* leased -> ready for the leases by time that are over; the number. */
uint32_t ledger_expire(struct ledger *ledger, uint64_t now_ns);
/* The earliest deadline of a lease by time; false: there is none. */
bool ledger_next_deadline(const struct ledger *ledger, uint64_t *deadline_ns);

/* "<instance>.<slot>.<generation>": 16 hex digits and two decimal numbers. */
void ledger_token_format(const struct ledger *ledger, uint32_t slot,
    uint32_t generation, char token[LEDGER_TOKEN_MAX]);
/* false: not of this form, or of another instance. */
bool ledger_token_parse(const struct ledger *ledger, const char *token, uint32_t *slot,
    uint32_t *generation);

#endif
