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

/*
 * Add a finding to a list: {check, state, text, remedy}.
 * remedy   what to do; NULL: nothing
 */
void doctor_add(struct json_t *findings, const char *check, enum doctor_state state,
    const char *remedy, const char *fmt, ...) RPMAD_PRINTF(5, 6);
/* Whether every finding is good. */
bool doctor_is_well(const struct json_t *findings);
/* The list as text; result is the object that has it as "findings". */
void doctor_view(struct out *out, const struct json_t *result);

/* doctor_system.c: what can be seen without the daemon */

/* Device nodes below root ("/dev/infiniband"), and whether a user may use them. */
void doctor_nodes(struct json_t *findings, const char *root, const char *user);
/* The file of the control socket, and whether the caller may use it. */
void doctor_socket(struct json_t *findings, const char *path);
/* The service by its unit's name, as program ("systemctl") shows it. */
void doctor_service(struct json_t *findings, const char *unit, const char *program);

/* doctor_daemon.c: what the daemon says; each may be NULL, it did not answer */

void doctor_unreachable(struct json_t *findings, const struct err *err);
void doctor_hello(struct json_t *findings, const struct json_t *hello);
void doctor_status(struct json_t *findings, const struct json_t *status);
void doctor_stats(struct json_t *findings, const struct json_t *stats);
void doctor_devices(struct json_t *findings, const struct json_t *devices);

#endif
