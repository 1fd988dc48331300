/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librpmac and a daemon that answers the bytes of the input, and a ring that holds them. The
 * bits of the first byte say which of both, and what becomes of the messages. Nothing that
 * is handed out may lie outside of the pool, or be without its texts.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/rpmac/impl.h"
#include "tests/fuzz/fuzz.h"

#define SLOTS     4u
#define SLOT_SIZE 1024u
#define BYTES     ((size_t)SLOTS * SLOT_SIZE)
#define ENTRIES   4u
#define ANSWERS   4u
#define RING_BYTES                                                         \
	(RING_HEADER_BYTES + ENTRIES * (size_t)sizeof(struct ring_entry) + \
	    ANSWERS * sizeof(struct ring_answer))
#define INPUT_MAX 65536u /* that a socket takes at once */
#define CALLS_MAX 16u
#define IS_REPLY  128u

static void *
map_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	FUZZ_CHECK(memory != MAP_FAILED);
	return memory;
}

/* A line of the daemon's: understood or not. */
static void
read_reply(struct rpmac *rpmac, const uint8_t *data, size_t size, enum request request)
{
	int fds[2];

	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	FUZZ_CHECK(send(fds[1], data, size, MSG_NOSIGNAL | MSG_DONTWAIT) ==
	    (ssize_t)size);
	(void)shutdown(fds[1], SHUT_WR);
	rpmac->fd = fds[0];
	if (rpmac_wire_call(rpmac, request, "?\n", rpmac_now_ms() + 1000) == 0)
		FUZZ_CHECK(rpmac->slots <= UINT32_MAX);
	(void)close(fds[1]);
}

/* As if it were open: with a pool, a ring of these bytes, and a bell that nobody hears. */
static void
open_with(struct rpmac *rpmac, const uint8_t *data, size_t size, int *peer)
{
	int fds[2], bells[2];
	char *ring = map_memory(RING_BYTES);

	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, bells) == 0);
	(void)close(fds[1]);
	*peer = bells[1];
	/* The counters, and from the entries on. */
	memcpy(ring + 64, data, size < 192 ? size : 192);
	if (size > 192)
		memcpy(ring + RING_HEADER_BYTES, data + 192,
		    size - 192 < RING_BYTES - RING_HEADER_BYTES
			? size - 192
			: RING_BYTES - RING_HEADER_BYTES);
	rpmac->fd = fds[0];
	rpmac->bell = bells[0];
	rpmac->base = map_memory(BYTES);
	rpmac->bytes = BYTES;
	rpmac->slots = rpmac->item_count = SLOTS;
	rpmac->slot_size = SLOT_SIZE;
	rpmac->items = calloc(SLOTS, sizeof(rpmac->items[0]));
	FUZZ_CHECK(rpmac->items);
	rpmac->ring = (void *)ring;
	rpmac->ring_bytes = RING_BYTES;
	rpmac->entries = (void *)(ring + RING_HEADER_BYTES);
	rpmac->answers = (void *)(uintptr_t)(rpmac->entries + ENTRIES);
	rpmac->entries_mask = ENTRIES - 1;
	rpmac->answers_mask = ANSWERS - 1;
	rpmac->answer_ms = 1;
}

static size_t
look_at(const struct rpmac *rpmac, const struct rpmac_msg *msg)
{
	const char *data = msg->data;
	size_t sum = 0, i;

	FUZZ_CHECK(data >= rpmac->base && data + msg->len <= rpmac->base + BYTES);
	for (i = 0; i < msg->len; i++)
		sum += (size_t)data[i];
	FUZZ_CHECK(strpbrk(msg->token, "\"\\,") == NULL);
	return sum + strlen(msg->token) + strlen(msg->peer) + strlen(msg->received_at) +
	    (msg->context ? strlen(msg->context) : 0);
}

static void
use(struct rpmac *rpmac, unsigned int bits)
{
	const struct rpmac_msg *msg;
	size_t sum = 0;
	unsigned int i;

	for (i = 0; i < CALLS_MAX && rpmac->fd >= 0; i++) {
		if (rpmac_next(rpmac, bits & 64 ? 0 : 1, &msg) == 0) {
			sum += look_at(rpmac, msg);
			if (bits & 1 << i % 3)
				FUZZ_CHECK(rpmac_ack(rpmac, msg) == 0);
			else if (bits & 8)
				FUZZ_CHECK(rpmac_nack(rpmac, msg) == 0);
		}
		if (bits & 16 << i % 2)
			(void)rpmac_flush(rpmac);
		FUZZ_CHECK(strlen(rpmac_error(rpmac)) < RPMAC_TEXT_MAX);
	}
	FUZZ_CHECK(sum < SIZE_MAX);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rpmac *rpmac;
	int peer = -1;

	if (size < 2 || size > INPUT_MAX)
		return 0;
	rpmac = rpmac_new();
	FUZZ_CHECK(rpmac);
	if (data[0] & IS_REPLY) {
		read_reply(rpmac, data + 1, size - 1,
		    data[0] & 1 ? REQUEST_MAP : REQUEST_RING);
	} else {
		open_with(rpmac, data + 1, size - 1, &peer);
		use(rpmac, data[0]);
	}
	rpmac_close(&rpmac);
	if (peer >= 0)
		(void)close(peer);
	return 0;
}
