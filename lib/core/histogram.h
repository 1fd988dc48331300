/* SPDX-License-Identifier: BSD-3-Clause */
/* How often which sizes and times occurred: buckets whose bounds are powers of two. */
#ifndef RPMAD_LIB_CORE_HISTOGRAM_H
#define RPMAD_LIB_CORE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BUCKETS_MAX 16u

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
	uint64_t
	    counts[HISTOGRAM_BUCKETS_MAX + 1]; /* [buckets]: above the last bound */
	uint64_t count;                        /* of all values */
	uint64_t sum;
};

/* Sizes of messages, 64 bytes to 2 MiB. */
extern const struct histogram_scale histogram_bytes;
/* Nanoseconds, about 1 us to 18 minutes. */
extern const struct histogram_scale histogram_ns;

void histogram_add(struct histogram *histogram, uint64_t value);
/* The upper bound of a bucket, itself included; bucket < buckets. */
uint64_t histogram_bound(const struct histogram *histogram, unsigned int bucket);

#endif
