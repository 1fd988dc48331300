/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service manager: what it is told (sd_notify(3)), what it may hand over
 * (sd_listen_fds(3)), and what it keeps. Without one, and in builds without libsystemd, telling does
 * nothing; notify_lack() says so of such a build.
 */
#ifndef RPMAD_DAEMON_NOTIFY_H
#define RPMAD_DAEMON_NOTIFY_H

#include <stddef.h>

#include "lib/core/compiler.h"
#include "lib/core/err.h"

struct loop;
struct notify;

/* What a manager misses in this build and what to do about it, for people; NULL: nothing. */
const char *notify_lack(void);

/*
 * Feeds the watchdog from now on where the manager wants it. One that waits for word that this
 * build cannot give is told of in the log, since the start would end by its time-out.
 * return   0; -ENOMEM
 */
RPMAD_MUST_USE int notify_new(struct loop *loop, struct notify **out);
/* NULL is fine. */
void notify_free(struct notify *notify);

void notify_ready(void);
/* The start takes long, and goes on: the manager waits NOTIFY_BUSY_S seconds from now. */
void notify_busy(void);
#define NOTIFY_BUSY_S 30
void notify_stopping(void);
/* One line for people. */
void notify_status(const char *fmt, ...) RPMAD_PRINTF(1, 2);

#define NOTIFY_KEPT_MAX 64u
#define NOTIFY_NAME_MAX 64u /* characters of a name with its NUL */

/* What was handed over to this process. */
struct notify_fds {
	int socket; /* the listening control socket; -1: none */
	struct {
		int fd;
		char name[NOTIFY_NAME_MAX];
	} kept[NOTIFY_KEPT_MAX]; /* memory that an earlier process had kept */
	size_t kept_count;
};

/*
 * The descriptors handed over to this process (LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES);
 * the variables are unset.
 *
 * return   0; ERR_INVALID_PARAMS: more than one socket, one that is no listening AF_UNIX
 *          stream socket, or more than NOTIFY_KEPT_MAX others
 */
RPMAD_MUST_USE int notify_take_fds(struct notify_fds *out, struct err *err);

/*
 * Have the manager keep descriptors over the end of this process, under one name, which
 * others may have too. All at once: none is there without the others.
 * return   1: they were handed to it, which says nothing back: it drops what its
 *          FileDescriptorStoreMax= has no room for; 0: there is none, or it says that it
 *          keeps nothing ($FDSTORE, since systemd 254); -errno: they could not be handed over
 */
RPMAD_MUST_USE int notify_keep(const char *name, const int *fds, unsigned int count);
/* Have it close all that it keeps under a name. */
void notify_unkeep(const char *name);

#endif
