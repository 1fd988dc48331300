/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon as a whole: what it is made of, in the order of making, and its life. */
#ifndef RPMAD_DAEMON_DAEMON_H
#define RPMAD_DAEMON_DAEMON_H

#include "daemon/settings.h"
#include "lib/core/err.h"

struct daemon;

/*
 * Make everything and serve from now on.
 *
 * settings  borrowed for the daemon's life; a reload changes them
 * file      what a reload reads, see settings_file(); borrowed likewise
 * return    0; ERR_ALREADY_EXISTS: another one serves this control socket;
 *           ERR_INVALID_PARAMS and the errors of engine_new(): the configuration cannot
 *           work here; other negative errno
 */
RPMAD_MUST_USE int daemon_new(struct settings *settings, const char *file,
    struct daemon **out, struct err *err);

/*
 * Run until SIGTERM, SIGINT or daemon.stop: connections are drained then, for 4.5 s at
 * the most; a second signal ends it at once. SIGHUP reloads.
 * return   0; -EIO the event loop failed
 */
RPMAD_MUST_USE int daemon_run(struct daemon *daemon);

/* The configuration keeps one from being made: log what that costs, if anything. */
void daemon_not_started(void);

/* NULL is fine. */
void daemon_free(struct daemon *daemon);

#endif
