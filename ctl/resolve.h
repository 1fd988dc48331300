/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of hosts into numeric addresses: the daemon takes no others. */
#ifndef RPMAD_CTL_RESOLVE_H
#define RPMAD_CTL_RESOLVE_H

#include <stddef.h>
#include <sys/socket.h>

#include "lib/core/compiler.h"
#include "lib/core/err.h"

#define RESOLVE_MAX 16u /* addresses of one name that are used */

/*
 * The addresses behind "HOST:PORT" or "[HOST]:PORT", in getaddrinfo(3)'s order.
 * return   how many, at least 1; -EINVAL not of that form; -EREMOTEIO with
 *          ERR_ADDR_UNRESOLVED: the name has no address
 */
RPMAD_MUST_USE int resolve_hostport(const char *text,
    struct sockaddr_storage addrs[RESOLVE_MAX], struct err *err);

#endif
