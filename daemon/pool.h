/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of the pool and its ledger: new, or that which an earlier process left with
 * the service manager.
 */
#ifndef RPMAD_DAEMON_POOL_H
#define RPMAD_DAEMON_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/ledger.h"
#include "daemon/region.h"
#include "daemon/settings.h"
#include "lib/core/err.h"

struct store;

/* Zero-initialise apart from the regions, REGION_NONE. */
struct pool {
	struct region memory;
	struct region ledger_memory;
	struct ledger *ledger;
	struct store *store; /* borrowed; NULL: everything ends with the process */
	bool is_kept; /* the service manager was given it, to keep it over a restart */
	uint32_t restored;   /* messages that were there at the start */
	uint32_t maybe_lost; /* receives posted at a crash: an upper bound */
	uint32_t bad;        /* slots whose records were damaged */
};

/*
 * Take over the pool that was kept, or make a new one and have it kept. One that cannot be
 * used is set aside under another name. Messages of one with other slots are moved into the
 * configured ones, those that do not fit stay behind in the old one and are tried again at
 * the next start. What was found is logged.
 *
 * store    may be NULL
 * return   0; negative errno with err: no memory, or a fault of the system that may pass,
 *          which leaves all that was kept as it was
 */
RPMAD_MUST_USE int pool_open(const struct settings *settings, struct store *store,
    struct pool *out, struct err *err);
/* Say what becomes of the messages that are left when the daemon ends. */
void pool_tell_end(const struct pool *pool);
void pool_close(struct pool *pool);

/* Sentences for a person: what may be lost, and what is set aside. */
void pool_warnings(const struct pool *pool, void (*fn)(void *arg, const char *sentence),
    void *arg);

/* A start that failed does not use what was kept: say how many messages that are. */
void pool_tell_unused(struct store *store);

#endif
