/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which local addresses lead to which RDMA device, by the rule of the kernel's rdma_cm: a GID of
 * the device is the address itself (RoCE), or what the link address of its interface says (iWARP,
 * InfiniBand). To ask rdma_cm would open each device that is found, and librdmacm keeps those
 * open, so that the kernel could not remove them.
 */
#include <config.h>

#include "daemon/device_addrs.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/devices.h"
#include "daemon/engine.h"
#include "lib/core/addr.h"

#define GID_BYTES  16u
#define MAC_BYTES  6u
#define IPOIB_HEAD 4u /* bytes of an IPoIB link address before its GID */
#define LINK_BYTES (IPOIB_HEAD + GID_BYTES)

/* A link address as sysfs writes it, "02:24:13:c5:51:8f". return   its bytes, 0: none */
static size_t
read_link(const char *net_root, const char *name, uint8_t out[LINK_BYTES])
{
	int dir = open(net_root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char path[IFNAMSIZ + sizeof("/address")], text[SYSFS_TEXT_MAX];
	size_t count = 0;
	char *at = text, *end;

	if (dir < 0)
		return 0;
	(void)snprintf(path, sizeof(path), "%.*s/address", IFNAMSIZ, name);
	sysfs_text(dir, path, text);
	(void)close(dir);
	for (; *at != '\0' && count < LINK_BYTES; at = *end == ':' ? end + 1 : end) {
		unsigned long byte = strtoul(at, &end, 16);

		if (end == at || byte > UINT8_MAX)
			return 0;
		out[count++] = (uint8_t)byte;
	}
	return count;
}

/* The GID of an IP address. return   false: it is none */
static bool
gid_of_addr(const struct sockaddr_storage *addr, uint8_t out[GID_BYTES])
{
	static const uint8_t mapped[] = { [10] = 0xff, [11] = 0xff };
	const struct sockaddr_in6 *in6 = (const void *)addr;
	const struct sockaddr_in *in = (const void *)addr;

	if (addr->ss_family == AF_INET6) {
		memcpy(out, &in6->sin6_addr, GID_BYTES);
		return true;
	}
	memcpy(out, mapped, sizeof(mapped));
	memcpy(out + sizeof(mapped), &in->sin_addr, sizeof(in->sin_addr));
	return addr->ss_family == AF_INET;
}

struct wanted {
	uint8_t ip[GID_BYTES];
	uint8_t link[LINK_BYTES];
	size_t link_bytes;
};

static bool
is_gid_wanted(const char *text, enum device_transport transport,
    const struct wanted *wanted)
{
	uint8_t gid[GID_BYTES];

	if (inet_pton(AF_INET6, text, gid) != 1)
		return false;
	if (transport == DEVICE_IWARP)
		return wanted->link_bytes == MAC_BYTES &&
		    memcmp(gid, wanted->link, MAC_BYTES) == 0;
	if (wanted->link_bytes == LINK_BYTES)
		return memcmp(gid, wanted->link + IPOIB_HEAD, GID_BYTES) == 0;
	return memcmp(gid, wanted->ip, GID_BYTES) == 0;
}

static bool
has_gid(const struct device_entry *device, const struct wanted *wanted)
{
	size_t i, j;

	for (i = 0; i < device->port_count; i++)
		for (j = 0; j < device->ports[i].gid_count; j++)
			if (is_gid_wanted(device->ports[i].gids[j].gid,
				device->transport, wanted))
				return true;
	return false;
}

/* What device_addrs_each() was asked. */
struct each {
	const struct devices *devices;
	const char *net_root;
	device_addr_fn fn;
	void *arg;
};

static void
match(void *arg, const struct sockaddr_storage *addr, const char *interface)
{
	const struct each *each = arg;
	struct wanted wanted;
	size_t i;

	if (!gid_of_addr(addr, wanted.ip))
		return;
	wanted.link_bytes = read_link(each->net_root, interface, wanted.link);
	for (i = 0; i < each->devices->count; i++)
		if (has_gid(&each->devices->list[i], &wanted))
			each->fn(each->arg, addr, each->devices->list[i].name);
}

void
device_addrs_each(const struct devices *devices, const char *net_root,
    device_addr_fn fn, void *arg)
{
	struct each each = { devices, net_root, fn, arg };

	if (devices->count > 0)
		addr_each_local(match, &each);
}

void
engine_usable_addrs(device_addr_fn fn, void *arg)
{
	struct devices devices;

	if (devices_scan(DEVICES_ROOT, &devices) < 0)
		return;
	device_addrs_each(&devices, DEVICE_ADDRS_NET_ROOT, fn, arg);
	devices_fini(&devices);
}
