/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA devices as sysfs shows them and their nodes, from a tree made here. */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/device_addrs.h"
#include "daemon/devices.h"
#include "daemon/devnode.h"
#include "daemon/ports.h"
#include "tests/unit/harness.h"

#define ZERO "0000:0000:0000:0000:0000:0000:0000:0000"
#define GID0 "fe80:0000:0000:0000:5054:00ff:fe12:3456"
#define GID1 "0000:0000:0000:0000:0000:ffff:c0a8:4d01"

static char root[64];

/* Make a file, and the folders above it. */
static void
put(const char *path, const char *text)
{
	char full[256], *slash;
	FILE *file;

	(void)snprintf(full, sizeof(full), "%s/%s", root, path);
	for (slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ck_assert(mkdir(full, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}
	file = fopen(full, "we");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

static void
setup(void)
{
	(void)snprintf(root, sizeof(root), "/tmp/check_devices.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static void
teardown(void)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(test_none)
{
	struct devices devices;

	ck_assert_int_eq(devices_scan("/nowhere", &devices), 0);
	ck_assert_uint_eq(devices.count, 0);
	devices_fini(&devices);
	ck_assert_int_eq(devices_scan(root, &devices), 0);
	ck_assert_uint_eq(devices.count, 0);
	devices_fini(&devices);
}
END_TEST

START_TEST(test_roce)
{
	const struct device_entry *device;
	struct devices devices;

	put("rxe0/node_guid", "5054:00ff:fe12:3456\n");
	put("rxe0/node_type", "1: CA\n");
	put("rxe0/ports/1/state", "4: ACTIVE\n");
	put("rxe0/ports/1/link_layer", "Ethernet\n");
	put("rxe0/ports/1/gids/0", GID0 "\n");
	put("rxe0/ports/1/gids/1", GID1 "\n");
	put("rxe0/ports/1/gids/10", GID0 "\n");
	put("rxe0/ports/1/gids/2", ZERO "\n");
	put("rxe0/ports/1/gid_attrs/types/0", "IB/RoCE v1\n");
	put("rxe0/ports/1/gid_attrs/types/1", "RoCE v2\n");
	put("rxe0/ports/1/gid_attrs/ndevs/1", "eth0\n");
	put("rxe0/ports/2/state", "1: DOWN\n");
	ck_assert_int_eq(devices_scan(root, &devices), 0);
	ck_assert_uint_eq(devices.count, 1);
	device = &devices.list[0];
	ck_assert_str_eq(device->name, "rxe0");
	ck_assert_str_eq(device->node_guid, "5054:00ff:fe12:3456");
	ck_assert_str_eq(device_transport_name(device->transport), "infiniband");
	ck_assert_uint_eq(device->port_count, 2);
	ck_assert_uint_eq(device->ports[0].port, 1);
	ck_assert_str_eq(device->ports[0].state, "ACTIVE");
	ck_assert_str_eq(device->ports[0].link_layer, "Ethernet");
	ck_assert_str_eq(device->ports[0].netdev, "eth0");
	ck_assert_uint_eq(device->ports[0].gid_count, 3);
	ck_assert_str_eq(device->ports[0].gids[0].type, "IB/RoCE v1");
	ck_assert_str_eq(device->ports[0].gids[1].gid, GID1);
	ck_assert_str_eq(device->ports[0].gids[1].type, "RoCE v2");
	ck_assert_uint_eq(device->ports[0].gids[2].index, 10);
	ck_assert_str_eq(device->ports[0].gids[2].type, "");
	ck_assert_str_eq(device->ports[1].state, "DOWN");
	ck_assert_str_eq(device->ports[1].netdev, "");
	devices_fini(&devices);
}
END_TEST

/* Files that are missing, empty, too long or folders, and names that are no numbers. */
START_TEST(test_odd)
{
	char text[300];
	struct devices devices;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	put("siw1/node_type", "4: RNIC\n");
	put("siw1/ports/1/state/folder", "4: ACTIVE\n");
	put("siw1/ports/1/link_layer", "");
	put("siw1/ports/1/gids/0", GID0 "\n");
	put("siw1/ports/one/state", "4: ACTIVE\n");
	put("siw1/ports/1/gids/first", GID1 "\n");
	put("siw1/ports/1/gid_attrs/types", "no folder\n");
	put("usnic/node_type", text);
	put("usnic/node_guid", text);
	put("file", "no folder\n");
	ck_assert_int_eq(devices_scan(root, &devices), 0);
	ck_assert_uint_eq(devices.count, 2);
	ck_assert_str_eq(devices.list[0].name, "siw1");
	ck_assert_str_eq(devices.list[0].node_guid, "");
	ck_assert_int_eq(devices.list[0].transport, DEVICE_IWARP);
	ck_assert_uint_eq(devices.list[0].port_count, 1);
	ck_assert_str_eq(devices.list[0].ports[0].state, "");
	ck_assert_uint_eq(devices.list[0].ports[0].gid_count, 1);
	ck_assert_int_eq(devices.list[1].transport, DEVICE_UNKNOWN);
	ck_assert_uint_eq(strlen(devices.list[1].node_guid), DEVICES_NAME_MAX - 1);
	ck_assert_uint_eq(devices.list[1].port_count, 0);
	devices_fini(&devices);
}
END_TEST

/* What counts, and what does not: other files among the counters, ports that are none. */
START_TEST(test_ports)
{
	struct ports ports;
	uint64_t value = 5;

	put("mlx5_0/ports/1/state", "4: ACTIVE\n");
	put("mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)\n");
	put("mlx5_0/ports/1/hw_counters/out_of_buffer", "18446744073709551615\n");
	put("mlx5_0/ports/1/hw_counters/rnr_nak_retry_err", "2\n");
	put("mlx5_0/ports/1/hw_counters/lifespan", "10\n");
	put("mlx5_0/ports/1/hw_counters/odd", "-1\n");
	put("mlx5_0/ports/1/hw_counters/folder/file", "1\n");
	put("mlx5_0/ports/2/state", "1: DOWN\n");
	put("mlx5_0/ports/10/state", "1: DOWN\n");
	put("mlx5_0/ports/one/state", "4: ACTIVE\n");
	ck_assert_int_eq(ports_read(root, "mlx5_0", &ports), 0);
	ck_assert_uint_eq(ports.count, 3);
	ck_assert_uint_eq(ports.list[2].port, 10);
	ck_assert_str_eq(ports.list[0].state, "ACTIVE");
	ck_assert_str_eq(ports.list[0].rate, "100 Gb/sec (4X EDR)");
	ck_assert_str_eq(ports.list[1].state, "DOWN");
	ck_assert_str_eq(ports.list[1].rate, "");
	ck_assert_uint_eq(ports.list[0].counter_count, 2);
	ck_assert_str_eq(ports.list[0].counters[0].name, "out_of_buffer");
	ck_assert(port_counter_by_meaning(&ports.list[0], PORT_RNR_SENT, &value));
	ck_assert_uint_eq(value, UINT64_MAX);
	ck_assert(port_counter_by_meaning(&ports.list[0], PORT_RNR_RECEIVED, &value));
	ck_assert_uint_eq(value, 2);
	ck_assert(!port_counter_by_meaning(&ports.list[0], PORT_RETRIES_EXCEEDED,
	    &value));
	ck_assert(!port_counter_by_meaning(&ports.list[1], PORT_RNR_SENT, &value));
	ck_assert_uint_eq(value, 2);
	ports_fini(&ports);
	ck_assert_int_eq(ports_read(root, "rxe0", &ports), 0);
	ck_assert_uint_eq(ports.count, 0);
	ck_assert_int_eq(ports_read(root, "", &ports), 0);
	ck_assert_uint_eq(ports.count, 0);
	/* Never a way out of the folder. */
	ck_assert_int_eq(ports_read(root, "../mlx5_0", &ports), 0);
	ck_assert_uint_eq(ports.count, 0);
}
END_TEST

/* Nodes that are there and may not be opened are told from none. */
START_TEST(test_forbidden)
{
	char path[DEVNODE_PATH_MAX] = "untouched", node[96], class[96];

	ck_assert_int_eq(devnode_forbidden("/nowhere", root, "", path), 0);
	ck_assert_int_eq(devnode_forbidden(root, root, "", path), 0);
	put("rdma_cm", "");
	put("uverbs0", "");
	put("umad0", "");
	put("class/uverbs0/ibdev", "mlx5_0\n");
	(void)snprintf(class, sizeof(class), "%s/class/uverbs0", root);
	ck_assert_int_eq(chmod(class, 0755), 0);
	(void)snprintf(class, sizeof(class), "%s/class", root);
	ck_assert_int_eq(chmod(class, 0755), 0);
	ck_assert_int_eq(devnode_forbidden(root, root, "", path), 0);
	ck_assert_str_eq(path, "untouched");
	/* Everything is open to the superuser. */
	ck_assert_int_eq(chmod(root, 0755), 0);
	(void)snprintf(node, sizeof(node), "%s/umad0", root);
	ck_assert_int_eq(chmod(node, 0), 0);
	(void)snprintf(node, sizeof(node), "%s/uverbs0", root);
	ck_assert_int_eq(chmod(node, 0), 0);
	if (geteuid() == 0) {
		(void)snprintf(path, sizeof(path), "%s/rdma_cm", root);
		ck_assert_int_eq(chmod(path, 0666), 0);
		ck_assert_int_eq(seteuid(65534), 0);
	}
	ck_assert_int_eq(devnode_forbidden(root, root, "", path), EACCES);
	ck_assert_str_eq(path, node);
	/* What another device's node says is not said of this one. */
	ck_assert_int_eq(devnode_forbidden(root, class, "mlx5_0", path), EACCES);
	ck_assert_int_eq(devnode_forbidden(root, class, "mlx5_1", path), 0);
	ck_assert_int_eq(devnode_forbidden(root, "/nowhere", "mlx5_0", path), 0);
	if (getuid() == 0)
		ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

/* A number may be another device's, and a device may have another name, meanwhile. */
START_TEST(test_node_goes)
{
	struct devnode node, none;
	char path[192];

	put("abi_version", "6\n");
	put("uverbs0/ibdev", "mlx5_0\n");
	put("uverbs1/ibdev", "rxe0\n");
	devnode_find(root, "rxe0", &node);
	ck_assert_str_eq(node.name, "uverbs1");
	ck_assert(!devnode_is_gone(root, &node));
	put("uverbs1/ibdev", "other\n");
	ck_assert(!devnode_is_gone(root, &node));
	ck_assert(!devnode_is_gone("/nowhere", &node));
	(void)snprintf(path, sizeof(path), "mv %s/uverbs1 %s/old", root, root);
	ck_assert_int_eq(system(path), 0);
	ck_assert(devnode_is_gone(root, &node));
	put("uverbs1/ibdev", "rxe0\n");
	ck_assert(devnode_is_gone(root, &node));
	devnode_find(root, "mlx9", &none);
	ck_assert_uint_eq(none.inode, 0);
	ck_assert(!devnode_is_gone(root, &none));
	devnode_find("/nowhere", "mlx9", &none);
	ck_assert_uint_eq(none.inode, 0);
}
END_TEST

/* ---- addresses ---- */

/* Whether this host has the address 127.0.0.1, which a sandbox may lack. */
static bool
has_loopback(void)
{
	struct ifaddrs *all, *one;
	bool found = false;

	ck_assert_int_eq(getifaddrs(&all), 0);
	for (one = all; one; one = one->ifa_next)
		if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET &&
		    one->ifa_flags & IFF_UP && strcmp(one->ifa_name, "lo") == 0)
			found = true;
	freeifaddrs(all);
	return found;
}

/* What is found: "rxe0=127.0.0.1 ". */
static void
add_addr(void *arg, const struct sockaddr_storage *addr, const char *device)
{
	const struct sockaddr_in *in = (const void *)addr;
	char *text = arg, ip[INET_ADDRSTRLEN];
	size_t len = strlen(text);

	if (addr->ss_family != AF_INET ||
	    !inet_ntop(AF_INET, &in->sin_addr, ip, sizeof(ip)))
		return;
	(void)snprintf(text + len, 256 - len, "%s=%s ", device, ip);
}

/* As the kernel does: RoCE by the address, iWARP and InfiniBand by the interface's. */
START_TEST(test_addrs)
{
	char found[256] = "", net[80];
	struct devices devices;

	if (!has_loopback())
		return;
	(void)snprintf(net, sizeof(net), "%s/net", root);
	put("ib/mlx0/node_type", "1: CA\n");
	put("ib/mlx0/ports/1/gids/0", "fe80:0000:0000:0000:5054:00ff:fe12:3457\n");
	put("ib/rxe0/node_type", "1: CA\n");
	put("ib/rxe0/ports/1/gids/0", GID0 "\n");
	put("ib/rxe0/ports/2/gids/3", "0000:0000:0000:0000:0000:ffff:7f00:0001\n");
	put("ib/rxe1/node_type", "1: CA\n");
	put("ib/rxe1/ports/1/gids/0", GID1 "\n");
	put("ib/siw0/node_type", "4: RNIC\n");
	put("ib/siw0/ports/1/gids/0", "0224:13c5:518f:0000:0000:0000:0000:0000\n");
	put("ib/siw1/node_type", "4: RNIC\n");
	put("ib/siw1/ports/1/gids/0", "0224:13c5:5190:0000:0000:0000:0000:0000\n");
	(void)snprintf(found, sizeof(found), "%s/ib", root);
	ck_assert_int_eq(devices_scan(found, &devices), 0);
	ck_assert_uint_eq(devices.count, 5);
	found[0] = '\0';
	device_addrs_each(&devices, "/nowhere", add_addr, found);
	ck_assert_str_eq(found, "rxe0=127.0.0.1 ");
	found[0] = '\0';
	put("net/lo/address", "02:24:13:c5:51:8f\n");
	device_addrs_each(&devices, net, add_addr, found);
	ck_assert_str_eq(found, "rxe0=127.0.0.1 siw0=127.0.0.1 ");
	found[0] = '\0';
	put("net/lo/address",
	    "80:00:02:08:fe:80:00:00:00:00:00:00:50:54:00:ff:fe:12:34:57\n");
	device_addrs_each(&devices, net, add_addr, found);
	ck_assert_str_eq(found, "mlx0=127.0.0.1 ");
	devices_fini(&devices);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("devices");
	TCase *tc = tcase_create("devices");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_none);
	tcase_add_test(tc, test_roce);
	tcase_add_test(tc, test_odd);
	tcase_add_test(tc, test_ports);
	tcase_add_test(tc, test_forbidden);
	tcase_add_test(tc, test_node_goes);
	tcase_add_test(tc, test_addrs);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
