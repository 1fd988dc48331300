/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the configuration that no parameter table can hold. */
#ifndef RPMAD_DAEMON_SETTINGS_ROLES_H
#define RPMAD_DAEMON_SETTINGS_ROLES_H

#include "daemon/settings.h"
#include "lib/core/err.h"

struct json_t;

/*
 * Read control.roles.
 *
 * json     an object, or NULL: none was given
 * roles    zeroed; read, post, admin
 * return   0; ERR_INVALID_PARAMS with the path
 */
RPMAD_MUST_USE int settings_roles_read(const struct json_t *json,
    struct settings_role roles[3], struct err *err);

/* The same back: roles that were given. A new reference; NULL: no memory. */
struct json_t *settings_roles_to_json(const struct settings_role roles[3]);

#endif
