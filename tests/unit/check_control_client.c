/* SPDX-License-Identifier: BSD-3-Clause */
/* One client of the control socket: half-closed, slow, silent, greedy. */
#include <config.h>

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/harness.h"
#include "tests/unit/socket_rig.h"

/* The last line needs no LF; replies are still written; then it ends. */
START_TEST(test_half_close)
{
	char text[64];
	int fd;

	rig.seen.answers = true;
	rig_start();
	fd = rig_connect();
	rig_put(fd, "one\ntwo");
	ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	rig_settle();
	ck_assert_int_eq(rig.seen.lines, 2);
	ck_assert_int_eq(rig.seen.written, 2);
	ck_assert_int_eq(rig.seen.closed, 1);
	ck_assert_int_eq(recv(fd, text, sizeof(text), 0), 8);
	ck_assert_int_eq(recv(fd, text, sizeof(text), 0), 0);
	(void)close(fd);
}
END_TEST

/* With a reply to come it is kept, without costing turns, until it hangs up quite. */
START_TEST(test_hold)
{
	struct loop_stats before, after;
	int fd;

	rig_start();
	fd = rig_connect();
	client_hold(rig.seen.client);
	rig_put(fd, "x");
	ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	rig_settle();
	ck_assert_int_eq(rig.seen.closed, 0);
	loop_get_stats(rig.loop, &before);
	ck_assert_int_eq(loop_turn(rig.loop, 30), 0);
	ck_assert_int_eq(loop_turn(rig.loop, 30), 0);
	loop_get_stats(rig.loop, &after);
	ck_assert_uint_eq(after.turns, before.turns + 2);
	ck_assert_int_eq(rig.seen.closed, 0);
	(void)close(fd);
	rig_settle();
	ck_assert_int_eq(rig.seen.closed, 1);
	ck_assert_uint_eq(rig_stats().dropped, 0);
	/* Released, it ends. */
	fd = rig_connect();
	client_hold(rig.seen.client);
	ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	rig_settle();
	ck_assert_int_eq(rig.seen.closed, 1);
	client_release(rig.seen.client);
	rig_settle();
	ck_assert_int_eq(rig.seen.closed, 2);
	(void)close(fd);
}
END_TEST

/* A client that does not read is not served any further, and goes on when it reads. */
START_TEST(test_pause)
{
	char *bytes = malloc(1048576);
	size_t total = 0;
	int fd, i, before;
	ssize_t n;

	rig.seen.answers = true;
	rig.seen.answer_size = 100000;
	rig_start();
	fd = rig_connect();
	for (i = 0; i < 40; i++)
		rig_put(fd, "x\n");
	rig_settle();
	before = rig.seen.lines;
	ck_assert_int_lt(before, 12);
	ck_assert_uint_le(client_unsent(rig.seen.client), CLIENT_PAUSE_BYTES + 100000);
	ck_assert(!control_is_drained(rig.control));
	rig_settle();
	ck_assert_int_eq(rig.seen.lines, before);
	while (total < 40 * 100000) {
		n = recv(fd, bytes, 1048576, 0);
		if (n > 0)
			total += (size_t)n;
		ck_assert_int_eq(loop_turn(rig.loop, 1), 0);
	}
	rig_settle();
	ck_assert_int_eq(rig.seen.lines, 40);
	ck_assert_int_eq(rig.seen.written, 40);
	ck_assert(control_is_drained(rig.control));
	free(bytes);
	(void)close(fd);
}
END_TEST

/* It asks, hangs up and reads nothing: all it asked is still done. */
START_TEST(test_served_after_close)
{
	int fd, i;

	rig.seen.answers = true;
	rig.seen.answer_size = 50000;
	rig_start();
	fd = rig_connect();
	for (i = 0; i < 60; i++)
		rig_put(fd, "x\n");
	(void)close(fd);
	/* However many turns that takes. */
	for (i = 0; i < 100 && rig.seen.closed == 0; i++)
		rig_run_ms(20);
	ck_assert_int_eq(rig.seen.lines, 60);
	ck_assert_int_eq(rig.seen.written + rig.seen.lost, 60);
	ck_assert_int_eq(rig.seen.closed, 1);
	ck_assert_uint_eq(rig_stats().dropped, 0);
}
END_TEST

static void
turn_until_lines(int lines)
{
	int i;

	for (i = 0; i < 1000 && rig.seen.lines < lines; i++)
		ck_assert_int_eq(loop_turn(rig.loop, 20), 0);
	ck_assert_int_eq(rig.seen.lines, lines);
}

/* A line that takes long keeps its client's next ones waiting, and nobody else. */
START_TEST(test_long_line)
{
	int one, other, i;

	rig_start();
	one = rig_connect();
	other = rig_connect();
	rig_settle();
	rig_put(one, RIG_LONG "\nnext\n");
	turn_until_lines(1);
	rig_put(other, "other\n");
	turn_until_lines(2);
	ck_assert_str_eq(rig.seen.last, "other");
	ck_assert_int_lt(rig.seen.mores_before, RIG_MORES);
	turn_until_lines(3);
	ck_assert_str_eq(rig.seen.last, "next");
	ck_assert_int_eq(rig.seen.mores_before, RIG_MORES);
	/* Whoever has gone meanwhile had asked for all of it. */
	rig_put(one, RIG_LONG "\n");
	turn_until_lines(4);
	(void)close(one);
	for (i = 0; i < 1000 && rig.seen.closed == 0; i++)
		ck_assert_int_eq(loop_turn(rig.loop, 20), 0);
	ck_assert_int_eq(rig.seen.mores, 2 * RIG_MORES);
	ck_assert_int_eq(rig.seen.closed, 1);
	(void)close(other);
}
END_TEST

START_TEST(test_stall)
{
	uint64_t start_ns;
	int fd, i;

	rig.seen.answers = true;
	rig.seen.answer_size = 1000000;
	rig.config.stall_ms = 1000;
	rig_start();
	fd = rig_connect();
	start_ns = loop_now_ns();
	rig_put(fd, "x\n");
	for (i = 0; i < 1000 && rig.seen.closed == 0; i++)
		rig_run_ms(20);
	ck_assert_uint_ge(loop_now_ns() - start_ns, 1000000000u);
	ck_assert_int_eq(rig.seen.closed, 1);
	ck_assert_int_eq(rig.seen.lost, 1);
	ck_assert_uint_eq(rig_stats().dropped, 1);
	(void)close(fd);
}
END_TEST

/* Slow progress is progress. */
START_TEST(test_slow_reader)
{
	char bytes[50000];
	int fd, i;

	rig.seen.answers = true;
	rig.seen.answer_size = 1000000;
	rig.config.stall_ms = 2000;
	rig_start();
	fd = rig_connect();
	rig_put(fd, "x\n");
	for (i = 0; i < 8; i++) {
		rig_run_ms(300);
		ck_assert_int_gt(recv(fd, bytes, sizeof(bytes), 0), 0);
	}
	ck_assert_int_eq(rig.seen.closed, 0);
	(void)close(fd);
}
END_TEST

START_TEST(test_drop)
{
	int fd, i;

	rig_start();
	fd = rig_connect();
	for (i = 0; i < 10 && rig.seen.lost == 0; i++)
		rig_answer(rig.seen.client, 1048576);
	ck_assert_int_eq(i, 6);               /* five fill more than 4 MiB */
	ck_assert_int_eq(rig.seen.closed, 0); /* never inside the call */
	rig_settle();
	ck_assert_int_eq(rig.seen.closed, 1);
	ck_assert_int_eq(rig.seen.lost, 6);
	ck_assert_uint_eq(rig_stats().dropped, 1);
	(void)close(fd);
}
END_TEST

/* One client with many lines does not keep the others waiting. */
START_TEST(test_fair)
{
	char many[4000];
	int a, b, i;

	rig_start();
	a = rig_connect();
	b = rig_connect();
	for (i = 0; i < 2000; i++)
		memcpy(many + i * 2, "a\n", 2);
	ck_assert_int_eq(send(a, many, sizeof(many), 0), (ssize_t)sizeof(many));
	rig_put(b, "bb\n");
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(loop_turn(rig.loop, 0), 0);
	ck_assert_int_lt(rig.seen.lines, 200);
	while (rig.seen.lines < 2001)
		ck_assert_int_eq(loop_turn(rig.loop, 0), 0);
	ck_assert_str_eq(rig.seen.last, "a"); /* b's came long before */
	(void)close(a);
	(void)close(b);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("control_client");
	TCase *tc = tcase_create("control_client");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, test_half_close);
	tcase_add_test(tc, test_hold);
	tcase_add_test(tc, test_pause);
	tcase_add_test(tc, test_served_after_close);
	tcase_add_test(tc, test_long_line);
	tcase_add_test(tc, test_stall);
	tcase_add_test(tc, test_slow_reader);
	tcase_add_test(tc, test_drop);
	tcase_add_test(tc, test_fair);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
