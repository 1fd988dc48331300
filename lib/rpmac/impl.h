/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of librpmac share: the handle, its ring, its way to the daemon. */
#ifndef RPMAC_IMPL_H
#define RPMAC_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/core/ring.h"
#include "lib/rpmac/librpmac.h"

#define RPMAC_TEXT_MAX     640u /* of an error, with its NUL */
#define RPMAC_NAME_MAX     40u  /* of an error's name */
#define RPMAC_INSTANCE_MAX 24u
#define RPMAC_LINE_MAX     65536u /* bytes of a reply to what is asked here */
#define RPMAC_FDS_MAX      2u     /* that come with a reply */
#define RPMAC_TOKEN_MAX    48u
#define RPMAC_PEER_MAX     96u
#define RPMAC_TIME_MAX     32u
#define RPMAC_PEERS        64u /* that are remembered */
#define RPMAC_ALIVE_MS     600000u

/* What a slot holds for this handle. The message comes first: one is found by the other. */
struct item {
	struct rpmac_msg msg;
	uint32_t generation;
	bool is_handed_out; /* and not settled */
	char token[RPMAC_TOKEN_MAX];
	char peer[RPMAC_PEER_MAX];
	char received_at[RPMAC_TIME_MAX];
	char context[RING_CONTEXT_MAX + 1];
};

/* An address as text, by the connection's id. */
struct peer {
	uint8_t addr[RING_PEER_BYTES];
	char text[RPMAC_PEER_MAX]; /* "": none yet */
};

/* What a request asks for, which is also its id. */
enum request {
	REQUEST_NONE,
	REQUEST_MAP,
	REQUEST_RING,
};

struct rpmac {
	int fd;   /* -1: not open */
	int bell; /* the socket that wakes; -1: not open */
	int answer_ms;
	unsigned int alive_ms; /* how long a silent daemon is waited for unasked */
	unsigned int max;

	/* the pool */
	const char *base;
	size_t bytes;
	uint64_t slots, slot_size;
	struct item *items; /* of each slot */
	uint64_t item_count;

	/* the ring */
	struct ring_header *ring; /* NULL: none */
	size_t ring_bytes;        /* as the reply says, as the next */
	uint32_t ring_entries;
	const struct ring_entry *entries;
	struct ring_answer *answers;
	uint32_t entries_mask, answers_mask;
	uint32_t taken;    /* entries that were handed out */
	uint32_t answered; /* answers that were written */
	uint32_t request;  /* the last one */

	/* what messages have in common */
	struct peer peers[RPMAC_PEERS];
	uint64_t second; /* of the time that is remembered */
	char time[RPMAC_TIME_MAX];

	/* the reply that is being read */
	char *in;
	size_t in_len, in_size;
	enum request waits_for;
	int fds[RPMAC_FDS_MAX]; /* that came with it */
	unsigned int fd_count;

	char instance[RPMAC_INSTANCE_MAX];
	char text[RPMAC_TEXT_MAX];
	char name[RPMAC_NAME_MAX];
};

/* ---- errors: rpmac.c ---- */

/* Set the text, of an error that has no name of the daemon's. return   rc */
int rpmac_fail(struct rpmac *rpmac, int rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int rpmac_fail_memory(struct rpmac *rpmac);
int rpmac_fail_slow(struct rpmac *rpmac);
/* What the daemon said that this library does not understand: the connection ends. */
int rpmac_fail_protocol(struct rpmac *rpmac, const char *what);
/* The connection has ended. */
int rpmac_fail_lost(struct rpmac *rpmac);
/*
 * End the connection. Messages that were handed out stay, and what they point to, since
 * somebody may be reading them.
 */
void rpmac_hang_up(struct rpmac *rpmac);
/* Forget pool and messages too; what was allocated is kept for the next. */
void rpmac_shut(struct rpmac *rpmac);

/* ---- the ring: ring.c ---- */

/*
 * Use what came with the reply to REQUEST_RING.
 * return   0; -EPROTO, -ENOMEM, or others of mmap(2), the connection being ended
 */
int rpmac_ring_begin(struct rpmac *rpmac);
void rpmac_ring_end(struct rpmac *rpmac);
/* Whether the messages that were handed out and not settled are still this handle's. */
bool rpmac_ring_is_held(const struct rpmac *rpmac);
/* The next message that has come. return   0; -EAGAIN; -EPROTO, the connection being ended
 */
int rpmac_ring_take(struct rpmac *rpmac, const struct rpmac_msg **msg);
/*
 * Wait for one.
 * return   0: there may be one; -EAGAIN; -EINTR; -ETIMEDOUT; -ESHUTDOWN; -EACCES; -ECONNRESET
 */
int rpmac_ring_wait(struct rpmac *rpmac, uint64_t end_ms);
/* What was there is wanted, and nothing that comes later. The same, without -EINTR. */
int rpmac_ring_ask(struct rpmac *rpmac, uint64_t end_ms);
/* Say what becomes of a message. */
void rpmac_ring_answer(struct rpmac *rpmac, const struct item *item,
    enum ring_verb verb);
/* Have the daemon deal with all that was said. return   0; -ETIMEDOUT; -ECONNRESET */
int rpmac_ring_flush(struct rpmac *rpmac, uint64_t end_ms);

/* ---- texts of messages: show.c ---- */

void rpmac_show_token(const struct rpmac *rpmac, struct item *item);
void rpmac_show_peer(struct rpmac *rpmac, struct item *item,
    const uint8_t addr[RING_PEER_BYTES]);
void rpmac_show_time(struct rpmac *rpmac, struct item *item, uint64_t wall_ns);

/* ---- the connection: wire.c ---- */

uint64_t rpmac_now_ms(void);
/*
 * Send a request, and read and understand its answer.
 *
 * return   0; what the reply says; -ETIMEDOUT, -ECONNRESET, -EPROTO, the connection being
 *          ended; -ENOMEM
 */
int rpmac_wire_call(struct rpmac *rpmac, enum request request, const char *line,
    uint64_t end_ms);
/* Whether the daemon holds its end; nothing is read. */
bool rpmac_wire_is_up(const struct rpmac *rpmac);
/* Close the descriptors that came and were not used. */
void rpmac_wire_drop_fds(struct rpmac *rpmac);

/* ---- replies: reply.c ---- */

/*
 * Understand a line: line[len] is writable.
 * return   0; the daemon's error; -EPROTO, -ENOMEM, the connection being ended
 */
int rpmac_reply(struct rpmac *rpmac, char *line, size_t len);

#endif
