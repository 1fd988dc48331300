/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a message comes from: a text, a file, or standard input. */
#ifndef RPMAD_CTL_SOURCE_H
#define RPMAD_CTL_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/core/compiler.h"
#include "lib/core/err.h"

struct source {
	const char *text; /* what is left of a text, borrowed; NULL: a descriptor */
	size_t text_len;
	int fd;
};

/* How many bytes it holds; 0: that shows at its end. */
uint64_t source_size(const struct source *source);

/* text NULL: the file of that name; NULL or "-": standard input. return 0; -EINVAL */
RPMAD_MUST_USE int source_open(struct source *out, const char *text, size_t text_len,
    const char *file, struct err *err);
void source_close(struct source *source);

/*
 * Read until max bytes are there or the end is reached.
 *
 * interrupt_fd  see interrupt.h; -1: none
 * data          room for max bytes
 * len           less than max only at the end
 * return        0; -EIO with err; -EINTR
 */
RPMAD_MUST_USE int source_read(struct source *source, int interrupt_fd, char *data,
    size_t max, size_t *len, struct err *err);

#endif
