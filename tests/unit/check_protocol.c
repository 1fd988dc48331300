/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol over the daemon's real socket: what is odd, hostile or merely unusual has
 * the one answer that rpmad-rpc(7) gives, and the connection goes on.
 */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "tests/unit/daemon_rig.h"
#include "tests/unit/harness.h"

#define HELLO(id)  "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"rpc.hello\"}"
#define MIB        1048576u
#define INT53_NEXT "9007199254740993" /* 2^53 + 1, which a double cannot hold */

static struct daemon_rig rig;
static struct daemon_client a;

static void
setup(void)
{
	memset(&rig, 0, sizeof(rig));
	daemon_rig_start(&rig,
	    "\"listen\": [\"127.0.0.1:0\"], \"pool\": {\"slots\": 8}", NULL);
	daemon_client_open(&rig, &a);
}

static void
teardown(void)
{
	daemon_client_close(&a);
	daemon_rig_end(&rig);
}

/* The next reply is a result, with that id (JSON). */
static void
expect_result(const char *id)
{
	json_t *reply = daemon_client_json(&a);
	json_t *wanted = json_loads(id, JSON_DECODE_ANY, NULL);

	ck_assert_msg(json_object_get(reply, "result") != NULL, "no result for %s", id);
	ck_assert_msg(json_equal(json_object_get(reply, "id"), wanted), "id %s", id);
	json_decref(wanted);
	json_decref(reply);
}

/* The next reply is an error of that name, with that id; path and text as given. */
static void
expect_error(const char *id, const char *name, const char *path, const char *text)
{
	json_t *reply = daemon_client_json(&a);
	const json_t *error = json_object_get(reply, "error");
	const json_t *data = json_object_get(error, "data");
	const char *message = json_string_value(json_object_get(error, "message"));
	json_t *wanted = json_loads(id, JSON_DECODE_ANY, NULL);

	ck_assert_msg(message != NULL, "no error, %s wanted", name);
	ck_assert_str_eq(json_string_value(json_object_get(data, "name")), name);
	ck_assert_msg(json_equal(json_object_get(reply, "id"), wanted), "%s", message);
	if (path)
		ck_assert_str_eq(json_string_value(json_object_get(data, "path")),
		    path);
	ck_assert_msg(strstr(message, text) != NULL, "%s", message);
	json_decref(wanted);
	json_decref(reply);
}

/* The connection is as good as new: nothing is left over of what came before. */
static void
expect_alive(void)
{
	daemon_client_puts(&a, HELLO("\"alive\"") "\n");
	expect_result("\"alive\"");
}

static void
call(const char *id, const char *method, const char *params)
{
	char line[512];

	(void)snprintf(line, sizeof(line),
	    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":%s}\n", id,
	    method, params);
	daemon_client_puts(&a, line);
}

START_TEST(test_one_byte_writes)
{
	const char *text = HELLO("1") "\r\n\n" HELLO("2") "\n";

	for (; *text; text++) {
		daemon_client_send(&a, text, 1);
		daemon_client_sync(&a);
	}
	expect_result("1");
	expect_result("2");
	expect_alive();
}
END_TEST

START_TEST(test_many_frames)
{
	char *text = calloc(1, 65536), id[16];
	unsigned int i;

	for (i = 0; i < 500; i++)
		(void)snprintf(text + strlen(text), 128,
		    "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"rpc.hello\"}\n", i);
	daemon_client_puts(&a, text);
	for (i = 0; i < 500; i++) {
		(void)snprintf(id, sizeof(id), "%u", i);
		expect_result(id);
	}
	expect_alive();
	free(text);
}
END_TEST

/* A frame in two pieces, wherever it is cut: in a character of several bytes too, in an
 * escape and in a pair of them. */
START_TEST(test_split_anywhere)
{
	const char *id = "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\\u00e4\\\\\\\"\\n"
			 "\\ud83d\\ude00\"";
	char line[256];
	size_t len, cut;

	(void)snprintf(line, sizeof(line),
	    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"rpc.hello\"}\n", id);
	len = strlen(line);
	for (cut = 1; cut < len; cut++) {
		daemon_client_send(&a, line, cut);
		daemon_client_sync(&a);
		daemon_client_send(&a, line + cut, len - cut);
		expect_result(id);
	}
	/* Half a character is no character. */
	daemon_client_puts(&a, HELLO("\"\xe2\x82\"") "\n");
	expect_error("null", "PARSE_ERROR", NULL, "byte");
	daemon_client_puts(&a, HELLO("\"\\ud83d\"") "\n");
	expect_error("null", "PARSE_ERROR", NULL, "byte");
	expect_alive();
}
END_TEST

START_TEST(test_nesting)
{
	char *line = malloc(200002);

	memset(line, '[', 100000);
	memset(line + 100000, ']', 100000);
	line[200000] = '\n';
	daemon_client_send(&a, line, 200001);
	expect_error("null", "LIMIT", NULL, "nesting");
	memset(line, '[', 100000);
	line[100000] = '\n';
	daemon_client_send(&a, line, 100001);
	expect_error("null", "LIMIT", NULL, "nesting");
	expect_alive();
	free(line);
}
END_TEST

START_TEST(test_long_line)
{
	char *line = malloc(2 * MIB + 1);

	memset(line, 'x', 2 * MIB);
	line[2 * MIB] = '\n';
	daemon_client_send(&a, line, 2 * MIB + 1);
	daemon_client_puts(&a, HELLO("1") "\n");
	expect_error("null", "TOO_LARGE", NULL, "1048576 bytes");
	expect_result("1");
	/* Exactly as long as allowed. */
	memset(line, ' ', MIB);
	memcpy(line, HELLO("2"), strlen(HELLO("2")));
	line[MIB] = '\n';
	daemon_client_send(&a, line, MIB + 1);
	expect_result("2");
	expect_alive();
	free(line);
}
END_TEST

START_TEST(test_nul)
{
	daemon_client_send(&a, "\0\n", 2);
	expect_error("null", "PARSE_ERROR", NULL, "");
	daemon_client_send(&a, HELLO("1") "\0\n", sizeof(HELLO("1") "\0\n") - 1);
	expect_error("null", "PARSE_ERROR", NULL, "");
	daemon_client_send(&a, "{\"a\0b\":1}\n", 10);
	expect_error("null", "PARSE_ERROR", NULL, "");
	daemon_client_puts(&a, HELLO("\"\\u0000\"") "\n");
	expect_error("null", "PARSE_ERROR", NULL, "");
	expect_alive();
}
END_TEST

START_TEST(test_duplicate_keys)
{
	daemon_client_puts(&a,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"rpc.hello\"}\n");
	expect_error("null", "PARSE_ERROR", NULL, "duplicate");
	call("3", "recv.post", "{\"count\":1,\"count\":2}");
	expect_error("null", "PARSE_ERROR", NULL, "duplicate");
	expect_alive();
}
END_TEST

/* No rounding, no reals for integers. */
START_TEST(test_integers)
{
	call("1", "conn.show", "{\"conn\":" INT53_NEXT "}");
	expect_error("1", "INVALID_PARAMS", "params.conn", INT53_NEXT);
	call("2", "conn.show", "{\"conn\":9007199254740991}");
	expect_error("2", "NO_SUCH_CONN", NULL, "9007199254740991");
	call("3", "recv.post", "{\"count\":1e3}");
	expect_error("3", "INVALID_PARAMS", "params.count", "integer");
	call("4", "recv.post", "{\"count\":1.0}");
	expect_error("4", "INVALID_PARAMS", "params.count", "integer");
	call("5", "recv.post", "{\"count\":\"1\"}");
	expect_error("5", "INVALID_PARAMS", "params.count", "integer");
	call("6", "recv.post", "{\"count\":-1}");
	expect_error("6", "INVALID_PARAMS", "params.count", "-1");
	call("7", "recv.post", "{\"count\":18446744073709551616}");
	expect_error("null", "PARSE_ERROR", NULL, "");
	call("8", "recv.post", "{\"count\":1e999}");
	expect_error("null", "PARSE_ERROR", NULL, "");
	expect_alive();
}
END_TEST

/* A batch of n requests with the ids 0, 1, ... */
static void
send_batch(unsigned int n)
{
	char *text = calloc(1, 65536);
	unsigned int i;

	(void)snprintf(text, 2, "[");
	for (i = 0; i < n; i++)
		(void)snprintf(text + strlen(text), 128,
		    "%s{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"rpc.hello\"}",
		    i > 0 ? "," : "", i);
	daemon_client_puts(&a, text);
	daemon_client_puts(&a, "]\n");
	free(text);
}

START_TEST(test_batches)
{
	static const unsigned int sizes[] = { 1, 256 };
	const json_t *member;
	json_t *replies;
	unsigned int i;
	size_t k;

	send_batch(0);
	expect_error("null", "INVALID_REQUEST", NULL, "empty");
	for (i = 0; i < 2; i++) {
		send_batch(sizes[i]);
		replies = daemon_client_json(&a);
		ck_assert_uint_eq(json_array_size(replies), sizes[i]);
		json_array_foreach(replies, k, member) {
			ck_assert_uint_eq((size_t)
					      json_integer_value(json_object_get(member,
						  "id")),
			    k);
			ck_assert_ptr_nonnull(json_object_get(member, "result"));
		}
		json_decref(replies);
	}
	send_batch(257);
	expect_error("null", "LIMIT", NULL, "257");
	expect_alive();
}
END_TEST

START_TEST(test_ids)
{
	static const char *const good[] = { "0", "-1", "9007199254740991",
		"-9007199254740991", "\"\"", "\"a\"", "null" };
	static const char *const bad[] = { "1.0", "1e3", "true", "[]", "{}",
		"9007199254740992", INT53_NEXT, "-9007199254740992" };
	char id[160];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		call(good[i], "rpc.hello", "{}");
		expect_result(good[i]);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		call(bad[i], "rpc.hello", "{}");
		expect_error("null", "INVALID_REQUEST", "id", "integer");
	}
	(void)snprintf(id, sizeof(id), "\"%0128d\"", 0);
	call(id, "rpc.hello", "{}");
	expect_result(id);
	(void)snprintf(id, sizeof(id), "\"%0129d\"", 0);
	call(id, "rpc.hello", "{}");
	expect_error("null", "INVALID_REQUEST", "id", "128 bytes");
	expect_alive();
}
END_TEST

/* Not carried out, not answered, but counted. */
START_TEST(test_notification)
{
	json_t *before = daemon_client_call(&a, "stats.get", NULL), *after;
	const json_t *control;

	daemon_client_puts(&a,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"recv.post\",\"params\":{\"count\":4}}\n"
	    "{\"jsonrpc\":\"2.0\",\"method\":\"daemon.stop\"}\n"
	    "{\"jsonrpc\":\"2.0\",\"method\":\"no.such\"}\n"
	    "[{\"jsonrpc\":\"2.0\",\"method\":\"recv.post\"}]\n");
	after = daemon_client_call(&a, "stats.get", NULL);
	ck_assert(json_equal(json_object_get(before, "slots"),
	    json_object_get(after, "slots")));
	control = json_object_get(after, "control");
	ck_assert_int_eq(json_integer_value(json_object_get(control,
			     "notifications_refused_total")),
	    3);
	json_decref(before);
	json_decref(after);
	expect_alive();
}
END_TEST

START_TEST(test_around_malformed)
{
	daemon_client_puts(&a,
	    HELLO("1") "\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\n" HELLO(
		"3") "\n"
		     "7\n\"x\"\nnull\n" HELLO(
			 "4") "\n"
			      "{\"jsonrpc\":\"1.0\",\"id\":5,\"method\":\"rpc.hello\"}\n"
			      "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"rpc.hello\",\"x\":1}\n"
			      "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":8}\n" HELLO(
				  "9") "\n");
	expect_result("1");
	expect_error("null", "PARSE_ERROR", NULL, "byte");
	expect_result("3");
	expect_error("null", "INVALID_REQUEST", NULL, "object");
	expect_error("null", "INVALID_REQUEST", NULL, "object");
	expect_error("null", "INVALID_REQUEST", NULL, "object");
	expect_result("4");
	expect_error("5", "INVALID_REQUEST", NULL, "2.0");
	expect_error("6", "INVALID_REQUEST", "x", "");
	expect_error("7", "INVALID_REQUEST", "method", "string");
	expect_result("9");
	expect_alive();
}
END_TEST

/* What it waits for still comes, be it a message or the end of the time; then the end.
 * The last line needs no LF. */
START_TEST(test_half_close)
{
	json_t *listeners = daemon_client_call(&a, "listener.list", NULL), *reply;
	const json_t *first =
	    json_array_get(json_object_get(listeners, "listeners"), 0);
	const char *top = getenv("top_builddir");
	char command[600];

	call("1", "recv.poll", "{\"wait_ms\":600000}");
	daemon_client_puts(&a, HELLO("2"));
	ck_assert_int_eq(shutdown(a.fd, SHUT_WR), 0);
	expect_result("2");
	(void)snprintf(command, sizeof(command),
	    "%s/tests/fake/fake-send 127.0.0.1:%d --text hello", top ? top : ".",
	    (int)json_integer_value(json_object_get(first, "port")));
	ck_assert_int_eq(system(command), 0);
	json_decref(listeners);
	reply = daemon_client_json(&a);
	ck_assert_int_eq(json_integer_value(json_object_get(reply, "id")), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(reply,
							      "result"),
			      "completions")),
	    1);
	json_decref(reply);
	ck_assert_ptr_null(daemon_client_line(&a));
	daemon_client_close(&a);
	daemon_client_open(&rig, &a);
	/* The message is back, for it was not acknowledged. */
	call("3", "recv.poll", "{\"ack\":\"auto\"}");
	expect_result("3");
	call("4", "recv.poll", "{\"wait_ms\":100}");
	ck_assert_int_eq(shutdown(a.fd, SHUT_WR), 0);
	expect_result("4");
	ck_assert_ptr_null(daemon_client_line(&a));
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("protocol");
	TCase *tc = tcase_create("protocol");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_one_byte_writes);
	tcase_add_test(tc, test_many_frames);
	tcase_add_test(tc, test_split_anywhere);
	tcase_add_test(tc, test_nesting);
	tcase_add_test(tc, test_long_line);
	tcase_add_test(tc, test_nul);
	tcase_add_test(tc, test_duplicate_keys);
	tcase_add_test(tc, test_integers);
	tcase_add_test(tc, test_batches);
	tcase_add_test(tc, test_ids);
	tcase_add_test(tc, test_notification);
	tcase_add_test(tc, test_around_malformed);
	tcase_add_test(tc, test_half_close);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
