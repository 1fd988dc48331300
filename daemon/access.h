/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may do what: roles by user and group, resolved once. */
#ifndef RPMAD_DAEMON_ACCESS_H
#define RPMAD_DAEMON_ACCESS_H

#include <stddef.h>
#include <sys/types.h>

#include "daemon/settings.h"
#include "lib/core/err.h"
#include "lib/core/method.h"

struct access;

/* Stands for "the socket has no group" in access_new(). */
#define ACCESS_NO_GROUP ((gid_t)-1)

/*
 * Resolve the names of control.roles. A role that is not given there has its default:
 *     admin   root and the user of this process
 *     post    the group "rpmad", where there is one
 *     read    the group of the socket
 *
 * socket_group   group of the control socket's file, or ACCESS_NO_GROUP
 * return   0; ERR_INVALID_PARAMS: there is no such user or group, with the path of the
 *          key; ERR_INTERNAL_ERROR: no memory, or a name cannot be looked up now
 */
RPMAD_MUST_USE int access_new(const struct settings *settings, gid_t socket_group,
    struct access **out, struct err *err);
/* The same for one that is there, which stays as it was where that fails. */
RPMAD_MUST_USE int access_update(struct access *access, const struct settings *settings,
    gid_t socket_group, struct err *err);
/* NULL is fine. */
void access_free(struct access *access);

/* The highest role of a user with these groups. */
enum role access_role(const struct access *access, uid_t uid, const gid_t *gids,
    size_t gid_count);

#endif
