/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ports of a device with its hardware counters, as sysfs shows them. They are of the
 * port: traffic of every process and of the kernel is in them.
 */
#ifndef RPMAD_DAEMON_PORTS_H
#define RPMAD_DAEMON_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/sysfs.h"
#include "lib/core/compiler.h"

#define PORT_COUNTERS_MAX 256u /* of a port; drivers have up to about a hundred */

struct port_counter {
	char name[SYSFS_TEXT_MAX];
	uint64_t value;
};

struct port {
	uint32_t port;                 /* from 1 */
	char state[SYSFS_TEXT_MAX];    /* "ACTIVE", "DOWN"; "": unknown */
	char rate[SYSFS_TEXT_MAX];     /* "100 Gb/sec (4X EDR)"; "": unknown */
	struct port_counter *counters; /* by name */
	size_t counter_count;
};

struct ports {
	struct port *list; /* by number */
	size_t count;
};

/*
 * Read them. Some drivers ask the device's firmware, which takes them up to some
 * milliseconds. A device that is not there has none.
 *
 * root     DEVICES_ROOT, or a folder of the same form
 * return   0; -ENOMEM
 * source   Linux, Documentation/ABI/stable/sysfs-class-infiniband
 */
RPMAD_MUST_USE int ports_read(const char *root, const char *device, struct ports *out);
/* Free what was read; zeroes are fine. */
void ports_fini(struct ports *ports);

/* What drivers count under names of their own. */
enum port_meaning {
	PORT_RNR_SENT,         /* receiver-not-ready NAKs to peers: the SRQ was empty */
	PORT_RNR_RECEIVED,     /* the same from peers */
	PORT_RETRIES_EXCEEDED, /* connections given up after the last retry */
};
/* false: this driver does not count it. */
bool port_counter_by_meaning(const struct port *port, enum port_meaning meaning,
    uint64_t *out);

#endif
