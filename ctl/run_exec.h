/* SPDX-License-Identifier: BSD-3-Clause */
/* poll --exec: a command for each message. */
#ifndef RPMAD_CTL_RUN_EXEC_H
#define RPMAD_CTL_RUN_EXEC_H

#include <stdbool.h>
#include <stdint.h>

struct ctl;
struct json_t;

struct exec_options {
	char *const *argv;       /* the command, NULL-terminated */
	uint64_t jobs;           /* run at the same time */
	uint64_t job_timeout_ms; /* PARAM_UNSET: none */
	uint64_t retries;        /* before a message is a dead letter */
	uint64_t retry_delay_ms; /* after the first failure; doubled after each more */
	const char *dead_letter; /* a folder; NULL: messages are tried for ever */
	bool is_follow;
};

/*
 * Take messages and run the command for each.
 *
 * params   of recv.poll; borrowed, changed
 * count    messages to be done with at the most
 * return   the exit status
 */
int exec_run(struct ctl *ctl, const struct exec_options *options, struct json_t *params,
    uint64_t count);

#endif
