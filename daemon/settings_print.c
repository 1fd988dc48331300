/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration as it takes effect, back in the form of its file. */
#include <config.h>

#include "daemon/settings_print.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "daemon/settings_reload.h"
#include "daemon/settings_roles.h"
#include "lib/core/event_type.h"
#include "lib/core/method.h"

#define NET_TEXT_MAX (ADDR_TEXT_MAX + sizeof("/128"))

static json_t *
listen_to_json(const struct settings *settings)
{
	json_t *list = json_array();
	char text[ADDR_TEXT_MAX];
	size_t i;

	for (i = 0; i < settings->listen_count; i++) {
		addr_format(&settings->listen[i], text, sizeof(text));
		if (json_array_append_new(list, json_string(text)) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* "10.0.0.0/8". */
static void
format_net(const struct addr_net *net, char *buf, size_t size)
{
	struct sockaddr_storage addr = { .ss_family = (sa_family_t)net->family };
	char text[ADDR_TEXT_MAX];

	if (net->family == AF_INET)
		memcpy(&((struct sockaddr_in *)(void *)&addr)->sin_addr, net->bytes, 4);
	else
		memcpy(&((struct sockaddr_in6 *)(void *)&addr)->sin6_addr, net->bytes,
		    16);
	(void)snprintf(buf, size, "%s/%u", addr_format_ip(&addr, text, sizeof(text)),
	    net->prefix_bits);
}

static json_t *
allow_to_json(const struct settings *settings)
{
	json_t *list = json_array();
	char text[NET_TEXT_MAX];
	size_t i;

	for (i = 0; i < settings->conns_allow_count; i++) {
		format_net(&settings->conns_allow[i], text, sizeof(text));
		if (json_array_append_new(list, json_string(text)) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *
receive_to_json(const struct settings *settings)
{
	return json_pack("{s:s, s:I, s:I, s:I}", "refill",
	    settings->refill == REFILL_AUTO ? "auto" : "manual", "target",
	    (json_int_t)settings->receive_target, "low_watermark",
	    (json_int_t)settings->receive_low_watermark, "min_rnr_timer_us",
	    (json_int_t)settings->min_rnr_timer_us);
}

static json_t *
conns_to_json(const struct settings *settings)
{
	return json_pack("{s:I, s:o, s:I, s:I, s:b}", "max",
	    (json_int_t)settings->conns_max, "allow", allow_to_json(settings),
	    "quota_slots", (json_int_t)settings->conns_quota_slots, "idle_ms",
	    (json_int_t)settings->conns_idle_ms, "announce",
	    (int)settings->conns_announce);
}

static json_t *
control_to_json(const struct settings *settings)
{
	char mode[sizeof("00000000000")];

	(void)snprintf(mode, sizeof(mode), "%04o", settings->control_mode);
	return json_pack("{s:s, s:s, s:I, s:I, s:o}", "socket",
	    settings->control_socket, "mode", mode, "max_clients",
	    (json_int_t)settings->control_max_clients, "max_request",
	    (json_int_t)settings->control_max_request, "roles",
	    settings_roles_to_json(settings->roles));
}

json_t *
settings_to_json(const struct settings *settings)
{
	return json_pack(
	    "{s:o, s:s, s:{s:I, s:I, s:b, s:b}, s:o, s:{s:I}, s:o, s:o, s:{s:s}}",
	    "listen", listen_to_json(settings), "device", settings->device, "pool",
	    "slots", (json_int_t)settings->pool_slots, "slot_size",
	    (json_int_t)settings->pool_slot_size, "huge_pages",
	    (int)settings->pool_huge_pages, "share", (int)settings->pool_share,
	    "receive", receive_to_json(settings), "send", "slots",
	    (json_int_t)settings->send_slots, "connections", conns_to_json(settings),
	    "control", control_to_json(settings), "log", "level",
	    log_level_name(settings->log_level));
}

/* Print a value whose reference is taken. */
static int
print(json_t *json, FILE *file)
{
	int rc = -ENOMEM;

	if (json)
		rc = json_dumpf(json, file, JSON_INDENT(2)) < 0 ||
			putc('\n', file) == EOF
		    ? -EIO
		    : 0;
	json_decref(json);
	return rc;
}

int
settings_print(const struct settings *settings, FILE *file)
{
	return print(settings_to_json(settings), file);
}

/* A row, and whether its key takes effect at a reload. */
static json_t *
key_to_json(const struct param_spec *spec)
{
	json_t *row = param_spec_to_json(spec);

	if (json_object_set_new(row, "reload",
		json_boolean(settings_can_reload(spec->name))) == 0)
		return row;
	json_decref(row);
	return NULL;
}

static json_t *
keys_to_json(void)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < settings_table.count; i++) {
		if (json_array_append_new(list, key_to_json(&settings_table.specs[i])) <
		    0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *
events_to_json(void)
{
	json_t *list = json_array();
	unsigned int type;

	for (type = 0; type < EVENT_TYPE_COUNT; type++) {
		if (json_array_append_new(list,
			json_pack("{s:s, s:s}", "type",
			    event_type_name((enum event_type)type), "help",
			    event_type_help((enum event_type)type))) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

int
settings_print_schema(FILE *file)
{
	json_t *schema = method_catalogue_to_json();
	json_t *keys = keys_to_json(), *events = events_to_json();

	/* The calls take keys and events, and fail when these or the schema are NULL. */
	if (json_object_set_new(schema, "config", keys) < 0) {
		json_decref(events);
		json_decref(schema);
		return -ENOMEM;
	}
	if (json_object_set_new(schema, "events", events) < 0) {
		json_decref(schema);
		return -ENOMEM;
	}
	return print(schema, file);
}
