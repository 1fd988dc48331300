/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of text that are cut at an edge. */
#include <config.h>

#include "ctl/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the character that begins here, in UTF-8 that is sound. */
static size_t
char_len(const char *at)
{
	size_t n = 1;

	while (((unsigned char)at[n] & 0xc0) == 0x80)
		n++;
	return n;
}

static void
write_blanks(struct canvas *canvas)
{
	for (; canvas->blanks > 0; canvas->blanks--)
		buf_puts(canvas->buf, " ");
}

void
canvas_add(struct canvas *canvas, const char *text)
{
	size_t n;

	for (; *text != '\0' && canvas->column < canvas->width; text += n) {
		n = char_len(text);
		canvas->column++;
		if (*text == ' ') {
			canvas->blanks++;
			continue;
		}
		write_blanks(canvas);
		if (n > 1 && !canvas->is_utf8)
			buf_puts(canvas->buf, "?");
		else
			buf_add(canvas->buf, text, n);
	}
}

void
canvas_printf(struct canvas *canvas, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	canvas_add(canvas, text);
}

void
canvas_text(struct canvas *canvas, const char *text)
{
	struct buf escaped = { 0 };

	buf_add_escaped(&escaped, text, strlen(text));
	canvas_add(canvas, buf_text(&escaped));
	buf_free(&escaped);
}

void
canvas_repeat(struct canvas *canvas, const char *character, unsigned int n)
{
	for (; n > 0; n--)
		canvas_add(canvas, character);
}

void
canvas_to(struct canvas *canvas, unsigned int column)
{
	while (canvas->column < column && canvas->column < canvas->width)
		canvas_add(canvas, " ");
}

void
canvas_style(struct canvas *canvas, const char *style)
{
	if (!canvas->is_coloured)
		return;
	write_blanks(canvas);
	buf_puts(canvas->buf, style ? style : "\033[0m");
}

void
canvas_end(struct canvas *canvas)
{
	buf_puts(canvas->buf, "\n");
	canvas->column = 0;
	canvas->blanks = 0;
}

size_t
canvas_break(const char *text, unsigned int width)
{
	size_t len = 0, blank = 0;

	for (; text[len] != '\0' && width > 0; width--) {
		if (text[len] == ' ')
			blank = len;
		len += char_len(text + len);
	}
	return text[len] == '\0' || text[len] == ' ' || blank == 0 ? len : blank;
}
