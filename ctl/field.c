/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading of result objects, and records of label and value. */
#include <config.h>

#include "ctl/field.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "ctl/buf.h"
#include "ctl/columns.h"
#include "ctl/out.h"

#define RECORD_TEXT_MAX 1024

const char *
field_text(const struct json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

long long
field_number(const struct json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

bool
field_is_true(const struct json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

bool
field_is_set(const struct json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return value && !json_is_null(value);
}

void
field_value(struct columns *columns, const struct json_t *value)
{
	if (json_is_string(value))
		columns_textn(columns, json_string_value(value),
		    json_string_length(value));
	else if (json_is_integer(value))
		columns_number(columns, json_integer_value(value));
	else if (json_is_boolean(value))
		columns_text(columns, json_is_true(value) ? "yes" : "no");
	else
		columns_text(columns, NULL);
}

void
field_cell(struct columns *columns, const struct json_t *object, const char *key)
{
	field_value(columns, json_object_get(object, key));
}

void
field_add_endpoint(struct buf *buf, const struct json_t *object)
{
	const char *addr = field_text(object, "addr");
	bool is_v6 = strchr(addr, ':') != NULL;

	buf_puts(buf, is_v6 ? "[" : "");
	buf_add_escaped(buf, addr, strlen(addr));
	buf_printf(buf, "%s:%lld", is_v6 ? "]" : "", field_number(object, "port"));
}

struct columns *
record_new(void)
{
	static const struct column specs[] = { { .title = "" }, { .title = "" } };

	return columns_new(specs, ARRAY_LEN(specs));
}

void
record_field(struct columns *record, const char *label, const struct json_t *object,
    const char *key)
{
	columns_text(record, label);
	field_cell(record, object, key);
}

void
record_printf(struct columns *record, const char *label, const char *fmt, ...)
{
	char text[RECORD_TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	columns_text(record, label);
	columns_text(record, text);
}

void
record_print(struct columns *record, struct out *out)
{
	columns_print(record, out, false);
	columns_free(record);
}
