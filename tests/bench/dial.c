/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection to a socket in the file system. */
#include "tests/bench/dial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int
dial(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = -1;

	errno = ENAMETOOLONG;
	if (strlen(path) < sizeof(address.sun_path)) {
		memcpy(address.sun_path, path, strlen(path) + 1);
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	}
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	exit(1);
}
