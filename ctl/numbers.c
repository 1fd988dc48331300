/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of members within members. */
#include <config.h>

#include "ctl/numbers.h"

#include <string.h>

#include <jansson.h>

#include "ctl/buf.h"
#include "ctl/field.h"

struct walk {
	numbers_fn fn;
	void *arg;
};

static void each(const struct walk *walk, const char *prefix, json_t *object,
    bool is_named);

/* Whether an element goes by this member: by its strings, but for those that tell its
 * state, by its port, or its bound. */
static bool
is_name(const char *key, const json_t *member)
{
	if (json_is_string(member))
		return strcmp(key, "state") != 0 && strcmp(key, "rate") != 0;
	return strcmp(key, "port") == 0 || strcmp(key, "le") == 0;
}

/* Add what an element is named by. */
static void
add_name(struct buf *name, json_t *item)
{
	json_t *member;
	const char *key;

	json_object_foreach(item, key, member)
		if (json_is_string(member) && is_name(key, member))
			buf_printf(name, ".%s", json_string_value(member));
	if (field_is_set(item, "port"))
		buf_printf(name, ".%lld", field_number(item, "port"));
	if (field_is_set(item, "le"))
		buf_printf(name, ".le_%lld", field_number(item, "le"));
}

/*
 * [{"reason": "peer", "count": 3}] by those names, buckets of a histogram by their bounds;
 * of other objects all members that are not in their names, by those.
 */
static void
each_element(const struct walk *walk, const char *prefix, json_t *list)
{
	struct buf name = { 0 };
	json_t *item, *count;
	size_t i;

	json_array_foreach(list, i, item) {
		buf_clear(&name);
		buf_puts(&name, prefix);
		add_name(&name, item);
		count = json_object_get(item, "count");
		if (count)
			walk->fn(walk->arg, buf_text(&name), count);
		else
			each(walk, buf_text(&name), item, true);
	}
	buf_free(&name);
}

/* is_named   some of its members are the prefix, and are not told again */
static void
each(const struct walk *walk, const char *prefix, json_t *object, bool is_named)
{
	struct buf name = { 0 };
	json_t *value;
	const char *key;

	json_object_foreach(object, key, value) {
		if (is_named && is_name(key, value))
			continue;
		buf_clear(&name);
		buf_printf(&name, "%s%s%s", prefix, *prefix != '\0' ? "." : "", key);
		if (json_is_object(value))
			each(walk, buf_text(&name), value, false);
		else if (json_is_array(value))
			each_element(walk, buf_text(&name), value);
		else
			walk->fn(walk->arg, buf_text(&name), value);
	}
	buf_free(&name);
}

void
numbers_each(struct json_t *object, numbers_fn fn, void *arg)
{
	struct walk walk = { .fn = fn, .arg = arg };

	each(&walk, "", object, false);
}

bool
numbers_is_in_list(struct json_t *object, const char *name)
{
	json_t *member;
	const char *key;
	size_t len;

	if (json_is_array(object))
		return true;
	json_object_foreach(object, key, member) {
		len = strlen(key);
		if (strncmp(name, key, len) == 0 && name[len] == '.' &&
		    name[len + 1] != '\0')
			return numbers_is_in_list(member, name + len + 1);
	}
	return false;
}
