/* SPDX-License-Identifier: BSD-3-Clause */
/* AF_UNIX stream sockets: listen without races, connect within a time. */
#ifndef RPMAD_LIB_CORE_USOCK_H
#define RPMAD_LIB_CORE_USOCK_H

#include <stdint.h>
#include <sys/types.h>

#include "lib/core/err.h"

/* A listening socket and the lock that says who owns its path. */
struct usock_listener {
	int fd;
	int lock_fd;
	char path[108]; /* "" when the socket was handed over by the service manager */
};

/*
 * Listen at path. A lock file path + ".lock" is held as long as the listener lives: one
 * that another process holds means that path is in use. A socket file that nobody owns
 * any more is replaced; a file that is no socket is left alone. The socket is made
 * under a umask that grants nothing, before bind, and gets its mode afterwards, so that
 * it is never reachable with wider rights.
 *
 * mode     permission bits, 0 .. 0777
 * owner    pid of the process that holds the path, written with ERR_ALREADY_EXISTS (0
 * when unknown) return   0; -EEXIST (ERR_ALREADY_EXISTS) another process listens there;
 * other errors with err naming path and remedy. Non-blocking, close-on-exec.
 */
int usock_listen(const char *path, mode_t mode, struct usock_listener *out,
    pid_t *owner, struct err *err);

/*
 * Close; the socket file is removed while the lock is still held. The lock file stays:
 * without it two others could each lock one of their own. Closing twice is harmless.
 */
void usock_listener_close(struct usock_listener *listener);

/*
 * Connect to path before deadline_ms (CLOCK_MONOTONIC).
 * return   descriptor (blocking, close-on-exec), or: -ENOENT there is no socket
 * (ERR_NOT_READY, with how to start the daemon); -ECONNREFUSED nobody listens (stale);
 * -EACCES no permission (ERR_DENIED, with the group to join); -ETIMEDOUT
 * (ERR_TIMEOUT); -EINVAL the path is too long, or no socket's; others with err
 */
int usock_connect(const char *path, uint64_t deadline_ms, struct err *err);

/* CLOCK_MONOTONIC in milliseconds. */
uint64_t usock_now_ms(void);

#endif
