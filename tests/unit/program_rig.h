/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon's whole program over a stub of the engine, as a child of the test: its
 * arguments, its configuration in a folder of its own, its output, and a client.
 * program_setup() and program_teardown() are a test's fixture; failures fail the test.
 */
#ifndef RPMAD_TESTS_UNIT_PROGRAM_RIG_H
#define RPMAD_TESTS_UNIT_PROGRAM_RIG_H

#include <sys/types.h>

#define PROGRAM_PATIENCE_MS 8000u

struct program {
	char dir[64];
	char config[96]; /* the path of its configuration */
	char socket[96]; /* the path of its control socket */
	char output[96]; /* the path of what it writes, anew for each start */
	pid_t pid;       /* 0: none runs */
	void (*prepare)(
	    void); /* what the child does before the program; NULL: nothing */
	unsigned int runs;
};

extern struct program program;

void program_setup(void);
void program_teardown(void);

/* Write the configuration. program_setup() writes one with the socket alone. */
void program_configure(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define PROGRAM_ARGS(...)         \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

/* Start it with these arguments, NULL-terminated. */
void program_start(const char *const *args);
/* Wait for its end: its status. */
int program_end(void);
int program_run(const char *const *args);

/* What it has written so far, until the next call. */
const char *program_output(void);
/* Wait until it has written that. */
void program_expect(const char *text);

/* Connect to it as soon as it is there: a descriptor, to be closed. */
int program_dial(void);
void program_put(int fd, const char *text);
/* A line of its answer, until the next call; "" at the end. */
const char *program_get(int fd);

#endif
