/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages, tokens and the shared receive queue as text. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include <jansson.h>

#include "ctl/buf.h"
#include "ctl/columns.h"
#include "ctl/field.h"
#include "ctl/format.h"
#include "ctl/out.h"
#include "ctl/view.h"
#include "lib/core/text.h"

void
view_posted(struct out *out, const struct json_t *result)
{
	long long accepted = field_number(result, "accepted");

	buf_printf(&out->buf, "%lld slot%s posted; now %lld posted, %lld free\n",
	    accepted, text_plural((uint64_t)accepted), field_number(result, "posted"),
	    field_number(result, "free"));
}

/* "2 messages acknowledged", and the tokens that nothing is known of. */
static void
add_token_result(struct out *out, const json_t *result, long long done,
    const char *what)
{
	const json_t *token;
	size_t i;

	buf_printf(&out->buf, "%lld message%s %s\n", done, text_plural((uint64_t)done),
	    what);
	json_array_foreach(json_object_get(result, "unknown"), i, token) {
		buf_puts(&out->buf, "unknown token: ");
		buf_add_escaped(&out->buf, json_string_value(token),
		    json_string_length(token));
		buf_puts(&out->buf, "\n");
	}
}

void
view_acked(struct out *out, const struct json_t *result)
{
	add_token_result(out, result, field_number(result, "acked"), "acknowledged");
}

void
view_nacked(struct out *out, const struct json_t *result)
{
	add_token_result(out, result, field_number(result, "nacked"), "given back");
}

struct columns *
view_messages_new(bool with_tokens)
{
	static const struct column specs[] = {
		{ .title = "TOKEN" },
		{ .title = "SEQ", .min_width = 6, .is_right = true },
		{ .title = "CONN", .is_right = true },
		{ .title = "PEER", .min_width = 21 },
		{ .title = "LEN", .min_width = 6, .is_right = true },
		{ .title = "IMM", .min_width = 4, .is_right = true },
		{ .title = "TRY", .is_right = true },
		{ .title = "CONTEXT" },
		{ .title = "DATA" },
	};
	size_t first = with_tokens ? 0 : 1;

	return columns_new(specs + first, ARRAY_LEN(specs) - first);
}

void
view_message(struct columns *columns, bool with_tokens, const struct json_t *completion)
{
	struct buf data = { 0 };

	if (with_tokens)
		field_cell(columns, completion, "token");
	field_cell(columns, completion, "seq");
	field_cell(columns, completion, "conn");
	field_cell(columns, completion, "peer");
	field_cell(columns, completion, "len");
	field_cell(columns, completion, "imm");
	field_cell(columns, completion, "deliveries");
	field_cell(columns, completion, "context");
	if (strcmp(field_text(completion, "encoding"), "base64") == 0) {
		buf_printf(&data, "base64:%s", field_text(completion, "data"));
		columns_textn(columns, data.data, data.len);
	} else {
		field_cell(columns, completion, "data");
	}
	buf_free(&data);
}

static void
add_empty_times(struct columns *record, const json_t *result)
{
	long long ns = field_number(result, "empty_ns_total");
	char age[FORMAT_TIME_MAX];

	record_printf(record, "times empty", "%lld, %s in all",
	    field_number(result, "times_empty_total"),
	    format_age(ns > 0 ? (uint64_t)ns / 1000000 : 0, age, sizeof(age)));
}

void
view_srq(struct out *out, const struct json_t *result)
{
	bool is_active = strcmp(field_text(result, "state"), "active") == 0;
	long long refills = field_number(result, "refills_total");
	struct columns *record = record_new();

	record_field(record, "device", result, "device");
	record_printf(record, "state", "%s%s", field_text(result, "state"),
	    is_active && field_is_true(result, "empty")
		? ", empty: senders have to wait"
		: "");
	if (field_is_set(result, "effective"))
		record_printf(record, "depth", "%lld asked, %lld effective",
		    field_number(result, "asked"), field_number(result, "effective"));
	else
		record_printf(record, "depth", "%lld asked",
		    field_number(result, "asked"));
	record_printf(record, "slots", "posted %lld free %lld of %lld",
	    field_number(result, "posted"), field_number(result, "free"),
	    field_number(result, "total"));
	record_printf(record, "refill", "%s, target %lld, low watermark %lld",
	    field_text(result, "refill"), field_number(result, "target"),
	    field_number(result, "low_watermark"));
	record_printf(record, "RNR timer", "%lld us (code %lld)",
	    field_number(result, "min_rnr_timer_us"),
	    field_number(result, "min_rnr_timer_code"));
	record_field(record, "CQ size", result, "cq_asked");
	record_printf(record, "pool", "%lld bytes in pages of %lld",
	    field_number(result, "pool_bytes"), field_number(result, "page_size"));
	record_printf(record, "posts", "%lld in %lld refill%s, %lld failed",
	    field_number(result, "posted_total"), refills,
	    text_plural((uint64_t)refills),
	    field_number(result, "post_failures_total"));
	record_field(record, "times low", result, "times_low_total");
	add_empty_times(record, result);
	record_print(record, out);
}
