/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of the control socket: one request at a time, all of it before a deadline.
 */
#ifndef RPMAD_CTL_CLIENT_H
#define RPMAD_CTL_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/core/compiler.h"
#include "lib/core/err.h"

struct client;
struct json_t;

#define CLIENT_PROTOCOL    1           /* the protocol's version that is spoken here */
#define CLIENT_REPLY_MAX   (64u << 20) /* bytes of a reply */
#define CLIENT_REQUEST_MAX (1u << 20)  /* bytes of a request, where nobody tells */

struct client_config {
	const char *path;    /* of the socket */
	uint64_t timeout_ms; /* over connecting, sending and receiving together */
	uint64_t
	    wait_daemon_ms; /* before that: how long to wait until somebody listens */
	int interrupt_fd;   /* readable: calls end with -EINTR; -1: none. Borrowed. */
	int output_fd; /* its reader gone: calls end with -EPIPE; -1: none. Borrowed. */
};

/*
 * Connect, say hello, and check that the daemon speaks our protocol.
 *
 * return   0; with err: -ENOTCONN nobody listens there; -EACCES no permission;
 *          -ETIMEDOUT; -EPROTO not our protocol; -EREMOTEIO the daemon's own error;
 *          without err: -EINTR, -EPIPE
 */
RPMAD_MUST_USE int client_open(const struct client_config *config, struct client **out,
    struct err *err);
/* NULL is fine. */
void client_close(struct client *client);

/* The most bytes that the daemon takes in one request, its LF not counted. */
size_t client_request_max(const struct client *client);

/*
 * Call a method and wait for its result.
 *
 * params   the reference is taken; NULL: none
 * wait_ms  how long the method itself may wait: the deadline moves by it
 * result   a new reference
 * return   as client_open(); also -EMSGSIZE: the request is over client_request_max()
 */
RPMAD_MUST_USE int client_call(struct client *client, const char *method,
    struct json_t *params, uint64_t wait_ms, struct json_t **result, struct err *err);

/*
 * Send a request whose reply is to be taken later, one at a time; other calls may be made
 * meanwhile, and keep it where it comes between theirs.
 * return   0; others as client_call(), with err
 */
RPMAD_MUST_USE int client_begin(struct client *client, const char *method,
    struct json_t *params, uint64_t wait_ms, struct err *err);

/*
 * Take the reply to what was begun, without waiting for it.
 * return   -EAGAIN it is not there yet; others as client_call(): then it is over
 */
RPMAD_MUST_USE int client_take(struct client *client, struct json_t **result,
    struct err *err);

/* Readable: client_take() may have something. */
int client_fd(const struct client *client);
/* When what was begun times out, CLOCK_MONOTONIC. */
uint64_t client_take_deadline_ms(const struct client *client);

/* Send a request and do not wait for its reply; a failure is ignored. */
void client_tell(struct client *client, const char *method, struct json_t *params);

/* The deadline is timeout_ms from now again: for commands of many calls. */
void client_renew(struct client *client);

/* Watch for interrupts, and output for its reader, from now on; -1: no more. */
void client_watch(struct client *client, int interrupt_fd, int output_fd);

/* The request as a line without LF; params: the reference is taken. Free with free(3).
 */
char *client_format_request(const char *method, struct json_t *params, long long id);

#endif
