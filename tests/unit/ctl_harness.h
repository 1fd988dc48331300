/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of rpmactl share: a scripted daemon, captured runs, golden files. */
#ifndef RPMAD_TESTS_UNIT_CTL_HARNESS_H
#define RPMAD_TESTS_UNIT_CTL_HARNESS_H

#include <stddef.h>
#include <sys/types.h>

/* Arguments of rpmactl without its name. */
#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
/* The end of a script. */
#define END                             \
	{                               \
		NULL, STEP_RESULT, NULL \
	}

/* What the scripted daemon does when it has read a request. */
enum step_action {
	STEP_RESULT,   /* answer with text as the result */
	STEP_ERROR,    /* answer with text as the error object */
	STEP_RAW,      /* write text as it is */
	STEP_BYTEWISE, /* STEP_RESULT in writes of one byte */
	STEP_HALF,     /* write half of a STEP_RESULT and close */
	STEP_CLOSE,    /* close */
	STEP_SILENT,   /* read on, answer nothing */
	STEP_SIGNAL,   /* send SIGTERM to the parent, answer nothing */
	STEP_STUFF,    /* STEP_RESULT with 4 MiB of text in a member "stuff" */
	STEP_UNREAD,   /* before anything is read: write text and close */
};

struct step {
	const char *expect; /* the request's text without jsonrpc, id and braces:
			       "\"method\":..."; a prefix of it counts. NULL: any */
	enum step_action action;
	const char *text;
};

struct server {
	char dir[64]; /* made for it */
	char path[96];
	pid_t pid;
	int end_fd; /* closed: the daemon ends */
};

/* hello NULL: rpc.hello is answered properly, else the step does it. Steps end with
 * END. */
void server_start(struct server *server, const struct step *hello,
    const struct step *steps);
/* Whether every step was taken in order and nothing else was asked. */
int server_stop(struct server *server);

struct capture {
	int status;
	char out[1 << 16];
	size_t out_len;
	char err[4096];
};

/* Run rpmactl with arguments up to NULL; path (may be NULL) becomes --socket. */
void ctl_run(struct capture *capture, const char *path, const char *const *argv);

/* The same with standard output going to a descriptor; out is left alone. */
void ctl_run_into(struct capture *capture, int out_fd, const char *path,
    const char *const *argv);

/* A folder for the test's files, and its removal with them. */
void scratch_make(char *dir, size_t size);
void scratch_remove(const char *dir);

/* Compare with tests/cli/golden/NAME.out; UPDATE in the environment rewrites it. */
void golden_check(const char *name, const char *text, size_t len);

#endif
