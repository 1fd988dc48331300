/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole program over a stub of the engine: options, start, stop, service manager.
 */
#include <config.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/rpmad.h"
#include "lib/core/usock.h"
#include "tests/unit/harness.h"
#include "tests/unit/stub_engine.h"

#define PATIENCE_MS 8000u
#define ARGS_MAX    8
#define HELLO       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.hello\"}\n"
#define STATUS      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.status\"}\n"
#define STOP        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"daemon.stop\"}\n"
#define WAIT                                                      \
	"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"recv.poll\"," \
	"\"params\":{\"wait_ms\":60000}}\n"

static char dir[64], file[96], path[96], out_path[96];
static pid_t child;

static void
put_config(const char *text)
{
	FILE *f = fopen(file, "we");

	ck_assert_ptr_nonnull(f);
	(void)fprintf(f, "%s", text);
	ck_assert_int_eq(fclose(f), 0);
}

static void
setup(void)
{
	char config[256];

	(void)snprintf(dir, sizeof(dir), "/tmp/check_daemon.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	(void)snprintf(file, sizeof(file), "%s/rpmad.json", dir);
	(void)snprintf(path, sizeof(path), "%s/sock", dir);
	(void)snprintf(config, sizeof(config), "{\"control\":{\"socket\":\"%s\"}}",
	    path);
	put_config(config);
	stub_engine_stops_at_once = true;
	child = 0;
}

static void
teardown(void)
{
	char command[128];

	if (child > 0) {
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
	}
	(void)snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

/* What is done in the child before the program. */
static void (*prepare)(void);

/* Start the program; its stdout and stderr go to out_path. */
static void
start(const char *const *args)
{
	static char words[ARGS_MAX][128];
	char *argv[ARGS_MAX + 1];
	static int runs;
	int argc, fd, i;

	(void)snprintf(out_path, sizeof(out_path), "%s/out.%d", dir, runs++);

	child = fork();
	ck_assert_int_ge(child, 0);
	if (child > 0)
		return;
	fd = open(out_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	(void)dup2(fd, 1);
	(void)dup2(fd, 2);
	(void)close(fd);
	(void)snprintf(words[0], sizeof(words[0]), "rpmad");
	for (argc = 1; args[argc - 1]; argc++)
		(void)snprintf(words[argc], sizeof(words[argc]), "%s", args[argc - 1]);
	for (i = 0; i < argc; i++)
		argv[i] = words[i];
	argv[argc] = NULL;
	if (prepare)
		prepare();
	_exit(rpmad_main(argc, argv));
}

/* Wait for the program to end: its status. */
static int
end(void)
{
	const uint64_t deadline_ms = usock_now_ms() + PATIENCE_MS;
	int status;
	pid_t pid;

	while ((pid = waitpid(child, &status, WNOHANG)) == 0) {
		ck_assert_uint_lt(usock_now_ms(), deadline_ms);
		(void)usleep(2000);
	}
	ck_assert_int_eq(pid, child);
	child = 0;
	ck_assert_msg(WIFEXITED(status), "killed by %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static const char *
output(void)
{
	static char text[65536];
	FILE *f = fopen(out_path, "re");

	ck_assert_ptr_nonnull(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	(void)fclose(f);
	return text;
}

static int
run(const char *const *args)
{
	start(args);
	return end();
}

#define ARGS(...)                 \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

/* Connect to the daemon as soon as it is there. */
static int
dial(void)
{
	const uint64_t deadline_ms = usock_now_ms() + PATIENCE_MS;
	struct err err;
	int fd;

	do {
		fd = usock_connect(path, usock_now_ms() + 1000, &err);
		if (fd < 0)
			(void)usleep(5000);
	} while (fd < 0 && usock_now_ms() < deadline_ms);
	ck_assert_msg(fd >= 0, "%s\n%s", err.text, output());
	return fd;
}

static void
put(int fd, const char *text)
{
	ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL),
	    (ssize_t)strlen(text));
}

/* A line of the daemon; "" at the end. */
static const char *
get(int fd)
{
	static char line[4096];
	size_t n = 0;

	while (n < sizeof(line) - 1 && recv(fd, line + n, 1, 0) == 1)
		if (line[n++] == '\n')
			break;
	line[n] = '\0';
	return line;
}

START_TEST(test_information)
{
	ck_assert_int_eq(run(ARGS("--version")), 0);
	ck_assert_str_eq(output(), "rpmad " PACKAGE_VERSION "\n");
	ck_assert_int_eq(run(ARGS("--help")), 0);
	ck_assert_ptr_nonnull(strstr(output(), "--print-config"));
	ck_assert_int_eq(run(ARGS("--schema")), 0);
	ck_assert_ptr_nonnull(strstr(output(), "\"pool.slot_size\""));
	ck_assert_ptr_nonnull(strstr(output(), "\"recv.poll\""));
	ck_assert_int_eq(run(ARGS("-c", file, "--print-config")), 0);
	ck_assert_ptr_nonnull(strstr(output(), path));
	ck_assert_int_eq(run(ARGS("--check", file)), 0);
	ck_assert_ptr_nonnull(strstr(output(), "rpmad.json: ok\n"));
}
END_TEST

START_TEST(test_usage)
{
	ck_assert_int_eq(run(ARGS("--no-such-option")), 2);
	ck_assert_ptr_nonnull(strstr(output(), "--help"));
	ck_assert_int_eq(run(ARGS("--check")), 2);
	ck_assert_int_eq(run(ARGS("serve")), 2);
	ck_assert_ptr_nonnull(strstr(output(), "unexpected argument \"serve\""));
	ck_assert_int_eq(run(ARGS("-c", "/nowhere/file")), 2);
	ck_assert_str_eq(output(), "rpmad: /nowhere/file: No such file or directory\n");
	put_config("{\"pool\":{\"slots\":0}}");
	ck_assert_int_eq(run(ARGS("--check", file)), 2);
	ck_assert_ptr_nonnull(strstr(output(),
	    "/rpmad.json: pool.slots: 0 is below 1 slots\n"));
	ck_assert_int_eq(run(ARGS("-c", file)), 2);
	put_config("{\"control\":{\"socket\":\"/nowhere/sock\"}}");
	ck_assert_int_eq(run(ARGS("-c", file)), 1);
	put_config("{\"control\":{\"roles\":{\"post\":{\"users\":[\"no-such\"]}}}}");
	ck_assert_int_eq(run(ARGS("--check", file)), 0);
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
	prepare = full_stdout;
	ck_assert_int_eq(run(ARGS("--schema")), 1);
	ck_assert_int_eq(run(ARGS("--version")), 1);
	ck_assert_ptr_nonnull(strstr(output(), "cannot write"));
}
END_TEST

START_TEST(test_stop_call)
{
	struct stat st;
	int fd;

	start(ARGS("-c", file));
	fd = dial();
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0660);
	put(fd, HELLO STOP);
	ck_assert_ptr_nonnull(strstr(get(fd), "\"role\":\"admin\""));
	ck_assert_ptr_nonnull(strstr(get(fd), "\"stopping\":true"));
	ck_assert_int_eq(end(), 0);
	ck_assert_str_eq(get(fd), "");
	ck_assert_int_eq(stat(path, &st), -1);
	ck_assert_ptr_nonnull(strstr(output(), "version=" PACKAGE_VERSION " socket="));
	(void)close(fd);
}
END_TEST

START_TEST(test_signals)
{
	int fd, signals[] = { SIGTERM, SIGINT };
	size_t i;

	for (i = 0; i < 2; i++) {
		start(ARGS("-c", file));
		fd = dial();
		put(fd, WAIT HELLO);
		ck_assert_ptr_nonnull(strstr(get(fd), "\"id\":1"));
		/* These two do nothing. */
		ck_assert_int_eq(kill(child, SIGHUP), 0);
		ck_assert_int_eq(kill(child, SIGPIPE), 0);
		put(fd, HELLO);
		ck_assert_ptr_nonnull(strstr(get(fd), "\"id\":1"));
		ck_assert_int_eq(kill(child, signals[i]), 0);
		ck_assert_ptr_nonnull(strstr(get(fd), "SHUTTING_DOWN"));
		ck_assert_str_eq(get(fd), "");
		ck_assert_int_eq(end(), 0);
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
	start(ARGS("-c", file));
	fd = dial();
	ck_assert_int_eq(kill(child, SIGTERM), 0);
	do /* it still says how it is, once the signal has come */
		put(fd, STATUS);
	while (!strstr(get(fd), "\"state\":\"stopping\""));
	ck_assert_int_eq(kill(child, SIGTERM), 0);
	ck_assert_int_eq(end(), 0);
	(void)close(fd);
	start(ARGS("-c", file));
	fd = dial();
	start_ms = usock_now_ms();
	ck_assert_int_eq(kill(child, SIGTERM), 0);
	ck_assert_int_eq(end(), 0);
	ck_assert_uint_ge(usock_now_ms() - start_ms, 4000);
	ck_assert_uint_lt(usock_now_ms() - start_ms, 5500);
	(void)close(fd);
}
END_TEST

START_TEST(test_already_running)
{
	char wanted[64];
	pid_t first;
	int fd;

	start(ARGS("-c", file));
	fd = dial();
	first = child;
	ck_assert_int_eq(run(ARGS("-c", file)), 3);
	(void)snprintf(wanted, sizeof(wanted), "rpmad: already running, pid %ld\n",
	    (long)first);
	ck_assert_str_eq(output(), wanted);
	child = first;
	put(fd, HELLO);
	ck_assert_ptr_nonnull(strstr(get(fd), "\"id\":1"));
	(void)close(fd);
	/* Killed, it leaves a socket that the next one replaces. */
	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	start(ARGS("-c", file));
	fd = dial();
	put(fd, STOP);
	ck_assert_int_eq(end(), 0);
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

	prepare = close_stdio;
	start(ARGS("-c", file));
	fd = dial();
	put(fd, HELLO STOP);
	ck_assert_ptr_nonnull(strstr(get(fd), "\"id\":1"));
	ck_assert_int_eq(end(), 0);
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

	handed_fd = bound_socket(SOCK_STREAM, path);
	ck_assert_int_eq(listen(handed_fd, 8), 0);
	prepare = hand_over;
	start(ARGS("-c", file));
	fd = dial();
	put(fd, HELLO STOP);
	ck_assert_ptr_nonnull(strstr(get(fd), "\"role\":\"admin\""));
	ck_assert_int_eq(end(), 0);
	/* It is the manager's: it stays. */
	ck_assert_int_eq(stat(path, &st), 0);
	(void)close(fd);
	(void)close(handed_fd);
	/* Not every descriptor will do. */
	(void)unlink(path);
	handed_fd = bound_socket(SOCK_DGRAM, path);
	ck_assert_int_eq(run(ARGS("-c", file)), 2);
	ck_assert_ptr_nonnull(strstr(output(), "no listening AF_UNIX stream socket"));
	(void)close(handed_fd);
}
END_TEST

#ifdef HAVE_LIBSYSTEMD
static char notify_path[128];

static void
set_notify(void)
{
	char pid[32];

	(void)snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	(void)setenv("NOTIFY_SOCKET", notify_path, 1);
	(void)setenv("WATCHDOG_USEC", "90000", 1);
	(void)setenv("WATCHDOG_PID", pid, 1);
}

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

	(void)snprintf(notify_path, sizeof(notify_path), "%s/notify", dir);
	manager = bound_socket(SOCK_DGRAM, notify_path);
	ck_assert_int_eq(setsockopt(manager, SOL_SOCKET, SO_RCVTIMEO, &patience,
			     sizeof(patience)),
	    0);
	prepare = set_notify;
	start(ARGS("-c", file));
	expect_notify(manager, "WATCHDOG=1");
	expect_notify(manager, "STATUS=running");
	expect_notify(manager, "READY=1");
	expect_notify(manager, "WATCHDOG=1");
	expect_notify(manager, "WATCHDOG=1");
	fd = dial();
	put(fd, STOP);
	expect_notify(manager, "STOPPING=1");
	ck_assert_int_eq(end(), 0);
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
	tcase_add_checked_fixture(tc, setup, teardown);
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
#endif
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
