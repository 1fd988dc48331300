/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of the objects rpc, daemon and log. */
#include <config.h>

#include <unistd.h>

#include <jansson.h>

#include "daemon/control.h"
#include "daemon/engine.h"
#include "daemon/loop.h"
#include "daemon/rpc_handlers.h"
#include "daemon/rpc_json.h"
#include "daemon/settings_reload.h"
#include "lib/core/jsonrpc.h"
#include "lib/core/log.h"

#define PROTOCOL 1

void
rpc_list(struct rpc_call *call, const void *params)
{
	(void)params;
	(void)rpc_reply(call, method_catalogue_to_json());
}

static json_t *
limits_to_json(const struct settings *settings)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "max_request",
	    (json_int_t)settings->control_max_request, "max_reply",
	    (json_int_t)RPC_REPLY_MAX, "max_batch", (json_int_t)JSONRPC_BATCH_MAX,
	    "max_depth", (json_int_t)JSONRPC_DEPTH_MAX, "max_values",
	    (json_int_t)JSONRPC_VALUES_MAX, "max_clients",
	    (json_int_t)settings->control_max_clients);
}

void
rpc_hello(struct rpc_call *call, const void *params)
{
	const struct rpc_context *context = rpc_call_context(call);
	char instance[RPC_INSTANCE_MAX];

	(void)params;
	rpc_json_instance(ledger_instance(engine_ledger(context->engine)), instance);
	(void)rpc_reply(call,
	    json_pack("{s:s, s:s, s:I, s:s, s:I, s:s, s:o}", "name", "rpmad", "version",
		PACKAGE_VERSION, "protocol", (json_int_t)PROTOCOL, "instance", instance,
		"pid", (json_int_t)getpid(), "role", role_name(rpc_call_role(call)),
		"limits", limits_to_json(context->settings)));
}

/* A list that is being filled by callbacks; NULL: there was no memory. */
static void
add_text(void *arg, const char *text)
{
	json_t **list = arg;

	if (*list && json_array_append_new(*list, json_string(text)) < 0) {
		json_decref(*list);
		*list = NULL;
	}
}

/* Where the daemon as a whole stands. */
static const char *
state_name(const struct rpc_context *context)
{
	enum engine_state state = engine_state(context->engine);

	if (context->is_stopping || state == ENGINE_STOPPED)
		state = ENGINE_STOPPING;
	return engine_state_name(state);
}

void
rpc_daemon_status(struct rpc_call *call, const void *params)
{
	const struct rpc_context *context = rpc_call_context(call);
	struct engine *engine = context->engine;
	struct control_stats control;
	struct engine_stats stats;
	char instance[RPC_INSTANCE_MAX];
	json_t *warnings = json_array();

	(void)params;
	engine_stats(engine, &stats);
	control_get_stats(context->control, &control);
	engine_warnings(engine, add_text, &warnings);
	rpc_json_instance(ledger_instance(engine_ledger(engine)), instance);
	(void)rpc_reply(call,
	    json_pack("{s:s, s:o, s:s, s:s, s:I, s:I, s:o, s:s, s:o, s:I, s:I, s:I, "
		      "s:b, s:o}",
		"state", state_name(context), "reason",
		rpc_json_text(engine_reason(engine)), "version", PACKAGE_VERSION,
		"instance", instance, "pid", (json_int_t)getpid(), "uptime_ms",
		(json_int_t)((loop_now_ns() - context->started_ns) / 1000000), "device",
		rpc_json_text(engine_device(engine)), "refill",
		context->settings->refill == REFILL_AUTO ? "auto" : "manual", "slots",
		rpc_json_slots(&stats.slots), "listeners", (json_int_t)stats.listeners,
		"conns", (json_int_t)stats.conns, "clients",
		(json_int_t)control.clients, "kept", stats.is_kept, "warnings",
		warnings));
}

/* The answer is on its way, or its client has gone: stop in either case. */
static void
on_answered(void *arg, bool written)
{
	const struct rpc_context *context = arg;

	(void)written;
	context->stop(context->arg);
}

void
rpc_daemon_stop(struct rpc_call *call, const void *params)
{
	struct rpc_context *context = rpc_call_context(call);

	(void)params;
	if (rpc_call_on_written(call, on_answered, context) < 0) {
		rpc_fail_memory(call);
		return;
	}
	/* What comes behind it, in the same line or turn, comes too late. */
	if (rpc_reply(call, json_pack("{s:b}", "stopping", 1)) == 0)
		context->is_stopping = true;
}

static json_t *
keys_to_json(const struct settings_keys *keys)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < keys->count; i++)
		add_text(&list, keys->names[i]);
	return list;
}

void
rpc_daemon_reload(struct rpc_call *call, const void *params)
{
	struct rpc_context *context = rpc_call_context(call);
	struct settings_diff diff;
	struct err err;

	(void)params;
	if (context->reload(context->arg, &diff, &err) < 0)
		rpc_fail(call, &err);
	else
		(void)rpc_reply(call,
		    json_pack("{s:o, s:o}", "changed", keys_to_json(&diff.changed),
			"needs_restart", keys_to_json(&diff.pending)));
}

void
rpc_log_set(struct rpc_call *call, const void *arg)
{
	const struct log_set_params *params = arg;
	enum log_level before = log_get_level();
	const char *level = log_level_name((enum log_level)params->level);

	if (rpc_reply(call,
		json_pack("{s:s, s:s}", "level", level, "before",
		    log_level_name(before))) == 0)
		log_set_level((enum log_level)params->level);
}
