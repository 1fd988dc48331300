/* SPDX-License-Identifier: BSD-3-Clause */
/* A parameter's value from the text of an option, and its row as JSON. */
#include <config.h>

#include "lib/core/param.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include <jansson.h>

#include "lib/core/num.h"
#include "lib/core/text.h"

/* Room for the field of any type. */
union field {
	bool flag;
	uint64_t number;
	unsigned int word;
	struct param_string string;
	struct param_list list;
	struct param_object object;
};

static int
no_memory(struct err *err)
{
	return err_set(err, ERR_INTERNAL_ERROR, ENOMEM, "out of memory");
}

static bool
has_unit(const struct param_spec *spec, const char *unit)
{
	return spec->unit && strcmp(spec->unit, unit) == 0;
}

/* A number in the row's unit. return   as num_parse_u64() */
static int
parse_number(const struct param_spec *spec, const char *text, uint64_t *out)
{
	if (has_unit(spec, "bytes"))
		return num_parse_bytes(text, out);
	if (!has_unit(spec, "ms"))
		return num_parse_u64(text, out);
	if (!spec->option && num_parse_u64(text, out) == 0)
		return 0;
	return num_parse_ms(text, out);
}

static const char *
number_form(const struct param_spec *spec)
{
	if (has_unit(spec, "bytes"))
		return "a size like 4096, 64KiB or 1MiB";
	if (has_unit(spec, "ms"))
		return "a duration like 2s, 0.5 or 500ms";
	return "an integer";
}

static int
number_from_text(const struct param_spec *spec, const char *text, json_t **value,
    struct err *err)
{
	uint64_t number;
	int rc;

	rc = parse_number(spec, text, &number);
	if (rc == -ERANGE || (rc == 0 && number > INT64_MAX))
		return err_set(err, ERR_INVALID_PARAMS, 0, "\"%.64s\" is too large",
		    text);
	if (rc != 0)
		return err_set(err, ERR_INVALID_PARAMS, 0, "\"%.64s\" is not %s", text,
		    number_form(spec));
	*value = json_integer((json_int_t)number);
	return 0;
}

static int
object_from_text(const char *text, json_t **value, struct err *err)
{
	json_error_t error;

	*value = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!*value)
		return err_set(err, ERR_INVALID_PARAMS, 0,
		    "invalid JSON at byte %d: %s", error.position, error.text);
	return 0;
}

/* The value alone, not yet checked. return   0 with *value NULL: no memory */
static int
convert(const struct param_spec *spec, const char *text, json_t **value,
    struct err *err)
{
	switch (spec->type) {
	case PARAM_BOOL:
		if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
			return err_set(err, ERR_INVALID_PARAMS, 0,
			    "\"%.64s\" is neither true nor false", text);
		*value = json_boolean(strcmp(text, "true") == 0);
		return 0;
	case PARAM_UINT:
		return number_from_text(spec, text, value, err);
	case PARAM_OBJECT:
		return object_from_text(text, value, err);
	case PARAM_STRING:
	case PARAM_ENUM:
	case PARAM_STRINGS:
		break;
	}
	if (!text_is_utf8(text, strlen(text)))
		return err_set(err, ERR_INVALID_PARAMS, 0, "must be UTF-8");
	*value = json_string(text);
	return 0;
}

/* Decode the value by its own row, as the daemon will. */
static int
check(const struct param_spec *spec, json_t *value, struct err *err)
{
	struct param_spec row = *spec;
	const struct param_table table = { &row, 1 };
	json_t *object = json_object();
	union field field;
	int rc;

	row.name = "value";
	row.offset = 0;
	if (row.type == PARAM_STRINGS)
		row.min = 0; /* more members may follow */
	if (json_object_set(object, row.name, value) == 0)
		rc = param_decode(&table, object, "", false, &field, err);
	else
		rc = no_memory(err);
	json_decref(object);
	return rc;
}

/* list with item behind its members, in a new list; the reference to item is taken. */
static json_t *
extended(const json_t *list, json_t *item)
{
	json_t *copy = list ? json_deep_copy(list) : json_array();

	if (json_array_append_new(copy, item) == 0)
		return copy;
	json_decref(copy);
	return NULL;
}

int
param_from_text(const struct param_spec *spec, const char *text, json_t **value,
    struct err *err)
{
	json_t *made = NULL;
	int rc;

	rc = convert(spec, text, &made, err);
	if (rc == 0 && made && spec->type == PARAM_STRINGS)
		made = extended(*value, made);
	if (rc == 0)
		rc = made ? check(spec, made, err) : no_memory(err);
	if (rc != 0) {
		err_path(err, "%s", spec->name);
		json_decref(made);
		return rc;
	}
	if (spec->type == PARAM_STRINGS)
		json_decref(*value);
	*value = made;
	return 0;
}

static const char *
type_name(enum param_type type)
{
	switch (type) {
	case PARAM_BOOL:
		return "bool";
	case PARAM_UINT:
		return "integer";
	case PARAM_STRING:
		return "string";
	case PARAM_ENUM:
		return "enum";
	case PARAM_STRINGS:
		return "strings";
	case PARAM_OBJECT:
		return "object";
	}
	return "?";
}

/* A bound of the row, where its type has bounds. */
static json_t *
bound(const struct param_spec *spec, uint64_t value)
{
	if (spec->type != PARAM_UINT && spec->type != PARAM_STRING &&
	    spec->type != PARAM_STRINGS)
		return json_null();
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static json_t *
string_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *
default_value(const struct param_spec *spec)
{
	uint64_t number;

	if (!spec->def)
		return json_null();
	if (spec->type == PARAM_BOOL)
		return json_boolean(strcmp(spec->def, "true") == 0);
	if (spec->type == PARAM_UINT && num_parse_u64(spec->def, &number) == 0)
		return json_integer((json_int_t)number);
	return json_string(spec->def);
}

static json_t *
words_list(const struct param_spec *spec)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; spec->type == PARAM_ENUM && spec->words[i]; i++) {
		if (json_array_append_new(list, json_string(spec->words[i])) != 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

json_t *
param_spec_to_json(const struct param_spec *spec)
{
	json_t *row = json_object();

	/* Each call takes its value, and fails when that or the row is NULL. */
	if (json_object_set_new(row, "name", json_string(spec->name)) == 0 &&
	    json_object_set_new(row, "type", json_string(type_name(spec->type))) == 0 &&
	    json_object_set_new(row, "required", json_boolean(spec->required)) == 0 &&
	    json_object_set_new(row, "min", bound(spec, spec->min)) == 0 &&
	    json_object_set_new(row, "max", bound(spec, spec->max)) == 0 &&
	    json_object_set_new(row, "unit", string_or_null(spec->unit)) == 0 &&
	    json_object_set_new(row, "default", default_value(spec)) == 0 &&
	    json_object_set_new(row, "words", words_list(spec)) == 0 &&
	    json_object_set_new(row, "help", json_string(spec->doc)) == 0)
		return row;
	json_decref(row);
	return NULL;
}
