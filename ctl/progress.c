/* SPDX-License-Identifier: BSD-3-Clause */
/* One line of the terminal. */
#include <config.h>

#include "ctl/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/core/text.h"
#include "lib/core/usock.h"

#define PAUSE_MS 200u

void
progress_begin(struct progress *progress, uint64_t total)
{
	*progress = (struct progress){
		.is_shown = isatty(STDERR_FILENO) == 1,
		.total = total,
	};
}

void
progress_show(struct progress *progress, uint64_t bytes, uint64_t messages)
{
	uint64_t now = usock_now_ms();

	if (!progress->is_shown || now < progress->next_ms)
		return;
	progress->next_ms = now + PAUSE_MS;
	progress->is_on_line = true;
	if (progress->total >= bytes && progress->total > 0)
		(void)fprintf(stderr,
		    "\r%" PRIu64 " of %" PRIu64 " bytes (%u %%) in %" PRIu64
		    " message%s\033[K",
		    bytes, progress->total,
		    (unsigned int)(100.0 * (double)bytes / (double)progress->total),
		    messages, text_plural(messages));
	else
		(void)fprintf(stderr,
		    "\r%" PRIu64 " bytes in %" PRIu64 " message%s\033[K", bytes,
		    messages, text_plural(messages));
}

void
progress_end(struct progress *progress)
{
	if (progress->is_on_line)
		(void)fputs("\r\033[K", stderr);
	progress->is_on_line = false;
}
