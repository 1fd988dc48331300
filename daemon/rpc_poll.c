/* SPDX-License-Identifier: BSD-3-Clause */
/* Handler of recv.poll, and the polls that wait for a message. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include <jansson.h>

#include "daemon/engine.h"
#include "daemon/loop.h"
#include "daemon/rpc_handlers.h"
#include "daemon/rpc_message.h"
#include "daemon/rpc_text.h"

#define ENVELOPE_ROOM 1280u /* bytes of a reply beside its completions and tokens */
#define TOKEN_ROOM    (LEDGER_TOKEN_MAX + 2) /* bytes of an unknown token */
#define WAKE_BUDGET   16u                    /* polls answered in a turn */

struct poll {
	TAILQ_ENTRY(poll) link;
	struct rpc_context *context;
	struct rpc_call *call;
	struct loop_timer *timer; /* NULL: it does not wait */
	bool is_over;             /* its time is */
	uint64_t max;
	uint64_t max_bytes;
	uint64_t lease_ms;
	enum recv_ack ack;
	enum data_encoding encoding;
	uint64_t acked;
	json_t *unknown;
};

struct rpc_polls {
	struct rpc_context *context;
	TAILQ_HEAD(, poll) waiting; /* the oldest first */
	struct loop_deferred serve;
	struct rpc_message_cache cache;
};

/* The messages of one reply, until what becomes of them is settled. */
struct delivery {
	struct engine *engine;
	unsigned int refs; /* the poll, and the reply on its way */
	bool is_auto;      /* written is acknowledged */
	size_t count, size;
	struct {
		uint32_t slot;
		uint32_t generation;
		uint32_t deliveries;
	} * items;
};

/* ---- deliveries ---- */

static void
delivery_unref(struct delivery *delivery)
{
	if (--delivery->refs > 0)
		return;
	free(delivery->items);
	free(delivery);
}

static struct delivery *
delivery_new(struct engine *engine)
{
	struct delivery *delivery = calloc(1, sizeof(*delivery));

	if (delivery) {
		delivery->engine = engine;
		delivery->refs = 1;
	}
	return delivery;
}

/* Make room for one more, so that what is leased can be noted. */
static int
delivery_reserve(struct delivery *delivery)
{
	size_t size = delivery->size ? delivery->size * 2 : 16;
	void *grown;

	if (delivery->count < delivery->size)
		return 0;
	grown = reallocarray(delivery->items, size, sizeof(delivery->items[0]));
	if (!grown)
		return -ENOMEM;
	delivery->items = grown;
	delivery->size = size;
	return 0;
}

static void
delivery_add(struct delivery *delivery, const struct ledger_message *message)
{
	delivery->items[delivery->count].slot = message->slot;
	delivery->items[delivery->count].generation = message->generation;
	delivery->items[delivery->count].deliveries = message->deliveries;
	delivery->count++;
}

/* The reply could not be made, or was lost: nobody has seen this delivery. */
static void
delivery_give_back(const struct delivery *delivery)
{
	size_t i;

	for (i = 0; i < delivery->count; i++)
		engine_undeliver(delivery->engine, delivery->items[i].slot,
		    delivery->items[i].generation, delivery->items[i].deliveries);
}

/*
 * The reply was written: with ack "auto" that is the end of its messages. Where it was not,
 * nobody has their tokens, so a lease by time goes back at once; the others go back with all
 * that the client held.
 */
static void
on_delivered(void *arg, bool written)
{
	struct delivery *delivery = arg;
	size_t i;

	if (!written)
		delivery_give_back(delivery);
	for (i = 0; written && delivery->is_auto && i < delivery->count; i++)
		engine_auto_ack(delivery->engine, delivery->items[i].slot,
		    delivery->items[i].generation);
	delivery_unref(delivery);
}

/* ---- one poll ---- */

static void
poll_free(struct poll *poll)
{
	if (poll->timer) {
		TAILQ_REMOVE(&poll->context->polls->waiting, poll, link);
		loop_timer_free(poll->timer);
	}
	json_decref(poll->unknown);
	free(poll);
}

/* Lease one message and show it. return   0; -ENOMEM */
static int
take_one(const struct poll *poll, struct delivery *delivery, struct rpc_text *text,
    size_t *room)
{
	struct engine *engine = poll->context->engine;
	/* Until an automatic acknowledgement they belong to the client. */
	const uint64_t lease_ms =
	    poll->ack == RECV_ACK_AUTO ? PARAM_UNSET : poll->lease_ms;
	struct ledger_message message;
	size_t before = text->len;

	if (delivery_reserve(delivery) < 0)
		return -ENOMEM;
	if (!engine_lease(engine, rpc_call_owner(poll->call), lease_ms, &message))
		return 0;
	delivery_add(delivery, &message);
	if (delivery->count > 1 && rpc_text_add(text, ",", 1) < 0)
		return -ENOMEM;
	if (rpc_message_add(text, engine_ledger(engine), &message,
		engine_slot_data(engine, message.slot), poll->encoding, *room,
		&poll->context->polls->cache) < 0)
		return -ENOMEM;
	*room -= text->len - before;
	return 0;
}

/* Lease what is ready, as far as the limits go. return   0; -ENOMEM */
static int
collect(const struct poll *poll, struct delivery *delivery, struct rpc_text *text)
{
	const size_t taken =
	    ENVELOPE_ROOM + json_array_size(poll->unknown) * (size_t)TOKEN_ROOM;
	size_t room = rpc_call_room(poll->call);
	struct ledger_message next;
	uint64_t bytes = 0;

	room = room > taken ? room - taken : 0;
	/* What it does not read would only pile up. */
	if (!rpc_call_is_read(poll->call))
		return 0;
	while (delivery->count < poll->max &&
	    engine_peek(poll->context->engine, &next)) {
		/* What is not returned needs no room. */
		bytes += poll->encoding == DATA_NONE ? 0 : next.arrival.len;
		if ((delivery->count > 0 && bytes > poll->max_bytes) ||
		    rpc_message_room(&next, poll->encoding) > room)
			break;
		if (take_one(poll, delivery, text, &room) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* What stands behind the messages in a reply. return   0; -ENOMEM */
static int
add_rest(const struct poll *poll, struct rpc_text *text)
{
	struct ledger_message next;
	char head[64];
	int len, rc;

	len = snprintf(head, sizeof(head),
	    "],\"more\":%s,\"acked\":%" PRIu64 ",\"unknown\":",
	    engine_peek(poll->context->engine, &next) ? "true" : "false", poll->acked);
	rc = rpc_text_add(text, head, (size_t)len);
	if (rc == 0)
		rc = rpc_text_add_json(text, poll->unknown, SIZE_MAX / 2);
	return rc == 0 ? rpc_text_add(text, "}", 1) : -ENOMEM;
}

/*
 * Make the reply of what is ready, and see to what becomes of the messages in it when it
 * is written or lost. return   0; -ENOMEM
 */
static int
make_reply(const struct poll *poll, struct delivery *delivery, struct rpc_text *text)
{
	static const char begin[] = "{\"completions\":[";

	if (rpc_reply_begin(poll->call, text) < 0 ||
	    rpc_text_add(text, begin, sizeof(begin) - 1) < 0 ||
	    collect(poll, delivery, text) < 0 || add_rest(poll, text) < 0)
		return -ENOMEM;
	delivery->is_auto = poll->ack == RECV_ACK_AUTO;
	if ((delivery->is_auto || poll->lease_ms != PARAM_UNSET) &&
	    delivery->count > 0) {
		if (rpc_call_on_written(poll->call, on_delivered, delivery) < 0)
			return -ENOMEM;
		delivery->refs++;
	}
	return 0;
}

/* Answer with what is ready, be it nothing. The poll is freed. */
static void
answer(struct poll *poll)
{
	struct delivery *delivery = delivery_new(poll->context->engine);
	struct rpc_text text = { 0 };
	int rc = -ENOMEM;

	if (!delivery || make_reply(poll, delivery, &text) < 0) {
		rpc_text_free(&text);
		rpc_fail_memory(poll->call);
	} else {
		rc = rpc_reply_end(poll->call, &text);
	}
	if (delivery) {
		if (rc < 0)
			delivery_give_back(delivery);
		delivery_unref(delivery);
	}
	poll_free(poll);
}

/* ---- waiting ---- */

static void
on_cancel(void *arg)
{
	poll_free(arg);
}

/*
 * Answer polls that wait while there are messages for them, passing over those whose clients
 * have yet to read what they got; on_room() of the client brings them back.
 */
static void
serve(struct rpc_polls *polls, unsigned int budget)
{
	struct ledger_message message;
	struct poll *poll, *next;

	for (poll = TAILQ_FIRST(&polls->waiting);
	     poll && engine_peek(polls->context->engine, &message); poll = next) {
		next = TAILQ_NEXT(poll, link);
		if (!rpc_call_is_read(poll->call))
			continue;
		if (budget-- == 0) {
			loop_defer(polls->context->loop, &polls->serve);
			return;
		}
		answer(poll);
	}
}

/* Its time is over: it gets what it would have got on this turn, or nothing. */
static void
on_timeout(void *arg)
{
	struct poll *poll = arg, *next;
	struct rpc_polls *polls = poll->context->polls;

	poll->is_over = true;
	serve(polls, WAKE_BUDGET);
	for (poll = TAILQ_FIRST(&polls->waiting); poll; poll = next) {
		next = TAILQ_NEXT(poll, link);
		if (!poll->is_over)
			continue;
		poll->max = 0;
		answer(poll);
	}
}

static void
on_serve(void *arg)
{
	struct rpc_polls *polls = arg;

	serve(polls, WAKE_BUDGET);
	rpc_rings_serve(polls->context->rings);
}

/* Let a poll wait. return   0; -ENOMEM */
static int
wait(struct poll *poll, uint64_t wait_ms)
{
	struct rpc_polls *polls = poll->context->polls;

	if (loop_timer_new(poll->context->loop, on_timeout, poll, &poll->timer) < 0)
		return -ENOMEM;
	TAILQ_INSERT_TAIL(&polls->waiting, poll, link);
	loop_timer_start(poll->timer, wait_ms);
	rpc_call_on_cancel(poll->call, on_cancel, poll);
	/* Those before it may be passed over. */
	rpc_polls_wake(polls);
	return 0;
}

/* A poll from its parameters, with its tokens acknowledged. NULL: the call has failed.
 */
static struct poll *
poll_new(struct rpc_call *call, const struct recv_poll_params *params)
{
	struct rpc_context *context = rpc_call_context(call);
	struct poll *poll = calloc(1, sizeof(*poll));
	struct err err;

	if (!poll) {
		rpc_fail_memory(call);
		return NULL;
	}
	*poll = (struct poll){ .context = context,
		.call = call,
		.max = params->max,
		.max_bytes = params->max_bytes,
		.lease_ms = params->lease_ms,
		.ack = (enum recv_ack)params->ack,
		.encoding = (enum data_encoding)params->encoding,
		.unknown = json_array() };
	if (!poll->unknown) {
		rpc_fail_memory(call);
		goto fail;
	}
	if (rpc_recv_apply(call, engine_ack, &params->ack_tokens, "params.ack_tokens",
		&poll->acked, poll->unknown, &err) < 0) {
		rpc_fail(call, &err);
		goto fail;
	}
	if (params->ack_held)
		poll->acked += engine_ack_held(context->engine, rpc_call_owner(call));
	return poll;

fail:
	poll_free(poll);
	return NULL;
}

/*
 * Who reads in the pool's memory holds its messages as long as it is there: a slot that
 * went to somebody else meanwhile would change under its eyes. false: the call has failed.
 */
static bool
may_read_in_place(struct rpc_call *call, const struct recv_poll_params *params)
{
	if (params->encoding != DATA_NONE)
		return true;
	if (params->lease_ms != PARAM_UNSET) {
		rpc_fail_param(call, "params.lease_ms",
		    "cannot be given by a client that reads in place (pool.map): it holds "
		    "its messages until it acknowledges them or its connection ends");
		return false;
	}
	if (params->ack != RECV_ACK_AUTO)
		return true;
	rpc_fail_param(call, "params.ack",
	    "must be manual for a client that reads in place (pool.map): the slots would "
	    "be free before they were read");
	return false;
}

void
rpc_recv_poll(struct rpc_call *call, const void *arg)
{
	const struct recv_poll_params *params = arg;
	struct rpc_context *context = rpc_call_context(call);
	struct ledger_message next;
	struct poll *poll;
	struct err err;

	if (rpc_call_check_wait(call, params->wait_ms, &err) < 0) {
		rpc_fail(call, &err);
		return;
	}
	if (rpc_call_has_map(call) && !may_read_in_place(call, params))
		return;
	poll = poll_new(call, params);
	if (!poll)
		return;
	/* Those that wait came first. */
	serve(context->polls, WAKE_BUDGET);
	if (params->wait_ms == 0 ||
	    (TAILQ_EMPTY(&context->polls->waiting) &&
		engine_peek(context->engine, &next))) {
		answer(poll);
	} else if (wait(poll, params->wait_ms) < 0) {
		poll_free(poll);
		rpc_fail_memory(call);
	}
}

/* ---- all of them ---- */

int
rpc_polls_new(struct rpc_context *context, struct rpc_polls **out)
{
	struct rpc_polls *polls = calloc(1, sizeof(*polls));

	if (!polls)
		return -ENOMEM;
	polls->context = context;
	polls->serve = (struct loop_deferred){ .fn = on_serve, .arg = polls };
	TAILQ_INIT(&polls->waiting);
	*out = polls;
	return 0;
}

void
rpc_polls_free(struct rpc_polls *polls)
{
	if (!polls)
		return;
	loop_defer_cancel(polls->context->loop, &polls->serve);
	free(polls);
}

bool
rpc_polls_are_waiting(const struct rpc_polls *polls)
{
	return !TAILQ_EMPTY(&polls->waiting);
}

void
rpc_polls_wake(struct rpc_polls *polls)
{
	loop_defer(polls->context->loop, &polls->serve);
}

void
rpc_polls_stop(struct rpc_polls *polls)
{
	struct rpc_call *call;
	struct poll *poll;
	struct err err;

	(void)err_set(&err, ERR_SHUTTING_DOWN, 0, "the daemon is stopping");
	while ((poll = TAILQ_FIRST(&polls->waiting))) {
		call = poll->call;
		poll_free(poll);
		rpc_fail(call, &err);
	}
}
