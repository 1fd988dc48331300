/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON-RPC replies: made, read back, and made where memory is short. */
#include <config.h>

#include "lib/core/jsonrpc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tests/unit/harness.h"
#include "tests/unit/json_alloc.h"

#define V "\"jsonrpc\": \"2.0\", "

static json_t *
parsed(const char *text)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

	ck_assert_msg(json != NULL, "%s", text);
	return json;
}

/* Release json, which must equal the text. */
static void
expect(json_t *json, const char *text)
{
	json_t *expected = parsed(text);
	char *dump = json_dumps(json, JSON_ENCODE_ANY);

	ck_assert_msg(json_equal(json, expected), "%s", dump);
	free(dump);
	json_decref(expected);
	json_decref(json);
}

START_TEST(results)
{
	json_t *id = parsed("\"x\"");

	expect(jsonrpc_result(id, parsed("{\"posted\": 3}")),
	    "{\"jsonrpc\": \"2.0\", \"id\": \"x\", \"result\": {\"posted\": 3}}");
	expect(jsonrpc_result(NULL, json_array()),
	    "{\"jsonrpc\": \"2.0\", \"id\": null, \"result\": []}");
	json_decref(id);
	ck_assert_ptr_null(jsonrpc_result(NULL, NULL));
}
END_TEST

START_TEST(errors)
{
	json_t *id = parsed("7");
	struct err err;

	(void)err_set(&err, ERR_PARSE_ERROR, 0, "invalid JSON at byte 3");
	expect(jsonrpc_error(NULL, &err),
	    "{\"jsonrpc\": \"2.0\", \"id\": null, \"error\": {\"code\": -32700, "
	    "\"message\": \"invalid JSON at byte 3\", \"data\": {\"name\": "
	    "\"PARSE_ERROR\", \"retryable\": false}}}");
	(void)err_set(&err, ERR_SRQ_FULL, ENOMEM, "no free slot");
	err_path(&err, "params.count");
	err_hint(&err, "acknowledge messages");
	expect(jsonrpc_error(id, &err),
	    "{\"jsonrpc\": \"2.0\", \"id\": 7, \"error\": {\"code\": -32010, "
	    "\"message\": \"no free slot\", \"data\": {\"name\": \"SRQ_FULL\", "
	    "\"retryable\": true, \"errno\": \"ENOMEM\", \"path\": \"params.count\", "
	    "\"hint\": \"acknowledge messages\"}}}");
	/* an error that nobody filled is not lost */
	memset(&err, 0, sizeof(err));
	expect(jsonrpc_error_object(&err),
	    "{\"code\": -32603, \"message\": \"the daemon or its system failed\", "
	    "\"data\": {\"name\": \"INTERNAL_ERROR\", \"retryable\": false}}");
	json_decref(id);
}
END_TEST

START_TEST(making_requests)
{
	json_t *id = json_integer(1);

	expect(jsonrpc_make_request("recv.post", parsed("{\"count\": 1}"), id),
	    "{\"jsonrpc\": \"2.0\", \"method\": \"recv.post\", \"id\": 1, \"params\": "
	    "{\"count\": 1}}");
	expect(jsonrpc_make_request("event", NULL, NULL),
	    "{\"jsonrpc\": \"2.0\", \"method\": \"event\"}");
	json_decref(id);
}
END_TEST

/* Each error comes through the wire as it was. */
START_TEST(errors_there_and_back)
{
	const json_t *result = NULL;
	struct err sent, received;
	unsigned int code;
	json_t *reply;

	for (code = ERR_NONE + 1; code < ERR_CODE_COUNT; code++) {
		(void)err_set(&sent, (enum err_code)code, code % 2 ? ENODEV : 0,
		    "text %u \xc3\xa9", code);
		err_path(&sent, "%s", code % 3 ? "params.x" : "");
		err_hint(&sent, "%s", code % 5 ? "hint" : "");
		reply = jsonrpc_error(NULL, &sent);
		memset(&received, 0x55, sizeof(received));
		ck_assert_int_eq(jsonrpc_read_reply(reply, &result, &received),
		    -EREMOTEIO);
		ck_assert_int_eq(received.code, sent.code);
		ck_assert_int_eq(received.errnum, sent.errnum);
		ck_assert_str_eq(received.text, sent.text);
		ck_assert_str_eq(received.path, sent.path);
		ck_assert_str_eq(received.hint, sent.hint);
		ck_assert_ptr_null(result);
		json_decref(reply);
	}
}
END_TEST

#define NO_REPLY "what answered is no JSON-RPC 2.0 reply"

static const struct {
	const char *json;
	int rc;
	enum err_code code;
	const char *text;
} replies[] = {
	{ "{" V "\"id\": 1, \"result\": {}}", 0, ERR_NONE, NULL },
	{ "{" V "\"id\": 1, \"result\": null}", 0, ERR_NONE, NULL },
	{ "{" V "\"id\": 1, \"error\": {\"code\": -32601, \"message\": \"m\"}}",
	    -EREMOTEIO, ERR_METHOD_NOT_FOUND, "m" },
	{ "{" V
	  "\"id\": 1, \"error\": {\"code\": -32010, \"message\": \"m\", \"data\": "
	  "{\"name\": \"BUSY\"}}}",
	    -EREMOTEIO, ERR_BUSY, "m" },
	/* of a daemon that knows more errors than we do */
	{ "{" V
	  "\"id\": 1, \"error\": {\"code\": -32049, \"message\": \"m\", \"data\": "
	  "{\"name\": \"NEW_ONE\"}}}",
	    -EREMOTEIO, ERR_INTERNAL_ERROR, "NEW_ONE: m" },
	{ "{" V "\"id\": 1, \"error\": {\"code\": 5, \"message\": \"m\", \"data\": 5}}",
	    -EREMOTEIO, ERR_INTERNAL_ERROR, "m" },
	{ "{" V "\"id\": 1, \"error\": {\"code\": 0, \"message\": \"m\"}}", -EREMOTEIO,
	    ERR_INTERNAL_ERROR, "m" },
	{ "{" V "\"id\": 1, \"error\": {\"code\": -9223372036854775808, \"message\": "
	  "\"m\"}}",
	    -EREMOTEIO, ERR_INTERNAL_ERROR, "m" },
	{ "1", -EBADMSG, ERR_INTERNAL_ERROR, NO_REPLY },
	{ "[]", -EBADMSG, ERR_INTERNAL_ERROR, NO_REPLY },
	{ "{}", -EBADMSG, ERR_INTERNAL_ERROR, NO_REPLY },
	{ "{\"id\": 1, \"result\": 1}", -EBADMSG, ERR_INTERNAL_ERROR, NO_REPLY },
	{ "{" V "\"result\": 1}", -EBADMSG, ERR_INTERNAL_ERROR, NO_REPLY },
	{ "{" V "\"id\": 1}", -EBADMSG, ERR_INTERNAL_ERROR, NO_REPLY },
	{ "{" V "\"id\": 1, \"error\": {}}", -EBADMSG, ERR_INTERNAL_ERROR, NO_REPLY },
	{ "{" V "\"id\": 1, \"error\": \"x\"}", -EBADMSG, ERR_INTERNAL_ERROR,
	    NO_REPLY },
	{ "{" V "\"id\": 1, \"result\": 1, \"error\": {\"code\": 1, \"message\": "
	  "\"m\"}}",
	    -EBADMSG, ERR_INTERNAL_ERROR, NO_REPLY },
	{ "{" V "\"id\": 1, \"method\": \"event\"}", -EBADMSG, ERR_INTERNAL_ERROR,
	    NO_REPLY },
};

START_TEST(reading_replies)
{
	const json_t *result;
	struct err err;
	json_t *json;
	size_t i;

	for (i = 0; i < ARRAY_LEN(replies); i++) {
		json = parsed(replies[i].json);
		result = NULL;
		memset(&err, 0, sizeof(err));
		ck_assert_msg(jsonrpc_read_reply(json, &result, &err) == replies[i].rc,
		    "%s", replies[i].json);
		ck_assert_int_eq(err.code, replies[i].code);
		if (replies[i].text)
			ck_assert_str_eq(err.text, replies[i].text);
		ck_assert_ptr_eq(result,
		    replies[i].rc == 0 ? json_object_get(json, "result") : NULL);
		json_decref(json);
	}
}
END_TEST

/* What is made, by number; NULL: no memory, or no such number. */
static json_t *
make(unsigned int what, const json_t *id)
{
	static const char line[] = "{\"jsonrpc\": \"2.0\", \"method\": \"m\", "
				   "\"params\": {\"tokens\": [\"a\", 1, 2.5]}}";
	json_t *value = NULL;
	struct err err;

	switch (what) {
	case 0:
		return jsonrpc_result(id, json_integer(5));
	case 1:
		(void)err_set(&err, ERR_SRQ_FULL, ENOMEM, "no free slot");
		err_path(&err, "params.count");
		err_hint(&err, "hint");
		return jsonrpc_error(id, &err);
	case 2:
		return jsonrpc_make_request("m", json_object(), id);
	case 3:
		if (jsonrpc_parse(line, strlen(line), &value, &err) == 0)
			return value;
		ck_assert_msg(err.text[0] != '\0', "an error without text");
		return NULL;
	default:
		return NULL;
	}
}

/* Fail the first, second, ... allocation until none is left to fail. */
START_TEST(no_memory)
{
	unsigned int what, some;
	unsigned long nth;
	json_t *id, *value;
	long before;

	json_alloc_install();
	id = parsed("\"some id\"");
	for (what = 0; what < 4; what++) {
		for (nth = 1, some = 0;; nth++, some++) {
			before = json_alloc_live();
			json_alloc_fail_at(nth);
			value = make(what, id);
			if (!json_alloc_failed())
				break;
			/* jansson survives the failure of an allocation it can do
			 * without */
			json_decref(value);
			ck_assert_int_eq(json_alloc_live(), before);
		}
		ck_assert_uint_gt(some, 3);
		ck_assert_ptr_nonnull(value);
		json_decref(value);
		ck_assert_int_eq(json_alloc_live(), before);
	}
	json_decref(id);
	ck_assert_int_eq(json_alloc_live(), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("jsonrpc_reply");
	TCase *tcase = tcase_create("jsonrpc_reply");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, results);
	tcase_add_test(tcase, errors);
	tcase_add_test(tcase, making_requests);
	tcase_add_test(tcase, errors_there_and_back);
	tcase_add_test(tcase, reading_replies);
	tcase_add_test(tcase, no_memory);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
