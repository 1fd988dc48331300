/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's state, its counters, and its methods as text. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "ctl/buf.h"
#include "ctl/columns.h"
#include "ctl/field.h"
#include "ctl/format.h"
#include "ctl/must.h"
#include "ctl/numbers.h"
#include "ctl/out.h"
#include "ctl/view.h"

/* "waiting_for_device" in plain words, with the reason. */
static void
add_state(struct columns *record, const json_t *result)
{
	char words[64];
	char *at;

	(void)snprintf(words, sizeof(words), "%s", field_text(result, "state"));
	for (at = words; *at != '\0'; at++)
		if (*at == '_')
			*at = ' ';
	if (field_is_set(result, "reason"))
		record_printf(record, "state", "%s: %s", words,
		    field_text(result, "reason"));
	else
		record_printf(record, "state", "%s", words);
}

static void
add_warnings(struct out *out, const json_t *warnings)
{
	const json_t *warning;
	size_t i;

	json_array_foreach(warnings, i, warning) {
		out_style(out, OUT_WARNING);
		buf_puts(&out->buf, "warning:");
		out_style(out, OUT_PLAIN);
		buf_puts(&out->buf, " ");
		buf_add_escaped(&out->buf, json_string_value(warning),
		    json_string_length(warning));
		buf_puts(&out->buf, "\n");
	}
}

void
view_status(struct out *out, const struct json_t *result)
{
	struct columns *record = record_new();
	const json_t *slots = json_object_get(result, "slots");
	long long uptime_ms = field_number(result, "uptime_ms");
	char age[FORMAT_TIME_MAX];

	add_state(record, result);
	record_field(record, "device", result, "device");
	record_field(record, "listeners", result, "listeners");
	record_field(record, "connections", result, "conns");
	record_printf(record, "slots",
	    "free %lld posted %lld ready %lld leased %lld of %lld",
	    field_number(slots, "free"), field_number(slots, "posted"),
	    field_number(slots, "ready"), field_number(slots, "leased"),
	    field_number(slots, "total"));
	record_field(record, "refill", result, "refill");
	record_field(record, "clients", result, "clients");
	record_printf(record, "daemon", "rpmad %s, pid %lld, instance %s, up %s",
	    field_text(result, "version"), field_number(result, "pid"),
	    field_text(result, "instance"),
	    format_age(uptime_ms > 0 ? (uint64_t)uptime_ms : 0, age, sizeof(age)));
	record_print(record, out);
	add_warnings(out, json_object_get(result, "warnings"));
}

void
view_stopping(struct out *out, const struct json_t *result)
{
	buf_puts(&out->buf,
	    field_is_true(result, "stopping") ? "the daemon is stopping\n"
					      : "the daemon does not stop\n");
}

/* "changed: log.level, control.roles". */
static void
add_keys(struct out *out, const char *title, const json_t *keys)
{
	const json_t *key;
	size_t i;

	if (json_array_size(keys) == 0)
		return;
	buf_printf(&out->buf, "%s:", title);
	json_array_foreach(keys, i, key) {
		buf_puts(&out->buf, i > 0 ? ", " : " ");
		buf_add_escaped(&out->buf, json_string_value(key),
		    json_string_length(key));
	}
	buf_puts(&out->buf, "\n");
}

void
view_reloaded(struct out *out, const struct json_t *result)
{
	const json_t *changed = json_object_get(result, "changed");
	const json_t *pending = json_object_get(result, "needs_restart");

	add_keys(out, "changed", changed);
	add_keys(out, "needs a restart", pending);
	if (json_array_size(changed) + json_array_size(pending) == 0)
		buf_puts(&out->buf, "nothing has changed\n");
}

void
view_log_level(struct out *out, const struct json_t *result)
{
	buf_printf(&out->buf, "level %s, was %s\n", field_text(result, "level"),
	    field_text(result, "before"));
}

void
view_methods(struct out *out, const struct json_t *result)
{
	static const struct column specs[] = {
		{ .title = "METHOD" },
		{ .title = "ROLE" },
		{ .title = "DOES" },
	};
	struct columns *columns = columns_new(specs, ARRAY_LEN(specs));
	const json_t *method;
	size_t i;

	json_array_foreach(json_object_get(result, "methods"), i, method) {
		field_cell(columns, method, "name");
		field_cell(columns, method, "role");
		field_cell(columns, method, "help");
	}
	columns_print(columns, out, true);
	columns_free(columns);
}

/* Numbers on their way into a record. */
struct numbers {
	struct columns *record;
	size_t prefix_len; /* of the histogram that is being shown, up to the bound */
	char prefix[64];
	json_int_t shown; /* the last bucket of it that was */
};

/* Whether a bucket of a histogram adds nothing to the one before it. */
static bool
is_idle_bucket(struct numbers *numbers, const char *name, const json_t *value)
{
	const char *bound = strstr(name, ".buckets.le_");
	size_t len;

	if (!bound)
		return false;
	len = (size_t)(bound - name);
	if (len >= sizeof(numbers->prefix))
		return false;
	if (len != numbers->prefix_len || memcmp(name, numbers->prefix, len) != 0) {
		memcpy(numbers->prefix, name, len);
		numbers->prefix_len = len;
		numbers->shown = 0;
	}
	if (json_integer_value(value) == numbers->shown)
		return true;
	numbers->shown = json_integer_value(value);
	return false;
}

static void
add_number(void *arg, const char *name, const json_t *value)
{
	struct numbers *numbers = arg;

	if (is_idle_bucket(numbers, name, value))
		return;
	columns_text(numbers->record, name);
	field_value(numbers->record, value);
}

void
view_numbers(struct out *out, const struct json_t *result)
{
	struct numbers numbers = { .record = record_new() };
	json_t *copy = must(json_deep_copy(result)); /* only for its constness */

	numbers_each(copy, add_number, &numbers);
	record_print(numbers.record, out);
	json_decref(copy);
}

void
view_metrics(struct out *out, const struct json_t *result)
{
	buf_puts(&out->buf, field_text(result, "text"));
}

void
view_any(struct out *out, const struct json_t *result)
{
	size_t flags = out->is_terminal ? JSON_INDENT(2) : JSON_COMPACT;
	char *text = json_dumps(result, flags | JSON_ENSURE_ASCII | JSON_ENCODE_ANY);

	buf_printf(&out->buf, "%s\n", text ? text : "");
	free(text);
}
