/* SPDX-License-Identifier: BSD-3-Clause */
/* How often which sizes and times occurred: buckets whose bounds are powers of two. */
#ifndef RPMAD_LIB_CORE_HISTOGRAM_H
#define RPMAD_LIB_CORE_HISTOGRAM_H

#include <stdint.h>

#include "lib/core/compiler.h"

#define HISTOGRAM_BUCKETS_MAX 16u
#define HISTOGRAM_POWERS      65u /* 1 << 0 .. 1 << 63, and what is more */

/* Which buckets there are: the upper bounds are 1 << (first + i * step), i < buckets. */
struct histogram_scale {
	unsigned int first;
	unsigned int step; /* from 1 */
	unsigned int
	    buckets; /* 1 .. HISTOGRAM_BUCKETS_MAX; first + (buckets - 1) * step
				 <= 63 */
};

/* Zero-initialised but for scale, which outlives it. */
struct histogram {
	const struct histogram_scale *scale;
	/*
	 * [n]: how many values had 1 << n for the least power of two that is not below them.
	 * They are put together to buckets by who reads them.
	 */
	uint64_t powers[HISTOGRAM_POWERS];
	uint64_t sum;
};

/* Sizes of messages, 64 bytes to 2 MiB. */
extern const struct histogram_scale histogram_bytes;
/* Nanoseconds, about 1 us to 18 minutes. */
extern const struct histogram_scale histogram_ns;

/* Add a value count times. */
void histogram_add_many(struct histogram *histogram, uint64_t value, uint64_t count);

static inline void
histogram_add(struct histogram *histogram, uint64_t value)
{
	histogram_add_many(histogram, value, 1);
}

/*
 * Equal values in a row, which are counted at once: what is taken together is often of one size and
 * one time. Zero-initialised but for histogram.
 */
struct histogram_run {
	struct histogram *histogram;
	uint64_t value;
	uint64_t count;
};

static inline void
histogram_run_add(struct histogram_run *run, uint64_t value)
{
	if (RPMAD_UNLIKELY(value != run->value)) {
		histogram_add_many(run->histogram, run->value, run->count);
		run->value = value;
		run->count = 0;
	}
	run->count++;
}

/* Only now all are in the histogram. */
static inline void
histogram_run_end(struct histogram_run *run)
{
	histogram_add_many(run->histogram, run->value, run->count);
	run->count = 0;
}

/* How many values there were in all. */
uint64_t histogram_count(const struct histogram *histogram);
/*
 * How many there were in a bucket: above the bound of the one before it, and not above its
 * own. buckets: above the last bound.
 */
uint64_t histogram_bucket(const struct histogram *histogram, unsigned int bucket);
/* The upper bound of a bucket, itself included; bucket < buckets. */
uint64_t histogram_bound(const struct histogram *histogram, unsigned int bucket);

#endif
