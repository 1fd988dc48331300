/* SPDX-License-Identifier: BSD-3-Clause */
/* A server of canned replies, in a process of its own, and the memory that it passes. */
#include <config.h>

#include "tests/unit/hostile_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

#define FDS_MAX 3

const struct step hostile_good[] = { { GOOD_MAP, GIFT_POOL }, { GOOD_RING, GIFT_RING },
	{ NULL, GIFT_NONE } };

static void
make_ring(struct hostile *hostile, bool is_sealed)
{
	hostile->ring_fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ck_assert_int_eq(ftruncate(hostile->ring_fd, HOSTILE_RING_BYTES), 0);
	if (is_sealed)
		ck_assert_int_eq(fcntl(hostile->ring_fd, F_ADD_SEALS, F_SEAL_SHRINK),
		    0);
	hostile->ring = mmap(NULL, HOSTILE_RING_BYTES, PROT_READ | PROT_WRITE,
	    MAP_SHARED, hostile->ring_fd, 0);
	ck_assert_ptr_ne(hostile->ring, MAP_FAILED);
	memcpy(hostile->ring->magic, RING_MAGIC, sizeof(hostile->ring->magic));
	hostile->ring->version = RING_VERSION;
	hostile->ring->entries = HOSTILE_ENTRIES;
	hostile->ring->answers = HOSTILE_ANSWERS;
	hostile->entries = (void *)((char *)hostile->ring + RING_HEADER_BYTES);
	hostile->answers = (void *)(hostile->entries + HOSTILE_ENTRIES);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
			     hostile->bells),
	    0);
}

static void
drop_ring(const struct hostile *hostile)
{
	(void)munmap(hostile->ring, HOSTILE_RING_BYTES);
	(void)close(hostile->ring_fd);
	(void)close(hostile->bells[0]);
	(void)close(hostile->bells[1]);
}

void
hostile_new_ring(struct hostile *hostile, bool is_sealed)
{
	drop_ring(hostile);
	make_ring(hostile, is_sealed);
}

void
hostile_start(struct hostile *hostile)
{
	(void)snprintf(hostile->dir, sizeof(hostile->dir), "/tmp/rpmac_hostile.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(hostile->dir));
	(void)snprintf(hostile->path, sizeof(hostile->path), "%s/sock", hostile->dir);
	hostile->rpmac = rpmac_new();
	ck_assert_ptr_nonnull(hostile->rpmac);
	make_ring(hostile, true);
}

void
hostile_end(struct hostile *hostile)
{
	rpmac_close(&hostile->rpmac);
	drop_ring(hostile);
	ck_assert_int_eq(rmdir(hostile->dir), 0);
}

/* ---- the other end, in a process of its own ---- */

static int
memory(bool is_sealed)
{
	int fd = memfd_create("pool", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (ftruncate(fd, HOSTILE_POOL_BYTES) != 0 ||
	    pwrite(fd, "last", 4, HOSTILE_POOL_BYTES - 4) != 4 ||
	    (is_sealed &&
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0))
		_exit(3);
	return fd;
}

static size_t
make_gift(const struct hostile *hostile, enum gift gift, int fds[FDS_MAX])
{
	int i, ends[2];

	switch (gift) {
	case GIFT_NONE:
		return 0;
	case GIFT_RING:
	case GIFT_RING_ONLY:
		fds[0] = hostile->ring_fd;
		fds[1] = hostile->bells[1];
		return gift == GIFT_RING ? 2 : 1;
	case GIFT_RING_POOL:
		fds[0] = memory(true);
		fds[1] = hostile->bells[1];
		return 2;
	case GIFT_POOL:
	case GIFT_UNSEALED:
		fds[0] = memory(gift == GIFT_POOL);
		return 1;
	case GIFT_MANY:
		for (i = 0; i < FDS_MAX; i++)
			fds[i] = memory(i == 0);
		return FDS_MAX;
	case GIFT_PIPE:
		if (pipe(ends) != 0)
			_exit(3);
		fds[0] = ends[0];
		return 1;
	case GIFT_ZERO:
		fds[0] = open("/dev/zero", O_RDONLY | O_CLOEXEC);
		return 1;
	}
	return 0;
}

static void
give(int to, const char *text, const int *fds, size_t fd_count)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FDS_MAX * sizeof(int))] = {
		0
	};
	struct iovec iov = { (void *)(uintptr_t)text, 1 };
	struct msghdr header = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *part;
	size_t len = strlen(text), done = 1;
	ssize_t n;

	if (fd_count > 0) {
		header.msg_control = control;
		header.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		part = CMSG_FIRSTHDR(&header);
		part->cmsg_level = SOL_SOCKET;
		part->cmsg_type = SCM_RIGHTS;
		part->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(part), fds, fd_count * sizeof(int));
	}
	if (sendmsg(to, &header, MSG_NOSIGNAL) != 1)
		_exit(3);
	for (; done < len; done += (size_t)n) {
		n = send(to, text + done, len - done, MSG_NOSIGNAL);
		if (n < 0)
			_exit(0);
	}
}

/* Answer each line with the next step; then read until the end. */
static void
serve(const struct hostile *hostile, int listener, const struct step *steps)
{
	int fd = accept(listener, NULL, NULL), fds[FDS_MAX];
	size_t count;
	char c;

	(void)close(listener);
	while (read(fd, &c, 1) == 1) {
		if (c != '\n')
			continue;
		if (!steps->reply)
			_exit(0);
		count = make_gift(hostile, steps->gift, fds);
		if (steps->reply[0] != '\0')
			give(fd, steps->reply, fds, count);
		/* What the daemon's may not do either. */
		if (steps->gift == GIFT_POOL &&
		    (ftruncate(fds[0], 0) == 0 || errno != EPERM))
			_exit(3);
		steps++;
	}
	_exit(0);
}

void
hostile_serve(struct hostile *hostile, const struct step *steps)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", hostile->path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	hostile->server = fork();
	ck_assert_int_ge(hostile->server, 0);
	if (hostile->server == 0)
		serve(hostile, fd, steps);
	(void)close(fd);
}

void
hostile_stop(struct hostile *hostile)
{
	int status;

	rpmac_close(&hostile->rpmac);
	ck_assert_int_eq(waitpid(hostile->server, &status, 0), hostile->server);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(unlink(hostile->path), 0);
}
