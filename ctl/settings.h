/* SPDX-License-Identifier: BSD-3-Clause */
/* The global options, and the socket that follows from them. */
#ifndef RPMAD_CTL_SETTINGS_H
#define RPMAD_CTL_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/core/err.h"
#include "lib/core/param.h"

struct json_t;

#define SETTINGS_PATH_MAX 108u /* of sun_path, see unix(7) */

struct settings {
	struct param_string socket;   /* borrowed from the options */
	struct param_string instance; /* likewise */
	uint64_t timeout_ms;
	uint64_t wait_daemon_ms;
	bool is_json;
	bool is_dry_run;
	bool is_help;
	bool is_version;
	char path[SETTINGS_PATH_MAX]; /* of the control socket */
};

extern const struct param_table settings_table;

/*
 * Read the global options: path is that of --socket, else of --instance, else of the
 * environment's RPMAD_SOCKET, else the default.
 *
 * options  borrowed for the life of *out
 * return   0; -EINVAL with err
 */
int settings_read(const struct json_t *options, struct settings *out, struct err *err);

#endif
