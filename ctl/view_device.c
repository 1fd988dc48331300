/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA devices as text: a line for each port, then limits, and why one is unusable. */
#include <config.h>

#include <string.h>

#include <jansson.h>

#include "ctl/buf.h"
#include "ctl/columns.h"
#include "ctl/field.h"
#include "ctl/out.h"
#include "ctl/view.h"

/* A list of strings as one cell. */
static void
add_list(struct columns *columns, const json_t *list)
{
	struct buf text = { 0 };
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		buf_puts(&text, i > 0 ? "," : "");
		buf_add(&text, json_string_value(item), json_string_length(item));
	}
	columns_text(columns, buf_text(&text));
	buf_free(&text);
}

/* One line; port NULL: the device has none. */
static void
add_port(struct columns *columns, const json_t *device, const json_t *port)
{
	field_cell(columns, device, "name");
	field_cell(columns, device, "transport");
	field_cell(columns, port, "port");
	field_cell(columns, port, "state");
	field_cell(columns, port, "link_layer");
	field_cell(columns, port, "netdev");
	field_cell(columns, device, "in_use");
	field_cell(columns, device, "usable");
	add_list(columns, json_object_get(device, "addrs"));
}

static void
add_device(struct columns *columns, const json_t *device)
{
	const json_t *ports = json_object_get(device, "ports");
	const json_t *port;
	size_t i;

	if (json_array_size(ports) == 0)
		add_port(columns, device, NULL);
	json_array_foreach(ports, i, port)
		add_port(columns, device, port);
}

static void
add_reasons(struct out *out, const json_t *device)
{
	const char *name = field_text(device, "name");
	const json_t *reason;
	size_t i;

	json_array_foreach(json_object_get(device, "reasons"), i, reason) {
		buf_add_escaped(&out->buf, name, strlen(name));
		buf_puts(&out->buf, ": ");
		buf_add_escaped(&out->buf, json_string_value(reason),
		    json_string_length(reason));
		buf_puts(&out->buf, "\n");
	}
}

/* What the device in use can do. */
static void
add_limits(struct out *out, const json_t *device)
{
	json_t *limits = json_object_get(device, "limits");
	const char *name = field_text(device, "name");
	void *at = json_object_iter(limits);
	const char *gap = ": ";

	if (!at)
		return;
	buf_add_escaped(&out->buf, name, strlen(name));
	for (; at; at = json_object_iter_next(limits, at)) {
		buf_printf(&out->buf, "%s%s %lld", gap, json_object_iter_key(at),
		    (long long)json_integer_value(json_object_iter_value(at)));
		gap = ", ";
	}
	buf_puts(&out->buf, "\n");
}

void
view_devices(struct out *out, const struct json_t *result)
{
	static const struct column specs[] = {
		{ .title = "DEVICE" },
		{ .title = "TRANSPORT" },
		{ .title = "PORT", .is_right = true },
		{ .title = "STATE" },
		{ .title = "LINK" },
		{ .title = "NETDEV" },
		{ .title = "IN USE" },
		{ .title = "USABLE" },
		{ .title = "ADDRESSES" },
	};
	const json_t *devices = json_object_get(result, "devices");
	struct columns *columns;
	const json_t *device;
	size_t i;

	if (json_array_size(devices) == 0) {
		if (out->is_terminal)
			buf_puts(&out->buf, "no RDMA devices\n");
		return;
	}
	columns = columns_new(specs, ARRAY_LEN(specs));
	json_array_foreach(devices, i, device)
		add_device(columns, device);
	columns_print(columns, out, true);
	columns_free(columns);
	json_array_foreach(devices, i, device) {
		add_limits(out, device);
		add_reasons(out, device);
	}
}
