/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON-RPC 2.0 envelopes, https://www.jsonrpc.org/specification */
#include <config.h>

#include "lib/core/jsonrpc.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <jansson.h>

#define ID_INTEGER_MAX INT64_C(9007199254740991) /* 2^53 - 1, RFC 8259 section 6 */

/* What the pass over a line's bytes knows at one of them. */
struct scan {
	unsigned int depth;
	unsigned int values;
	bool in_string;
	bool in_scalar; /* a number or word */
	bool escaped;   /* the byte before was a backslash that counts */
};

/* jansson's iterators want a pointer to non-const, though they change nothing. */
static json_t *
unconst(const json_t *json)
{
	return (json_t *)(uintptr_t)json;
}

static int
no_memory(struct err *err)
{
	return err_set(err, ERR_INTERNAL_ERROR, ENOMEM, "out of memory");
}

/* A byte outside of strings. */
static void
scan_plain(struct scan *scan, char c)
{
	bool was_scalar = scan->in_scalar;

	scan->in_scalar = false;
	switch (c) {
	case '"':
		scan->in_string = true;
		scan->values++;
		return;
	case '[':
	case '{':
		scan->depth++;
		scan->values++;
		return;
	case ']':
	case '}':
		if (scan->depth > 0)
			scan->depth--;
		return;
	case ':':
		/* The string before was a key. Where it was none, the parser stops. */
		if (scan->values > 0)
			scan->values--;
		return;
	case ',':
	case ' ':
	case '\t':
	case '\r':
	case '\n':
		return;
	default:
		scan->in_scalar = true;
		if (!was_scalar)
			scan->values++;
	}
}

static void
scan_byte(struct scan *scan, char c)
{
	if (!scan->in_string)
		scan_plain(scan, c);
	else if (scan->escaped)
		scan->escaped = false;
	else if (c == '\\')
		scan->escaped = true;
	else if (c == '"')
		scan->in_string = false;
}

/*
 * Refuse what would cost the parser too much: its own limit of nesting is 2048, and a
 * value takes it up to 80 times the bytes of its text.
 */
static int
check_cost(const char *line, size_t len, struct err *err)
{
	struct scan scan = { 0 };
	size_t i;

	for (i = 0; i < len; i++) {
		/* Most bytes of a string change nothing. */
		if (scan.in_string && !scan.escaped && line[i] != '"' &&
		    line[i] != '\\')
			continue;
		scan_byte(&scan, line[i]);
		if (scan.depth > JSONRPC_DEPTH_MAX) {
			(void)err_set(err, ERR_LIMIT, 0,
			    "nesting deeper than %u at byte %zu", JSONRPC_DEPTH_MAX, i);
			return -EINVAL;
		}
		if (scan.values > JSONRPC_VALUES_MAX) {
			(void)err_set(err, ERR_LIMIT, 0,
			    "more than %u values at byte %zu", JSONRPC_VALUES_MAX, i);
			return -EINVAL;
		}
	}
	return 0;
}

int
jsonrpc_parse(const char *line, size_t len, json_t **out, struct err *err)
{
	json_error_t error = { 0 };
	json_t *value;
	int rc;

	rc = check_cost(line, len, err);
	if (rc != 0)
		return rc;
	value = json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (value) {
		*out = value;
		return 0;
	}
	/* jansson says nothing at all in some of the cases where memory is short. */
	if (error.text[0] == '\0' ||
	    json_error_code(&error) == json_error_out_of_memory)
		return no_memory(err);
	return err_set(err, ERR_PARSE_ERROR, 0, "invalid JSON at byte %d: %s",
	    error.position, error.text);
}

/* ---- requests ---- */

static bool
id_is_usable(const json_t *id)
{
	json_int_t number;

	if (json_is_string(id))
		return json_string_length(id) <= JSONRPC_ID_MAX;
	if (!json_is_integer(id))
		return json_is_null(id);
	number = json_integer_value(id);
	return number >= -ID_INTEGER_MAX && number <= ID_INTEGER_MAX;
}

static int
invalid(struct err *err, const char *path, const char *text)
{
	int rc = err_set(err, ERR_INVALID_REQUEST, 0, "%s", text);

	err_path(err, "%s", path);
	return rc;
}

static int
check_members(const json_t *value, struct err *err)
{
	static const char *const known[] = { "jsonrpc", "method", "params", "id" };
	const char *key;
	json_t *member;
	size_t i;
	int rc;

	json_object_foreach(unconst(value), key, member) {
		for (i = 0; i < ARRAY_LEN(known); i++)
			if (strcmp(key, known[i]) == 0)
				break;
		if (i < ARRAY_LEN(known))
			continue;
		rc = err_set(err, ERR_INVALID_REQUEST, 0, "unknown member \"%.96s\"",
		    key);
		err_path(err, "%s", key);
		err_hint(err, "a request has jsonrpc, method, params and id");
		return rc;
	}
	return 0;
}

static bool
is_version_2(const json_t *value)
{
	const char *version = json_string_value(json_object_get(value, "jsonrpc"));

	return version && strcmp(version, "2.0") == 0;
}

int
jsonrpc_read(const json_t *value, struct jsonrpc_request *out, struct err *err)
{
	const json_t *id, *method, *params;
	int rc;

	memset(out, 0, sizeof(*out));
	if (!json_is_object(value))
		return invalid(err, "", "a request must be an object");
	id = json_object_get(value, "id");
	if (id && !id_is_usable(id))
		return invalid(err, "id",
		    "must be an integer within 2^53 - 1, a string of at most 128 bytes, "
		    "or null");
	out->id = id;
	if (!is_version_2(value))
		return invalid(err, "jsonrpc", "must be \"2.0\"");
	method = json_object_get(value, "method");
	if (!json_is_string(method))
		return invalid(err, "method", "must be a string");
	rc = check_members(value, err);
	if (rc != 0)
		return rc;
	params = json_object_get(value, "params");
	if (params && !json_is_object(params)) {
		rc = err_set(err, ERR_INVALID_PARAMS, 0, "must be an object");
		err_path(err, "params");
		return rc;
	}
	out->method = json_string_value(method);
	out->params = params;
	return 0;
}

/* ---- replies ---- */

/* {"jsonrpc": "2.0", "id": id, key: value}; the reference to value is taken. */
static json_t *
reply(const json_t *id, const char *key, json_t *value)
{
	json_t *object = json_object();
	json_t *id_copy = id ? json_deep_copy(id) : json_null();

	/* Each call takes its value, and fails when that or the object is NULL. */
	if (json_object_set_new(object, "jsonrpc", json_string("2.0")) != 0) {
		json_decref(id_copy);
		json_decref(value);
	} else if (json_object_set_new(object, "id", id_copy) != 0) {
		json_decref(value);
	} else if (json_object_set_new(object, key, value) == 0) {
		return object;
	}
	json_decref(object);
	return NULL;
}

json_t *
jsonrpc_result(const json_t *id, json_t *result)
{
	return reply(id, "result", result);
}

json_t *
jsonrpc_error(const json_t *id, const struct err *err)
{
	return reply(id, "error", jsonrpc_error_object(err));
}

/* Add a text unless it is empty. */
static int
set_text(json_t *object, const char *key, const char *text)
{
	if (text[0] == '\0')
		return 0;
	return json_object_set_new(object, key, json_string(text));
}

static json_t *
error_data(const struct err *err, const struct err_info *info)
{
	json_t *data = json_object();
	const char *cause = err->errnum != 0 ? err_errno_name(err->errnum) : "";

	if (json_object_set_new(data, "name", json_string(info->name)) == 0 &&
	    json_object_set_new(data, "retryable", json_boolean(info->retryable)) ==
		0 &&
	    set_text(data, "errno", cause) == 0 &&
	    set_text(data, "path", err->path) == 0 &&
	    set_text(data, "hint", err->hint) == 0)
		return data;
	json_decref(data);
	return NULL;
}

json_t *
jsonrpc_error_object(const struct err *err)
{
	/* An error that was never set is one too: somebody failed to say which. */
	const struct err_info *info =
	    err_info(err->code != ERR_NONE ? err->code : ERR_INTERNAL_ERROR);
	const char *text = err->text[0] != '\0' ? err->text : info->meaning;
	json_t *object = json_object();

	if (json_object_set_new(object, "code", json_integer(info->rpc_code)) == 0 &&
	    json_object_set_new(object, "message", json_string(text)) == 0 &&
	    json_object_set_new(object, "data", error_data(err, info)) == 0)
		return object;
	json_decref(object);
	return NULL;
}

/* ---- the client's side ---- */

json_t *
jsonrpc_make_request(const char *method, json_t *params, const json_t *id)
{
	json_t *object = json_object();

	if (json_object_set_new(object, "jsonrpc", json_string("2.0")) != 0 ||
	    (id && json_object_set_new(object, "id", json_deep_copy(id)) != 0) ||
	    json_object_set_new(object, "method", json_string(method)) != 0) {
		json_decref(params);
		goto fail;
	}
	if (params && json_object_set_new(object, "params", params) != 0)
		goto fail;
	return object;

fail:
	json_decref(object);
	return NULL;
}

/* A string member, or "". */
static const char *
text_member(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* The daemon's error, whole; one that this program does not know keeps its name. */
static void
read_error(const json_t *error, struct err *err)
{
	const json_t *data = json_object_get(error, "data");
	const char *name = text_member(data, "name");
	const char *message = text_member(error, "message");
	json_int_t number = json_integer_value(json_object_get(error, "code"));
	enum err_code code = err_code_by_name(name);
	int errnum = err_errno_by_name(text_member(data, "errno"));

	if (code == ERR_NONE && number >= INT32_MIN && number <= -1)
		code = err_code_by_rpc_code((int)number);
	if (code != ERR_NONE)
		(void)err_set(err, code, errnum, "%s", message);
	else
		(void)err_set(err, ERR_INTERNAL_ERROR, errnum, "%s%s%s", name,
		    name[0] != '\0' ? ": " : "", message);
	err_path(err, "%s", text_member(data, "path"));
	err_hint(err, "%s", text_member(data, "hint"));
}

int
jsonrpc_read_reply(const json_t *reply_value, const json_t **result, struct err *err)
{
	const json_t *value = json_object_get(reply_value, "result");
	const json_t *error = json_object_get(reply_value, "error");

	if (!is_version_2(reply_value) || !json_object_get(reply_value, "id") ||
	    !value == !error ||
	    (error &&
		(!json_is_integer(json_object_get(error, "code")) ||
		    !json_is_string(json_object_get(error, "message"))))) {
		(void)err_set(err, ERR_INTERNAL_ERROR, EBADMSG,
		    "what answered is no JSON-RPC 2.0 reply");
		return -EBADMSG;
	}
	if (error) {
		read_error(error, err);
		return -EREMOTEIO;
	}
	*result = value;
	return 0;
}
