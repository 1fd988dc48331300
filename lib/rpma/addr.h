/* SPDX-License-Identifier: BSD-3-Clause */
/* addr.h: from the name of a host and a port to something that can be tried. */
#ifndef RPMAD_LIB_RPMA_ADDR_H
#define RPMAD_LIB_RPMA_ADDR_H

#include <stdbool.h>

struct sockaddr;
struct sockaddr_storage;

/*
 * Try one pair of addresses.
 *
 * src      of this host; NULL: none is given (active side)
 * dst      of the other host; NULL on the passive side
 * return   0: this one is good, no other is tried; else RPMA_E_*
 */
typedef int rpmai_addr_fn(struct sockaddr *src, struct sockaddr *dst, void *arg);

/*
 * Try each address that a host name stands for until one is good.
 *
 * port     NULL: none
 * passive  whether addr is of this host
 * return   0; RPMA_E_PROVIDER the name is not known; else what the last trial returned
 * context  blocks for the name service and for what try_one does
 * source   rdma_getaddrinfo(3), which tells one address only; the others come from
 *          getaddrinfo(3)
 */
int rpmai_addr_try(const char *addr, const char *port, bool passive,
    rpmai_addr_fn *try_one, void *arg);

/*
 * Copy a socket address of AF_INET or AF_INET6 to where any fits.
 * return   0; RPMA_E_INVAL another family
 */
int rpmai_addr_copy(struct sockaddr_storage *to, const struct sockaddr *from);

/* Whether an address is the wildcard of its family. */
bool rpmai_addr_is_any(const struct sockaddr *addr);

#endif
