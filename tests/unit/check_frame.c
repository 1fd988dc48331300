/* SPDX-License-Identifier: BSD-3-Clause */
/* Framing: pieces of every size, the limit, and the cost of long and of many lines. */
#include <config.h>

#include "lib/core/frame.h"

#include <string.h>

#include "tests/unit/harness.h"

#define LIMIT 8u

/* A stream and the events that come of it: "line|", "!" for a line over the limit. */
static const struct {
	const char *stream;
	size_t len; /* 0: strlen */
	const char *events;
} cases[] = {
	{ "", 0, "" },
	{ "a\n", 0, "a|" },
	{ "a\nb\nc\n", 0, "a|b|c|" },
	{ "a\r\nb\r\n", 0, "a|b|" },
	{ "\n\n\r\n\na\n\n", 0, "a|" },
	/* CR alone is no end of a line */
	{ "a\rb\n", 0, "a\rb|" },
	{ "a\r\r\n", 0, "a\r|" },
	{ "\r\r\n", 0, "\r|" },
	/* a last line without LF */
	{ "a", 0, "a|" },
	{ "a\nb", 0, "a|b|" },
	{ "a\nb\r", 0, "a|b|" },
	{ "\r", 0, "" },
	/* exactly the limit, and over it */
	{ "12345678\n", 0, "12345678|" },
	{ "12345678\r\n", 0, "12345678|" },
	{ "12345678", 0, "12345678|" },
	{ "12345678\r", 0, "12345678|" },
	{ "123456789\n", 0, "!" },
	{ "123456789\r\n", 0, "!" },
	{ "123456789", 0, "!" },
	{ "12345678\r\r\n", 0, "!" },
	{ "a\n123456789\nb\n", 0, "a|!b|" },
	{ "1234567890123456789012345678901234567890\nb\n", 0, "!b|" },
	{ "1234567890123456789012345678901234567890\r\n\nb", 0, "!b|" },
	{ "1234567890\n1234567890\n", 0, "!!" },
	{ "12345678901234567890", 0, "!" },
	/* NUL is a byte like others: shown as 0 */
	{ "a\0b\n\0\n", 6, "a0b|0|" },
};

static void
add_event(char *events, enum frame_result result, const char *line, size_t len)
{
	size_t end = strlen(events), i;

	if (result == FRAME_TOO_LARGE) {
		ck_assert_uint_gt(len, LIMIT);
		memcpy(events + end, "!", 2);
		return;
	}
	ck_assert_int_eq(line[len], '\0');
	ck_assert_uint_gt(len, 0);
	ck_assert_uint_le(len, LIMIT);
	for (i = 0; i < len; i++)
		events[end + i] = line[i] ? line[i] : '0';
	memcpy(events + end + len, "|", 2);
}

static void
feed(struct frame *frame, const char *data, size_t len, char *events)
{
	enum frame_result result;
	char *line;
	size_t n;

	ck_assert_int_eq(frame_append(frame, data, len), 0);
	while ((result = frame_next(frame, &line, &n)) != FRAME_MORE)
		add_event(events, result, line, n);
	ck_assert_uint_le(frame_pending(frame), LIMIT + 1);
}

START_TEST(pieces_of_every_size)
{
	size_t i, len, piece, at, n;
	enum frame_result result;
	struct frame *frame;
	char events[256], *line;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		len = cases[i].len ? cases[i].len : strlen(cases[i].stream);
		for (piece = 1; piece <= len + 1; piece++) {
			events[0] = '\0';
			ck_assert_int_eq(frame_new(LIMIT, &frame), 0);
			for (at = 0; at < len; at += n) {
				n = len - at < piece ? len - at : piece;
				feed(frame, cases[i].stream + at, n, events);
			}
			while ((result = frame_finish(frame, &line, &n)) != FRAME_MORE)
				add_event(events, result, line, n);
			ck_assert_msg(strcmp(events, cases[i].events) == 0,
			    "case %zu in pieces of %zu: %s", i, piece, events);
			ck_assert_uint_eq(frame_pending(frame), 0);
			frame_free(frame);
		}
	}
}
END_TEST

START_TEST(length_of_a_line_too_large)
{
	struct frame *frame;
	char *line = NULL;
	size_t len = 0;

	ck_assert_int_eq(frame_new(4, &frame), 0);
	ck_assert_int_eq(frame_append(frame, "1234567890\n", 11), 0);
	ck_assert_int_eq(frame_next(frame, &line, &len), FRAME_TOO_LARGE);
	ck_assert_uint_eq(len, 10);
	ck_assert_int_eq(frame_append(frame, "12345", 5), 0);
	ck_assert_int_eq(frame_next(frame, &line, &len), FRAME_TOO_LARGE);
	ck_assert_uint_eq(len, 5);
	ck_assert_uint_eq(frame_pending(frame), 0);
	/* told once */
	ck_assert_int_eq(frame_append(frame, "67890", 5), 0);
	ck_assert_int_eq(frame_next(frame, &line, &len), FRAME_MORE);
	ck_assert_int_eq(frame_append(frame, "\nok\n", 4), 0);
	ck_assert_int_eq(frame_next(frame, &line, &len), FRAME_LINE);
	ck_assert_str_eq(line, "ok");
	ck_assert_int_eq(frame_next(frame, &line, &len), FRAME_MORE);
	frame_free(frame);
}
END_TEST

START_TEST(pending_counts_what_is_held)
{
	struct frame *frame;
	char *line;
	size_t len;

	ck_assert_int_eq(frame_new(100, &frame), 0);
	ck_assert_uint_eq(frame_pending(frame), 0);
	ck_assert_int_eq(frame_append(frame, NULL, 0), 0);
	ck_assert_int_eq(frame_next(frame, &line, &len), FRAME_MORE);
	ck_assert_int_eq(frame_append(frame, "ab\ncd\nef", 8), 0);
	ck_assert_uint_eq(frame_pending(frame), 8);
	ck_assert_int_eq(frame_next(frame, &line, &len), FRAME_LINE);
	ck_assert_str_eq(line, "ab");
	ck_assert_uint_eq(frame_pending(frame), 5);
	ck_assert_int_eq(frame_next(frame, &line, &len), FRAME_LINE);
	ck_assert_str_eq(line, "cd");
	ck_assert_int_eq(frame_next(frame, &line, &len), FRAME_MORE);
	ck_assert_uint_eq(frame_pending(frame), 2);
	frame_free(frame);
	frame_free(NULL);
}
END_TEST

/*
 * The loops below count what is wrong, since an assertion that holds costs Check a
 * write.
 *
 * Were each byte searched or moved again for each that follows, this would not end.
 */
START_TEST(a_long_line_byte_by_byte)
{
	const size_t total = 2u << 20;
	unsigned int wrong = 0;
	struct frame *frame;
	size_t i, len;
	char *line;

	ck_assert_int_eq(frame_new(total, &frame), 0);
	/* something short first, so that the long line does not begin at the front */
	ck_assert_int_eq(frame_append(frame, "a\nx", 3), 0);
	ck_assert_int_eq(frame_next(frame, &line, &len), FRAME_LINE);
	for (i = 1; i < total; i++) {
		wrong += frame_append(frame, "x", 1) != 0;
		wrong += frame_next(frame, &line, &len) != FRAME_MORE;
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_int_eq(frame_append(frame, "\n", 1), 0);
	ck_assert_int_eq(frame_next(frame, &line, &len), FRAME_LINE);
	ck_assert_uint_eq(len, total);
	frame_free(frame);
}
END_TEST

/* One line out for one in, with a lot held in between. */
START_TEST(a_queue_of_lines)
{
	const unsigned int held = 200000, more = 400000;
	struct frame *frame;
	unsigned int i, wrong = 0;
	size_t len = 0;
	char *line;

	ck_assert_int_eq(frame_new(100, &frame), 0);
	for (i = 0; i < held; i++)
		wrong += frame_append(frame, "abc\n", 4) != 0;
	for (i = 0; i < more; i++) {
		wrong += frame_append(frame, "abc\n", 4) != 0;
		wrong += frame_next(frame, &line, &len) != FRAME_LINE || len != 3;
	}
	for (i = 0; i < held; i++)
		wrong += frame_next(frame, &line, &len) != FRAME_LINE || len != 3;
	ck_assert_uint_eq(wrong, 0);
	ck_assert_int_eq(frame_next(frame, &line, &len), FRAME_MORE);
	frame_free(frame);
}
END_TEST

/* Hundreds of megabytes that are one line cost no memory. */
START_TEST(an_endless_line)
{
	static char piece[65536];
	struct frame *frame;
	unsigned int i, told = 0, wrong = 0;
	size_t len;
	char *line;

	memset(piece, 'x', sizeof(piece));
	ck_assert_int_eq(frame_new(LIMIT, &frame), 0);
	for (i = 0; i < 5000; i++) {
		wrong += frame_append(frame, piece, sizeof(piece)) != 0;
		told += frame_next(frame, &line, &len) == FRAME_TOO_LARGE;
		wrong += frame_pending(frame) != 0;
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_eq(told, 1);
	ck_assert_int_eq(frame_finish(frame, &line, &len), FRAME_MORE);
	frame_free(frame);
}
END_TEST

START_TEST(no_memory)
{
	struct frame *frame;
	char *line;
	size_t len;

	ck_assert_int_eq(frame_new(SIZE_MAX, &frame), 0);
	ck_assert_int_eq(frame_append(frame, "ab", 2), 0);
	/* Nothing is read from the data of a size that cannot be. */
	ck_assert_int_lt(frame_append(frame, "x", SIZE_MAX - 2), 0);
	ck_assert_int_eq(frame_append(frame, "c\n", 2), 0);
	ck_assert_int_eq(frame_next(frame, &line, &len), FRAME_LINE);
	ck_assert_str_eq(line, "abc");
	frame_free(frame);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("frame");
	TCase *tcase = tcase_create("frame");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, pieces_of_every_size);
	tcase_add_test(tcase, length_of_a_line_too_large);
	tcase_add_test(tcase, pending_counts_what_is_held);
	tcase_add_test(tcase, a_long_line_byte_by_byte);
	tcase_add_test(tcase, a_queue_of_lines);
	tcase_add_test(tcase, an_endless_line);
	tcase_add_test(tcase, no_memory);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
