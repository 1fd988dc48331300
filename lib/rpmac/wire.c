/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines to the daemon and from it, with the descriptors that come beside one. */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/rpmac/impl.h"

#define FIRST_SIZE 1024u /* of the buffer for replies */

uint64_t
rpmac_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Wait until the socket is ready. return   0; -ETIMEDOUT */
static int
await(const struct rpmac *rpmac, short events, uint64_t end_ms)
{
	struct pollfd pfd = { .fd = rpmac->fd, .events = events };
	uint64_t now_ms;
	int left;

	for (;;) {
		now_ms = rpmac_now_ms();
		left = now_ms >= end_ms
		    ? 0
		    : (int)(end_ms - now_ms < INT_MAX ? end_ms - now_ms : INT_MAX);
		if (poll(&pfd, 1, left) > 0)
			return 0;
		if (left == 0)
			return -ETIMEDOUT;
	}
}

static int
send_all(struct rpmac *rpmac, const char *line, uint64_t end_ms)
{
	size_t left = strlen(line);
	ssize_t n;

	while (left > 0) {
		n = send(rpmac->fd, line, left, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0) {
			line += n;
			left -= (size_t)n;
		} else if (errno != EINTR && errno != EAGAIN) {
			return rpmac_fail_lost(rpmac);
		} else if (errno == EAGAIN && await(rpmac, POLLOUT, end_ms) < 0) {
			return -ETIMEDOUT;
		}
	}
	return 0;
}

bool
rpmac_wire_is_up(const struct rpmac *rpmac)
{
	struct pollfd pfd = { .fd = rpmac->fd, .events = POLLRDHUP };
	int n;

	do
		n = poll(&pfd, 1, 0);
	while (n < 0 && errno == EINTR);
	return n == 0;
}

/* ---- replies ---- */

void
rpmac_wire_drop_fds(struct rpmac *rpmac)
{
	while (rpmac->fd_count > 0)
		(void)close(rpmac->fds[--rpmac->fd_count]);
}

/* Keep the descriptors that came with a reply, and no more than it may have. */
static void
take_fds(struct rpmac *rpmac, struct msghdr *msg)
{
	struct cmsghdr *cmsg;
	size_t i, count;
	int fd;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg; cmsg = CMSG_NXTHDR(msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(fd);
		for (i = 0; i < count; i++) {
			memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(fd), sizeof(fd));
			if (rpmac->fd_count < RPMAC_FDS_MAX)
				rpmac->fds[rpmac->fd_count++] = fd;
			else
				(void)close(fd);
		}
	}
}

static int
grow(struct rpmac *rpmac)
{
	const size_t size = rpmac->in_size ? rpmac->in_size * 2 : FIRST_SIZE;
	char *grown;

	if (size > RPMAC_LINE_MAX)
		return rpmac_fail_protocol(rpmac, "a line without end");
	grown = realloc(rpmac->in, size);
	if (!grown)
		return rpmac_fail_memory(rpmac);
	rpmac->in = grown;
	rpmac->in_size = size;
	return 0;
}

/* Read what is there behind what was read. return   0; -EAGAIN; others */
static int
read_some(struct rpmac *rpmac)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
	struct iovec iov;
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control) };
	ssize_t n;
	int rc;

	if (rpmac->in_size - rpmac->in_len < 2) {
		rc = grow(rpmac);
		if (rc < 0)
			return rc;
	}
	iov.iov_base = rpmac->in + rpmac->in_len;
	iov.iov_len = rpmac->in_size - rpmac->in_len - 1;
	do
		n = recvmsg(rpmac->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return -EAGAIN;
	if (n <= 0)
		return rpmac_fail_lost(rpmac);
	take_fds(rpmac, &msg);
	rpmac->in_len += (size_t)n;
	return 0;
}

/* Read a line; its length without its end. return   0; negative errno */
static int
read_line(struct rpmac *rpmac, uint64_t end_ms, size_t *len)
{
	const char *end;
	int rc;

	for (;;) {
		end = rpmac->in_len > 0 ? memchr(rpmac->in, '\n', rpmac->in_len) : NULL;
		if (end) {
			*len = (size_t)(end - rpmac->in);
			return 0;
		}
		rc = read_some(rpmac);
		if (rc == -EAGAIN)
			rc = await(rpmac, POLLIN, end_ms);
		if (rc < 0)
			return rc;
	}
}

int
rpmac_wire_call(struct rpmac *rpmac, enum request request, const char *line,
    uint64_t end_ms)
{
	size_t len = 0;
	int rc = send_all(rpmac, line, end_ms);

	if (rc == 0)
		rc = read_line(rpmac, end_ms, &len);
	if (rc == -ETIMEDOUT) {
		rpmac_hang_up(rpmac);
		return rpmac_fail_slow(rpmac);
	}
	if (rc < 0)
		return rc;
	rpmac->waits_for = request;
	rc = rpmac_reply(rpmac, rpmac->in, len);
	if (rpmac->fd < 0)
		return rc;
	/* Nothing else comes that was not asked for. */
	if (rpmac->in_len != len + 1)
		return rpmac_fail_protocol(rpmac, "more than one answer");
	rpmac->in_len = 0;
	return rc;
}
