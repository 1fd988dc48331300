/* SPDX-License-Identifier: BSD-3-Clause */
/* Connecting to a path: what it says when nobody answers, refuses, or is slow. */
#include <config.h>

#include "lib/core/usock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/harness.h"
#include "tests/unit/usock_fixture.h"

#define NOBODY 65534

START_TEST(nobody_is_there)
{
	struct err err;

	ck_assert_int_eq(connect_now(&err), -ENOENT);
	ck_assert_int_eq(err.code, ERR_NOT_READY);
	ck_assert_int_eq(err.errnum, ENOENT);
	ck_assert_ptr_nonnull(strstr(err.text, path));
	ck_assert_str_eq(err.hint,
	    "start it with: systemctl start rpmad, or rpmad -c FILE");
}
END_TEST

/* As a user who may not: root passes every mode, so it becomes nobody. */
static void
connect_denied(int ready_fd)
{
	struct err err;
	bool ok;

	tell(ready_fd);
	if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
		_exit(8);
	ok = connect_now(&err) == -EACCES && err.code == ERR_DENIED &&
	    strstr(err.text, path) &&
	    strcmp(err.hint, "join the group rpmad, or ask the administrator") == 0;
	_exit(ok ? 7 : 1);
}

START_TEST(no_permission)
{
	struct usock_listener listener;
	int status;

	ck_assert_int_eq(usock_listen(path, 0, &listener, NULL, NULL), 0);
	ck_assert_int_eq(chmod(folder, 0711), 0);
	status = end_child(child_that(connect_denied), 0);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 7);
	usock_listener_close(&listener);
}
END_TEST

START_TEST(a_full_backlog_ends_with_the_time)
{
	int fd = bare_listener(0), client = connect_now(NULL);
	uint64_t begin = usock_now_ms(), took;
	struct err err;

	ck_assert_int_ge(client, 0);
	ck_assert_int_eq(usock_connect(path, begin + 100, &err), -ETIMEDOUT);
	took = usock_now_ms() - begin;
	ck_assert_int_eq(err.code, ERR_TIMEOUT);
	ck_assert_uint_ge(took, 100);
	ck_assert_uint_lt(took, 20000);
	/* a time that is over already still gets one attempt */
	ck_assert_int_eq(usock_connect(path, 0, &err), -ETIMEDOUT);
	(void)close(client);
	(void)close(fd);
}
END_TEST

static void
accept_later(int ready_fd)
{
	int fd = bare_listener(0);

	tell(ready_fd);
	(void)usleep(100000);
	for (;;)
		(void)accept(fd, NULL, NULL);
}

START_TEST(a_full_backlog_that_clears)
{
	pid_t pid = child_that(accept_later);
	int first = connect_now(NULL), second;
	struct err err;

	ck_assert_int_ge(first, 0);
	second = usock_connect(path, usock_now_ms() + 20000, &err);
	ck_assert_int_ge(second, 0);
	ck_assert_int_eq(fcntl(second, F_GETFL) & O_NONBLOCK, 0);
	(void)close(first);
	(void)close(second);
	(void)end_child(pid, SIGKILL);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("usock_connect");
	TCase *tcase = tcase_create("usock_connect");

	tcase_add_checked_fixture(tcase, usock_setup, usock_teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, nobody_is_there);
	tcase_add_test(tcase, no_permission);
	tcase_add_test(tcase, a_full_backlog_ends_with_the_time);
	tcase_add_test(tcase, a_full_backlog_that_clears);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
