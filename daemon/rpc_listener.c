/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of the object listener. */
#include <config.h>

#include <jansson.h>

#include "daemon/engine.h"
#include "daemon/rpc_handlers.h"
#include "daemon/rpc_json.h"

static json_t *
ip_to_json(const struct sockaddr_storage *addr)
{
	char text[ADDR_TEXT_MAX];

	return json_string(addr_format_ip(addr, text, sizeof(text)));
}

void
rpc_listener_add(struct rpc_call *call, const void *arg)
{
	const struct listener_add_params *params = arg;
	struct sockaddr_storage addr;
	struct listener_info info;
	struct err err;
	int rc;

	rc = addr_parse(params->addr.ptr, (uint16_t)params->port, &addr, &err);
	if (rc < 0)
		err_path(&err, "params.addr");
	else
		rc = engine_listener_add(rpc_call_context(call)->engine, &addr, &info,
		    &err);
	if (rc < 0) {
		rpc_fail(call, &err);
		return;
	}
	(void)rpc_reply(call,
	    json_pack("{s:I, s:o, s:I}", "listener", (json_int_t)info.id, "addr",
		ip_to_json(&info.addr), "port", (json_int_t)addr_port(&info.addr)));
}

void
rpc_listener_remove(struct rpc_call *call, const void *arg)
{
	const struct listener_remove_params *params = arg;
	struct err err;

	if (engine_listener_remove(rpc_call_context(call)->engine, params->listener,
		&err) < 0)
		rpc_fail(call, &err);
	else
		(void)rpc_reply(call,
		    json_pack("{s:I}", "listener", (json_int_t)params->listener));
}

/* A list that becomes NULL when there is no memory. */
static void
add_listener(void *arg, const struct listener_info *info)
{
	json_t **list = arg;

	if (*list &&
	    json_array_append_new(*list,
		json_pack("{s:I, s:o, s:I, s:b, s:I, s:I}", "listener",
		    (json_int_t)info->id, "addr", ip_to_json(&info->addr), "port",
		    (json_int_t)addr_port(&info->addr), "up", (int)info->is_up,
		    "requests_total", (json_int_t)info->requests, "accepted_total",
		    (json_int_t)info->accepted)) < 0) {
		json_decref(*list);
		*list = NULL;
	}
}

void
rpc_listener_list(struct rpc_call *call, const void *params)
{
	json_t *list = json_array();

	(void)params;
	engine_listeners(rpc_call_context(call)->engine, add_listener, &list);
	(void)rpc_reply(call, json_pack("{s:o}", "listeners", list));
}
