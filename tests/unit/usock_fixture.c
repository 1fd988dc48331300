/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder, sockets and children for the tests of usock. */
#include <config.h>

#include "tests/unit/usock_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

#include "lib/core/usock.h"

char folder[64];
char path[96];
char lock_path[104];

void
usock_setup(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/check_usock.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/d.sock", folder);
	(void)snprintf(lock_path, sizeof(lock_path), "%s.lock", path);
}

void
usock_teardown(void)
{
	(void)unlink(path);
	(void)unlink(lock_path);
	(void)rmdir(lock_path);
	(void)rmdir(folder);
}

mode_t
mode_of(const char *name)
{
	struct stat st;

	ck_assert_int_eq(lstat(name, &st), 0);
	return st.st_mode & 07777;
}

bool
exists(const char *name)
{
	struct stat st;

	return lstat(name, &st) == 0;
}

static struct sockaddr_un
address(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	return addr;
}

/* A socket as other programs make one: bound, and with no lock. */
int
bare_listener(int backlog)
{
	struct sockaddr_un addr = address();
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0 ||
	    listen(fd, backlog) != 0)
		return -1;
	return fd;
}

int
connect_now(struct err *err)
{
	return usock_connect(path, usock_now_ms() + 1000, err);
}

/* Run body(ready_fd) in a child, which tells by a byte that it is ready. */
pid_t
child_that(void (*body)(int ready_fd))
{
	int fds[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)close(fds[0]);
		body(fds[1]);
		_exit(0);
	}
	(void)close(fds[1]);
	ck_assert_int_eq(read(fds[0], &byte, 1), 1);
	(void)close(fds[0]);
	return pid;
}

int
end_child(pid_t pid, int signal_number)
{
	int status = 0;

	if (signal_number != 0)
		ck_assert_int_eq(kill(pid, signal_number), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

void
tell(int fd)
{
	if (write(fd, "x", 1) != 1)
		_exit(9);
}
