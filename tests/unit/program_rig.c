/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's whole program as a child of the test. */
#include <config.h>

#include "tests/unit/program_rig.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/rpmad.h"
#include "lib/core/usock.h"
#include "tests/unit/harness.h"
#include "tests/unit/stub_engine.h"

#define ARGS_MAX 8

struct program program;

void
program_configure(const char *fmt, ...)
{
	FILE *f = fopen(program.config, "we");
	va_list args;

	ck_assert_ptr_nonnull(f);
	va_start(args, fmt);
	ck_assert_int_ge(vfprintf(f, fmt, args), 0);
	va_end(args);
	ck_assert_int_eq(fclose(f), 0);
}

void
program_setup(void)
{
	program = (struct program){ 0 };
	(void)snprintf(program.dir, sizeof(program.dir), "/tmp/program_rig.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(program.dir));
	(void)snprintf(program.config, sizeof(program.config), "%s/rpmad.json",
	    program.dir);
	(void)snprintf(program.socket, sizeof(program.socket), "%s/sock", program.dir);
	program_configure("{\"control\":{\"socket\":\"%s\"}}", program.socket);
	stub_engine_stops_at_once = true;
}

void
program_teardown(void)
{
	char command[128];

	if (program.pid > 0) {
		(void)kill(program.pid, SIGKILL);
		(void)waitpid(program.pid, NULL, 0);
	}
	(void)snprintf(command, sizeof(command), "rm -rf %s", program.dir);
	ck_assert_int_eq(system(command), 0);
}

/* In the child. */
static void
become(const char *const *args)
{
	static char words[ARGS_MAX][128] = { "rpmad" };
	char *argv[ARGS_MAX + 1] = { words[0] };
	int argc, fd = open(program.output, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	(void)dup2(fd, 1);
	(void)dup2(fd, 2);
	(void)close(fd);
	for (argc = 1; args[argc - 1] && argc < ARGS_MAX; argc++) {
		(void)snprintf(words[argc], sizeof(words[argc]), "%s", args[argc - 1]);
		argv[argc] = words[argc];
	}
	if (program.prepare)
		program.prepare();
	_exit(rpmad_main(argc, argv));
}

void
program_start(const char *const *args)
{
	(void)snprintf(program.output, sizeof(program.output), "%s/out.%u", program.dir,
	    program.runs++);
	program.pid = fork();
	ck_assert_int_ge(program.pid, 0);
	if (program.pid == 0)
		become(args);
}

int
program_end(void)
{
	const uint64_t deadline_ms = usock_now_ms() + PROGRAM_PATIENCE_MS;
	int status;
	pid_t pid;

	while ((pid = waitpid(program.pid, &status, WNOHANG)) == 0) {
		ck_assert_uint_lt(usock_now_ms(), deadline_ms);
		(void)usleep(2000);
	}
	ck_assert_int_eq(pid, program.pid);
	program.pid = 0;
	ck_assert_msg(WIFEXITED(status), "killed by %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

int
program_run(const char *const *args)
{
	program_start(args);
	return program_end();
}

const char *
program_output(void)
{
	static char text[65536];
	FILE *f = fopen(program.output, "re");

	/* The child makes the file. */
	text[f ? fread(text, 1, sizeof(text) - 1, f) : 0] = '\0';
	if (f)
		(void)fclose(f);
	return text;
}

void
program_expect(const char *text)
{
	const uint64_t deadline_ms = usock_now_ms() + PROGRAM_PATIENCE_MS;

	while (!strstr(program_output(), text)) {
		ck_assert_msg(usock_now_ms() < deadline_ms, "no \"%s\" in:\n%s", text,
		    program_output());
		(void)usleep(2000);
	}
}

int
program_dial(void)
{
	const uint64_t deadline_ms = usock_now_ms() + PROGRAM_PATIENCE_MS;
	struct err err;
	int fd;

	do {
		fd = usock_connect(program.socket, usock_now_ms() + 1000, &err);
		if (fd < 0)
			(void)usleep(5000);
	} while (fd < 0 && usock_now_ms() < deadline_ms);
	ck_assert_msg(fd >= 0, "%s\n%s", err.text, program_output());
	return fd;
}

void
program_put(int fd, const char *text)
{
	ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL),
	    (ssize_t)strlen(text));
}

const char *
program_get(int fd)
{
	static char line[4096];
	size_t n = 0;

	while (n < sizeof(line) - 1 && recv(fd, line + n, 1, 0) == 1)
		if (line[n++] == '\n')
			break;
	line[n] = '\0';
	return line;
}
