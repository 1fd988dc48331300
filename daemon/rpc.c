/* SPDX-License-Identifier: BSD-3-Clause */
/* The control protocol: clients, their lines, and the table of handlers. */
#include <config.h>

#include "daemon/rpc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "daemon/access.h"
#include "daemon/devices.h"
#include "daemon/engine.h"
#include "daemon/events.h"
#include "daemon/loop.h"
#include "daemon/rpc_handlers.h"
#include "daemon/rpc_impl.h"
#include "lib/core/jsonrpc.h"
#include "lib/core/text.h"

#define DENIALS_LOGGED      100 /* in DENIALS_INTERVAL_MS */
#define DENIALS_INTERVAL_MS 10000

const rpc_handler_fn rpc_handlers[METHOD_COUNT] = {
	[METHOD_RPC_LIST] = rpc_list,
	[METHOD_RPC_HELLO] = rpc_hello,
	[METHOD_DAEMON_STATUS] = rpc_daemon_status,
	[METHOD_DAEMON_STOP] = rpc_daemon_stop,
	[METHOD_DAEMON_RELOAD] = rpc_daemon_reload,
	[METHOD_LOG_SET] = rpc_log_set,
	[METHOD_DEVICE_LIST] = rpc_device_list,
	[METHOD_SRQ_SHOW] = rpc_srq_show,
	[METHOD_POOL_MAP] = rpc_pool_map,
	[METHOD_RECV_POST] = rpc_recv_post,
	[METHOD_RECV_POLL] = rpc_recv_poll,
	[METHOD_RECV_RING] = rpc_recv_ring,
	[METHOD_RECV_ACK] = rpc_recv_ack,
	[METHOD_RECV_NACK] = rpc_recv_nack,
	[METHOD_LISTENER_ADD] = rpc_listener_add,
	[METHOD_LISTENER_REMOVE] = rpc_listener_remove,
	[METHOD_LISTENER_LIST] = rpc_listener_list,
	[METHOD_CONN_LIST] = rpc_conn_list,
	[METHOD_CONN_SHOW] = rpc_conn_show,
	[METHOD_CONN_OPEN] = rpc_conn_open,
	[METHOD_CONN_CLOSE] = rpc_conn_close,
	[METHOD_CONN_SEND] = rpc_conn_send,
	[METHOD_STATS_GET] = rpc_stats_get,
	[METHOD_STATS_METRICS] = rpc_stats_metrics,
	[METHOD_EVENT_GET] = rpc_event_get,
	[METHOD_EVENT_SUBSCRIBE] = rpc_event_subscribe,
	[METHOD_EVENT_UNSUBSCRIBE] = rpc_event_unsubscribe,
};

/* ---- clients ---- */

static void *
on_open(void *arg, struct client *client, const struct client_peer *peer)
{
	struct rpc *rpc = arg;
	struct rpc_client *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->gids = malloc(peer->gid_count * sizeof(self->gids[0]));
	if (!self->gids) {
		free(self);
		return NULL;
	}
	memcpy(self->gids, peer->gids, peer->gid_count * sizeof(self->gids[0]));
	self->gid_count = peer->gid_count;
	self->rpc = rpc;
	self->client = client;
	self->pid = peer->pid;
	self->uid = peer->uid;
	self->role = access_role(rpc->access, self->uid, self->gids, self->gid_count);
	TAILQ_INIT(&self->calls);
	TAILQ_INSERT_TAIL(&rpc->clients, self, link);
	log_debug("rpc", "uid=%ld pid=%ld connected role=%s", (long)self->uid,
	    (long)self->pid, role_name(self->role));
	return self;
}

/* What a client did with messages, in one line. */
static void
log_summary(const struct rpc_client *client)
{
	const uint64_t *done = client->done;

	if (!client->has_used_data)
		return;
	log_info("rpc",
	    "uid=%ld pid=%ld left posts=%llu polls=%llu acks=%llu nacks=%llu "
	    "sends=%llu",
	    (long)client->uid, (long)client->pid,
	    (unsigned long long)done[METHOD_RECV_POST],
	    (unsigned long long)done[METHOD_RECV_POLL],
	    (unsigned long long)done[METHOD_RECV_ACK],
	    (unsigned long long)done[METHOD_RECV_NACK],
	    (unsigned long long)done[METHOD_CONN_SEND]);
}

/* Polls that wait, and events, may have been passed over for want of room. */
static void
on_room(void *user)
{
	struct rpc_client *client = user;

	rpc_polls_wake(client->rpc->context.polls);
	if (client->sub.is_on)
		rpc_subs_wake(client->rpc->context.subs);
}

static void
on_close(void *user)
{
	struct rpc_client *client = user;
	struct rpc *rpc = client->rpc;

	rpc_batch_client_gone(client);
	rpc_call_client_gone(client);
	rpc_sub_client_gone(client);
	rpc_ring_client_gone(client);
	engine_owner_gone(rpc->context.engine, &client->owner);
	log_summary(client);
	TAILQ_REMOVE(&rpc->clients, client, link);
	free(client->gids);
	free(client);
}

/* What a client's role allows no more is not gone on with. */
static void
end_denied(struct rpc_client *client)
{
	struct rpc_call *call, *next;
	struct err err;

	for (call = TAILQ_FIRST(&client->calls); call; call = next) {
		next = TAILQ_NEXT(call, link);
		if (!rpc_call_is_denied(call, &err))
			continue;
		rpc_call_abort(call, &err);
	}
	/* What it may not acknowledge any more is for others to poll. */
	if (client->role < ROLE_POST) {
		rpc_ring_client_gone(client);
		engine_owner_gone(client->rpc->context.engine, &client->owner);
	}
	if (client->sub.is_on && client->role < ROLE_READ)
		rpc_sub_end(client, "denied");
}

void
rpc_roles_changed(struct rpc *rpc)
{
	struct rpc_client *client;

	TAILQ_FOREACH(client, &rpc->clients, link) {
		enum role role = access_role(rpc->access, client->uid, client->gids,
		    client->gid_count);

		if (role == client->role)
			continue;
		log_notice("rpc", "uid=%ld pid=%ld role=%s was=%s", (long)client->uid,
		    (long)client->pid, role_name(role), role_name(client->role));
		client->role = role;
		end_denied(client);
	}
}

/* ---- lines ---- */

static void
on_too_large(void *user, size_t seen)
{
	struct rpc_client *client = user;
	struct err err;

	client->rpc->context.stats.parse_errors++;
	(void)err_set(&err, ERR_TOO_LARGE, 0,
	    "a request of %zu bytes or more is over the limit of %u bytes", seen,
	    (unsigned int)client->rpc->context.settings->control_max_request);
	err_hint(&err,
	    "control.max_request in the daemon's configuration is the limit");
	rpc_client_error(client, &err);
}

static bool
on_line(void *user, char *line, size_t len)
{
	struct rpc_client *client = user;
	bool has_more = false;
	json_t *value;
	struct err err;

	if (jsonrpc_parse(line, len, &value, &err) < 0) {
		client->rpc->context.stats.parse_errors++;
		rpc_client_error(client, &err);
		return false;
	}
	if (json_is_array(value))
		has_more = rpc_batch_run(client, value);
	else
		rpc_call_run(client, value, NULL);
	json_decref(value);
	return has_more;
}

static bool
on_more(void *user)
{
	return rpc_batch_step(user);
}

struct client_hooks
rpc_hooks(struct rpc *rpc)
{
	return (struct client_hooks){ .arg = rpc,
		.on_open = on_open,
		.on_line = on_line,
		.on_more = on_more,
		.on_too_large = on_too_large,
		.on_room = on_room,
		.on_close = on_close };
}

/* ---- events ---- */

static void
on_event(void *arg)
{
	struct rpc *rpc = arg;

	rpc_watches_wake(rpc->context.watches);
	rpc_subs_wake(rpc->context.subs);
}

/* ---- the whole ---- */

/* The line for one client too many. NULL: no memory. */
static char *
make_refusal(unsigned int max_clients)
{
	struct rpc_text text = { 0 };
	struct err err;
	json_t *reply;
	int rc;

	(void)err_set(&err, ERR_TOO_MANY_CLIENTS, 0, "%u client%s served already",
	    max_clients, text_plural(max_clients));
	err_hint(&err, "try again later, or raise control.max_clients");
	reply = jsonrpc_error(NULL, &err);
	rc = reply ? rpc_text_add_json(&text, reply, RPC_REPLY_MAX) : -ENOMEM;
	json_decref(reply);
	if (rc == 0)
		rc = rpc_text_add(&text, "\n", sizeof("\n"));
	if (rc == 0)
		return text.bytes;
	free(text.bytes);
	return NULL;
}

int
rpc_new(const struct rpc_config *config, struct rpc **out, struct err *err)
{
	struct rpc *rpc = calloc(1, sizeof(*rpc));

	if (!rpc)
		goto fail;
	TAILQ_INIT(&rpc->clients);
	TAILQ_INIT(&rpc->orphans);
	rpc->access = config->access;
	rpc->denials = (struct log_limit){ .burst = DENIALS_LOGGED,
		.interval_ms = DENIALS_INTERVAL_MS };
	rpc->context = (struct rpc_context){ .loop = config->loop,
		.settings = config->settings,
		.events = config->events,
		.stop = config->stop,
		.reload = config->reload,
		.arg = config->arg,
		.devices_root =
		    config->devices_root ? config->devices_root : DEVICES_ROOT,
		.started_ns = loop_now_ns(),
		.stats = { .request_ns = { .scale = &histogram_ns } } };
	rpc->refusal = make_refusal(config->settings->control_max_clients);
	if (!rpc->refusal || rpc_polls_new(&rpc->context, &rpc->context.polls) < 0 ||
	    rpc_rings_new(&rpc->context, &rpc->context.rings) < 0 ||
	    rpc_watches_new(&rpc->context, &rpc->context.watches) < 0 ||
	    rpc_subs_new(&rpc->context, &rpc->context.subs) < 0)
		goto fail;
	events_on_add(config->events, on_event, rpc);
	*out = rpc;
	return 0;

fail:
	rpc_free(rpc);
	(void)err_set(err, ERR_INTERNAL_ERROR, ENOMEM, "out of memory");
	return -ENOMEM;
}

void
rpc_free(struct rpc *rpc)
{
	struct rpc_call *call;

	if (!rpc)
		return;
	while ((call = TAILQ_FIRST(&rpc->orphans))) {
		TAILQ_REMOVE(&rpc->orphans, call, link);
		rpc_call_free(call);
	}
	events_on_add(rpc->context.events, NULL, NULL);
	rpc_subs_free(rpc->context.subs);
	rpc_watches_free(rpc->context.watches);
	rpc_rings_free(rpc->context.rings);
	rpc_polls_free(rpc->context.polls);
	rpc_addrs_free(rpc->context.addrs);
	rpc_ports_free(rpc->context.ports);
	free(rpc->refusal);
	free(rpc);
}

void
rpc_attach(struct rpc *rpc, struct engine *engine, struct control *control)
{
	rpc->context.engine = engine;
	rpc->context.control = control;
}

const char *
rpc_refusal(const struct rpc *rpc)
{
	return rpc->refusal;
}

void
rpc_messages_ready(struct rpc *rpc)
{
	/* Polls come first, and rings behind them. */
	if (rpc_polls_are_waiting(rpc->context.polls))
		rpc_polls_wake(rpc->context.polls);
	else
		rpc_rings_serve(rpc->context.rings);
}

void
rpc_begin_stop(struct rpc *rpc)
{
	rpc->context.is_stopping = true;
	rpc_polls_stop(rpc->context.polls);
	rpc_rings_stop(rpc->context.rings);
}

void
rpc_end_calls(struct rpc *rpc)
{
	struct rpc_client *client;
	struct rpc_call *call;
	struct err err;

	rpc->context.is_ended = true;
	(void)err_set(&err, ERR_SHUTTING_DOWN, 0, "the daemon is stopping");
	TAILQ_FOREACH(client, &rpc->clients, link) {
		while (client->batch.list)
			(void)rpc_batch_step(client);
		while ((call = TAILQ_FIRST(&client->calls)))
			rpc_call_abort(call, &err);
	}
	rpc_subs_end(rpc->context.subs);
}
