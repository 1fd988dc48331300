/* SPDX-License-Identifier: BSD-3-Clause */
/* The local addresses that lead to RDMA devices, found without opening one. */
#ifndef RPMAD_DAEMON_DEVICE_ADDRS_H
#define RPMAD_DAEMON_DEVICE_ADDRS_H

#include <sys/socket.h>

#define DEVICE_ADDRS_NET_ROOT "/sys/class/net"

struct devices;

typedef void (*device_addr_fn)(void *arg, const struct sockaddr_storage *addr,
    const char *device);

/*
 * Call fn for each address of an interface that is up, with each device that it leads to.
 *
 * devices   what devices_scan() found
 * net_root  DEVICE_ADDRS_NET_ROOT, or a folder of a test: it has the interfaces' link addresses
 * source    Linux, drivers/infiniband/core/cma.c, cma_acquire_dev_by_src_ip()
 */
void device_addrs_each(const struct devices *devices, const char *net_root,
    device_addr_fn fn, void *arg);

#endif
