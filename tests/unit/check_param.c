/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameter tables: values, defaults, what is refused and with which words. */
#include <config.h>

#include "lib/core/param.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "tests/unit/harness.h"

struct sample {
	uint64_t count;
	uint64_t wait_ms;
	uint64_t size;
	uint64_t any;
	bool flag;
	unsigned int mode;
	struct param_string label;
	struct param_string name;
	struct param_list tokens;
	struct param_object roles;
	uint64_t slots;
	bool huge;
	uint64_t deep;
};

static const char *const modes[] = { "manual", "auto", NULL };

#define AT(field) offsetof(struct sample, field)

/* clang-format off */
static const struct param_spec specs[] = {
	{ .name = "count", .type = PARAM_UINT, .min = 1, .max = 65535, .unit = "slots", .doc = "how many", .offset = AT(count) },
	{ .name = "wait_ms", .type = PARAM_UINT, .max = 600000, .unit = "ms", .def = "250", .option = "w", .doc = "how long", .offset = AT(wait_ms) },
	{ .name = "size", .type = PARAM_UINT, .min = 64, .max = 2097152, .unit = "bytes", .doc = "size", .offset = AT(size) },
	{ .name = "any", .type = PARAM_UINT, .max = INT64_MAX, .doc = "any", .offset = AT(any) },
	{ .name = "flag", .type = PARAM_BOOL, .def = "true", .doc = "flag", .offset = AT(flag) },
	{ .name = "mode", .type = PARAM_ENUM, .words = modes, .def = "auto", .doc = "mode", .offset = AT(mode) },
	{ .name = "label", .type = PARAM_STRING, .max = 8, .unit = "bytes", .doc = "label", .offset = AT(label) },
	{ .name = "name", .type = PARAM_STRING, .min = 1, .max = 80, .def = "rxe0", .doc = "name", .offset = AT(name) },
	{ .name = "tokens", .type = PARAM_STRINGS, .min = 1, .max = 4, .doc = "tokens", .offset = AT(tokens) },
	{ .name = "control.roles", .type = PARAM_OBJECT, .doc = "roles", .offset = AT(roles) },
	{ .name = "pool.slots", .type = PARAM_UINT, .min = 1, .max = 1024, .def = "16", .unit = "slots", .doc = "slots", .offset = AT(slots) },
	{ .name = "pool.huge_pages", .type = PARAM_BOOL, .doc = "huge pages", .offset = AT(huge) },
	{ .name = "pool.deep.er", .type = PARAM_UINT, .max = 9, .doc = "deeper", .offset = AT(deep) },
};
/* clang-format on */
static const struct param_table table = { specs, ARRAY_LEN(specs) };

static json_t *
parsed(const char *text)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	ck_assert_msg(json != NULL, "%s", text);
	return json;
}

START_TEST(defaults)
{
	struct sample out;
	unsigned int i;
	json_t *json = NULL;

	/* without an object, and with an empty one */
	for (i = 0; i < 2; i++) {
		memset(&out, 0x55, sizeof(out));
		ck_assert_int_eq(param_decode(&table, json, "params", false, &out,
				     NULL),
		    0);
		ck_assert_uint_eq(out.count, PARAM_UNSET);
		ck_assert_uint_eq(out.wait_ms, 250);
		ck_assert(out.flag);
		ck_assert_uint_eq(out.mode, 1);
		ck_assert_ptr_null(out.label.ptr);
		ck_assert_uint_eq(out.label.len, 0);
		ck_assert_str_eq(out.name.ptr, "rxe0");
		ck_assert_uint_eq(out.name.len, 4);
		ck_assert_ptr_null(out.tokens.array);
		ck_assert_uint_eq(out.tokens.count, 0);
		ck_assert_ptr_null(out.roles.json);
		ck_assert_uint_eq(out.slots, 16);
		ck_assert(!out.huge);
		ck_assert_uint_eq(out.deep, PARAM_UNSET);
		json_decref(json);
		json = i == 0 ? json_object() : NULL;
	}
}
END_TEST

START_TEST(values)
{
	json_t *json =
	    parsed("{\"count\": 65535, \"wait_ms\": 0, \"size\": 64, \"any\": "
		   "9223372036854775807, \"flag\": false, \"mode\": "
		   "\"manual\", \"label\": \"\", \"name\": \"\\u00e9\", "
		   "\"tokens\": [\"a\", \"\"], \"control\": {\"roles\": "
		   "{\"post\": []}}, \"pool\": {\"slots\": 1024, "
		   "\"huge_pages\": true, \"deep\": {\"er\": 9}}}");
	struct sample out;

	memset(&out, 0x55, sizeof(out));
	ck_assert_int_eq(param_decode(&table, json, "params", false, &out, NULL), 0);
	ck_assert_uint_eq(out.count, 65535);
	ck_assert_uint_eq(out.wait_ms, 0);
	ck_assert_uint_eq(out.size, 64);
	ck_assert_uint_eq(out.any, INT64_MAX);
	ck_assert(!out.flag);
	ck_assert_uint_eq(out.mode, 0);
	ck_assert_str_eq(out.label.ptr, "");
	ck_assert_uint_eq(out.label.len, 0);
	ck_assert_str_eq(out.name.ptr, "\xc3\xa9");
	ck_assert_uint_eq(out.name.len, 2);
	ck_assert_uint_eq(out.tokens.count, 2);
	ck_assert_str_eq(param_list_at(&out.tokens, 0), "a");
	ck_assert_str_eq(param_list_at(&out.tokens, 1), "");
	ck_assert_ptr_eq(out.roles.json,
	    json_object_get(json_object_get(json, "control"), "roles"));
	ck_assert_uint_eq(out.slots, 1024);
	ck_assert(out.huge);
	ck_assert_uint_eq(out.deep, 9);
	json_decref(json);
}
END_TEST

static const struct {
	const char *json;
	const char *path;
	const char *text;
} refused[] = {
	{ "[]", "params", "must be an object, not a list" },
	/* numbers are exact */
	{ "{\"count\": 0}", "params.count", "0 is below 1 slots" },
	{ "{\"count\": 65536}", "params.count", "65536 is over 65535 slots" },
	{ "{\"count\": -1}", "params.count", "-1 is below 1 slots" },
	{ "{\"count\": -9223372036854775808}", "params.count",
	    "-9223372036854775808 is below 1 slots" },
	{ "{\"any\": -1}", "params.any", "-1 is below 0" },
	{ "{\"count\": 1.0}", "params.count",
	    "must be an integer, not a number with a fraction or exponent" },
	{ "{\"count\": 1e2}", "params.count",
	    "must be an integer, not a number with a fraction or exponent" },
	{ "{\"count\": \"1\"}", "params.count", "must be an integer, not a string" },
	{ "{\"count\": null}", "params.count", "must be an integer, not null" },
	{ "{\"count\": true}", "params.count", "must be an integer, not true" },
	{ "{\"count\": [1]}", "params.count", "must be an integer, not a list" },
	{ "{\"count\": {}}", "params.count", "must be an integer, not an object" },
	{ "{\"flag\": 1}", "params.flag", "must be true or false, not an integer" },
	{ "{\"flag\": \"true\"}", "params.flag",
	    "must be true or false, not a string" },
	{ "{\"mode\": \"Auto\"}", "params.mode", "\"Auto\" is none of: manual, auto" },
	{ "{\"mode\": 1}", "params.mode", "must be a string, not an integer" },
	/* lengths are in bytes */
	{ "{\"label\": \"123456789\"}", "params.label", "9 bytes are more than 8" },
	{ "{\"label\": \"\\u00e9\\u00e9\\u00e9\\u00e9\\u00e9\"}", "params.label",
	    "10 bytes are more than 8" },
	{ "{\"label\": \"a\\u0000b\"}", "params.label",
	    "must be UTF-8 without NUL bytes" },
	{ "{\"name\": \"\"}", "params.name", "0 bytes are fewer than 1" },
	{ "{\"name\": 5}", "params.name", "must be a string, not an integer" },
	{ "{\"tokens\": []}", "params.tokens", "0 members are fewer than 1" },
	{ "{\"tokens\": [\"1\",\"2\",\"3\",\"4\",\"5\"]}", "params.tokens",
	    "5 members are more than 4" },
	{ "{\"tokens\": \"a\"}", "params.tokens",
	    "must be a list of strings, not a string" },
	{ "{\"tokens\": [\"a\", \"b\", \"c\", 4]}", "params.tokens[3]",
	    "must be a string, not an integer" },
	{ "{\"tokens\": [\"a\", \"\\u0000\"]}", "params.tokens[1]",
	    "must be UTF-8 without NUL bytes" },
	{ "{\"control\": {\"roles\": []}}", "params.control.roles",
	    "must be an object, not a list" },
	/* groups */
	{ "{\"pool\": 5}", "params.pool", "must be an object, not an integer" },
	{ "{\"pool\": null}", "params.pool", "must be an object, not null" },
	{ "{\"pool\": {\"slots\": 0}}", "params.pool.slots", "0 is below 1 slots" },
	{ "{\"pool\": {\"deep\": {\"er\": 10}}}", "params.pool.deep.er",
	    "10 is over 9" },
	{ "{\"pool\": {\"deep\": 1}}", "params.pool.deep",
	    "must be an object, not an integer" },
	/* keys */
	{ "{\"cuont\": 1}", "params.cuont", "unknown key \"cuont\"" },
	{ "{\"\": 1}", "params", "unknown key \"\"" },
	{ "{\"coun\": 1}", "params.coun", "unknown key \"coun\"" },
	{ "{\"counts\": 1}", "params.counts", "unknown key \"counts\"" },
	{ "{\"#count\": 1}", "params.#count", "unknown key \"#count\"" },
	{ "{\"pool.slots\": 1}", "params.pool.slots", "unknown key \"pool.slots\"" },
	{ "{\"pool\": {\"slot\": 1}}", "params.pool.slot", "unknown key \"slot\"" },
	{ "{\"pool\": {\"deep\": {\"x\": 1}}}", "params.pool.deep.x",
	    "unknown key \"x\"" },
	{ "{\"pool\": {\"count\": 1}}", "params.pool.count", "unknown key \"count\"" },
	{ "{\"pool\": {\"\": 1}}", "params.pool.", "unknown key \"\"" },
	/* an unknown key is told before a wrong value */
	{ "{\"count\": 0, \"x\": 1}", "params.x", "unknown key \"x\"" },
	{ "{\"a\\nb\\u001b\": 1}", "params.a?b?", "unknown key \"a?b?\"" },
};

START_TEST(what_is_refused)
{
	struct sample out;
	struct err err;
	json_t *json;
	size_t i;

	for (i = 0; i < ARRAY_LEN(refused); i++) {
		json = parsed(refused[i].json);
		memset(&err, 0, sizeof(err));
		ck_assert_msg(param_decode(&table, json, "params", false, &out, &err) ==
			-EINVAL,
		    "%s", refused[i].json);
		ck_assert_int_eq(err.code, ERR_INVALID_PARAMS);
		ck_assert_str_eq(err.path, refused[i].path);
		ck_assert_str_eq(err.text, refused[i].text);
		ck_assert_int_eq(param_decode(&table, json, "", false, &out, NULL),
		    -EINVAL);
		json_decref(json);
	}
}
END_TEST

START_TEST(hints_list_the_keys)
{
	static const struct param_table none = { NULL, 0 };
	static const struct {
		const char *json;
		const char *hint;
	} cases[] = {
		{ "{\"x\": 1}",
		    "known keys: count, wait_ms, size, any, flag, mode, label, name, "
		    "tokens, control, pool" },
		{ "{\"pool\": {\"x\": 1}}", "known keys: slots, huge_pages, deep" },
		{ "{\"pool\": {\"deep\": {\"x\": 1}}}", "known keys: er" },
		{ "{\"control\": {\"x\": 1}}", "known keys: roles" },
	};
	struct sample out;
	struct err err;
	json_t *json;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		json = parsed(cases[i].json);
		ck_assert_int_eq(param_decode(&table, json, "", false, &out, &err),
		    -EINVAL);
		ck_assert_str_eq(err.hint, cases[i].hint);
		json_decref(json);
	}
	json = parsed("{\"x\": 1}");
	ck_assert_int_eq(param_decode(&none, json, "params", false, &out, &err),
	    -EINVAL);
	ck_assert_str_eq(err.hint, "no parameters are taken");
	ck_assert_int_eq(param_decode(&none, NULL, "params", false, &out, &err), 0);
	json_decref(json);
}
END_TEST

START_TEST(comments_in_a_configuration)
{
	json_t *json = parsed("{\"#\": 1, \"# why\": {}, \"count\": 3, \"pool\": "
			      "{\"#slots\": \"x\", \"slots\": 4}}");
	struct sample out;
	struct err err;

	ck_assert_int_eq(param_decode(&table, json, "", true, &out, &err), 0);
	ck_assert_uint_eq(out.count, 3);
	ck_assert_uint_eq(out.slots, 4);
	ck_assert_int_eq(param_decode(&table, json, "", false, &out, &err), -EINVAL);
	json_decref(json);
	json = parsed("{\"pool\": {\"slots\": 0}}");
	ck_assert_int_eq(param_decode(&table, json, "", true, &out, &err), -EINVAL);
	ck_assert_str_eq(err.path, "pool.slots");
	json_decref(json);
}
END_TEST

START_TEST(long_keys_are_cut)
{
	char key[1000];
	struct sample out;
	struct err err;
	json_t *json = json_object(), *outer = json_object();

	memset(key, 'k', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	ck_assert_int_eq(json_object_set_new(json, key, json_null()), 0);
	ck_assert_int_eq(json_object_set(outer, "pool", json), 0);
	ck_assert_int_eq(param_decode(&table, json, "params", false, &out, &err),
	    -EINVAL);
	ck_assert_uint_eq(strlen(err.path), sizeof(err.path) - 1);
	ck_assert_int_eq(param_decode(&table, outer, "params", false, &out, &err),
	    -EINVAL);
	ck_assert_uint_lt(strlen(err.text), 128);
	json_decref(json);
	json_decref(outer);
}
END_TEST

START_TEST(long_members_are_refused)
{
	char text[PARAM_ITEM_MAX + 2];
	json_t *list = json_array(), *json = json_object();
	struct sample out;
	struct err err;

	memset(text, 't', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	(void)json_array_append_new(list, json_string(text + 1));
	(void)json_object_set(json, "tokens", list);
	ck_assert_int_eq(param_decode(&table, json, "params", false, &out, &err), 0);
	(void)json_array_append_new(list, json_string(text));
	ck_assert_int_eq(param_decode(&table, json, "params", false, &out, &err),
	    -EINVAL);
	ck_assert_str_eq(err.path, "params.tokens[1]");
	ck_assert_str_eq(err.text, "257 bytes are more than 256");
	json_decref(list);
	json_decref(json);
}
END_TEST

START_TEST(required)
{
	static const struct param_spec row = { .name = "listener",
		.type = PARAM_UINT,
		.required = true,
		.min = 1,
		.max = 9,
		.doc = "listener id" };
	static const struct param_table one = { &row, 1 };
	struct err err;
	uint64_t out;

	ck_assert_int_eq(param_decode(&one, NULL, "params", false, &out, &err),
	    -EINVAL);
	ck_assert_str_eq(err.path, "params.listener");
	ck_assert_str_eq(err.text, "is required");
	ck_assert_str_eq(err.hint, "listener id");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("param");
	TCase *tcase = tcase_create("param");

	tcase_add_test(tcase, defaults);
	tcase_add_test(tcase, values);
	tcase_add_test(tcase, what_is_refused);
	tcase_add_test(tcase, hints_list_the_keys);
	tcase_add_test(tcase, comments_in_a_configuration);
	tcase_add_test(tcase, long_keys_are_cut);
	tcase_add_test(tcase, long_members_are_refused);
	tcase_add_test(tcase, required);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
