/* SPDX-License-Identifier: BSD-3-Clause */
/* The RDMA devices of the host as sysfs shows them. */
#include <config.h>

#include "daemon/devices.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/core/num.h"

#define FILE_MAX 128 /* bytes of a file that is read */
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

/* The first line of a file in a folder; "" when it cannot be read. */
static void
read_text(int dir, const char *name, char out[DEVICES_NAME_MAX])
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	char bytes[FILE_MAX];
	ssize_t n = -1;
	size_t len;

	out[0] = '\0';
	if (fd < 0)
		return;
	n = read(fd, bytes, sizeof(bytes));
	(void)close(fd);
	if (n <= 0)
		return;
	for (len = 0; len < (size_t)n && len < DEVICES_NAME_MAX - 1; len++)
		if (bytes[len] == '\n' || bytes[len] == '\0')
			break;
	memcpy(out, bytes, len);
	out[len] = '\0';
}

/* The word after the number of "4: ACTIVE". */
static void
read_word(int dir, const char *name, char out[DEVICES_NAME_MAX])
{
	const char *colon;

	read_text(dir, name, out);
	colon = strstr(out, ": ");
	if (colon)
		memmove(out, colon + 2, strlen(colon + 2) + 1);
}

static enum device_transport
read_transport(int dir)
{
	char text[DEVICES_NAME_MAX];

	read_text(dir, "node_type", text);
	if (strncmp(text, "1:", 2) == 0)
		return DEVICE_INFINIBAND;
	if (strncmp(text, "4:", 2) == 0)
		return DEVICE_IWARP;
	return DEVICE_UNKNOWN;
}

/* What is done with each entry of a folder; a negative errno ends the walk. */
typedef int (*entry_fn)(int dir, const char *name, void *arg);

static int
compare_names(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

/* Walk a folder by name; that there is none is no error. */
static int
each_entry(int dir, const char *path, entry_fn fn, void *arg)
{
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent **entries;
	int i, count, rc = 0;

	if (fd < 0)
		return 0;
	count = scandirat(fd, ".", &entries, NULL, compare_names);
	if (count < 0)
		rc = errno == ENOMEM ? -ENOMEM : 0;
	for (i = 0; i < count; i++) {
		if (rc == 0 && entries[i]->d_name[0] != '.')
			rc = fn(fd, entries[i]->d_name, arg);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	(void)close(fd);
	return rc;
}

/* Make room for one more element, zeroed. NULL: no memory. */
static void *
grow(void *list, size_t count, size_t size)
{
	char *grown = reallocarray(list, count + 1, size);

	if (grown)
		memset(grown + count * size, 0, size);
	return grown;
}

/* A file or folder named by a number. */
static bool
parse_index(const char *name, uint32_t *out)
{
	uint64_t value;

	if (num_parse_u64(name, &value) < 0 || value > UINT32_MAX)
		return false;
	*out = (uint32_t)value;
	return true;
}

static int
add_gid(int dir, const char *name, void *arg)
{
	struct device_port *port = arg;
	struct device_gid *grown;
	char gid[DEVICES_NAME_MAX];
	uint32_t index;

	if (!parse_index(name, &index))
		return 0;
	read_text(dir, name, gid);
	if (gid[0] == '\0' || strcmp(gid, ZERO_GID) == 0)
		return 0;
	grown = grow(port->gids, port->gid_count, sizeof(*grown));
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
			read_text(types, number, port->gids[i].type);
		if (ndevs >= 0 && port->netdev[0] == '\0')
			read_text(ndevs, number, port->netdev);
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
	int fd, rc;

	if (!parse_index(name, &number))
		return 0;
	fd = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	port = grow(device->ports, device->port_count, sizeof(*port));
	if (!port) {
		(void)close(fd);
		return -ENOMEM;
	}
	device->ports = port;
	port += device->port_count++;
	port->port = number;
	read_word(fd, "state", port->state);
	read_text(fd, "link_layer", port->link_layer);
	rc = each_entry(fd, "gids", add_gid, port);
	read_gid_attrs(fd, port);
	(void)close(fd);
	return rc;
}

static int
add_device(int dir, const char *name, void *arg)
{
	struct devices *devices = arg;
	struct device_entry *device;
	int fd, rc;

	if (strlen(name) >= DEVICES_NAME_MAX)
		return 0;
	fd = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	device = grow(devices->list, devices->count, sizeof(*device));
	if (!device) {
		(void)close(fd);
		return -ENOMEM;
	}
	devices->list = device;
	device += devices->count++;
	memcpy(device->name, name, strlen(name) + 1);
	read_text(fd, "node_guid", device->node_guid);
	device->transport = read_transport(fd);
	rc = each_entry(fd, "ports", add_port, device);
	(void)close(fd);
	return rc;
}

int
devices_scan(const char *root, struct devices *out)
{
	struct devices devices = { 0 };
	int rc = each_entry(AT_FDCWD, root, add_device, &devices);

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
