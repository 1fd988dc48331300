/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of device.list and srq.show. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "daemon/devices.h"
#include "daemon/engine.h"
#include "daemon/loop.h"
#include "daemon/rpc_handlers.h"
#include "daemon/rpc_json.h"

/*
 * To look through the host's devices and addresses takes milliseconds, tens of them where there
 * are many GIDs, and one request may ask hundreds of times: at most once in this time.
 */
#define FRESH_NS   1000000000u
#define REASON_MAX 160

struct rpc_addrs {
	uint64_t found_ns; /* monotonic */
	struct devices devices;
	size_t count, size;
	bool is_broken; /* there was no memory for all */
	struct {
		char device[DEVICES_NAME_MAX];
		char text[ADDR_TEXT_MAX];
	} * list;
};

/* ---- addresses ---- */

static void
add_addr(void *arg, const struct sockaddr_storage *addr, const char *device)
{
	struct rpc_addrs *addrs = arg;
	size_t size = addrs->size ? addrs->size * 2 : 8;
	void *grown;

	if (addrs->count == addrs->size) {
		grown = reallocarray(addrs->list, size, sizeof(addrs->list[0]));
		if (!grown) {
			addrs->is_broken = true;
			return;
		}
		addrs->list = grown;
		addrs->size = size;
	}
	(void)snprintf(addrs->list[addrs->count].device, DEVICES_NAME_MAX, "%s",
	    device);
	addr_format_ip(addr, addrs->list[addrs->count].text, ADDR_TEXT_MAX);
	addrs->count++;
}

void
rpc_addrs_free(struct rpc_addrs *addrs)
{
	if (!addrs)
		return;
	devices_fini(&addrs->devices);
	free(addrs->list);
	free(addrs);
}

/* What is known of the host's devices and addresses, looked up anew when it is old. NULL: no
 * memory. */
static const struct rpc_addrs *
find_addrs(struct rpc_context *context)
{
	const uint64_t now_ns = loop_now_ns();
	struct rpc_addrs *addrs = context->addrs;

	if (addrs && !addrs->is_broken && now_ns - addrs->found_ns < FRESH_NS)
		return addrs;
	rpc_addrs_free(addrs);
	context->addrs = addrs = calloc(1, sizeof(*addrs));
	if (!addrs)
		return NULL;
	addrs->found_ns = now_ns;
	if (devices_scan(context->devices_root, &addrs->devices) < 0)
		addrs->is_broken = true;
	engine_usable_addrs(add_addr, addrs);
	return addrs->is_broken ? NULL : addrs;
}

static json_t *
addrs_to_json(const struct rpc_addrs *addrs, const char *device)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < addrs->count; i++) {
		if (strcmp(addrs->list[i].device, device) != 0)
			continue;
		if (json_array_append_new(list, json_string(addrs->list[i].text)) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* ---- devices ---- */

static json_t *
gids_to_json(const struct device_port *port)
{
	const struct device_gid *gid;
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < port->gid_count; i++) {
		gid = &port->gids[i];
		if (json_array_append_new(list,
			json_pack("{s:I, s:s, s:o}", "index", (json_int_t)gid->index,
			    "gid", gid->gid, "type", rpc_json_text(gid->type))) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *
ports_to_json(const struct device_entry *device)
{
	const struct device_port *port;
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < device->port_count; i++) {
		port = &device->ports[i];
		if (json_array_append_new(list,
			json_pack("{s:I, s:s, s:s, s:o, s:o}", "port",
			    (json_int_t)port->port, "state", port->state, "link_layer",
			    port->link_layer, "netdev", rpc_json_text(port->netdev),
			    "gids", gids_to_json(port))) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* Add a sentence to a list; what fails for want of memory shows in *ok. */
static void
add_reason(json_t *list, bool *ok, const char *reason)
{
	if (json_array_append_new(list, json_string(reason)) < 0)
		*ok = false;
}

/* Why nobody could receive with a device: one sentence a reason. */
static json_t *
reasons_to_json(const struct device_entry *device, const struct rpc_addrs *addrs)
{
	json_t *list = json_array();
	char reason[REASON_MAX];
	bool ok = true, is_active = false, has_addr = false;
	size_t i;

	for (i = 0; i < device->port_count; i++)
		if (strcmp(device->ports[i].state, "ACTIVE") == 0)
			is_active = true;
	for (i = 0; !is_active && i < device->port_count; i++) {
		(void)snprintf(reason, sizeof(reason), "port %u is %s, not ACTIVE",
		    (unsigned int)device->ports[i].port, device->ports[i].state);
		add_reason(list, &ok, reason);
	}
	if (device->port_count == 0)
		add_reason(list, &ok, "it has no port");
	for (i = 0; i < addrs->count; i++)
		if (strcmp(addrs->list[i].device, device->name) == 0)
			has_addr = true;
	if (!has_addr)
		add_reason(list, &ok, "no IP address of this host leads to it");
	if (ok)
		return list;
	json_decref(list);
	return NULL;
}

/* What every reader of JSON keeps exact: 2^53 - 1. A device that says more has no limit. */
#define EXACT_MAX 9007199254740991u

static json_t *
limits_to_json(const struct engine *engine)
{
	struct device_limits limits;

	if (!engine_device_limits(engine, &limits))
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "max_srq",
	    (json_int_t)limits.max_srq, "max_srq_wr", (json_int_t)limits.max_srq_wr,
	    "max_cqe", (json_int_t)limits.max_cqe, "max_qp", (json_int_t)limits.max_qp,
	    "max_qp_wr", (json_int_t)limits.max_qp_wr, "max_mr_bytes",
	    limits.max_mr_bytes > EXACT_MAX
		? json_null()
		: json_integer((json_int_t)limits.max_mr_bytes));
}

static json_t *
device_to_json(const struct engine *engine, const struct device_entry *device,
    const struct rpc_addrs *addrs)
{
	bool in_use = strcmp(engine_device(engine), device->name) == 0;
	json_t *reasons = reasons_to_json(device, addrs);

	return json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:b, s:o}", "name",
	    device->name, "transport", device_transport_name(device->transport),
	    "node_guid", device->node_guid, "in_use", (int)in_use, "addrs",
	    addrs_to_json(addrs, device->name), "ports", ports_to_json(device),
	    "limits", in_use ? limits_to_json(engine) : json_null(), "usable",
	    (int)(json_array_size(reasons) == 0), "reasons", reasons);
}

void
rpc_device_list(struct rpc_call *call, const void *params)
{
	struct rpc_context *context = rpc_call_context(call);
	const struct rpc_addrs *addrs = find_addrs(context);
	json_t *list;
	size_t i;

	(void)params;
	if (!addrs) {
		rpc_fail_memory(call);
		return;
	}
	list = json_array();
	for (i = 0; i < addrs->devices.count; i++) {
		if (json_array_append_new(list,
			device_to_json(context->engine, &addrs->devices.list[i],
			    addrs)) < 0) {
			json_decref(list);
			list = NULL;
			break;
		}
	}
	(void)rpc_reply(call, json_pack("{s:o}", "devices", list));
}

/* ---- the shared receive queue ---- */

void
rpc_srq_show(struct rpc_call *call, const void *params)
{
	const struct engine *engine = rpc_call_context(call)->engine;
	struct engine_stats stats;
	struct srq_info srq;

	(void)params;
	engine_srq_info(engine, &srq);
	engine_stats(engine, &stats);
	(void)rpc_reply(call,
	    json_pack("{s:o, s:s, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:s, s:I, s:I, "
		      "s:I, s:b, s:I, s:I, s:b, s:I, s:I, s:I, s:I, s:I, s:I}",
		"device", rpc_json_text(engine_device(engine)), "state",
		srq.is_active ? "active" : "none", "asked", (json_int_t)srq.asked,
		"effective",
		srq.is_active ? json_integer((json_int_t)srq.effective) : json_null(),
		"posted", (json_int_t)stats.slots.posted, "free",
		(json_int_t)stats.slots.free, "total", (json_int_t)stats.slots.total,
		"target", (json_int_t)srq.target, "low_watermark",
		(json_int_t)srq.low_watermark, "refill",
		srq.refill == REFILL_AUTO ? "auto" : "manual", "min_rnr_timer_us",
		(json_int_t)srq.min_rnr_timer_us, "min_rnr_timer_code",
		(json_int_t)srq.min_rnr_timer_code, "cq_asked",
		(json_int_t)srq.cq_asked, "huge_pages", (int)srq.huge_pages,
		"pool_bytes", (json_int_t)srq.pool_bytes, "page_size",
		(json_int_t)srq.page_size, "empty", (int)stats.is_empty, "posted_total",
		(json_int_t)stats.posted, "refills_total", (json_int_t)stats.refills,
		"post_failures_total", (json_int_t)stats.post_failures,
		"times_low_total", (json_int_t)stats.times_low, "times_empty_total",
		(json_int_t)stats.times_empty, "empty_ns_total",
		(json_int_t)stats.empty_ns));
}
