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
ask(struct ctl *ctl, json_t *findings, enum method_id method,
    void (*look)(struct json_t *findings, const struct json_t *result))
{
	json_t *result = NULL;

	if (ctl_call(ctl, method, NULL, &result) != 0) {
		doctor_unreachable(findings, &ctl->err);
		return false;
	}
	look(findings, result);
	json_decref(result);
	return true;
}

static void
ask_all(struct ctl *ctl, json_t *findings)
{
	if (ask(ctl, findings, METHOD_RPC_HELLO, doctor_hello) &&
	    ask(ctl, findings, METHOD_DAEMON_STATUS, doctor_status) &&
	    ask(ctl, findings, METHOD_STATS_GET, doctor_stats))
		(void)ask(ctl, findings, METHOD_DEVICE_LIST, doctor_devices);
}

int
run_doctor(struct ctl *ctl, const struct args *args)
{
	const struct param_string *instance = &ctl->settings.instance;
	json_t *findings = must(json_array()), *result;
	char unit[UNIT_MAX];
	bool is_well;
	int status;

	(void)args;
	if (ctl->settings.is_dry_run) {
		json_decref(findings);
		return ctl_usage(ctl, "it makes more than one request, and none alone");
	}
	(void)snprintf(unit, sizeof(unit), "rpmad%s%s.service",
	    instance->ptr ? "@" : "", instance->ptr ? instance->ptr : "");
	doctor_nodes(findings, NODES, USER);
	doctor_service(findings, unit, MANAGER);
	doctor_socket(findings, ctl->settings.path);
	ask_all(ctl, findings);
	/* It is among the findings. */
	ctl->err.text[0] = '\0';
	is_well = doctor_is_well(findings);
	result =
	    must(json_pack("{s:b, s:o}", "well", (int)is_well, "findings", findings));
	status = ctl_show(ctl, doctor_view, result);
	json_decref(result);
	return status != 0 || is_well ? status : (int)EXIT_STATUS_FAILED;
}
