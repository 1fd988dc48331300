/* SPDX-License-Identifier: BSD-3-Clause */
/* poll --in-place: payload read in the daemon's memory. */
#ifndef RPMAD_CTL_RUN_IN_PLACE_H
#define RPMAD_CTL_RUN_IN_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct ctl;

struct in_place_options {
	uint64_t count;   /* messages at the most */
	uint64_t wait_ms; /* for the first, unless following */
	bool is_follow;
	bool is_length_prefix;
};

/*
 * Take messages, write their bytes, then acknowledge.
 * return   the exit status
 */
int in_place_run(struct ctl *ctl, const struct in_place_options *options);

#endif
