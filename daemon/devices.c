/* SPDX-License-Identifier: BSD-3-Clause */
/* The RDMA devices of the host as sysfs shows them. */
#include <config.h>

#include "daemon/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/sysfs.h"

#define ZERO_GID "0000:0000:0000:0000:0000:0000:0000:0000"

const char *
device_transport_name(enum device_transport transport)
{
	switch (transport) {
	case DEVICE_INFINIBAND:
		return "infiniband";
	case DEVICE_IWARP:
		return "iwarp";
	case DEVICE_UNKNOWN:
		return "unknown";
	}
	return "unknown";
}

static enum device_transport
read_transport(int dir)
{
	char text[DEVICES_NAME_MAX];

	sysfs_text(dir, "node_type", text);
	if (strncmp(text, "1:", 2) == 0)
		return DEVICE_INFINIBAND;
	if (strncmp(text, "4:", 2) == 0)
		return DEVICE_IWARP;
	return DEVICE_UNKNOWN;
}

static int
add_gid(int dir, const char *name, void *arg)
{
	struct device_port *port = arg;
	struct device_gid *grown;
	char gid[DEVICES_NAME_MAX];
	uint32_t index;

	if (!sysfs_index(name, &index))
		return 0;
	sysfs_text(dir, name, gid);
	if (gid[0] == '\0' || strcmp(gid, ZERO_GID) == 0)
		return 0;
	grown = sysfs_grow(port->gids, port->gid_count, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	port->gids = grown;
	grown += port->gid_count++;
	grown->index = index;
	memcpy(grown->gid, gid, sizeof(gid));
	return 0;
}

/* The attributes of a port's GIDs; its interface is that of the first that has one. */
static void
read_gid_attrs(int dir, struct device_port *port)
{
	int types = openat(dir, "gid_attrs/types", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int ndevs = openat(dir, "gid_attrs/ndevs", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char number[sizeof("4294967295")];
	size_t i;

	for (i = 0; i < port->gid_count; i++) {
		(void)snprintf(number, sizeof(number), "%u",
		    (unsigned int)port->gids[i].index);
		if (types >= 0)
			sysfs_text(types, number, port->gids[i].type);
		if (ndevs >= 0 && port->netdev[0] == '\0')
			sysfs_text(ndevs, number, port->netdev);
	}
	if (types >= 0)
		(void)close(types);
	if (ndevs >= 0)
		(void)close(ndevs);
}

static int
add_port(int dir, const char *name, void *arg)
{
	struct device_entry *device = arg;
	struct device_port *port;
	uint32_t number;
	int rc;

	if (!sysfs_index(name, &number))
		return 0;
	port = sysfs_grow(device->ports, device->port_count, sizeof(*port));
	if (!port)
		return -ENOMEM;
	device->ports = port;
	port += device->port_count++;
	port->port = number;
	sysfs_word(dir, "state", port->state);
	sysfs_text(dir, "link_layer", port->link_layer);
	rc = sysfs_each(dir, "gids", add_gid, port);
	read_gid_attrs(dir, port);
	return rc;
}

static int
add_device(int dir, const char *name, void *arg)
{
	struct devices *devices = arg;
	struct device_entry *device;

	if (strlen(name) >= DEVICES_NAME_MAX)
		return 0;
	device = sysfs_grow(devices->list, devices->count, sizeof(*device));
	if (!device)
		return -ENOMEM;
	devices->list = device;
	device += devices->count++;
	memcpy(device->name, name, strlen(name) + 1);
	sysfs_text(dir, "node_guid", device->node_guid);
	device->transport = read_transport(dir);
	return sysfs_each_folder(dir, "ports", add_port, device);
}

int
devices_scan(const char *root, struct devices *out)
{
	struct devices devices = { 0 };
	int rc = sysfs_each_folder(AT_FDCWD, root, add_device, &devices);

	if (rc < 0) {
		devices_fini(&devices);
		return rc;
	}
	*out = devices;
	return 0;
}

void
devices_fini(struct devices *devices)
{
	struct device_entry *device;
	size_t i, j;

	for (i = 0; i < devices->count; i++) {
		device = &devices->list[i];
		for (j = 0; j < device->port_count; j++)
			free(device->ports[j].gids);
		free(device->ports);
	}
	free(devices->list);
	*devices = (struct devices){ 0 };
}
