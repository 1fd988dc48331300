/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands by posix_spawn(3). The payload lies in a memory file, so that a command which
 * reads slowly, or not at all, holds up nobody.
 */
#include <config.h>

#include "ctl/job.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "ctl/buf.h"
#include "ctl/completion.h"
#include "ctl/must.h"

#define SOCKET_VARIABLE "RPMAD_SOCKET"

/* What a message brings into the environment. */
static const struct {
	const char *name;
	const char *key; /* of the completion; null there: the variable is not set */
} variables[] = {
	{ "RPMA_CONN", "conn" },
	{ "RPMA_PEER", "peer" },
	{ "RPMA_LEN", "len" },
	{ "RPMA_SEQ", "seq" },
	{ "RPMA_IMM", "imm" },
	{ "RPMA_CONTEXT", "context" },
	{ "RPMA_DELIVERIES", "deliveries" },
};

/* ---- the environment ---- */

static bool
is_ours(const char *entry)
{
	size_t len = strcspn(entry, "="), i;

	for (i = 0; i < ARRAY_LEN(variables); i++)
		if (strlen(variables[i].name) == len &&
		    strncmp(entry, variables[i].name, len) == 0)
			return true;
	return strncmp(entry, SOCKET_VARIABLE "=", sizeof(SOCKET_VARIABLE)) == 0;
}

static char *
entry_of(const char *name, const json_t *value)
{
	struct buf buf = { 0 };

	if (json_is_string(value))
		buf_printf(&buf, "%s=%s", name, json_string_value(value));
	else
		buf_printf(&buf, "%s=%lld", name, (long long)json_integer_value(value));
	return buf.data;
}

/* Our own, with what the message says in place of what was there. Each member from
 * *first on, and the whole, is to be freed. */
static char **
environment_new(const json_t *completion, const char *socket, size_t *first)
{
	size_t count = 0, i;
	struct buf path = { 0 };
	json_t *value;
	char **envp;

	while (environ[count])
		count++;
	envp = must(calloc(count + ARRAY_LEN(variables) + 2, sizeof(*envp)));
	for (i = 0, *first = 0; i < count; i++)
		if (!is_ours(environ[i]))
			envp[(*first)++] = environ[i];
	count = *first;
	for (i = 0; i < ARRAY_LEN(variables); i++) {
		value = json_object_get(completion, variables[i].key);
		if (json_is_string(value) || json_is_integer(value))
			envp[count++] = entry_of(variables[i].name, value);
	}
	/* A path need not be text. */
	buf_printf(&path, SOCKET_VARIABLE "=%s", socket);
	envp[count] = path.data;
	return envp;
}

static void
environment_free(char **envp, size_t first)
{
	size_t i;

	for (i = first; envp[i]; i++)
		free(envp[i]);
	free(envp);
}

/* ---- the payload ---- */

static int
cannot(struct err *err, const char *what, int errnum)
{
	char why[128];

	(void)err_set(err, ERR_INTERNAL_ERROR, errnum, "cannot %s: %s", what,
	    err_errno_text(errnum, why, sizeof(why)));
	return -EIO;
}

/* A memory file with these bytes, read from its beginning. */
static int
input_new(const uint8_t *bytes, size_t len, struct err *err)
{
	int fd = memfd_create("message", MFD_CLOEXEC);
	size_t done = 0;
	ssize_t n = 0;

	if (fd < 0)
		return cannot(err, "hold the message", errno);
	while (done < len && (n >= 0 || errno == EINTR)) {
		n = write(fd, bytes + done, len - done);
		if (n > 0)
			done += (size_t)n;
	}
	if (n < 0 || lseek(fd, 0, SEEK_SET) != 0) {
		(void)cannot(err, "hold the message", errno);
		(void)close(fd);
		return -EIO;
	}
	return fd;
}

/* return   a descriptor; a negative errno with err */
static int
input_of(const json_t *completion, struct err *err)
{
	uint8_t *bytes;
	size_t len;
	int rc = completion_bytes(completion, &bytes, &len, err);

	if (rc != 0)
		return rc;
	rc = input_new(bytes, len, err);
	free(bytes);
	return rc;
}

/* ---- the process ---- */

/* A group of its own, so that a time-out reaches what the command has started, and a key
 * of the terminal ends us alone; signals as a program expects them. */
static int
spawn(pid_t *pid, char *const *argv, char *const *envp, int input)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t set;
	int rc;

	must_0(posix_spawn_file_actions_init(&actions));
	must_0(posix_spawnattr_init(&attr));
	must_0(posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO));
	must_0(posix_spawnattr_setflags(&attr,
	    POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
	must_0(posix_spawnattr_setpgroup(&attr, 0));
	(void)sigemptyset(&set);
	must_0(posix_spawnattr_setsigmask(&attr, &set));
	(void)sigaddset(&set, SIGPIPE);
	must_0(posix_spawnattr_setsigdefault(&attr, &set));
	rc = posix_spawnp(pid, argv[0], &actions, &attr, argv, envp);
	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&actions);
	return rc;
}

int
job_start(struct job *job, char *const *argv, struct json_t *completion,
    const char *socket, struct err *err)
{
	int input = input_of(completion, err), rc;
	char **envp, why[128];
	size_t first;

	if (input < 0)
		return input;
	envp = environment_new(completion, socket, &first);
	rc = spawn(&job->pid, argv, envp, input);
	environment_free(envp, first);
	(void)close(input);
	if (rc != 0) {
		(void)err_set(err, ERR_INTERNAL_ERROR, rc, "cannot run %s: %s", argv[0],
		    err_errno_text(rc, why, sizeof(why)));
		return -EIO;
	}
	job->state = JOB_RUNNING;
	job->until_ms = UINT64_MAX;
	job->completion = json_incref(completion);
	return 0;
}

void
job_kill(const struct job *job, int signum)
{
	(void)kill(-job->pid, signum);
}

/* Whether the command itself has ended; its number, which is its group's, stays taken. */
static bool
has_ended(const struct job *job)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)job->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid == job->pid;
}

bool
job_reap(const struct job *job, int *status)
{
	pid_t pid;

	/* Behind waitpid() the group may be another's. */
	if (job->state == JOB_ENDING && has_ended(job))
		job_kill(job, SIGKILL);
	do
		pid = waitpid(job->pid, status, WNOHANG);
	while (pid < 0 && errno == EINTR);
	return pid == job->pid;
}

void
job_clear(struct job *job)
{
	json_decref(job->completion);
	memset(job, 0, sizeof(*job));
}

const char *
job_failure(int status, char buf[JOB_WHY_MAX])
{
	if (WIFEXITED(status))
		(void)snprintf(buf, JOB_WHY_MAX, "exit status %d", WEXITSTATUS(status));
	else
		(void)snprintf(buf, JOB_WHY_MAX, "signal %d", WTERMSIG(status));
	return buf;
}
