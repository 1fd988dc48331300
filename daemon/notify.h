/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service manager: what it is told (sd_notify(3)) and the socket it may hand over
 * (sd_listen_fds(3)). Without one, and in builds without libsystemd, telling does
 * nothing.
 */
#ifndef RPMAD_DAEMON_NOTIFY_H
#define RPMAD_DAEMON_NOTIFY_H

#include "lib/core/compiler.h"
#include "lib/core/err.h"

struct loop;
struct notify;

/* Feeds the watchdog from now on where the manager wants it. return   0; -ENOMEM */
RPMAD_MUST_USE int notify_new(struct loop *loop, struct notify **out);
/* NULL is fine. */
void notify_free(struct notify *notify);

void notify_ready(void);
void notify_stopping(void);
/* One line for people. */
void notify_status(const char *fmt, ...) RPMAD_PRINTF(1, 2);

/*
 * The listening socket handed over to this process (LISTEN_PID, LISTEN_FDS); the
 * variables are unset.
 *
 * return   0 and *fd, -1: none was; ERR_INVALID_PARAMS: more than one, or no listening
 *          AF_UNIX stream socket
 */
RPMAD_MUST_USE int notify_take_socket(int *fd, struct err *err);

#endif
