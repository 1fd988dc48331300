/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of top. What there is no room for is left away, the least important first. */
#include <config.h>

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ctl/canvas.h"
#include "ctl/format.h"
#include "ctl/top.h"
#include "lib/core/compiler.h"
#include "lib/core/text.h"

#define LABEL        12u /* columns of what stands at the left of a line */
#define VALUE        10u /* of a number behind it */
#define AIRY         24u /* lines from which there are empty ones between the parts */
#define URGENT_LINES 2u  /* of warnings, that go before everything else */

struct draw {
	const struct top *top;
	const struct top_look *look;
	struct canvas canvas;
	unsigned int left;   /* lines that are not given away */
	struct buf warnings; /* their lines, escaped, each with its NUL */
	unsigned int warning_lines;
	unsigned int warnings_shown; /* so many of these lines */
	bool has_rates;              /* there is room for each of the parts */
	bool has_slots;
	bool has_empty;
	bool has_latency;
	bool has_conns;
	bool has_keys;
	bool is_airy;
};

static bool
take(struct draw *draw, unsigned int lines)
{
	if (draw->left < lines)
		return false;
	draw->left -= lines;
	return true;
}

static void
space(struct draw *draw)
{
	if (draw->is_airy)
		canvas_end(&draw->canvas);
}

/* ---- the head ---- */

/* "waiting_for_device" in plain words. */
static void
add_state(struct canvas *canvas, const char *state)
{
	char words[TOP_NAME_MAX];
	char *at;

	(void)snprintf(words, sizeof(words), "%s", state);
	for (at = words; *at != '\0'; at++)
		if (*at == '_')
			*at = ' ';
	canvas_text(canvas, words);
}

static void
draw_title(struct draw *draw)
{
	const struct top_sample *now = &draw->top->now;
	struct canvas *canvas = &draw->canvas;
	char time[FORMAT_TIME_MAX];

	canvas_style(canvas, CANVAS_BOLD);
	canvas_printf(canvas, "rpmad ");
	canvas_text(canvas, now->version);
	canvas_printf(canvas, "  ");
	add_state(canvas, now->state);
	canvas_style(canvas, NULL);
	if (now->device[0] != '\0') {
		canvas_printf(canvas, "  on ");
		canvas_text(canvas, now->device);
	}
	canvas_printf(canvas, "  up %s  refill ",
	    format_age(now->uptime_ms, time, sizeof(time)));
	canvas_text(canvas, now->refill);
	canvas_printf(canvas, "  every %s",
	    format_ms(draw->look->interval_ms, time, sizeof(time)));
	canvas_end(canvas);
}

/* Break a sentence into lines. */
static void
add_warning(struct draw *draw, const char *title, const char *text)
{
	struct buf line = { 0 };
	const char *at;
	size_t len;

	buf_puts(&line, title);
	buf_add_escaped(&line, text, strlen(text));
	for (at = buf_text(&line); *at != '\0'; at += strspn(at, " ")) {
		len = canvas_break(at, draw->look->width);
		buf_add(&draw->warnings, at, len);
		buf_add(&draw->warnings, "", 1);
		draw->warning_lines++;
		at += len;
	}
	buf_free(&line);
}

static void
gather_warnings(struct draw *draw)
{
	const struct top_sample *now = &draw->top->now;
	const char *text = buf_text(&now->warnings);
	size_t i;

	if (draw->look->away)
		add_warning(draw, "no answer, asking again: ", draw->look->away);
	if (now->reason[0] != '\0')
		add_warning(draw, "reason: ", now->reason);
	for (i = 0; i < now->warning_count; i++) {
		add_warning(draw, "warning: ", text);
		text += strlen(text) + 1;
	}
}

static void
draw_warnings(struct draw *draw)
{
	const char *text = buf_text(&draw->warnings);
	unsigned int i;

	for (i = 0; i < draw->warnings_shown; i++) {
		canvas_style(&draw->canvas, CANVAS_YELLOW);
		canvas_add(&draw->canvas, text);
		canvas_style(&draw->canvas, NULL);
		canvas_end(&draw->canvas);
		text += strlen(text) + 1;
	}
}

/* ---- rates ---- */

/* The newest at the right edge; the highest that is seen fills a cell. */
static void
draw_sparkline(struct canvas *canvas, const uint64_t *rates, size_t count)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const ascii[] = { "_", ".", ":", "-", "=", "+", "*", "#" };
	const unsigned int room =
	    canvas->width > canvas->column ? canvas->width - canvas->column : 0;
	uint64_t max = 0;
	size_t i, level;

	if (count > room) {
		rates += count - room;
		count = room;
	}
	for (i = 0; i < count; i++)
		if (rates[i] > max)
			max = rates[i];
	canvas_to(canvas, canvas->column + room - (unsigned int)count);
	for (i = 0; i < count; i++) {
		/* Nothing has a level of its own. */
		level = rates[i] == 0
		    ? 0
		    : 1 + (size_t)((double)rates[i] / (double)max * 6.0);
		canvas_repeat(canvas, canvas->is_utf8 ? blocks[level] : ascii[level],
		    1);
	}
}

static void
draw_rate(struct draw *draw, const char *label, const char *value,
    const uint64_t *rates)
{
	struct canvas *canvas = &draw->canvas;

	canvas_printf(canvas, "%s", label);
	canvas_to(canvas, LABEL);
	canvas_style(canvas, CANVAS_BOLD);
	canvas_printf(canvas, "%*s", (int)VALUE, draw->top->has_rates ? value : "-");
	canvas_style(canvas, NULL);
	canvas_printf(canvas, "  ");
	canvas_style(canvas, CANVAS_GREEN);
	draw_sparkline(canvas, rates, draw->top->rates);
	canvas_style(canvas, NULL);
	canvas_end(canvas);
}

static void
draw_rates(struct draw *draw)
{
	const struct top *top = draw->top;
	char text[FORMAT_TIME_MAX];

	draw_rate(draw, "messages/s",
	    format_count(top->message_rate, text, sizeof(text)), top->message_rates);
	draw_rate(draw, "bytes/s", format_bytes(top->byte_rate, text, sizeof(text)),
	    top->byte_rates);
}

/* ---- slots ---- */

struct slot_look {
	const char *name;
	const char *block;
	const char *ascii;
	const char *style;
};
static const struct slot_look slot_looks[TOP_SLOTS_COUNT] = {
	[TOP_READY] = { "ready", "█", "#", CANVAS_GREEN },
	[TOP_LEASED] = { "leased", "▓", "=", CANVAS_CYAN },
	[TOP_POSTED] = { "posted", "▒", "-", CANVAS_BOLD },
	[TOP_FREE] = { "free", "░", ".", CANVAS_DIM },
};

static const char *
slot_sign(const struct draw *draw, size_t state)
{
	return draw->look->is_utf8 ? slot_looks[state].block : slot_looks[state].ascii;
}

static void
draw_slots(struct draw *draw)
{
	struct canvas *canvas = &draw->canvas;
	const uint64_t *slots = draw->top->now.slots;
	unsigned int cells[TOP_SLOTS_COUNT];
	uint64_t total = 0;
	size_t i;

	canvas_printf(canvas, "slots");
	canvas_to(canvas, LABEL);
	for (i = 0; i < TOP_SLOTS_COUNT; i++) {
		canvas_style(canvas, slot_looks[i].style);
		canvas_printf(canvas, "%s", slot_sign(draw, i));
		canvas_style(canvas, NULL);
		canvas_printf(canvas, " %s %" PRIu64 "  ", slot_looks[i].name,
		    slots[i]);
		total += slots[i];
	}
	canvas_printf(canvas, "of %" PRIu64, total);
	canvas_end(canvas);
	top_share(slots, draw->look->width, cells);
	for (i = 0; i < TOP_SLOTS_COUNT; i++) {
		canvas_style(canvas, slot_looks[i].style);
		canvas_repeat(canvas, slot_sign(draw, i), cells[i]);
		canvas_style(canvas, NULL);
	}
	canvas_end(canvas);
}

static void
draw_empty(struct draw *draw)
{
	const struct top_sample *now = &draw->top->now;
	struct canvas *canvas = &draw->canvas;
	char time[FORMAT_TIME_MAX];

	canvas_printf(canvas, "SRQ empty");
	canvas_to(canvas, LABEL);
	if (draw->top->was_empty)
		canvas_style(canvas, CANVAS_RED);
	canvas_printf(canvas, "%" PRIu64 " times, %s in all", now->times_empty,
	    format_ns(now->empty_ns, time, sizeof(time)));
	if (draw->top->was_empty) {
		canvas_printf(canvas, ", also since the last look");
		canvas_style(canvas, NULL);
	}
	canvas_printf(canvas, "; low %" PRIu64 " times", now->times_low);
	canvas_end(canvas);
}

/* ---- latency ---- */

static void
draw_percentiles(struct canvas *canvas, const struct top_histogram *histogram)
{
	static const unsigned int percents[] = { 50, 90, 99 };
	char text[FORMAT_TIME_MAX], cell[FORMAT_TIME_MAX + 1];
	uint64_t ns;
	size_t i;

	for (i = 0; i < ARRAY_LEN(percents); i++) {
		if (histogram->count == 0 || histogram->buckets == 0) {
			canvas_printf(canvas, "%*s", (int)VALUE, "-");
			continue;
		}
		ns = top_percentile(histogram, percents[i]);
		if (ns == UINT64_MAX)
			(void)snprintf(cell, sizeof(cell), ">%s",
			    format_ns(histogram->bounds[histogram->buckets - 1], text,
				sizeof(text)));
		else
			(void)format_ns(ns, cell, sizeof(cell));
		canvas_printf(canvas, "%*s", (int)VALUE, cell);
	}
}

static void
draw_latency(struct draw *draw)
{
	const struct top *top = draw->top;
	struct canvas *canvas = &draw->canvas;

	canvas_style(canvas, CANVAS_DIM);
	canvas_printf(canvas, "at most");
	canvas_to(canvas, LABEL);
	canvas_printf(canvas, "%*s%*s%*s", (int)VALUE, "p50", (int)VALUE, "p90",
	    (int)VALUE, "p99");
	canvas_printf(canvas, "%*s%*s%*s", (int)VALUE, "all: p50", (int)VALUE, "p90",
	    (int)VALUE, "p99");
	canvas_style(canvas, NULL);
	canvas_end(canvas);
	canvas_printf(canvas, "queue time");
	canvas_to(canvas, LABEL);
	draw_percentiles(canvas, &top->queue);
	draw_percentiles(canvas, &top->now.queue);
	canvas_end(canvas);
	canvas_printf(canvas, "hold time");
	canvas_to(canvas, LABEL);
	draw_percentiles(canvas, &top->hold);
	draw_percentiles(canvas, &top->now.hold);
	canvas_end(canvas);
}

/* ---- connections ---- */

static void
draw_conn(struct draw *draw, const struct top_conn *conn)
{
	struct canvas *canvas = &draw->canvas;
	char messages[FORMAT_TIME_MAX], bytes[FORMAT_TIME_MAX];
	char all[FORMAT_TIME_MAX], age[FORMAT_TIME_MAX];
	const bool has_rates = draw->top->has_rates;

	canvas_printf(canvas, "%5" PRIu64 "  %7s  %9s  %8s  %5" PRIu64 "  %7s  ",
	    conn->id,
	    has_rates ? format_count(conn->message_rate, messages, sizeof(messages))
		      : "-",
	    has_rates ? format_bytes(conn->byte_rate, bytes, sizeof(bytes)) : "-",
	    format_count(conn->messages, all, sizeof(all)), conn->held,
	    format_age(conn->age_ms, age, sizeof(age)));
	canvas_text(canvas, conn->peer);
	if (strcmp(conn->state, "established") != 0) {
		canvas_printf(canvas, " ");
		canvas_text(canvas, conn->state);
	}
	canvas_end(canvas);
}

/* As many as there is room for. return   the first of them */
static size_t
draw_conns(struct draw *draw)
{
	const struct top_sample *now = &draw->top->now;
	struct canvas *canvas = &draw->canvas;
	size_t rows = now->conn_count, first = draw->look->first, i;

	if (rows == 0) {
		canvas_printf(canvas, "no connections");
		canvas_end(canvas);
		return 0;
	}
	draw->left++; /* the row that was taken for them */
	if (rows > draw->left)
		rows = draw->left;
	draw->left -= (unsigned int)rows;
	if (first > now->conn_count - rows)
		first = now->conn_count - rows;
	canvas_printf(canvas, "%zu connection%s by %s", now->conn_count,
	    text_plural(now->conn_count), top_sort_names[draw->look->sort]);
	if (rows < now->conn_count)
		canvas_printf(canvas, ", %zu to %zu", first + 1, first + rows);
	canvas_end(canvas);
	canvas_style(canvas, CANVAS_REVERSE);
	canvas_printf(canvas, "%5s  %7s  %9s  %8s  %5s  %7s  PEER", "CONN", "MSG/S",
	    "BYTES/S", "MESSAGES", "HELD", "AGE");
	canvas_style(canvas, NULL);
	canvas_end(canvas);
	for (i = first; i < first + rows; i++)
		draw_conn(draw, &now->conns[i]);
	return first;
}

/* The last line of the screen. */
static void
draw_keys(struct draw *draw)
{
	for (; draw->left > 0; draw->left--)
		canvas_end(&draw->canvas);
	canvas_style(&draw->canvas, CANVAS_DIM);
	canvas_printf(&draw->canvas,
	    "q quit  s left right: order (r m h a i)  + -: interval  up down: scroll");
	canvas_style(&draw->canvas, NULL);
	canvas_end(&draw->canvas);
}

/* ---- all of it ---- */

/* Give the lines away, the most important part first. */
static void
plan(struct draw *draw)
{
	const struct top_look *look = draw->look;
	const bool has_conns = draw->top->now.conn_count > 0;

	gather_warnings(draw);
	draw->left = look->height > 0 ? look->height : UINT_MAX;
	(void)take(draw, 1);
	while (draw->warnings_shown < draw->warning_lines &&
	    draw->warnings_shown < URGENT_LINES && take(draw, 1))
		draw->warnings_shown++;
	draw->has_rates = take(draw, 2);
	draw->has_slots = take(draw, 2);
	draw->has_keys = look->has_keys && look->height > 0 && take(draw, 1);
	draw->has_conns = take(draw, has_conns ? 3 : 1);
	draw->has_empty = take(draw, 1);
	draw->has_latency = take(draw, 3);
	draw->is_airy = (look->height == 0 || look->height >= AIRY) && take(draw, 3);
	while (draw->warnings_shown < draw->warning_lines && take(draw, 1))
		draw->warnings_shown++;
}

size_t
top_draw(const struct top *top, const struct top_look *look, struct buf *out)
{
	struct draw draw = {
		.top = top,
		.look = look,
		.canvas = { .buf = out,
		    .width = look->width,
		    .is_utf8 = look->is_utf8,
		    .is_coloured = look->is_coloured },
	};
	size_t first = 0;

	plan(&draw);
	draw_title(&draw);
	draw_warnings(&draw);
	space(&draw);
	if (draw.has_rates)
		draw_rates(&draw);
	if (draw.has_slots)
		draw_slots(&draw);
	if (draw.has_empty)
		draw_empty(&draw);
	space(&draw);
	if (draw.has_latency)
		draw_latency(&draw);
	space(&draw);
	if (draw.has_conns)
		first = draw_conns(&draw);
	if (draw.has_keys)
		draw_keys(&draw);
	buf_free(&draw.warnings);
	return first;
}
