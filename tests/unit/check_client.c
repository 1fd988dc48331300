/* SPDX-License-Identifier: BSD-3-Clause */
/* The client against a scripted daemon: deadline, framing, ids, ends of all kinds. */
#include <config.h>

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "ctl/client.h"
#include "lib/core/compiler.h"
#include "lib/core/usock.h"
#include "tests/unit/ctl_harness.h"
#include "tests/unit/harness.h"

#define END                             \
	{                               \
		NULL, STEP_RESULT, NULL \
	}
#define STATUS "\"method\":\"daemon.status\",\"params\":{}}"
#define BUSY_TEXT                                                                  \
	"{\"code\":-32001,\"message\":\"it is busy\",\"data\":{\"name\":\"BUSY\"," \
	"\"retryable\":true,\"path\":\"params.count\",\"hint\":\"wait\"}}"

static struct err err;

/* Open, call daemon.status, close; what the call (or the opening) returned. */
static int
call_once(const struct server *server, uint64_t timeout_ms, uint64_t wait_ms,
    json_t **result)
{
	struct client_config config = {
		.path = server->path,
		.timeout_ms = timeout_ms,
		.interrupt_fd = -1,
		.output_fd = -1,
	};
	struct client *client = NULL;
	int rc;

	memset(&err, 0, sizeof(err));
	rc = client_open(&config, &client, &err);
	if (rc == 0)
		rc = client_call(client, "daemon.status", json_object(), wait_ms,
		    result, &err);
	client_close(client);
	return rc;
}

/* The same against a script, whose daemon is ended and asked for its verdict. */
static int
call_script(const struct step *hello, const struct step *steps, json_t **result)
{
	struct server server;
	int rc;

	server_start(&server, hello, steps);
	rc = call_once(&server, 5000, 0, result);
	ck_assert_int_eq(server_stop(&server), 0);
	return rc;
}

START_TEST(result_comes_back)
{
	static const struct step steps[] = {
		{ STATUS, STEP_RESULT, "{\"a\":9007199254740993}" },
		END,
	};
	json_t *result = NULL;

	ck_assert_int_eq(call_script(NULL, steps, &result), 0);
	ck_assert(json_integer_value(json_object_get(result, "a")) == 9007199254740993);
	json_decref(result);
}
END_TEST

START_TEST(single_bytes)
{
	static const struct step hello = { NULL, STEP_BYTEWISE,
		"{\"protocol\":1,\"limits\":{\"max_request\":1048576}}" };
	static const struct step steps[] = {
		{ STATUS, STEP_BYTEWISE, "{\"text\":\"\xc3\xa4\\u00e4\"}" },
		END,
	};
	json_t *result = NULL;

	ck_assert_int_eq(call_script(&hello, steps, &result), 0);
	ck_assert_str_eq(json_string_value(json_object_get(result, "text")),
	    "\xc3\xa4\xc3\xa4");
	json_decref(result);
}
END_TEST

START_TEST(large_reply)
{
	static const struct step steps[] = {
		{ STATUS, STEP_STUFF, NULL },
		END,
	};
	json_t *result = NULL;

	ck_assert_int_eq(call_script(NULL, steps, &result), 0);
	ck_assert_uint_eq(json_string_length(json_object_get(result, "stuff")),
	    4u << 20);
	json_decref(result);
}
END_TEST

START_TEST(never_answers)
{
	static const struct step steps[] = {
		{ STATUS, STEP_SILENT, NULL },
		END,
	};
	uint64_t begin = usock_now_ms(), took;
	struct server server;
	json_t *result;

	server_start(&server, NULL, steps);
	/* In this time the server has to start, and to answer the hello. */
	ck_assert_int_eq(call_once(&server, 2000, 0, &result), -ETIMEDOUT);
	took = usock_now_ms() - begin;
	ck_assert_int_eq(server_stop(&server), 0);
	ck_assert(took >= 2000 && took < 20000);
	ck_assert_int_eq(err.code, ERR_TIMEOUT);
	ck_assert_str_eq(err.text, "no answer from the daemon within 2 s");
}
END_TEST

START_TEST(own_wait_extends_the_deadline)
{
	static const struct step steps[] = {
		{ STATUS, STEP_SILENT, NULL },
		END,
	};
	uint64_t begin = usock_now_ms();
	struct server server;
	json_t *result;

	server_start(&server, NULL, steps);
	ck_assert_int_eq(call_once(&server, 2000, 500, &result), -ETIMEDOUT);
	ck_assert_uint_ge(usock_now_ms() - begin, 2500);
	ck_assert_int_eq(server_stop(&server), 0);
	ck_assert_str_eq(err.text, "no answer from the daemon within 2500 ms");
}
END_TEST

/* Scripts that break the protocol: what answers is not understood. */
static const char *const malformed[] = {
	"{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n",
	"{\"jsonrpc\":\"2.0\",\"id\":\"2\",\"result\":{}}\n",
	"{\"jsonrpc\":\"2.0\",\"id\":-1,\"result\":{}}\n",
	"{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}\n",
	"{\"jsonrpc\":\"2.0\",\"result\":{}}\n",
	"{\"jsonrpc\":\"2.0\",\"id\":2}\n",
	"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{},\"error\":{}}\n",
	"{\"jsonrpc\":\"1.0\",\"id\":2,\"result\":{}}\n",
	"{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":\"no\"}\n",
	"garbage\n",
	"[]\n",
	"\x01\x02\xff\n",
};

START_TEST(is_not_understood)
{
	const struct step steps[] = {
		{ STATUS, STEP_RAW, malformed[_i] },
		END,
	};
	json_t *result;

	ck_assert_int_eq(call_script(NULL, steps, &result), -EPROTO);
	ck_assert_int_ne(err.text[0], '\0');
}
END_TEST

START_TEST(passes_over_what_is_not_the_answer)
{
	static const struct step steps[] = {
		{ STATUS, STEP_RAW,
		    "\r\n{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{}}\n"
		    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"late\":true}}\n"
		    "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"ok\":true}}\r\n" },
		END,
	};
	json_t *result = NULL;

	ck_assert_int_eq(call_script(NULL, steps, &result), 0);
	ck_assert(json_is_true(json_object_get(result, "ok")));
	json_decref(result);
}
END_TEST

static const enum step_action ends[] = { STEP_CLOSE, STEP_HALF };

START_TEST(connection_ends)
{
	const struct step steps[] = {
		{ STATUS, ends[_i], "{\"a\":1}" },
		END,
	};
	json_t *result;

	ck_assert_int_eq(call_script(NULL, steps, &result), -ENOTCONN);
	ck_assert_int_eq(err.code, ERR_CONN_LOST);
}
END_TEST

START_TEST(error_comes_whole)
{
	static const struct step steps[] = {
		{ STATUS, STEP_ERROR, BUSY_TEXT },
		END,
	};
	json_t *result;

	ck_assert_int_eq(call_script(NULL, steps, &result), -EREMOTEIO);
	ck_assert_int_eq(err.code, ERR_BUSY);
	ck_assert_str_eq(err.text, "it is busy");
	ck_assert_str_eq(err.path, "params.count");
	ck_assert_str_eq(err.hint, "wait");
}
END_TEST

START_TEST(refused_before_it_asked)
{
	static const struct step hello = { NULL, STEP_UNREAD,
		"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32006,"
		"\"message\":\"64 clients served already\","
		"\"data\":{\"name\":\"TOO_MANY_CLIENTS\",\"retryable\":true}}}\n" };
	static const struct step steps[] = { END };
	json_t *result;

	ck_assert_int_eq(call_script(&hello, steps, &result), -EREMOTEIO);
	ck_assert_int_eq(err.code, ERR_TOO_MANY_CLIENTS);
}
END_TEST

START_TEST(other_protocol)
{
	static const struct step hello = { NULL, STEP_RESULT, "{\"protocol\":2}" };
	static const struct step steps[] = { END };
	json_t *result;

	ck_assert_int_eq(call_script(&hello, steps, &result), -EPROTO);
	ck_assert_str_eq(err.text,
	    "the daemon speaks version 2 of the protocol, this rpmactl version 1");
}
END_TEST

START_TEST(request_limit)
{
	static const struct step hello = { NULL, STEP_RESULT,
		"{\"protocol\":1,\"limits\":{\"max_request\":100}}" };
	static const struct step steps[] = {
		{ STATUS, STEP_RESULT, "{}" },
		END,
	};
	struct client_config config = {
		.timeout_ms = 5000, .interrupt_fd = -1, .output_fd = -1
	};
	struct client *client = NULL;
	struct server server;
	json_t *result = NULL;
	char text[128];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	server_start(&server, &hello, steps);
	config.path = server.path;
	ck_assert_int_eq(client_open(&config, &client, &err), 0);
	ck_assert_uint_eq(client_request_max(client), 100);
	ck_assert_int_eq(client_call(client, "x", json_pack("{s:s}", "x", text), 0,
			     &result, &err),
	    -EMSGSIZE);
	ck_assert_int_eq(err.code, ERR_TOO_LARGE);
	/* The connection is as good as before. */
	ck_assert_int_eq(client_call(client, "daemon.status", json_object(), 0, &result,
			     &err),
	    0);
	json_decref(result);
	client_close(client);
	ck_assert_int_eq(server_stop(&server), 0);
}
END_TEST

START_TEST(nobody_there)
{
	struct client_config config = {
		.timeout_ms = 5000, .interrupt_fd = -1, .output_fd = -1
	};
	static const struct step steps[] = { END };
	struct client *client = NULL;
	struct server server;
	uint64_t begin;

	server_start(&server, NULL, steps);
	ck_assert_int_eq(server_stop(&server), 0); /* its folder is gone */
	config.path = server.path;
	ck_assert_int_eq(client_open(&config, &client, &err), -ENOTCONN);
	ck_assert_int_eq(err.errnum, ENOENT);

	config.wait_daemon_ms = 200;
	begin = usock_now_ms();
	ck_assert_int_eq(client_open(&config, &client, &err), -ENOTCONN);
	ck_assert_uint_ge(usock_now_ms() - begin, 200);
	ck_assert_ptr_null(client);
}
END_TEST

START_TEST(waits_for_the_daemon)
{
	static const struct step steps[] = {
		{ STATUS, STEP_RESULT, "{}" },
		END,
	};
	struct client_config config = { .timeout_ms = 5000,
		.wait_daemon_ms = 10000,
		.interrupt_fd = -1,
		.output_fd = -1 };
	struct client *client = NULL;
	struct server server;
	char later[128];
	json_t *result;
	pid_t pid;

	server_start(&server, NULL, steps);
	(void)snprintf(later, sizeof(later), "%s.later", server.path);
	config.path = later;
	pid = fork();
	if (pid == 0) {
		(void)usleep(200000);
		_exit(rename(server.path, later) != 0);
	}
	ck_assert_int_eq(client_open(&config, &client, &err), 0);
	ck_assert_int_eq(client_call(client, "daemon.status", json_object(), 0, &result,
			     &err),
	    0);
	json_decref(result);
	client_close(client);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(server_stop(&server), 0);
}
END_TEST

/* A descriptor that is ready ends the wait for a reply, not the sending. */
START_TEST(interrupt_and_lost_reader)
{
	static const struct step steps[] = {
		{ STATUS, STEP_SILENT, NULL },
		{ STATUS, STEP_SILENT, NULL },
		END,
	};
	struct client_config config = {
		.timeout_ms = 5000, .interrupt_fd = -1, .output_fd = -1
	};
	int interrupt[2], output[2];
	struct client *client = NULL;
	struct server server;
	json_t *result;

	server_start(&server, NULL, steps);
	ck_assert_int_eq(pipe(interrupt), 0);
	ck_assert_int_eq(pipe(output), 0);
	config.path = server.path;
	ck_assert_int_eq(client_open(&config, &client, &err), 0);
	ck_assert_int_eq(write(interrupt[1], "x", 1), 1);
	client_watch(client, interrupt[0], output[1]);
	ck_assert_int_eq(client_call(client, "daemon.status", json_object(), 0, &result,
			     &err),
	    -EINTR);
	(void)close(output[0]);
	client_watch(client, -1, output[1]);
	ck_assert_int_eq(client_call(client, "daemon.status", json_object(), 0, &result,
			     &err),
	    -EPIPE);
	client_close(client);
	ck_assert_int_eq(server_stop(&server), 0);
}
END_TEST

#define POLL       "\"method\":\"recv.poll\",\"params\":{}}"
#define LATE(id)   "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"late\":true}}\n"
#define ANSWER(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"late\":false}}\n"
#define CONNECTION "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":" BUSY_TEXT "}\n"

/* Begin a request, make a call, take the reply; whether each has its own. */
static int
begin_call_take(const char *replies, json_t **result)
{
	const struct step steps[] = {
		{ POLL, STEP_SILENT, NULL },
		{ STATUS, STEP_RAW, replies },
		END,
	};
	struct client_config config = {
		.timeout_ms = 5000, .interrupt_fd = -1, .output_fd = -1
	};
	struct client *client;
	struct server server;
	json_t *called;
	int rc;

	server_start(&server, NULL, steps);
	config.path = server.path;
	ck_assert_int_eq(client_open(&config, &client, &err), 0);
	ck_assert_int_eq(client_begin(client, "recv.poll", json_object(), 0, &err), 0);
	ck_assert_int_eq(client_take(client, result, &err), -EAGAIN);
	ck_assert_int_eq(client_call(client, "daemon.status", json_object(), 0, &called,
			     &err),
	    0);
	ck_assert(json_is_false(json_object_get(called, "late")));
	json_decref(called);
	do
		rc = client_take(client, result, &err);
	while (rc == -EAGAIN);
	client_close(client);
	ck_assert_int_eq(server_stop(&server), 0);
	return rc;
}

/* Whichever comes first, and in pieces as the lines come: the call's, and what was begun. */
START_TEST(takes_what_was_begun)
{
	static const char *const orders[] = { LATE("2") ANSWER("3"),
		ANSWER("3") LATE("2") };
	json_t *result;
	size_t i;

	for (i = 0; i < ARRAY_LEN(orders); i++) {
		ck_assert_int_eq(begin_call_take(orders[i], &result), 0);
		ck_assert(json_is_true(json_object_get(result, "late")));
		json_decref(result);
	}
	ck_assert_int_eq(begin_call_take(ANSWER("3") CONNECTION, &result), -EREMOTEIO);
	ck_assert_int_eq(err.code, ERR_BUSY);
}
END_TEST

START_TEST(what_was_begun_times_out)
{
	static const struct step steps[] = {
		{ POLL, STEP_SILENT, NULL },
		END,
	};
	struct client_config config = {
		.timeout_ms = 2000, .interrupt_fd = -1, .output_fd = -1
	};
	struct client *client;
	struct server server;
	uint64_t before;
	json_t *result;
	int rc;

	server_start(&server, NULL, steps);
	config.path = server.path;
	ck_assert_int_eq(client_open(&config, &client, &err), 0);
	before = usock_now_ms();
	ck_assert_int_eq(client_begin(client, "recv.poll", json_object(), 200, &err),
	    0);
	do
		rc = client_take(client, &result, &err);
	while (rc == -EAGAIN);
	ck_assert_int_eq(rc, -ETIMEDOUT);
	ck_assert_uint_ge(usock_now_ms() - before, 2200);
	client_close(client);
	ck_assert_int_eq(server_stop(&server), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("client");
	TCase *tcase = tcase_create("client");

	tcase_add_test(tcase, result_comes_back);
	tcase_add_test(tcase, single_bytes);
	tcase_add_test(tcase, large_reply);
	tcase_add_test(tcase, never_answers);
	tcase_add_test(tcase, own_wait_extends_the_deadline);
	tcase_add_loop_test(tcase, is_not_understood, 0, ARRAY_LEN(malformed));
	tcase_add_test(tcase, passes_over_what_is_not_the_answer);
	tcase_add_loop_test(tcase, connection_ends, 0, ARRAY_LEN(ends));
	tcase_add_test(tcase, error_comes_whole);
	tcase_add_test(tcase, refused_before_it_asked);
	tcase_add_test(tcase, other_protocol);
	tcase_add_test(tcase, request_limit);
	tcase_add_test(tcase, nobody_there);
	tcase_add_test(tcase, waits_for_the_daemon);
	tcase_add_test(tcase, interrupt_and_lost_reader);
	tcase_add_test(tcase, takes_what_was_begun);
	tcase_add_test(tcase, what_was_begun_times_out);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
