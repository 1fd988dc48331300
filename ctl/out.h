/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output: gathered, then written as a whole and checked. */
#ifndef RPMAD_CTL_OUT_H
#define RPMAD_CTL_OUT_H

#include <stdbool.h>

#include "ctl/buf.h"
#include "lib/core/err.h"

struct json_t;

struct out {
	struct buf buf; /* what was not written yet */
	int fd;
	int interrupt_fd;   /* ends a write that blocks; -1: none. Borrowed. */
	bool is_json;       /* results as one line of JSON */
	bool is_held;       /* what is gathered is kept, for whoever asks for it */
	bool is_coloured;   /* they may see colours */
	bool is_terminal;   /* people read it: headings, lines cut to its width */
	unsigned int width; /* columns of the terminal; 0: unknown */
};

/* Standard output as it is. */
void out_init(struct out *out);
void out_fini(struct out *out);

/* What comes next is to look so; nothing where there are no colours. */
#define OUT_BOLD    "\033[1m"
#define OUT_WARNING "\033[33m"
#define OUT_PLAIN   "\033[0m"
void out_style(struct out *out, const char *style);

/* Add a value as one compact line of ASCII, members in their order. */
void out_json(struct out *out, const struct json_t *value);

/*
 * Write all that was gathered.
 * return   0; -EIO with err: closed, full, or gone; -EINTR an interrupt came while the
 *          reader took nothing. What was gathered is dropped in each case.
 */
RPMAD_MUST_USE int out_flush(struct out *out, struct err *err);

/* The error of a reader that went away while nothing was to be written. return   -EPIPE */
int out_reader_gone(struct err *err);

#endif
