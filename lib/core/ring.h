/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that the daemon and a reader in place share: messages go one way by a ring of
 * entries, what becomes of them the other way by a ring of answers. See "THE RING" in
 * rpmad-rpc(7). Nothing but its form: neither side links the other's code.
 *
 * Each side alone writes its counters and its ring, and believes nothing of the other's.
 * Counters count from 0 and wrap; a place is a counter modulo the size, a power of two. A
 * counter is stored with release order behind what it counts, and loaded with acquire order
 * before that.
 */
#ifndef RPMAD_LIB_CORE_RING_H
#define RPMAD_LIB_CORE_RING_H

#include <stdatomic.h>
#include <stdint.h>

#define RING_MAGIC        "rpmadRNG"
#define RING_VERSION      1u
#define RING_HEADER_BYTES 4096u /* before the entries; the answers are behind these */
#define RING_ENTRIES_MIN  1u
#define RING_ENTRIES_MAX  4096u
#define RING_PEER_BYTES   28u /* struct sockaddr_in or sockaddr_in6 */
#define RING_CONTEXT_MAX  128u

enum ring_state {
	RING_OPEN,
	RING_STOPPING, /* the daemon stops: no more messages, answers are taken */
	RING_OVER,     /* nothing is taken any more */
	RING_DENIED,   /* the same, because the user may not receive */
};

struct ring_header {
	/* Written before the reader has it. */
	char magic[8];
	uint32_t version;
	uint32_t entries;
	uint32_t answers;
	uint32_t unused[11];
	/* The daemon's. */
	_Alignas(64) _Atomic uint32_t delivered; /* entries that were written */
	_Atomic uint32_t settled;                /* answers that were dealt with */
	_Atomic uint32_t unknown; /* of them, those that named no message it holds */
	_Atomic uint32_t served;  /* the last request that was */
	_Atomic uint32_t state;
	/* The reader's. */
	_Alignas(64) _Atomic uint32_t granted; /* delivered may come up to this */
	_Atomic uint32_t answered;             /* answers that were written */
	_Atomic uint32_t request;              /* one more each time */
	_Atomic uint32_t is_waiting; /* messages are wanted as they come; 0: with a
					request alone */
	/* Set by one, taken back by the other, who then rings. */
	_Alignas(64) _Atomic uint32_t wants_reader; /* the reader sleeps */
	_Atomic uint32_t wants_daemon; /* the daemon could go on, if it were let */
};

enum ring_flag {
	RING_IMM = 1,
	RING_RDMA_WRITE = 2,
	RING_CONTEXT = 4,
};

struct ring_entry {
	uint64_t seq;
	uint64_t conn;
	uint64_t received_ns; /* since 1970 */
	uint32_t len;
	uint32_t imm; /* with RING_IMM, host order */
	uint32_t qp_num;
	uint16_t flags;
	uint16_t context_len;
	uint8_t peer[RING_PEER_BYTES];
	uint32_t slot;
	uint32_t generation;
	uint32_t deliveries;
	char context[RING_CONTEXT_MAX]; /* with RING_CONTEXT */
	uint8_t unused[48];
};

enum ring_verb {
	RING_ACK,
	RING_NACK,
};

struct ring_answer {
	uint32_t slot;
	uint32_t generation;
	uint32_t verb;
	uint32_t unused;
};

_Static_assert(sizeof(struct ring_header) <= RING_HEADER_BYTES, "the form is fixed");
_Static_assert(sizeof(struct ring_entry) == 256, "the form is fixed");
_Static_assert(sizeof(struct ring_answer) == 16, "the form is fixed");

#endif
