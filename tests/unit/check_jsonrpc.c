/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON-RPC envelopes: the specification's examples, hostile lines, replies both ways.
 */
#include <config.h>

#include "lib/core/jsonrpc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tests/unit/harness.h"

static json_t *
parsed(const char *text)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

	ck_assert_msg(json != NULL, "%s", text);
	return json;
}

static const struct {
	const char *line;
	size_t len;       /* 0: strlen */
	const char *text; /* NULL: parses; otherwise what the error begins with */
} lines[] = {
	{ "{\"jsonrpc\": \"2.0\", \"method\": \"rpc.hello\", \"id\": 1}", 0, NULL },
	{ "[]", 0, NULL },
	{ " \t\r\n{}\n ", 0, NULL },
	{ "1", 0, NULL },
	{ "-0.5e-3", 0, NULL },
	{ "\"x\"", 0, NULL },
	{ "null", 0, NULL },
	{ "[9223372036854775807, -9223372036854775808]", 0, NULL },
	{ "\"\\ud83d\\ude00 \xf0\x9f\x98\x80\"", 0, NULL },
	/* brackets and commas in strings are no structure */
	{ "\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"", 0, NULL },
	{ "[\"\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\", \"\\\\\", []]", 0, NULL },
	/* section 7 of the specification */
	{ "{\"jsonrpc\": \"2.0\", \"method\": \"foobar, \"params\": \"bar\", \"baz]", 0,
	    "invalid JSON at byte " },
	{ "[{\"jsonrpc\": \"2.0\", \"method\": \"sum\", \"params\": [1,2,4], \"id\": "
	  "\"1\"}, {\"jsonrpc\": \"2.0\", \"method\"",
	    0, "invalid JSON at byte " },
	{ "", 0, "invalid JSON at byte 0: " },
	{ "{", 0, "invalid JSON at byte 1: " },
	{ "{}}", 0, "invalid JSON at byte 3: " },
	{ "{} {}", 0, "invalid JSON at byte " },
	{ "]", 0, "invalid JSON at byte 1: " },
	{ "}}}}}}}}", 0, "invalid JSON at byte 1: " },
	{ "::::", 0, "invalid JSON at byte 1: " },
	{ "{\"a\" 1}", 0, "invalid JSON at byte 6: " },
	{ "{\"a\": 1,}", 0, "invalid JSON at byte 9: " },
	{ "[1,]", 0, "invalid JSON at byte 4: " },
	{ "[01]", 0, "invalid JSON at byte " },
	{ "[+1]", 0, "invalid JSON at byte " },
	{ "[.5]", 0, "invalid JSON at byte " },
	{ "[NaN]", 0, "invalid JSON at byte " },
	{ "{\"a\": 1, \"a\": 2}", 0, "invalid JSON at byte " },
	{ "{a: 1}", 0, "invalid JSON at byte " },
	{ "['a']", 0, "invalid JSON at byte " },
	{ "\"\\u0000\"", 0, "invalid JSON at byte " },
	{ "{\"a\\u0000b\": 1}", 0, "invalid JSON at byte " },
	{ "\"\\ud800\"", 0, "invalid JSON at byte " },
	{ "\"\x01\"", 0, "invalid JSON at byte " },
	{ "\"a\nb\"", 0, "invalid JSON at byte " },
	{ "\"\\x41\"", 0, "invalid JSON at byte " },
	{ "\"\xff\"", 0, "invalid JSON at byte " },
	{ "\"\xc0\x80\"", 0, "invalid JSON at byte " },
	{ "\"\xed\xa0\x80\"", 0, "invalid JSON at byte " },
	{ "\"\xc3", 0, "invalid JSON at byte " },
	{ "\xef\xbb\xbf{}", 0, "invalid JSON at byte " },
	{ "9223372036854775808", 0, "invalid JSON at byte " },
	{ "1e999", 0, "invalid JSON at byte " },
	{ "\"abc", 0, "invalid JSON at byte " },
	{ "\"abc\\", 0, "invalid JSON at byte " },
	{ "{}\0{}", 5, "invalid JSON at byte " },
	{ "\"a\0b\"", 5, "invalid JSON at byte " },
	{ "/* */ 1", 0, "invalid JSON at byte " },
	/* nesting is counted before the syntax is seen */
	{ "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 0, "nesting deeper than 32 at byte 32" },
	{ "{\"a\":[{\"a\":[{\"a\":[{\"a\":[{\"a\":[{\"a\":[{\"a\":[{\"a\":[{\"a\":[{"
	  "\"a\":[{\"a\":[{\"a\":[{\"a\":[{\"a\":[{\"a\":[{\"a\":[{",
	    0, "nesting deeper than 32 at byte 96" },
	{ "\"\\\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 0,
	    "nesting deeper than 32 at byte 36" },
};

START_TEST(parsing)
{
	json_t *value;
	struct err err;
	size_t i, len;
	int rc;

	for (i = 0; i < ARRAY_LEN(lines); i++) {
		len = lines[i].len ? lines[i].len : strlen(lines[i].line);
		value = NULL;
		memset(&err, 0, sizeof(err));
		rc = jsonrpc_parse(lines[i].line, len, &value, &err);
		if (!lines[i].text) {
			ck_assert_msg(rc == 0, "line %zu: %s", i, err.text);
			ck_assert_ptr_nonnull(value);
			json_decref(value);
			continue;
		}
		ck_assert_msg(rc == -EINVAL, "line %zu: %d", i, rc);
		ck_assert_ptr_null(value);
		ck_assert_msg(strncmp(err.text, lines[i].text, strlen(lines[i].text)) ==
			0,
		    "line %zu: %s", i, err.text);
		ck_assert_int_eq(err.code,
		    lines[i].text[0] == 'n' ? ERR_LIMIT : ERR_PARSE_ERROR);
	}
}
END_TEST

/* n times piece between two texts. */
static char *
repeated(const char *before, const char *piece, size_t n, const char *after)
{
	size_t len = strlen(piece), i;
	char *text = calloc(1, strlen(before) + len * n + strlen(after) + 1), *end;

	ck_assert_ptr_nonnull(text);
	end = stpcpy(text, before);
	for (i = 0; i < n; i++)
		end = stpcpy(end, piece);
	(void)stpcpy(end, after);
	return text;
}

static int
parse_repeated(const char *before, const char *piece, size_t n, const char *after,
    struct err *err)
{
	char *text = repeated(before, piece, n, after);
	json_t *value = NULL;
	int rc;

	memset(err, 0, sizeof(*err));
	rc = jsonrpc_parse(text, strlen(text), &value, err);
	json_decref(value);
	free(text);
	return rc;
}

START_TEST(values_are_counted)
{
	struct err err;

	/* the list itself is one value, each piece another */
	ck_assert_int_eq(parse_repeated("[0", ",0", 8190, "]", &err), 0);
	ck_assert_int_eq(parse_repeated("[0", ",0", 8191, "]", &err), -EINVAL);
	ck_assert_int_eq(err.code, ERR_LIMIT);
	ck_assert_str_eq(err.text, "more than 8192 values at byte 16383");
	ck_assert_int_eq(parse_repeated("[\"\"", ",\"\"", 8190, "]", &err), 0);
	ck_assert_int_eq(parse_repeated("[\"\"", ",\"\"", 8191, "]", &err), -EINVAL);
	ck_assert_int_eq(parse_repeated("[{}", ",{}", 8190, "]", &err), 0);
	ck_assert_int_eq(parse_repeated("[{}", ",{}", 8191, "]", &err), -EINVAL);
	ck_assert_int_eq(err.code, ERR_LIMIT);
	/* keys are no values: 1 + 4095 * 2 */
	ck_assert_int_eq(parse_repeated("[{\"k\":0}", ",{\"k\":0}", 4094, "]", &err),
	    0);
	ck_assert_int_eq(parse_repeated("[{\"k\":0}", ",{\"k\":0}", 4095, ",[]]", &err),
	    -EINVAL);
	ck_assert_int_eq(err.code, ERR_LIMIT);
	/* colons that belong nowhere buy nothing: the parser stops at the first */
	ck_assert_int_eq(parse_repeated("[", "{}:,", 20000, "]", &err), -EINVAL);
	ck_assert_int_eq(err.code, ERR_PARSE_ERROR);
	ck_assert_int_eq(parse_repeated("", "[", 1u << 20, "", &err), -EINVAL);
	ck_assert_str_eq(err.text, "nesting deeper than 32 at byte 32");
	ck_assert_int_eq(parse_repeated("", "[", 32, "]", &err), -EINVAL);
	ck_assert_int_eq(err.code, ERR_PARSE_ERROR);
	ck_assert_int_eq(parse_repeated("", "{},", 1u << 18, "", &err), -EINVAL);
	ck_assert_int_eq(err.code, ERR_LIMIT);
	/* a long string is one value */
	ck_assert_int_eq(parse_repeated("\"", "[{,:", 1u << 18, "\"", &err), 0);
}
END_TEST

START_TEST(depth_of_32_is_allowed)
{
	char text[65];
	json_t *value = NULL;

	memset(text, '[', 32);
	memset(text + 32, ']', 32);
	ck_assert_int_eq(jsonrpc_parse(text, 64, &value, NULL), 0);
	json_decref(value);
}
END_TEST

#define V "\"jsonrpc\": \"2.0\", "
#define S128                                                               \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" \
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* id: what an answer carries, NULL: none was usable. path NULL: taken. */
static const struct {
	const char *json;
	const char *id;
	const char *path;
	const char *text;
	enum err_code code;
} requests[] = {
	{ "{" V "\"method\": \"subtract\", \"params\": {\"minuend\": 42}, \"id\": 3}",
	    "3", NULL, NULL, ERR_NONE },
	{ "{" V "\"method\": \"update\"}", NULL, NULL, NULL, ERR_NONE },
	{ "{" V "\"method\": \"m\", \"id\": null}", "null", NULL, NULL, ERR_NONE },
	{ "{" V "\"method\": \"\", \"id\": \"\"}", "\"\"", NULL, NULL, ERR_NONE },
	{ "{" V "\"method\": \"m\", \"id\": \"" S128 "\"}", "\"" S128 "\"", NULL, NULL,
	    ERR_NONE },
	{ "{" V "\"method\": \"m\", \"id\": 9007199254740991}", "9007199254740991",
	    NULL, NULL, ERR_NONE },
	{ "{" V "\"method\": \"m\", \"id\": -9007199254740991}", "-9007199254740991",
	    NULL, NULL, ERR_NONE },

	{ "1", NULL, "", "a request must be an object", ERR_INVALID_REQUEST },
	{ "[]", NULL, "", "a request must be an object", ERR_INVALID_REQUEST },
	{ "\"x\"", NULL, "", "a request must be an object", ERR_INVALID_REQUEST },
	{ "{\"foo\": \"boo\"}", NULL, "jsonrpc", "must be \"2.0\"",
	    ERR_INVALID_REQUEST },
	{ "{" V "\"method\": 1, \"params\": \"bar\"}", NULL, "method",
	    "must be a string", ERR_INVALID_REQUEST },
	{ "{\"method\": \"m\", \"id\": 1}", "1", "jsonrpc", "must be \"2.0\"",
	    ERR_INVALID_REQUEST },
	{ "{\"jsonrpc\": 2.0, \"method\": \"m\", \"id\": 1}", "1", "jsonrpc",
	    "must be \"2.0\"", ERR_INVALID_REQUEST },
	{ "{\"jsonrpc\": \"1.0\", \"method\": \"m\", \"id\": 1}", "1", "jsonrpc",
	    "must be \"2.0\"", ERR_INVALID_REQUEST },
	{ "{" V "\"id\": \"a\"}", "\"a\"", "method", "must be a string",
	    ERR_INVALID_REQUEST },
	{ "{" V "\"method\": \"m\", \"id\": 1.0}", NULL, "id", NULL,
	    ERR_INVALID_REQUEST },
	{ "{" V "\"method\": \"m\", \"id\": 9007199254740992}", NULL, "id", NULL,
	    ERR_INVALID_REQUEST },
	{ "{" V "\"method\": \"m\", \"id\": -9007199254740992}", NULL, "id", NULL,
	    ERR_INVALID_REQUEST },
	{ "{" V "\"method\": \"m\", \"id\": \"" S128 "x\"}", NULL, "id", NULL,
	    ERR_INVALID_REQUEST },
	{ "{" V "\"method\": \"m\", \"id\": []}", NULL, "id", NULL,
	    ERR_INVALID_REQUEST },
	{ "{" V "\"method\": \"m\", \"id\": true}", NULL, "id", NULL,
	    ERR_INVALID_REQUEST },
	{ "{" V "\"method\": \"m\", \"id\": 1, \"parms\": {}}", "1", "parms",
	    "unknown member \"parms\"", ERR_INVALID_REQUEST },
	{ "{" V "\"method\": \"m\", \"id\": 1, \"params\": [42, 23]}", "1", "params",
	    "must be an object", ERR_INVALID_PARAMS },
	{ "{" V "\"method\": \"m\", \"id\": 1, \"params\": null}", "1", "params",
	    "must be an object", ERR_INVALID_PARAMS },
	{ "{" V "\"method\": \"m\", \"params\": 1}", NULL, "params",
	    "must be an object", ERR_INVALID_PARAMS },
	/* what is no valid request at all is told first: its id may not count */
	{ "{" V "\"method\": \"m\", \"id\": 1, \"params\": 1, \"x\": 1}", "1", "x",
	    "unknown member \"x\"", ERR_INVALID_REQUEST },
};

START_TEST(reading_requests)
{
	struct jsonrpc_request request;
	json_t *json, *id;
	struct err err;
	size_t i;
	int rc;

	for (i = 0; i < ARRAY_LEN(requests); i++) {
		json = parsed(requests[i].json);
		memset(&request, 0x55, sizeof(request));
		rc = jsonrpc_read(json, &request, &err);
		if (requests[i].id) {
			id = parsed(requests[i].id);
			ck_assert_msg(json_equal(request.id, id), "request %zu", i);
			json_decref(id);
		} else {
			ck_assert_ptr_null(request.id);
		}
		if (!requests[i].path) {
			ck_assert_msg(rc == 0, "%s: %s", requests[i].json, err.text);
			ck_assert_ptr_eq(request.params,
			    json_object_get(json, "params"));
			ck_assert_str_eq(request.method,
			    json_string_value(json_object_get(json, "method")));
		} else {
			ck_assert_msg(rc == -EINVAL, "%s", requests[i].json);
			ck_assert_int_eq(err.code, requests[i].code);
			ck_assert_str_eq(err.path, requests[i].path);
			if (requests[i].text)
				ck_assert_str_eq(err.text, requests[i].text);
		}
		json_decref(json);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("jsonrpc");
	TCase *tcase = tcase_create("jsonrpc");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, parsing);
	tcase_add_test(tcase, values_are_counted);
	tcase_add_test(tcase, depth_of_32_is_allowed);
	tcase_add_test(tcase, reading_requests);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
