/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor: everything that can be found out, whether or not the daemon answers. */
#include <config.h>

#include <stdio.h>

#include <jansson.h>

#include "ctl/args.h"
#include "ctl/ctl.h"
#include "ctl/doctor.h"
#include "ctl/must.h"
#include "ctl/run.h"

#define UNIT_MAX 128
#define NODES    "/dev/infiniband"
#define MANAGER  "systemctl"
#define USER     "rpmad"

/* Ask the daemon one thing; false: it does not answer any more. */
static bool
ask(struct ctl *ctl, const struct doctor *doctor, enum method_id method,
    void (*look)(const struct doctor *doctor, const struct json_t *result))
{
	json_t *result = NULL;

	if (ctl_call(ctl, method, NULL, &result) != 0) {
		doctor_unreachable(doctor, &ctl->err);
		return false;
	}
	look(doctor, result);
	json_decref(result);
	return true;
}

static void
ask_all(struct ctl *ctl, const struct doctor *doctor)
{
	if (ask(ctl, doctor, METHOD_RPC_HELLO, doctor_hello) &&
	    ask(ctl, doctor, METHOD_DAEMON_STATUS, doctor_status) &&
	    ask(ctl, doctor, METHOD_STATS_GET, doctor_stats))
		(void)ask(ctl, doctor, METHOD_DEVICE_LIST, doctor_devices);
}

int
run_doctor(struct ctl *ctl, const struct args *args)
{
	const struct param_string *instance = &ctl->settings.instance;
	json_t *findings = must(json_array()), *result;
	char unit[UNIT_MAX];
	const struct doctor doctor = { .findings = findings, .unit = unit };
	bool is_service, is_well;
	int status;

	(void)args;
	if (ctl->settings.is_dry_run) {
		json_decref(findings);
		return ctl_usage(ctl, "it makes more than one request, and none alone");
	}
	(void)snprintf(unit, sizeof(unit), "rpmad%s%s.service",
	    instance->ptr ? "@" : "", instance->ptr ? instance->ptr : "");
	is_service = doctor_service(&doctor, MANAGER);
	doctor_nodes(&doctor, NODES, USER, is_service);
	doctor_socket(&doctor, ctl->settings.path);
	ask_all(ctl, &doctor);
	/* It is among the findings. */
	ctl->err.text[0] = '\0';
	is_well = doctor_is_well(findings);
	result =
	    must(json_pack("{s:b, s:o}", "well", (int)is_well, "findings", findings));
	status = ctl_show(ctl, doctor_view, result);
	json_decref(result);
	return status != 0 || is_well ? status : (int)EXIT_STATUS_FAILED;
}
