/* SPDX-License-Identifier: BSD-3-Clause */
/* What top makes of two looks; expected values are worked out by hand. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "ctl/top.h"
#include "tests/unit/harness.h"
#include "tests/unit/top_rig.h"

START_TEST(rates)
{
	ck_assert_uint_eq(top_rate(0, 1000, 1000), 1000);
	ck_assert_uint_eq(top_rate(100, 350, 500), 500);
	ck_assert_uint_eq(top_rate(0, 1, 3000), 0); /* a third */
	ck_assert_uint_eq(top_rate(0, 2000, 1500), 1333);
	ck_assert_uint_eq(top_rate(7, 7, 1000), 0);
	ck_assert_uint_eq(top_rate(5, 4, 1000), 0);
	ck_assert_uint_eq(top_rate(0, 5, 0), 0);
	/* 2^53 bytes a millisecond do not overflow. */
	ck_assert_uint_eq(top_rate(0, UINT64_C(9007199254740992), 1),
	    UINT64_C(9007199254740992000));
}
END_TEST

START_TEST(percentiles)
{
	struct top_histogram h = { .count = 12,
		.buckets = 3,
		.bounds = { 10, 20, 30 },
		.counts = { 5, 9, 10 } };

	ck_assert_uint_eq(top_percentile(&h, 41), 10);         /* 4.92: the 5th */
	ck_assert_uint_eq(top_percentile(&h, 50), 20);         /* the 6th */
	ck_assert_uint_eq(top_percentile(&h, 75), 20);         /* the 9th */
	ck_assert_uint_eq(top_percentile(&h, 76), 30);         /* 9.12: the 10th */
	ck_assert_uint_eq(top_percentile(&h, 84), UINT64_MAX); /* 10.08: the 11th */
	ck_assert_uint_eq(top_percentile(&h, 100), UINT64_MAX);
	h.count = 10;
	ck_assert_uint_eq(top_percentile(&h, 100), 30);
	h = (struct top_histogram){
		.count = 1, .buckets = 1, .bounds = { 8 }, .counts = { 1 }
	};
	ck_assert_uint_eq(top_percentile(&h, 50), 8);
	ck_assert_uint_eq(top_percentile(&h, 99), 8);
	/* 990 of 1000 are in the first bucket. */
	h = (struct top_histogram){ .count = 1000,
		.buckets = 2,
		.bounds = { 8, 16 },
		.counts = { 990, 1000 } };
	ck_assert_uint_eq(top_percentile(&h, 99), 8);
	h.counts[0] = 989;
	ck_assert_uint_eq(top_percentile(&h, 99), 16);
}
END_TEST

static void
check_share(const uint64_t slots[TOP_SLOTS_COUNT], unsigned int cells, unsigned int a,
    unsigned int b, unsigned int c, unsigned int d)
{
	unsigned int out[TOP_SLOTS_COUNT];

	top_share(slots, cells, out);
	ck_assert_msg(out[0] == a && out[1] == b && out[2] == c && out[3] == d,
	    "%u %u %u %u", out[0], out[1], out[2], out[3]);
}

START_TEST(bar)
{
	unsigned int cells, out[TOP_SLOTS_COUNT];
	uint64_t n;
	size_t i;

	check_share((const uint64_t[]){ 0, 0, 0, 0 }, 80, 0, 0, 0, 0);
	check_share((const uint64_t[]){ 0, 0, 0, 9 }, 80, 0, 0, 0, 80);
	check_share((const uint64_t[]){ 1, 0, 1000, 0 }, 10, 1, 0, 9, 0);
	check_share((const uint64_t[]){ 1, 1, 1, 997 }, 4, 1, 1, 1, 1);
	check_share((const uint64_t[]){ 1, 1, 1, 0 }, 10, 4, 3, 3, 0);
	/* 0.47, 0.16, 77.52 and 1.86 cells. */
	check_share((const uint64_t[]){ 3, 1, 500, 12 }, 80, 1, 1, 77, 1);
	/* 1.5, 0, 0.5, 6: the first that lacks half a cell gets it, the other has more. */
	check_share((const uint64_t[]){ 3, 0, 1, 12 }, 8, 1, 0, 1, 6);
	for (cells = 4; cells <= 300; cells++) {
		for (n = 1; n < 5000000; n = n * 7 + 3) {
			const uint64_t slots[] = { n, 1, n / 2, 5000 };
			unsigned int sum = 0;

			top_share(slots, cells, out);
			for (i = 0; i < TOP_SLOTS_COUNT; i++) {
				sum += out[i];
				ck_assert((out[i] > 0) == (slots[i] > 0));
			}
			ck_assert_uint_eq(sum, cells);
		}
	}
}
END_TEST

START_TEST(between_two_looks)
{
	struct top top = { 0 };

	top_rig_two_looks(&top);
	ck_assert(top.has_rates);
	ck_assert_uint_eq(top.message_rate, 500); /* 1000 in 2 s */
	ck_assert_uint_eq(top.byte_rate, 32000);
	ck_assert(!top.was_empty);
	ck_assert_uint_eq(top.rates, 1);
	ck_assert_uint_eq(top.message_rates[0], 500);
	/* 50, 40 and 9 values, and one above. */
	ck_assert_uint_eq(top.queue.count, 100);
	ck_assert_uint_eq(top_percentile(&top.queue, 50), 1024);
	ck_assert_uint_eq(top_percentile(&top.queue, 90), 4096);
	ck_assert_uint_eq(top_percentile(&top.queue, 99), 16384);
	ck_assert_uint_eq(top_percentile(&top.queue, 100), UINT64_MAX);
	ck_assert_uint_eq(top.hold.count, 0);
	ck_assert_uint_eq(top.now.conn_count, 3);
	ck_assert_uint_eq(top.now.conns[0].id, 1);
	ck_assert_uint_eq(top.now.conns[0].message_rate, 50);
	ck_assert_uint_eq(top.now.conns[0].byte_rate, 3200);
	ck_assert_uint_eq(top.now.conns[0].age_ms, 9500);
	ck_assert_uint_eq(top.now.conns[1].message_rate, 150);
	/* It is new: all of its messages came since. */
	ck_assert_uint_eq(top.now.conns[2].message_rate, 300);
	top_rig_look(&top, 3500, STATUS("42", "7500", ""),
	    STATS("1110", "70000", "5000", NONE, NONE), "");
	ck_assert_uint_eq(top.message_rate, 20);
	ck_assert_uint_eq(top.byte_rate, 0); /* it went back */
	ck_assert_uint_eq(top.queue.count, 0);
	ck_assert(top.was_empty);
	ck_assert_uint_eq(top.rates, 2);
	top_clear(&top);
}
END_TEST

/* Another process, or one with the same number that is younger. */
START_TEST(restarted)
{
	static const char *const after[] = { STATUS("43", "9000", ""),
		STATUS("42", "100", "") };
	struct top_look picture = { .width = 80, .height = 24, .interval_ms = 1000 };
	struct top top = { 0 };
	struct buf buf = { 0 };

	top_rig_two_looks(&top);
	top_rig_look(&top, 5000, after[_i], STATS("3", "30", "0", NONE, NONE),
	    CONN("1", "3", "30", "3", "06"));
	ck_assert(!top.has_rates);
	ck_assert_uint_eq(top.message_rate, 0);
	ck_assert_uint_eq(top.byte_rate, 0);
	ck_assert_uint_eq(top.queue.count, 0);
	ck_assert_uint_eq(top.now.conns[0].message_rate, 0);
	ck_assert_uint_eq(top.rates, 1); /* from before */
	(void)top_draw(&top, &picture, &buf);
	ck_assert_ptr_nonnull(strstr(buf_text(&buf), "\nmessages/s           -  "));
	ck_assert_ptr_nonnull(strstr(buf_text(&buf),
	    "\n    1        -          -         3      3"));
	buf_free(&buf);
	top_clear(&top);
}
END_TEST

START_TEST(history_is_of_the_newest)
{
	char stats[1024], status[512];
	struct top top = { 0 };
	unsigned int i;

	/* The i-th rate is i messages a second. */
	for (i = 0; i <= TOP_HISTORY + 5; i++) {
		(void)snprintf(stats, sizeof(stats), "{'recv':{'messages_total':%u}}",
		    i * (i + 1) / 2);
		(void)snprintf(status, sizeof(status), "{'pid':1,'uptime_ms':%u}", i);
		top_rig_look(&top, 1000 + i * 1000, status, stats, "");
	}
	ck_assert_uint_eq(top.rates, TOP_HISTORY);
	ck_assert_uint_eq(top.message_rates[TOP_HISTORY - 1], TOP_HISTORY + 5);
	ck_assert_uint_eq(top.message_rates[0], 6);
	top_clear(&top);
}
END_TEST

START_TEST(orders)
{
	static const uint64_t wanted[TOP_SORT_COUNT][3] = {
		[TOP_SORT_RATE] = { 3, 2, 1 },
		[TOP_SORT_MESSAGES] = { 3, 2, 1 },
		[TOP_SORT_HELD] = { 3, 1, 2 },
		[TOP_SORT_AGE] = { 1, 2, 3 },
		[TOP_SORT_ID] = { 1, 2, 3 },
	};
	struct top top = { 0 };
	size_t i;

	top_rig_two_looks(&top);
	top_sort(&top.now, (enum top_sort)_i);
	for (i = 0; i < 3; i++)
		ck_assert_uint_eq(top.now.conns[i].id, wanted[_i][i]);
	ck_assert_ptr_nonnull(top_sort_names[_i]);
	ck_assert_ptr_null(top_sort_names[TOP_SORT_COUNT]);
	top_clear(&top);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("top");
	TCase *tcase = tcase_create("top");

	tcase_add_test(tcase, rates);
	tcase_add_test(tcase, percentiles);
	tcase_add_test(tcase, bar);
	tcase_add_test(tcase, between_two_looks);
	tcase_add_loop_test(tcase, restarted, 0, 2);
	tcase_add_test(tcase, history_is_of_the_newest);
	tcase_add_loop_test(tcase, orders, 0, TOP_SORT_COUNT);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
