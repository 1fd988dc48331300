/* SPDX-License-Identifier: BSD-3-Clause */
/* The store of descriptors as the manager's manual pages describe it. */
#include <config.h>

#include "tests/unit/manager_rig.h"

#include <check.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void
manager_start(struct manager *manager)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(addr);
	char path[sizeof(addr.sun_path) + 1] = "@";

	memset(manager, 0, sizeof(*manager));
	manager->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* A name of the kernel's choice, in the abstract namespace. */
	ck_assert_int_eq(bind(manager->socket, (struct sockaddr *)&addr,
			     sizeof(sa_family_t)),
	    0);
	ck_assert_int_eq(getsockname(manager->socket, (struct sockaddr *)&addr, &len),
	    0);
	memcpy(path + 1, addr.sun_path + 1,
	    len - offsetof(struct sockaddr_un, sun_path) - 1);
	ck_assert_int_eq(setenv("NOTIFY_SOCKET", path, 1), 0);
}

void
manager_end(struct manager *manager)
{
	while (manager->count > 0)
		(void)close(manager->kept[--manager->count].fd);
	(void)close(manager->socket);
	(void)unsetenv("NOTIFY_SOCKET");
}

/* Whether both stand for one open file: they share its flags then. */
static bool
is_same(int fd, int other)
{
	int flags = fcntl(fd, F_GETFL);
	bool is_shared;

	ck_assert_int_eq(fcntl(other, F_GETFL) & O_NONBLOCK, 0);
	ck_assert_int_eq(fcntl(fd, F_SETFL, flags | O_NONBLOCK), 0);
	is_shared = (fcntl(other, F_GETFL) & O_NONBLOCK) != 0;
	ck_assert_int_eq(fcntl(fd, F_SETFL, flags), 0);
	return is_shared;
}

static bool
has(const struct manager *manager, int fd)
{
	size_t i;

	for (i = 0; i < manager->count; i++)
		if (is_same(fd, manager->kept[i].fd))
			return true;
	return false;
}

static void
keep(struct manager *manager, int fd, const char *name)
{
	if (has(manager, fd) || manager->count == MANAGER_KEPT_MAX) {
		manager->refused += !has(manager, fd);
		(void)close(fd);
		return;
	}
	manager->kept[manager->count].fd = fd;
	(void)snprintf(manager->kept[manager->count].name, NOTIFY_NAME_MAX, "%s", name);
	manager->count++;
}

static void
unkeep(struct manager *manager, const char *name)
{
	size_t i = 0;

	while (i < manager->count) {
		if (strcmp(manager->kept[i].name, name) != 0) {
			i++;
			continue;
		}
		(void)close(manager->kept[i].fd);
		manager->kept[i] = manager->kept[--manager->count];
	}
}

/* The value of a variable in a message; "": it is not there. */
static const char *
variable(const char *message, const char *name, char value[NOTIFY_NAME_MAX])
{
	const char *at = strstr(message, name);

	value[0] = '\0';
	if (at)
		(void)snprintf(value, NOTIFY_NAME_MAX, "%.*s",
		    (int)strcspn(at + strlen(name), "\n"), at + strlen(name));
	return value;
}

static void
serve(struct manager *manager, const char *message, struct msghdr *header)
{
	char name[NOTIFY_NAME_MAX], yes[NOTIFY_NAME_MAX];
	struct cmsghdr *part;
	size_t i;

	(void)variable(message, "FDNAME=", name);
	if (strcmp(variable(message, "FDSTOREREMOVE=", yes), "1") == 0)
		unkeep(manager, name);
	for (part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
		if (part->cmsg_type != SCM_RIGHTS)
			continue;
		ck_assert_str_eq(variable(message, "FDSTORE=", yes), "1");
		ck_assert_uint_gt(strlen(name), 0);
		for (i = 0; i < (part->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(fd));
			keep(manager, fd, name);
		}
	}
}

void
manager_read(struct manager *manager)
{
	char message[512], control[CMSG_SPACE(16 * sizeof(int)) + 64];
	struct iovec text = { .iov_base = message, .iov_len = sizeof(message) - 1 };
	ssize_t n;

	for (;;) {
		struct msghdr header = { .msg_iov = &text,
			.msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control) };

		n = recvmsg(manager->socket, &header, MSG_CMSG_CLOEXEC);
		if (n < 0)
			return;
		message[n] = '\0';
		ck_assert_int_eq(header.msg_flags & (MSG_TRUNC | MSG_CTRUNC), 0);
		serve(manager, message, &header);
	}
}

void
manager_hand_over(struct manager *manager, struct notify_fds *out)
{
	size_t i;

	manager_read(manager);
	memset(out, 0, sizeof(*out));
	out->socket = -1;
	for (i = 0; i < manager->count; i++) {
		out->kept[i].fd = fcntl(manager->kept[i].fd, F_DUPFD_CLOEXEC, 0);
		ck_assert_int_ge(out->kept[i].fd, 0);
		memcpy(out->kept[i].name, manager->kept[i].name, NOTIFY_NAME_MAX);
	}
	out->kept_count = manager->count;
}

size_t
manager_count(const struct manager *manager, const char *prefix)
{
	size_t count = 0, i;

	for (i = 0; i < manager->count; i++)
		count += strncmp(manager->kept[i].name, prefix, strlen(prefix)) == 0;
	return count;
}

int
manager_fd(const struct manager *manager, const char *name, const char *memfd)
{
	char path[64], target[128], wanted[128];
	size_t i;
	ssize_t n;

	(void)snprintf(wanted, sizeof(wanted), "/memfd:%s (deleted)", memfd);
	for (i = 0; i < manager->count; i++) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d",
		    manager->kept[i].fd);
		n = readlink(path, target, sizeof(target) - 1);
		ck_assert_int_gt(n, 0);
		target[n] = '\0';
		if (strcmp(manager->kept[i].name, name) == 0 &&
		    strcmp(target, wanted) == 0)
			return manager->kept[i].fd;
	}
	return -1;
}
