/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies as text: a growing buffer that jansson writes into. */
#include <config.h>

#include "daemon/rpc_text.h"

#include <errno.h>
#include <stdint.h>
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

/* One unit of UTF-16, as an escape. */
static char *
put_unit(char *at, uint32_t unit)
{
	static const char digits[] = "0123456789ABCDEF";

	*at++ = '\\';
	*at++ = 'u';
	*at++ = digits[unit >> 12 & 0xf];
	*at++ = digits[unit >> 8 & 0xf];
	*at++ = digits[unit >> 4 & 0xf];
	*at++ = digits[unit & 0xf];
	return at;
}

/* A character of one byte. */
static char *
put_ascii(char *at, unsigned char byte)
{
	static const char escapes[] = { ['\b'] = 'b',
		['\t'] = 't',
		['\n'] = 'n',
		['\f'] = 'f',
		['\r'] = 'r',
		['"'] = '"',
		['\\'] = '\\' };

	if (byte < sizeof(escapes) && escapes[byte] != '\0') {
		*at++ = '\\';
		*at++ = escapes[byte];
	} else if (byte < 0x20) {
		at = put_unit(at, byte);
	} else {
		*at++ = (char)byte;
	}
	return at;
}

/* The character of several bytes that begins there. return   what is behind it */
static const unsigned char *
read_character(const unsigned char *from, uint32_t *out)
{
	unsigned int more = *from >= 0xf0 ? 3 : *from >= 0xe0 ? 2 : 1;
	uint32_t character = *from++ & (0x3fu >> more);

	for (; more > 0; more--)
		character = character << 6 | (*from++ & 0x3fu);
	*out = character;
	return from;
}

int
rpc_text_add_string(struct rpc_text *text, const void *data, size_t n)
{
	const unsigned char *from = data, *end = from + n;
	char *at = rpc_text_reserve(text, rpc_text_escaped_len(data, n) + 2);
	uint32_t character;

	if (!at)
		return -ENOMEM;
	*at++ = '"';
	while (from < end) {
		if (*from < 0x80) {
			at = put_ascii(at, *from++);
			continue;
		}
		from = read_character(from, &character);
		if (character >= 0x10000) {
			character -= 0x10000;
			at = put_unit(at, 0xd800 | character >> 10);
			character = 0xdc00 | (character & 0x3ff);
		}
		at = put_unit(at, character);
	}
	*at++ = '"';
	rpc_text_take(text, at);
	return 0;
}
