/* SPDX-License-Identifier: BSD-3-Clause */
/* Events as text. */
#include <config.h>

#include <string.h>

#include <jansson.h>

#include "ctl/buf.h"
#include "ctl/columns.h"
#include "ctl/field.h"
#include "ctl/format.h"
#include "ctl/must.h"
#include "ctl/out.h"
#include "ctl/view.h"

struct columns *
view_events_new(void)
{
	static const struct column specs[] = {
		{ .title = "SEQ", .min_width = 6, .is_right = true },
		{ .title = "AT", .min_width = 27 },
		{ .title = "TYPE", .min_width = 16 },
		{ .title = "CONN", .min_width = 4, .is_right = true },
		{ .title = "ADDR", .min_width = 21 },
		{ .title = "WHAT" },
	};

	return columns_new(specs, ARRAY_LEN(specs));
}

/* The reason, how long it took, how often it was: what there is. */
static void
add_what(struct columns *columns, const json_t *event)
{
	long long count = field_number(event, "count");
	char age[FORMAT_TIME_MAX];
	struct buf what = { 0 };

	buf_puts(&what, field_text(event, "reason"));
	if (field_is_set(event, "duration_ns"))
		buf_printf(&what, "%safter %s", what.len ? ", " : "",
		    format_age((uint64_t)field_number(event, "duration_ns") / 1000000,
			age, sizeof(age)));
	/* The reason of a gap says how many. */
	if (count > 1 && strcmp(field_text(event, "type"), "event.gap") != 0)
		buf_printf(&what, "%s%lld times", what.len ? ", " : "", count);
	columns_textn(columns, what.data ? what.data : "", what.len);
	buf_free(&what);
}

void
view_event(struct columns *columns, const json_t *event)
{
	field_cell(columns, event, "seq");
	field_cell(columns, event, "at");
	field_cell(columns, event, "type");
	field_cell(columns, event, "conn");
	field_cell(columns, event, "addr");
	add_what(columns, event);
}

void
view_events(struct out *out, const json_t *result)
{
	struct columns *columns = view_events_new();
	const json_t *event;
	size_t i;

	json_array_foreach(json_object_get(result, "events"), i, event)
		view_event(columns, event);
	columns_print(columns, out, out->is_terminal);
	columns_free(columns);
}
