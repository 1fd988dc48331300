/* SPDX-License-Identifier: BSD-3-Clause */
/* The device nodes that RDMA needs: whether this process may open them. */
#ifndef RPMAD_DAEMON_DEVNODE_H
#define RPMAD_DAEMON_DEVNODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/core/compiler.h"

#define DEVNODE_ROOT     "/dev/infiniband"
#define DEVNODE_CLASS    "/sys/class/infiniband_verbs"
#define DEVNODE_PATH_MAX 300u
#define DEVNODE_NAME_MAX 64u

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

/*
 * The node of a device that is open. The kernel takes it away first when the device is removed,
 * and then waits for those who have it open: this shows it where no event does.
 */
struct devnode {
	char name[DEVNODE_NAME_MAX]; /* "uverbs0" */
	uint64_t inode;              /* of its entry in class; 0: not known */
};
void devnode_find(const char *class, const char *device, struct devnode *out);
/* Whether a node that was found is not there any more, be its number another's by now. */
bool devnode_is_gone(const char *class, const struct devnode *node);

#endif
