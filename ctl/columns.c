/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables whose widths are counted in characters, not bytes. */
#include <config.h>

#include "ctl/columns.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/buf.h"
#include "ctl/must.h"
#include "ctl/out.h"

#define GAP      2u /* blanks between columns */
#define LAST_MIN 8u /* characters of the last column that must fit if it is cut */

struct columns {
	const struct column *specs; /* borrowed */
	size_t count;               /* of columns */
	unsigned int *widths;       /* of each column so far; owned */
	struct buf text;            /* the cells, each with its NUL */
	size_t cells;
};

/* Characters of UTF-8 text: bytes that continue none. */
static size_t
text_width(const char *text)
{
	size_t width = 0;

	for (; *text != '\0'; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

struct columns *
columns_new(const struct column *specs, size_t count)
{
	struct columns *columns = must(calloc(1, sizeof(*columns)));
	size_t i, title;

	columns->specs = specs;
	columns->count = count;
	columns->widths = must(calloc(count, sizeof(*columns->widths)));
	for (i = 0; i < count; i++) {
		title = text_width(specs[i].title);
		columns->widths[i] = specs[i].min_width > title ? specs[i].min_width
								: (unsigned int)title;
	}
	return columns;
}

void
columns_free(struct columns *columns)
{
	if (!columns)
		return;
	free(columns->widths);
	buf_free(&columns->text);
	free(columns);
}

void
columns_textn(struct columns *columns, const char *text, size_t len)
{
	unsigned int *width = &columns->widths[columns->cells++ % columns->count];
	size_t begin = columns->text.len, needed;

	if (len == 0)
		buf_puts(&columns->text, "-");
	else
		buf_add_escaped(&columns->text, text, len);
	needed = text_width(columns->text.data + begin);
	if (needed > *width)
		*width = (unsigned int)needed;
	buf_add(&columns->text, "", 1);
}

void
columns_text(struct columns *columns, const char *text)
{
	columns_textn(columns, text ? text : "", text ? strlen(text) : 0);
}

void
columns_number(struct columns *columns, long long number)
{
	struct buf text = { 0 };

	buf_printf(&text, "%lld", number);
	columns_textn(columns, text.data, text.len);
	buf_free(&text);
}

size_t
columns_rows(const struct columns *columns)
{
	return columns->cells / columns->count;
}

static void
add_blanks(struct buf *line, size_t n)
{
	while (n-- > 0)
		buf_add(line, " ", 1);
}

/*
 * Cut a line to a number of characters; what is missing shows as "...". Only the last
 * column may lose some of its text: where it has too little room the line stays long.
 */
static void
cut(struct buf *line, size_t last_begin, size_t width)
{
	size_t i, seen = 0;

	if (last_begin + LAST_MIN > width || text_width(line->data) <= width)
		return;
	for (i = 0; i < line->len; i++) {
		seen += ((unsigned char)line->data[i] & 0xc0) != 0x80;
		if (seen > width - 3)
			break;
	}
	line->len = i;
	buf_puts(line, "...");
}

/* One line; cells of the row follow each other, each behind the NUL of the last. */
static const char *
print_row(const struct columns *columns, const char *cell, struct out *out)
{
	struct buf line = { 0 };
	size_t i, pad, begin = 0;

	for (i = 0; i < columns->count; i++) {
		begin = text_width(buf_text(&line));
		pad = columns->widths[i] - text_width(cell);
		if (columns->specs[i].is_right)
			add_blanks(&line, pad);
		buf_puts(&line, cell);
		if (i + 1 < columns->count)
			add_blanks(&line, GAP + (columns->specs[i].is_right ? 0 : pad));
		cell += strlen(cell) + 1;
	}
	if (out->is_terminal)
		cut(&line, begin, out->width);
	buf_add(&out->buf, line.data, line.len);
	buf_puts(&out->buf, "\n");
	buf_free(&line);
	return cell;
}

static void
print_titles(const struct columns *columns, struct out *out)
{
	struct buf cells = { 0 };
	size_t i;

	for (i = 0; i < columns->count; i++)
		buf_add(&cells, columns->specs[i].title,
		    strlen(columns->specs[i].title) + 1);
	out_style(out, OUT_BOLD);
	(void)print_row(columns, cells.data, out);
	out_style(out, OUT_PLAIN);
	buf_free(&cells);
}

void
columns_print(struct columns *columns, struct out *out, bool titles)
{
	const char *cell = buf_text(&columns->text);
	size_t row;

	if (titles)
		print_titles(columns, out);
	for (row = 0; row < columns_rows(columns); row++)
		cell = print_row(columns, cell, out);
	buf_clear(&columns->text);
	columns->cells = 0;
}
