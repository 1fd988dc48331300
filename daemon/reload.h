/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration read once more, while the daemon runs. */
#ifndef RPMAD_DAEMON_RELOAD_H
#define RPMAD_DAEMON_RELOAD_H

#include <sys/types.h>

#include "daemon/settings_reload.h"

struct access;
struct rpc;

/* What a reload works on; all borrowed. */
struct reload {
	const char
	    *file; /* that was read before; NULL: the default one, if it is there now */
	struct settings *settings;
	struct access *access;
	gid_t socket_group;
	struct rpc *rpc;
};

/*
 * Read the file and take over what may change, see settings_reload.h; the log tells
 * which keys. Roles are resolved anew, for the clients that are there too.
 *
 * return   0 and *diff; with err, and everything as it was: ERR_CONFIG_INVALID the file
 *          cannot be read or is not valid, with the path of the key; ERR_INTERNAL_ERROR
 *          a fault of the system, see settings_is_fault()
 */
RPMAD_MUST_USE int reload_run(const struct reload *reload, struct settings_diff *diff,
    struct err *err);

#endif
