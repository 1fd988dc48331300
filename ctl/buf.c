/* SPDX-License-Identifier: BSD-3-Clause */
/* A growing buffer of bytes, and escapes for text that others wrote. */
#include <config.h>

#include "ctl/buf.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/must.h"

#define FIRST_SIZE 256u

void
buf_free(struct buf *buf)
{
	free(buf->data);
	memset(buf, 0, sizeof(*buf));
}

void
buf_clear(struct buf *buf)
{
	buf->len = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

/* Make room for len more bytes and the NUL. */
static char *
reserve(struct buf *buf, size_t len)
{
	size_t size = buf->size ? buf->size : FIRST_SIZE;

	if (len >= SIZE_MAX / 4 - buf->len)
		(void)must(NULL);
	while (size < buf->len + len + 1)
		size *= 2;
	if (size != buf->size) {
		buf->data = must(realloc(buf->data, size));
		buf->size = size;
	}
	return buf->data + buf->len;
}

void
buf_add(struct buf *buf, const void *data, size_t len)
{
	char *end = reserve(buf, len);

	if (len > 0)
		memcpy(end, data, len);
	end[len] = '\0';
	buf->len += len;
}

void
buf_puts(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void
buf_printf(struct buf *buf, const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (len <= 0)
		return;
	(void)reserve(buf, (size_t)len);
	va_start(args, fmt);
	(void)vsnprintf(buf->data + buf->len, (size_t)len + 1, fmt, args);
	va_end(args);
	buf->len += (size_t)len;
}

/*
 * The character that begins at text, and its length in bytes. A byte that begins none
 * stands for itself: length 1 and a code of 0x80 or more.
 */
static uint32_t
decode(const unsigned char *text, size_t left, size_t *len)
{
	static const unsigned char first_bits[] = { 0, 0, 0x1f, 0x0f, 0x07 };
	size_t n = text[0] < 0xc0 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	uint32_t c = text[0] & first_bits[n];
	size_t i;

	*len = 1;
	if (n == 1 || n > left)
		return text[0];
	for (i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return text[0];
		c = c << 6 | (text[i] & 0x3fu);
	}
	*len = n;
	return c;
}

/* Unicode's line separators and the controls of bidirectional text. */
static bool
is_steering(uint32_t c)
{
	return (c >= 0x80 && c < 0xa0) || c == 0x200e || c == 0x200f ||
	    (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static void
add_escape(struct buf *buf, uint32_t c, bool is_byte)
{
	if (c == '\n')
		buf_puts(buf, "\\n");
	else if (c == '\r')
		buf_puts(buf, "\\r");
	else if (c == '\t')
		buf_puts(buf, "\\t");
	else if (c == '\\')
		buf_puts(buf, "\\\\");
	else if (is_byte)
		buf_printf(buf, "\\x%02x", (unsigned int)c);
	else
		buf_printf(buf, "\\u%04x", (unsigned int)c);
}

void
buf_add_escaped(struct buf *buf, const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text;
	const unsigned char *end;
	uint32_t c;
	size_t n;

	if (len == 0)
		return;
	for (end = at + len; at < end; at += n) {
		c = decode(at, (size_t)(end - at), &n);
		if (c < 0x20 || c == 0x7f || c == '\\' ||
		    (n == 1 ? c >= 0x80 : is_steering(c)))
			add_escape(buf, c, n == 1);
		else
			buf_add(buf, at, n);
	}
}

const char *
buf_text(const struct buf *buf)
{
	return buf->data ? buf->data : "";
}
