/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of global options and what follows from their values. */
#include <config.h>

#include "ctl/settings.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX_MS     86400000u
#define INSTANCE_MAX    64u
#define SOCKET_VARIABLE "RPMAD_SOCKET"
#define AT(field)       offsetof(struct settings, field)

/* clang-format off */
static const struct param_spec specs[] = {
	{ .name = "socket", .type = PARAM_STRING, .min = 1, .max = SETTINGS_PATH_MAX - 1, .unit = "bytes", .option = "s",
	  .doc = "path of the control socket (default: $" SOCKET_VARIABLE ", else " RPMAD_RUNSTATEDIR "/rpmad.sock)", .offset = AT(socket) },
	{ .name = "instance", .type = PARAM_STRING, .min = 1, .max = INSTANCE_MAX, .unit = "bytes", .option = "i",
	  .doc = "name of an instance: its socket is " RPMAD_RUNSTATEDIR "/NAME.sock", .offset = AT(instance) },
	{ .name = "timeout_ms", .type = PARAM_UINT, .min = 1, .max = TIME_MAX_MS, .unit = "ms", .def = "10000", .option = "t",
	  .doc = "how long the daemon may take to answer; what a command itself waits comes on top", .offset = AT(timeout_ms) },
	{ .name = "wait_daemon_ms", .type = PARAM_UINT, .max = TIME_MAX_MS, .unit = "ms", .def = "0", .option = "wait-daemon",
	  .doc = "how long to wait until a daemon is there", .offset = AT(wait_daemon_ms) },
	{ .name = "json", .type = PARAM_BOOL, .def = "false",
	  .doc = "print the result as one line of JSON", .offset = AT(is_json) },
	{ .name = "dry_run", .type = PARAM_BOOL, .def = "false",
	  .doc = "print the (first) request instead of sending it", .offset = AT(is_dry_run) },
	{ .name = "help", .type = PARAM_BOOL, .def = "false", .option = "h",
	  .doc = "print help and exit", .offset = AT(is_help) },
	{ .name = "version", .type = PARAM_BOOL, .def = "false", .option = "V",
	  .doc = "print the version and exit", .offset = AT(is_version) },
};
/* clang-format on */

const struct param_table settings_table = { specs, ARRAY_LEN(specs) };

int
settings_read(const struct json_t *options, struct settings *out, struct err *err)
{
	const char *variable = getenv(SOCKET_VARIABLE);
	int len, rc;

	rc = param_decode(&settings_table, options, "", false, out, err);
	if (rc != 0)
		return rc;
	if (out->socket.ptr && out->instance.ptr)
		return err_set(err, ERR_INVALID_PARAMS, 0,
		    "--socket and --instance exclude each other");
	if (out->instance.ptr && strchr(out->instance.ptr, '/'))
		return err_set(err, ERR_INVALID_PARAMS, 0,
		    "--instance takes a name, not a path: \"%s\"", out->instance.ptr);
	if (out->socket.ptr)
		len = snprintf(out->path, sizeof(out->path), "%s", out->socket.ptr);
	else if (out->instance.ptr)
		len = snprintf(out->path, sizeof(out->path),
		    RPMAD_RUNSTATEDIR "/%s.sock", out->instance.ptr);
	else
		len = snprintf(out->path, sizeof(out->path), "%s",
		    variable && variable[0] != '\0' ? variable
						    : RPMAD_RUNSTATEDIR "/rpmad.sock");
	if (len < 0 || (size_t)len >= sizeof(out->path))
		return err_set(err, ERR_INVALID_PARAMS, 0,
		    "the path of the socket is over %zu bytes: %.64s...",
		    sizeof(out->path) - 1, out->path);
	return 0;
}
