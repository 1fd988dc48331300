/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration: the table of its keys, and the checks between them. */
#include <config.h>

#include "daemon/settings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "daemon/settings_roles.h"

#define SETTINGS_FILE_MAX 1048576u /* bytes */
#define SLOT_ALIGN        64u      /* a slot's size is a multiple of it, bytes */
#define MODE_MAX          0777u
#define IDLE_MS_MAX       604800000u
#define DEFAULTS          "defaults" /* in place of the name of a file */
#define AT(field)         offsetof(struct raw, field)

/* What the table decodes into, before the checks. */
struct raw {
	struct param_list listen;
	struct param_string device;
	uint64_t slots, slot_size;
	bool huge_pages, share;
	unsigned int refill;
	uint64_t target, low_watermark, min_rnr_timer_us;
	uint64_t send_slots;
	uint64_t conns_max, quota_slots, idle_ms;
	struct param_list allow;
	bool announce;
	struct param_string socket, mode;
	uint64_t max_clients, max_request;
	struct param_object roles;
	unsigned int log_level;
};

static const char *const refill_words[] = { "auto", "manual", NULL };

/* clang-format off */
static const struct param_spec specs[] = {
	{ .name = "listen", .type = PARAM_STRINGS, .max = SETTINGS_LISTEN_MAX, .offset = AT(listen),
	  .doc = "addresses to listen at, each \"ADDR:PORT\"" },
	{ .name = "device", .type = PARAM_STRING, .max = sizeof(((struct settings *)0)->device) - 1, .unit = "bytes", .def = "", .offset = AT(device),
	  .doc = "RDMA device; empty: the one behind the first address of listen" },
	{ .name = "pool.slots", .type = PARAM_UINT, .min = 1, .max = 65536, .unit = "slots", .def = "1024", .offset = AT(slots),
	  .doc = "how many messages the pool holds" },
	{ .name = "pool.slot_size", .type = PARAM_UINT, .min = SLOT_ALIGN, .max = 2097152, .unit = "bytes", .def = "4096", .offset = AT(slot_size),
	  .doc = "the longest message; a multiple of 64" },
	{ .name = "pool.huge_pages", .type = PARAM_BOOL, .def = "false", .offset = AT(huge_pages),
	  .doc = "take the pool's memory from the system's huge pages" },
	{ .name = "pool.share", .type = PARAM_BOOL, .def = "false", .offset = AT(share),
	  .doc = "let clients of the role post read messages in the pool's memory" },
	{ .name = "receive.refill", .type = PARAM_ENUM, .words = refill_words, .def = "auto", .offset = AT(refill),
	  .doc = "who posts free slots: the daemon, or recv.post alone" },
	{ .name = "receive.target", .type = PARAM_UINT, .min = 1, .max = 65536, .unit = "slots", .offset = AT(target),
	  .doc = "how many slots refill keeps posted (default: half of pool.slots)" },
	{ .name = "receive.low_watermark", .type = PARAM_UINT, .min = 1, .max = 65536, .unit = "slots", .offset = AT(low_watermark),
	  .doc = "fewer slots posted than this are counted as low (default: an eighth of pool.slots)" },
	{ .name = "receive.min_rnr_timer_us", .type = PARAM_UINT, .min = 10, .max = 655360, .unit = "us", .def = "640", .offset = AT(min_rnr_timer_us),
	  .doc = "how long a sender that met no posted slot waits before it tries again" },
	{ .name = "send.slots", .type = PARAM_UINT, .min = 1, .max = 4096, .unit = "slots", .def = "64", .offset = AT(send_slots),
	  .doc = "how many sends can be under way" },
	{ .name = "connections.max", .type = PARAM_UINT, .min = 1, .max = 4096, .unit = "connections", .def = "512", .offset = AT(conns_max),
	  .doc = "how many connections can be open" },
	{ .name = "connections.allow", .type = PARAM_STRINGS, .max = SETTINGS_ALLOW_MAX, .offset = AT(allow),
	  .doc = "networks in CIDR form whose peers may connect; empty: all" },
	{ .name = "connections.quota_slots", .type = PARAM_UINT, .max = 65536, .unit = "slots", .def = "0", .offset = AT(quota_slots),
	  .doc = "a peer that holds more is disconnected when slots run short; 0: none is" },
	{ .name = "connections.idle_ms", .type = PARAM_UINT, .max = IDLE_MS_MAX, .unit = "ms", .def = "0", .offset = AT(idle_ms),
	  .doc = "a connection without messages for so long is closed; 0: never" },
	{ .name = "connections.announce", .type = PARAM_BOOL, .def = "true", .offset = AT(announce),
	  .doc = "tell peers the slot size when accepting" },
	{ .name = "control.socket", .type = PARAM_STRING, .min = 1, .max = sizeof(((struct settings *)0)->control_socket) - 1, .unit = "bytes",
	  .def = RPMAD_RUNSTATEDIR "/rpmad.sock", .offset = AT(socket),
	  .doc = "path of the control socket" },
	{ .name = "control.mode", .type = PARAM_STRING, .min = 1, .max = 4, .unit = "digits", .def = "0660", .offset = AT(mode),
	  .doc = "permission bits of the control socket, octal" },
	{ .name = "control.max_clients", .type = PARAM_UINT, .min = 1, .max = 1024, .unit = "clients", .def = "64", .offset = AT(max_clients),
	  .doc = "how many clients are served at a time" },
	{ .name = "control.max_request", .type = PARAM_UINT, .min = 4096, .max = 16777216, .unit = "bytes", .def = "1048576", .offset = AT(max_request),
	  .doc = "the longest request" },
	{ .name = "control.roles", .type = PARAM_OBJECT, .offset = AT(roles),
	  .doc = "who has the roles read, post and admin: {\"post\": {\"users\": [], \"groups\": []}}" },
	{ .name = "log.level", .type = PARAM_ENUM, .words = log_level_words, .def = "notice", .offset = AT(log_level),
	  .doc = "the least important lines that are logged" },
};
/* clang-format on */

const struct param_table settings_table = { specs, ARRAY_LEN(specs) };

static int at(struct err *err, const char *path, const char *fmt, ...)
    RPMAD_PRINTF(3, 4);

/* An error of one key. */
static int
at(struct err *err, const char *path, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list args;
	int rc;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	rc = err_set(err, ERR_INVALID_PARAMS, 0, "%s", text);
	err_path(err, "%s", path);
	return rc;
}

static int
check_listen(const struct param_list *list, struct settings *out, struct err *err)
{
	size_t i, j;
	int rc;

	for (i = 0; i < list->count; i++) {
		rc = addr_parse_hostport(param_list_at(list, i), &out->listen[i], err);
		for (j = 0; rc == 0 && j < i; j++)
			if (addr_equal(&out->listen[i], &out->listen[j]) &&
			    addr_port(&out->listen[i]) != 0)
				rc = err_set(err, ERR_INVALID_PARAMS, 0,
				    "\"%s\" is there twice", param_list_at(list, i));
		if (rc == 0 &&
		    (addr_is_wildcard(&out->listen[i]) ||
			addr_is_multicast(&out->listen[i]))) {
			rc = err_set(err, ERR_INVALID_PARAMS, 0,
			    "\"%s\" stands for no device", param_list_at(list, i));
			err_hint(err,
			    "name the address of one: rpmactl devices lists "
			    "them");
		}
		if (rc < 0) {
			err_path(err, "listen[%zu]", i);
			return rc;
		}
	}
	out->listen_count = list->count;
	return 0;
}

static int
check_allow(const struct param_list *list, struct settings *out, struct err *err)
{
	size_t i;
	int rc;

	for (i = 0; i < list->count; i++) {
		rc = addr_net_parse(param_list_at(list, i), &out->conns_allow[i], err);
		if (rc < 0) {
			err_path(err, "connections.allow[%zu]", i);
			return rc;
		}
	}
	out->conns_allow_count = list->count;
	return 0;
}

/* The sizes of the pool and how much of it is posted. */
static int
check_pool(const struct raw *raw, struct settings *out, struct err *err)
{
	const uint64_t eighth = raw->slots / 8;

	if (raw->slot_size % SLOT_ALIGN != 0)
		return at(err, "pool.slot_size", "%u is no multiple of %u bytes",
		    (unsigned int)raw->slot_size, SLOT_ALIGN);
	out->pool_slots = (uint32_t)raw->slots;
	out->pool_slot_size = (uint32_t)raw->slot_size;
	if (raw->target == PARAM_UNSET)
		out->receive_target = (uint32_t)(raw->slots > 1 ? raw->slots / 2 : 1);
	else if (raw->target > raw->slots)
		return at(err, "receive.target", "%u is over pool.slots, which is %u",
		    (unsigned int)raw->target, (unsigned int)raw->slots);
	else
		out->receive_target = (uint32_t)raw->target;
	if (raw->low_watermark == PARAM_UNSET)
		out->receive_low_watermark = (uint32_t)(eighth > 0 ? eighth : 1);
	else
		out->receive_low_watermark = (uint32_t)raw->low_watermark;
	if (out->receive_low_watermark <= out->receive_target)
		return 0;
	if (raw->low_watermark != PARAM_UNSET)
		return at(err, "receive.low_watermark",
		    "%u is over receive.target, which is %u",
		    (unsigned int)out->receive_low_watermark,
		    (unsigned int)out->receive_target);
	out->receive_low_watermark = out->receive_target;
	return 0;
}

/* "0660" or "660". */
static int
check_mode(const struct param_string *text, uint32_t *out, struct err *err)
{
	uint32_t mode = 0;
	size_t i;

	for (i = 0; i < text->len; i++) {
		if (text->ptr[i] < '0' || text->ptr[i] > '7')
			return at(err, "control.mode",
			    "\"%s\" is no octal number like \"0660\"", text->ptr);
		mode = mode * 8 + (uint32_t)(text->ptr[i] - '0');
	}
	if (mode > MODE_MAX)
		return at(err, "control.mode", "\"%s\" is over \"0777\"", text->ptr);
	*out = mode;
	return 0;
}

static void
copy_text(char *out, size_t size, const struct param_string *text)
{
	/* The table's limit is the size of the field. */
	(void)snprintf(out, size, "%s", text->ptr);
}

/* Take over the values that need no check of their own. */
static void
copy_plain(const struct raw *raw, struct settings *out)
{
	copy_text(out->device, sizeof(out->device), &raw->device);
	out->pool_huge_pages = raw->huge_pages;
	out->pool_share = raw->share;
	out->refill = (enum refill_mode)raw->refill;
	out->min_rnr_timer_us = (uint32_t)raw->min_rnr_timer_us;
	out->send_slots = (uint32_t)raw->send_slots;
	out->conns_max = (uint32_t)raw->conns_max;
	out->conns_quota_slots = (uint32_t)raw->quota_slots;
	out->conns_idle_ms = raw->idle_ms;
	out->conns_announce = raw->announce;
	copy_text(out->control_socket, sizeof(out->control_socket), &raw->socket);
	out->control_max_clients = (uint32_t)raw->max_clients;
	out->control_max_request = (uint32_t)raw->max_request;
	out->log_level = (enum log_level)raw->log_level;
}

/* Fill settings from out->json (NULL: all defaults). */
static int
fill(struct settings *out, struct err *err)
{
	struct raw raw;
	int rc;

	rc = param_decode(&settings_table, out->json, "", true, &raw, err);
	if (rc == 0)
		rc = check_listen(&raw.listen, out, err);
	if (rc == 0)
		rc = check_pool(&raw, out, err);
	if (rc == 0)
		rc = check_allow(&raw.allow, out, err);
	if (rc == 0)
		rc = check_mode(&raw.mode, &out->control_mode, err);
	if (rc == 0)
		rc = settings_roles_read(raw.roles.json, out->roles, err);
	if (rc == 0)
		copy_plain(&raw, out);
	return rc;
}

void
settings_name_error(const char *file, const struct err *cause, struct err *err)
{
	(void)err_set(err, cause->code, cause->errnum, "%s: %s%s%s",
	    file ? file : DEFAULTS, cause->path, cause->path[0] != '\0' ? ": " : "",
	    cause->text);
	err_path(err, "%s", cause->path);
	err_hint(err, "%s", cause->hint);
}

bool
settings_is_fault(const struct err *err)
{
	if (err->code != ERR_INTERNAL_ERROR)
		return false;
	switch (err->errnum) {
	case ENOENT: /* the file that was named is none that can be read */
	case ENOTDIR:
	case EISDIR:
	case EACCES:
	case EPERM:
	case ELOOP:
	case ENAMETOOLONG:
		return false;
	default:
		return true;
	}
}

/* Settings from a value whose reference is taken (NULL: the defaults). */
static int
make(json_t *json, const char *name, struct settings **out, struct err *err)
{
	struct settings *settings = calloc(1, sizeof(*settings));
	struct err cause;
	int rc;

	if (!settings) {
		json_decref(json);
		return err_set(err, ERR_INTERNAL_ERROR, ENOMEM, "out of memory");
	}
	settings->json = json;
	rc = fill(settings, &cause);
	if (rc < 0) {
		settings_name_error(name, &cause, err);
		settings_free(settings);
		return rc;
	}
	*out = settings;
	return 0;
}

int
settings_parse(const char *text, size_t len, const char *name, struct settings **out,
    struct err *err)
{
	json_error_t error;
	json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);

	if (!json && json_error_code(&error) == json_error_out_of_memory)
		return err_set(err, ERR_INTERNAL_ERROR, ENOMEM, "out of memory");
	if (!json)
		return err_set(err, ERR_PARSE_ERROR, 0, "%s: line %d, column %d: %s",
		    name, error.line, error.column, error.text);
	if (!json_is_object(json)) {
		json_decref(json);
		return err_set(err, ERR_INVALID_PARAMS, 0, "%s: must be an object",
		    name);
	}
	return make(json, name, out, err);
}

/* The bytes of a file, to be freed. return   0; negative errno with err */
static int
read_file(const char *path, char **out, size_t *len, struct err *err)
{
	FILE *file = fopen(path, "re");
	char *bytes = malloc(SETTINGS_FILE_MAX + 1);
	char text[128];
	int rc;

	if (!file || !bytes) {
		rc = -errno;
		goto fail;
	}
	*len = fread(bytes, 1, SETTINGS_FILE_MAX + 1, file);
	if (ferror(file)) {
		rc = -errno;
		goto fail;
	}
	(void)fclose(file);
	if (*len > SETTINGS_FILE_MAX) {
		free(bytes);
		return err_set(err, ERR_TOO_LARGE, 0, "%s: more than %u bytes", path,
		    SETTINGS_FILE_MAX);
	}
	*out = bytes;
	return 0;

fail:
	if (file)
		(void)fclose(file);
	free(bytes);
	(void)err_set(err, ERR_INTERNAL_ERROR, -rc, "%s: %s", path,
	    err_errno_text(-rc, text, sizeof(text)));
	return rc;
}

const char *
settings_file(const char *named)
{
	if (named)
		return named;
	/* One that is there and cannot be reached is no reason to do without. */
	return access(SETTINGS_DEFAULT_FILE, F_OK) == 0 || errno != ENOENT
	    ? SETTINGS_DEFAULT_FILE
	    : NULL;
}

int
settings_load(const char *path, struct settings **out, struct err *err)
{
	char *bytes = NULL;
	size_t len = 0;
	int rc;

	if (!path)
		return make(NULL, DEFAULTS, out, err);
	rc = read_file(path, &bytes, &len, err);
	if (rc < 0)
		return rc;
	rc = settings_parse(bytes, len, path, out, err);
	free(bytes);
	return rc;
}

void
settings_free(struct settings *settings)
{
	if (!settings)
		return;
	json_decref(settings->json);
	free(settings);
}
