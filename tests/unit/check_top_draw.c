/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of top, at every size, and the numbers and keys that belong to them. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "ctl/canvas.h"
#include "ctl/format.h"
#include "ctl/keys.h"
#include "ctl/top.h"
#include "lib/core/compiler.h"
#include "tests/unit/harness.h"
#include "tests/unit/top_rig.h"

START_TEST(whole_picture)
{
	static const char wanted[] =
	    "rpmad 1.4.0  running  on rxe0  up 7.0s  refill auto  every 2 s\n"
	    "\n"
	    /* One rate, the highest so far: a whole cell at the right edge. */
	    "messages/s         500                                                         #\n"
	    "bytes/s        31.2KiB                                                         #\n"
	    "slots       # ready 3  = leased 1  - posted 500  . free 12  of 516\n"
	    "#=-----------------------------------------------------------------------------.\n"
	    "SRQ empty   2 times, 1.0us in all; low 7 times\n"
	    "\n"
	    "at most            p50       p90       p99  all: p50       p90       p99\n"
	    /* Of 100 values the 50th, 90th, 99th; of 120 the 60th, 108th, 119th. */
	    "queue time       1.0us     4.1us    16.4us     1.0us     4.1us    16.4us\n"
	    "hold time            -         -         -         -         -         -\n"
	    "\n"
	    "3 connections by rate\n"
	    " CONN    MSG/S    BYTES/S  MESSAGES   HELD      AGE  PEER\n"
	    "    3      300    18.8KiB       600      3     7.5s  192.0.2.9:40003\n"
	    "    2      150     9.4KiB       390      1     8.5s  192.0.2.9:40002\n"
	    "    1       50     3.1KiB       110      2     9.5s  192.0.2.9:40001\n";
	struct top_look picture = { .width = 80, .interval_ms = 2000 };
	struct top top = { 0 };
	struct buf buf = { 0 };

	top_rig_two_looks(&top);
	top_sort(&top.now, TOP_SORT_RATE);
	ck_assert_uint_eq(top_draw(&top, &picture, &buf), 0);
	ck_assert_str_eq(buf_text(&buf), wanted);
	buf_free(&buf);
	top_clear(&top);
}
END_TEST

/* Eight rates, 0 to 7 times 100: 0 has a level of its own, the others six and the top. */
START_TEST(sparkline)
{
	struct top_look picture = { .width = 32, .height = 24, .interval_ms = 1000 };
	struct top top = { 0 };
	struct buf buf = { 0 };
	char stats[256], status[128];
	unsigned int i, sum = 0;

	for (i = 0; i <= 8; i++) {
		sum += i > 0 ? (i - 1) * 100 : 0;
		(void)snprintf(stats, sizeof(stats), "{'recv':{'messages_total':%u}}",
		    sum);
		(void)snprintf(status, sizeof(status), "{'pid':1,'uptime_ms':%u}", i);
		top_rig_look(&top, 1000 + i * 1000, status, stats, "");
	}
	(void)top_draw(&top, &picture, &buf);
	/* 6/7, 12/7 .. 36/7, and 6: levels 1, 2, 3, 4, 5, 6, 7 above that of 0. */
	ck_assert_ptr_nonnull(strstr(buf_text(&buf),
	    "\nmessages/s         700  _.:-=+*#\n"));
	buf_clear(&buf);
	picture.is_utf8 = true;
	(void)top_draw(&top, &picture, &buf);
	ck_assert_ptr_nonnull(strstr(buf_text(&buf), "▁▂▃▄▅▆▇█\n"));
	buf_clear(&buf);
	picture.width = 27; /* the newest three */
	(void)top_draw(&top, &picture, &buf);
	ck_assert_ptr_nonnull(strstr(buf_text(&buf), "  ▆▇█\n"));
	buf_free(&buf);
	top_clear(&top);
}
END_TEST

/* What others may have written: no byte of it steers a terminal. */
#define HOSTILE "\\u001b[2J\\r\\n\\t\\u009b31m\\u007f\\u202e\xc3\xa4\\u0000"

static void
hostile_look(struct top *top, uint64_t at_ms)
{
	static const char status[] =
	    "{'state':'" HOSTILE "','reason':'" HOSTILE "','version':'" HOSTILE
	    "','pid':1,'uptime_ms':1,"
	    "'device':'" HOSTILE "','refill':'" HOSTILE "','warnings':['" HOSTILE
	    " a warning that is longer than most of the lines and so has "
	    "to be broken','a second one',7]}";
	static const char conn[] =
	    "{'conn':1,'state':'" HOSTILE "','peer':'" HOSTILE "','since':'" HOSTILE
	    "','messages':9007199254740991,"
	    "'bytes':9007199254740991,'held':-1}";
	char conns[2048] = "";
	size_t i;

	for (i = 0; i < 6; i++) {
		strcat(conns, i > 0 ? "," : "");
		strcat(conns, conn);
	}
	top_rig_look(top, at_ms, status,
	    STATS("9007199254740991", "9007199254740991", "9007199254740991",
		QUEUE("0", "0", "0", "5"), NONE),
	    conns);
}

/* What is wrong with a picture: its lines fit, and hold nothing but text. NULL: nothing.
 * Check counts its assertions in a pipe: one for each character would take minutes. */
static const char *
fault_of(const char *text, const struct top_look *picture)
{
	unsigned int lines = 0, width = 0;
	const unsigned char *at;

	for (at = (const unsigned char *)text; *at != '\0'; at++) {
		if (*at == '\n') {
			if (width > picture->width)
				return "a line is too long";
			lines++;
			width = 0;
			continue;
		}
		if (*at < 0x20 || *at == 0x7f)
			return "there is a control character";
		if (!picture->is_utf8 && *at >= 0x80)
			return "there is more than ASCII";
		if (*at == 0xc2 && at[1] < 0xa0)
			return "there is one of the second control set";
		width += (*at & 0xc0) != 0x80;
	}
	if (width != 0 || lines > picture->height)
		return "the lines are not as many as there may be";
	if (picture->height >= 8 && !strstr(text, "\nslots "))
		return "there are no slots";
	return strncmp(text, "rpmad ", 6) == 0 ? NULL : "there is no title";
}

START_TEST(sizes)
{
	struct top_look picture = { .is_utf8 = _i, .interval_ms = 1000 };
	struct top top = { 0 };
	struct buf buf = { 0 };
	const char *fault;
	size_t first;

	hostile_look(&top, 1000);
	hostile_look(&top, 2000);
	for (picture.width = 20; picture.width <= 300; picture.width++) {
		for (picture.height = 5; picture.height <= 100; picture.height++) {
			picture.has_keys = picture.height % 2;
			picture.away = picture.width % 2 ? "\033gone\n" : NULL;
			picture.first = picture.height;
			buf_clear(&buf);
			first = top_draw(&top, &picture, &buf);
			fault = fault_of(buf_text(&buf), &picture);
			if (fault || first >= 6)
				ck_abort_msg("%ux%u: %s, first %zu:\n%s", picture.width,
				    picture.height, fault ? fault : "scrolled away",
				    first, buf_text(&buf));
		}
	}
	buf_free(&buf);
	top_clear(&top);
}
END_TEST

/* Each state that has a slot is in the bar, at every width. */
START_TEST(bar_hides_nothing)
{
	struct top_look picture = { .height = 24, .interval_ms = 1000 };
	struct top top = { 0 };
	struct buf buf = { 0 };
	const char *line;

	top_rig_two_looks(&top);
	for (picture.width = 20; picture.width <= 300; picture.width++) {
		buf_clear(&buf);
		(void)top_draw(&top, &picture, &buf);
		line = strchr(strstr(buf_text(&buf), "\nslots ") + 1, '\n') + 1;
		ck_assert_uint_eq(strcspn(line, "\n"), picture.width);
		ck_assert_uint_eq(strspn(line, "#=-."), picture.width);
		ck_assert_ptr_nonnull(memchr(line, '#', picture.width));
		ck_assert_ptr_nonnull(memchr(line, '=', picture.width));
		ck_assert_ptr_nonnull(memchr(line, '-', picture.width));
		ck_assert_ptr_nonnull(memchr(line, '.', picture.width));
	}
	buf_free(&buf);
	top_clear(&top);
}
END_TEST

/* What goes first where there is little room, and where the list is. */
START_TEST(small)
{
	struct top_look picture = {
		.width = 80, .height = 5, .interval_ms = 1000, .has_keys = true
	};
	struct top top = { 0 };
	struct buf buf = { 0 };

	top_rig_two_looks(&top);
	(void)top_draw(&top, &picture, &buf);
	ck_assert_ptr_nonnull(strstr(buf_text(&buf), "\nmessages/s "));
	ck_assert_ptr_nonnull(strstr(buf_text(&buf), "\nslots "));
	ck_assert_ptr_null(strstr(buf_text(&buf), "connections"));
	/* The head, 2 + 2 lines, the keys, and of connections two titles and one row. */
	picture.height = 9;
	picture.first = 7;
	buf_clear(&buf);
	ck_assert_uint_eq(top_draw(&top, &picture, &buf), 2);
	ck_assert_ptr_nonnull(strstr(buf_text(&buf),
	    "3 connections by rate, 3 to 3\n"));
	ck_assert_ptr_null(strstr(buf_text(&buf), "SRQ empty"));
	ck_assert_ptr_nonnull(strstr(buf_text(&buf), "\nq quit "));
	picture.away = "there is no socket";
	picture.width = 30;
	buf_clear(&buf);
	(void)top_draw(&top, &picture, &buf);
	ck_assert_ptr_nonnull(strstr(buf_text(&buf),
	    "\nno answer, asking again: there\nis no socket\nmessages/s "));
	buf_free(&buf);
	top_clear(&top);
}
END_TEST

START_TEST(nothing_is_known)
{
	struct top_look picture = {
		.width = 80, .interval_ms = 1000, .is_coloured = true
	};
	struct top top = { 0 };
	struct buf buf = { 0 };

	top_rig_look(&top, 0, "{}", "[]", "1");
	(void)top_draw(&top, &picture, &buf);
	ck_assert_ptr_nonnull(strstr(buf_text(&buf), "1 connection by rate\n"));
	ck_assert_ptr_nonnull(strstr(buf_text(&buf), "\033[1m"));
	buf_free(&buf);
	top_clear(&top);
}
END_TEST

START_TEST(breaks)
{
	ck_assert_uint_eq(canvas_break("", 5), 0);
	ck_assert_uint_eq(canvas_break("abc", 3), 3);
	ck_assert_uint_eq(canvas_break("ab cd", 4), 2);
	ck_assert_uint_eq(canvas_break("abcd ef", 4), 4);
	ck_assert_uint_eq(canvas_break("abcdef", 4), 4);
	ck_assert_uint_eq(canvas_break("\xc3\xa4\xc3\xa4\xc3\xa4", 2), 4);
}
END_TEST

START_TEST(numbers)
{
	static const struct {
		const char *(*format)(uint64_t number, char *buf, size_t size);
		uint64_t number;
		const char *text;
	} rows[] = {
		{ format_count, 0, "0" },
		{ format_count, 99999, "99999" },
		{ format_count, 100000, "100.0k" },
		{ format_count, 999949, "999.9k" },
		{ format_count, 999950, "1.0M" },
		{ format_count, 9007199254740991, "9.0P" },
		{ format_count, UINT64_MAX, "18.4E" },
		{ format_bytes, 1023, "1023B" },
		{ format_bytes, 1024, "1.0KiB" },
		{ format_bytes, 1536, "1.5KiB" },
		{ format_bytes, 1048575, "1.0MiB" },
		{ format_bytes, UINT64_MAX, "16.0EiB" },
		{ format_ns, 0, "0ns" },
		{ format_ns, 999, "999ns" },
		{ format_ns, 4096, "4.1us" },
		{ format_ns, 1048576, "1.0ms" },
		{ format_ns, UINT64_C(1) << 40, "1099.5s" },
	};
	char text[FORMAT_TIME_MAX];

	ck_assert_str_eq(rows[_i].format(rows[_i].number, text, sizeof(text)),
	    rows[_i].text);
	ck_assert_int_lt(_i, ARRAY_LEN(rows));
}
END_TEST

START_TEST(keys_of_bytes)
{
	static const struct {
		const char *bytes;
		int key; /* of the last of them; the others are none */
	} rows[] = {
		{ "q", 'q' },
		{ "+", '+' },
		{ "\n", KEY_NONE },
		{ "\xc3", KEY_NONE },
		{ "\033[A", KEY_UP },
		{ "\033[B", KEY_DOWN },
		{ "\033[C", KEY_RIGHT },
		{ "\033[D", KEY_LEFT },
		{ "\033OA", KEY_UP },
		{ "\033[1;5C", KEY_RIGHT },
		{ "\033[15~", KEY_NONE }, /* F5 */
		{ "\033q", KEY_NONE },    /* Alt-q */
		{ "\033\033[D", KEY_LEFT },
		{ "\033[1\033[C", KEY_RIGHT },
	};
	struct keys keys = { 0 };
	const char *at = rows[_i].bytes;

	for (; at[1] != '\0'; at++)
		ck_assert_int_eq(keys_take(&keys, (unsigned char)*at), KEY_NONE);
	ck_assert_int_eq(keys_take(&keys, (unsigned char)*at), rows[_i].key);
	/* Whatever it was, it is over. */
	ck_assert_int_eq(keys_take(&keys, 'x'), 'x');
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("top_draw");
	TCase *tcase = tcase_create("lines");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, whole_picture);
	tcase_add_test(tcase, sparkline);
	tcase_add_loop_test(tcase, sizes, 0, 2);
	tcase_add_test(tcase, bar_hides_nothing);
	tcase_add_test(tcase, small);
	tcase_add_test(tcase, nothing_is_known);
	tcase_add_test(tcase, breaks);
	tcase_add_loop_test(tcase, numbers, 0, 17);
	tcase_add_loop_test(tcase, keys_of_bytes, 0, 14);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
