/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies as text: JSON written compactly, in ASCII, with a limit. */
#ifndef RPMAD_DAEMON_RPC_TEXT_H
#define RPMAD_DAEMON_RPC_TEXT_H

#include <stddef.h>

#include "lib/core/compiler.h"

struct json_t;

/* A text that grows; zero-initialised. */
struct rpc_text {
	char *bytes; /* from malloc(3); no NUL at the end */
	size_t len;
	size_t size;
};

/* return   0; -ENOMEM: nothing was added */
RPMAD_MUST_USE int rpc_text_add(struct rpc_text *text, const char *bytes, size_t len);

/*
 * Room for len bytes more, at least one, which the caller writes; rpc_text_take() makes those up to end a
 * part of the text. NULL: no memory.
 */
char *rpc_text_reserve(struct rpc_text *text, size_t len);
void rpc_text_take(struct rpc_text *text, const char *end);
/* It is empty then, and may be used again. */
void rpc_text_free(struct rpc_text *text);

/*
 * Add a value.
 *
 * limit    the most bytes that it may have
 * return   0; -ENOMEM, -EMSGSIZE: nothing was added
 */
RPMAD_MUST_USE int rpc_text_add_json(struct rpc_text *text, const struct json_t *value,
    size_t limit);

/*
 * Add a JSON string: what rpc_text_add_json() makes of the same, byte for byte.
 *
 * data     n bytes of UTF-8, well-formed, see text_is_utf8()
 * return   0; -ENOMEM: nothing was added
 */
RPMAD_MUST_USE int rpc_text_add_string(struct rpc_text *text, const void *data,
    size_t n);

/* The most bytes that a text of n bytes of UTF-8 becomes as the inside of a JSON string. */
size_t rpc_text_escaped_len(const void *data, size_t n);

#endif
