/* SPDX-License-Identifier: BSD-3-Clause */
/* What a command works with: settings, connection, output, and the error to tell. */
#ifndef RPMAD_CTL_CTL_H
#define RPMAD_CTL_CTL_H

#include <stdbool.h>

#include "ctl/command.h"
#include "ctl/exit.h"
#include "ctl/out.h"
#include "ctl/settings.h"
#include "lib/core/compiler.h"
#include "lib/core/err.h"
#include "lib/core/method.h"

struct args;
struct client;
struct json_t;

#define CTL_FOLLOW_WAIT_MS 30000u /* of each request while a command follows */

struct ctl {
	struct settings settings;
	struct client *client; /* NULL until it is needed */
	struct out out;
	int interrupt_fd; /* see interrupt.h; -1 until a command watches */
	struct err err;   /* text "" while there is nothing to tell */
	/* In a batch: tokens that are to be acknowledged when the line is written; else
	 * NULL. Owned by the batch. */
	struct json_t *unacked;
};

/*
 * The whole program as a function.
 * return   the exit status
 */
int ctl_main(int argc, char **argv);

/*
 * Connect if that was not done. In a dry run nothing is.
 * return   as client_open(), with ctl->err
 */
RPMAD_MUST_USE int ctl_connect(struct ctl *ctl);

/*
 * Call a method on the one connection; how long it may wait is read from its
 * parameters. In a dry run the request is printed instead: -ECANCELED.
 *
 * params   the reference is taken; NULL: none
 * result   a new reference
 * return   as client_call(), with ctl->err; -EPROTO too for a result that has not what
 *          the method's results have
 */
RPMAD_MUST_USE int ctl_call(struct ctl *ctl, enum method_id method,
    struct json_t *params, struct json_t **result);
/* Take the reply to what was begun, as client_take() does and with its errors, and check
 * it as ctl_call() does. */
RPMAD_MUST_USE int ctl_take(struct ctl *ctl, enum method_id method,
    struct json_t **result, struct err *err);
/* As ctl_call() for a name that may be unknown here; any result is right. */
RPMAD_MUST_USE int ctl_call_name(struct ctl *ctl, const char *method,
    struct json_t *params, struct json_t **result);

/* Do what a command line says, but for the global options. return   the exit status */
int ctl_command(struct ctl *ctl, struct args *args);

/* The exit status of a failed step; *err keeps what there is to tell. */
int ctl_status(const struct ctl *ctl, int rc);
/* The same of what goes on until it is stopped (-EINTR), or nobody reads it (-EPIPE). */
int ctl_status_of_watch(struct ctl *ctl, int rc);

/* Show a result, as JSON if that was asked for, and flush. return   the exit status */
int ctl_show(struct ctl *ctl, command_view_fn view, const struct json_t *result);

/* Write what was gathered. return   the exit status */
int ctl_flush(struct ctl *ctl);

/* A command line that is wrong in a way no row knows. return   the exit status */
int ctl_usage(struct ctl *ctl, const char *fmt, ...) RPMAD_PRINTF(2, 3);

/*
 * From now on SIGINT and SIGTERM end waits and writes with -EINTR. Twice is harmless.
 * return   0; negative errno with ctl->err
 */
RPMAD_MUST_USE int ctl_watch(struct ctl *ctl);

#endif
