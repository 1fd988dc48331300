/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of a call to its handler: method, role, state, parameters. */
#include <config.h>

#include "daemon/rpc_call.h"

#include <assert.h>
#include <stdlib.h>

#include <jansson.h>

#include "daemon/loop.h"
#include "daemon/rpc_impl.h"
#include "lib/core/jsonrpc.h"

#define NAME_SHOWN 96 /* bytes of an unknown method's name */

/* All that a table decodes into. */
union params {
	struct no_params none;
	struct recv_post_params recv_post;
	struct recv_poll_params recv_poll;
	struct recv_tokens_params recv_tokens;
	struct listener_add_params listener_add;
	struct listener_remove_params listener_remove;
	struct conn_list_params conn_list;
	struct event_get_params event_get;
	struct event_subscribe_params event_subscribe;
	struct log_set_params log_set;
	struct conn_params conn;
	struct conn_open_params conn_open;
	struct conn_send_params conn_send;
};

/*
 * Whether the daemon's stopping refuses a method. What consumers hold may still be
 * acknowledged, and who asks for the stop once more is not wrong.
 */
static bool
is_too_late(const struct rpc_context *context, enum method_id method)
{
	return context->is_stopping && methods[method].changes &&
	    method != METHOD_RECV_ACK && method != METHOD_RECV_NACK &&
	    method != METHOD_DAEMON_STOP;
}

bool
rpc_call_is_denied(const struct rpc_call *call, struct err *err)
{
	const struct method_spec *method = &methods[call->method];
	const struct rpc_client *client = call->client;

	if (client->role >= method->role)
		return false;
	(void)err_set(err, ERR_DENIED, 0,
	    "%s needs the role %s; user %ld has the role %s", method->name,
	    role_name(method->role), (long)client->uid, role_name(client->role));
	err_hint(err, "control.roles in the daemon's configuration says who has it");
	return true;
}

static int
stopping(struct err *err)
{
	return err_set(err, ERR_SHUTTING_DOWN, 0, "the daemon is stopping");
}

/* Whether the call may be made at all, whatever its parameters. */
static int
admit(struct rpc_call *call, struct err *err)
{
	const struct method_spec *method = &methods[call->method];
	const struct rpc_client *client = call->client;

	if (rpc_call_is_denied(call, err))
		return -err_info(ERR_DENIED)->errnum;
	if (is_too_late(&call->rpc->context, call->method))
		return stopping(err);
	if (call->batch && method->passes_fd)
		return err_set(err, ERR_UNSUPPORTED, 0,
		    "%s passes a descriptor, so it cannot be in a batch", method->name);
	if (!method->waits)
		return 0;
	/* These may be in a batch when they do not wait: they see to that themselves. */
	if (call->batch && call->method != METHOD_RECV_POLL &&
	    call->method != METHOD_EVENT_GET)
		return err_set(err, ERR_UNSUPPORTED, 0,
		    "%s may wait, so it cannot be in a batch", method->name);
	if (client->call_count >= RPC_WAITING_MAX)
		return err_set(err, ERR_LIMIT, 0,
		    "%u calls of this client are waiting already", RPC_WAITING_MAX);
	return 0;
}

/* Call the handler, and keep the call if it is not answered yet. */
static void
handle(struct rpc_call *call, const union params *params)
{
	struct err err;

	call->is_in_handler = true;
	rpc_handlers[call->method](call, params);
	call->is_in_handler = false;
	if (call->is_ended) {
		rpc_call_free(call);
		return;
	}
	assert(methods[call->method].waits && !call->batch); /* never answered */
	TAILQ_INSERT_TAIL(&call->client->calls, call, link);
	call->client->call_count++;
	call->is_waiting = true;
	client_hold(call->client->client);
	if (call->rpc->context.is_ended) {
		(void)stopping(&err);
		rpc_call_abort(call, &err);
	}
}

static void
dispatch(struct rpc_call *call, const struct jsonrpc_request *request)
{
	struct rpc_stats *stats = &call->rpc->context.stats;
	union params params;
	struct err err;
	int rc;

	call->method = method_by_name(request->method);
	if (call->method == METHOD_COUNT) {
		(void)err_set(&err, ERR_METHOD_NOT_FOUND, 0,
		    "there is no method \"%.*s\"", NAME_SHOWN, request->method);
		err_hint(&err, "rpc.list names them all");
		rpc_fail(call, &err);
		return;
	}
	if (!call->wants_reply && methods[call->method].changes) {
		stats->notifications_refused++;
		log_debug("rpc", "pid=%ld method=%s refused as a notification",
		    (long)call->client->pid, methods[call->method].name);
	}
	/* What changes nothing and is heard by nobody costs no work either. */
	if (!call->wants_reply ||
	    (!methods[call->method].changes &&
		client_is_broken(call->client->client))) {
		rpc_call_drop(call);
		return;
	}
	rc = admit(call, &err);
	if (rc == 0)
		rc = param_decode(&methods[call->method].params, request->params,
		    "params", false, &params, &err);
	if (rc < 0)
		rpc_fail(call, &err);
	else
		handle(call, &params);
}

/* Whether a request that is not valid still asks for no reply. */
static bool
is_notification(const json_t *value, const struct err *err)
{
	return err->code == ERR_INVALID_PARAMS && !json_object_get(value, "id");
}

void
rpc_call_run(struct rpc_client *client, const json_t *value, struct rpc_batch *batch)
{
	struct rpc_call *call = calloc(1, sizeof(*call));
	struct jsonrpc_request request;
	struct err err;

	client->rpc->context.stats.requests++;
	if (!call) {
		if (batch)
			batch->is_broken = true;
		else
			client_drop(client->client);
		return;
	}
	call->rpc = client->rpc;
	call->client = client;
	call->batch = batch;
	call->method = METHOD_COUNT;
	call->started_ns = loop_now_ns();
	call->request = json_incref((json_t *)(uintptr_t)value);
	if (jsonrpc_read(value, &request, &err) < 0) {
		call->id = request.id;
		call->wants_reply = !is_notification(value, &err);
		rpc_fail(call, &err);
		return;
	}
	call->id = request.id;
	call->wants_reply = request.id != NULL;
	dispatch(call, &request);
}
