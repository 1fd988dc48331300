/* SPDX-License-Identifier: BSD-3-Clause */
/* A command that is run for one message: payload on its standard input, the rest in its
 * environment. */
#ifndef RPMAD_CTL_JOB_H
#define RPMAD_CTL_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/core/compiler.h"
#include "lib/core/err.h"

#define JOB_WHY_MAX 96u /* a failure in words */

struct json_t;

enum job_state {
	JOB_NONE,    /* a free place */
	JOB_RUNNING, /* until_ms: when it is told to end; UINT64_MAX: never */
	JOB_ENDING,  /* it was told to end; until_ms: when it is killed */
	JOB_PAUSED   /* it failed; until_ms: when its message is given back */
};

struct job {
	enum job_state state;
	pid_t pid;
	uint64_t until_ms;         /* CLOCK_MONOTONIC */
	struct json_t *completion; /* of recv.poll, data in base64; owned */
};

/*
 * Run a command in a process group of its own.
 *
 * argv        found by $PATH; no shell has a part in it
 * completion  shared
 * socket      path of the daemon's socket, for RPMAD_SOCKET
 * return      0; with err: -EPROTO the message is malformed; others: the command cannot
 *             be run. The place is then free.
 */
RPMAD_MUST_USE int job_start(struct job *job, char *const *argv,
    struct json_t *completion, const char *socket, struct err *err);

/* Send a signal to all of its processes. */
void job_kill(const struct job *job, int signum);

/* Whether it has ended. In JOB_ENDING what it has left running is killed then.
 * status   as of waitpid(2) */
bool job_reap(const struct job *job, int *status);

/* Free the place; nothing of it may be running. */
void job_clear(struct job *job);

/* "exit status 3", "signal 9"; buf is returned. */
const char *job_failure(int status, char buf[JOB_WHY_MAX]);

#endif
