/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameter rows from an option's text, and as JSON. */
#include <config.h>

#include "lib/core/param.h"

#include <errno.h>
#include <string.h>

#include <jansson.h>

#include "tests/unit/harness.h"
#include "tests/unit/json_alloc.h"

static const char *const modes[] = { "manual", "auto", NULL };

/* clang-format off */
static const struct param_spec specs[] = {
	{ .name = "count", .type = PARAM_UINT, .min = 1, .max = 65535, .unit = "slots", .doc = "how many" },
	{ .name = "wait_ms", .type = PARAM_UINT, .max = 600000, .unit = "ms", .def = "250", .option = "w", .doc = "how long" },
	{ .name = "size", .type = PARAM_UINT, .min = 64, .max = 2097152, .unit = "bytes", .doc = "size" },
	{ .name = "any", .type = PARAM_UINT, .max = INT64_MAX, .doc = "any" },
	{ .name = "flag", .type = PARAM_BOOL, .def = "true", .doc = "flag" },
	{ .name = "mode", .type = PARAM_ENUM, .words = modes, .def = "auto", .doc = "mode" },
	{ .name = "label", .type = PARAM_STRING, .max = 8, .unit = "bytes", .doc = "label" },
	{ .name = "name", .type = PARAM_STRING, .min = 1, .max = 80, .def = "rxe0", .doc = "name" },
	{ .name = "tokens", .type = PARAM_STRINGS, .min = 1, .max = 4, .doc = "tokens" },
	{ .name = "control.roles", .type = PARAM_OBJECT, .doc = "roles" },
	{ .name = "pool.slots", .type = PARAM_UINT, .min = 1, .max = 1024, .def = "16", .unit = "slots", .doc = "slots" },
};
/* clang-format on */

static json_t *
parsed(const char *text)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

	ck_assert_msg(json != NULL, "%s", text);
	return json;
}

static const struct param_spec *
spec_named(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(specs); i++)
		if (strcmp(specs[i].name, name) == 0)
			return &specs[i];
	ck_abort_msg("%s", name);
	return NULL;
}

/* json NULL: refused, and the error begins with text. */
static const struct {
	const char *name;
	const char *option;
	const char *json;
	const char *text;
} texts[] = {
	{ "count", "5", "5", NULL },
	{ "count", "0", NULL, "0 is below 1 slots" },
	{ "count", "65536", NULL, "65536 is over 65535 slots" },
	{ "count", "5s", NULL, "\"5s\" is not an integer" },
	{ "count", "-5", NULL, "\"-5\" is not an integer" },
	{ "count", "", NULL, "\"\" is not an integer" },
	{ "any", "9223372036854775807", "9223372036854775807", NULL },
	{ "any", "9223372036854775808", NULL, "\"9223372036854775808\" is too large" },
	{ "any", "99999999999999999999", NULL,
	    "\"99999999999999999999\" is too large" },
	{ "wait_ms", "2", "2000", NULL },
	{ "wait_ms", "0.25", "250", NULL },
	{ "wait_ms", "20ms", "20", NULL },
	{ "wait_ms", "11m", NULL, "660000 is over 600000 ms" },
	{ "wait_ms", "soon", NULL, "\"soon\" is not a duration like 2s, 0.5 or 500ms" },
	{ "size", "4096", "4096", NULL },
	{ "size", "4KiB", "4096", NULL },
	{ "size", "1G", NULL, "1073741824 is over 2097152 bytes" },
	{ "size", "4kb", NULL, "\"4kb\" is not a size like 4096, 64KiB or 1MiB" },
	{ "flag", "true", "true", NULL },
	{ "flag", "false", "false", NULL },
	{ "flag", "yes", NULL, "\"yes\" is neither true nor false" },
	{ "mode", "auto", "\"auto\"", NULL },
	{ "mode", "never", NULL, "\"never\" is none of: manual, auto" },
	{ "label", "", "\"\"", NULL },
	{ "label", "123456789", NULL, "9 bytes are more than 8" },
	{ "label", "\xff", NULL, "must be UTF-8" },
	{ "name", "", NULL, "0 bytes are fewer than 1" },
	{ "control.roles", "{\"post\": [\"a\"]}", "{\"post\": [\"a\"]}", NULL },
	{ "control.roles", "[]", NULL, "must be an object, not a list" },
	{ "control.roles", "{", NULL, "invalid JSON at byte 1: " },
	{ "pool.slots", "1025", NULL, "1025 is over 1024 slots" },
};

START_TEST(values_from_text)
{
	json_t *value, *expected;
	struct err err;
	size_t i;
	int rc;

	for (i = 0; i < ARRAY_LEN(texts); i++) {
		value = NULL;
		memset(&err, 0, sizeof(err));
		rc = param_from_text(spec_named(texts[i].name), texts[i].option, &value,
		    &err);
		if (texts[i].json) {
			ck_assert_msg(rc == 0, "%s %s: %s", texts[i].name,
			    texts[i].option, err.text);
			expected = parsed(texts[i].json);
			ck_assert(json_equal(value, expected));
			json_decref(expected);
			json_decref(value);
		} else {
			ck_assert_int_eq(rc, -EINVAL);
			ck_assert_ptr_null(value);
			ck_assert_msg(strncmp(err.text, texts[i].text,
					  strlen(texts[i].text)) == 0,
			    "%s", err.text);
			ck_assert_str_eq(err.path, texts[i].name);
		}
	}
}
END_TEST

START_TEST(bare_numbers_of_an_option_that_names_its_unit)
{
	static const struct param_spec row = {
		.name = "timeout_ms", .type = PARAM_UINT, .max = 600000, .unit = "ms"
	};
	json_t *value = NULL;

	ck_assert_int_eq(param_from_text(&row, "5000", &value, NULL), 0);
	ck_assert_int_eq(json_integer_value(value), 5000);
	json_decref(value);
	ck_assert_int_eq(param_from_text(&row, "5s", &value, NULL), 0);
	ck_assert_int_eq(json_integer_value(value), 5000);
	json_decref(value);
	ck_assert_int_eq(param_from_text(&row, "0.5", &value, NULL), 0);
	ck_assert_int_eq(json_integer_value(value), 500);
	json_decref(value);
}
END_TEST

START_TEST(lists_from_text)
{
	static const char *const words[] = { "a", "b", "c", "d" };
	const struct param_spec *spec = spec_named("tokens");
	json_t *value = NULL, *before;
	struct err err;
	size_t i;

	for (i = 0; i < ARRAY_LEN(words); i++)
		ck_assert_int_eq(param_from_text(spec, words[i], &value, &err), 0);
	ck_assert_uint_eq(json_array_size(value), 4);
	ck_assert_str_eq(json_string_value(json_array_get(value, 3)), "d");
	before = value;
	ck_assert_int_eq(param_from_text(spec, "e", &value, &err), -EINVAL);
	ck_assert_str_eq(err.path, "tokens");
	ck_assert_str_eq(err.text, "5 members are more than 4");
	ck_assert_int_eq(param_from_text(spec, "\xff", &value, &err), -EINVAL);
	ck_assert_ptr_eq(value, before);
	ck_assert_uint_eq(json_array_size(value), 4);
	json_decref(value);
}
END_TEST

START_TEST(rows_as_json)
{
	static const struct {
		const char *name;
		const char *json;
	} cases[] = {
		{ "count",
		    "{\"name\": \"count\", \"type\": \"integer\", \"required\": false, "
		    "\"min\": 1, \"max\": 65535, \"unit\": \"slots\", \"default\": null, "
		    "\"words\": [], \"help\": \"how many\"}" },
		{ "wait_ms",
		    "{\"name\": \"wait_ms\", \"type\": \"integer\", \"required\": false, "
		    "\"min\": 0, \"max\": 600000, \"unit\": \"ms\", \"default\": 250, "
		    "\"words\": [], \"help\": \"how long\"}" },
		{ "flag",
		    "{\"name\": \"flag\", \"type\": \"bool\", \"required\": false, "
		    "\"min\": null, \"max\": null, \"unit\": null, \"default\": true, "
		    "\"words\": [], \"help\": \"flag\"}" },
		{ "mode",
		    "{\"name\": \"mode\", \"type\": \"enum\", \"required\": false, "
		    "\"min\": null, \"max\": null, \"unit\": null, \"default\": \"auto\", "
		    "\"words\": [\"manual\", \"auto\"], \"help\": \"mode\"}" },
		{ "tokens",
		    "{\"name\": \"tokens\", \"type\": \"strings\", \"required\": false, "
		    "\"min\": 1, \"max\": 4, \"unit\": null, \"default\": null, "
		    "\"words\": [], \"help\": \"tokens\"}" },
		{ "name",
		    "{\"name\": \"name\", \"type\": \"string\", \"required\": false, "
		    "\"min\": 1, \"max\": 80, \"unit\": null, \"default\": \"rxe0\", "
		    "\"words\": [], \"help\": \"name\"}" },
		{ "control.roles",
		    "{\"name\": \"control.roles\", \"type\": \"object\", \"required\": "
		    "false, \"min\": null, \"max\": null, \"unit\": null, \"default\": "
		    "null, \"words\": [], \"help\": \"roles\"}" },
	};
	json_t *row, *expected;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		row = param_spec_to_json(spec_named(cases[i].name));
		expected = parsed(cases[i].json);
		ck_assert_msg(json_equal(row, expected), "%s", cases[i].name);
		json_decref(row);
		json_decref(expected);
	}
}
END_TEST

/* Fail the first, second, ... allocation until none is left to fail. */
START_TEST(no_memory)
{
	json_t *value;
	unsigned long nth;
	struct err err;
	long before;
	size_t i;
	int rc;

	json_alloc_install();
	for (i = 0; i < ARRAY_LEN(specs); i++) {
		for (nth = 1;; nth++) {
			before = json_alloc_live();
			json_alloc_fail_at(nth);
			value = param_spec_to_json(&specs[i]);
			if (!json_alloc_failed())
				break;
			ck_assert_ptr_null(value);
			ck_assert_int_eq(json_alloc_live(), before);
		}
		ck_assert_ptr_nonnull(value);
		json_decref(value);
		ck_assert_int_eq(json_alloc_live(), before);
	}
	for (nth = 1;; nth++) {
		before = json_alloc_live();
		json_alloc_fail_at(0);
		value = NULL;
		ck_assert_int_eq(param_from_text(spec_named("tokens"), "a", &value,
				     &err),
		    0);
		json_alloc_fail_at(nth);
		rc = param_from_text(spec_named("tokens"), "b", &value, &err);
		ck_assert_uint_eq(json_array_size(value), rc == 0 ? 2 : 1);
		json_decref(value);
		ck_assert_int_eq(json_alloc_live(), before);
		if (!json_alloc_failed())
			break;
		ck_assert_int_eq(rc, -ENOMEM);
		ck_assert_int_eq(err.code, ERR_INTERNAL_ERROR);
	}
	ck_assert_int_eq(rc, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("param_text");
	TCase *tcase = tcase_create("param_text");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, values_from_text);
	tcase_add_test(tcase, bare_numbers_of_an_option_that_names_its_unit);
	tcase_add_test(tcase, lists_from_text);
	tcase_add_test(tcase, rows_as_json);
	tcase_add_test(tcase, no_memory);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
