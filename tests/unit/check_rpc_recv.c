/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages through the control protocol: post, poll, acknowledge, give back. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "daemon/rpc_call.h"
#include "tests/unit/crig.h"
#include "tests/unit/harness.h"

static struct crig rig;
static struct crig_client a, b;

static void
setup(void)
{
	crig_start_two(&rig, "{\"pool\":{\"slots\":16}}", &a, &b);
}

static void
teardown(void)
{
	crig_end_two(&rig, &a, &b);
}

START_TEST(test_post)
{
	json_t *result = crig_call(&a, "recv.post", NULL), *error;

	ck_assert_int_eq(crig_integer(result, "accepted"), 1);
	ck_assert_int_eq(crig_integer(result, "posted"), 1);
	ck_assert_int_eq(crig_integer(result, "free"), 15);
	ck_assert_uint_eq(json_object_size(result), 3);
	json_decref(result);
	result = crig_call(&a, "recv.post",
	    "{\"slot\":9,\"len\":100,\"context\":\"L\u00e4bel\"}");
	ck_assert_int_eq(crig_integer(result, "accepted"), 1);
	json_decref(result);
	error = crig_fail(&a, "recv.post", "{\"slot\":9}", "SLOT_BUSY");
	ck_assert_str_eq(crig_text(error, "message"), "slot 9 is posted");
	json_decref(error);
	error = crig_fail(&a, "recv.post", "{\"slot\":16}", "SLOT_RANGE");
	ck_assert_str_eq(crig_text(json_object_get(error, "data"), "path"),
	    "params.slot");
	json_decref(error);
	error =
	    crig_fail(&a, "recv.post", "{\"slot\":1,\"len\":4097}", "INVALID_PARAMS");
	ck_assert_str_eq(crig_text(json_object_get(error, "data"), "path"),
	    "params.len");
	json_decref(error);
	json_decref(crig_fail(&a, "recv.post", "{\"slot\":1,\"count\":1}",
	    "INVALID_PARAMS"));
	json_decref(crig_fail(&a, "recv.post", "{\"len\":1}", "INVALID_PARAMS"));
	json_decref(crig_fail(&a, "recv.post", "{\"context\":\"x\"}",
	    "INVALID_PARAMS"));
	json_decref(crig_fail(&a, "recv.post", "{\"count\":0}", "INVALID_PARAMS"));
	/* Partial success is a result; nothing at all is not. */
	result = crig_call(&a, "recv.post", "{\"count\":100}");
	ck_assert_int_eq(crig_integer(result, "accepted"), 14);
	ck_assert_int_eq(crig_integer(result, "free"), 0);
	json_decref(result);
	error = crig_fail(&a, "recv.post", NULL, "SRQ_FULL");
	ck_assert(json_is_true(json_object_get(json_object_get(error, "data"),
	    "retryable")));
	json_decref(error);
	rig.engine->post_fails = ERR_NOT_READY;
	json_decref(crig_fail(&a, "recv.post", NULL, "NOT_READY"));
}
END_TEST

START_TEST(test_poll_shape)
{
	static const char *const keys[] = { "token", "seq", "status", "opcode", "conn",
		"peer", "qp_num", "slot", "len", "imm", "context", "received_at",
		"deliveries", "encoding", "data" };
	json_t *result, *message;
	size_t i;

	json_decref(crig_call(&a, "recv.post",
	    "{\"slot\":3,\"context\":\"L\u00e4bel\"}"));
	stub_engine_arrive(rig.engine, "hello\xff", 6);
	crig_post(&rig, 1);
	stub_engine_arrive_imm(rig.engine, "", 0, 4294967295u);
	result = crig_call(&a, "recv.poll", NULL);
	ck_assert_uint_eq(json_object_size(result), 4);
	ck_assert_uint_eq(crig_count(result), 2);
	ck_assert(json_is_false(json_object_get(result, "more")));
	ck_assert_int_eq(crig_integer(result, "acked"), 0);
	ck_assert_uint_eq(json_array_size(json_object_get(result, "unknown")), 0);
	message = crig_completion(result, 0);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		ck_assert_msg(json_object_get(message, keys[i]) != NULL, "%s", keys[i]);
	ck_assert_uint_eq(json_object_size(message), sizeof(keys) / sizeof(keys[0]));
	ck_assert_int_eq(strncmp(crig_text(message, "token"), "c0ffee0123456789.3.",
			     19),
	    0);
	ck_assert_int_eq(crig_integer(message, "seq"), 1);
	ck_assert_str_eq(crig_text(message, "status"), "SUCCESS");
	ck_assert_str_eq(crig_text(message, "opcode"), "RECV");
	ck_assert_int_eq(crig_integer(message, "conn"), 7);
	ck_assert_str_eq(crig_text(message, "peer"), "10.0.0.1:4711");
	ck_assert_int_eq(crig_integer(message, "qp_num"), 42);
	ck_assert_int_eq(crig_integer(message, "slot"), 3);
	ck_assert_int_eq(crig_integer(message, "len"), 6);
	ck_assert(json_is_null(json_object_get(message, "imm")));
	ck_assert_str_eq(crig_text(message, "context"), "L\u00e4bel");
	ck_assert_str_eq(crig_text(message, "received_at"),
	    "2026-01-02T03:04:05.123456Z");
	ck_assert_int_eq(crig_integer(message, "deliveries"), 1);
	ck_assert_str_eq(crig_text(message, "encoding"), "base64");
	ck_assert_str_eq(crig_text(message, "data"), "aGVsbG//");
	message = crig_completion(result, 1);
	ck_assert_str_eq(crig_text(message, "opcode"), "RECV_RDMA_WITH_IMM");
	ck_assert_int_eq(crig_integer(message, "imm"), 4294967295);
	ck_assert(json_is_null(json_object_get(message, "context")));
	ck_assert_str_eq(crig_text(message, "data"), "");
	json_decref(result);
	result = crig_call(&a, "recv.poll", NULL);
	ck_assert_uint_eq(crig_count(result), 0);
	json_decref(result);
}
END_TEST

START_TEST(test_encodings)
{
	json_t *result;

	crig_arrive(&rig, "t\"\\\x01\u00e4\U0001f600");
	crig_arrive(&rig, "\xff");
	crig_post(&rig, 1);
	stub_engine_arrive(rig.engine, "a\0b", 3);
	crig_arrive(&rig, "x");
	result = crig_call(&a, "recv.poll", "{\"encoding\":\"text\",\"max\":3}");
	ck_assert(json_is_true(json_object_get(result, "more")));
	ck_assert_str_eq(crig_text(crig_completion(result, 0), "encoding"), "text");
	ck_assert_str_eq(crig_text(crig_completion(result, 0), "data"),
	    "t\"\\\x01\u00e4\U0001f600");
	ck_assert_str_eq(crig_text(crig_completion(result, 1), "encoding"), "base64");
	ck_assert_str_eq(crig_text(crig_completion(result, 1), "data"), "/w==");
	ck_assert_str_eq(crig_text(crig_completion(result, 2), "encoding"), "base64");
	ck_assert_str_eq(crig_text(crig_completion(result, 2), "data"), "YQBi");
	json_decref(result);
	result = crig_call(&a, "recv.poll", "{\"encoding\":\"none\"}");
	ck_assert_str_eq(crig_text(crig_completion(result, 0), "encoding"), "none");
	ck_assert(json_is_null(json_object_get(crig_completion(result, 0), "data")));
	json_decref(result);
}
END_TEST

START_TEST(test_limits)
{
	json_t *result;

	crig_arrive(&rig, "12345");
	crig_arrive(&rig, "12345");
	crig_arrive(&rig, "1");
	crig_arrive(&rig, "12");
	/* The first always comes. */
	result = crig_call(&a, "recv.poll", "{\"max_bytes\":1}");
	ck_assert_uint_eq(crig_count(result), 1);
	ck_assert(json_is_true(json_object_get(result, "more")));
	json_decref(result);
	result = crig_call(&a, "recv.poll", "{\"max_bytes\":6}");
	ck_assert_uint_eq(crig_count(result), 2);
	json_decref(result);
	result = crig_call(&a, "recv.poll", "{\"max\":1}");
	ck_assert_uint_eq(crig_count(result), 1);
	ck_assert(json_is_false(json_object_get(result, "more")));
	json_decref(result);
}
END_TEST

/* The largest messages, in each encoding, alone, together and in batches. */
START_TEST(test_reply_limit)
{
	const size_t size = 2097152;
	char *bytes = malloc(size), *request;
	json_t *result, *reply;
	int i;

	teardown();
	crig_start_two(&rig,
	    "{\"pool\":{\"slots\":8,\"slot_size\":2097152},\"control\":{"
	    "\"max_request\":1048576}}",
	    &a, &b);
	memset(bytes, 1, size); /* six times as long as text */
	for (i = 0; i < 4; i++) {
		crig_post(&rig, 1);
		stub_engine_arrive(rig.engine, bytes, size);
	}
	/* With as many unknown tokens as can be. */
	request = malloc(300000);
	(void)strcpy(request, CRIG_POLL("\"encoding\":\"text\",\"ack_tokens\":["));
	request[strlen(request) - 3] = '\0';
	for (i = 0; i < 4096; i++)
		(void)sprintf(request + strlen(request), "%s\"%047d\"",
		    i > 0 ? "," : "", i);
	(void)strcat(request, "]}}\n");
	crig_puts(&a, request);
	ck_assert_uint_lt(strlen(crig_line(&a)), RPC_REPLY_MAX);
	reply = json_loads(a.buf, 0, NULL);
	result = json_object_get(reply, "result");
	ck_assert_uint_eq(crig_count(result), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(result, "unknown")), 4096);
	ck_assert_str_eq(crig_text(crig_completion(result, 0), "encoding"), "base64");
	ck_assert(json_is_true(json_object_get(result, "more")));
	json_decref(reply);
	/* Both ask for a message; only one fits. */
	crig_puts(&a,
	    "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"recv.poll\"},"
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"recv.poll\"}]\n");
	reply = crig_reply(&a);
	ck_assert_uint_eq(crig_count(json_object_get(json_array_get(reply, 0),
			      "result")),
	    1);
	result = json_object_get(json_array_get(reply, 1), "result");
	ck_assert_uint_eq(crig_count(result), 0);
	ck_assert(json_is_true(json_object_get(result, "more")));
	json_decref(reply);
	free(request);
	free(bytes);
}
END_TEST

/* The tokens of a result as the parameters of recv.ack; to be freed. */
static char *
tokens_of(const json_t *result)
{
	json_t *list = json_array();
	char *params;
	json_t *json;
	size_t i;

	for (i = 0; i < crig_count(result); i++)
		(void)json_array_append(list,
		    json_object_get(crig_completion(result, i), "token"));
	json = json_pack("{s:o}", "tokens", list);
	params = json_dumps(json, 0);
	json_decref(json);
	return params;
}

START_TEST(test_ack_and_nack)
{
	json_t *result, *first, *error;
	char *params;

	crig_arrive(&rig, "1");
	crig_arrive(&rig, "2");
	first = crig_call(&a, "recv.poll", NULL);
	params = tokens_of(first);
	result = crig_call(&b, "recv.nack", params);
	ck_assert_int_eq(crig_integer(result, "nacked"), 2);
	ck_assert_uint_eq(json_object_size(result), 2);
	json_decref(result);
	/* They come again, counted. */
	result = crig_call(&a, "recv.poll", NULL);
	ck_assert_uint_eq(crig_count(result), 2);
	ck_assert_int_eq(crig_integer(crig_completion(result, 0), "deliveries"), 2);
	ck_assert_str_eq(crig_text(crig_completion(result, 0), "token"),
	    crig_text(crig_completion(first, 0), "token"));
	json_decref(result);
	result = crig_call(&a, "recv.ack", params);
	ck_assert_int_eq(crig_integer(result, "acked"), 2);
	json_decref(result);
	/* Twice is no error, and an unknown one among them is told. */
	result = crig_call(&a, "recv.ack", params);
	ck_assert_int_eq(crig_integer(result, "acked"), 2);
	json_decref(result);
	(void)snprintf(strchr(params, ','), 20, ",\"x.y\"]}");
	result = crig_call(&a, "recv.ack", params);
	ck_assert_int_eq(crig_integer(result, "acked"), 1);
	ck_assert_str_eq(json_string_value(json_array_get(json_object_get(result,
							      "unknown"),
			     0)),
	    "x.y");
	json_decref(result);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).free, 16);
	json_decref(crig_fail(&a, "recv.ack", "{\"tokens\":[\"nonsense\",\"!\"]}",
	    "NO_SUCH_TOKEN"));
	error = crig_fail(&a, "recv.nack", "{\"tokens\":[\"a\",\"b c\"]}",
	    "INVALID_PARAMS");
	ck_assert_str_eq(crig_text(json_object_get(error, "data"), "path"),
	    "params.tokens[1]");
	json_decref(error);
	json_decref(crig_fail(&a, "recv.ack", "{\"tokens\":[\"\"]}", "INVALID_PARAMS"));
	json_decref(crig_fail(&a, "recv.ack", "{\"tokens\":[]}", "INVALID_PARAMS"));
	free(params);
	json_decref(first);
}
END_TEST

START_TEST(test_ack_tokens)
{
	char params[256];
	json_t *result;

	crig_arrive(&rig, "1");
	result = crig_call(&a, "recv.poll", NULL);
	(void)snprintf(params, sizeof(params), "{\"ack_tokens\":[\"%s\",\"zzz\"]}",
	    crig_text(crig_completion(result, 0), "token"));
	json_decref(result);
	result = crig_call(&a, "recv.poll", params);
	ck_assert_int_eq(crig_integer(result, "acked"), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(result, "unknown")), 1);
	json_decref(result);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).free, 16);
	json_decref(crig_fail(&a, "recv.poll", "{\"ack_tokens\":[\"a b\"]}",
	    "INVALID_PARAMS"));
}
END_TEST

/* What another client holds, or is leased by time, is no matter of this one. */
START_TEST(test_ack_held)
{
	json_t *result;
	int i;

	for (i = 0; i < 6; i++)
		crig_arrive(&rig, "x");
	json_decref(crig_call(&a, "recv.poll", "{\"max\":2}"));
	json_decref(crig_call(&b, "recv.poll", "{\"max\":1}"));
	json_decref(crig_call(&a, "recv.poll", "{\"max\":1,\"lease_ms\":60000}"));
	result = crig_call(&a, "recv.poll", "{\"max\":1,\"ack_held\":false}");
	ck_assert_int_eq(crig_integer(result, "acked"), 0);
	json_decref(result);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).leased, 5);
	/* What it gets in the answer is none of it. */
	result = crig_call(&a, "recv.poll", "{\"max\":1,\"ack_held\":true}");
	ck_assert_int_eq(crig_integer(result, "acked"), 3);
	ck_assert_uint_eq(crig_count(result), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(result, "unknown")), 0);
	json_decref(result);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).leased, 3);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).ready, 0);
	result = crig_call(&a, "recv.poll", "{\"ack_held\":true}");
	ck_assert_int_eq(crig_integer(result, "acked"), 1);
	json_decref(result);
	result = crig_call(&a, "recv.poll", "{\"ack_held\":true}");
	ck_assert_int_eq(crig_integer(result, "acked"), 0);
	json_decref(result);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).leased, 2);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("rpc_recv");
	TCase *tc = tcase_create("rpc_recv");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_post);
	tcase_add_test(tc, test_poll_shape);
	tcase_add_test(tc, test_encodings);
	tcase_add_test(tc, test_limits);
	tcase_add_test(tc, test_reply_limit);
	tcase_add_test(tc, test_ack_and_nack);
	tcase_add_test(tc, test_ack_tokens);
	tcase_add_test(tc, test_ack_held);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
