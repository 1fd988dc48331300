/* SPDX-License-Identifier: BSD-3-Clause */
/* Handler of recv.ring, and the rings by which readers in place get their messages. */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "daemon/engine.h"
#include "daemon/loop.h"
#include "daemon/ring.h"
#include "daemon/rpc_handlers.h"
#include "daemon/rpc_impl.h"
#include "lib/core/text.h"

#define SHARE       32u   /* messages that one gets before the next one has its turn */
#define TURN_BUDGET 4096u /* answers of one ring, and messages for all, in a turn */
#define LOOK_MS     1000u /* how long what nobody rings for may wait */

struct rpc_ring {
	TAILQ_ENTRY(rpc_ring) link;
	struct rpc_rings *rings;
	struct rpc_client *client;
	struct ring *ring;
	/*
	 * A pair of sockets: what either end does to its own cannot make the other one
	 * wait, as it could with an eventfd, whose flags both would share.
	 */
	int bell;
	struct loop_fd *bell_fd; /* NULL: the reader has closed its end */
};

struct rpc_rings {
	struct rpc_context *context;
	TAILQ_HEAD(, rpc_ring) list; /* the next one to be served first */
	struct loop_deferred serve;
	struct loop_timer *look; /* runs while there are any */
	bool is_stopping;
};

static void
ring_bell(const struct rpc_ring *self)
{
	/* One that does not fit is not needed: there are others that were not heard. */
	(void)send(self->bell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* ---- answers ---- */

/* Deal with what the reader is through with. return   false: its counters cannot be */
static bool
settle(struct rpc_ring *self, const struct engine_clock *clock, unsigned int budget)
{
	const char *why;

	if (!ring_look(self->ring, &why)) {
		log_notice("rpc", "pid=%ld dropped: its ring tells of %s",
		    (long)self->client->pid, why);
		return false;
	}
	engine_ring_settle(self->rings->context->engine, &self->client->owner, clock,
	    self->ring, budget);
	return true;
}

/* ---- messages ---- */

/* Give all what they want, by turns. return   whether the budget was too small */
static bool
deliver(struct rpc_rings *rings, const struct engine_clock *clock)
{
	struct rpc_ring *self, *first = TAILQ_FIRST(&rings->list);
	unsigned int left = TURN_BUDGET, got;

	do {
		got = 0;
		TAILQ_FOREACH(self, &rings->list, link)
			got += engine_ring_deliver(rings->context->engine,
			    &self->client->owner, clock, self->ring, SHARE);
		left = got < left ? left - got : 0;
	} while (got > 0 && left > 0);
	/* Another one begins the next time. */
	if (first && TAILQ_NEXT(first, link)) {
		TAILQ_REMOVE(&rings->list, first, link);
		TAILQ_INSERT_TAIL(&rings->list, first, link);
	}
	return got > 0;
}

/* ---- a turn ---- */

/* Show the reader what was done. return   whether there is more to do at once */
static bool
publish(struct rpc_ring *self, bool is_short)
{
	struct rpc_rings *rings = self->rings;
	struct ledger_message message;
	const bool has_more = ring_answers(self->ring) > 0;
	const bool is_waited_for =
	    !rings->is_stopping && engine_peek(rings->context->engine, &message);
	const char *why;

	if (ring_publish(self->ring, !has_more, is_short || is_waited_for))
		ring_bell(self);
	if (has_more)
		return true;
	/* What the reader did while it could not know that it was waited for. */
	return (is_short || is_waited_for) && ring_look(self->ring, &why) &&
	    (ring_answers(self->ring) > 0 ||
		(is_waited_for && ring_room(self->ring) > 0));
}

static void
ring_end(struct rpc_ring *self, enum ring_state state)
{
	struct rpc_rings *rings = self->rings;
	const uint32_t unknown = ring_unknown(self->ring);

	if (ring_set_state(self->ring, state))
		ring_bell(self);
	if (unknown > 0)
		log_notice("rpc",
		    "pid=%ld answered %u time%s by its ring for what it did not hold",
		    (long)self->client->pid, unknown, text_plural(unknown));
	TAILQ_REMOVE(&rings->list, self, link);
	if (TAILQ_EMPTY(&rings->list))
		loop_timer_stop(rings->look);
	self->client->ring = NULL;
	loop_fd_free(self->bell_fd);
	(void)close(self->bell);
	ring_free(self->ring);
	free(self);
}

void
rpc_rings_serve(struct rpc_rings *rings)
{
	struct rpc_ring *self, *next;
	struct engine_clock clock;
	bool is_short, again = false;

	if (TAILQ_EMPTY(&rings->list))
		return;
	clock = engine_clock();
	for (self = TAILQ_FIRST(&rings->list); self; self = next) {
		next = TAILQ_NEXT(self, link);
		if (settle(self, &clock, TURN_BUDGET))
			continue;
		client_drop(self->client->client);
		ring_end(self, RING_OVER);
	}
	if (!rings->is_stopping)
		again = deliver(rings, &clock);
	is_short = engine_is_low(rings->context->engine);
	TAILQ_FOREACH(self, &rings->list, link)
		again |= publish(self, is_short);
	if (again)
		loop_defer(rings->context->loop, &rings->serve);
}

static void
on_serve(void *arg)
{
	rpc_rings_serve(arg);
}

/* What was written without a bell, by a reader that has other things to do. */
static void
on_look(void *arg)
{
	struct rpc_rings *rings = arg;

	loop_timer_start(rings->look, LOOK_MS);
	rpc_rings_serve(rings);
}

static void
on_bell(void *arg)
{
	struct rpc_ring *self = arg;
	char heard[64];
	ssize_t n = recv(self->bell, heard, sizeof(heard), MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		/* The end of the client is that of its other connection. */
		loop_fd_free(self->bell_fd);
		self->bell_fd = NULL;
	}
	rpc_rings_serve(self->rings);
}

/* ---- one ring ---- */

void
rpc_ring_client_gone(struct rpc_client *client)
{
	struct rpc_ring *self = client->ring;
	struct engine_clock clock;

	if (!self)
		return;
	clock = engine_clock();
	if (settle(self, &clock, UINT_MAX) && ring_publish(self->ring, true, false))
		ring_bell(self);
	ring_end(self, client->role < ROLE_POST ? RING_DENIED : RING_OVER);
}

/* A ring, both its descriptors being in the call. NULL: see err. */
static struct rpc_ring *
ring_begin(struct rpc_call *call, uint32_t entries, struct err *err)
{
	struct rpc_context *context = rpc_call_context(call);
	struct rpc_ring *self = calloc(1, sizeof(*self));
	int ends[2] = { -1, -1 }, memory, rc;

	if (!self) {
		(void)err_set(err, ERR_INTERNAL_ERROR, ENOMEM, "out of memory");
		return NULL;
	}
	self->rings = context->rings;
	self->client = call->client;
	rc = ring_new(entries, context->settings->pool_slots, &self->ring, err);
	if (rc == 0 &&
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) !=
		0)
		rc = err_set(err,
		    errno == EMFILE || errno == ENFILE ? ERR_LIMIT : ERR_INTERNAL_ERROR,
		    errno, "cannot make the bell of a ring");
	self->bell = ends[0];
	if (rc == 0 &&
	    loop_fd_new(context->loop, self->bell, on_bell, self, &self->bell_fd) < 0)
		rc = err_set(err, ERR_INTERNAL_ERROR, ENOMEM, "out of memory");
	if (rc == 0)
		rc = ring_open_memory(self->ring, &memory, err);
	if (rc == 0) {
		rpc_call_pass_fd(call, memory);
		rpc_call_pass_fd(call, ends[1]);
		TAILQ_INSERT_TAIL(&context->rings->list, self, link);
		self->client->ring = self;
		self->client->owner.is_in_place = true;
		loop_timer_start(context->rings->look, LOOK_MS);
		return self;
	}
	loop_fd_free(self->bell_fd);
	if (ends[0] >= 0) {
		(void)close(ends[0]);
		(void)close(ends[1]);
	}
	ring_free(self->ring);
	free(self);
	return NULL;
}

/* Whether the client may have one. return   0; negative errno with err */
static int
check(const struct rpc_call *call, struct err *err)
{
	int rc = rpc_pool_check_share(call, err);

	if (rc == 0 && call->client->ring)
		rc = err_set(err, ERR_ALREADY_EXISTS, 0,
		    "this connection was given a ring already");
	return rc;
}

void
rpc_recv_ring(struct rpc_call *call, const void *arg)
{
	const struct recv_ring_params *params = arg;
	struct rpc_ring *self = NULL;
	struct err err;

	if (check(call, &err) == 0)
		self = ring_begin(call, (uint32_t)params->entries, &err);
	if (!self) {
		rpc_fail(call, &err);
		return;
	}
	/* Where there was no memory for the reply, it may ask again. */
	if (rpc_reply(call,
		json_pack("{s:i, s:I, s:I}", "version", (int)RING_VERSION, "entries",
		    (json_int_t)ring_entries(self->ring), "bytes",
		    (json_int_t)ring_bytes(self->ring))) < 0)
		ring_end(self, RING_OVER);
}

/* ---- all of them ---- */

int
rpc_rings_new(struct rpc_context *context, struct rpc_rings **out)
{
	struct rpc_rings *rings = calloc(1, sizeof(*rings));

	if (!rings)
		return -ENOMEM;
	rings->context = context;
	rings->serve = (struct loop_deferred){ .fn = on_serve, .arg = rings };
	TAILQ_INIT(&rings->list);
	if (loop_timer_new(context->loop, on_look, rings, &rings->look) < 0) {
		free(rings);
		return -ENOMEM;
	}
	*out = rings;
	return 0;
}

void
rpc_rings_free(struct rpc_rings *rings)
{
	if (!rings)
		return;
	loop_defer_cancel(rings->context->loop, &rings->serve);
	loop_timer_free(rings->look);
	free(rings);
}

uint32_t
rpc_rings_count(const struct rpc_rings *rings)
{
	const struct rpc_ring *self;
	uint32_t count = 0;

	TAILQ_FOREACH(self, &rings->list, link)
		count++;
	return count;
}

void
rpc_rings_stop(struct rpc_rings *rings)
{
	struct rpc_ring *self;

	rings->is_stopping = true;
	TAILQ_FOREACH(self, &rings->list, link)
		if (ring_set_state(self->ring, RING_STOPPING))
			ring_bell(self);
}
