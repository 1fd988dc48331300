/* SPDX-License-Identifier: BSD-3-Clause */
/* The control protocol: lines, envelopes, batches, roles, and the end of clients. */
#include <config.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "daemon/rpc_call.h"
#include "tests/unit/crig.h"
#include "tests/unit/harness.h"
#include "tests/unit/json_alloc.h"

#define HELLO(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"rpc.hello\"}"

static struct crig rig;
static struct crig_client a, b;

static void
setup(void)
{
	crig_start_two(&rig, NULL, &a, &b);
}

static void
teardown(void)
{
	crig_end_two(&rig, &a, &b);
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

/* The id of the next reply, which is a result. */
static void
expect_id(struct crig_client *client, json_int_t id)
{
	json_t *reply = crig_reply(client);

	ck_assert_int_eq(json_integer_value(json_object_get(reply, "id")), id);
	ck_assert_ptr_nonnull(json_object_get(reply, "result"));
	json_decref(reply);
}

START_TEST(test_handlers_complete)
{
	unsigned int i;

	for (i = 0; i < METHOD_COUNT; i++)
		ck_assert_msg(rpc_handlers[i] != NULL, "%s", methods[i].name);
}
END_TEST

/* A bad line gets its error, and costs nothing else. */
START_TEST(test_bad_lines)
{
	crig_puts(&a, "{nonsense}\n" HELLO("1") "\n");
	expect_error(&a, "PARSE_ERROR", "byte");
	expect_id(&a, 1);
	crig_puts(&a, "7\n\n\r\n\"x\"\r\n{}\n{\"a\":1,\"a\":2}\n");
	expect_error(&a, "INVALID_REQUEST", "object");
	expect_error(&a, "INVALID_REQUEST", "object");
	expect_error(&a, "INVALID_REQUEST", "2.0");
	expect_error(&a, "PARSE_ERROR", "duplicate");
	crig_send(&a, "\xff\xfe\0x\n", 5);
	expect_error(&a, "PARSE_ERROR", "");
	crig_puts(&a, HELLO("2") "\r\n");
	expect_id(&a, 2);
	json_decref(crig_fail(&a, "no.such", NULL, "METHOD_NOT_FOUND"));
	json_decref(crig_fail(&a, "rpc.hello", "{\"x\":1}", "INVALID_PARAMS"));
	json_decref(crig_fail(&a, "rpc.hello", "[1]", "INVALID_PARAMS"));
}
END_TEST

START_TEST(test_hostile_lines)
{
	char *line = malloc(200000);
	size_t i;

	memset(line, '[', 100000);
	line[100000] = '\n';
	crig_send(&a, line, 100001);
	expect_error(&a, "LIMIT", "nesting");
	for (i = 0; i < 60000; i += 3)
		memcpy(line + i, "{},", 3);
	line[0] = '[';
	line[60000] = '\n';
	crig_send(&a, line, 60001);
	expect_error(&a, "LIMIT", "values");
	free(line);
	crig_puts(&a, HELLO("3") "\n");
	expect_id(&a, 3);
}
END_TEST

/* Bytes one at a time; then many requests in one write. */
START_TEST(test_split_and_pipelined)
{
	const char *request = HELLO("1") "\n";
	char many[20000] = "";
	size_t i;

	for (i = 0; request[i]; i++) {
		crig_send(&a, request + i, 1);
		ck_assert_int_eq(loop_turn(rig.loop, 0), 0);
	}
	expect_id(&a, 1);
	for (i = 0; i < 300; i++)
		(void)snprintf(many + strlen(many), sizeof(many) - strlen(many),
		    "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"rpc.hello\"}\n", i);
	crig_puts(&a, many);
	for (i = 0; i < 300; i++)
		expect_id(&a, (json_int_t)i);
}
END_TEST

START_TEST(test_too_large)
{
	char *line = malloc(10001);

	teardown();
	crig_start_two(&rig, "{\"control\":{\"max_request\":4096}}", &a, &b);
	memset(line, 'x', 10000);
	line[10000] = '\n';
	crig_send(&a, line, 10001);
	crig_puts(&a, HELLO("5") "\n");
	expect_error(&a, "TOO_LARGE", "4096 bytes");
	expect_id(&a, 5);
	/* Exactly the limit is a line. */
	memset(line, ' ', 4096);
	line[4096] = '\n';
	memcpy(line, HELLO("6"), strlen(HELLO("6")));
	crig_send(&a, line, 4097);
	expect_id(&a, 6);
	ck_assert(crig_is_silent(&a));
	free(line);
}
END_TEST

START_TEST(test_ids)
{
	static const char *const good[] = { "0", "-1", "9007199254740991", "\"\"",
		"\"abc\\u00e4\\\"\"", "null" };
	static const char *const bad[] = { "1.5", "true", "[]", "{}",
		"9007199254740992", "-9007199254740992" };
	char line[256];
	json_t *reply, *id;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		(void)snprintf(line, sizeof(line),
		    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"rpc.hello\"}\n",
		    good[i]);
		crig_puts(&a, line);
		reply = crig_reply(&a);
		id = json_loads(good[i], JSON_DECODE_ANY, NULL);
		ck_assert(json_equal(id, json_object_get(reply, "id")));
		ck_assert_ptr_nonnull(json_object_get(reply, "result"));
		json_decref(id);
		json_decref(reply);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		(void)snprintf(line, sizeof(line),
		    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"rpc.hello\"}\n",
		    bad[i]);
		crig_puts(&a, line);
		expect_error(&a, "INVALID_REQUEST", "integer");
	}
}
END_TEST

/* No answer to a notification, and none that changes something is obeyed. */
START_TEST(test_notifications)
{
	json_t *stats, *control;

	crig_puts(&a,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"recv.post\",\"params\":{\"count\":3}}\n"
	    "{\"jsonrpc\":\"2.0\",\"method\":\"daemon.stop\"}\n"
	    "{\"jsonrpc\":\"2.0\",\"method\":\"rpc.hello\"}\n"
	    "{\"jsonrpc\":\"2.0\",\"method\":\"no.such\"}\n"
	    "{\"jsonrpc\":\"2.0\",\"method\":\"rpc.hello\",\"params\":7}\n");
	ck_assert(crig_is_silent(&a));
	ck_assert_uint_eq(stub_engine_counts(rig.engine).posted, 0);
	ck_assert_uint_eq(rig.stop_calls, 0);
	stats = crig_call(&a, "stats.get", NULL);
	control = json_object_get(stats, "control");
	ck_assert_int_eq(json_integer_value(json_object_get(control,
			     "notifications_refused_total")),
	    2);
	ck_assert_int_eq(json_integer_value(json_object_get(control, "requests_total")),
	    6);
	json_decref(stats);
}
END_TEST

START_TEST(test_denied)
{
	json_t *error;
	char path[64];

	teardown();
	crig_start_two(&rig,
	    "{\"control\":{\"roles\":{\"admin\":{},\"post\":{},"
	    "\"read\":{\"users\":[\"root\"]}}}}",
	    &a, &b);
	if (geteuid() != 0) {
		error = crig_fail(&a, "rpc.hello", NULL, "DENIED");
		json_decref(error);
		return;
	}
	json_decref(crig_call(&a, "rpc.hello", NULL));
	/* The role comes before the parameters. */
	error = crig_fail(&a, "recv.post", "{\"nonsense\":1}", "DENIED");
	(void)snprintf(path, sizeof(path), "uid=0 pid=%ld method=recv.post",
	    (long)getpid());
	ck_assert_ptr_nonnull(strstr(rig.log, path));
	ck_assert_ptr_nonnull(strstr(rig.log, "result=DENIED"));
	json_decref(error);
	json_decref(crig_fail(&a, "daemon.stop", NULL, "DENIED"));
	ck_assert_uint_eq(rig.stop_calls, 0);
}
END_TEST

START_TEST(test_audit)
{
	char *first;

	json_decref(crig_call(&a, "recv.post", "{\"count\":2}"));
	first = strstr(rig.log, "method=recv.post result=ok");
	ck_assert_ptr_nonnull(first);
	json_decref(crig_call(&a, "recv.post", "{\"count\":2}"));
	json_decref(crig_call(&a, "recv.poll", NULL));
	ck_assert_ptr_null(strstr(first + 1, "method="));
	json_decref(crig_call(&a, "listener.add",
	    "{\"addr\":\"10.0.0.1\",\"port\":0}"));
	ck_assert_ptr_nonnull(strstr(rig.log, "method=listener.add result=ok"));
	json_decref(crig_fail(&a, "listener.remove", "{\"listener\":9}",
	    "NO_SUCH_LISTENER"));
	ck_assert_ptr_nonnull(strstr(rig.log,
	    "method=listener.remove result=NO_SUCH_LISTENER"));
	crig_close(&a);
	crig_settle(&rig);
	ck_assert_ptr_nonnull(strstr(rig.log,
	    "left posts=2 polls=1 acks=0 nacks=0 sends=0"));
}
END_TEST

START_TEST(test_stop)
{
	json_t *result, *polled;

	json_decref(crig_call(&a, "recv.post", "{\"count\":1}"));
	stub_engine_arrive(rig.engine, "x", 1);
	polled = crig_call(&a, "recv.poll", NULL);
	crig_puts(&b,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"recv.poll\","
	    "\"params\":{\"wait_ms\":600000}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"conn.open\","
	    "\"params\":{\"addr\":\"10.0.0.1\",\"port\":1}}\n");
	crig_settle(&rig);
	ck_assert_uint_eq(rig.engine->op_count, 1);
	/* What is sent behind it in one piece comes too late. */
	crig_puts(&a,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.stop\"}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"recv.post\"}\n");
	result = crig_reply(&a);
	ck_assert(json_is_true(json_object_get(json_object_get(result, "result"),
	    "stopping")));
	json_decref(result);
	ck_assert_ptr_nonnull(strstr(crig_line(&a), "SHUTTING_DOWN"));
	ck_assert_uint_eq(rig.stop_calls, 1);
	/* As the daemon does then: */
	rpc_begin_stop(rig.rpc);
	ck_assert_ptr_nonnull(strstr(crig_line(&b), "SHUTTING_DOWN"));
	json_decref(crig_fail(&a, "recv.post", NULL, "SHUTTING_DOWN"));
	json_decref(crig_fail(&a, "recv.poll", NULL, "SHUTTING_DOWN"));
	json_decref(crig_call(&a, "daemon.stop", NULL));
	json_decref(crig_call(&a, "daemon.status", NULL));
	json_decref(crig_fail(&a, "recv.ack",
	    "{\"tokens\":[\"c0ffee0123456789.0.999\"]}", "NO_SUCH_TOKEN"));
	ck_assert(crig_is_silent(&b));
	rpc_end_calls(rig.rpc);
	ck_assert_ptr_nonnull(strstr(crig_line(&b), "SHUTTING_DOWN"));
	/* The engine ends it all the same, unheard. */
	stub_engine_finish(rig.engine, ERR_NONE);
	ck_assert(crig_is_silent(&b));
	json_decref(polled);
}
END_TEST

/* A client that is gone stops the daemon all the same. */
START_TEST(test_stop_and_gone)
{
	crig_puts(&a, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.stop\"}");
	crig_close(&a);
	crig_settle(&rig);
	ck_assert_uint_eq(rig.stop_calls, 1);
}
END_TEST

/* Whatever allocation of jansson fails: a reply or the end of the client, no leak. */
static void
starve(const char *request, unsigned long *failures)
{
	struct crig_client client;
	bool has_failed = true;
	unsigned long n;
	const char *line;
	long live;

	for (n = 1; has_failed; n++) {
		crig_open(&rig, &client);
		crig_settle(&rig);
		live = json_alloc_live();
		crig_puts(&client, request);
		json_alloc_fail_at(n);
		line = crig_line(&client);
		has_failed = json_alloc_failed();
		json_alloc_fail_at(0);
		if (!has_failed)
			ck_assert_ptr_nonnull(line);
		ck_assert_int_eq(json_alloc_live(), live);
		crig_close(&client);
		crig_settle(&rig);
		*failures += has_failed;
	}
}

START_TEST(test_no_memory)
{
	unsigned long failures = 0;

	teardown();
	json_alloc_install();
	crig_start_two(&rig, NULL, &a, &b);
	rig.engine->conns = 2;
	rig.engine->listeners = 2;
	rig.engine->warning = "something is wrong";
	starve(HELLO("1") "\n", &failures);
	starve("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"daemon.status\"}\n",
	    &failures);
	starve("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"conn.list\"}\n", &failures);
	starve("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"listener.list\"}\n",
	    &failures);
	starve("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"stats.get\"}\n", &failures);
	starve("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"srq.show\"}\n", &failures);
	starve("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.hello\"},"
	       "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"no.such\"}]\n",
	    &failures);
	starve("nonsense\n", &failures);
	ck_assert_uint_gt(failures, 300);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("rpc");
	TCase *tc = tcase_create("rpc");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_handlers_complete);
	tcase_add_test(tc, test_bad_lines);
	tcase_add_test(tc, test_hostile_lines);
	tcase_add_test(tc, test_split_and_pipelined);
	tcase_add_test(tc, test_too_large);
	tcase_add_test(tc, test_ids);
	tcase_add_test(tc, test_notifications);
	tcase_add_test(tc, test_denied);
	tcase_add_test(tc, test_audit);
	tcase_add_test(tc, test_stop);
	tcase_add_test(tc, test_stop_and_gone);
	tcase_add_test(tc, test_no_memory);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
