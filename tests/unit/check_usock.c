/* SPDX-License-Identifier: BSD-3-Clause */
/* Listening at a path: owners alive and dead, rights, and races. */
#include <config.h>

#include "lib/core/usock.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/harness.h"
#include "tests/unit/usock_fixture.h"

static void
listen_and_stay(int ready_fd)
{
	struct usock_listener listener;

	if (usock_listen(path, 0600, &listener, NULL, NULL) != 0)
		_exit(1);
	tell(ready_fd);
	for (;;)
		(void)pause();
}

static void
listen_bare_and_stay(int ready_fd)
{
	if (bare_listener(5) < 0)
		_exit(1);
	tell(ready_fd);
	for (;;)
		(void)pause();
}

START_TEST(listens_with_the_mode_asked)
{
	static const mode_t modes[] = { 0660, 0600, 0666, 0777, 0, 0640 };
	struct usock_listener listener;
	struct err err;
	int fd, flags;
	size_t i;

	(void)umask(022);
	for (i = 0; i < ARRAY_LEN(modes); i++) {
		ck_assert_int_eq(usock_listen(path, modes[i], &listener, NULL, &err),
		    0);
		ck_assert_uint_eq(mode_of(path), modes[i]);
		ck_assert_uint_eq(mode_of(lock_path), 0600);
		ck_assert_str_eq(listener.path, path);
		flags = fcntl(listener.fd, F_GETFL);
		ck_assert_int_ne(flags & O_NONBLOCK, 0);
		ck_assert_int_ne(fcntl(listener.fd, F_GETFD) & FD_CLOEXEC, 0);
		ck_assert_int_ne(fcntl(listener.lock_fd, F_GETFD) & FD_CLOEXEC, 0);
		usock_listener_close(&listener);
		ck_assert_int_eq(listener.fd, -1);
		ck_assert_int_eq(listener.lock_fd, -1);
		ck_assert(!exists(path));
		ck_assert(exists(lock_path));
	}
	ck_assert_uint_eq(umask(022), 022);
	ck_assert_int_eq(usock_listen(path, 0600, &listener, NULL, NULL), 0);
	fd = connect_now(&err);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
	flags = accept(listener.fd, NULL, NULL);
	ck_assert_int_ge(flags, 0);
	(void)close(flags);
	(void)close(fd);
	usock_listener_close(&listener);
	usock_listener_close(&listener);
	usock_listener_close(NULL);
}
END_TEST

START_TEST(a_socket_that_was_handed_over_stays)
{
	struct usock_listener listener = { -1, -1, "" };

	listener.fd = bare_listener(5);
	ck_assert_int_ge(listener.fd, 0);
	usock_listener_close(&listener);
	ck_assert(exists(path));
}
END_TEST

START_TEST(a_live_owner_is_named)
{
	struct usock_listener listener;
	char expected[256];
	pid_t pid, owner = -1;
	struct err err;
	int fd;

	pid = child_that(listen_and_stay);
	ck_assert_int_eq(usock_listen(path, 0600, &listener, &owner, &err), -EEXIST);
	ck_assert_int_eq(err.code, ERR_ALREADY_EXISTS);
	ck_assert_int_eq(owner, pid);
	(void)snprintf(expected, sizeof(expected),
	    "another process, pid %ld, listens at %s", (long)pid, path);
	ck_assert_str_eq(err.text, expected);
	/* nothing was taken away from it */
	fd = connect_now(&err);
	ck_assert_int_ge(fd, 0);
	(void)close(fd);
	(void)end_child(pid, SIGKILL);
}
END_TEST

START_TEST(the_socket_of_a_dead_owner_is_replaced)
{
	struct usock_listener listener;
	struct err err;
	int fd;

	(void)end_child(child_that(listen_and_stay), SIGKILL);
	ck_assert(exists(path));
	fd = connect_now(&err);
	ck_assert_int_eq(fd, -ECONNREFUSED);
	ck_assert_int_eq(err.code, ERR_NOT_READY);
	ck_assert_int_eq(err.errnum, ECONNREFUSED);
	ck_assert_ptr_nonnull(strstr(err.text, "nobody listens at"));
	ck_assert_ptr_nonnull(strstr(err.hint, "systemctl restart"));

	ck_assert_int_eq(usock_listen(path, 0600, &listener, NULL, &err), 0);
	fd = connect_now(&err);
	ck_assert_int_ge(fd, 0);
	(void)close(fd);
	usock_listener_close(&listener);
}
END_TEST

START_TEST(an_owner_without_lock_is_respected)
{
	struct usock_listener listener;
	pid_t pid, owner = -1;
	struct err err;

	pid = child_that(listen_bare_and_stay);
	ck_assert_int_eq(usock_listen(path, 0600, &listener, &owner, &err), -EEXIST);
	ck_assert_int_eq(owner, pid);
	ck_assert(exists(path));
	(void)end_child(pid, SIGKILL);
	ck_assert_int_eq(usock_listen(path, 0600, &listener, &owner, &err), 0);
	usock_listener_close(&listener);
}
END_TEST

START_TEST(an_owner_with_a_full_backlog_is_respected)
{
	struct usock_listener listener;
	struct err err;
	pid_t owner = -1;
	int fd = bare_listener(0);
	int client = connect_now(NULL);

	ck_assert_int_ge(client, 0);
	ck_assert_int_eq(usock_listen(path, 0600, &listener, &owner, &err), -EEXIST);
	ck_assert_int_eq(owner, 0);
	(void)close(client);
	(void)close(fd);
}
END_TEST

START_TEST(the_lock_holds_within_one_process_too)
{
	struct usock_listener listener, second;
	pid_t owner = -1;

	ck_assert_int_eq(usock_listen(path, 0600, &listener, &owner, NULL), 0);
	ck_assert_int_eq(usock_listen(path, 0600, &second, &owner, NULL), -EEXIST);
	ck_assert_int_eq(owner, getpid());
	ck_assert_int_eq(usock_listen(path, 0600, &second, NULL, NULL), -EEXIST);
	usock_listener_close(&listener);
	ck_assert_int_eq(usock_listen(path, 0600, &second, NULL, NULL), 0);
	usock_listener_close(&second);
}
END_TEST

START_TEST(a_file_that_is_no_socket_is_left_alone)
{
	struct usock_listener listener;
	struct err err;
	char buf[8] = "";
	int fd = open(path, O_CREAT | O_WRONLY, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "keep", 4), 4);
	(void)close(fd);
	ck_assert_int_eq(usock_listen(path, 0600, &listener, NULL, &err), -EINVAL);
	ck_assert_int_eq(err.code, ERR_INVALID_PARAMS);
	ck_assert_ptr_nonnull(strstr(err.text, path));
	ck_assert_ptr_nonnull(strstr(err.text, "no socket"));
	ck_assert(err.hint[0] != '\0');
	fd = open(path, O_RDONLY);
	ck_assert_int_eq(read(fd, buf, sizeof(buf)), 4);
	ck_assert_str_eq(buf, "keep");
	(void)close(fd);
	ck_assert_int_lt(connect_now(&err), 0);
	ck_assert_ptr_nonnull(strstr(err.text, "is no socket"));
	/* a symbolic link is none either, wherever it leads */
	(void)unlink(path);
	ck_assert_int_eq(symlink("/nonexistent/x", path), 0);
	ck_assert_int_eq(usock_listen(path, 0600, &listener, NULL, &err), -EINVAL);
	ck_assert(exists(path));
}
END_TEST

START_TEST(a_lock_file_of_another_kind_is_refused)
{
	struct usock_listener listener;
	struct err err;

	ck_assert_int_eq(symlink("elsewhere", lock_path), 0);
	ck_assert_int_eq(usock_listen(path, 0600, &listener, NULL, &err), -ELOOP);
	ck_assert_ptr_nonnull(strstr(err.text, lock_path));
	(void)unlink(lock_path);
	ck_assert_int_eq(mkfifo(lock_path, 0600), 0);
	ck_assert_int_eq(usock_listen(path, 0600, &listener, NULL, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, lock_path));
	(void)unlink(lock_path);
	ck_assert_int_eq(mkdir(lock_path, 0700), 0);
	ck_assert_int_eq(usock_listen(path, 0600, &listener, NULL, &err), -EISDIR);
	ck_assert(!exists(path));
}
END_TEST

START_TEST(a_lock_file_with_another_text)
{
	static const char *const texts[] = { "", "\n", "abc\n", "-5\n",
		"99999999999999999999999999999999999999999\n", "4294967296\n" };
	struct usock_listener listener;
	pid_t owner;
	size_t i;
	int fd;

	ck_assert_int_eq(usock_listen(path, 0600, &listener, NULL, NULL), 0);
	fd = open(lock_path, O_WRONLY);
	for (i = 0; i < ARRAY_LEN(texts); i++) {
		struct usock_listener second;
		struct err err;

		ck_assert_int_eq(ftruncate(fd, 0), 0);
		ck_assert_int_ge(pwrite(fd, texts[i], strlen(texts[i]), 0), 0);
		owner = -1;
		ck_assert_int_eq(usock_listen(path, 0600, &second, &owner, &err),
		    -EEXIST);
		ck_assert_int_eq(owner, 0);
		ck_assert_ptr_nonnull(strstr(err.text, "another process listens at"));
	}
	(void)close(fd);
	usock_listener_close(&listener);
}
END_TEST

START_TEST(paths_that_cannot_be)
{
	struct usock_listener listener;
	struct err err;
	char large[200];

	memset(large, 'a', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	ck_assert_int_eq(usock_listen(large, 0600, &listener, NULL, &err), -EINVAL);
	ck_assert_int_eq(err.code, ERR_INVALID_PARAMS);
	ck_assert_ptr_nonnull(strstr(err.text,
	    "199 bytes, over the system's limit of 107"));
	ck_assert_int_eq(usock_connect(large, usock_now_ms(), &err), -EINVAL);
	ck_assert_int_eq(usock_listen("", 0600, &listener, NULL, &err), -EINVAL);
	ck_assert_int_eq(usock_connect("", usock_now_ms(), &err), -EINVAL);

	(void)snprintf(large, sizeof(large), "%s/none/d.sock", folder);
	ck_assert_int_eq(usock_listen(large, 0600, &listener, NULL, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.text, large));
	ck_assert_ptr_nonnull(strstr(err.hint, "folder must exist"));
}
END_TEST

#define RACERS 8

/* Wait at the gate, then try to listen; 1: listens, until it is killed; 0: told so. */
static void
race(int gate, int report)
{
	struct usock_listener listener;
	struct err err;
	pid_t owner = -1;
	char byte;
	int rc;

	(void)read(gate, &byte, 1);
	rc = usock_listen(path, 0600, &listener, &owner, &err);
	byte = rc == 0 ? '1' : rc == -EEXIST ? '0' : '?';
	if (write(report, &byte, 1) != 1)
		_exit(9);
	if (rc == 0)
		for (;;)
			(void)pause();
	_exit(0);
}

/* Each round begins with the stale socket of the last winner, which was killed. */
START_TEST(one_of_many_openers_wins)
{
	int gate[2], report[2], round, i, winners, losers;
	pid_t pids[RACERS];
	char byte;

	for (round = 0; round < 20; round++) {
		ck_assert_int_eq(pipe(gate), 0);
		ck_assert_int_eq(pipe(report), 0);
		for (i = 0; i < RACERS; i++) {
			pids[i] = fork();
			if (pids[i] == 0) {
				(void)close(gate[1]);
				race(gate[0], report[1]);
			}
		}
		(void)close(gate[1]);
		winners = losers = 0;
		for (i = 0; i < RACERS; i++) {
			ck_assert_int_eq(read(report[0], &byte, 1), 1);
			winners += byte == '1';
			losers += byte == '0';
		}
		ck_assert_int_eq(winners, 1);
		ck_assert_int_eq(losers, RACERS - 1);
		i = connect_now(NULL);
		ck_assert_int_ge(i, 0);
		(void)close(i);
		for (i = 0; i < RACERS; i++)
			(void)end_child(pids[i], SIGKILL);
		(void)close(gate[0]);
		(void)close(report[0]);
		(void)close(report[1]);
	}
}
END_TEST

/* Look at the socket's mode all the time; exit 1 when it was ever wider than 0600. */
static void
watch_mode(int ready_fd)
{
	struct stat st;

	tell(ready_fd);
	for (;;) {
		if (lstat(path, &st) == 0 && (st.st_mode & 0177) != 0)
			_exit(1);
	}
}

START_TEST(the_mode_is_never_wider)
{
	struct usock_listener listener;
	pid_t pid;
	int i, status;

	(void)umask(0);
	pid = child_that(watch_mode);
	for (i = 0; i < 2000; i++) {
		if (usock_listen(path, 0600, &listener, NULL, NULL) != 0)
			break;
		usock_listener_close(&listener);
	}
	ck_assert_int_eq(i, 2000);
	status = end_child(pid, SIGKILL);
	ck_assert(WIFSIGNALED(status));
}
END_TEST

/*
 * Somebody whom the mode keeps out, who tries to connect all the time; exit 1 when that
 * ever worked. Who is not root cannot become another user, and needs none: a mode without
 * any permission keeps out its owner as well.
 */
static void
knock(int ready_fd)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd;

	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	if (geteuid() == 0 &&
	    (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0))
		_exit(2);
	tell(ready_fd);
	for (;;) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
			_exit(1);
		/* What it meets is nobody, or no permission. */
		if (errno != EACCES && errno != ENOENT)
			_exit(3);
		(void)close(fd);
	}
}

/* Between bind and its mode too the socket lets nobody in who may not later. */
START_TEST(nobody_else_ever_gets_in)
{
	struct usock_listener listener;
	const mode_t mode = geteuid() == 0 ? 0600 : 0;
	pid_t pid;
	int i, status;

	ck_assert_int_eq(chmod(folder, 0711), 0);
	(void)umask(0);
	pid = child_that(knock);
	for (i = 0; i < 5000; i++) {
		if (usock_listen(path, mode, &listener, NULL, NULL) != 0)
			break;
		usock_listener_close(&listener);
	}
	ck_assert_int_eq(i, 5000);
	status = end_child(pid, SIGKILL);
	ck_assert_msg(WIFSIGNALED(status), "status %d", WEXITSTATUS(status));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("usock");
	TCase *tcase = tcase_create("usock");

	tcase_add_checked_fixture(tcase, usock_setup, usock_teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, listens_with_the_mode_asked);
	tcase_add_test(tcase, a_socket_that_was_handed_over_stays);
	tcase_add_test(tcase, a_live_owner_is_named);
	tcase_add_test(tcase, the_socket_of_a_dead_owner_is_replaced);
	tcase_add_test(tcase, an_owner_without_lock_is_respected);
	tcase_add_test(tcase, an_owner_with_a_full_backlog_is_respected);
	tcase_add_test(tcase, the_lock_holds_within_one_process_too);
	tcase_add_test(tcase, a_file_that_is_no_socket_is_left_alone);
	tcase_add_test(tcase, a_lock_file_of_another_kind_is_refused);
	tcase_add_test(tcase, a_lock_file_with_another_text);
	tcase_add_test(tcase, paths_that_cannot_be);
	tcase_add_test(tcase, one_of_many_openers_wins);
	tcase_add_test(tcase, the_mode_is_never_wider);
	tcase_add_test(tcase, nobody_else_ever_gets_in);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
