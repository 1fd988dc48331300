/* SPDX-License-Identifier: BSD-3-Clause */
/* poll against a scripted daemon: what is asked in which order, what is printed, what
 * is acknowledged, and the exit status. */
#include <config.h>

#include <fcntl.h>
#include <unistd.h>

#include "ctl/exit.h"
#include "tests/unit/ctl_harness.h"
#include "tests/unit/harness.h"

/* clang-format off */
#define POLL(params)  "\"method\":\"recv.poll\",\"params\":" params "}"
#define ACK(tokens)   "\"method\":\"recv.ack\",\"params\":{\"tokens\":[" tokens "]}}"
#define ACKED "{\"acked\":1,\"unknown\":[]}"
#define REPLY(completions, more) "{\"completions\":[" completions "],\"more\":" more ",\"acked\":0,\"unknown\":[]}"
#define MESSAGE(n, encoding, data) "{\"token\":\"t." n ".1\",\"seq\":" n ",\"status\":\"SUCCESS\",\"opcode\":\"RECV\",\"conn\":3," \
	"\"peer\":\"192.0.2.9:1\",\"qp_num\":17,\"slot\":" n ",\"len\":2,\"imm\":null,\"context\":null," \
	"\"received_at\":\"2026-01-02T03:04:05.123456Z\",\"deliveries\":1,\"encoding\":\"" encoding "\",\"data\":\"" data "\"}"
#define LINE(n, data) "     " n "     3  192.0.2.9:1                 2     -    1  -        " data "\n"
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

START_TEST(poll_text)
{
	static const struct step steps[] = {
		{ POLL("{\"encoding\":\"text\"}"), STEP_RESULT,
		    REPLY(MESSAGE("1", "text", "hi"), "false") },
		{ ACK("\"t.1.1\""), STEP_RESULT, ACKED },
		END,
	};

	run(steps, ARGS("poll"));
	ck_assert_str_eq(capture.err, "");
	ck_assert_int_eq(capture.status, 0);
	ck_assert_str_eq(capture.out, LINE("1", "hi"));
}
END_TEST

START_TEST(poll_goes_on_while_more_is_ready)
{
	static const struct step steps[] = {
		{ POLL("{\"max\":3,\"wait_ms\":2000,\"encoding\":\"text\"}"),
		    STEP_RESULT, REPLY(MESSAGE("1", "text", "hi"), "true") },
		{ ACK("\"t.1.1\""), STEP_RESULT, ACKED },
		{ POLL("{\"max\":2,\"wait_ms\":0,\"encoding\":\"text\"}"), STEP_RESULT,
		    REPLY(MESSAGE("2", "text", "ho") "," MESSAGE("3", "text", "he"),
			"true") },
		{ ACK("\"t.2.1\",\"t.3.1\""), STEP_RESULT, ACKED },
		END,
	};

	run(steps, ARGS("poll", "-n", "3", "-w", "2"));
	ck_assert_int_eq(capture.status, 0);
	ck_assert_str_eq(capture.out, LINE("1", "hi") LINE("2", "ho") LINE("3", "he"));
}
END_TEST

/* One line, printed before anything is acknowledged. */
START_TEST(poll_json)
{
	static const struct step steps[] = {
		{ POLL("{\"max\":2}"), STEP_RESULT,
		    REPLY(MESSAGE("1", "base64", "aGk="), "true") },
		{ POLL("{\"max\":1,\"wait_ms\":0}"), STEP_RESULT,
		    REPLY(MESSAGE("2", "base64", "aG8="), "false") },
		{ ACK("\"t.1.1\",\"t.2.1\""), STEP_RESULT, ACKED },
		END,
	};

	run(steps, ARGS("poll", "--json", "-n", "2"));
	ck_assert_int_eq(capture.status, 0);
	ck_assert_str_eq(capture.out,
	    REPLY(MESSAGE("1", "base64", "aGk=") "," MESSAGE("2", "base64", "aG8="),
		"false") "\n");
}
END_TEST

START_TEST(poll_nothing)
{
	static const struct step text[] = {
		{ POLL("{\"wait_ms\":100,\"encoding\":\"text\"}"), STEP_RESULT,
		    REPLY("", "false") },
		END,
	};
	static const struct step json[] = {
		{ POLL("{}"), STEP_RESULT, REPLY("", "false") },
		END,
	};

	run(text, ARGS("poll", "-w", "0.1"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_NOTHING);
	ck_assert_str_eq(capture.out, "");
	ck_assert_str_eq(capture.err, "");
	run(json, ARGS("poll", "--json"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_NOTHING);
	ck_assert_str_eq(capture.out, REPLY("", "false") "\n");
}
END_TEST

START_TEST(poll_raw)
{
	static const struct step one[] = {
		{ POLL("{\"max\":1}"), STEP_RESULT,
		    REPLY(MESSAGE("1", "base64", "AP8K"), "true") },
		{ ACK("\"t.1.1\""), STEP_RESULT, ACKED },
		END,
	};
	static const struct step two[] = {
		{ POLL("{}"), STEP_RESULT,
		    REPLY(MESSAGE("1", "base64", "AP8K") "," MESSAGE("2", "base64", ""),
			"false") },
		{ ACK("\"t.1.1\",\"t.2.1\""), STEP_RESULT, ACKED },
		END,
	};
	static const struct step bad[] = {
		{ POLL("{\"max\":1}"), STEP_RESULT,
		    REPLY(MESSAGE("1", "base64", "A"), "false") },
		END,
	};

	run(one, ARGS("poll", "--raw"));
	ck_assert_int_eq(capture.status, 0);
	ck_assert_uint_eq(capture.out_len, 3);
	ck_assert_mem_eq(capture.out, "\0\xff\n", 3);
	run(two, ARGS("poll", "--raw", "--length-prefix"));
	ck_assert_int_eq(capture.status, 0);
	ck_assert_uint_eq(capture.out_len, 11);
	ck_assert_mem_eq(capture.out, "\0\0\0\3\0\xff\n\0\0\0\0", 11);
	run(bad, ARGS("poll", "--raw"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_PROTOCOL);
}
END_TEST

START_TEST(poll_no_ack)
{
	static const struct step steps[] = {
		{ POLL("{\"lease_ms\":60000,\"encoding\":\"text\"}"), STEP_RESULT,
		    REPLY(MESSAGE("1", "text", "hi"), "false") },
		END,
	};

	run(steps, ARGS("poll", "--no-ack", "--lease", "60"));
	ck_assert_int_eq(capture.status, 0);
	ck_assert_str_eq(capture.out, "t.1.1  " LINE("1", "hi"));
}
END_TEST

/* The same with standard output going elsewhere. */
static void
run_into(const struct step *steps, int fd, const char *const *argv)
{
	struct server server;

	server_start(&server, NULL, steps);
	ctl_run_into(&capture, fd, server.path, argv);
	ck_assert_int_eq(server_stop(&server), 0);
}

/* What could not be written is not acknowledged, and that is a failure. */
START_TEST(full_output_is_no_receipt)
{
	static const struct step text[] = {
		{ POLL("{\"encoding\":\"text\"}"), STEP_RESULT,
		    REPLY(MESSAGE("1", "text", "hi"), "false") },
		END,
	};
	static const struct step json[] = {
		{ POLL("{}"), STEP_RESULT,
		    REPLY(MESSAGE("1", "base64", "aGk="), "false") },
		END,
	};
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	run_into(text, fd, ARGS("poll"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_FAILED);
	run_into(json, fd, ARGS("poll", "--json"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_FAILED);
	(void)close(fd);
}
END_TEST

START_TEST(lost_reader_is_no_receipt)
{
	static const struct step steps[] = {
		{ POLL("{\"encoding\":\"text\"}"), STEP_RESULT,
		    REPLY(MESSAGE("1", "text", "hi"), "false") },
		END,
	};
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	(void)close(fds[0]);
	run_into(steps, fds[1], ARGS("poll"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_FAILED);
	(void)close(fds[1]);
}
END_TEST

#define FOLLOW(rest) \
	POLL("{\"encoding\":\"text\",\"wait_ms\":30000,\"max\":256" rest "}")

/* Each reply is printed, and acknowledged by the next request; SIGTERM ends it well. */
START_TEST(follow_until_interrupted)
{
	static const struct step steps[] = {
		{ FOLLOW(""), STEP_RESULT,
		    REPLY(MESSAGE("1", "text", "hi") "," MESSAGE("2", "text", "ho"),
			"false") },
		{ FOLLOW(",\"ack_tokens\":[\"t.1.1\",\"t.2.1\"]"), STEP_RESULT,
		    REPLY("", "false") },
		{ FOLLOW(""), STEP_SIGNAL, NULL },
		END,
	};

	run(steps, ARGS("poll", "--follow"));
	ck_assert_str_eq(capture.err, "");
	ck_assert_int_eq(capture.status, 0);
	ck_assert_str_eq(capture.out, LINE("1", "hi") LINE("2", "ho"));
}
END_TEST

START_TEST(follow_json_to_a_number)
{
	static const struct step steps[] = {
		{ POLL("{\"max\":2,\"wait_ms\":30000}"), STEP_RESULT,
		    REPLY(MESSAGE("1", "base64", "aGk="), "false") },
		{ POLL("{\"max\":1,\"wait_ms\":30000,\"ack_tokens\":[\"t.1.1\"]}"),
		    STEP_RESULT, REPLY(MESSAGE("2", "base64", "aG8="), "false") },
		{ ACK("\"t.2.1\""), STEP_RESULT, ACKED },
		END,
	};

	run(steps, ARGS("poll", "--follow", "--json", "-n", "2"));
	ck_assert_int_eq(capture.status, 0);
	ck_assert_str_eq(capture.out,
	    MESSAGE("1", "base64", "aGk=") "\n" MESSAGE("2", "base64", "aG8=") "\n");
}
END_TEST

START_TEST(follow_when_the_daemon_ends)
{
	static const struct step gone[] = {
		{ FOLLOW(""), STEP_CLOSE, NULL },
		END,
	};
	static const struct step stopping[] = {
		{ FOLLOW(""), STEP_ERROR,
		    ERROR("SHUTTING_DOWN", "-32007", "the daemon is stopping") },
		END,
	};

	run(gone, ARGS("poll", "--follow"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_NO_DAEMON);
	run(stopping, ARGS("poll", "--follow"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_NOT_READY);
	ck_assert_str_eq(capture.err, "rpmactl: poll: the daemon is stopping\n");
}
END_TEST

/* The reader goes away while nothing arrives: that is noticed all the same. */
START_TEST(follow_without_a_reader)
{
	static const struct step steps[] = {
		{ FOLLOW(""), STEP_SILENT, NULL },
		END,
	};
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	(void)close(fds[0]);
	run_into(steps, fds[1], ARGS("poll", "--follow"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_FAILED);
	(void)close(fds[1]);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("poll");
	TCase *tcase = tcase_create("poll");

	tcase_add_test(tcase, poll_text);
	tcase_add_test(tcase, poll_goes_on_while_more_is_ready);
	tcase_add_test(tcase, poll_json);
	tcase_add_test(tcase, poll_nothing);
	tcase_add_test(tcase, poll_raw);
	tcase_add_test(tcase, poll_no_ack);
	tcase_add_test(tcase, full_output_is_no_receipt);
	tcase_add_test(tcase, lost_reader_is_no_receipt);
	tcase_add_test(tcase, follow_until_interrupted);
	tcase_add_test(tcase, follow_json_to_a_number);
	tcase_add_test(tcase, follow_when_the_daemon_ends);
	tcase_add_test(tcase, follow_without_a_reader);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
