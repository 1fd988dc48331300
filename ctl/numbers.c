/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of members within members. */
#include <config.h>

#include "ctl/numbers.h"

#include <jansson.h>

#include "ctl/buf.h"

struct walk {
	numbers_fn fn;
	void *arg;
};

static void each(const struct walk *walk, const char *prefix, json_t *object);

/* [{"reason": "peer", "count": 3}] by those names. */
static void
each_count(const struct walk *walk, const char *prefix, json_t *list)
{
	json_t *item, *member;
	struct buf name = { 0 };
	const char *key;
	size_t i;

	json_array_foreach(list, i, item) {
		buf_clear(&name);
		buf_puts(&name, prefix);
		json_object_foreach(item, key, member)
			if (json_is_string(member))
				buf_printf(&name, ".%s", json_string_value(member));
		walk->fn(walk->arg, buf_text(&name), json_object_get(item, "count"));
	}
	buf_free(&name);
}

static void
each(const struct walk *walk, const char *prefix, json_t *object)
{
	struct buf name = { 0 };
	json_t *value;
	const char *key;

	json_object_foreach(object, key, value) {
		buf_clear(&name);
		buf_printf(&name, "%s%s%s", prefix, *prefix != '\0' ? "." : "", key);
		if (json_is_object(value))
			each(walk, buf_text(&name), value);
		else if (json_is_array(value))
			each_count(walk, buf_text(&name), value);
		else
			walk->fn(walk->arg, buf_text(&name), value);
	}
	buf_free(&name);
}

void
numbers_each(struct json_t *object, numbers_fn fn, void *arg)
{
	struct walk walk = { .fn = fn, .arg = arg };

	each(&walk, "", object);
}
