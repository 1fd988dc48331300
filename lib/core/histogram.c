/* SPDX-License-Identifier: BSD-3-Clause */
/* How often which sizes and times occurred. */
#include <config.h>

#include "lib/core/histogram.h"

const struct histogram_scale histogram_bytes = { .first = 6, .step = 1, .buckets = 16 };
const struct histogram_scale histogram_ns = { .first = 10, .step = 2, .buckets = 16 };

void
histogram_add_many(struct histogram *histogram, uint64_t value, uint64_t count)
{
	const unsigned int power =
	    value <= 1 ? 0 : 64 - (unsigned int)__builtin_clzll(value - 1);

	histogram->powers[power] += count;
	histogram->sum += value * count;
}

uint64_t
histogram_count(const struct histogram *histogram)
{
	uint64_t count = 0;
	unsigned int power;

	for (power = 0; power < HISTOGRAM_POWERS; power++)
		count += histogram->powers[power];
	return count;
}

uint64_t
histogram_bucket(const struct histogram *histogram, unsigned int bucket)
{
	const struct histogram_scale *scale = histogram->scale;
	const unsigned int last = scale->first + bucket * scale->step;
	unsigned int power = bucket == 0 ? 0 : last - scale->step + 1;
	uint64_t count = 0;

	for (; power < HISTOGRAM_POWERS && (bucket == scale->buckets || power <= last);
	     power++)
		count += histogram->powers[power];
	return count;
}

uint64_t
histogram_bound(const struct histogram *histogram, unsigned int bucket)
{
	return UINT64_C(1) << (histogram->scale->first +
		   bucket * histogram->scale->step);
}
