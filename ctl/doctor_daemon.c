/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings from what the daemon answers. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "ctl/doctor.h"
#include "ctl/field.h"

void
doctor_unreachable(struct json_t *findings, const struct err *err)
{
	doctor_add(findings, "daemon", DOCTOR_PROBLEM,
	    err->hint[0] != '\0' ? err->hint : "systemctl status rpmad", "%s",
	    err->text);
}

void
doctor_hello(struct json_t *findings, const struct json_t *hello)
{
	const char *version = field_text(hello, "version");

	if (strcmp(version, PACKAGE_VERSION) == 0)
		doctor_add(findings, "versions", DOCTOR_OK, NULL,
		    "rpmad and rpmactl are of version %s", version);
	else
		doctor_add(findings, "versions", DOCTOR_WARNING,
		    "systemctl restart rpmad, if it was upgraded while it ran",
		    "rpmad is of version %s, rpmactl of " PACKAGE_VERSION, version);
	doctor_add(findings, "role", DOCTOR_OK, NULL,
	    "the daemon gives you the role %s", field_text(hello, "role"));
}

static void
restart(struct json_t *findings, const struct json_t *status)
{
	const json_t *slots = json_object_get(status, "slots");
	long long held = field_number(slots, "ready") + field_number(slots, "leased");

	if (field_is_true(status, "kept"))
		doctor_add(findings, "restart", DOCTOR_OK, NULL,
		    "a restart loses nothing; a stop or a reboot loses what waits then, "
		    "%lld messages now",
		    held);
	else
		doctor_add(findings, "restart", DOCTOR_WARNING,
		    "run it as a service with FileDescriptorStoreMax=, as rpmad.service "
		    "does",
		    "a restart loses what waits then, %lld messages now", held);
}

void
doctor_status(struct json_t *findings, const struct json_t *status)
{
	const char *state = field_text(status, "state");
	const char *reason = field_text(status, "reason");
	const json_t *warning;
	size_t i;

	if (strcmp(state, "running") == 0)
		doctor_add(findings, "daemon", DOCTOR_OK, NULL, "it runs on device %s",
		    field_text(status, "device"));
	else if (strcmp(state, "waiting_for_listener") == 0)
		doctor_add(findings, "daemon", DOCTOR_WARNING,
		    "rpmactl listen ADDR:PORT, or listen in rpmad.json", "%s: %s",
		    state, reason);
	else
		doctor_add(findings, "daemon", DOCTOR_PROBLEM,
		    "see what is said about devices here", "%s: %s", state,
		    reason[0] != '\0' ? reason : "no reason is given");
	json_array_foreach(json_object_get(status, "warnings"), i, warning)
		doctor_add(findings, "daemon", DOCTOR_WARNING, NULL, "%s",
		    json_is_string(warning) ? json_string_value(warning) : "");
	restart(findings, status);
}

void
doctor_stats(struct json_t *findings, const struct json_t *stats)
{
	const json_t *memory = json_object_get(stats, "memory");
	long long used = field_number(memory, "registered_bytes");
	long long limit = field_number(memory, "memlock_limit_bytes");

	if (!field_is_set(memory, "memlock_limit_bytes"))
		doctor_add(findings, "memlock", DOCTOR_OK, NULL,
		    "%lld bytes are locked, there is no limit", used);
	else if (used <= limit)
		doctor_add(findings, "memlock", DOCTOR_OK, NULL,
		    "%lld of %lld bytes that may be locked are", used, limit);
	else
		doctor_add(findings, "memlock", DOCTOR_WARNING,
		    "LimitMEMLOCK=infinity in the service, or ulimit -l in a shell",
		    "%lld bytes are locked, %lld may be without privileges", used,
		    limit);
}

static void
port(struct json_t *findings, const char *device, const struct json_t *one)
{
	const char *state = field_text(one, "state");
	size_t gids = json_array_size(json_object_get(one, "gids"));

	if (strcmp(state, "ACTIVE") != 0)
		doctor_add(findings, "port", DOCTOR_PROBLEM,
		    "see the cable, the switch and ip link", "port %lld of %s is %s",
		    field_number(one, "port"), device, state);
	else if (gids == 0)
		doctor_add(findings, "port", DOCTOR_PROBLEM,
		    "give its network interface an address",
		    "port %lld of %s has no GID: nobody can reach it",
		    field_number(one, "port"), device);
	else
		doctor_add(findings, "port", DOCTOR_OK, NULL,
		    "port %lld of %s is ACTIVE, with %zu GIDs",
		    field_number(one, "port"), device, gids);
}

static void
device(struct json_t *findings, const struct json_t *one)
{
	const json_t *limits = json_object_get(one, "limits"), *item;
	const char *name = field_text(one, "name");
	size_t i;

	json_array_foreach(json_object_get(one, "reasons"), i, item)
		doctor_add(findings, "device", DOCTOR_WARNING, NULL,
		    "%s cannot be used: %s", name,
		    json_is_string(item) ? json_string_value(item) : "");
	json_array_foreach(json_object_get(one, "ports"), i, item)
		port(findings, name, item);
	if (!json_is_object(limits))
		return;
	if (field_number(limits, "max_srq") > 0)
		doctor_add(findings, "srq", DOCTOR_OK, NULL,
		    "%s has shared receive queues, of up to %lld receives", name,
		    field_number(limits, "max_srq_wr"));
	else
		doctor_add(findings, "srq", DOCTOR_PROBLEM, "use another device",
		    "%s has no shared receive queues", name);
}

void
doctor_devices(struct json_t *findings, const struct json_t *devices)
{
	const json_t *list = json_object_get(devices, "devices"), *one;
	size_t i;

	if (json_array_size(list) == 0)
		doctor_add(findings, "device", DOCTOR_PROBLEM,
		    "load its driver (rdma link show lists devices); for soft-RoCE: rdma "
		    "link add rxe0 type rxe netdev INTERFACE",
		    "there is no RDMA device");
	json_array_foreach(list, i, one)
		device(findings, one);
}
