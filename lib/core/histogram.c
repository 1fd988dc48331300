/* SPDX-License-Identifier: BSD-3-Clause */
/* How often which sizes and times occurred. */
#include <config.h>

#include "lib/core/histogram.h"

const struct histogram_scale histogram_bytes = { .first = 6, .step = 1, .buckets = 16 };
const struct histogram_scale histogram_ns = { .first = 10, .step = 2, .buckets = 16 };

/* The least n with value <= 1 << n. */
static unsigned int
log2_up(uint64_t value)
{
	return value <= 1 ? 0 : 64 - (unsigned int)__builtin_clzll(value - 1);
}

void
histogram_add(struct histogram *histogram, uint64_t value)
{
	const struct histogram_scale *scale = histogram->scale;
	const unsigned int log2 = log2_up(value);
	unsigned int bucket = 0;

	if (log2 > scale->first)
		bucket = (log2 - scale->first + scale->step - 1) / scale->step;
	if (bucket > scale->buckets)
		bucket = scale->buckets;
	histogram->counts[bucket]++;
	histogram->count++;
	histogram->sum += value;
}

uint64_t
histogram_bound(const struct histogram *histogram, unsigned int bucket)
{
	return UINT64_C(1) << (histogram->scale->first +
		   bucket * histogram->scale->step);
}
