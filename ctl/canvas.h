/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of text that are cut at an edge, with colours or without. */
#ifndef RPMAD_CTL_CANVAS_H
#define RPMAD_CTL_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

#include "ctl/buf.h"
#include "lib/core/compiler.h"

#define CANVAS_BOLD    "\033[1m"
#define CANVAS_REVERSE "\033[7m"
#define CANVAS_RED     "\033[31m"
#define CANVAS_GREEN   "\033[32m"
#define CANVAS_YELLOW  "\033[33m"
#define CANVAS_CYAN    "\033[36m"
#define CANVAS_DIM     "\033[2m"

struct canvas {
	struct buf *buf;    /* gets the lines; borrowed */
	unsigned int width; /* characters of a line */
	bool is_utf8;       /* else what is not ASCII becomes a question mark */
	bool is_coloured;
	unsigned int column; /* of the line so far */
	unsigned int blanks; /* wanted at its end, but not written yet */
};

/* Add text that needs no escapes, or has them, as far as there is room. */
void canvas_add(struct canvas *canvas, const char *text);
/* Add our own text, as far as there is room. */
void canvas_printf(struct canvas *canvas, const char *fmt, ...) RPMAD_PRINTF(2, 3);
/* Add text of others, escaped. */
void canvas_text(struct canvas *canvas, const char *text);
/* Add a character n times. */
void canvas_repeat(struct canvas *canvas, const char *character, unsigned int n);
/* Blanks up to a column. */
void canvas_to(struct canvas *canvas, unsigned int column);

/* What comes next looks so, until NULL; nothing where there are no colours. */
void canvas_style(struct canvas *canvas, const char *style);

/* End the line. Blanks at its end are left away. */
void canvas_end(struct canvas *canvas);

/*
 * How a line could end: bytes of the first part of text that fits in width characters,
 * up to a blank where there is one.
 */
size_t canvas_break(const char *text, unsigned int width);

#endif
