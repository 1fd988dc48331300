/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole program and its configuration: the default file, a signal, and what is wrong. */
#include <config.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/settings.h"
#include "lib/core/usock.h"
#include "tests/unit/harness.h"
#include "tests/unit/program_rig.h"

#define RELOAD "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.reload\"}\n"

/* ---- the default file is the test's own, as far as the program can see ---- */

int __real_access(const char *name, int mode);
int __wrap_access(const char *name, int mode);
FILE *__real_fopen(const char *name, const char *mode);
FILE *__wrap_fopen(const char *name, const char *mode);

static const char *
real_name(const char *name)
{
	return strcmp(name, SETTINGS_DEFAULT_FILE) == 0 ? program.config : name;
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
	program_configure("{\"control\":{\"socket\":\"%s\"%s}%s}", program.socket,
	    control, members);
}

/* With "-c name". */
static void
start(const char *name)
{
	program_start(PROGRAM_ARGS("-c", name));
}

/* Ask for a reload as soon as the daemon is there: the reply. */
static const char *
reload(void)
{
	int fd = program_dial();
	const char *line;

	program_put(fd, RELOAD);
	line = program_get(fd);
	(void)close(fd);
	return line;
}

static void
stop(void)
{
	ck_assert_int_eq(kill(program.pid, SIGTERM), 0);
	ck_assert_int_eq(program_end(), 0);
}

/* What was read at the start is not done without later: all would have its default. */
START_TEST(test_default_file)
{
	const char *line;

	program_start(PROGRAM_ARGS(NULL));
	program_expect("notice daemon: version=");
	/* A reload that went well does not make the difference. */
	if (_i)
		ck_assert_ptr_nonnull(strstr(reload(), "\"changed\":[]"));
	ck_assert_int_eq(unlink(program.config), 0);
	line = reload();
	ck_assert_msg(strstr(line, "CONFIG_INVALID") != NULL &&
		strstr(line, SETTINGS_DEFAULT_FILE ": No such file") != NULL,
	    "%s", line);
	put_config("", ",\"connections\":{\"idle_ms\":5}");
	ck_assert_ptr_nonnull(strstr(reload(), "\"connections.idle_ms\""));
	stop();
}
END_TEST

/* A signal has no reply: the log tells the program.config, the key, the reason, and what to do. */
START_TEST(test_hangup)
{
	char wanted[256];

	start(program.config);
	ck_assert_ptr_nonnull(strstr(reload(), "\"changed\":[]"));
	put_config(",\"roles\":{\"post\":{\"users\":[\"no-such-user\"]}}", "");
	ck_assert_int_eq(kill(program.pid, SIGHUP), 0);
	(void)snprintf(wanted, sizeof(wanted),
	    "error reload: %s: control.roles.post.users[0]: there is no user "
	    "\"no-such-user\" (the settings stay as they were",
	    program.config);
	program_expect(wanted);
	put_config("", ",\"pool\":{\"slots\":0}");
	ck_assert_int_eq(kill(program.pid, SIGHUP), 0);
	(void)snprintf(wanted, sizeof(wanted),
	    "error reload: %s: pool.slots: 0 is below 1 slots (", program.config);
	program_expect(wanted);
	stop();
}
END_TEST

/* At the start, too. */
START_TEST(test_start)
{
	char wanted[256];

	put_config(",\"roles\":{\"read\":{\"groups\":[\"no-such-group\"]}}", "");
	start(program.config);
	ck_assert_int_eq(program_end(), 2);
	(void)snprintf(wanted, sizeof(wanted),
	    "rpmad: %s: control.roles.read.groups[0]: there is no group "
	    "\"no-such-group\"\n",
	    program.config);
	ck_assert_str_eq(program_output(), wanted);
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
	ck_assert_int_eq(program_end(), files[_i].status);
	ck_assert_ptr_nonnull(strstr(program_output(), files[_i].name));
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("daemon_config");
	TCase *tc = tcase_create("daemon_config");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, program_setup, program_teardown);
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
