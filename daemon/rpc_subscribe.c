/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handlers of event.subscribe and event.unsubscribe, and the notifications that follow.
 * What a client has not read yet stays in the ring of events, where it costs nothing: it
 * is told a little at a time, and of what the ring has lost meanwhile by event.gap.
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include <jansson.h>

#include "daemon/events.h"
#include "daemon/loop.h"
#include "daemon/rpc_handlers.h"
#include "daemon/rpc_impl.h"
#include "daemon/rpc_json.h"
#include "lib/core/jsonrpc.h"

#define TOLD_AT_ONCE   64       /* events; the next when these are written */
#define TIME_BUDGET_NS 2000000u /* of a turn, the client that exceeds it apart */

struct rpc_subs {
	struct rpc_context *context;
	TAILQ_HEAD(, rpc_client) clients; /* the next to be told first */
	struct loop_deferred serve;
};

/* Add a notification; the reference of params is taken, NULL: no memory. */
static int
add_notification(struct rpc_text *text, const char *method, json_t *params)
{
	json_t *notification;
	int rc;

	if (!params)
		return -ENOMEM;
	notification = jsonrpc_make_request(method, params, NULL);
	if (!notification)
		return -ENOMEM;
	rc = rpc_text_add_json(text, notification, RPC_REPLY_MAX);
	json_decref(notification);
	return rc < 0 ? rc : rpc_text_add(text, "\n", 1);
}

/* Add that the events up to a number will not be told. */
static int
add_gap(struct rpc_client *client, struct rpc_text *text, uint64_t last)
{
	const uint64_t missed = last - client->sub.last;

	if (missed == 0)
		return 0;
	client->rpc->context.stats.events_missed += missed;
	client->sub.last = last;
	return add_notification(text, "event.gap",
	    json_pack("{s:I, s:I}", "missed", (json_int_t)missed, "next",
		(json_int_t)last));
}

/* Add the events that the client has not been told of, max of them at the most. */
static int
add_events(struct rpc_client *client, struct rpc_text *text, unsigned int max)
{
	const struct events *events = client->rpc->context.events;
	const uint64_t oldest = events_oldest(events);
	struct rpc_sub *sub = &client->sub;
	int rc = 0;

	if (sub->last + 1 < oldest)
		rc = add_gap(client, text, oldest - 1);
	while (rc == 0 && max > 0 && sub->last < events_newest(events)) {
		const struct event *event = events_at(events, ++sub->last);

		if (!(sub->types & 1u << event->type))
			continue;
		rc = add_notification(text, "event", rpc_event_to_json(event));
		max--;
	}
	return rc;
}

static void
on_written(void *arg, bool written)
{
	struct rpc_client *client = arg;

	client->sub.is_writing = false;
	if (written && client->sub.is_on)
		rpc_subs_wake(client->rpc->context.subs);
}

/* Send what was made, whose memory is taken. A client that cannot be told is dropped: it
 * would take what comes next for all there was. */
static void
send_text(struct rpc_client *client, struct rpc_text *text, int rc)
{
	if (rc == 0 && text->len == 0)
		return;
	if (rc < 0)
		free(text->bytes);
	else
		rc = client_notify(client->client, text->bytes, text->len, on_written,
		    client);
	if (rc == 0)
		client->sub.is_writing = true;
	else if (rc != -EPIPE)
		client_drop(client->client);
}

/* Tell a client what comes next, if it has read the former. */
static void
tell(struct rpc_client *client)
{
	struct rpc_text text = { 0 };
	int rc;

	if (client->sub.is_writing || !client_has_room(client->client))
		return;
	rc = add_events(client, &text, TOLD_AT_ONCE);
	send_text(client, &text, rc);
}

static void
on_serve(void *arg)
{
	const uint64_t end_ns = loop_now_ns() + TIME_BUDGET_NS;
	struct rpc_subs *subs = arg;
	uint64_t left = subs->context->stats.subscribers;
	struct rpc_client *client;

	for (; left > 0; left--) {
		if (loop_now_ns() > end_ns) {
			rpc_subs_wake(subs);
			return;
		}
		client = TAILQ_FIRST(&subs->clients);
		TAILQ_REMOVE(&subs->clients, client, sub.link);
		TAILQ_INSERT_TAIL(&subs->clients, client, sub.link);
		tell(client);
	}
}

void
rpc_subs_wake(struct rpc_subs *subs)
{
	loop_defer(subs->context->loop, &subs->serve);
}

/* ---- the beginning and the end ---- */

static void
switch_on(struct rpc_client *client)
{
	struct rpc_context *context = &client->rpc->context;

	client->sub.is_on = true;
	TAILQ_INSERT_TAIL(&context->subs->clients, client, sub.link);
	context->stats.subscribers++;
	client_hold(client->client);
	rpc_subs_wake(context->subs);
}

static void
switch_off(struct rpc_client *client)
{
	struct rpc_context *context = &client->rpc->context;

	client->sub.is_on = false;
	TAILQ_REMOVE(&context->subs->clients, client, sub.link);
	context->stats.subscribers--;
	client_release(client->client);
}

void
rpc_sub_client_gone(struct rpc_client *client)
{
	if (client->sub.is_on)
		switch_off(client);
}

void
rpc_event_subscribe(struct rpc_call *call, const void *arg)
{
	const struct event_subscribe_params *params = arg;
	struct rpc_client *client = call->client;
	struct events *events = client->rpc->context.events;
	char instance[RPC_INSTANCE_MAX];
	uint64_t last = events_newest(events);
	uint32_t types;
	struct err err;

	/* Who would be told of nothing, not even of the end, is not to wait for it. */
	if (client->rpc->context.is_ended) {
		(void)err_set(&err, ERR_SHUTTING_DOWN, 0, "the daemon is stopping");
		rpc_fail(call, &err);
		return;
	}
	if (client->sub.is_on) {
		(void)err_set(&err, ERR_ALREADY_EXISTS, 0,
		    "this connection has a subscription");
		err_hint(&err, "event.unsubscribe ends it");
		rpc_fail(call, &err);
		return;
	}
	if (rpc_event_types(&params->types, &types, &err) < 0 ||
	    (params->since != PARAM_UNSET &&
		rpc_event_check_since(events, params->since, &err) < 0)) {
		rpc_fail(call, &err);
		return;
	}
	if (params->since != PARAM_UNSET)
		last = params->since;
	if (rpc_reply(call,
		json_pack("{s:s, s:I}", "instance",
		    rpc_json_instance(events_instance(events), instance), "next",
		    (json_int_t)last)) < 0)
		return;
	client->sub.last = last;
	client->sub.types = types;
	switch_on(client);
}

void
rpc_event_unsubscribe(struct rpc_call *call, const void *params)
{
	struct rpc_client *client = call->client;
	json_t *next = client->sub.is_on ? json_integer((json_int_t)client->sub.last)
					 : json_null();

	(void)params;
	if (rpc_reply(call, json_pack("{s:o}", "next", next)) == 0)
		rpc_sub_client_gone(client);
}

/* What does not fit is told to be missing. */
void
rpc_sub_end(struct rpc_client *client, const char *reason)
{
	const uint64_t newest = events_newest(client->rpc->context.events);
	struct rpc_text text = { 0 };
	int rc;

	if (client_has_room(client->client))
		rc = add_events(client, &text, EVENTS_KEPT);
	else
		rc = add_gap(client, &text, newest);
	if (rc == 0)
		rc = add_notification(&text, "event.end",
		    json_pack("{s:s, s:I}", "reason", reason, "next",
			(json_int_t)client->sub.last));
	send_text(client, &text, rc);
	switch_off(client);
}

void
rpc_subs_end(struct rpc_subs *subs)
{
	struct rpc_client *client;

	while ((client = TAILQ_FIRST(&subs->clients)))
		rpc_sub_end(client, "stopping");
}

int
rpc_subs_new(struct rpc_context *context, struct rpc_subs **out)
{
	struct rpc_subs *subs = calloc(1, sizeof(*subs));

	if (!subs)
		return -ENOMEM;
	subs->context = context;
	subs->serve = (struct loop_deferred){ .fn = on_serve, .arg = subs };
	TAILQ_INIT(&subs->clients);
	*out = subs;
	return 0;
}

void
rpc_subs_free(struct rpc_subs *subs)
{
	if (!subs)
		return;
	loop_defer_cancel(subs->context->loop, &subs->serve);
	free(subs);
}
