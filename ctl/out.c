/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output with every write checked. */
#include <config.h>

#include "ctl/out.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <jansson.h>

#include "ctl/interrupt.h"
#include "ctl/must.h"

/* https://no-color.org: set to anything but nothing it forbids colours. */
static bool
may_colour(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return (!no_color || no_color[0] == '\0') && term && strcmp(term, "dumb") != 0;
}

void
out_style(struct out *out, const char *style)
{
	if (out->is_coloured)
		buf_puts(&out->buf, style);
}

void
out_init(struct out *out)
{
	struct winsize size = { 0 };

	memset(out, 0, sizeof(*out));
	out->fd = STDOUT_FILENO;
	out->interrupt_fd = -1;
	out->is_terminal = isatty(out->fd) == 1;
	out->is_coloured = out->is_terminal && may_colour();
	if (out->is_terminal && ioctl(out->fd, TIOCGWINSZ, &size) == 0)
		out->width = size.ws_col;
}

void
out_fini(struct out *out)
{
	buf_free(&out->buf);
}

void
out_json(struct out *out, const struct json_t *value)
{
	char *text =
	    must(json_dumps(value, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY));

	buf_puts(&out->buf, text);
	buf_puts(&out->buf, "\n");
	free(text);
}

/*
 * Write some. With interrupts watched, pieces are of a size that a pipe which poll(2)
 * calls writable takes without blocking.
 */
static ssize_t
write_some(const struct out *out, const char *data, size_t len)
{
	ssize_t n;

	if (out->interrupt_fd >= 0) {
		if (interrupt_wait(out->interrupt_fd, out->fd, POLLOUT) != 0)
			return -EINTR;
		if (len > PIPE_BUF)
			len = PIPE_BUF;
	}
	n = write(out->fd, data, len);
	if (n >= 0)
		return n;
	if (errno == EINTR)
		return 0;
	if (errno == EAGAIN)
		return interrupt_wait(out->interrupt_fd, out->fd, POLLOUT);
	return -errno;
}

int
out_flush(struct out *out, struct err *err)
{
	char text[128];
	size_t done = 0;
	ssize_t n = 0;

	if (out->is_held)
		return 0;
	while (done < out->buf.len && n >= 0) {
		n = write_some(out, out->buf.data + done, out->buf.len - done);
		if (n > 0)
			done += (size_t)n;
	}
	buf_clear(&out->buf);
	if (n >= 0)
		return 0;
	if (n == -EINTR)
		return -EINTR;
	(void)err_set(err, ERR_INTERNAL_ERROR, (int)-n,
	    "cannot write to standard output: %s",
	    err_errno_text((int)-n, text, sizeof(text)));
	return -EIO;
}

int
out_reader_gone(struct err *err)
{
	(void)err_set(err, ERR_INTERNAL_ERROR, EPIPE,
	    "nobody reads standard output any more");
	return -EPIPE;
}
