/* SPDX-License-Identifier: BSD-3-Clause */
/* One completion queue: take its event, arm it, and poll until it is empty, within a
 * budget. */
#ifndef RPMAD_DAEMON_CQ_H
#define RPMAD_DAEMON_CQ_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/core/compiler.h"
#include "lib/core/err.h"

struct ibv_wc;
struct rpma_cq;

/* Counters outlive the queue. */
struct cq_stats {
	uint64_t events;
	uint64_t empty_wakeups; /* events without a completion */
	uint64_t late;      /* completions that the safety poll found, event or not */
	uint64_t batch_max; /* most completions in one turn */
};

struct cq {
	struct rpma_cq *rpma; /* borrowed; NULL: closed */
	int fd;
	struct cq_stats stats;
	void (*on_wcs)(void *arg, const struct ibv_wc *wcs, int count);
	void *arg;
};

/*
 * Begin to use a queue; its descriptor becomes non-blocking.
 * return   0; ERR_PROVIDER
 */
RPMAD_MUST_USE int cq_open(struct cq *cq, struct rpma_cq *rpma, struct err *err);

/* Why the queue is looked at. */
enum cq_cause {
	CQ_EVENT,  /* its descriptor is readable: take the event and arm first */
	CQ_SAFETY, /* once a second, in case an event was lost */
	CQ_DRAIN,  /* a connection is being closed, or the last turn ended early */
};

enum cq_result {
	CQ_EMPTY,
	CQ_MORE, /* the budget is used up: come again on the next turn */
	CQ_DEAD, /* the queue cannot be polled */
};

/* on_wcs is called for each batch of completions. */
enum cq_result cq_drain(struct cq *cq, enum cq_cause cause);

#endif
