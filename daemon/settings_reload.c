/* SPDX-License-Identifier: BSD-3-Clause */
/* Two configurations compared key by key, and what of the new one is taken over. */
#include <config.h>

#include "daemon/settings_reload.h"

#include <errno.h>
#include <string.h>

#include <jansson.h>

#define KEY_MAX 64u

/*
 * Keys that are looked up whenever they are needed. The others have shaped something
 * that was made at the start: memory, queues, the socket, the lists of its clients.
 */
static const char *const reloadable[] = {
	"pool.share",
	"receive.refill",
	"receive.target",
	"receive.low_watermark",
	"receive.min_rnr_timer_us",
	"connections.allow",
	"connections.quota_slots",
	"connections.idle_ms",
	"connections.announce",
	"control.roles",
	"log.level",
};

bool
settings_can_reload(const char *key)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(reloadable); i++)
		if (strcmp(reloadable[i], key) == 0)
			return true;
	return false;
}

/* The value of "pool.slots"; NULL: there is none. */
static const json_t *
value_of(const json_t *json, const char *key)
{
	const char *dot = strchr(key, '.');
	char section[KEY_MAX];

	if (!dot)
		return json_object_get(json, key);
	memcpy(section, key, (size_t)(dot - key));
	section[dot - key] = '\0';
	return json_object_get(json_object_get(json, section), dot + 1);
}

static void
add_key(struct settings_keys *keys, const char *key)
{
	if (keys->count < SETTINGS_KEYS_MAX)
		keys->names[keys->count++] = key;
}

/* json_equal() wants pointers to non-const, though it changes nothing. */
static bool
is_same(const json_t *a, const json_t *b)
{
	return json_equal((json_t *)(uintptr_t)a, (json_t *)(uintptr_t)b) != 0;
}

int
settings_compare(const struct settings *current, const struct settings *fresh,
    struct settings_diff *out)
{
	json_t *before = settings_to_json(current), *after = settings_to_json(fresh);
	size_t i;
	int rc = -ENOMEM;

	*out = (struct settings_diff){ 0 };
	if (!before || !after)
		goto done;
	for (i = 0; i < settings_table.count; i++) {
		const char *key = settings_table.specs[i].name;

		if (is_same(value_of(before, key), value_of(after, key)))
			continue;
		/* Shares of a pool of another size are not those of this one. */
		if (!settings_can_reload(key) ||
		    (fresh->pool_slots != current->pool_slots &&
			(strcmp(key, "receive.target") == 0 ||
			    strcmp(key, "receive.low_watermark") == 0)))
			add_key(&out->pending, key);
		else
			add_key(&out->changed, key);
	}
	rc = 0;

done:
	json_decref(before);
	json_decref(after);
	return rc;
}

static bool
has_key(const struct settings_keys *keys, const char *key)
{
	size_t i;

	for (i = 0; i < keys->count; i++)
		if (strcmp(keys->names[i], key) == 0)
			return true;
	return false;
}

void
settings_take(struct settings *current, struct settings *fresh,
    const struct settings_diff *diff)
{
	json_t *json = current->json;

	current->refill = fresh->refill;
	if (has_key(&diff->changed, "receive.target"))
		current->receive_target = fresh->receive_target;
	if (has_key(&diff->changed, "receive.low_watermark"))
		current->receive_low_watermark = fresh->receive_low_watermark;
	current->min_rnr_timer_us = fresh->min_rnr_timer_us;
	memcpy(current->conns_allow, fresh->conns_allow, sizeof(current->conns_allow));
	current->conns_allow_count = fresh->conns_allow_count;
	current->conns_quota_slots = fresh->conns_quota_slots;
	current->conns_idle_ms = fresh->conns_idle_ms;
	current->conns_announce = fresh->conns_announce;
	memcpy(current->roles, fresh->roles, sizeof(current->roles));
	current->json = fresh->json;
	fresh->json = json;
	current->log_level = fresh->log_level;
}
