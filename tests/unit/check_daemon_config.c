/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole program and its configuration: the default file, a signal, and what is wrong. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/rpmad.h"
#include "daemon/settings.h"
#include "lib/core/usock.h"
#include "tests/unit/harness.h"
#include "tests/unit/stub_engine.h"

#define PATIENCE_MS 8000u
#define RELOAD      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.reload\"}\n"

static char dir[64], file[96], path[96], out_path[96];
static pid_t child;

/* ---- the default file is the test's own, as far as the program can see ---- */

int __real_access(const char *name, int mode);
int __wrap_access(const char *name, int mode);
FILE *__real_fopen(const char *name, const char *mode);
FILE *__wrap_fopen(const char *name, const char *mode);

static const char *
real_name(const char *name)
{
	return strcmp(name, SETTINGS_DEFAULT_FILE) == 0 ? file : name;
}

int
__wrap_access(const char *name, int mode)
{
	return __real_access(real_name(name), mode);
}

FILE *
__wrap_fopen(const char *name, const char *mode)
{
	return __real_fopen(real_name(name), mode);
}

/* ---- the program ---- */

/* Further members of the configuration, each with a comma before it. */
static void
put_config(const char *control, const char *members)
{
	FILE *f = fopen(file, "we");

	ck_assert_ptr_nonnull(f);
	(void)fprintf(f, "{\"control\":{\"socket\":\"%s\"%s}%s}", path, control,
	    members);
	ck_assert_int_eq(fclose(f), 0);
}

static void
setup(void)
{
	(void)snprintf(dir, sizeof(dir), "/tmp/check_daemon_config.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	(void)snprintf(file, sizeof(file), "%s/rpmad.json", dir);
	(void)snprintf(path, sizeof(path), "%s/sock", dir);
	(void)snprintf(out_path, sizeof(out_path), "%s/out", dir);
	put_config("", "");
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

/* With "-c name", or (NULL) with the default file. */
static void
start(const char *name)
{
	char program[] = "rpmad", option[] = "-c", named[128] = "";
	char *argv[] = { program, name ? option : NULL, named, NULL };
	int fd = open(out_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child > 0) {
		(void)close(fd);
		return;
	}
	(void)dup2(fd, 1);
	(void)dup2(fd, 2);
	(void)close(fd);
	(void)snprintf(named, sizeof(named), "%s", name ? name : "");
	_exit(rpmad_main(name ? 3 : 1, argv));
}

/* Wait for the program to end: its status. */
static int
end(void)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	child = 0;
	ck_assert_msg(WIFEXITED(status), "killed by %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static const char *
output(void)
{
	static char text[16384];
	FILE *f = fopen(out_path, "re");

	ck_assert_ptr_nonnull(f);
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	(void)fclose(f);
	return text;
}

static void
expect_output(const char *text)
{
	const uint64_t deadline_ms = usock_now_ms() + PATIENCE_MS;

	while (!strstr(output(), text)) {
		ck_assert_msg(usock_now_ms() < deadline_ms, "no \"%s\" in:\n%s", text,
		    output());
		(void)usleep(2000);
	}
}

/* Ask for a reload as soon as the daemon is there: the reply. */
static const char *
reload(void)
{
	const uint64_t deadline_ms = usock_now_ms() + PATIENCE_MS;
	static char line[4096];
	struct err err;
	size_t n = 0;
	int fd;

	do {
		fd = usock_connect(path, usock_now_ms() + 1000, &err);
		if (fd < 0)
			(void)usleep(5000);
	} while (fd < 0 && usock_now_ms() < deadline_ms);
	ck_assert_msg(fd >= 0, "%s\n%s", err.text, output());
	ck_assert_int_eq(send(fd, RELOAD, strlen(RELOAD), MSG_NOSIGNAL),
	    (ssize_t)strlen(RELOAD));
	while (n < sizeof(line) - 1 && recv(fd, line + n, 1, 0) == 1)
		if (line[n++] == '\n')
			break;
	line[n] = '\0';
	(void)close(fd);
	return line;
}

static void
stop(void)
{
	ck_assert_int_eq(kill(child, SIGTERM), 0);
	ck_assert_int_eq(end(), 0);
}

/* What was read at the start is not done without later: all would have its default. */
START_TEST(test_default_file)
{
	const char *line;

	start(NULL);
	expect_output("notice daemon: version=");
	/* A reload that went well does not make the difference. */
	if (_i)
		ck_assert_ptr_nonnull(strstr(reload(), "\"changed\":[]"));
	ck_assert_int_eq(unlink(file), 0);
	line = reload();
	ck_assert_msg(strstr(line, "CONFIG_INVALID") != NULL &&
		strstr(line, SETTINGS_DEFAULT_FILE ": No such file") != NULL,
	    "%s", line);
	put_config("", ",\"connections\":{\"idle_ms\":5}");
	ck_assert_ptr_nonnull(strstr(reload(), "\"connections.idle_ms\""));
	stop();
}
END_TEST

/* A signal has no reply: the log tells the file, the key, the reason, and what to do. */
START_TEST(test_hangup)
{
	char wanted[256];

	start(file);
	ck_assert_ptr_nonnull(strstr(reload(), "\"changed\":[]"));
	put_config(",\"roles\":{\"post\":{\"users\":[\"no-such-user\"]}}", "");
	ck_assert_int_eq(kill(child, SIGHUP), 0);
	(void)snprintf(wanted, sizeof(wanted),
	    "error reload: %s: control.roles.post.users[0]: there is no user "
	    "\"no-such-user\" (the settings stay as they were",
	    file);
	expect_output(wanted);
	put_config("", ",\"pool\":{\"slots\":0}");
	ck_assert_int_eq(kill(child, SIGHUP), 0);
	(void)snprintf(wanted, sizeof(wanted),
	    "error reload: %s: pool.slots: 0 is below 1 slots (", file);
	expect_output(wanted);
	stop();
}
END_TEST

/* At the start, too. */
START_TEST(test_start)
{
	char wanted[256];

	put_config(",\"roles\":{\"read\":{\"groups\":[\"no-such-group\"]}}", "");
	start(file);
	ck_assert_int_eq(end(), 2);
	(void)snprintf(wanted, sizeof(wanted),
	    "rpmad: %s: control.roles.read.groups[0]: there is no group "
	    "\"no-such-group\"\n",
	    file);
	ck_assert_str_eq(output(), wanted);
}
END_TEST

/* Status 2 keeps the service manager from another try: it is for what is wrong itself. */
START_TEST(test_status)
{
	static const struct {
		const char *name;
		int status;
	} files[] = {
		{ "/nowhere/rpmad.json", 2 },
		{ "/tmp", 2 },
		/* Address 0 of the program: reading it is EIO. */
		{ "/proc/self/mem", 1 },
	};

	start(files[_i].name);
	ck_assert_int_eq(end(), files[_i].status);
	ck_assert_ptr_nonnull(strstr(output(), files[_i].name));
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("daemon_config");
	TCase *tc = tcase_create("daemon_config");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_default_file, 0, 2);
	tcase_add_test(tc, test_hangup);
	tcase_add_test(tc, test_start);
	tcase_add_loop_test(tc, test_status, 0, 3);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
