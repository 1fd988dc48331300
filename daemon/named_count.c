/* SPDX-License-Identifier: BSD-3-Clause */
/* A short list searched by name: it is touched when something ends, not for each
 * message. */
#include <config.h>

#include "daemon/named_count.h"

#include <stdio.h>
#include <string.h>

void
named_counts_add(struct named_counts *counts, const char *name)
{
	struct engine_named_count *row;
	size_t i;

	for (i = 0; i < counts->count; i++) {
		row = &counts->list[i];
		if (strcmp(row->name, name) == 0) {
			row->count++;
			return;
		}
	}
	if (counts->count == ENGINE_NAMED_MAX) {
		row = &counts->list[ENGINE_NAMED_MAX - 1];
		(void)snprintf(row->name, sizeof(row->name), "other");
	} else {
		row = &counts->list[counts->count++];
		(void)snprintf(row->name, sizeof(row->name), "%s", name);
	}
	row->count++;
}
