/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines out of a stream of bytes. Each byte is searched once and moved at most once on
 * its way, so that the cost is linear whatever the pieces are.
 */
#include <config.h>

#include "lib/core/frame.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KEEP_MAX 65536u /* an empty buffer larger than this is given back */

struct frame {
	size_t limit;
	char *buf;     /* bytes start .. end are held; buf[end] is inside too */
	size_t size;   /* of buf */
	size_t start;  /* of the first line that was not handed out */
	size_t search; /* where the search for LF goes on, start .. end */
	size_t end;
	bool skipping; /* the rest of a line that was too large */
};

int
frame_new(size_t limit, struct frame **out)
{
	struct frame *frame = calloc(1, sizeof(*frame));

	if (!frame)
		return -ENOMEM;
	/* No sum of sizes below overflows with this much. */
	frame->limit = limit < SIZE_MAX / 4 ? limit : SIZE_MAX / 4;
	*out = frame;
	return 0;
}

void
frame_free(struct frame *frame)
{
	if (!frame)
		return;
	free(frame->buf);
	free(frame);
}

/* Move the held bytes to the front. */
static void
compact(struct frame *frame)
{
	if (frame->start == 0)
		return;
	memmove(frame->buf, frame->buf + frame->start, frame->end - frame->start);
	frame->search -= frame->start;
	frame->end -= frame->start;
	frame->start = 0;
}

int
frame_append(struct frame *frame, const void *data, size_t len)
{
	size_t held = frame->end - frame->start, need, size;
	char *buf;

	if (len == 0)
		return 0;
	/* Moving less than was handed out since the last move keeps the sum linear. */
	if (len >= frame->size - frame->end && held <= frame->start)
		compact(frame);
	if (len >= frame->size - frame->end) {
		if (len > SIZE_MAX / 2 - frame->end)
			return -ENOMEM;
		need = frame->end + len + 1;
		/* A caller who takes all lines out needs no more than a line's room. */
		size = frame->size * 2;
		if (held <= frame->limit + 1 && size > frame->limit)
			size = frame->limit + 2;
		if (size < need)
			size = need;
		buf = realloc(frame->buf, size);
		if (!buf)
			return -ENOMEM;
		frame->buf = buf;
		frame->size = size;
	}
	memcpy(frame->buf + frame->end, data, len);
	frame->end += len;
	return 0;
}

/* All was handed out or dropped: begin at the front again. */
static void
reset(struct frame *frame)
{
	frame->start = 0;
	frame->search = 0;
	frame->end = 0;
	if (frame->size > KEEP_MAX) {
		free(frame->buf);
		frame->buf = NULL;
		frame->size = 0;
	}
}

/*
 * Hand out the line that begins at start and ends before stop; next is where the one
 * after it begins. return   FRAME_MORE: it was empty
 */
static enum frame_result
take(struct frame *frame, size_t stop, size_t next, char **line, size_t *len)
{
	char *begin = frame->buf + frame->start;
	size_t n = stop - frame->start;

	frame->start = next;
	frame->search = next;
	if (n > 0 && begin[n - 1] == '\r')
		n--;
	if (n == 0)
		return FRAME_MORE;
	*len = n;
	if (n > frame->limit)
		return FRAME_TOO_LARGE;
	begin[n] = '\0';
	*line = begin;
	return FRAME_LINE;
}

/* Whether the line that has no end yet is over the limit already; CR may be its end. */
static bool
is_over(const struct frame *frame)
{
	size_t held = frame->end - frame->start;

	if (held > 0 && frame->buf[frame->end - 1] == '\r')
		held--;
	return held > frame->limit;
}

enum frame_result
frame_next(struct frame *frame, char **line, size_t *len)
{
	enum frame_result result;
	const char *newline;
	size_t stop;

	while (frame->search < frame->end) {
		newline = memchr(frame->buf + frame->search, '\n',
		    frame->end - frame->search);
		if (!newline) {
			frame->search = frame->end;
			break;
		}
		stop = (size_t)(newline - frame->buf);
		if (frame->skipping) {
			frame->skipping = false;
			frame->start = stop + 1;
			frame->search = stop + 1;
			continue;
		}
		result = take(frame, stop, stop + 1, line, len);
		if (result != FRAME_MORE)
			return result;
	}
	if (frame->skipping) {
		reset(frame);
	} else if (is_over(frame)) {
		*len = frame->end - frame->start;
		frame->skipping = true;
		reset(frame);
		return FRAME_TOO_LARGE;
	} else if (frame->start == frame->end) {
		reset(frame);
	} else {
		compact(frame);
	}
	return FRAME_MORE;
}

enum frame_result
frame_finish(struct frame *frame, char **line, size_t *len)
{
	enum frame_result result = frame_next(frame, line, len);

	if (result != FRAME_MORE || frame->start == frame->end)
		return result;
	return take(frame, frame->end, frame->end, line, len);
}

size_t
frame_pending(const struct frame *frame)
{
	return frame->skipping ? 0 : frame->end - frame->start;
}
