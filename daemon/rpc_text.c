/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies as text: a growing buffer that jansson writes into. */
#include <config.h>

#include "daemon/rpc_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define SIZE_MIN 512

char *
rpc_text_reserve(struct rpc_text *text, size_t len)
{
	size_t size = text->size ? text->size : SIZE_MIN;
	char *grown;

	if (len > text->size - text->len) {
		while (size - text->len < len)
			size *= 2;
		grown = realloc(text->bytes, size);
		if (!grown)
			return NULL;
		text->bytes = grown;
		text->size = size;
	}
	return text->bytes + text->len;
}

void
rpc_text_take(struct rpc_text *text, const char *end)
{
	text->len = (size_t)(end - text->bytes);
}

void
rpc_text_free(struct rpc_text *text)
{
	free(text->bytes);
	*text = (struct rpc_text){ 0 };
}

int
rpc_text_add(struct rpc_text *text, const char *bytes, size_t len)
{
	char *at;

	if (len == 0)
		return 0;
	at = rpc_text_reserve(text, len);
	if (!at)
		return -ENOMEM;
	memcpy(at, bytes, len);
	text->len += len;
	return 0;
}

/* One value on its way into a text. */
struct dump {
	struct rpc_text *text;
	size_t end; /* the most that text->len may become */
	int rc;
};

static int
add_piece(const char *bytes, size_t len, void *arg)
{
	struct dump *dump = arg;

	if (len > dump->end - dump->text->len)
		dump->rc = -EMSGSIZE;
	else
		dump->rc = rpc_text_add(dump->text, bytes, len);
	return dump->rc;
}

int
rpc_text_add_json(struct rpc_text *text, const json_t *value, size_t limit)
{
	const size_t before = text->len;
	struct dump dump = { .text = text, .end = before + limit };

	if (json_dump_callback(value, add_piece, &dump,
		JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY) == 0)
		return 0;
	text->len = before;
	return dump.rc != 0 ? dump.rc : -ENOMEM;
}

size_t
rpc_text_escaped_len(const void *data, size_t n)
{
	const unsigned char *bytes = data;
	size_t i, len = 0;

	for (i = 0; i < n; i++) {
		if (bytes[i] >= 0xf0)
			len += sizeof("\\ud83d\\ude00") - 1;
		else if (bytes[i] >= 0xc0)
			len += sizeof("\\u00e4") - 1;
		else if (bytes[i] >= 0x80)
			continue; /* counted with the first byte of its character */
		else if (bytes[i] < 0x20)
			len += sizeof("\\u001f") - 1;
		else
			len += bytes[i] == '"' || bytes[i] == '\\' ? 2 : 1;
	}
	return len;
}
