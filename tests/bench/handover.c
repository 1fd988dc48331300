/* SPDX-License-Identifier: BSD-3-Clause */
/* handover.c: rings of one writer and one reader in memory that a forked consumer has too. */
#include "tests/bench/handover.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/bench/meter.h"

#define ANSWER 'A' /* the first byte of a message that wants one */

struct ring {
	_Alignas(64) _Atomic uint32_t head;   /* written by who pushes */
	_Alignas(64) _Atomic uint32_t tail;   /* by who pulls */
	_Alignas(64) _Atomic uint32_t sleeps; /* who pulls: it is to be woken */
	struct handover_msg msgs[HANDOVER_SLOTS_MAX];
};

struct rings {
	struct ring there, back;
};

/* There are as many slots as places at the most: a ring is never full. */
static void
push(struct ring *ring, const struct handover_msg *msg)
{
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	ring->msgs[head % HANDOVER_SLOTS_MAX] = *msg;
	atomic_store_explicit(&ring->head, head + 1, memory_order_release);
}

static bool
pull(struct ring *ring, struct handover_msg *msg)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	if (tail == atomic_load_explicit(&ring->head, memory_order_acquire))
		return false;
	*msg = ring->msgs[tail % HANDOVER_SLOTS_MAX];
	atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
	return true;
}

/* Wake who waits for the ring; who does not wait costs nothing. */
static void
tell(struct ring *ring, int fd)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load(&ring->sleeps) && atomic_exchange(&ring->sleeps, 0) &&
	    eventfd_write(fd, 1) != 0)
		die("eventfd");
}

/* As pull(); where there is nothing, see to it that the next tell() wakes. */
static bool
pull_or_sleep(struct ring *ring, struct handover_msg *msg)
{
	if (pull(ring, msg))
		return true;
	atomic_store(&ring->sleeps, 1);
	atomic_thread_fence(memory_order_seq_cst);
	if (!pull(ring, msg))
		return false;
	atomic_store(&ring->sleeps, 0);
	return true;
}

bool
handover_look(const char *data, uint32_t len)
{
	volatile const char *at = data;
	char last;

	if (len == 0)
		return false;
	/* Both ends of it are read. */
	last = at[len - 1];
	(void)last;
	return at[0] == ANSWER;
}

static void
consume(const struct handover *handover, struct meter *meter)
{
	struct rings *rings = handover->rings;
	struct handover_msg msg;
	eventfd_t count;

	for (;;) {
		while (pull_or_sleep(&rings->there, &msg)) {
			msg.wants_answer = handover_look(handover->memory +
				(size_t)msg.slot * handover->slot_size,
			    msg.len);
			push(&rings->back, &msg);
			if (msg.wants_answer)
				atomic_store(&rings->back.sleeps, 1);
			meter_add(meter);
		}
		tell(&rings->back, handover->back_fd);
		if (eventfd_read(handover->event_fd, &count) != 0 && errno != EINTR)
			die("eventfd");
	}
}

static void *
share(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		die("memory");
	return memory;
}

void
handover_start(struct handover *handover, uint32_t slots, uint32_t slot_size,
    const char *meter)
{
	const pid_t parent = getpid();

	if (slots == 0 || slots > HANDOVER_SLOTS_MAX) {
		errno = EINVAL;
		die("slots");
	}
	*handover = (struct handover){ .slots = slots, .slot_size = slot_size };
	handover->memory = share((size_t)slots * slot_size);
	handover->rings = share(sizeof(struct rings));
	handover->event_fd = eventfd(0, EFD_CLOEXEC);
	handover->back_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (handover->event_fd < 0 || handover->back_fd < 0)
		die("eventfd");
	if (!meter)
		return;
	handover->consumer = fork();
	if (handover->consumer < 0)
		die("consumer");
	if (handover->consumer > 0)
		return;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(1);
	consume(handover, meter_open(meter));
}

void
handover_push(struct handover *handover, const struct handover_msg *msg)
{
	push(&handover->rings->there, msg);
}

void
handover_tell(struct handover *handover)
{
	tell(&handover->rings->there, handover->event_fd);
}

bool
handover_pull(struct handover *handover, struct handover_msg *msg)
{
	return pull(&handover->rings->back, msg);
}

bool
handover_pull_or_sleep(struct handover *handover, struct handover_msg *msg)
{
	return pull_or_sleep(&handover->rings->back, msg);
}

void
handover_woken(const struct handover *handover)
{
	eventfd_t count;

	(void)eventfd_read(handover->back_fd, &count);
}
