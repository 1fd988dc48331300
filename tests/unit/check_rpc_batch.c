/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches, and the limit of replies. */
#include <config.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "daemon/rpc_call.h"
#include "tests/unit/crig.h"
#include "tests/unit/harness.h"

static struct crig rig;
static struct crig_client a;

static void
setup(void)
{
	memset(&rig, 0, sizeof(rig));
	crig_start(&rig, NULL);
	crig_open(&rig, &a);
}

static void
teardown(void)
{
	crig_close(&a);
	crig_end(&rig);
}

/* The name of the error in the next reply, whose id is null. */
static void
expect_error(struct crig_client *client, const char *name, const char *text_part)
{
	json_t *reply = crig_reply(client);
	const json_t *error = json_object_get(reply, "error");
	const json_t *data = json_object_get(error, "data");
	const char *message = json_string_value(json_object_get(error, "message"));

	ck_assert_msg(message != NULL, "no error");
	ck_assert(json_is_null(json_object_get(reply, "id")));
	ck_assert_str_eq(json_string_value(json_object_get(data, "name")), name);
	ck_assert_msg(strstr(message, text_part) != NULL, "%s", message);
	json_decref(reply);
}

/* A batch of n requests with the ids 0, 1, ... */
static void
send_batch(size_t n, const char *method)
{
	char member[256];
	size_t i;

	crig_puts(&a, "[");
	for (i = 0; i < n; i++) {
		(void)snprintf(member, sizeof(member),
		    "%s{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"%s\"}",
		    i > 0 ? "," : "", i, method);
		crig_puts(&a, member);
	}
	crig_puts(&a, "]\n");
}

START_TEST(test_batch_sizes)
{
	static const size_t sizes[] = { 1, 2, 256 };
	json_t *reply;
	size_t i, k;

	for (i = 0; i < 3; i++) {
		send_batch(sizes[i], "rpc.hello");
		reply = crig_reply(&a);
		ck_assert(json_is_array(reply));
		ck_assert_uint_eq(json_array_size(reply), sizes[i]);
		for (k = 0; k < sizes[i]; k++)
			ck_assert_int_eq(json_integer_value(json_object_get(
					     json_array_get(reply, k), "id")),
			    (json_int_t)k);
		json_decref(reply);
	}
	send_batch(0, "");
	expect_error(&a, "INVALID_REQUEST", "empty");
	send_batch(257, "rpc.hello");
	expect_error(&a, "LIMIT", "257");
	ck_assert(crig_is_silent(&a));
}
END_TEST

static bool
has_reply(const struct crig_client *client)
{
	struct pollfd pfd = { .fd = client->fd, .events = POLLIN };

	return poll(&pfd, 1, 0) > 0;
}

/* Who asks for hundreds of things is not served before all others. */
START_TEST(test_batch_between)
{
	struct crig_client b;
	json_t *reply;
	int i;

	crig_open(&rig, &b);
	send_batch(256, "stats.get");
	crig_puts(&b, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.hello\"}\n");
	for (i = 0; i < 1000 && !has_reply(&b); i++)
		ck_assert_int_eq(loop_turn(rig.loop, 0), 0);
	ck_assert(has_reply(&b));
	ck_assert(!has_reply(&a));
	json_decref(crig_reply(&b));
	reply = crig_reply(&a);
	ck_assert_uint_eq(json_array_size(reply), 256);
	json_decref(reply);
	crig_close(&b);
}
END_TEST

/* The daemon ends in the midst of one: it is answered, or given up with its client. */
START_TEST(test_batch_meets_the_end)
{
	json_t *reply;
	size_t i;

	send_batch(256, "stats.get");
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(loop_turn(rig.loop, 0), 0);
	ck_assert(!has_reply(&a));
	if (_i == 0)
		return;
	rpc_end_calls(rig.rpc);
	reply = crig_reply(&a);
	ck_assert_uint_eq(json_array_size(reply), 256);
	for (i = 0; i < 256; i++)
		ck_assert_ptr_nonnull(json_object_get(json_array_get(reply, i),
		    "result"));
	json_decref(reply);
}
END_TEST

static const char *
member_error(const json_t *reply, size_t i)
{
	const json_t *error = json_object_get(json_array_get(reply, i), "error");
	const char *name =
	    json_string_value(json_object_get(json_object_get(error, "data"), "name"));

	return name ? name : "result";
}

/* What may wait is taken where it does not. */
START_TEST(test_batch_waits)
{
	static const char *const names[] = { "recv.poll", "event.get" };
	const json_t *data;
	json_t *reply;
	size_t i;

	for (i = 0; i < 2; i++) {
		crig_puts(&a, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"");
		crig_puts(&a, names[i]);
		crig_puts(&a,
		    "\",\"params\":{\"wait_ms\":0}},{\"jsonrpc\":\"2.0\",\"id\":2,"
		    "\"method\":\"");
		crig_puts(&a, names[i]);
		crig_puts(&a, "\",\"params\":{\"wait_ms\":1}}]\n");
		reply = crig_reply(&a);
		ck_assert_str_eq(member_error(reply, 0), "result");
		ck_assert_str_eq(member_error(reply, 1), "UNSUPPORTED");
		data =
		    json_object_get(json_object_get(json_array_get(reply, 1), "error"),
			"data");
		ck_assert_str_eq(json_string_value(json_object_get(data, "path")),
		    "params.wait_ms");
		json_decref(reply);
	}
}
END_TEST

START_TEST(test_batch_members)
{
	json_t *reply;

	crig_puts(&a,
	    "[1, {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"recv.post\","
	    "\"params\":{\"count\":2}}, {\"jsonrpc\":\"2.0\",\"method\":\"rpc.hello\"}, "
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"recv.poll\","
	    "\"params\":{\"wait_ms\":1}}, "
	    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"recv.poll\"}, "
	    "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"conn.open\","
	    "\"params\":{\"addr\":\"10.0.0.1\",\"port\":1}}, "
	    "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"conn.close\","
	    "\"params\":{\"conn\":1}}, "
	    "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"conn.send\","
	    "\"params\":{\"conn\":1,\"data\":\"\"}}, [], "
	    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"no.such\"}]\n");
	reply = crig_reply(&a);
	ck_assert_uint_eq(json_array_size(reply), 9);
	ck_assert_str_eq(member_error(reply, 0), "INVALID_REQUEST");
	ck_assert_str_eq(member_error(reply, 1), "result");
	ck_assert_str_eq(member_error(reply, 2), "UNSUPPORTED");
	ck_assert_str_eq(member_error(reply, 3), "result");
	ck_assert_str_eq(member_error(reply, 4), "UNSUPPORTED");
	ck_assert_str_eq(member_error(reply, 5), "UNSUPPORTED");
	ck_assert_str_eq(member_error(reply, 6), "UNSUPPORTED");
	ck_assert_str_eq(member_error(reply, 7), "INVALID_REQUEST");
	ck_assert_str_eq(member_error(reply, 8), "METHOD_NOT_FOUND");
	json_decref(reply);
	ck_assert_uint_eq(rig.engine->op_count, 0);
	/* Notifications alone: no array at all. */
	crig_puts(&a, "[{\"jsonrpc\":\"2.0\",\"method\":\"rpc.hello\"}]\n");
	ck_assert(crig_is_silent(&a));
}
END_TEST

/* No reply is over its limit: of a batch, some members say so. */
START_TEST(test_reply_limit)
{
	json_t *reply;
	size_t i, results = 0;
	const char *line;

	rig.engine->conns = 4000; /* well over 1 MiB */
	send_batch(5, "conn.list");
	line = crig_line(&a);
	ck_assert_uint_lt(strlen(line), RPC_REPLY_MAX);
	reply = json_loads(line, 0, NULL);
	ck_assert_uint_eq(json_array_size(reply), 5);
	for (i = 0; i < 5; i++) {
		if (strcmp(member_error(reply, i), "result") == 0)
			results++;
		else
			ck_assert_str_eq(member_error(reply, i), "TOO_LARGE");
	}
	ck_assert_uint_ge(results, 1);
	ck_assert_uint_le(results, 2);
	json_decref(reply);
	rig.engine->conns = 12000;
	json_decref(crig_fail(&a, "conn.list", NULL, "TOO_LARGE"));
	rig.engine->conns = 1;
	json_decref(crig_call(&a, "conn.list", NULL));
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("rpc_batch");
	TCase *tc = tcase_create("rpc_batch");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_batch_sizes);
	tcase_add_test(tc, test_batch_between);
	tcase_add_loop_test(tc, test_batch_meets_the_end, 0, 2);
	tcase_add_test(tc, test_batch_waits);
	tcase_add_test(tc, test_batch_members);
	tcase_add_test(tc, test_reply_limit);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
