/* SPDX-License-Identifier: BSD-3-Clause */
/* The log: filter, sink, stderr in its two forms and without a reader, the limiter. */
#include <config.h>

#include "lib/core/log.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/harness.h"

struct capture {
	unsigned int count;
	enum log_level level;
	char tag[32];
	char text[4096];
};

static int saved_stderr;
static sigset_t saved_mask;

/* Each test begins with the log as a program finds it, also without fork mode. */
static void
setup(void)
{
	log_set_sink(NULL, NULL);
	log_set_level(LOG_LEVEL_NOTICE);
	saved_stderr = dup(STDERR_FILENO);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, NULL, &saved_mask), 0);
}

static void
teardown(void)
{
	ck_assert_int_eq(dup2(saved_stderr, STDERR_FILENO), STDERR_FILENO);
	(void)close(saved_stderr);
	(void)signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, &saved_mask, NULL), 0);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)unsetenv("JOURNAL_STREAM");
}

static void
capture_line(void *arg, enum log_level level, const char *tag, const char *text)
{
	struct capture *capture = arg;

	capture->count++;
	capture->level = level;
	(void)snprintf(capture->tag, sizeof(capture->tag), "%s", tag);
	(void)snprintf(capture->text, sizeof(capture->text), "%s", text);
}

START_TEST(level_names)
{
	static const char *const names[] = { "error", "warning", "notice", "info",
		"debug" };
	enum log_level level = LOG_LEVEL_ERROR;
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		ck_assert(log_level_parse(names[i], &level));
		ck_assert_uint_eq(level, i);
		ck_assert_str_eq(log_level_name(level), names[i]);
	}
	ck_assert(!log_level_parse("Error", &level));
	ck_assert(!log_level_parse("", &level));
	ck_assert_uint_eq(level, LOG_LEVEL_DEBUG);
}
END_TEST

START_TEST(level_filters)
{
	struct capture capture = { 0 };

	log_set_sink(capture_line, &capture);
	ck_assert_uint_eq(log_get_level(), LOG_LEVEL_NOTICE);
	log_info("conn", "held back");
	log_debug("conn", "held back");
	ck_assert_uint_eq(capture.count, 0);
	log_notice("conn", "%u: established peer=%s", 7u, "192.0.2.1:5");
	ck_assert_uint_eq(capture.count, 1);
	ck_assert_uint_eq(capture.level, LOG_LEVEL_NOTICE);
	ck_assert_str_eq(capture.tag, "conn");
	ck_assert_str_eq(capture.text, "7: established peer=192.0.2.1:5");
	log_warning("conn", "w");
	ck_assert_uint_eq(capture.level, LOG_LEVEL_WARNING);
	log_error("conn", "e");
	ck_assert_uint_eq(capture.level, LOG_LEVEL_ERROR);
	log_set_level(LOG_LEVEL_DEBUG);
	log_info("conn", "i");
	ck_assert_uint_eq(capture.level, LOG_LEVEL_INFO);
	log_debug("conn", "d");
	ck_assert_uint_eq(capture.level, LOG_LEVEL_DEBUG);
	ck_assert_uint_eq(capture.count, 5);
}
END_TEST

START_TEST(lines_cannot_be_forged)
{
	struct capture capture = { 0 };
	char large[8192];

	log_set_sink(capture_line, &capture);
	log_error("rpc", "%s", "no method \"x\nerror rpc: forged\"");
	ck_assert_str_eq(capture.text, "no method \"x?error rpc: forged\"");
	memset(large, 'a', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	log_error("rpc", "%s", large);
	ck_assert_uint_gt(strlen(capture.text), 1000);
	ck_assert_uint_lt(strlen(capture.text), sizeof(large) - 1);
}
END_TEST

/* stderr becomes a pipe, whose other end is returned. */
static int
pipe_stderr(void)
{
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
	(void)close(fds[1]);
	return fds[0];
}

static void
expect_line(int fd, const char *line)
{
	char buf[256] = "";
	ssize_t n = read(fd, buf, sizeof(buf) - 1);

	ck_assert_int_gt(n, 0);
	ck_assert_str_eq(buf, line);
}

START_TEST(stderr_plain)
{
	int fd = pipe_stderr();

	(void)unsetenv("JOURNAL_STREAM");
	errno = EXDEV;
	log_error("main", "no device \"%s\"", "rxe0");
	ck_assert_int_eq(errno, EXDEV);
	expect_line(fd, "error main: no device \"rxe0\"\n");
	(void)setenv("JOURNAL_STREAM", "1:1", 1);
	log_warning("main", "x");
	expect_line(fd, "warning main: x\n");
}
END_TEST

START_TEST(stderr_journal)
{
	static const char *const expected[] = { "<3>main: x\n", "<4>main: x\n",
		"<5>main: x\n", "<6>main: x\n", "<7>main: x\n" };
	int fd = pipe_stderr();
	struct stat st;
	char stream[64];

	ck_assert_int_eq(fstat(STDERR_FILENO, &st), 0);
	(void)snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev,
	    (uintmax_t)st.st_ino);
	(void)setenv("JOURNAL_STREAM", stream, 1);
	log_set_level(LOG_LEVEL_DEBUG);
	log_error("main", "x");
	expect_line(fd, expected[0]);
	log_warning("main", "x");
	expect_line(fd, expected[1]);
	log_notice("main", "x");
	expect_line(fd, expected[2]);
	log_info("main", "x");
	expect_line(fd, expected[3]);
	log_debug("main", "x");
	expect_line(fd, expected[4]);
}
END_TEST

START_TEST(stderr_without_reader)
{
	sigset_t pending;
	int fd = pipe_stderr();

	(void)signal(SIGPIPE, SIG_DFL);
	(void)close(fd);
	log_error("main", "nobody reads this");
	ck_assert_int_eq(sigpending(&pending), 0);
	ck_assert_int_eq(sigismember(&pending, SIGPIPE), 0);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, NULL, &pending), 0);
	ck_assert_int_eq(sigismember(&pending, SIGPIPE), 0);
	(void)close(STDERR_FILENO);
	log_error("main", "nor this");
}
END_TEST

START_TEST(a_pending_sigpipe_stays)
{
	sigset_t set;
	int fd = pipe_stderr();

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGPIPE);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	ck_assert_int_eq(raise(SIGPIPE), 0);
	(void)close(fd);
	log_error("main", "x");
	ck_assert_int_eq(sigpending(&set), 0);
	ck_assert_int_eq(sigismember(&set, SIGPIPE), 1);
}
END_TEST

START_TEST(limiter)
{
	static const struct {
		unsigned long long now_ms;
		bool pass;
		unsigned int suppressed;
	} steps[] = {
		{ 5000, true, 0 },
		{ 5001, true, 0 },
		{ 5002, false, 0 },
		{ 5999, false, 0 },
		{ 6000, true, 2 },
		{ 6500, true, 0 },
		{ 6999, false, 0 },
		/* a long silence is one interval */
		{ 90000, true, 1 },
		{ 90001, true, 0 },
		{ 90002, false, 0 },
		/* a clock that goes back begins anew rather than being silent */
		{ 10, true, 1 },
	};
	struct log_limit limit = { .burst = 2, .interval_ms = 1000 };
	unsigned int suppressed;
	size_t i;

	for (i = 0; i < ARRAY_LEN(steps); i++) {
		suppressed = 0;
		ck_assert_msg(log_limit_pass(&limit, steps[i].now_ms, &suppressed) ==
			steps[i].pass,
		    "step %zu", i);
		ck_assert_msg(suppressed == steps[i].suppressed, "step %zu", i);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("log");
	TCase *tcase = tcase_create("log");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, level_names);
	tcase_add_test(tcase, level_filters);
	tcase_add_test(tcase, lines_cannot_be_forged);
	tcase_add_test(tcase, stderr_plain);
	tcase_add_test(tcase, stderr_journal);
	tcase_add_test(tcase, stderr_without_reader);
	tcase_add_test(tcase, a_pending_sigpipe_stays);
	tcase_add_test(tcase, limiter);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
