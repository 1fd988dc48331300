/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings about the daemon and what it needs, each with its remedy. */
#ifndef RPMAD_CTL_DOCTOR_H
#define RPMAD_CTL_DOCTOR_H

#include <stdbool.h>

#include "lib/core/compiler.h"
#include "lib/core/err.h"

struct json_t;
struct out;

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_WARNING, /* it works, and could be better or will not last */
	DOCTOR_PROBLEM, /* something cannot work */
};

#define DOCTOR_REMEDY_MAX 192u

struct doctor {
	struct json_t *findings; /* a list of {check, state, text, remedy}; borrowed */
	const char *unit;        /* "rpmad.service", "rpmad@hall.service" */
};

/*
 * Add a finding.
 * remedy   what to do; NULL: nothing, as with one that is DOCTOR_OK
 */
void doctor_add(const struct doctor *doctor, const char *check, enum doctor_state state,
    const char *remedy, const char *fmt, ...) RPMAD_PRINTF(5, 6);
/* A remedy with names in it; buf is returned. */
const char *doctor_remedy(char buf[DOCTOR_REMEDY_MAX], const char *fmt, ...)
    RPMAD_PRINTF(2, 3);
/* Whether every finding is good. */
bool doctor_is_well(const struct json_t *findings);
/* The list as text; result is the object that has it as "findings". */
void doctor_view(struct out *out, const struct json_t *result);

/* doctor_system.c: what can be seen without the daemon */

/* Device nodes below root ("/dev/infiniband"), and whether a user may use them.
 * is_service   there is a service, which runs as that user */
void doctor_nodes(const struct doctor *doctor, const char *root, const char *user,
    bool is_service);
/* The file of the control socket, and whether the caller may use it. */
void doctor_socket(const struct doctor *doctor, const char *path);
/* The service, as program ("systemctl") shows it. return   whether it is installed */
bool doctor_service(const struct doctor *doctor, const char *program);

/* doctor_daemon.c: what the daemon says */

void doctor_unreachable(const struct doctor *doctor, const struct err *err);
void doctor_hello(const struct doctor *doctor, const struct json_t *hello);
void doctor_status(const struct doctor *doctor, const struct json_t *status);
void doctor_stats(const struct doctor *doctor, const struct json_t *stats);
void doctor_devices(const struct doctor *doctor, const struct json_t *devices);

#endif
