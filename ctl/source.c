/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading of what is to be sent, in pieces. */
#include <config.h>

#include "ctl/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/interrupt.h"

int
source_open(struct source *out, const char *text, size_t text_len, const char *file,
    struct err *err)
{
	char why[128];

	out->text = text;
	out->text_len = text_len;
	out->fd = STDIN_FILENO;
	if (text || !file || strcmp(file, "-") == 0)
		return 0;
	out->fd = open(file, O_RDONLY | O_CLOEXEC);
	if (out->fd >= 0)
		return 0;
	(void)err_set(err, ERR_INVALID_PARAMS, errno, "cannot open %s: %s", file,
	    err_errno_text(errno, why, sizeof(why)));
	return -EINVAL;
}

uint64_t
source_size(const struct source *source)
{
	struct stat status;

	if (source->text)
		return source->text_len;
	if (fstat(source->fd, &status) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_size <= 0)
		return 0;
	return (uint64_t)status.st_size;
}

void
source_close(struct source *source)
{
	if (source->fd > STDERR_FILENO)
		(void)close(source->fd);
}

static size_t
read_text(struct source *source, char *data, size_t max)
{
	size_t n = source->text_len < max ? source->text_len : max;

	memcpy(data, source->text, n);
	source->text += n;
	source->text_len -= n;
	return n;
}

int
source_read(struct source *source, int interrupt_fd, char *data, size_t max,
    size_t *len, struct err *err)
{
	char why[128];
	ssize_t n;

	*len = 0;
	if (source->text) {
		*len = read_text(source, data, max);
		return 0;
	}
	while (*len < max) {
		if (interrupt_wait(interrupt_fd, source->fd, POLLIN) != 0)
			return -EINTR;
		n = read(source->fd, data + *len, max - *len);
		if (n == 0)
			return 0;
		if (n > 0)
			*len += (size_t)n;
		else if (errno != EINTR && errno != EAGAIN) {
			(void)err_set(err, ERR_INTERNAL_ERROR, errno,
			    "cannot read the message: %s",
			    err_errno_text(errno, why, sizeof(why)));
			return -EIO;
		}
	}
	return 0;
}
