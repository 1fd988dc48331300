/* SPDX-License-Identifier: BSD-3-Clause */
/* Histograms against the definition: a value counts in the first bucket whose bound it does not exceed. */
#include <config.h>

#include "lib/core/histogram.h"

#include <string.h>

#include "lib/core/compiler.h"
#include "tests/unit/harness.h"

static const struct histogram_scale widest = { .first = 0, .step = 7, .buckets = 10 };
static const struct histogram_scale one = { .first = 63, .step = 1, .buckets = 1 };
static const struct histogram_scale *const scales[] = { &histogram_bytes, &histogram_ns,
	&widest, &one };

static unsigned int
bucket_of(const struct histogram *histogram, uint64_t value)
{
	unsigned int i;

	for (i = 0; i < histogram->scale->buckets; i++)
		if (value <= histogram_bound(histogram, i))
			break;
	return i;
}

/* Add a value to an empty histogram: it is in its bucket, and in no other. */
static void
check_value(const struct histogram_scale *scale, uint64_t value)
{
	struct histogram histogram = { .scale = scale };
	const unsigned int wanted = bucket_of(&histogram, value);
	unsigned int i;

	histogram_add(&histogram, value);
	for (i = 0; i <= scale->buckets; i++)
		ck_assert_msg(histogram_bucket(&histogram, i) == (i == wanted ? 1 : 0),
		    "%llu in bucket %u", (unsigned long long)value, i);
	ck_assert_uint_eq(histogram_count(&histogram), 1);
	ck_assert_uint_eq(histogram.sum, value);
}

START_TEST(every_bound)
{
	const struct histogram_scale *scale = scales[_i];
	const struct histogram histogram = { .scale = scale };
	unsigned int i;

	check_value(scale, 0);
	check_value(scale, 1);
	check_value(scale, UINT64_MAX);
	for (i = 0; i < scale->buckets; i++) {
		const uint64_t bound = histogram_bound(&histogram, i);

		ck_assert_uint_eq(bound,
		    UINT64_C(1) << (scale->first + i * scale->step));
		check_value(scale, bound - 1);
		check_value(scale, bound);
		check_value(scale, bound + 1);
	}
}
END_TEST

START_TEST(ranges)
{
	const struct histogram bytes = { .scale = &histogram_bytes };
	const struct histogram ns = { .scale = &histogram_ns };

	ck_assert_uint_le(histogram_bytes.buckets, HISTOGRAM_BUCKETS_MAX);
	ck_assert_uint_le(histogram_ns.buckets, HISTOGRAM_BUCKETS_MAX);
	ck_assert_uint_eq(histogram_bound(&bytes, 0), 64);
	ck_assert_uint_eq(histogram_bound(&bytes, histogram_bytes.buckets - 1),
	    2097152);
	ck_assert_uint_eq(histogram_bound(&ns, 0), 1024);
	ck_assert_uint_ge(histogram_bound(&ns, histogram_ns.buckets - 1),
	    UINT64_C(1000000000) * 600);
}
END_TEST

START_TEST(many_values)
{
	struct histogram histogram = { .scale = &histogram_bytes };
	uint64_t total = 0;
	unsigned int i;

	for (i = 0; i < 1000; i++)
		histogram_add(&histogram, i);
	for (i = 0; i <= histogram_bytes.buckets; i++)
		total += histogram_bucket(&histogram, i);
	ck_assert_uint_eq(total, 1000);
	ck_assert_uint_eq(histogram_count(&histogram), 1000);
	ck_assert_uint_eq(histogram.sum, 1000 * 999 / 2);
	ck_assert_uint_eq(histogram_bucket(&histogram, 0), 65);  /* 0 .. 64 */
	ck_assert_uint_eq(histogram_bucket(&histogram, 1), 64);  /* 65 .. 128 */
	ck_assert_uint_eq(histogram_bucket(&histogram, 4), 487); /* 513 .. 999 */
}
END_TEST

/* Values in a row are what they are one by one. */
START_TEST(runs)
{
	static const uint64_t values[] = { 0, 0, 3, 3, 3, 0, 100, 1 << 30, 1 << 30, 7 };
	struct histogram one_by_one = { .scale = &histogram_bytes };
	struct histogram at_once = { .scale = &histogram_bytes };
	struct histogram_run run = { .histogram = &at_once };
	size_t i;

	for (i = 0; i < ARRAY_LEN(values); i++) {
		histogram_add(&one_by_one, values[i]);
		histogram_run_add(&run, values[i]);
		if (i == 5)
			histogram_run_end(&run);
	}
	histogram_run_end(&run);
	histogram_run_end(&run);
	ck_assert_int_eq(memcmp(&one_by_one, &at_once, sizeof(at_once)), 0);
	ck_assert_uint_eq(histogram_count(&at_once), ARRAY_LEN(values));
	ck_assert_uint_eq(at_once.powers[30], 2);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("histogram");
	TCase *tcase = tcase_create("histogram");

	tcase_add_loop_test(tcase, every_bound, 0, (int)ARRAY_LEN(scales));
	tcase_add_test(tcase, ranges);
	tcase_add_test(tcase, many_values);
	tcase_add_test(tcase, runs);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
