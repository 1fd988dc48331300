/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a long transfer is: a line on standard error that is written over, where that
 * is a terminal. */
#ifndef RPMAD_CTL_PROGRESS_H
#define RPMAD_CTL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool is_shown;    /* somebody can see it */
	bool is_on_line;  /* something is on the line */
	uint64_t total;   /* bytes; 0: unknown */
	uint64_t next_ms; /* CLOCK_MONOTONIC: not again before */
};

void progress_begin(struct progress *progress, uint64_t total);

/* Show it, unless that was done a moment ago. */
void progress_show(struct progress *progress, uint64_t bytes, uint64_t messages);

/* Leave an empty line for what comes next. */
void progress_end(struct progress *progress);

#endif
