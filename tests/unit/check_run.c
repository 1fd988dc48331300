/* SPDX-License-Identifier: BSD-3-Clause */
/* send, call, and failures of all kinds against a scripted daemon: what is asked in
 * which order, what is printed, and the exit status. */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl/exit.h"
#include "lib/core/compiler.h"
#include "lib/core/err.h"
#include "tests/unit/ctl_harness.h"
#include "tests/unit/harness.h"

/* clang-format off */
#define OPEN(params)  "\"method\":\"conn.open\",\"params\":" params "}"
#define SEND(params)  "\"method\":\"conn.send\",\"params\":" params "}"
#define CLOSE(params) "\"method\":\"conn.close\",\"params\":" params "}"
#define ERROR(name, code, message) "{\"code\":" code ",\"message\":\"" message "\",\"data\":{\"name\":\"" name "\",\"retryable\":false}}"
/* clang-format on */

static struct capture capture;

/* Run a command against a script that must be followed to its end. */
static void
run(const struct step *steps, const char *const *argv)
{
	struct server server;

	server_start(&server, NULL, steps);
	ctl_run(&capture, server.path, argv);
	ck_assert_int_eq(server_stop(&server), 0);
}

START_TEST(send_to_a_connection)
{
	static const struct step steps[] = {
		{ SEND("{\"imm\":7,\"conn\":3,\"data\":\"aGVsbG8=\"}"), STEP_RESULT,
		    "{\"conn\":3,\"len\":5}" },
		END,
	};

	run(steps, ARGS("send", "3", "--text", "hello", "--imm", "7"));
	ck_assert_int_eq(capture.status, 0);
	ck_assert_str_eq(capture.out, "sent 5 bytes to connection 3\n");
}
END_TEST

#define OPENED \
	"{\"conn\":4,\"peer\":\"192.0.2.9:7\",\"local\":\"192.0.2.7:9\",\"peer_slot_size\":4096}"
#define CLOSED "{\"conn\":4,\"reason\":\"local\"}"

START_TEST(send_to_a_peer)
{
	static const struct step steps[] = {
		{ OPEN("{\"addr\":\"192.0.2.9\",\"port\":7}"), STEP_RESULT, OPENED },
		{ SEND("{\"conn\":4,\"data\":\"aGU=\"}"), STEP_RESULT,
		    "{\"conn\":4,\"len\":2}" },
		{ SEND("{\"conn\":4,\"data\":\"bGw=\"}"), STEP_RESULT,
		    "{\"conn\":4,\"len\":2}" },
		{ SEND("{\"conn\":4,\"data\":\"bw==\"}"), STEP_RESULT,
		    "{\"conn\":4,\"len\":1}" },
		{ CLOSE("{\"conn\":4}"), STEP_RESULT, CLOSED },
		END,
	};

	run(steps, ARGS("send", "192.0.2.9:7", "--text", "hello", "--chunk", "2"));
	ck_assert_int_eq(capture.status, 0);
	ck_assert_str_eq(capture.out, "sent 5 bytes in 3 messages to 192.0.2.9:7\n");
	run(steps,
	    ARGS("send", "192.0.2.9:7", "--text", "hello", "--chunk", "2", "--json"));
	ck_assert_str_eq(capture.out, "{\"conn\":4,\"messages\":3,\"bytes\":5}\n");
}
END_TEST

START_TEST(send_closes_what_it_opened)
{
	static const struct step steps[] = {
		{ OPEN("{\"addr\":\"192.0.2.9\",\"port\":7}"), STEP_RESULT, OPENED },
		{ SEND("{\"conn\":4,\"data\":\"aGVsbG8=\"}"), STEP_ERROR,
		    ERROR("TOO_LARGE", "-32005", "5 bytes are over the peer's 4") },
		{ CLOSE("{\"conn\":4}"), STEP_RESULT, CLOSED },
		END,
	};

	run(steps, ARGS("send", "192.0.2.9:7", "--text", "hello"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_FAILED);
	ck_assert_str_eq(capture.err,
	    "rpmactl: send: 5 bytes are over the peer's 4 "
	    "(--chunk BYTES sends it as several messages)\n");
}
END_TEST

START_TEST(send_interrupted)
{
	static const struct step steps[] = {
		{ OPEN("{\"addr\":\"192.0.2.9\",\"port\":7}"), STEP_RESULT, OPENED },
		{ SEND("{\"conn\":4,\"data\":\"aGVsbG8=\"}"), STEP_SIGNAL, NULL },
		{ CLOSE("{\"conn\":4}"), STEP_SILENT, NULL },
		END,
	};

	run(steps, ARGS("send", "192.0.2.9:7", "--text", "hello"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_FAILED);
	ck_assert_str_eq(capture.err, "rpmactl: send: interrupted\n");
}
END_TEST

START_TEST(send_from_a_file)
{
	static const struct step steps[] = {
		{ SEND("{\"conn\":3,\"data\":\"AAEC\"}"), STEP_RESULT,
		    "{\"conn\":3,\"len\":3}" },
		END,
	};
	char dir[64], path[96];
	FILE *file;

	scratch_make(dir, sizeof(dir));
	(void)snprintf(path, sizeof(path), "%s/message", dir);
	file = fopen(path, "w");
	ck_assert_uint_eq(fwrite("\0\1\2", 1, 3, file), 3);
	ck_assert_int_eq(fclose(file), 0);
	run(steps, ARGS("send", "3", path));
	ck_assert_int_eq(capture.status, 0);
	/* Over what one request takes: refused here, with the remedy. */
	ck_assert_int_eq(truncate(path, 1048576), 0);
	run((const struct step[]){ END }, ARGS("send", "3", path));
	ck_assert_int_eq(capture.status, EXIT_STATUS_FAILED);
	ck_assert_str_eq(capture.err,
	    "rpmactl: send: the message has 1048576 bytes, and the daemon takes at most "
	    "786048 in one request (--chunk BYTES sends it as several messages)\n");
	run((const struct step[]){ END }, ARGS("send", "3", path, "--chunk", "1MiB"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_USAGE);
	scratch_remove(dir);
}
END_TEST

/* Each error of the protocol: its exit status, and its sentence as one line. */
START_TEST(error_gives_its_exit_status)
{
	const struct err_info *info = err_info((enum err_code)_i);
	char text[256];
	const struct step steps[] = {
		{ "\"method\":\"daemon.status\"", STEP_ERROR, text },
		END,
	};

	(void)snprintf(text, sizeof(text),
	    "{\"code\":%d,\"message\":\"two\\nlines\",\"data\":{\"name\":\"%s\","
	    "\"retryable\":false,\"hint\":\"a hint\"}}",
	    info->rpc_code, info->name);
	run(steps, ARGS("status"));
	ck_assert_int_eq(capture.status, info->exit_code);
	ck_assert_str_eq(capture.out, "");
	ck_assert_str_eq(capture.err, "rpmactl: status: two?lines (a hint)\n");
}
END_TEST

START_TEST(unknown_error)
{
	static const struct step steps[] = {
		{ NULL, STEP_ERROR, ERROR("FROM_THE_FUTURE", "-31000", "well") },
		END,
	};

	run(steps, ARGS("status"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_FAILED);
	ck_assert_str_eq(capture.err, "rpmactl: status: FROM_THE_FUTURE: well\n");
}
END_TEST

START_TEST(failures_of_the_connection)
{
	static const struct step silent[] = { { NULL, STEP_SILENT, NULL }, END };
	static const struct step garbage[] = { { NULL, STEP_RAW, "what?\n" }, END };
	static const struct step closed[] = { { NULL, STEP_CLOSE, NULL }, END };

	run(silent, ARGS("status", "-t", "0.2"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_TIMED_OUT);
	run(garbage, ARGS("status"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_PROTOCOL);
	run(closed, ARGS("status"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_NO_DAEMON);
	ctl_run(&capture, "/nonexistent/sock", ARGS("status"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_NO_DAEMON);
}
END_TEST

/* The time is over while a look waits for its answer: the one before it tells. */
START_TEST(wait_ends_in_a_look)
{
	static const struct step steps[] = {
		{ "\"method\":\"stats.get\"", STEP_RESULT,
		    "{\"slots\":{\"total\":16}}" },
		{ "\"method\":\"stats.get\"", STEP_SILENT, NULL },
		END,
	};

	run(steps, ARGS("wait", "slots.total=15", "-t", "0.9"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_TIMED_OUT);
	ck_assert_str_eq(capture.err,
	    "rpmactl: wait: slots.total was 16, not = 15, within 900 ms (-t gives it "
	    "longer)\n");
	run(steps + 1, ARGS("wait", "slots.total=15", "-t", "0.9"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_TIMED_OUT);
	ck_assert_ptr_nonnull(strstr(capture.err, "no answer from the daemon"));
}
END_TEST

START_TEST(call_passes_through)
{
	static const struct step steps[] = {
		{ "\"method\":\"no.such\",\"params\":{\"x\":[1]}}", STEP_RESULT,
		    "{\"z\":1,\"a\":\"\\u00E4\"}" },
		END,
	};

	run(steps, ARGS("call", "no.such", "{\"x\": [1]}"));
	ck_assert_int_eq(capture.status, 0);
	ck_assert_str_eq(capture.out, "{\"z\":1,\"a\":\"\\u00E4\"}\n");
}
END_TEST

/* Answers that have not what the results of their methods have. */
static const struct {
	const char *words[2], *result, *missing;
} strange[] = {
	{ { "conns" }, "null", "conn.list has no list \"conns\"" },
	{ { "conns" }, "{}", "conn.list has no list \"conns\"" },
	{ { "conns" }, "{\"conns\":null}", "conn.list has no list \"conns\"" },
	{ { "conns" }, "{\"conns\":{}}", "conn.list has no list \"conns\"" },
	{ { "conns" }, "[]", "conn.list has no list \"conns\"" },
	{ { "listeners" }, "{}", "listener.list has no list \"listeners\"" },
	{ { "devices" }, "{}", "device.list has no list \"devices\"" },
	{ { "events" }, "{}", "event.get has no list \"events\"" },
	{ { "events", "-f" }, "{}", "event.get has no list \"events\"" },
	{ { "methods" }, "{}", "rpc.list has no list \"methods\"" },
	{ { "poll" }, "{}", "recv.poll has no list \"completions\"" },
	{ { "status" }, "7", "daemon.status has no \"state\"" },
	{ { "stats" }, "{}", "stats.get has no \"slots\"" },
	{ { "srq" }, "{}", "srq.show has no \"state\"" },
	{ { "metrics" }, "{}", "stats.metrics has no \"text\"" },
	{ { "post" }, "{}", "recv.post has no \"accepted\"" },
	{ { "conn", "3" }, "{}", "conn.show has no \"conn\"" },
};

START_TEST(a_result_of_another_kind)
{
	const struct step steps[] = {
		{ NULL, STEP_RESULT, strange[_i].result },
		END,
	};

	run(steps, ARGS(strange[_i].words[0], strange[_i].words[1]));
	ck_assert_int_eq(capture.status, EXIT_STATUS_PROTOCOL);
	ck_assert_str_eq(capture.out, "");
	ck_assert_msg(strstr(capture.err, strange[_i].missing) != NULL, "%s",
	    capture.err);
}
END_TEST

#define GET(since) \
	"\"method\":\"event.get\",\"params\":{\"since\":" since ",\"wait_ms\":30000}"
#define EVENT(seq)                                                      \
	"{\"seq\":" seq                                                 \
	",\"at\":\"2026-01-02T03:04:05.123456Z\",\"type\":\"srq.low\"," \
	"\"conn\":null,\"addr\":null,\"reason\":null,\"duration_ns\":null,\"count\":1}"
#define EVENTS(list, next, missed)                                                \
	"{\"instance\":\"0123456789abcdef\",\"events\":[" list "],\"next\":" next \
	",\"missed\":" missed "}"
#define GAP(count, reason)                                                \
	"{\"seq\":null,\"at\":null,\"type\":\"event.gap\",\"conn\":null," \
	"\"addr\":null,\"reason\":\"" reason                              \
	"\",\"duration_ns\":null,\"count\":" count "}\n"

/* The ring was overrun between two requests, twice, and then the daemon ends. */
START_TEST(events_with_a_gap)
{
	const struct step steps[] = {
		{ GET("2"), STEP_RESULT, EVENTS(EVENT("3"), "3", "0") },
		{ GET("3"), STEP_RESULT,
		    EVENTS(EVENT("1030") "," EVENT("1031"), "1031", "1026") },
		{ GET("1031"), STEP_RESULT, EVENTS("", "1031", "0") },
		{ GET("1031"), STEP_RESULT, EVENTS(EVENT("1033"), "1033", "1") },
		{ GET("1033"), _i ? STEP_CLOSE : STEP_ERROR,
		    ERROR("SHUTTING_DOWN", "-32007", "the daemon is stopping") },
		END,
	};

	run(steps, ARGS("events", "-f", "--since", "2", "--json"));
	ck_assert_int_eq(capture.status,
	    _i ? EXIT_STATUS_NO_DAEMON : EXIT_STATUS_NOT_READY);
	ck_assert_str_eq(capture.out,
	    EVENT("3") "\n" GAP("1026", "missed 1026 events")
		EVENT("1030") "\n" EVENT("1031") "\n" GAP("1", "missed 1 event")
		    EVENT("1033") "\n");
	ck_assert_ptr_nonnull(strstr(capture.err,
	    _i ? "rpmactl: events: " : "rpmactl: events: the daemon is stopping\n"));

	run(steps, ARGS("events", "-f", "--since", "2"));
	golden_check("events_with_a_gap", capture.out, capture.out_len);
}
END_TEST

/* What is older than the first request asks for was never missed by this reader. */
START_TEST(events_from_the_oldest)
{
	static const struct step steps[] = {
		{ GET("0"), STEP_RESULT, EVENTS(EVENT("77"), "77", "76") },
		{ GET("77"), STEP_CLOSE, NULL },
		END,
	};

	run(steps, ARGS("events", "-f", "--since", "0", "--json"));
	ck_assert_str_eq(capture.out, EVENT("77") "\n");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("run");
	TCase *tcase = tcase_create("run");

	tcase_add_test(tcase, send_to_a_connection);
	tcase_add_test(tcase, send_to_a_peer);
	tcase_add_test(tcase, send_closes_what_it_opened);
	tcase_add_test(tcase, send_interrupted);
	tcase_add_test(tcase, send_from_a_file);
	tcase_add_loop_test(tcase, error_gives_its_exit_status, 1, ERR_CODE_COUNT);
	tcase_add_test(tcase, unknown_error);
	tcase_add_test(tcase, failures_of_the_connection);
	tcase_add_loop_test(tcase, a_result_of_another_kind, 0, ARRAY_LEN(strange));
	tcase_add_test(tcase, wait_ends_in_a_look);
	tcase_add_test(tcase, call_passes_through);
	tcase_add_loop_test(tcase, events_with_a_gap, 0, 2);
	tcase_add_test(tcase, events_from_the_oldest);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
