/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections and listeners as text. */
#include <config.h>

#include <string.h>

#include <jansson.h>

#include "ctl/buf.h"
#include "ctl/columns.h"
#include "ctl/field.h"
#include "ctl/format.h"
#include "ctl/out.h"
#include "ctl/view.h"
#include "lib/core/text.h"

/* "none" for people; nothing for a program that reads lines. */
static void
add_none(struct out *out, const char *what)
{
	if (out->is_terminal)
		buf_printf(&out->buf, "no %s\n", what);
}

/* How long ago the last message came, as a cell. */
static void
add_last_recv(struct columns *columns, const json_t *conn)
{
	long long ms = field_number(conn, "last_recv_age_ms");
	char age[FORMAT_TIME_MAX];

	if (!field_is_set(conn, "last_recv_age_ms") || ms < 0)
		columns_text(columns, NULL);
	else
		columns_text(columns, format_age((uint64_t)ms, age, sizeof(age)));
}

void
view_conns(struct out *out, const struct json_t *result)
{
	static const struct column specs[] = {
		{ .title = "CONN", .is_right = true },
		{ .title = "STATE" },
		{ .title = "DIR" },
		{ .title = "PEER" },
		{ .title = "LOCAL" },
		{ .title = "MESSAGES", .is_right = true },
		{ .title = "BYTES", .is_right = true },
		{ .title = "SENT", .is_right = true },
		{ .title = "HELD", .is_right = true },
		{ .title = "LAST", .is_right = true },
		{ .title = "REASON" },
	};
	const json_t *conns = json_object_get(result, "conns");
	struct columns *columns;
	const json_t *conn;
	size_t i;

	if (json_array_size(conns) == 0) {
		add_none(out, "connections");
		return;
	}
	columns = columns_new(specs, ARRAY_LEN(specs));
	json_array_foreach(conns, i, conn) {
		field_cell(columns, conn, "conn");
		field_cell(columns, conn, "state");
		field_cell(columns, conn, "direction");
		field_cell(columns, conn, "peer");
		field_cell(columns, conn, "local");
		field_cell(columns, conn, "messages");
		field_cell(columns, conn, "bytes");
		field_cell(columns, conn, "sent_messages");
		field_cell(columns, conn, "held");
		add_last_recv(columns, conn);
		field_cell(columns, conn, "reason");
	}
	columns_print(columns, out, true);
	columns_free(columns);
}

static void
add_traffic(struct columns *record, const char *name, const json_t *result,
    const char *messages_key, const char *bytes_key)
{
	long long messages = field_number(result, messages_key);
	long long bytes = field_number(result, bytes_key);

	record_printf(record, name, "%lld message%s, %lld byte%s", messages,
	    text_plural((uint64_t)messages), bytes, text_plural((uint64_t)bytes));
}

void
view_conn(struct out *out, const struct json_t *result)
{
	struct columns *record = record_new();

	record_field(record, "connection", result, "conn");
	record_printf(record, "state", "%s, %s", field_text(result, "state"),
	    strcmp(field_text(result, "direction"), "out") == 0 ? "opened by us"
								: "opened by the peer");
	record_field(record, "since", result, "since");
	if (field_is_set(result, "closed_at"))
		record_field(record, "closed at", result, "closed_at");
	if (field_is_set(result, "reason"))
		record_field(record, "reason", result, "reason");
	record_field(record, "peer", result, "peer");
	record_field(record, "local", result, "local");
	record_field(record, "listener", result, "listener");
	record_field(record, "queue pair", result, "qp_num");
	add_traffic(record, "received", result, "messages", "bytes");
	columns_text(record, "last received");
	add_last_recv(record, result);
	record_printf(record, "slots held", "%lld now, %lld at most",
	    field_number(result, "held"), field_number(result, "held_max"));
	add_traffic(record, "sent", result, "sent_messages", "sent_bytes");
	record_field(record, "peer's slot size", result, "peer_slot_size");
	record_field(record, "errors", result, "errors");
	record_print(record, out);
}

void
view_opened(struct out *out, const struct json_t *result)
{
	const char *peer = field_text(result, "peer");

	buf_printf(&out->buf, "connection %lld to ", field_number(result, "conn"));
	buf_add_escaped(&out->buf, peer, strlen(peer));
	buf_puts(&out->buf, " is open\n");
}

void
view_closed(struct out *out, const struct json_t *result)
{
	buf_printf(&out->buf, "connection %lld is closed\n",
	    field_number(result, "conn"));
}

void
view_sent(struct out *out, const struct json_t *result)
{
	long long messages = field_number(result, "messages");
	long long bytes = field_number(result, "bytes");
	const char *peer = field_text(result, "peer");

	buf_printf(&out->buf, "sent %lld byte%s", bytes, text_plural((uint64_t)bytes));
	if (messages != 1)
		buf_printf(&out->buf, " in %lld messages", messages);
	buf_puts(&out->buf, " to ");
	if (*peer != '\0')
		buf_add_escaped(&out->buf, peer, strlen(peer));
	else
		buf_printf(&out->buf, "connection %lld", field_number(result, "conn"));
	buf_puts(&out->buf, "\n");
}

void
view_listening(struct out *out, const struct json_t *result)
{
	buf_printf(&out->buf, "listener %lld at ", field_number(result, "listener"));
	field_add_endpoint(&out->buf, result);
	buf_puts(&out->buf, "\n");
}

void
view_unlistened(struct out *out, const struct json_t *result)
{
	buf_printf(&out->buf, "listener %lld is closed\n",
	    field_number(result, "listener"));
}

void
view_listeners(struct out *out, const struct json_t *result)
{
	static const struct column specs[] = {
		{ .title = "LISTENER", .is_right = true },
		{ .title = "ADDRESS" },
		{ .title = "STATE" },
		{ .title = "REQUESTS", .is_right = true },
		{ .title = "ACCEPTED", .is_right = true },
	};
	const json_t *listeners = json_object_get(result, "listeners");
	struct columns *columns;
	struct buf endpoint = { 0 };
	const json_t *listener;
	size_t i;

	if (json_array_size(listeners) == 0) {
		add_none(out, "listeners");
		return;
	}
	columns = columns_new(specs, ARRAY_LEN(specs));
	json_array_foreach(listeners, i, listener) {
		buf_clear(&endpoint);
		field_add_endpoint(&endpoint, listener);
		field_cell(columns, listener, "listener");
		columns_text(columns, buf_text(&endpoint));
		columns_text(columns,
		    json_is_false(json_object_get(listener, "up")) ? "down"
								   : "listening");
		field_cell(columns, listener, "requests_total");
		field_cell(columns, listener, "accepted_total");
	}
	columns_print(columns, out, true);
	columns_free(columns);
	buf_free(&endpoint);
}
