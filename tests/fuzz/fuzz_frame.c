/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Framing against a model that sees the whole stream at once. The first byte is the
 * limit, the second the size of the pieces, the rest is the stream.
 */
#include <config.h>

#include <stdbool.h>
#include <string.h>

#include "lib/core/frame.h"
#include "tests/fuzz/fuzz.h"

/* Where the model is in the stream. */
struct model {
	const uint8_t *data;
	size_t size;
	size_t at;
	size_t limit;
};

/* The model's next line that is not empty; false: there is none. */
static bool
model_next(struct model *model, const uint8_t **line, size_t *len)
{
	const uint8_t *newline;
	size_t rest;

	while (model->at < model->size) {
		rest = model->size - model->at;
		*line = model->data + model->at;
		newline = memchr(*line, '\n', rest);
		*len = newline ? (size_t)(newline - *line) : rest;
		model->at += *len + (newline ? 1 : 0);
		if (*len > 0 && (*line)[*len - 1] == '\r')
			(*len)--;
		if (*len > 0)
			return true;
	}
	return false;
}

/* The frame says result; the model must say the same. */
static void
compare(struct model *model, enum frame_result result, const char *line, size_t len)
{
	const uint8_t *expected;
	size_t expected_len;

	FUZZ_CHECK(model_next(model, &expected, &expected_len));
	if (result == FRAME_TOO_LARGE) {
		FUZZ_CHECK(expected_len > model->limit);
		FUZZ_CHECK(len > model->limit);
		return;
	}
	FUZZ_CHECK(result == FRAME_LINE);
	FUZZ_CHECK(len == expected_len && len <= model->limit);
	FUZZ_CHECK(memcmp(line, expected, len) == 0);
	FUZZ_CHECK(line[len] == '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct model model = { 0 };
	const uint8_t *left;
	enum frame_result result;
	struct frame *frame;
	size_t at, n, piece, len = 0;
	char *line = NULL;

	if (size < 2)
		return 0;
	model = (struct model){ data + 2, size - 2, 0, data[0] };
	piece = data[1] > 0 ? data[1] : 256;
	if (frame_new(model.limit, &frame) != 0)
		return 0;
	for (at = 0; at < model.size; at += n) {
		n = model.size - at < piece ? model.size - at : piece;
		FUZZ_CHECK(frame_append(frame, model.data + at, n) == 0);
		while ((result = frame_next(frame, &line, &len)) != FRAME_MORE)
			compare(&model, result, line, len);
		FUZZ_CHECK(frame_pending(frame) <= model.limit + 1);
	}
	while ((result = frame_finish(frame, &line, &len)) != FRAME_MORE)
		compare(&model, result, line, len);
	FUZZ_CHECK(!model_next(&model, &left, &len));
	FUZZ_CHECK(frame_pending(frame) == 0);
	frame_free(frame);
	return 0;
}
