/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole program over a stub of the engine: options, start, stop, service manager.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/core/usock.h"
#include "tests/unit/harness.h"
#include "tests/unit/program_rig.h"
#include "tests/unit/stub_engine.h"

#define HELLO  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.hello\"}\n"
#define STATUS "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.status\"}\n"
#define STOP   "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"daemon.stop\"}\n"
#define WAIT                                                      \
	"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"recv.poll\"," \
	"\"params\":{\"wait_ms\":60000}}\n"

START_TEST(test_information)
{
	ck_assert_int_eq(program_run(PROGRAM_ARGS("--version")), 0);
#ifdef HAVE_LIBSYSTEMD
	ck_assert_str_eq(program_output(), "rpmad " PACKAGE_VERSION "\n");
#else
	ck_assert_ptr_eq(strstr(program_output(),
			     "rpmad " PACKAGE_VERSION "\nbuilt without libsystemd: "),
	    program_output());
#endif
	ck_assert_int_eq(program_run(PROGRAM_ARGS("--help")), 0);
	ck_assert_ptr_nonnull(strstr(program_output(), "--print-config"));
	ck_assert_int_eq(program_run(PROGRAM_ARGS("--schema")), 0);
	ck_assert_ptr_nonnull(strstr(program_output(), "\"pool.slot_size\""));
	ck_assert_ptr_nonnull(strstr(program_output(), "\"recv.poll\""));
	ck_assert_int_eq(program_run(PROGRAM_ARGS("-c", program.config,
			     "--print-config")),
	    0);
	ck_assert_ptr_nonnull(strstr(program_output(), program.socket));
	ck_assert_int_eq(program_run(PROGRAM_ARGS("--check", program.config)), 0);
	ck_assert_ptr_nonnull(strstr(program_output(), "rpmad.json: ok\n"));
}
END_TEST

START_TEST(test_usage)
{
	ck_assert_int_eq(program_run(PROGRAM_ARGS("--no-such-option")), 2);
	ck_assert_ptr_nonnull(strstr(program_output(), "--help"));
	ck_assert_int_eq(program_run(PROGRAM_ARGS("--check")), 2);
	ck_assert_int_eq(program_run(PROGRAM_ARGS("serve")), 2);
	ck_assert_ptr_nonnull(strstr(program_output(),
	    "unexpected argument \"serve\""));
	ck_assert_int_eq(program_run(PROGRAM_ARGS("-c", "/nowhere/file")), 2);
	ck_assert_str_eq(program_output(),
	    "rpmad: /nowhere/file: No such file or directory\n");
	program_configure("{\"pool\":{\"slots\":0}}");
	ck_assert_int_eq(program_run(PROGRAM_ARGS("--check", program.config)), 2);
	ck_assert_ptr_nonnull(strstr(program_output(),
	    "/rpmad.json: pool.slots: 0 is below 1 slots\n"));
	ck_assert_int_eq(program_run(PROGRAM_ARGS("-c", program.config)), 2);
	program_configure("{\"control\":{\"socket\":\"/nowhere/sock\"}}");
	ck_assert_int_eq(program_run(PROGRAM_ARGS("-c", program.config)), 1);
	program_configure(
	    "{\"control\":{\"roles\":{\"post\":{\"users\":[\"no-such\"]}}}}");
	ck_assert_int_eq(program_run(PROGRAM_ARGS("--check", program.config)), 0);
}
END_TEST

static void
full_stdout(void)
{
	int fd = open("/dev/full", O_WRONLY);

	(void)dup2(fd, 1);
	(void)close(fd);
}

START_TEST(test_stdout_full)
{
	program.prepare = full_stdout;
	ck_assert_int_eq(program_run(PROGRAM_ARGS("--schema")), 1);
	ck_assert_int_eq(program_run(PROGRAM_ARGS("--version")), 1);
	ck_assert_ptr_nonnull(strstr(program_output(), "cannot write"));
}
END_TEST

START_TEST(test_stop_call)
{
	struct stat st;
	int fd;

	program_start(PROGRAM_ARGS("-c", program.config));
	fd = program_dial();
	ck_assert_int_eq(stat(program.socket, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0660);
	program_put(fd, HELLO STOP);
	ck_assert_ptr_nonnull(strstr(program_get(fd), "\"role\":\"admin\""));
	ck_assert_ptr_nonnull(strstr(program_get(fd), "\"stopping\":true"));
	ck_assert_int_eq(program_end(), 0);
	ck_assert_str_eq(program_get(fd), "");
	ck_assert_int_eq(stat(program.socket, &st), -1);
	ck_assert_ptr_nonnull(strstr(program_output(),
	    "version=" PACKAGE_VERSION " socket="));
	(void)close(fd);
}
END_TEST

START_TEST(test_signals)
{
	int fd, signals[] = { SIGTERM, SIGINT };
	size_t i;

	for (i = 0; i < 2; i++) {
		program_start(PROGRAM_ARGS("-c", program.config));
		fd = program_dial();
		program_put(fd, WAIT HELLO);
		ck_assert_ptr_nonnull(strstr(program_get(fd), "\"id\":1"));
		/* These two do nothing. */
		ck_assert_int_eq(kill(program.pid, SIGHUP), 0);
		ck_assert_int_eq(kill(program.pid, SIGPIPE), 0);
		program_put(fd, HELLO);
		ck_assert_ptr_nonnull(strstr(program_get(fd), "\"id\":1"));
		ck_assert_int_eq(kill(program.pid, signals[i]), 0);
		ck_assert_ptr_nonnull(strstr(program_get(fd), "SHUTTING_DOWN"));
		ck_assert_str_eq(program_get(fd), "");
		ck_assert_int_eq(program_end(), 0);
		(void)close(fd);
	}
}
END_TEST

/* An engine that never ends: a second signal, or the deadline, ends the daemon. */
START_TEST(test_engine_hangs)
{
	uint64_t start_ms;
	int fd;

	stub_engine_stops_at_once = false;
	program_start(PROGRAM_ARGS("-c", program.config));
	fd = program_dial();
	ck_assert_int_eq(kill(program.pid, SIGTERM), 0);
	do /* it still says how it is, once the signal has come */
		program_put(fd, STATUS);
	while (!strstr(program_get(fd), "\"state\":\"stopping\""));
	ck_assert_int_eq(kill(program.pid, SIGTERM), 0);
	ck_assert_int_eq(program_end(), 0);
	(void)close(fd);
	program_start(PROGRAM_ARGS("-c", program.config));
	fd = program_dial();
	start_ms = usock_now_ms();
	ck_assert_int_eq(kill(program.pid, SIGTERM), 0);
	ck_assert_int_eq(program_end(), 0);
	ck_assert_uint_ge(usock_now_ms() - start_ms, 3500);
	ck_assert_uint_lt(usock_now_ms() - start_ms, 5000);
	(void)close(fd);
}
END_TEST

START_TEST(test_already_running)
{
	char wanted[64];
	pid_t first;
	int fd;

	program_start(PROGRAM_ARGS("-c", program.config));
	fd = program_dial();
	first = program.pid;
	ck_assert_int_eq(program_run(PROGRAM_ARGS("-c", program.config)), 3);
	(void)snprintf(wanted, sizeof(wanted), "rpmad: already running, pid %ld\n",
	    (long)first);
	ck_assert_str_eq(program_output(), wanted);
	program.pid = first;
	program_put(fd, HELLO);
	ck_assert_ptr_nonnull(strstr(program_get(fd), "\"id\":1"));
	(void)close(fd);
	/* Killed, it leaves a socket that the next one replaces. */
	ck_assert_int_eq(kill(program.pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(program.pid, NULL, 0), program.pid);
	program_start(PROGRAM_ARGS("-c", program.config));
	fd = program_dial();
	program_put(fd, STOP);
	ck_assert_int_eq(program_end(), 0);
	(void)close(fd);
}
END_TEST

static void
close_stdio(void)
{
	(void)close(0);
	(void)close(1);
	(void)close(2);
}

START_TEST(test_closed_stdio)
{
	int fd;

	program.prepare = close_stdio;
	program_start(PROGRAM_ARGS("-c", program.config));
	fd = program_dial();
	program_put(fd, HELLO STOP);
	ck_assert_ptr_nonnull(strstr(program_get(fd), "\"id\":1"));
	ck_assert_int_eq(program_end(), 0);
	(void)close(fd);
}
END_TEST

/* ---- the service manager ---- */

static int handed_fd;

static int
bound_socket(int type, const char *at)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type, 0);

	ck_assert_int_ge(fd, 0);
	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", at);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static void
hand_over(void)
{
	char pid[32];

	(void)snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	(void)setenv("LISTEN_PID", pid, 1);
	(void)setenv("LISTEN_FDS", "1", 1);
	if (handed_fd != 3)
		(void)dup2(handed_fd, 3);
}

START_TEST(test_socket_handed_over)
{
	struct stat st;
	int fd;

	handed_fd = bound_socket(SOCK_STREAM, program.socket);
	ck_assert_int_eq(listen(handed_fd, 8), 0);
	program.prepare = hand_over;
	program_start(PROGRAM_ARGS("-c", program.config));
	fd = program_dial();
	program_put(fd, HELLO STOP);
	ck_assert_ptr_nonnull(strstr(program_get(fd), "\"role\":\"admin\""));
	ck_assert_int_eq(program_end(), 0);
	/* It is the manager's: it stays. */
	ck_assert_int_eq(stat(program.socket, &st), 0);
	(void)close(fd);
	(void)close(handed_fd);
	/* Not every descriptor will do. */
	(void)unlink(program.socket);
	handed_fd = bound_socket(SOCK_DGRAM, program.socket);
	ck_assert_int_eq(program_run(PROGRAM_ARGS("-c", program.config)), 2);
	ck_assert_ptr_nonnull(strstr(program_output(),
	    "no listening AF_UNIX stream socket"));
	(void)close(handed_fd);
}
END_TEST

static char notify_path[128];

/* What a manager that waits for word sets. */
static void
set_notify(void)
{
	char pid[32];

	(void)snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	(void)setenv("NOTIFY_SOCKET", notify_path, 1);
	(void)setenv("WATCHDOG_USEC", "90000", 1);
	(void)setenv("WATCHDOG_PID", pid, 1);
}

#ifdef HAVE_LIBSYSTEMD
/* Read datagrams until one has text in it. */
static void
expect_notify(int fd, const char *text)
{
	char state[512];
	ssize_t n;

	do {
		n = recv(fd, state, sizeof(state) - 1, 0);
		ck_assert_int_gt(n, 0);
		state[n] = '\0';
	} while (!strstr(state, text));
}

START_TEST(test_notify)
{
	struct timeval patience = { .tv_sec = 8 };
	int fd, manager;

	(void)snprintf(notify_path, sizeof(notify_path), "%s/notify", program.dir);
	manager = bound_socket(SOCK_DGRAM, notify_path);
	ck_assert_int_eq(setsockopt(manager, SOL_SOCKET, SO_RCVTIMEO, &patience,
			     sizeof(patience)),
	    0);
	program.prepare = set_notify;
	program_start(PROGRAM_ARGS("-c", program.config));
	expect_notify(manager, "EXTEND_TIMEOUT_USEC=30000000");
	expect_notify(manager, "WATCHDOG=1");
	expect_notify(manager, "STATUS=running");
	expect_notify(manager, "READY=1");
	expect_notify(manager, "WATCHDOG=1");
	expect_notify(manager, "WATCHDOG=1");
	fd = program_dial();
	program_put(fd, STOP);
	expect_notify(manager, "STOPPING=1");
	ck_assert_int_eq(program_end(), 0);
	(void)close(fd);
	(void)close(manager);
}
END_TEST
#else
/* A start that ends by its time-out must not be a riddle. */
START_TEST(test_no_notify)
{
	char state[512];
	int fd, manager;

	(void)snprintf(notify_path, sizeof(notify_path), "%s/notify", program.dir);
	manager = bound_socket(SOCK_DGRAM, notify_path);
	program.prepare = set_notify;
	program_start(PROGRAM_ARGS("-c", program.config));
	program_expect("built without libsystemd");
	ck_assert_ptr_nonnull(strstr(program_output(),
	    "needs Type=exec and no WatchdogSec="));
	fd = program_dial();
	program_put(fd, STOP);
	ck_assert_int_eq(program_end(), 0);
	ck_assert_int_eq(recv(manager, state, sizeof(state), MSG_DONTWAIT), -1);
	ck_assert_int_eq(errno, EAGAIN);
	(void)close(fd);
	(void)close(manager);
}
END_TEST
#endif

static Suite *
suite(void)
{
	Suite *s = suite_create("daemon");
	TCase *tc = tcase_create("daemon");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, program_setup, program_teardown);
	tcase_add_test(tc, test_information);
	tcase_add_test(tc, test_usage);
	tcase_add_test(tc, test_stdout_full);
	tcase_add_test(tc, test_stop_call);
	tcase_add_test(tc, test_signals);
	tcase_add_test(tc, test_engine_hangs);
	tcase_add_test(tc, test_already_running);
	tcase_add_test(tc, test_closed_stdio);
	tcase_add_test(tc, test_socket_handed_over);
#ifdef HAVE_LIBSYSTEMD
	tcase_add_test(tc, test_notify);
#else
	tcase_add_test(tc, test_no_notify);
#endif
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
