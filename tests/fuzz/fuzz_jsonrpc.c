/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A line of a client: whatever it is, it is answered by a reply that can be written and
 * read back, and what the parser makes of it stays within the limits.
 */
#include <config.h>

#include <stdbool.h>
#include <string.h>

#include <jansson.h>

#include "lib/core/jsonrpc.h"
#include "tests/fuzz/fuzz.h"

/* Count the values, and see that none lies too deep. */
static unsigned int
count_values(json_t *value, unsigned int depth)
{
	unsigned int count = 1;
	const char *key;
	json_t *member;
	size_t i;

	FUZZ_CHECK(depth <= JSONRPC_DEPTH_MAX);
	json_array_foreach(value, i, member) {
		count += count_values(member,
		    depth + json_is_array(member) + json_is_object(member));
	}
	json_object_foreach(value, key, member) {
		count += count_values(member,
		    depth + json_is_array(member) + json_is_object(member));
	}
	return count;
}

/* Write the reply, read it again as the client does, and release it. */
static void
check_reply(json_t *reply, bool is_error)
{
	char *text = json_dumps(reply, JSON_COMPACT | JSON_ENSURE_ASCII);
	const json_t *result = NULL;
	json_t *again = NULL;
	struct err err;

	FUZZ_CHECK(text != NULL);
	FUZZ_CHECK(strchr(text, '\n') == NULL);
	FUZZ_CHECK(jsonrpc_parse(text, strlen(text), &again, &err) == 0);
	FUZZ_CHECK(json_equal(again, reply));
	FUZZ_CHECK((jsonrpc_read_reply(again, &result, &err) != 0) == is_error);
	json_decref(again);
	json_decref(reply);
	free(text);
}

static void
check_request(const json_t *value)
{
	struct jsonrpc_request request;
	struct err err;

	if (jsonrpc_read(value, &request, &err) != 0) {
		FUZZ_CHECK(err.code == ERR_INVALID_REQUEST ||
		    err.code == ERR_INVALID_PARAMS);
		check_reply(jsonrpc_error(request.id, &err), true);
		return;
	}
	FUZZ_CHECK(request.method != NULL);
	FUZZ_CHECK(!request.params || json_is_object(request.params));
	(void)err_set(&err, ERR_METHOD_NOT_FOUND, 0, "no method \"%s\"",
	    request.method);
	check_reply(jsonrpc_error(request.id, &err), true);
	check_reply(jsonrpc_result(request.id, json_object()), false);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const json_t *result = NULL;
	json_t *value = NULL, *member;
	struct err err;
	size_t i;

	if (jsonrpc_parse((const char *)data, size, &value, &err) != 0) {
		FUZZ_CHECK(err.code == ERR_PARSE_ERROR || err.code == ERR_LIMIT);
		check_reply(jsonrpc_error(NULL, &err), true);
		return 0;
	}
	FUZZ_CHECK(count_values(value, json_is_array(value) || json_is_object(value)) <=
	    JSONRPC_VALUES_MAX);
	check_request(value);
	json_array_foreach(value, i, member) {
		check_request(member);
	}
	(void)jsonrpc_read_reply(value, &result, &err);
	json_decref(value);
	return 0;
}
