/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pools that the service manager keeps over the end of this process: each the memory
 * of a pool and of its ledger, under one name.
 */
#ifndef RPMAD_DAEMON_STORE_H
#define RPMAD_DAEMON_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/core/compiler.h"
#include "lib/core/err.h"

struct notify_fds;

#define STORE_NAME_MAX  64u
/* The names that the two descriptors have of themselves, memfd_create(2). */
#define STORE_POOL_FD   "rpmad-pool"
#define STORE_LEDGER_FD "rpmad-ledger"

/* What a pool is kept for; part of its name. */
enum store_kind {
	STORE_CURRENT, /* the one in use */
	STORE_UNFIT,   /* its messages did not fit the configured slots */
	STORE_CRASHED, /* rpmad crashed again and again after it was restored */
	STORE_DAMAGED, /* it cannot be read */
	STORE_VERSION, /* another version of rpmad wrote it */
};

struct store_pool {
	enum store_kind kind;
	char name[STORE_NAME_MAX];
	int pool_fd; /* -1: an empty place */
	int ledger_fd;
};

struct store;

/*
 * Take the descriptors that were handed over, which are closed with the store. What is no
 * pool is logged and dropped.
 * return   0; -ENOMEM
 */
RPMAD_MUST_USE int store_new(const struct notify_fds *fds, struct store **out);
/* What is kept stays kept. NULL is fine. */
void store_free(struct store *store);

/* The one to be used again; NULL: there is none. */
struct store_pool *store_current(struct store *store);
/* Those that are not in use. */
size_t store_count_aside(const struct store *store);
/*
 * The index-th of them, below the count: the one whose memory is oldest first. One that is
 * set aside becomes the last of all, and those behind one that is dropped move up.
 */
struct store_pool *store_aside(struct store *store, size_t index);

/*
 * Have a new pool kept as the current one. The descriptors stay the caller's.
 * return   1: it was handed to the manager; 0: nobody keeps anything; -errno
 */
RPMAD_MUST_USE int store_keep(struct store *store, int pool_fd, int ledger_fd);
/*
 * Have one kept under another name, which tells why and when. Where that fails, which is
 * logged, it is kept under its old name still.
 */
void store_set_aside(struct store *store, struct store_pool *pool,
    enum store_kind kind);
/* Keep it no longer. */
void store_drop(struct store *store, struct store_pool *pool);
/*
 * When more are set aside than there is room for, the damaged and then the oldest are
 * dropped, which is logged. For a moment there is room for one more: see what became of the
 * others first.
 */
void store_make_room(struct store *store);

/* This process is stopped for good, not to be started again: nothing is kept then. */
void store_end(struct store *store);
bool store_is_ending(const struct store *store);

/* Why a pool is not in use: a clause for people. */
const char *store_kind_reason(enum store_kind kind);

#endif
