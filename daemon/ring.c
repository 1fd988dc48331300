/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters, entries and answers in memory that somebody else writes to as well. */
#include <config.h>

#include "daemon/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t
power_of_two(uint32_t n)
{
	uint32_t power = 1;

	while (power < n)
		power *= 2;
	return power;
}

int
ring_new(uint32_t entries, uint32_t slots, struct ring **out, struct err *err)
{
	struct ring *ring = calloc(1, sizeof(*ring));
	const uint32_t answers = power_of_two(slots);
	int rc;

	if (!ring)
		return err_set(err, ERR_INTERNAL_ERROR, ENOMEM, "out of memory");
	entries = power_of_two(entries);
	ring->memory = (struct region)REGION_NONE;
	rc = region_open("rpmad-ring",
	    RING_HEADER_BYTES + entries * sizeof(struct ring_entry) +
		answers * sizeof(struct ring_answer),
	    &ring->memory, err);
	if (rc != 0) {
		free(ring);
		return rc;
	}
	ring->header = ring->memory.base;
	ring->entries = (void *)((char *)ring->memory.base + RING_HEADER_BYTES);
	ring->answers = (const void *)(ring->entries + entries);
	ring->entries_mask = entries - 1;
	ring->answers_mask = answers - 1;
	memcpy(ring->header->magic, RING_MAGIC, sizeof(ring->header->magic));
	ring->header->version = RING_VERSION;
	ring->header->entries = entries;
	ring->header->answers = answers;
	*out = ring;
	return 0;
}

void
ring_free(struct ring *ring)
{
	if (!ring)
		return;
	region_close(&ring->memory);
	free(ring);
}

int
ring_open_memory(const struct ring *ring, int *fd, struct err *err)
{
	*fd = fcntl(ring->memory.fd, F_DUPFD_CLOEXEC, 0);
	if (*fd >= 0)
		return 0;
	return err_set(err,
	    errno == EMFILE || errno == ENFILE ? ERR_LIMIT : ERR_INTERNAL_ERROR, errno,
	    "cannot pass the ring's memory");
}

size_t
ring_bytes(const struct ring *ring)
{
	return ring->memory.bytes;
}

uint32_t
ring_entries(const struct ring *ring)
{
	return ring->entries_mask + 1;
}

bool
ring_look(struct ring *ring, const char **text)
{
	const struct ring_header *header = ring->header;

	ring->request = atomic_load_explicit(&header->request, memory_order_acquire);
	ring->answered = atomic_load_explicit(&header->answered, memory_order_acquire);
	ring->granted = atomic_load_explicit(&header->granted, memory_order_acquire);
	ring->is_waiting =
	    atomic_load_explicit(&header->is_waiting, memory_order_relaxed) != 0;
	if (ring->answered - ring->settled > ring->answers_mask + 1) {
		*text = "more answers than messages";
		return false;
	}
	/* What is withdrawn may be behind what was delivered meanwhile. */
	if (ring->granted - ring->delivered > ring->entries_mask + 1 &&
	    ring->delivered - ring->granted > ring->entries_mask + 1) {
		*text = "room for more messages than there are entries";
		return false;
	}
	return true;
}

uint32_t
ring_room(const struct ring *ring)
{
	const uint32_t room = ring->granted - ring->delivered;

	if (room > ring->entries_mask + 1 ||
	    (!ring->is_waiting && ring->request == ring->served))
		return 0;
	return room;
}

uint32_t
ring_unknown(const struct ring *ring)
{
	return ring->unknown;
}

/* Whether it sleeps; it is taken to be awake from now on. */
static bool
take_sleep(struct ring_header *header)
{
	return atomic_load_explicit(&header->wants_reader, memory_order_relaxed) != 0 &&
	    atomic_exchange(&header->wants_reader, 0) != 0;
}

bool
ring_publish(struct ring *ring, bool is_served, bool wants_answers)
{
	struct ring_header *header = ring->header;
	bool is_new;

	if (is_served)
		ring->served = ring->request;
	is_new = ring->delivered != ring->shown_delivered ||
	    ring->settled != ring->shown_settled || ring->served != ring->shown_served;
	ring->shown_delivered = ring->delivered;
	ring->shown_settled = ring->settled;
	ring->shown_served = ring->served;
	atomic_store_explicit(&header->delivered, ring->delivered,
	    memory_order_release);
	atomic_store_explicit(&header->unknown, ring->unknown, memory_order_relaxed);
	atomic_store_explicit(&header->settled, ring->settled, memory_order_release);
	atomic_store_explicit(&header->served, ring->served, memory_order_release);
	atomic_store_explicit(&header->wants_daemon, wants_answers,
	    memory_order_relaxed);
	/* Before the look at what the reader does meanwhile. */
	atomic_thread_fence(memory_order_seq_cst);
	/* Another reader's messages are no reason to wake this one. */
	return is_new && take_sleep(header);
}

bool
ring_set_state(struct ring *ring, enum ring_state state)
{
	atomic_store(&ring->header->state, (uint32_t)state);
	return take_sleep(ring->header);
}
