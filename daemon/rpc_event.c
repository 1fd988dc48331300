/* SPDX-License-Identifier: BSD-3-Clause */
/* Handler of event.get, and the calls of it that wait for an event. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>

#include <jansson.h>

#include "daemon/events.h"
#include "daemon/loop.h"
#include "daemon/rpc_handlers.h"
#include "daemon/rpc_json.h"

/* A call of event.get. */
struct watch {
	TAILQ_ENTRY(watch) link;
	struct rpc_watches *watches;
	struct rpc_call *call;
	struct loop_timer *timer; /* NULL: it does not wait */
	uint64_t since;
	uint64_t limit;
	uint32_t types; /* a bit for each that is wanted */
};

struct rpc_watches {
	struct loop *loop;
	struct events *events;
	TAILQ_HEAD(, watch) waiting;
	struct loop_deferred serve;
};

static void
watch_free(struct watch *watch)
{
	if (watch->timer) {
		TAILQ_REMOVE(&watch->watches->waiting, watch, link);
		loop_timer_free(watch->timer);
	}
	free(watch);
}

json_t *
rpc_event_to_json(const struct event *event)
{
	char at[RPC_TIME_MAX];

	return json_pack("{s:I, s:s, s:s, s:o, s:o, s:o, s:o, s:I}", "seq",
	    (json_int_t)event->seq, "at", rpc_json_time(event->at_ns, at), "type",
	    event_type_name(event->type), "conn", rpc_json_positive(event->conn),
	    "addr", rpc_json_addr(&event->addr), "reason", rpc_json_text(event->reason),
	    "duration_ns",
	    event->type == EVENT_SRQ_REFILLED
		? json_integer((json_int_t)event->duration_ns)
		: json_null(),
	    "count", (json_int_t)event->count);
}

/* Whether an event that the call wants is there, and the first number to look at. */
static bool
has_events(const struct watch *watch, uint64_t *first)
{
	const struct events *events = watch->watches->events;
	uint64_t seq = watch->since + 1, oldest = events_oldest(events);

	*first = seq < oldest ? oldest : seq;
	for (seq = *first; oldest > 0 && seq <= events_newest(events); seq++)
		if (watch->types & 1u << events_at(events, seq)->type)
			return true;
	return false;
}

/* Answer with what is there, be it nothing. The watch is freed. */
static void
answer(struct watch *watch)
{
	const struct events *events = watch->watches->events;
	struct rpc_call *call = watch->call;
	char instance[RPC_INSTANCE_MAX];
	json_t *list = json_array();
	uint64_t seq, first, next = watch->since;

	(void)has_events(watch, &first);
	for (seq = first;
	     seq <= events_newest(events) && json_array_size(list) < watch->limit;
	     seq++) {
		const struct event *event = events_at(events, seq);

		next = seq;
		if (!(watch->types & 1u << event->type))
			continue;
		if (json_array_append_new(list, rpc_event_to_json(event)) < 0) {
			json_decref(list);
			list = NULL;
			break;
		}
	}
	(void)rpc_reply(call,
	    json_pack("{s:s, s:o, s:I, s:I}", "instance",
		rpc_json_instance(events_instance(events), instance), "events", list,
		"next", (json_int_t)next, "missed",
		(json_int_t)(first - watch->since - 1)));
	watch_free(watch);
}

static void
on_timeout(void *arg)
{
	answer(arg);
}

static void
on_cancel(void *arg)
{
	watch_free(arg);
}

/* Answer the calls that wait for what has happened. */
static void
on_serve(void *arg)
{
	struct rpc_watches *watches = arg;
	struct watch *watch, *next;
	uint64_t first;

	for (watch = TAILQ_FIRST(&watches->waiting); watch; watch = next) {
		next = TAILQ_NEXT(watch, link);
		if (has_events(watch, &first))
			answer(watch);
	}
}

void
rpc_watches_wake(struct rpc_watches *watches)
{
	loop_defer(watches->loop, &watches->serve);
}

int
rpc_event_types(const struct param_list *names, uint32_t *types, struct err *err)
{
	size_t i;
	int rc;

	*types = names->count > 0 ? 0 : UINT32_MAX;
	for (i = 0; i < names->count; i++) {
		enum event_type type = event_type_by_name(param_list_at(names, i));

		if (type == EVENT_TYPE_COUNT) {
			rc = err_set(err, ERR_INVALID_PARAMS, 0,
			    "there are no events of type \"%s\"",
			    param_list_at(names, i));
			err_path(err, "params.types[%zu]", i);
			err_hint(err, "rpmad-rpc(7) lists them");
			return rc;
		}
		*types |= 1u << type;
	}
	return 0;
}

int
rpc_event_check_since(const struct events *events, uint64_t since, struct err *err)
{
	int rc;

	if (since <= events_newest(events))
		return 0;
	rc = err_set(err, ERR_INVALID_PARAMS, 0,
	    "%llu is after the newest event, %llu: it is of another instance of the daemon",
	    (unsigned long long)since, (unsigned long long)events_newest(events));
	err_path(err, "params.since");
	err_hint(err, "begin with 0 when the instance is another one");
	return rc;
}

void
rpc_event_get(struct rpc_call *call, const void *arg)
{
	const struct event_get_params *params = arg;
	struct rpc_context *context = rpc_call_context(call);
	struct watch *watch = calloc(1, sizeof(*watch));
	uint64_t first;
	struct err err;

	if (!watch) {
		rpc_fail_memory(call);
		return;
	}
	*watch = (struct watch){ .watches = context->watches,
		.call = call,
		.since = params->since,
		.limit = params->limit };
	if (rpc_call_check_wait(call, params->wait_ms, &err) < 0 ||
	    rpc_event_check_since(context->watches->events, params->since, &err) < 0 ||
	    rpc_event_types(&params->types, &watch->types, &err) < 0) {
		watch_free(watch);
		rpc_fail(call, &err);
		return;
	}
	if (params->wait_ms == 0 || has_events(watch, &first)) {
		answer(watch);
		return;
	}
	if (loop_timer_new(context->loop, on_timeout, watch, &watch->timer) < 0) {
		watch_free(watch);
		rpc_fail_memory(call);
		return;
	}
	TAILQ_INSERT_TAIL(&context->watches->waiting, watch, link);
	loop_timer_start(watch->timer, params->wait_ms);
	rpc_call_on_cancel(call, on_cancel, watch);
}

int
rpc_watches_new(struct rpc_context *context, struct rpc_watches **out)
{
	struct rpc_watches *watches = calloc(1, sizeof(*watches));

	if (!watches)
		return -ENOMEM;
	watches->loop = context->loop;
	watches->events = context->events;
	watches->serve = (struct loop_deferred){ .fn = on_serve, .arg = watches };
	TAILQ_INIT(&watches->waiting);
	*out = watches;
	return 0;
}

void
rpc_watches_free(struct rpc_watches *watches)
{
	if (!watches)
		return;
	loop_defer_cancel(watches->loop, &watches->serve);
	free(watches);
}
