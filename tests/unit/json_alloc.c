/* SPDX-License-Identifier: BSD-3-Clause */
/* The allocator with faults that jansson gets in tests. */
#include <config.h>

#include "tests/unit/json_alloc.h"

#include <stdlib.h>

#include <jansson.h>

static unsigned long countdown;
static bool failed;
static long live;

static void *
counting_malloc(size_t size)
{
	void *block;

	if (countdown > 0 && --countdown == 0) {
		failed = true;
		return NULL;
	}
	block = malloc(size);
	if (block)
		live++;
	return block;
}

static void
counting_free(void *block)
{
	if (block)
		live--;
	free(block);
}

void
json_alloc_install(void)
{
	json_set_alloc_funcs(counting_malloc, counting_free);
}

void
json_alloc_fail_at(unsigned long nth)
{
	countdown = nth;
	failed = false;
}

bool
json_alloc_failed(void)
{
	return failed;
}

long
json_alloc_live(void)
{
	return live;
}
