/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters by a name from a bounded set of names. */
#ifndef RPMAD_DAEMON_NAMED_COUNT_H
#define RPMAD_DAEMON_NAMED_COUNT_H

#include <stddef.h>

#include "daemon/engine.h"

struct named_counts {
	struct engine_named_count list[ENGINE_NAMED_MAX];
	size_t count;
};

/* Count one. When the list is full, the last row stands for all further names. */
void named_counts_add(struct named_counts *counts, const char *name);

#endif
