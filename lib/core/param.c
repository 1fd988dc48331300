/* SPDX-License-Identifier: BSD-3-Clause */
/* Decode JSON objects into structs by parameter tables. */
#include <config.h>

#include "lib/core/param.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "lib/core/num.h"
#include "lib/core/text.h"

#define VALUE_TEXT_MAX 96 /* of a wrong word in an error */
#define GROUP_MAX      64 /* of a group's name in a table */

/* Where a value stands, for the error about it. */
struct place {
	const char *root;
	const char *name;
	struct err *err;
};

/* jansson's iterators want a pointer to non-const, though they change nothing. */
static json_t *
unconst(const json_t *json)
{
	return (json_t *)(uintptr_t)json;
}

static const char *
type_text(const json_t *json)
{
	switch (json_typeof(json)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
		return "an integer";
	case JSON_REAL:
		return "a number with a fraction or exponent";
	case JSON_TRUE:
		return "true";
	case JSON_FALSE:
		return "false";
	case JSON_NULL:
		return "null";
	}
	return "something else";
}

static void
set_path(const struct place *at)
{
	err_path(at->err, "%s%s%s", at->root, at->root[0] && at->name[0] ? "." : "",
	    at->name);
}

static int
wrong_type(const struct place *at, const char *wanted, const json_t *json)
{
	int rc = err_set(at->err, ERR_INVALID_PARAMS, 0, "must be %s, not %s", wanted,
	    type_text(json));

	set_path(at);
	return rc;
}

/* Check a length or count against the row. */
static int
check_size(const struct place *at, const struct param_spec *spec, size_t n,
    const char *noun)
{
	bool below = n < spec->min;
	int rc;

	if (!below && n <= spec->max)
		return 0;
	rc = err_set(at->err, ERR_INVALID_PARAMS, 0, "%zu %s are %s than %" PRIu64, n,
	    noun, below ? "fewer" : "more", below ? spec->min : spec->max);
	set_path(at);
	return rc;
}

/* ---- one value ---- */

static int
decode_uint(const struct place *at, const struct param_spec *spec, const json_t *json,
    uint64_t *out)
{
	json_int_t value;
	bool below;
	int rc;

	if (!json_is_integer(json))
		return wrong_type(at, "an integer", json);
	value = json_integer_value(json);
	below = value < 0 || (uint64_t)value < spec->min;
	if (!below && (uint64_t)value <= spec->max) {
		*out = (uint64_t)value;
		return 0;
	}
	rc = err_set(at->err, ERR_INVALID_PARAMS, 0,
	    "%" JSON_INTEGER_FORMAT " is %s %" PRIu64 "%s%s", value,
	    below ? "below" : "over", below ? spec->min : spec->max,
	    spec->unit ? " " : "", spec->unit ? spec->unit : "");
	set_path(at);
	return rc;
}

static int
check_string(const struct place *at, const struct param_spec *spec, const char *text,
    size_t len)
{
	int rc;

	if (text_is_utf8(text, len))
		return check_size(at, spec, len, "bytes");
	rc = err_set(at->err, ERR_INVALID_PARAMS, 0, "must be UTF-8 without NUL bytes");
	set_path(at);
	return rc;
}

static int
decode_string(const struct place *at, const struct param_spec *spec, const json_t *json,
    struct param_string *out)
{
	if (!json_is_string(json))
		return wrong_type(at, "a string", json);
	out->ptr = json_string_value(json);
	out->len = json_string_length(json);
	return check_string(at, spec, out->ptr, out->len);
}

/* Append to a list of words; what does not fit is cut. */
static void
add_word(char *list, size_t size, const char *word)
{
	size_t len = strlen(list);

	(void)snprintf(list + len, size - len, "%s%s", len > 0 ? ", " : "", word);
}

static int
find_word(const struct place *at, const struct param_spec *spec, const char *text,
    unsigned int *out)
{
	char all[256] = "";
	unsigned int i;
	int rc;

	for (i = 0; spec->words[i]; i++) {
		if (strcmp(spec->words[i], text) == 0) {
			*out = i;
			return 0;
		}
		add_word(all, sizeof(all), spec->words[i]);
	}
	rc = err_set(at->err, ERR_INVALID_PARAMS, 0, "\"%.*s\" is none of: %s",
	    VALUE_TEXT_MAX, text, all);
	set_path(at);
	return rc;
}

/* One string of a list. */
static int
check_item(const struct place *at, const json_t *item, size_t i)
{
	const char *text;
	size_t len;
	int rc;

	if (!json_is_string(item)) {
		rc = wrong_type(at, "a string", item);
	} else {
		text = json_string_value(item);
		len = json_string_length(item);
		if (!text_is_utf8(text, len))
			rc = err_set(at->err, ERR_INVALID_PARAMS, 0,
			    "must be UTF-8 without NUL bytes");
		else if (len > PARAM_ITEM_MAX)
			rc = err_set(at->err, ERR_INVALID_PARAMS, 0,
			    "%zu bytes are more than %u", len, PARAM_ITEM_MAX);
		else
			return 0;
	}
	err_path(at->err, "%s%s%s[%zu]", at->root, at->root[0] ? "." : "", at->name, i);
	return rc;
}

static int
decode_strings(const struct place *at, const struct param_spec *spec,
    const json_t *json, struct param_list *out)
{
	size_t i, n;
	int rc;

	if (!json_is_array(json))
		return wrong_type(at, "a list of strings", json);
	n = json_array_size(json);
	rc = check_size(at, spec, n, "members");
	for (i = 0; rc == 0 && i < n; i++)
		rc = check_item(at, json_array_get(json, i), i);
	out->array = json;
	out->count = n;
	return rc;
}

static int
decode_value(const struct place *at, const struct param_spec *spec, const json_t *json,
    void *field)
{
	switch (spec->type) {
	case PARAM_BOOL:
		if (!json_is_boolean(json))
			return wrong_type(at, "true or false", json);
		*(bool *)field = json_is_true(json);
		return 0;
	case PARAM_UINT:
		return decode_uint(at, spec, json, field);
	case PARAM_STRING:
		return decode_string(at, spec, json, field);
	case PARAM_ENUM:
		if (!json_is_string(json))
			return wrong_type(at, "a string", json);
		return find_word(at, spec, json_string_value(json), field);
	case PARAM_STRINGS:
		return decode_strings(at, spec, json, field);
	case PARAM_OBJECT:
		if (!json_is_object(json))
			return wrong_type(at, "an object", json);
		((struct param_object *)field)->json = json;
		return 0;
	}
	return wrong_type(at, "known", json);
}

/* ---- a value that was not given ---- */

static uint64_t
default_uint(const struct param_spec *spec)
{
	uint64_t value = PARAM_UNSET;

	if (spec->def) {
		int rc = num_parse_u64(spec->def, &value);

		assert(rc == 0);
		(void)rc;
	}
	return value;
}

/* A table's default that does not fit its row is a bug of ours. */
static unsigned int
default_word(const struct param_spec *spec)
{
	const struct place nowhere = { "", spec->name, NULL };
	unsigned int value = 0;

	if (spec->def) {
		int rc = find_word(&nowhere, spec, spec->def, &value);

		assert(rc == 0);
		(void)rc;
	}
	return value;
}

static void
set_default(const struct param_spec *spec, void *field)
{
	switch (spec->type) {
	case PARAM_BOOL:
		*(bool *)field = spec->def && strcmp(spec->def, "true") == 0;
		return;
	case PARAM_UINT:
		*(uint64_t *)field = default_uint(spec);
		return;
	case PARAM_STRING:
		*(struct param_string *)field = (struct param_string){ spec->def,
			spec->def ? strlen(spec->def) : 0 };
		return;
	case PARAM_ENUM:
		*(unsigned int *)field = default_word(spec);
		return;
	case PARAM_STRINGS:
		*(struct param_list *)field = (struct param_list){ NULL, 0 };
		return;
	case PARAM_OBJECT:
		*(struct param_object *)field = (struct param_object){ NULL };
		return;
	}
}

/* ---- an object ---- */

/* What a key of an object is to the table. */
enum key_kind {
	KEY_UNKNOWN,
	KEY_VALUE, /* a row's name */
	KEY_GROUP  /* the names of rows lead through it */
};

/* name: the key with the groups before it, dotted. */
static enum key_kind
key_kind(const struct param_table *table, const char *name)
{
	size_t len = strlen(name), i;

	for (i = 0; i < table->count; i++) {
		if (strncmp(table->specs[i].name, name, len) != 0)
			continue;
		if (table->specs[i].name[len] == '\0')
			return KEY_VALUE;
		if (table->specs[i].name[len] == '.')
			return KEY_GROUP;
	}
	return KEY_UNKNOWN;
}

/* The keys that the object of that group ("" or "pool.") may have. */
static void
hint_keys(const struct param_table *table, const char *group, struct err *err)
{
	size_t group_len = strlen(group), len, last_len = 0, i;
	const char *key, *last = "";
	char all[384] = "", word[GROUP_MAX];

	for (i = 0; i < table->count; i++) {
		key = table->specs[i].name;
		if (strncmp(key, group, group_len) != 0)
			continue;
		key += group_len;
		len = strcspn(key, ".");
		if (len == last_len && strncmp(key, last, len) == 0)
			continue;
		(void)snprintf(word, sizeof(word), "%.*s", (int)len, key);
		add_word(all, sizeof(all), word);
		last = key;
		last_len = len;
	}
	if (all[0] == '\0')
		err_hint(err, "no parameters are taken");
	else
		err_hint(err, "known keys: %s", all);
}

/* Refuse keys that the table does not know; as deep as its names have dots. */
static int
check_keys(const struct param_table *table, const json_t *json, const char *group,
    const struct place *at, bool comments)
{
	char name[sizeof(at->err->path)];
	const char *key;
	json_t *value;
	int rc;

	json_object_foreach(unconst(json), key, value) {
		const struct place here = { at->root, name, at->err };
		enum key_kind kind;
		int len;

		if (comments && key[0] == '#')
			continue;
		len = snprintf(name, sizeof(name) - 1, "%s%s", group, key);
		kind = KEY_UNKNOWN;
		if (len < (int)sizeof(name) - 1 && !strchr(key, '.'))
			kind = key_kind(table, name);
		if (kind == KEY_UNKNOWN) {
			rc = err_set(at->err, ERR_INVALID_PARAMS, 0,
			    "unknown key \"%.*s\"", VALUE_TEXT_MAX, key);
			set_path(&here);
			hint_keys(table, group, at->err);
			return rc;
		}
		if (kind == KEY_VALUE)
			continue;
		if (!json_is_object(value))
			return wrong_type(&here, "an object", value);
		name[len] = '.';
		name[len + 1] = '\0';
		rc = check_keys(table, value, name, at, comments);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* The value that a dotted name leads to, or NULL. */
static const json_t *
lookup(const json_t *json, const char *name)
{
	char group[GROUP_MAX];
	size_t len;

	for (len = strcspn(name, "."); json && name[len] == '.';
	     len = strcspn(name, ".")) {
		(void)snprintf(group, sizeof(group), "%.*s", (int)len, name);
		json = json_object_get(json, group);
		name += len + 1;
	}
	return json_object_get(json, name);
}

int
param_decode(const struct param_table *table, const json_t *json, const char *root,
    bool comments, void *out, struct err *err)
{
	struct place at = { root, "", err };
	const struct param_spec *spec;
	const json_t *value;
	size_t i;
	int rc;

	if (json && !json_is_object(json))
		return wrong_type(&at, "an object", json);
	rc = json ? check_keys(table, json, "", &at, comments) : 0;
	for (i = 0; rc == 0 && i < table->count; i++) {
		spec = &table->specs[i];
		at.name = spec->name;
		value = lookup(json, spec->name);
		if (value) {
			rc = decode_value(&at, spec, value, (char *)out + spec->offset);
		} else if (spec->required) {
			rc = err_set(err, ERR_INVALID_PARAMS, 0, "is required");
			set_path(&at);
			err_hint(err, "%s", spec->doc);
		} else {
			set_default(spec, (char *)out + spec->offset);
		}
	}
	return rc;
}

const char *
param_list_at(const struct param_list *list, size_t i)
{
	return json_string_value(json_array_get(list->array, i));
}
