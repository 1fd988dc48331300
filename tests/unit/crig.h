/* SPDX-License-Identifier: BSD-3-Clause */
/* The control plane over a stub of the engine, with clients that the test plays. */
#ifndef RPMAD_TESTS_UNIT_CRIG_H
#define RPMAD_TESTS_UNIT_CRIG_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/unit/crig_build.h"
#include "tests/unit/stub_engine.h"

struct json_t;

/* A line with a request to poll, of id 1; params is JSON without its braces. */
#define CRIG_POLL(params)                                                            \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"recv.poll\",\"params\":{" params \
	"}}\n"

/* The far end of a client's socket, and what was read from it. */
struct crig_client {
	struct crig *rig;
	int fd;
	char *buf;
	size_t len, size;
	bool at_eof;
};

/* Make it all; config is JSON text or NULL. Zero-initialise the rig first. */
void crig_start(struct crig *rig, const char *config);
void crig_end(struct crig *rig);

void crig_open(struct crig *rig, struct crig_client *client);
void crig_close(struct crig_client *client);

/* Make a rig, whatever is in it, and two clients; and the end of all three. */
void crig_start_two(struct crig *rig, const char *config, struct crig_client *a,
    struct crig_client *b);
void crig_end_two(struct crig *rig, struct crig_client *a, struct crig_client *b);

/* Send bytes, turning the loop when the socket is full. */
void crig_send(struct crig_client *client, const void *bytes, size_t len);
void crig_puts(struct crig_client *client, const char *text);

/*
 * The next line, without its LF, in the client's memory until the next call. NULL: the
 * connection ended. Fails the test when none comes within some seconds.
 */
const char *crig_line(struct crig_client *client);
/* It as JSON: a new reference. */
struct json_t *crig_reply(struct crig_client *client);
/* Send one request with id 1 and read its reply: the result, or with crig_fail() the
 * error's data.name. A new reference. */
struct json_t *crig_call(struct crig_client *client, const char *method,
    const char *params);
/* The call fails: its error object, a new reference, after a look at its name. */
struct json_t *crig_fail(struct crig_client *client, const char *method,
    const char *params, const char *name);

/* Members of objects; each fails the test when it is not there, or not of that type. */
long long crig_integer(const struct json_t *object, const char *key);
const char *crig_text(const struct json_t *object, const char *key);
/* The i-th completion of a result of recv.poll, and how many it has. */
struct json_t *crig_completion(const struct json_t *result, size_t i);
size_t crig_count(const struct json_t *result);

/* Post n slots; let a message arrive in a slot posted for it. */
void crig_post(struct crig *rig, unsigned int n);
void crig_arrive(struct crig *rig, const char *text);

/* Turn until nothing happens any more (two turns without waiting). */
void crig_settle(struct crig *rig);
/* Turn for a time. */
void crig_run_ms(struct crig *rig, unsigned int ms);
/* Whether nothing came to a client. */
bool crig_is_silent(struct crig_client *client);

#endif
