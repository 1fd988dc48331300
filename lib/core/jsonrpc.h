/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON-RPC 2.0 envelopes: check and read requests, make replies.
 * https://www.jsonrpc.org/specification */
#ifndef RPMAD_LIB_CORE_JSONRPC_H
#define RPMAD_LIB_CORE_JSONRPC_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/core/err.h"

struct json_t;

#define JSONRPC_DEPTH_MAX  32u   /* nesting of arrays and objects */
#define JSONRPC_VALUES_MAX 8192u /* values in one line */
#define JSONRPC_BATCH_MAX  256u  /* members of a batch */
#define JSONRPC_ID_MAX     128u  /* bytes of a string id */

/*
 * Parse one line. Before the parser sees it, nesting and the number of values are
 * counted in one pass, so that a hostile line costs neither stack nor memory. return 0
 * and *out (a new reference); -EINVAL: ERR_PARSE_ERROR with the byte offset in the
 *          text, or ERR_LIMIT; -ENOMEM (ERR_INTERNAL_ERROR)
 */
int jsonrpc_parse(const char *line, size_t len, struct json_t **out, struct err *err);

/* One request of a line; pointers are borrowed from the parsed value. */
struct jsonrpc_request {
	const struct json_t *id; /* NULL: a notification */
	const char *method;
	const struct json_t *params; /* NULL: none; otherwise an object */
};

/*
 * Read a request: "jsonrpc" is "2.0", method a string, params (if there) an object, id
 * a string of at most JSONRPC_ID_MAX bytes, an integer within +-(2^53 - 1) or null, and
 * no other member.
 * return   0; -EINVAL: ERR_INVALID_REQUEST, which is answered also where no id was
 * found; or ERR_INVALID_PARAMS for params of another type, told last, so that without
 * an id it was a notification. out->id is the id where a usable one was found, else
 * NULL.
 */
int jsonrpc_read(const struct json_t *value, struct jsonrpc_request *out,
    struct err *err);

/*
 * Replies. id NULL stands for null. result: the reference is taken. A new reference,
 * NULL: no memory (result is released all the same).
 */
struct json_t *jsonrpc_result(const struct json_t *id, struct json_t *result);
struct json_t *jsonrpc_error(const struct json_t *id, const struct err *err);

/*
 * The error object alone: {code, message, data: {name, retryable, errno?, path?,
 * hint?}}; errno is a symbolic name. An error without code is ERR_INTERNAL_ERROR.
 */
struct json_t *jsonrpc_error_object(const struct err *err);

/* A request of a client, and a notification (id NULL). params: the reference is taken.
 */
struct json_t *jsonrpc_make_request(const char *method, struct json_t *params,
    const struct json_t *id);

/*
 * Read a reply to a client's request into *result (borrowed) or, where it is an error,
 * *err; an error of a name unknown here is ERR_INTERNAL_ERROR with "NAME: " before its
 * text. The id is not looked at. return   0; -EBADMSG it is no reply; -EREMOTEIO *err
 * is the daemon's error
 */
int jsonrpc_read_reply(const struct json_t *reply, const struct json_t **result,
    struct err *err);

#endif
