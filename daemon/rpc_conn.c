/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of the object conn. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include <jansson.h>

#include "daemon/engine.h"
#include "daemon/loop.h"
#include "daemon/rpc_handlers.h"
#include "daemon/rpc_json.h"
#include "lib/core/base64.h"

static json_t *
conn_to_json(const struct conn_info *info)
{
	char since[RPC_TIME_MAX], closed[RPC_TIME_MAX] = "";
	json_t *age = info->last_recv_ns
	    ? json_integer((json_int_t)((loop_now_ns() - info->last_recv_ns) / 1000000))
	    : json_null();

	rpc_json_time(info->since_ns, since);
	if (info->closed_ns)
		rpc_json_time(info->closed_ns, closed);
	return json_pack("{s:I, s:s, s:s, s:o, s:o, s:o, s:o, s:s, s:I, s:I, s:I, s:I, "
			 "s:I, s:I, s:o, s:o, s:o, s:o, s:I}",
	    "conn", (json_int_t)info->id, "state", conn_state_name(info->state),
	    "direction", info->is_outgoing ? "out" : "in", "peer",
	    rpc_json_addr(&info->peer), "local", rpc_json_addr(&info->local), "qp_num",
	    rpc_json_positive(info->qp_num), "listener",
	    rpc_json_positive(info->listener), "since", since, "messages",
	    (json_int_t)info->messages, "bytes", (json_int_t)info->bytes,
	    "sent_messages", (json_int_t)info->sent_messages, "sent_bytes",
	    (json_int_t)info->sent_bytes, "held", (json_int_t)info->held, "held_max",
	    (json_int_t)info->held_max, "last_recv_age_ms", age, "peer_slot_size",
	    rpc_json_positive(info->peer_slot_size), "reason",
	    rpc_json_text(info->reason), "closed_at", rpc_json_text(closed), "errors",
	    (json_int_t)info->errors);
}

/* A list that becomes NULL when there is no memory. */
static void
add_conn(void *arg, const struct conn_info *info)
{
	json_t **list = arg;

	if (*list && json_array_append_new(*list, conn_to_json(info)) < 0) {
		json_decref(*list);
		*list = NULL;
	}
}

void
rpc_conn_list(struct rpc_call *call, const void *arg)
{
	const struct conn_list_params *params = arg;
	json_t *list = json_array();

	engine_conns(rpc_call_context(call)->engine, params->closed, add_conn, &list);
	(void)rpc_reply(call, json_pack("{s:o}", "conns", list));
}

void
rpc_conn_show(struct rpc_call *call, const void *arg)
{
	const struct conn_params *params = arg;
	struct conn_info info;
	struct err err;

	if (engine_conn_info(rpc_call_context(call)->engine, params->conn, &info,
		&err) < 0)
		rpc_fail(call, &err);
	else
		(void)rpc_reply(call, conn_to_json(&info));
}

static void
on_abandoned(void *arg, const struct err *err, const struct conn_info *info)
{
	(void)arg;
	(void)err;
	(void)info;
}

/* A connection whose client has gone meanwhile would stay for ever, known to nobody. */
static void
on_opened(void *arg, const struct err *err, const struct conn_info *info)
{
	struct rpc_call *call = arg;

	if (!err && rpc_call_is_orphan(call))
		engine_conn_close(rpc_call_context(call)->engine, info->id,
		    on_abandoned, NULL);
	if (err)
		rpc_fail(call, err);
	else
		(void)rpc_reply(call,
		    json_pack("{s:I, s:o, s:o, s:o}", "conn", (json_int_t)info->id,
			"peer", rpc_json_addr(&info->peer), "local",
			rpc_json_addr(&info->local), "peer_slot_size",
			rpc_json_positive(info->peer_slot_size)));
}

void
rpc_conn_open(struct rpc_call *call, const void *arg)
{
	const struct conn_open_params *params = arg;
	struct sockaddr_storage peer;
	struct err err;

	if (addr_parse(params->addr.ptr, (uint16_t)params->port, &peer, &err) < 0) {
		err_path(&err, "params.addr");
		rpc_fail(call, &err);
		return;
	}
	engine_conn_open(rpc_call_context(call)->engine, &peer, params->timeout_ms,
	    on_opened, call);
}

static void
on_closed(void *arg, const struct err *err, const struct conn_info *info)
{
	struct rpc_call *call = arg;

	if (err)
		rpc_fail(call, err);
	else
		(void)rpc_reply(call,
		    json_pack("{s:I, s:s}", "conn", (json_int_t)info->id, "reason",
			info->reason[0] != '\0' ? info->reason : "local"));
}

void
rpc_conn_close(struct rpc_call *call, const void *arg)
{
	const struct conn_params *params = arg;

	engine_conn_close(rpc_call_context(call)->engine, params->conn, on_closed,
	    call);
}

/* A send under way. */
struct send_op {
	struct rpc_call *call;
	uint64_t conn;
	size_t len;
};

static void
on_sent(void *arg, const struct err *err, const struct conn_info *info)
{
	struct send_op *op = arg;

	(void)info;
	if (err)
		rpc_fail(op->call, err);
	else
		(void)rpc_reply(op->call,
		    json_pack("{s:I, s:I}", "conn", (json_int_t)op->conn, "len",
			(json_int_t)op->len));
	free(op);
}

/* Start a send of len bytes; the engine copies them. */
static void
send_bytes(struct rpc_call *call, const struct conn_send_params *params,
    const void *bytes, size_t len)
{
	struct send_op *op = malloc(sizeof(*op));

	if (!op) {
		rpc_fail_memory(call);
		return;
	}
	*op = (struct send_op){ call, params->conn, len };
	engine_conn_send(rpc_call_context(call)->engine, params->conn, bytes, len,
	    params->imm, params->timeout_ms, on_sent, op);
}

void
rpc_conn_send(struct rpc_call *call, const void *arg)
{
	const struct conn_send_params *params = arg;
	uint8_t *bytes;
	size_t len;

	if (params->encoding == DATA_TEXT) {
		send_bytes(call, params, params->data.ptr, params->data.len);
		return;
	}
	bytes = malloc(base64_decoded_max(params->data.len) + 1);
	if (!bytes)
		rpc_fail_memory(call);
	else if (base64_decode(params->data.ptr, params->data.len, bytes, &len) < 0)
		rpc_fail_param(call, "params.data",
		    "is no base64 (with padding, without blanks)");
	else
		send_bytes(call, params, bytes, len);
	free(bytes);
}
