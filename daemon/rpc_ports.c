/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of the open device in stats.get. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "daemon/devices.h"
#include "daemon/engine.h"
#include "daemon/loop.h"
#include "daemon/ports.h"
#include "daemon/rpc_handlers.h"
#include "daemon/rpc_json.h"

/* Some drivers ask the device's firmware for each counter: at most once in this time. */
#define FRESH_NS 1000000000u

struct rpc_ports {
	uint64_t read_ns; /* monotonic */
	char device[DEVICES_NAME_MAX];
	struct ports ports;
};

void
rpc_ports_free(struct rpc_ports *ports)
{
	if (!ports)
		return;
	ports_fini(&ports->ports);
	free(ports);
}

/* The ports, read anew when what is known is old. NULL: no memory. */
static const struct rpc_ports *
find_ports(struct rpc_context *context)
{
	const char *device = engine_device(context->engine);
	const uint64_t now_ns = loop_now_ns();
	struct rpc_ports *ports = context->ports;

	if (ports && strcmp(ports->device, device) == 0 &&
	    now_ns - ports->read_ns < FRESH_NS)
		return ports;
	rpc_ports_free(ports);
	context->ports = NULL;
	ports = calloc(1, sizeof(*ports));
	if (!ports)
		return NULL;
	ports->read_ns = now_ns;
	(void)snprintf(ports->device, sizeof(ports->device), "%s", device);
	if (ports_read(context->devices_root, device, &ports->ports) < 0) {
		free(ports);
		return NULL;
	}
	context->ports = ports;
	return ports;
}

/* What drivers call differently; null: this one does not count it. */
static json_t *
by_meaning(const struct port *port, enum port_meaning meaning)
{
	uint64_t value;

	if (!port_counter_by_meaning(port, meaning, &value))
		return json_null();
	return json_integer((json_int_t)value);
}

static json_t *
port_to_json(const char *device, const struct port *port)
{
	json_t *counters = json_object();
	size_t i;

	for (i = 0; i < port->counter_count; i++)
		if (json_object_set_new(counters, port->counters[i].name,
			json_integer((json_int_t)port->counters[i].value)) < 0) {
			json_decref(counters);
			return NULL;
		}
	return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "device", device,
	    "port", (json_int_t)port->port, "state", rpc_json_text(port->state), "rate",
	    rpc_json_text(port->rate), "rnr_sent_total",
	    by_meaning(port, PORT_RNR_SENT), "rnr_received_total",
	    by_meaning(port, PORT_RNR_RECEIVED), "retries_exceeded_total",
	    by_meaning(port, PORT_RETRIES_EXCEEDED), "hw_counters", counters);
}

json_t *
rpc_ports_to_json(struct rpc_context *context)
{
	const struct rpc_ports *ports = find_ports(context);
	json_t *list;
	size_t i;

	if (!ports)
		return NULL;
	list = json_array();
	for (i = 0; i < ports->ports.count; i++)
		if (json_array_append_new(list,
			port_to_json(ports->device, &ports->ports.list[i])) < 0) {
			json_decref(list);
			return NULL;
		}
	return list;
}
