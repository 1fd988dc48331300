/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings from what the daemon answers. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "ctl/doctor.h"
#include "ctl/field.h"
#include "lib/core/text.h"

void
doctor_unreachable(const struct doctor *doctor, const struct err *err)
{
	char remedy[DOCTOR_REMEDY_MAX];

	doctor_add(doctor, "daemon", DOCTOR_PROBLEM,
	    err->hint[0] != '\0'
		? err->hint
		: doctor_remedy(remedy, "systemctl status %s", doctor->unit),
	    "%s", err->text);
}

void
doctor_hello(const struct doctor *doctor, const struct json_t *hello)
{
	const char *version = field_text(hello, "version");
	char remedy[DOCTOR_REMEDY_MAX];

	if (strcmp(version, PACKAGE_VERSION) == 0)
		doctor_add(doctor, "versions", DOCTOR_OK, NULL,
		    "rpmad and rpmactl are of version %s", version);
	else
		doctor_add(doctor, "versions", DOCTOR_WARNING,
		    doctor_remedy(remedy,
			"systemctl restart %s, if it was upgraded while it ran",
			doctor->unit),
		    "rpmad is of version %s, rpmactl of " PACKAGE_VERSION, version);
	doctor_add(doctor, "role", DOCTOR_OK, NULL, "the daemon gives you the role %s",
	    field_text(hello, "role"));
}

static void
restart(const struct doctor *doctor, const struct json_t *status)
{
	const json_t *slots = json_object_get(status, "slots");
	long long held = field_number(slots, "ready") + field_number(slots, "leased");

	if (field_is_true(status, "kept"))
		doctor_add(doctor, "restart", DOCTOR_OK, NULL,
		    "a restart loses nothing; a stop or a reboot loses what waits then, "
		    "%lld message%s now",
		    held, text_plural((uint64_t)held));
	else
		doctor_add(doctor, "restart", DOCTOR_WARNING,
		    "run it as a service with FileDescriptorStoreMax=, as rpmad.service "
		    "does, of a build with libsystemd (rpmad --version)",
		    "a restart loses what waits then, %lld message%s now", held,
		    text_plural((uint64_t)held));
}

/* The daemon does not run: what helps depends on the state that it is in instead. */
static void
waiting(const struct doctor *doctor, const char *state, const char *reason)
{
	char remedy[DOCTOR_REMEDY_MAX];

	if (strcmp(state, "waiting_for_listener") == 0) {
		doctor_add(doctor, "daemon", DOCTOR_WARNING,
		    "rpmactl listen ADDR:PORT, or listen in rpmad.json", "%s: %s",
		    state, reason);
		return;
	}
	if (strcmp(state, "stopping") == 0)
		(void)doctor_remedy(remedy,
		    "once it has ended, systemctl start %s starts it again",
		    doctor->unit);
	else
		(void)doctor_remedy(remedy,
		    "see what is said about devices here, and journalctl -u %s",
		    doctor->unit);
	doctor_add(doctor, "daemon", DOCTOR_PROBLEM, remedy, "%s: %s", state,
	    reason[0] != '\0' ? reason : "no reason is given");
}

void
doctor_status(const struct doctor *doctor, const struct json_t *status)
{
	const char *state = field_text(status, "state");
	char remedy[DOCTOR_REMEDY_MAX];
	const json_t *warning;
	size_t i;

	if (strcmp(state, "running") == 0)
		doctor_add(doctor, "daemon", DOCTOR_OK, NULL, "it runs on device %s",
		    field_text(status, "device"));
	else
		waiting(doctor, state, field_text(status, "reason"));
	(void)doctor_remedy(remedy,
	    "journalctl -u %s tells more; rpmad(8) what it means", doctor->unit);
	json_array_foreach(json_object_get(status, "warnings"), i, warning)
		doctor_add(doctor, "daemon", DOCTOR_WARNING, remedy, "%s",
		    json_is_string(warning) ? json_string_value(warning) : "");
	restart(doctor, status);
}

void
doctor_stats(const struct doctor *doctor, const struct json_t *stats)
{
	const json_t *memory = json_object_get(stats, "memory");
	long long used = field_number(memory, "registered_bytes");
	long long limit = field_number(memory, "memlock_limit_bytes");

	if (!field_is_set(memory, "memlock_limit_bytes"))
		doctor_add(doctor, "memlock", DOCTOR_OK, NULL,
		    "%lld bytes are locked, there is no limit", used);
	else if (used <= limit)
		doctor_add(doctor, "memlock", DOCTOR_OK, NULL,
		    "%lld of %lld bytes that may be locked are", used, limit);
	else
		doctor_add(doctor, "memlock", DOCTOR_WARNING,
		    "LimitMEMLOCK=infinity in the service, or ulimit -l in a shell",
		    "%lld bytes are locked, %lld may be without privileges", used,
		    limit);
}

static bool
is_good(const json_t *one)
{
	return strcmp(field_text(one, "state"), "ACTIVE") == 0 &&
	    json_array_size(json_object_get(one, "gids")) > 0;
}

/* state   what it is when the port is of no use */
static void
port(const struct doctor *doctor, const char *device, const struct json_t *one,
    enum doctor_state state)
{
	const char *name = field_text(one, "state");
	const size_t gids = json_array_size(json_object_get(one, "gids"));
	bool is_bad = state != DOCTOR_OK;

	if (is_good(one))
		doctor_add(doctor, "port", DOCTOR_OK, NULL,
		    "port %lld of %s is ACTIVE, with %zu GID%s",
		    field_number(one, "port"), device, gids, text_plural(gids));
	else if (strcmp(name, "ACTIVE") != 0)
		doctor_add(doctor, "port", state,
		    is_bad ? "see the cable, the switch and ip link" : NULL,
		    "port %lld of %s is %s%s", field_number(one, "port"), device, name,
		    is_bad ? "" : ", and nobody needs it");
	else
		doctor_add(doctor, "port", state,
		    is_bad ? "give its network interface an address" : NULL,
		    "port %lld of %s has no GID: nobody can reach it%s",
		    field_number(one, "port"), device,
		    is_bad ? "" : ", and nobody needs to");
}

/* The ports of a device. One that is of no use matters less where another is. */
static void
ports(const struct doctor *doctor, const char *device, const struct json_t *list,
    bool matters)
{
	enum doctor_state state = matters ? DOCTOR_PROBLEM : DOCTOR_OK;
	const json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
		if (matters && is_good(one))
			state = DOCTOR_WARNING;
	json_array_foreach(list, i, one)
		port(doctor, device, one, state);
}

/* matters   it is the one that is served, or none is and it might be */
static void
device(const struct doctor *doctor, const struct json_t *one, bool matters)
{
	const json_t *limits = json_object_get(one, "limits"), *item;
	const char *name = field_text(one, "name");
	size_t i;

	json_array_foreach(json_object_get(one, "reasons"), i, item)
		doctor_add(doctor, "device", matters ? DOCTOR_WARNING : DOCTOR_OK,
		    matters ? "mend that, or let device in rpmad.json name another"
			    : NULL,
		    "%s cannot be used: %s%s", name,
		    json_is_string(item) ? json_string_value(item) : "",
		    matters ? "" : "; nobody needs it");
	ports(doctor, name, json_object_get(one, "ports"), matters);
	if (!json_is_object(limits))
		return;
	if (field_number(limits, "max_srq") > 0)
		doctor_add(doctor, "srq", DOCTOR_OK, NULL,
		    "%s has shared receive queues, of up to %lld receives", name,
		    field_number(limits, "max_srq_wr"));
	else
		doctor_add(doctor, "srq", DOCTOR_PROBLEM, "use another device",
		    "%s has no shared receive queues", name);
}

void
doctor_devices(const struct doctor *doctor, const struct json_t *devices)
{
	const json_t *list = json_object_get(devices, "devices"), *one;
	bool is_served = false;
	size_t i;

	if (json_array_size(list) == 0)
		doctor_add(doctor, "device", DOCTOR_PROBLEM,
		    "load its driver (rdma link show lists devices); for soft-RoCE: rdma "
		    "link add rxe0 type rxe netdev INTERFACE",
		    "there is no RDMA device");
	json_array_foreach(list, i, one)
		is_served |= field_is_true(one, "in_use");
	json_array_foreach(list, i, one)
		device(doctor, one, !is_served || field_is_true(one, "in_use"));
}
