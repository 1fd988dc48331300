/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_base.c: texts, the provider's errno, and the log of librpma. */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <syslog.h>
#include <unistd.h>

#include "tests/unit/rpma_fixture.h"

/* clang-format off */
static const struct {
	int code;
	const char *text;
} errors[] = {
	{ 0, "Success" },
	{ -100000, "Unknown error" },
	{ -100001, "Not supported" },
	{ -100002, "Provider error occurred" },
	{ -100003, "Out of memory" },
	{ -100004, "Invalid argument" },
	{ -100005, "No next completion available" },
	{ -100006, "No next event available" },
	{ -100007, "Temporary error, try again" },
	{ -100008, "Completion channel is shared" },
	{ -100009, "Completion channel is not shared" },
	{ -100010, "Unknown error" },
	{ 1, "Unknown error" },
};

static const struct {
	int event;
	const char *text;
} events[] = {
	{ -1, "Undefined connection event" },
	{ 0, "Connection established" },
	{ 1, "Connection closed" },
	{ 2, "Connection lost" },
	{ 3, "Connection rejected" },
	{ 4, "Connection unreachable" },
	{ 5, "Unsupported connection event" },
	{ -2, "Unsupported connection event" },
};
/* clang-format on */

START_TEST(test_error_text)
{
	ck_assert_str_eq(rpma_err_2str(errors[_i].code), errors[_i].text);
}
END_TEST

START_TEST(test_event_text)
{
	enum rpma_conn_event event = (enum rpma_conn_event)events[_i].event;

	ck_assert_str_eq(rpma_utils_conn_event_2str(event), events[_i].text);
}
END_TEST

START_TEST(test_version)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%d.%d.%d", RPMA_VERSION_MAJOR,
	    RPMA_VERSION_MINOR, RPMA_VERSION_PATCH);
	ck_assert_str_eq(rpma_version(), text);
	ck_assert_str_eq(rpma_version(), PACKAGE_VERSION);
}
END_TEST

/* Fail once with an errno. */
static void
fail_with(int errnum)
{
	struct rpma_peer *peer = NULL;

	fake_fail_call("ibv_alloc_pd", 1, errnum);
	(void)rpma_peer_new(fake_context(0), &peer);
	ck_assert_ptr_null(peer);
}

static void *
other_thread(void *arg)
{
	int *seen = arg;

	seen[0] = rpma_err_last_errno();
	fail_with(EPERM);
	seen[1] = rpma_err_last_errno();
	return NULL;
}

START_TEST(test_last_errno)
{
	pthread_t thread;
	int seen[2];

	fail_with(EMFILE);
	ck_assert_int_eq(rpma_err_last_errno(), EMFILE);
	/* what needs no provider leaves it alone */
	ck_assert_int_eq(rpma_peer_new(NULL, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_err_last_errno(), EMFILE);
	ck_assert_int_eq(pthread_create(&thread, NULL, other_thread, seen), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(seen[0], 0);
	ck_assert_int_eq(seen[1], EPERM);
	ck_assert_int_eq(rpma_err_last_errno(), EMFILE);
}
END_TEST

/* The first of two failures is the one that is reported. */
START_TEST(test_first_errno)
{
	struct rpma_cq *cq = NULL;

	fake_fail_call("ibv_req_notify_cq", 1, ENXIO);
	fake_fail_call("ibv_destroy_cq", 1, EBUSY);
	assert_provider(rpma_cq_new(fixture_peer(), 1, &cq), ENXIO);
	ck_assert_ptr_null(cq);
	ck_assert_uint_eq(fixture_logs(), 2);
}
END_TEST

/* clang-format off */
static const struct {
	int threshold;
	int level;
	int ret;
} thresholds[] = {
	{ RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED, 0 },
	{ RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_DEBUG, 0 },
	{ RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_NOTICE, 0 },
	{ RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED - 1, RPMA_E_INVAL },
	{ RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_DEBUG + 1, RPMA_E_INVAL },
	{ RPMA_LOG_THRESHOLD_MAX, RPMA_LOG_LEVEL_ERROR, RPMA_E_INVAL },
	{ -1, RPMA_LOG_LEVEL_ERROR, RPMA_E_INVAL },
};
/* clang-format on */

START_TEST(test_threshold)
{
	enum rpma_log_threshold threshold =
	    (enum rpma_log_threshold)thresholds[_i].threshold;
	enum rpma_log_level level = RPMA_LOG_LEVEL_FATAL;

	ck_assert_int_eq(rpma_log_set_threshold(threshold,
			     (enum rpma_log_level)thresholds[_i].level),
	    thresholds[_i].ret);
	if (thresholds[_i].ret) {
		if (thresholds[_i].threshold != RPMA_LOG_THRESHOLD)
			ck_assert_int_eq(rpma_log_get_threshold(threshold, &level),
			    RPMA_E_INVAL);
		ck_assert_int_eq(level, RPMA_LOG_LEVEL_FATAL);
		return;
	}
	ck_assert_int_eq(rpma_log_get_threshold(threshold, &level), 0);
	ck_assert_int_eq(level, thresholds[_i].level);
	ck_assert_int_eq(rpma_log_get_threshold(threshold, NULL), RPMA_E_INVAL);
}
END_TEST

START_TEST(test_threshold_initial)
{
	enum rpma_log_level level;

	ck_assert_int_eq(rpma_log_get_threshold(RPMA_LOG_THRESHOLD, &level), 0);
	ck_assert_int_eq(level, RPMA_LOG_LEVEL_WARNING);
	ck_assert_int_eq(rpma_log_get_threshold(RPMA_LOG_THRESHOLD_AUX, &level), 0);
	ck_assert_int_eq(level, RPMA_LOG_DISABLED);
}
END_TEST

static struct {
	enum rpma_log_level level;
	char file[64];
	int line;
	char function[64];
	char format[64];
} seen_log;

static void
see_log(enum rpma_log_level level, const char *file_name, const int line_no,
    const char *function_name, const char *message_format, ...)
{
	seen_log.level = level;
	(void)snprintf(seen_log.file, sizeof(seen_log.file), "%s",
	    strrchr(file_name, '/') ? strrchr(file_name, '/') + 1 : file_name);
	seen_log.line = line_no;
	(void)snprintf(seen_log.function, sizeof(seen_log.function), "%s",
	    function_name);
	(void)snprintf(seen_log.format, sizeof(seen_log.format), "%s", message_format);
}

START_TEST(test_log_function)
{
	ck_assert_int_eq(rpma_log_set_function(see_log), 0);
	fail_with(EPERM);
	ck_assert_int_eq(seen_log.level, RPMA_LOG_LEVEL_ERROR);
	ck_assert_str_eq(seen_log.file, "peer.c");
	ck_assert_int_gt(seen_log.line, 0);
	ck_assert_str_eq(seen_log.function, "rpma_peer_new");
	ck_assert_int_eq(seen_log.format[strlen(seen_log.format) - 1], '\n');
}
END_TEST

START_TEST(test_log_threshold_applies)
{
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_FATAL);
	fail_with(EPERM);
	ck_assert_uint_eq(fixture_logs(), 0);
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_ERROR);
	fail_with(EPERM);
	ck_assert_uint_eq(fixture_logs(), 1);
	ck_assert_str_eq(fixture_last_log(),
	    "ibv_alloc_pd() failed: Operation not permitted\n");
}
END_TEST

/* Run fn with stderr going to a buffer. */
static void
capture_stderr(void (*fn)(void), char *text, size_t size)
{
	int saved = dup(STDERR_FILENO);
	int fd = memfd_create("stderr", MFD_CLOEXEC);
	ssize_t n;

	ck_assert_int_ge(saved, 0);
	ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
	fn();
	(void)fflush(stderr);
	ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
	n = pread(fd, text, size - 1, 0);
	ck_assert_int_ge(n, 0);
	text[n] = '\0';
	ck_assert_int_eq(close(fd) | close(saved), 0);
}

/* In front of the C library's: calls that change the whole program's log. */
static unsigned int program_log_calls;

void
openlog(const char *ident, int option, int facility)
{
	(void)ident;
	(void)option;
	(void)facility;
	program_log_calls++;
}

void
closelog(void)
{
	program_log_calls++;
}

static void
fail_by_default_function(void)
{
	rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION);
	fail_with(EPERM);
}

START_TEST(test_default_function)
{
	static const char form[] =
	    "^[A-Z][a-z][a-z] [0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6} \\[[0-9]+\\] "
	    "\\*ERROR\\* peer\\.c: +[0-9]+: rpma_peer_new: ibv_alloc_pd\\(\\) failed: "
	    "Operation not permitted\n$";
	regex_t regex;
	char text[512];

	rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_DISABLED);
	capture_stderr(fail_by_default_function, text, sizeof(text));
	ck_assert_str_eq(text, "");
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_ERROR);
	capture_stderr(fail_by_default_function, text, sizeof(text));
	ck_assert_int_eq(regcomp(&regex, form, REG_EXTENDED | REG_NOSUB), 0);
	ck_assert_msg(regexec(&regex, text, 0, NULL, 0) == 0, "%s", text);
	regfree(&regex);
	/* the program's name in the log used to become "rpma", its facility another */
	ck_assert_uint_eq(program_log_calls, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_base");
	TCase *tc = fixture_case(suite, "texts");

	tcase_add_loop_test(tc, test_error_text, 0, sizeof(errors) / sizeof(errors[0]));
	tcase_add_loop_test(tc, test_event_text, 0, sizeof(events) / sizeof(events[0]));
	tcase_add_test(tc, test_version);
	tc = fixture_case(suite, "errno");
	tcase_add_test(tc, test_last_errno);
	tcase_add_test(tc, test_first_errno);
	tc = fixture_case(suite, "log");
	tcase_add_test(tc, test_threshold_initial);
	tcase_add_loop_test(tc, test_threshold, 0,
	    sizeof(thresholds) / sizeof(thresholds[0]));
	tcase_add_test(tc, test_log_function);
	tcase_add_test(tc, test_log_threshold_applies);
	tcase_add_test(tc, test_default_function);
	return harness_run(suite);
}
