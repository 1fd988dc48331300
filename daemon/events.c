/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of events. */
#include <config.h>

#include "daemon/events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "daemon/loop.h"

struct events {
	uint64_t instance;
	uint64_t newest;
	struct event ring[EVENTS_KEPT]; /* number n is at (n - 1) % EVENTS_KEPT */
	struct {
		uint64_t last_ns;     /* monotonic: when one was added */
		struct event pending; /* count 0: none is put off */
	} types[EVENT_TYPE_COUNT];
	void (*fn)(void *arg);
	void *arg;
};

int
events_new(struct events **out)
{
	struct events *events = calloc(1, sizeof(*events));

	if (!events)
		return -ENOMEM;
	while (events->instance == 0)
		if (getrandom(&events->instance, sizeof(events->instance), 0) !=
		    sizeof(events->instance)) {
			free(events);
			return -EIO;
		}
	*out = events;
	return 0;
}

void
events_free(struct events *events)
{
	free(events);
}

uint64_t
events_instance(const struct events *events)
{
	return events->instance;
}

void
events_on_add(struct events *events, void (*fn)(void *arg), void *arg)
{
	events->fn = fn;
	events->arg = arg;
}

static bool
comes_often(enum event_type type)
{
	return type == EVENT_SRQ_LOW || type == EVENT_SRQ_EMPTY ||
	    type == EVENT_SRQ_REFILLED || type == EVENT_CONN_REJECTED;
}

static void
append(struct events *events, const struct event *event)
{
	struct event *slot = &events->ring[events->newest % EVENTS_KEPT];

	*slot = *event;
	slot->seq = ++events->newest;
	if (events->fn)
		events->fn(events->arg);
}

/* The first that was put off and may come now; NULL: none. */
static struct event *
oldest_pending(struct events *events, uint64_t now_ns)
{
	struct event *oldest = NULL;
	unsigned int type;

	for (type = 0; type < EVENT_TYPE_COUNT; type++) {
		struct event *pending = &events->types[type].pending;

		if (pending->count > 0 &&
		    now_ns - events->types[type].last_ns >= EVENTS_QUIET_NS &&
		    (!oldest || pending->at_ns < oldest->at_ns))
			oldest = pending;
	}
	return oldest;
}

void
events_add(struct events *events, enum event_type type, uint64_t conn,
    const struct sockaddr_storage *addr, const char *reason, uint64_t duration_ns)
{
	struct event event = { .type = type,
		.conn = conn,
		.at_ns = loop_wall_ns(),
		.duration_ns = duration_ns,
		.count = 1 };
	uint64_t now_ns = loop_now_ns();
	struct event *pending;

	if (!events)
		return;
	event.addr.ss_family = AF_UNSPEC;
	if (addr)
		event.addr = *addr;
	if (reason)
		(void)snprintf(event.reason, sizeof(event.reason), "%s", reason);
	pending = &events->types[type].pending;
	if (comes_often(type) && events->types[type].last_ns != 0 &&
	    now_ns - events->types[type].last_ns < EVENTS_QUIET_NS) {
		if (pending->count > 0 && strcmp(pending->reason, event.reason) != 0) {
			append(events, pending);
			*pending = (struct event){ .count = 0 };
		}
		event.count += pending->count;
		event.duration_ns += pending->duration_ns;
		*pending = event;
		return;
	}
	events_tick(events);
	events->types[type].last_ns = now_ns;
	append(events, &event);
}

void
events_tick(struct events *events)
{
	uint64_t now_ns = loop_now_ns();
	struct event *pending;

	if (!events)
		return;
	while ((pending = oldest_pending(events, now_ns))) {
		events->types[pending->type].last_ns = now_ns;
		append(events, pending);
		pending->count = 0;
		pending->duration_ns = 0;
	}
}

uint64_t
events_newest(const struct events *events)
{
	return events->newest;
}

uint64_t
events_oldest(const struct events *events)
{
	if (events->newest <= EVENTS_KEPT)
		return events->newest > 0;
	return events->newest - EVENTS_KEPT + 1;
}

const struct event *
events_at(const struct events *events, uint64_t seq)
{
	return &events->ring[(seq - 1) % EVENTS_KEPT];
}
