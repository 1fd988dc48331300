/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGINT and SIGTERM through signalfd(2): no handler, no state. */
#include <config.h>

#include "ctl/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "lib/core/compiler.h"

/* Block signals and give them a descriptor. */
static int
open_signals(const sigset_t *set, struct err *err)
{
	int fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);

	if (fd < 0)
		return err_set(err, ERR_INTERNAL_ERROR, errno,
		    "cannot watch for signals");
	(void)sigprocmask(SIG_BLOCK, set, NULL);
	return fd;
}

/* The same for those of a list that are not ignored. */
static int
open_unless_ignored(const int *signals, size_t count, struct err *err)
{
	struct sigaction action;
	sigset_t set;
	size_t i;

	(void)sigemptyset(&set);
	for (i = 0; i < count; i++)
		if (sigaction(signals[i], NULL, &action) == 0 &&
		    action.sa_handler != SIG_IGN)
			(void)sigaddset(&set, signals[i]);
	return open_signals(&set, err);
}

int
interrupt_open(struct err *err)
{
	static const int signals[] = { SIGINT, SIGTERM };

	return open_unless_ignored(signals, ARRAY_LEN(signals), err);
}

int
interrupt_open_terminal(struct err *err)
{
	static const int signals[] = { SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH };

	return open_unless_ignored(signals, ARRAY_LEN(signals), err);
}

int
interrupt_open_children(struct err *err)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)signal(SIGCHLD, SIG_DFL);
	return open_signals(&set, err);
}

int
interrupt_take_signal(int fd)
{
	struct signalfd_siginfo info;

	return fd >= 0 && read(fd, &info, sizeof(info)) > 0 ? (int)info.ssi_signo : 0;
}

bool
interrupt_take(int fd)
{
	return interrupt_take_signal(fd) != 0;
}

bool
interrupt_is_pending(int fd)
{
	struct pollfd watched = { .fd = fd, .events = POLLIN };

	return poll(&watched, 1, 0) > 0 && (watched.revents & POLLIN);
}

int
interrupt_wait(int interrupt_fd, int fd, short events)
{
	struct pollfd fds[] = {
		{ .fd = fd, .events = events },
		{ .fd = interrupt_fd, .events = POLLIN },
	};

	for (;;) {
		if (poll(fds, ARRAY_LEN(fds), -1) < 0 && errno != EINTR)
			return 0; /* the read or write that follows tells why */
		if (fds[1].revents & POLLIN)
			return -EINTR;
		if (fds[0].revents)
			return 0;
	}
}

int
interrupt_pause(int interrupt_fd, int output_fd, int pause_ms)
{
	struct pollfd watched[] = {
		{ .fd = interrupt_fd, .events = POLLIN },
		{ .fd = output_fd },
	};

	if (poll(watched, ARRAY_LEN(watched), pause_ms) <= 0)
		return 0;
	return watched[0].revents ? -EINTR : -EPIPE;
}
