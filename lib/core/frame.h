/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines out of a stream of bytes, with a limit; no I/O. */
#ifndef RPMAD_LIB_CORE_FRAME_H
#define RPMAD_LIB_CORE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "lib/core/compiler.h"

struct frame;

enum frame_result {
	FRAME_MORE, /* no complete line */
	FRAME_LINE, /* line and len: without LF and a CR before it; never empty, NUL
		       bytes inside pass through */
	FRAME_TOO_LARGE, /* a line over the limit was seen; len: its length so far. Told
			    once a line; the rest of it is skipped up to its LF */
};

/* limit: the most bytes of a line, its end (LF or CR LF) not counted. -ENOMEM. */
RPMAD_MUST_USE int frame_new(size_t limit, struct frame **out);
void frame_free(struct frame *frame);

/*
 * Add bytes. Take all lines out between two calls: then the frame holds at most the
 * limit and what one call added. return   0; -ENOMEM: none were taken
 */
RPMAD_MUST_USE int frame_append(struct frame *frame, const void *data, size_t len);

/*
 * The next line. line points into the frame and holds until the next call on it;
 * line[*len] is NUL. Empty lines are passed over.
 */
enum frame_result frame_next(struct frame *frame, char **line, size_t *len);

/* No more bytes will come: a last line without LF counts as one. As frame_next(). */
enum frame_result frame_finish(struct frame *frame, char **line, size_t *len);

/* Bytes held that no line was made of yet. */
size_t frame_pending(const struct frame *frame);

#endif
