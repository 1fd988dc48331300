/* SPDX-License-Identifier: BSD-3-Clause */
/* The RDMA devices of the host as sysfs shows them, read without opening any. */
#ifndef RPMAD_DAEMON_DEVICES_H
#define RPMAD_DAEMON_DEVICES_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/sysfs.h"
#include "lib/core/compiler.h"

#define DEVICES_ROOT     "/sys/class/infiniband"
#define DEVICES_NAME_MAX SYSFS_TEXT_MAX

enum device_transport {
	DEVICE_INFINIBAND, /* RoCE too */
	DEVICE_IWARP,
	DEVICE_UNKNOWN,
};
/* "infiniband", "iwarp", "unknown". */
const char *device_transport_name(enum device_transport transport);

struct device_gid {
	uint32_t index;
	char gid[DEVICES_NAME_MAX];  /* eight groups of four hex digits */
	char type[DEVICES_NAME_MAX]; /* "RoCE v2"; "": it has none */
};

struct device_port {
	uint32_t port;                     /* from 1 */
	char state[DEVICES_NAME_MAX];      /* "ACTIVE", "DOWN" */
	char link_layer[DEVICES_NAME_MAX]; /* "Ethernet", "InfiniBand" */
	char netdev[DEVICES_NAME_MAX];     /* network interface; "": unknown */
	struct device_gid *gids;           /* without those that are zero */
	size_t gid_count;
};

struct device_entry {
	char name[DEVICES_NAME_MAX];
	char node_guid[DEVICES_NAME_MAX]; /* "5054:00ff:fe12:3456"; "": unknown */
	enum device_transport transport;
	struct device_port *ports;
	size_t port_count;
};

struct devices {
	struct device_entry *list; /* by name */
	size_t count;
};

/*
 * Read them all. A host without RDMA has none; files that are missing or cannot be read
 * (some drivers have no network interface to name) leave their field empty.
 *
 * root     DEVICES_ROOT, or a folder of the same form
 * return   0; -ENOMEM
 * source   Linux, Documentation/ABI/stable/sysfs-class-infiniband
 */
RPMAD_MUST_USE int devices_scan(const char *root, struct devices *out);
/* Free what a scan found; zeroes are fine. */
void devices_fini(struct devices *devices);

#endif
