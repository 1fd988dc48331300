/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of methods that take an address, with each address of a name in turn. */
#ifndef RPMAD_CTL_DIAL_H
#define RPMAD_CTL_DIAL_H

#include "lib/core/compiler.h"
#include "lib/core/method.h"

struct ctl;
struct json_t;

/*
 * Call a method with the addr and port of "HOST:PORT". While the daemon finds an
 * address unusable, the next one of that name is tried.
 *
 * params   further parameters; borrowed
 * return   as ctl_call(), also -EINVAL; with ctl->err (of the last address)
 */
RPMAD_MUST_USE int dial_call(struct ctl *ctl, enum method_id method,
    const char *hostport, struct json_t *params, struct json_t **result);

#endif
