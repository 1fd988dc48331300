/* SPDX-License-Identifier: BSD-3-Clause */
/* The catalogue: complete, free of contradictions, and told in full by rpc.list. */
#include <config.h>

#include "lib/core/method.h"

#include <ctype.h>
#include <string.h>

#include <jansson.h>

#include "tests/unit/harness.h"
#include "tests/unit/json_alloc.h"

/* Room for the largest struct of parameters. */
union params {
	struct no_params none;
	struct recv_post_params post;
	struct recv_poll_params poll;
	struct recv_tokens_params tokens;
	struct listener_add_params listener_add;
	struct listener_remove_params listener_remove;
	struct conn_list_params conn_list;
	struct conn_params conn;
	struct conn_open_params conn_open;
	struct conn_send_params conn_send;
};

static bool
is_word(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!islower((unsigned char)text[i]) && text[i] != '_')
			return false;
	return len > 0;
}

START_TEST(methods_are_object_and_verb)
{
	const char *name, *dot;
	unsigned int id;

	for (id = 0; id < METHOD_COUNT; id++) {
		name = methods[id].name;
		ck_assert_msg(name != NULL, "method %u has no row", id);
		dot = strchr(name, '.');
		ck_assert_msg(dot && is_word(name, (size_t)(dot - name)) &&
			is_word(dot + 1, strlen(dot + 1)),
		    "%s", name);
		/* also tells that names are unique */
		ck_assert_msg(method_by_name(name) == id, "%s", name);
		ck_assert_msg(methods[id].help && methods[id].help[0], "%s", name);
		ck_assert_msg(methods[id].help[strlen(methods[id].help) - 1] != '.',
		    "%s", name);
		ck_assert_msg(methods[id].role >= ROLE_READ &&
			methods[id].role <= ROLE_ADMIN,
		    "%s", name);
		/* who may only read changes nothing */
		ck_assert_msg(methods[id].role == ROLE_READ || methods[id].changes,
		    "%s", name);
		ck_assert_msg(methods[id].role != ROLE_READ || !methods[id].changes,
		    "%s", name);
	}
	ck_assert_int_eq(method_by_name("recv.pos"), METHOD_COUNT);
	ck_assert_int_eq(method_by_name(""), METHOD_COUNT);
}
END_TEST

START_TEST(role_names)
{
	static const char *const names[] = { "none", "read", "post", "admin" };
	unsigned int role;

	for (role = ROLE_NONE; role <= ROLE_ADMIN; role++)
		ck_assert_str_eq(role_name((enum role)role), names[role]);
}
END_TEST

static void
check_row(const char *method, const struct param_spec *spec)
{
	ck_assert_msg(spec->name && is_word(spec->name, strlen(spec->name)), "%s",
	    method);
	ck_assert_msg(spec->doc && spec->doc[0] &&
		spec->doc[strlen(spec->doc) - 1] != '.',
	    "%s %s", method, spec->name);
	ck_assert_msg(!spec->required || !spec->def, "%s %s", method, spec->name);
	ck_assert_msg(spec->offset < sizeof(union params), "%s %s", method, spec->name);
	ck_assert_msg((spec->type == PARAM_ENUM) == (spec->words != NULL), "%s %s",
	    method, spec->name);
	if (spec->type == PARAM_UINT || spec->type == PARAM_STRING ||
	    spec->type == PARAM_STRINGS) {
		ck_assert_msg(spec->min <= spec->max && spec->max > 0, "%s %s", method,
		    spec->name);
		/* what JSON readers keep exact */
		ck_assert_msg(spec->max <= (UINT64_C(1) << 53) - 1, "%s %s", method,
		    spec->name);
	} else {
		ck_assert_msg(spec->required || spec->def, "%s %s", method, spec->name);
	}
}

static const char *
option_of(const struct param_spec *spec)
{
	return spec->option ? spec->option : spec->name;
}

START_TEST(rows_of_parameters)
{
	const struct param_table *table;
	unsigned int id;
	size_t i, j;

	for (id = 0; id < METHOD_COUNT; id++) {
		table = &methods[id].params;
		ck_assert_msg((table->count == 0) == (table->specs == NULL), "%s",
		    methods[id].name);
		for (i = 0; i < table->count; i++) {
			check_row(methods[id].name, &table->specs[i]);
			for (j = 0; j < i; j++) {
				ck_assert_str_ne(table->specs[i].name,
				    table->specs[j].name);
				ck_assert_str_ne(option_of(&table->specs[i]),
				    option_of(&table->specs[j]));
				ck_assert_uint_ne(table->specs[i].offset,
				    table->specs[j].offset);
			}
		}
	}
}
END_TEST

/* Defaults pass for values: decoding what rpc.list shows gives the same. */
START_TEST(defaults_fit_their_rows)
{
	const struct param_spec *spec;
	json_t *given, *row;
	union params out;
	struct err err;
	unsigned int id;
	size_t i;
	int rc;

	for (id = 0; id < METHOD_COUNT; id++) {
		for (i = 0; i < methods[id].params.count; i++) {
			const struct param_table one = { &methods[id].params.specs[i],
				1 };

			spec = one.specs;
			if (!spec->def)
				continue;
			row = param_spec_to_json(spec);
			given = json_object();
			ck_assert_int_eq(json_object_set(given, spec->name,
					     json_object_get(row, "default")),
			    0);
			rc = param_decode(&one, given, "params", false, &out, &err);
			ck_assert_msg(rc == 0, "%s %s: %s", methods[id].name,
			    spec->name, err.text);
			json_decref(row);
			json_decref(given);
		}
	}
}
END_TEST

START_TEST(defaults_of_poll)
{
	union params out;

	memset(&out, 0x55, sizeof(out));
	ck_assert_int_eq(param_decode(&methods[METHOD_RECV_POLL].params, NULL, "params",
			     false, &out, NULL),
	    0);
	ck_assert_uint_eq(out.poll.max, 16);
	ck_assert_uint_eq(out.poll.max_bytes, 1048576);
	ck_assert_uint_eq(out.poll.wait_ms, 0);
	ck_assert_uint_eq(out.poll.lease_ms, PARAM_UNSET);
	ck_assert_uint_eq(out.poll.ack, RECV_ACK_MANUAL);
	ck_assert_uint_eq(out.poll.encoding, DATA_BASE64);
	ck_assert_uint_eq(out.poll.ack_tokens.count, 0);
}
END_TEST

START_TEST(words_follow_their_enums)
{
	static const struct {
		enum method_id method;
		const char *json;
		unsigned int ack;
		unsigned int encoding;
	} cases[] = {
		{ METHOD_RECV_POLL, "{\"ack\": \"manual\", \"encoding\": \"none\"}",
		    RECV_ACK_MANUAL, DATA_NONE },
		{ METHOD_RECV_POLL, "{\"ack\": \"auto\", \"encoding\": \"text\"}",
		    RECV_ACK_AUTO, DATA_TEXT },
		{ METHOD_RECV_POLL, "{\"encoding\": \"base64\"}", RECV_ACK_MANUAL,
		    DATA_BASE64 },
	};
	union params out;
	json_t *json;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		json = json_loads(cases[i].json, 0, NULL);
		ck_assert_int_eq(param_decode(&methods[cases[i].method].params, json,
				     "params", false, &out, NULL),
		    0);
		ck_assert_uint_eq(out.poll.ack, cases[i].ack);
		ck_assert_uint_eq(out.poll.encoding, cases[i].encoding);
		json_decref(json);
	}
	json = json_loads("{\"conn\": 1, \"data\": \"x\", \"encoding\": \"text\"}", 0,
	    NULL);
	ck_assert_int_eq(param_decode(&methods[METHOD_CONN_SEND].params, json, "params",
			     false, &out, NULL),
	    0);
	ck_assert_uint_eq(out.conn_send.encoding, DATA_TEXT);
	ck_assert_uint_eq(out.conn_send.imm, PARAM_UNSET);
	json_decref(json);
}
END_TEST

START_TEST(errors_are_named_once)
{
	unsigned int id, i, j;

	for (id = 0; id < METHOD_COUNT; id++) {
		ck_assert_int_eq(methods[id].error_count == 0,
		    methods[id].errors == NULL);
		for (i = 0; i < methods[id].error_count; i++) {
			ck_assert_msg(methods[id].errors[i] > ERR_INTERNAL_ERROR &&
				methods[id].errors[i] < ERR_CODE_COUNT,
			    "%s", methods[id].name);
			for (j = 0; j < i; j++)
				ck_assert_msg(methods[id].errors[i] !=
					methods[id].errors[j],
				    "%s %s", methods[id].name,
				    err_info(methods[id].errors[i])->name);
		}
	}
}
END_TEST

START_TEST(catalogue_as_json)
{
	json_t *catalogue = method_catalogue_to_json(), *list, *row, *expected;
	unsigned int id;

	ck_assert_uint_eq(json_object_size(catalogue), 1);
	list = json_object_get(catalogue, "methods");
	ck_assert_uint_eq(json_array_size(list), METHOD_COUNT);
	for (id = 0; id < METHOD_COUNT; id++) {
		row = json_array_get(list, id);
		ck_assert_uint_eq(json_object_size(row), 8);
		ck_assert_int_eq(json_is_true(json_object_get(row, "passes_fd")),
		    methods[id].passes_fd);
		ck_assert_str_eq(json_string_value(json_object_get(row, "name")),
		    methods[id].name);
		ck_assert(json_is_array(json_object_get(row, "params")));
		ck_assert_uint_eq(json_array_size(json_object_get(row, "params")),
		    methods[id].params.count);
		ck_assert(json_is_array(json_object_get(row, "errors")));
		ck_assert_uint_eq(json_array_size(json_object_get(row, "errors")),
		    methods[id].error_count);
	}
	row = json_array_get(list, METHOD_LISTENER_REMOVE);
	expected = json_loads("{\"name\": \"listener.remove\", \"role\": \"admin\", "
			      "\"changes\": true, \"waits\": false, "
			      "\"passes_fd\": false, \"params\": "
			      "[{\"name\": \"listener\", \"type\": \"integer\", "
			      "\"required\": true, \"min\": 1, \"max\": "
			      "9007199254740991, \"unit\": null, \"default\": null, "
			      "\"words\": [], \"help\": \"listener id\"}], \"errors\": "
			      "[\"NO_SUCH_LISTENER\"], \"help\": \"stop listening; "
			      "connections stay\"}",
	    0, NULL);
	ck_assert_ptr_nonnull(expected);
	ck_assert(json_equal(row, expected));
	json_decref(expected);
	json_decref(catalogue);
}
END_TEST

/* Fail each of the first allocations, then every 13th, until none is left to fail. */
START_TEST(no_memory)
{
	unsigned long nth, wrong = 0;
	json_t *catalogue;

	json_alloc_install();
	for (nth = 1;; nth += nth < 100 ? 1 : 13) {
		json_alloc_fail_at(nth);
		catalogue = method_catalogue_to_json();
		if (!json_alloc_failed())
			break;
		wrong += catalogue != NULL;
		wrong += json_alloc_live() != 0;
		json_decref(catalogue);
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_gt(nth, METHOD_COUNT);
	ck_assert_ptr_nonnull(catalogue);
	json_decref(catalogue);
	ck_assert_int_eq(json_alloc_live(), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("method");
	TCase *tcase = tcase_create("method");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, methods_are_object_and_verb);
	tcase_add_test(tcase, role_names);
	tcase_add_test(tcase, rows_of_parameters);
	tcase_add_test(tcase, defaults_fit_their_rows);
	tcase_add_test(tcase, defaults_of_poll);
	tcase_add_test(tcase, words_follow_their_enums);
	tcase_add_test(tcase, errors_are_named_once);
	tcase_add_test(tcase, catalogue_as_json);
	tcase_add_test(tcase, no_memory);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
