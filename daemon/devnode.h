/* SPDX-License-Identifier: BSD-3-Clause */
/* The device nodes that RDMA needs: whether this process may open them. */
#ifndef RPMAD_DAEMON_DEVNODE_H
#define RPMAD_DAEMON_DEVNODE_H

#include <stddef.h>

#include "lib/core/compiler.h"

#define DEVNODE_ROOT     "/dev/infiniband"
#define DEVNODE_CLASS    "/sys/class/infiniband_verbs"
#define DEVNODE_PATH_MAX 300u

/*
 * Look for a node (rdma_cm, uverbs*) that is there and may not be opened, be it by its
 * mode or by the service's DevicePolicy=.
 *
 * root     DEVNODE_ROOT, or a folder of a test
 * class    DEVNODE_CLASS, or likewise: it tells of which device a node is
 * device   look at the nodes alone that this one needs; "": at all
 * path     its path, when there is one
 * return   0: there is none; EPERM or EACCES
 * source   the kernel's Documentation/infiniband/user_verbs: uverbsN/ibdev
 */
RPMAD_MUST_USE int devnode_forbidden(const char *root, const char *class,
    const char *device, char path[DEVNODE_PATH_MAX]);

#endif
