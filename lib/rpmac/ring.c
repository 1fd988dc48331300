/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring that is shared with the daemon, see "THE RING" in rpmad-rpc(7). What the daemon
 * writes there is looked at once, and checked.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/rpmac/impl.h"

#define CHECK_EVERY 32u /* messages and answers between looks whether to ring */
#define LAZY_MS     1u  /* how long answers wait for others, or for a message */

/* ---- its memory ---- */

static bool
is_power_of_two(uint64_t n)
{
	return n > 0 && (n & (n - 1)) == 0;
}

/* What the daemon says of itself in a new ring. */
static bool
is_form_known(const struct rpmac *rpmac, const struct ring_header *ring, size_t bytes,
    uint32_t entries, uint32_t answers)
{
	return memcmp(ring->magic, RING_MAGIC, sizeof(ring->magic)) == 0 &&
	    ring->version == RING_VERSION && is_power_of_two(entries) &&
	    entries <= RING_ENTRIES_MAX && is_power_of_two(answers) &&
	    answers >= rpmac->slots &&
	    (bytes - RING_HEADER_BYTES - entries * sizeof(struct ring_entry)) /
		sizeof(struct ring_answer) >=
	    answers;
}

int
rpmac_ring_begin(struct rpmac *rpmac)
{
	const size_t bytes = rpmac->ring_bytes;
	const uint32_t entries = rpmac->ring_entries;
	const int memory = rpmac->fds[0];
	struct stat st;
	uint32_t answers;
	int seals;

	if (rpmac->fd_count != RPMAC_FDS_MAX)
		return rpmac_fail_protocol(rpmac, "a ring without its descriptors");
	seals = fcntl(memory, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(memory, &st) != 0 ||
	    (uint64_t)st.st_size < bytes || entries > RING_ENTRIES_MAX ||
	    bytes < RING_HEADER_BYTES + entries * sizeof(struct ring_entry))
		return rpmac_fail_protocol(rpmac,
		    "a ring that is not what it tells of");
	rpmac->ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (rpmac->ring == MAP_FAILED) {
		rpmac->ring = NULL;
		return rpmac_fail(rpmac, -errno, "cannot map the ring's %zu bytes: %s",
		    bytes, strerrordesc_np(errno));
	}
	answers = rpmac->ring->answers;
	if (!is_form_known(rpmac, rpmac->ring, bytes, entries, answers))
		return rpmac_fail_protocol(rpmac, "a ring of another form");
	rpmac->entries = (const void *)((const char *)rpmac->ring + RING_HEADER_BYTES);
	rpmac->answers = (void *)(uintptr_t)(rpmac->entries + entries);
	rpmac->entries_mask = entries - 1;
	rpmac->answers_mask = answers - 1;
	rpmac->taken = rpmac->answered = rpmac->request = 0;
	rpmac->bell = rpmac->fds[1];
	rpmac->fd_count = 0;
	(void)close(memory);
	return 0;
}

void
rpmac_ring_end(struct rpmac *rpmac)
{
	if (rpmac->ring)
		(void)munmap(rpmac->ring, rpmac->ring_bytes);
	rpmac->ring = NULL;
}

/* ---- the bell ---- */

/* return   whether somebody may hear it */
static bool
ring_bell(const struct rpmac *rpmac)
{
	ssize_t n;

	do
		n = send(rpmac->bell, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	/* Where there is no room, there are others that were not heard yet. */
	return n == 1 || errno == EAGAIN;
}

/* The daemon could go on, and waits to be told. The same. */
static bool
ring_if_wanted(const struct rpmac *rpmac)
{
	/* What it waits for is to be seen before it is asked. */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&rpmac->ring->wants_daemon, memory_order_relaxed) ==
		0 ||
	    atomic_exchange(&rpmac->ring->wants_daemon, 0) == 0)
		return true;
	return ring_bell(rpmac);
}

static uint32_t
unsettled(const struct rpmac *rpmac)
{
	return rpmac->answered -
	    atomic_load_explicit(&rpmac->ring->settled, memory_order_acquire);
}

/* ---- waiting ---- */

static bool
has_message(const struct rpmac *rpmac)
{
	return atomic_load_explicit(&rpmac->ring->delivered, memory_order_acquire) !=
	    rpmac->taken ||
	    atomic_load_explicit(&rpmac->ring->state, memory_order_relaxed) !=
	    RING_OPEN;
}

static bool
is_served(const struct rpmac *rpmac)
{
	return atomic_load_explicit(&rpmac->ring->served, memory_order_acquire) ==
	    rpmac->request ||
	    has_message(rpmac);
}

static bool
is_settled(const struct rpmac *rpmac)
{
	return unsettled(rpmac) == 0;
}

/* Sleep until it rings. return   0; -ETIMEDOUT; -EINTR; -ECONNRESET */
static int
sleep_until(struct rpmac *rpmac, uint64_t end_ms)
{
	struct pollfd pfd = { .fd = rpmac->bell, .events = POLLIN };
	const uint64_t now_ms = rpmac_now_ms();
	char heard[64];
	ssize_t n;

	if (now_ms >= end_ms)
		return -ETIMEDOUT;
	n = poll(&pfd, 1, end_ms - now_ms < INT_MAX ? (int)(end_ms - now_ms) : INT_MAX);
	if (n < 0)
		return -EINTR;
	if (n == 0)
		return 0;
	n = recv(rpmac->bell, heard, sizeof(heard), MSG_DONTWAIT);
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))
	    ? 0
	    : rpmac_fail_lost(rpmac);
}

/* The same, until something is there. */
static int
await(struct rpmac *rpmac, bool (*is_there)(const struct rpmac *rpmac), uint64_t end_ms)
{
	int rc = 0;

	while (rc == 0 && !is_there(rpmac)) {
		atomic_store_explicit(&rpmac->ring->wants_reader, 1,
		    memory_order_relaxed);
		atomic_thread_fence(memory_order_seq_cst);
		/* What was written before that does not ring. */
		if (!is_there(rpmac))
			rc = sleep_until(rpmac, end_ms);
	}
	atomic_store_explicit(&rpmac->ring->wants_reader, 0, memory_order_relaxed);
	return rc;
}

/* Ask, and wait until it is dealt with. Signals do not matter. */
static int
request(struct rpmac *rpmac, bool (*is_there)(const struct rpmac *rpmac),
    uint64_t end_ms)
{
	int rc;

	atomic_store_explicit(&rpmac->ring->request, ++rpmac->request,
	    memory_order_release);
	if (!ring_bell(rpmac))
		return rpmac_fail_lost(rpmac);
	do
		rc = await(rpmac, is_there, end_ms);
	while (rc == -EINTR);
	return rc == -ETIMEDOUT ? rpmac_fail_slow(rpmac) : rc;
}

bool
rpmac_ring_is_held(const struct rpmac *rpmac)
{
	uint32_t state;

	/* The daemon says so before it gives the messages to others. */
	atomic_thread_fence(memory_order_seq_cst);
	state = atomic_load_explicit(&rpmac->ring->state, memory_order_relaxed);
	return state == RING_OPEN || state == RING_STOPPING;
}

static uint64_t
answer_end_ms(const struct rpmac *rpmac)
{
	return rpmac_now_ms() + (uint64_t)rpmac->answer_ms;
}

/* The daemon brings nothing any more. return   0: it does; -ESHUTDOWN; -EACCES */
static int
check_state(struct rpmac *rpmac)
{
	int rc;

	switch (atomic_load_explicit(&rpmac->ring->state, memory_order_relaxed)) {
	case RING_OPEN:
		return 0;
	case RING_STOPPING:
		rc = rpmac_ring_flush(rpmac, answer_end_ms(rpmac));
		if (rc < 0)
			return rc;
		rc = rpmac_fail(rpmac, -ESHUTDOWN, "the daemon is stopping");
		(void)strcpy(rpmac->name, "SHUTTING_DOWN");
		return rc;
	case RING_DENIED:
		rpmac_hang_up(rpmac);
		rc = rpmac_fail(rpmac, -EACCES,
		    "the user may not receive messages any more: rpmad's roles have "
		    "changed");
		(void)strcpy(rpmac->name, "DENIED");
		return rc;
	default:
		return rpmac_fail_lost(rpmac);
	}
}

/* Whether there is something to take, or why there will not be. */
static int
judge(struct rpmac *rpmac, int rc)
{
	if (rc == -EINTR)
		return rpmac_fail(rpmac, rc, "a signal was caught");
	if (rc < 0)
		return rc;
	if (atomic_load_explicit(&rpmac->ring->delivered, memory_order_acquire) !=
	    rpmac->taken)
		return 0;
	rc = check_state(rpmac);
	return rc < 0 ? rc : -EAGAIN;
}

/* More may come, of which those that are here already are a part. */
static void
grant(struct rpmac *rpmac)
{
	const uint32_t room =
	    rpmac->max <= rpmac->entries_mask ? rpmac->max : rpmac->entries_mask + 1;

	atomic_store_explicit(&rpmac->ring->granted, rpmac->taken + room,
	    memory_order_release);
}

/* As they come; or with a request alone. */
static void
want(struct rpmac *rpmac, bool is_waiting)
{
	atomic_store_explicit(&rpmac->ring->is_waiting, is_waiting,
	    memory_order_release);
}

int
rpmac_ring_ask(struct rpmac *rpmac, uint64_t end_ms)
{
	want(rpmac, false);
	return judge(rpmac, request(rpmac, is_served, end_ms));
}

/* Until then, or until the daemon is to be asked whether it is alive. */
static int
wait_once(struct rpmac *rpmac, uint64_t end_ms)
{
	uint64_t alive_ms = rpmac_now_ms() + rpmac->alive_ms, lazy_ms;
	int rc = 0;

	if (alive_ms > end_ms)
		alive_ms = end_ms;
	want(rpmac, true);
	if (!ring_if_wanted(rpmac))
		return rpmac_fail_lost(rpmac);
	/* A message that comes soon takes what was answered along. */
	if (unsettled(rpmac) > 0) {
		lazy_ms = rpmac_now_ms() + LAZY_MS;
		rc = await(rpmac, has_message, lazy_ms < end_ms ? lazy_ms : end_ms);
	}
	if (rc == -ETIMEDOUT) {
		rc = 0;
		if (unsettled(rpmac) > 0 && !ring_bell(rpmac))
			return rpmac_fail_lost(rpmac);
	}
	if (rc == 0)
		rc = await(rpmac, has_message, alive_ms);
	if (rc != -ETIMEDOUT)
		return judge(rpmac, rc);
	/* From now on nothing comes unasked. */
	if (alive_ms == end_ms)
		want(rpmac, false);
	return judge(rpmac, request(rpmac, is_served, answer_end_ms(rpmac)));
}

int
rpmac_ring_wait(struct rpmac *rpmac, uint64_t end_ms)
{
	int rc;

	do
		rc = wait_once(rpmac, end_ms);
	while (rc == -EAGAIN && rpmac_now_ms() < end_ms);
	return rc;
}

/* ---- messages ---- */

/* Make a message of an entry. return   whether it can be one */
static bool
read_entry(struct rpmac *rpmac, struct item *item, const struct ring_entry *entry)
{
	const uint16_t flags = entry->flags, context_len = entry->context_len;
	struct rpmac_msg *msg = &item->msg;

	msg->len = entry->len;
	msg->seq = entry->seq;
	msg->conn = entry->conn;
	msg->qp_num = entry->qp_num;
	msg->deliveries = entry->deliveries;
	msg->has_imm = flags & RING_IMM;
	msg->imm = msg->has_imm ? entry->imm : 0;
	msg->is_rdma_write = flags & RING_RDMA_WRITE;
	item->generation = entry->generation;
	if (msg->len > rpmac->slot_size || context_len > RING_CONTEXT_MAX)
		return false;
	msg->context = NULL;
	if (flags & RING_CONTEXT) {
		memcpy(item->context, entry->context, context_len);
		item->context[context_len] = '\0';
		msg->context = item->context;
	}
	rpmac_show_peer(rpmac, item, entry->peer);
	rpmac_show_time(rpmac, item, entry->received_ns);
	rpmac_show_token(rpmac, item);
	return true;
}

int
rpmac_ring_take(struct rpmac *rpmac, const struct rpmac_msg **msg)
{
	const uint32_t there =
	    atomic_load_explicit(&rpmac->ring->delivered, memory_order_acquire) -
	    rpmac->taken;
	const struct ring_entry *entry =
	    &rpmac->entries[rpmac->taken & rpmac->entries_mask];
	struct item *item;
	uint32_t slot;

	grant(rpmac);
	if (there == 0)
		return -EAGAIN;
	slot = entry->slot;
	item = slot < rpmac->slots ? &rpmac->items[slot] : NULL;
	if (there > rpmac->entries_mask + 1 || !item || item->is_handed_out)
		return rpmac_fail_protocol(rpmac, "a message that cannot be");
	item->msg.slot = slot;
	item->msg.data = rpmac->base + slot * rpmac->slot_size;
	if (!read_entry(rpmac, item, entry))
		return rpmac_fail_protocol(rpmac, "a message that cannot be");
	item->is_handed_out = true;
	rpmac->taken++;
	/* A bell that nobody hears is found out when the ring is empty. */
	if (rpmac->taken % CHECK_EVERY == 0)
		(void)ring_if_wanted(rpmac);
	*msg = &item->msg;
	return 0;
}

void
rpmac_ring_answer(struct rpmac *rpmac, const struct item *item, enum ring_verb verb)
{
	rpmac->answers[rpmac->answered++ & rpmac->answers_mask] = (struct ring_answer){
		.slot = item->msg.slot, .generation = item->generation, .verb = verb
	};
	atomic_store_explicit(&rpmac->ring->answered, rpmac->answered,
	    memory_order_release);
	if (rpmac->answered % CHECK_EVERY == 0 && rpmac->fd >= 0)
		(void)ring_if_wanted(rpmac);
}

int
rpmac_ring_flush(struct rpmac *rpmac, uint64_t end_ms)
{
	return unsettled(rpmac) == 0 ? 0 : request(rpmac, is_settled, end_ms);
}
