/* SPDX-License-Identifier: BSD-3-Clause */
/* Histograms against the definition: a value counts in the first bucket whose bound it does not exceed. */
#include <config.h>

#include "lib/core/histogram.h"

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
	for (i = 0; i <= HISTOGRAM_BUCKETS_MAX; i++)
		ck_assert_msg(histogram.counts[i] == (i == wanted ? 1 : 0),
		    "%llu in bucket %u", (unsigned long long)value, i);
	ck_assert_uint_eq(histogram.count, 1);
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
		total += histogram.counts[i];
	ck_assert_uint_eq(total, 1000);
	ck_assert_uint_eq(histogram.count, 1000);
	ck_assert_uint_eq(histogram.sum, 1000 * 999 / 2);
	ck_assert_uint_eq(histogram.counts[0], 65);  /* 0 .. 64 */
	ck_assert_uint_eq(histogram.counts[1], 64);  /* 65 .. 128 */
	ck_assert_uint_eq(histogram.counts[4], 487); /* 513 .. 999 */
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
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
