/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables: cells in rows, columns as wide as they need to be. */
#ifndef RPMAD_CTL_COLUMNS_H
#define RPMAD_CTL_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/core/compiler.h"

struct columns;
struct out;

struct column {
	const char *title;
	unsigned int min_width;
	bool is_right; /* numbers stand at the right edge */
};

/* specs are borrowed. */
struct columns *columns_new(const struct column *specs, size_t count);
/* NULL is fine. */
void columns_free(struct columns *columns);

/* The next cell of the row; behind the last one begins the next row. Text is escaped,
 * so that each row is a line; "" and NULL show as "-". */
void columns_text(struct columns *columns, const char *text);
void columns_textn(struct columns *columns, const char *text, size_t len);
void columns_number(struct columns *columns, long long number);

size_t columns_rows(const struct columns *columns);

/*
 * Print the rows, with the titles or not, and forget them; widths are kept for rows to
 * come. On a terminal the last column is cut at its edge.
 */
void columns_print(struct columns *columns, struct out *out, bool titles);

#endif
