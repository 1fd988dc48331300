/* SPDX-License-Identifier: BSD-3-Clause */
/* The exit statuses of rpmactl, and which failure gives which. */
#ifndef RPMAD_CTL_EXIT_H
#define RPMAD_CTL_EXIT_H

#include "lib/core/err.h"

enum exit_status {
	EXIT_STATUS_OK,
	EXIT_STATUS_FAILED,
	EXIT_STATUS_USAGE,
	EXIT_STATUS_NO_DAEMON,
	EXIT_STATUS_TIMED_OUT,
	EXIT_STATUS_DENIED,
	EXIT_STATUS_NOT_FOUND,
	EXIT_STATUS_EXISTS,
	EXIT_STATUS_FULL,
	EXIT_STATUS_NOT_READY,
	EXIT_STATUS_DEVICE_GONE,
	EXIT_STATUS_PROTOCOL,
	EXIT_STATUS_NOTHING,
	EXIT_STATUS_COUNT
};

/* One line for the help and the manual. */
const char *exit_status_meaning(enum exit_status status);

/*
 * The status of a failed step.
 * rc    0, or the negative errno that ctl_call() or out_flush() returned
 * err   what came with it; it decides where rc says that the daemon refused
 */
enum exit_status exit_status_of(int rc, const struct err *err);

#endif
