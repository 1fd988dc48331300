/* SPDX-License-Identifier: BSD-3-Clause */
/* meter.c: the count of messages taken, in shared memory, and sleeping on it. */
#include "tests/bench/meter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct meter {
	_Atomic uint32_t taken;
	_Atomic uint32_t wanted; /* by who sleeps */
	_Atomic uint32_t sleeps; /* the futex: somebody does */
};

void
die(const char *what)
{
	fprintf(stderr, "bench: %s%s%s\n", what, errno ? ": " : "",
	    errno ? strerror(errno) : "");
	exit(1);
}

struct meter *
meter_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *memory;

	if (fd < 0 || ftruncate(fd, sizeof(struct meter)) != 0)
		die(path);
	memory =
	    mmap(NULL, sizeof(struct meter), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		die(path);
	(void)close(fd);
	return memory;
}

/* Whether a count is reached, in numbers that wrap. */
static int
is_reached(uint32_t taken, uint32_t wanted)
{
	return (int32_t)(taken - wanted) >= 0;
}

void
meter_add(struct meter *meter)
{
	uint32_t taken = atomic_fetch_add(&meter->taken, 1) + 1;

	if (!atomic_load(&meter->sleeps) ||
	    !is_reached(taken, atomic_load(&meter->wanted)) ||
	    !atomic_exchange(&meter->sleeps, 0))
		return;
	(void)syscall(SYS_futex, &meter->sleeps, FUTEX_WAKE, 1, NULL, NULL, 0);
}

uint32_t
meter_read(const struct meter *meter)
{
	return atomic_load(&meter->taken);
}

int
meter_wait(struct meter *meter, uint32_t count, unsigned int timeout_s)
{
	const struct timespec timeout = { .tv_sec = timeout_s };

	while (!is_reached(meter_read(meter), count)) {
		atomic_store(&meter->wanted, count);
		atomic_store(&meter->sleeps, 1);
		if (is_reached(meter_read(meter), count))
			break;
		if (syscall(SYS_futex, &meter->sleeps, FUTEX_WAIT, 1, &timeout, NULL,
			0) != 0 &&
		    errno == ETIMEDOUT)
			return -1;
	}
	atomic_store(&meter->sleeps, 0);
	return 0;
}
