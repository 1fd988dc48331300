/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared receive queue: posts slots of the pool through rpma_srq_recv(), keeps it
 * filled, and times how long it was empty. The object and its counters live as long as
 * the engine; the queue itself as long as the device.
 */
#ifndef RPMAD_DAEMON_SRQ_H
#define RPMAD_DAEMON_SRQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/device.h"
#include "daemon/engine.h"
#include "daemon/ledger.h"
#include "daemon/named_count.h"
#include "daemon/region.h"
#include "daemon/settings.h"
#include "lib/core/err.h"

struct rpma_cq;
struct rpma_srq;
struct srq;

/* All borrowed for the life of the object. */
RPMAD_MUST_USE int srq_new(struct ledger *ledger, const struct region *pool,
    const struct settings *settings, struct srq **out);
/* NULL is fine. */
void srq_free(struct srq *srq);

/*
 * Register the pool and make the queue on a device.
 * return   0; ERR_SRQ_UNSUPPORTED, ERR_LIMIT (the device cannot hold pool.slots),
 *          ERR_MEMLOCK_LIMIT, ERR_PROVIDER
 */
RPMAD_MUST_USE int srq_open(struct srq *srq, struct device *device, struct err *err);
/* After the last connection is gone: posted slots become free. Nothing when it is
 * closed. */
void srq_close(struct srq *srq);

/* NULL while closed. */
struct rpma_srq *srq_rpma(const struct srq *srq);
struct rpma_cq *srq_rcq(const struct srq *srq);
uint64_t srq_registered_bytes(const struct srq *srq);

/* See engine_post() and engine_post_slot(). */
int srq_post(struct srq *srq, uint32_t count, uint32_t *accepted, struct err *err);
int srq_post_slot(struct srq *srq, uint32_t slot, uint32_t len, const char *context,
    size_t context_len, struct err *err);

/*
 * In refill mode auto: post one batch of free slots when fewer than the target are
 * posted. return   1 more is wanted and possible; 0 nothing to do; negative errno with
 * err
 */
int srq_refill(struct srq *srq, struct err *err);

/* Look at the level: call after completions and after posts. now: loop_now_ns(). */
void srq_watch(struct srq *srq, uint64_t now_ns);

/* Whether free and posted slots together are below the low watermark. */
bool srq_is_short(const struct srq *srq);

struct srq_stats {
	uint64_t posted, refills, post_failures, times_low, times_empty;
	uint64_t empty_ns;      /* a running spell included */
	uint64_t last_empty_ns; /* when it was empty last, monotonic; 0: never */
	uint64_t last_stall_ns; /* how long it was empty the last time that it ended */
	bool is_empty;
};
void srq_get_stats(const struct srq *srq, uint64_t now_ns, struct srq_stats *out);
/* The post_failures by the name of their errno, see rpma_err_name(). */
const struct named_counts *srq_failures(const struct srq *srq);
void srq_get_info(const struct srq *srq, struct srq_info *out);

/*
 * Register memory on a device. Out of memory names the lock limit, what is needed and
 * the line to add; more than the device takes in one piece, what that is.
 * return   0; ERR_MEMLOCK_LIMIT, ERR_LIMIT, ERR_PROVIDER
 */
struct rpma_mr_local;
RPMAD_MUST_USE int memory_register(struct device *device, const struct region *region,
    int usage, const char *what, struct rpma_mr_local **out, struct err *err);
/* RLIMIT_MEMLOCK in bytes, UINT64_MAX: none. */
uint64_t memory_lock_limit(void);

#endif
