/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has happened lately: a ring of the last EVENTS_KEPT events, numbered from 1. Adding
 * one neither allocates nor writes anything out.
 */
#ifndef RPMAD_DAEMON_EVENTS_H
#define RPMAD_DAEMON_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "lib/core/compiler.h"
#include "lib/core/event_type.h"

#define EVENTS_KEPT     1024u
/*
 * The srq.* events, and peers that are refused, can come thousands of times a second. Of those
 * that come within this time after one of their type, and have the same reason, only the last is
 * kept, with their number in count.
 */
#define EVENTS_QUIET_NS 100000000u

struct events;

struct event {
	uint64_t seq;
	uint64_t at_ns; /* wall clock */
	enum event_type type;
	uint64_t conn;                /* 0: none */
	struct sockaddr_storage addr; /* AF_UNSPEC: none */
	uint64_t duration_ns;         /* of EVENT_SRQ_REFILLED; else 0 */
	uint32_t count;               /* how many this one stands for, from 1 */
	char reason[160];             /* "": none; longer ones are cut */
};

/* return   0; -ENOMEM; another negative errno: no random numbers */
RPMAD_MUST_USE int events_new(struct events **out);
/* NULL is fine. */
void events_free(struct events *events);

/* Names this ring: numbers of another one mean nothing here. Not 0. */
uint64_t events_instance(const struct events *events);

/* Call fn after each event that was added; one at most. */
void events_on_add(struct events *events, void (*fn)(void *arg), void *arg);

/*
 * Add one. NULL events is fine. addr and reason may be NULL.
 */
void events_add(struct events *events, enum event_type type, uint64_t conn,
    const struct sockaddr_storage *addr, const char *reason, uint64_t duration_ns);

/* Add what was put off by EVENTS_QUIET_NS; call it about once a second, or more often. */
void events_tick(struct events *events);

/* The number of the newest event, and of the oldest that is kept; 0: there is none. */
uint64_t events_newest(const struct events *events);
uint64_t events_oldest(const struct events *events);
/* The event of that number, which is kept. */
const struct event *events_at(const struct events *events, uint64_t seq);

#endif
