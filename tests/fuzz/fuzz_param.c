/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters of every method from one JSON value, and options from one text: what is
 * taken is in range, what is refused is named. The first byte chooses the method.
 */
#include <config.h>

#include <stdbool.h>
#include <string.h>

#include <jansson.h>

#include "lib/core/jsonrpc.h"
#include "lib/core/method.h"
#include "tests/fuzz/fuzz.h"

/* Room for the largest struct of parameters, for all of which this is enough. */
union out {
	struct recv_post_params post;
	struct recv_poll_params poll;
	struct conn_send_params conn_send;
	char room[512];
};

static void
check_list(const struct param_spec *spec, const struct param_list *list)
{
	size_t i;

	if (!list->array)
		return;
	FUZZ_CHECK(list->count >= spec->min && list->count <= spec->max);
	for (i = 0; i < list->count; i++)
		FUZZ_CHECK(strlen(param_list_at(list, i)) <= PARAM_ITEM_MAX);
}

/* A field is unset where that is allowed, or within the row's limits. */
static void
check_field(const struct param_spec *spec, const void *field)
{
	const struct param_string *string = field;
	const uint64_t *number = field;
	const unsigned int *word = field;
	unsigned int words = 0;

	switch (spec->type) {
	case PARAM_UINT:
		FUZZ_CHECK((*number == PARAM_UNSET && !spec->required) ||
		    (*number >= spec->min && *number <= spec->max));
		return;
	case PARAM_STRING:
		FUZZ_CHECK(string->ptr || !spec->required);
		FUZZ_CHECK(!string->ptr ||
		    (string->len == strlen(string->ptr) && string->len >= spec->min &&
			string->len <= spec->max));
		return;
	case PARAM_ENUM:
		while (spec->words[words])
			words++;
		FUZZ_CHECK(*word < words);
		return;
	case PARAM_STRINGS:
		check_list(spec, field);
		return;
	case PARAM_BOOL:
	case PARAM_OBJECT:
		return;
	}
}

/* An error has what its reader needs, and can be sent. */
static void
check_error(const struct err *err, const char *root)
{
	json_t *object = jsonrpc_error_object(err);

	FUZZ_CHECK(object != NULL);
	FUZZ_CHECK(err->code == ERR_INVALID_PARAMS && err->text[0] != '\0');
	FUZZ_CHECK(strncmp(err->path, root, strlen(root)) == 0);
	json_decref(object);
}

static void
decode(const struct method_spec *method, const json_t *json, bool comments)
{
	const struct param_table *table = &method->params;
	union out out;
	struct err err;
	size_t i;

	memset(&out, 0xa5, sizeof(out));
	if (param_decode(table, json, "params", comments, &out, &err) != 0) {
		check_error(&err, "params");
		return;
	}
	for (i = 0; i < table->count; i++)
		check_field(&table->specs[i], out.room + table->specs[i].offset);
}

/* An option's value is one that the daemon takes. */
static void
from_text(const struct param_spec *spec, const char *text)
{
	const struct param_table one = { spec, 1 };
	json_t *value = NULL, *object;
	union out out;
	struct err err;

	if (param_from_text(spec, text, &value, &err) != 0) {
		FUZZ_CHECK(value == NULL);
		check_error(&err, spec->name);
		return;
	}
	object = json_object();
	FUZZ_CHECK(json_object_set_new(object, spec->name, value) == 0);
	FUZZ_CHECK(param_decode(&one, object, "params", false, &out, &err) == 0);
	json_decref(object);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct method_spec *method;
	json_t *value = NULL;
	char *text;
	size_t i;

	if (size < 1)
		return 0;
	method = &methods[data[0] % METHOD_COUNT];
	text = calloc(1, size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	for (i = 0; i < method->params.count; i++)
		from_text(&method->params.specs[i], text);
	if (jsonrpc_parse(text, size - 1, &value, NULL) == 0) {
		decode(method, value, (data[0] & 128) != 0);
		json_decref(value);
	}
	free(text);
	return 0;
}
