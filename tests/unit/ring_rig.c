/* SPDX-License-Identifier: BSD-3-Clause */
/* A reader that asks for its ring, maps it, and does what it likes there. */
#include <config.h>

#include "tests/unit/ring_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <check.h>
#include <jansson.h>

/* Read one reply, and the two descriptors beside it. */
static json_t *
take_reply(struct crig_client *client, int fds[2])
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
	char text[4096];
	size_t len = 0;
	unsigned int turns = 0, count = 0;
	struct cmsghdr *cmsg;
	json_t *reply;
	ssize_t n;

	while (len == 0 || text[len - 1] != '\n') {
		struct iovec iov = { text + len, sizeof(text) - len };
		struct msghdr msg = { .msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control) };

		n = recvmsg(client->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n < 0) {
			ck_assert_int_eq(errno, EAGAIN);
			ck_assert_uint_lt(++turns, 1000);
			ck_assert_int_eq(loop_turn(client->rig->loop, 10), 0);
			continue;
		}
		ck_assert_int_gt(n, 0);
		cmsg = CMSG_FIRSTHDR(&msg);
		if (cmsg) {
			/* With the first byte of its reply, and both together. */
			ck_assert_uint_eq(len, 0);
			ck_assert_uint_eq(cmsg->cmsg_len, CMSG_LEN(2 * sizeof(int)));
			memcpy(fds, CMSG_DATA(cmsg), 2 * sizeof(int));
			count += 2;
		}
		len += (size_t)n;
	}
	ck_assert_uint_eq(count, 2);
	reply = json_loadb(text, len, 0, NULL);
	ck_assert_ptr_nonnull(reply);
	return reply;
}

void
reader_open(struct reader *reader)
{
	json_t *reply, *result;
	int fds[2];

	crig_puts(&reader->client,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"recv.ring\",\"params\":{"
	    "\"entries\":5}}\n");
	reply = take_reply(&reader->client, fds);
	result = json_object_get(reply, "result");
	ck_assert_int_eq(crig_integer(result, "version"), 1);
	/* Rounded up. */
	ck_assert_int_eq(crig_integer(result, "entries"), RING_RIG_ENTRIES);
	reader->bytes = (size_t)crig_integer(result, "bytes");
	ck_assert_uint_eq(json_object_size(result), 3);
	json_decref(reply);
	ck_assert_int_ne(fcntl(fds[0], F_GET_SEALS) & F_SEAL_SHRINK, 0);
	reader->ring =
	    mmap(NULL, reader->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	ck_assert_ptr_ne(reader->ring, MAP_FAILED);
	(void)close(fds[0]);
	reader->bell = fds[1];
	ck_assert_mem_eq(reader->ring->magic, RING_MAGIC, sizeof(reader->ring->magic));
	ck_assert_uint_eq(reader->ring->version, RING_VERSION);
	ck_assert_uint_eq(reader->ring->entries, RING_RIG_ENTRIES);
	ck_assert_uint_ge(reader->ring->answers, RING_RIG_SLOTS);
	reader->entries = (const void *)((char *)reader->ring + RING_HEADER_BYTES);
	reader->answers = (void *)(uintptr_t)(reader->entries + RING_RIG_ENTRIES);
	ck_assert_uint_ge(reader->bytes,
	    (size_t)((char *)(reader->answers + reader->ring->answers) -
		(char *)reader->ring));
}

void
reader_drop(struct reader *reader)
{
	if (!reader->ring)
		return;
	(void)munmap(reader->ring, reader->bytes);
	(void)close(reader->bell);
	reader->ring = NULL;
}

void
reader_ring(const struct reader *reader)
{
	ck_assert_int_eq(send(reader->bell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL), 1);
	crig_settle(reader->client.rig);
}

bool
reader_has_heard(const struct reader *reader)
{
	char bytes[64];

	return recv(reader->bell, bytes, sizeof(bytes), MSG_DONTWAIT) > 0;
}

bool
reader_is_over(const struct reader *reader)
{
	char bytes[64];
	ssize_t n;

	while ((n = recv(reader->bell, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		continue;
	return n == 0;
}

void
reader_grant(struct reader *reader, uint32_t count)
{
	reader->ring->is_waiting = 1;
	reader->ring->granted = reader->ring->delivered + count;
	reader_ring(reader);
}

void
reader_answer(struct reader *reader, const struct ring_entry *entry,
    enum ring_verb verb)
{
	reader->answers[reader->ring->answered % reader->ring->answers] =
	    (struct ring_answer){
		    .slot = entry->slot, .generation = entry->generation, .verb = verb
	    };
	reader->ring->answered++;
}

void
reader_arrive(const struct reader *reader, const char *text)
{
	crig_arrive(reader->client.rig, text);
	crig_settle(reader->client.rig);
}

void
ring_rig_start(struct crig *rig, struct reader *a, struct reader *b)
{
	memset(a, 0, sizeof(*a));
	memset(b, 0, sizeof(*b));
	crig_start_two(rig, "{\"pool\":{\"slots\":16,\"share\":true}}", &a->client,
	    &b->client);
	reader_open(a);
}

void
ring_rig_expect(const struct crig *rig, unsigned int free, unsigned int posted,
    unsigned int ready, unsigned int leased)
{
	const struct ledger_counts counts = stub_engine_counts(rig->engine);

	ck_assert_uint_eq(counts.free, free);
	ck_assert_uint_eq(counts.posted, posted);
	ck_assert_uint_eq(counts.ready, ready);
	ck_assert_uint_eq(counts.leased, leased);
}

void
ring_rig_end(struct crig *rig, struct reader *a, struct reader *b)
{
	reader_drop(a);
	reader_drop(b);
	crig_end_two(rig, &a->client, &b->client);
}
