/* SPDX-License-Identifier: BSD-3-Clause */
/* A growing buffer of bytes. */
#ifndef RPMAD_CTL_BUF_H
#define RPMAD_CTL_BUF_H

#include <stddef.h>

#include "lib/core/compiler.h"

/* Zero-initialise; buf_free() at the end. */
struct buf {
	char *data; /* owned; len bytes and a NUL, or NULL while nothing was added */
	size_t len;
	size_t size;
};

void buf_free(struct buf *buf);
/* Forget the content, keep the memory. */
void buf_clear(struct buf *buf);

void buf_add(struct buf *buf, const void *data, size_t len);
void buf_puts(struct buf *buf, const char *text);
void buf_printf(struct buf *buf, const char *fmt, ...) RPMAD_PRINTF(2, 3);

/*
 * Add text that others wrote so that it stays on its line and cannot steer a terminal:
 * control characters, backslashes, and characters that turn the writing direction
 * become escapes (\n, \t, \r, \\, \x07, \u202e). text is UTF-8.
 */
void buf_add_escaped(struct buf *buf, const char *text, size_t len);

/* The content as a string; "" when nothing was added. Valid until the next change. */
const char *buf_text(const struct buf *buf);

#endif
