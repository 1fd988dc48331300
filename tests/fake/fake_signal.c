/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_signal.c: descriptors that are readable while something waits. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/fake/fake_impl.h"

void
fake_signal_init(struct fake_signal *signal)
{
	signal->raised = false;
	signal->fd = eventfd(0, EFD_CLOEXEC);
	if (signal->fd < 0)
		abort();
}

void
fake_signal_close(struct fake_signal *signal)
{
	if (signal->fd >= 0)
		close(signal->fd);
	signal->fd = -1;
}

/* The flags are the user's, so a read must not find the counter at zero: raised tells.
 */
void
fake_signal_set(struct fake_signal *signal, bool raised)
{
	int saved = errno;
	uint64_t value = 1;

	if (signal->raised != raised) {
		signal->raised = raised;
		if (raised && write(signal->fd, &value, sizeof(value)) < 0)
			fake_blame("descriptor %d was closed behind its owner",
			    signal->fd);
		if (!raised && read(signal->fd, &value, sizeof(value)) < 0)
			fake_blame("descriptor %d was closed behind its owner",
			    signal->fd);
	}
	errno = saved;
}

int
fake_signal_wait(struct fake_signal *signal, const char *who)
{
	unsigned limit_ms = fake_get()->wire ? 0 : fake_get()->options.block_limit_ms;
	struct pollfd pfd = { .fd = signal->fd, .events = POLLIN };
	int flags = fcntl(signal->fd, F_GETFL);
	int n;

	if (flags < 0)
		return EBADF;
	if (flags & O_NONBLOCK)
		return EAGAIN;
	fake_unlock();
	n = poll(&pfd, 1, limit_ms ? (int)limit_ms : -1);
	fake_lock();
	if (n > 0)
		return 0;
	if (n < 0)
		return EINTR;
	fake_blame("%s blocks for ever", who);
	return ETIMEDOUT;
}
