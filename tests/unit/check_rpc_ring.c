/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring that a reader in place shares with the daemon, with the test as the reader. */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "tests/unit/harness.h"
#include "tests/unit/ring_rig.h"

#define SLOTS   RING_RIG_SLOTS
#define ENTRIES RING_RIG_ENTRIES

static struct crig rig;
static struct reader a, b;

static void
setup(void)
{
	ring_rig_start(&rig, &a, &b);
}

static void
teardown(void)
{
	ring_rig_end(&rig, &a, &b);
}

START_TEST(test_message)
{
	const struct ring_entry *entry = &a.entries[0];

	/* Nothing comes that was not asked for. */
	reader_arrive(&a, "hello");
	ck_assert_uint_eq(a.ring->delivered, 0);
	ring_rig_expect(&rig, SLOTS - 1, 0, 1, 0);
	reader_grant(&a, ENTRIES);
	ck_assert_uint_eq(a.ring->delivered, 1);
	ring_rig_expect(&rig, SLOTS - 1, 0, 0, 1);
	ck_assert_uint_eq(entry->seq, 1);
	ck_assert_uint_eq(entry->conn, 7);
	ck_assert_uint_eq(entry->qp_num, 42);
	ck_assert_uint_eq(entry->len, 5);
	ck_assert_uint_eq(entry->deliveries, 1);
	ck_assert_uint_eq(entry->flags, 0);
	ck_assert_uint_eq(entry->received_ns, 1767323045123456789u);
	/* 10.0.0.1:4711, as struct sockaddr_in has it. */
	ck_assert_mem_eq(entry->peer + 2, "\x12\x67\x0a\x00\x00\x01", 6);
	ck_assert_mem_eq(rig.engine->data + entry->slot * 4096, "hello", 5);
	reader_answer(&a, entry, RING_NACK);
	reader_ring(&a);
	ck_assert_uint_eq(a.ring->settled, 1);
	/* It is back at once, with what is wanted. */
	ck_assert_uint_eq(a.ring->delivered, 2);
	ck_assert_uint_eq(a.entries[1].deliveries, 2);
	ck_assert_uint_eq(a.entries[1].seq, 1);
	reader_answer(&a, &a.entries[1], RING_ACK);
	reader_ring(&a);
	ck_assert_uint_eq(a.ring->settled, 2);
	ck_assert_uint_eq(a.ring->unknown, 0);
	ring_rig_expect(&rig, SLOTS, 0, 0, 0);
}
END_TEST

START_TEST(test_imm_and_label)
{
	reader_grant(&a, ENTRIES);
	json_decref(crig_call(&b.client, "recv.post",
	    "{\"slot\":3,\"context\":\"label\"}"));
	stub_engine_arrive_imm(rig.engine, "", 0, 77);
	crig_settle(&rig);
	ck_assert_uint_eq(a.ring->delivered, 1);
	ck_assert_uint_eq(a.entries[0].flags,
	    RING_IMM | RING_RDMA_WRITE | RING_CONTEXT);
	ck_assert_uint_eq(a.entries[0].imm, 77);
	ck_assert_uint_eq(a.entries[0].context_len, 5);
	ck_assert_mem_eq(a.entries[0].context, "label", 5);
}
END_TEST

/*
 * Who had the message before, and gave it back or was late, knows its token still: that does not
 * take it from the one who reads it in its slot now.
 */
START_TEST(test_token_of_an_earlier_lease)
{
	static const char *const names[] = { "recv.ack", "recv.nack" };
	char tokens[96];
	json_t *result;

	reader_arrive(&a, "hello");
	result = crig_call(&b.client, "recv.poll", "{\"encoding\":\"none\"}");
	(void)snprintf(tokens, sizeof(tokens), "{\"tokens\":[\"%s\"]}",
	    crig_text(crig_completion(result, 0), "token"));
	json_decref(result);
	json_decref(crig_call(&b.client, "recv.nack", tokens));
	reader_grant(&a, ENTRIES);
	ck_assert_uint_eq(a.ring->delivered, 1);
	ck_assert_uint_eq(a.entries[0].deliveries, 2);
	json_decref(crig_fail(&b.client, names[_i], tokens, "NO_SUCH_TOKEN"));
	ring_rig_expect(&rig, SLOTS - 1, 0, 0, 1);
	reader_answer(&a, &a.entries[0], RING_ACK);
	reader_ring(&a);
	ck_assert_uint_eq(a.ring->unknown, 0);
	ring_rig_expect(&rig, SLOTS, 0, 0, 0);
	/* Now it is what it always was: acknowledged. */
	json_decref(crig_call(&b.client, names[_i], tokens));
}
END_TEST

/* No more than there is room for, and the rest when there is some, in order. */
START_TEST(test_room)
{
	unsigned int i;
	char text[8];

	for (i = 0; i < 12; i++) {
		(void)snprintf(text, sizeof(text), "%u", i);
		reader_arrive(&a, text);
	}
	reader_grant(&a, 3);
	ck_assert_uint_eq(a.ring->delivered, 3);
	/* It would like to go on, and says so. */
	ck_assert_uint_eq(a.ring->wants_daemon, 1);
	reader_grant(&a, ENTRIES);
	ck_assert_uint_eq(a.ring->delivered, 3 + ENTRIES);
	for (i = 3; i < 11; i++)
		ck_assert_uint_eq(a.entries[i % ENTRIES].seq, i + 1);
	/* Taken back: what comes later stays. */
	a.ring->granted = a.ring->delivered - ENTRIES;
	a.ring->is_waiting = 0;
	reader_ring(&a);
	reader_arrive(&a, "more");
	ck_assert_uint_eq(a.ring->delivered, 11);
	ring_rig_expect(&rig, SLOTS - 13, 0, 2, 11);
}
END_TEST

/* With a request what is there comes, and nothing behind it. */
START_TEST(test_request)
{
	reader_arrive(&a, "one");
	a.ring->granted = ENTRIES;
	reader_ring(&a);
	ck_assert_uint_eq(a.ring->delivered, 0);
	a.ring->request = 41;
	reader_ring(&a);
	ck_assert_uint_eq(a.ring->delivered, 1);
	ck_assert_uint_eq(a.ring->served, 41);
	reader_arrive(&a, "two");
	ck_assert_uint_eq(a.ring->delivered, 1);
	/* One that finds nothing is served as well. */
	a.ring->granted = 1;
	a.ring->request = 42;
	reader_ring(&a);
	ck_assert_uint_eq(a.ring->served, 42);
	ck_assert_uint_eq(a.ring->delivered, 1);
}
END_TEST

/* Who sleeps is woken once, by a message or by what it waits for. */
START_TEST(test_wakes)
{
	unsigned int i;

	reader_grant(&a, ENTRIES);
	reader_arrive(&a, "awake");
	ck_assert(!reader_has_heard(&a));
	a.ring->wants_reader = 1;
	reader_arrive(&a, "asleep");
	ck_assert(reader_has_heard(&a));
	ck_assert_uint_eq(a.ring->wants_reader, 0);
	reader_arrive(&a, "awake again");
	ck_assert(!reader_has_heard(&a));
	/* Where slots run short it wants to hear of each. */
	ck_assert_uint_eq(a.ring->wants_daemon, 0);
	rig.engine->is_low = true;
	reader_arrive(&a, "short");
	ck_assert_uint_eq(a.ring->wants_daemon, 1);
	/* What nobody rings for is found in time. */
	reader_answer(&a, &a.entries[0], RING_ACK);
	for (i = 0; i < 200 && a.ring->settled == 0; i++)
		crig_run_ms(&rig, 100);
	ck_assert_uint_eq(a.ring->settled, 1);
}
END_TEST

/* Two of them have what is there by turns, and neither what the other one holds. */
/* What is for one reader leaves the other one asleep. */
START_TEST(test_wakes_no_other)
{
	reader_open(&b);
	reader_grant(&a, ENTRIES);
	reader_grant(&b, 1);
	reader_arrive(&a, "one");
	reader_arrive(&a, "two");
	ck_assert_uint_eq(a.ring->delivered + b.ring->delivered, 2);
	ck_assert_uint_eq(b.ring->delivered, 1);
	/* It has no room, so the next one is not for it. */
	a.ring->wants_reader = 1;
	b.ring->wants_reader = 1;
	reader_arrive(&a, "three");
	ck_assert_uint_eq(a.ring->delivered, 2);
	ck_assert_uint_eq(a.ring->wants_reader, 0);
	ck_assert_uint_eq(b.ring->wants_reader, 1);
	ck_assert(reader_has_heard(&a));
	ck_assert(!reader_has_heard(&b));
	/* Its own answer is. */
	reader_answer(&b, &b.entries[0], RING_ACK);
	reader_ring(&b);
	ck_assert_uint_eq(b.ring->settled, 1);
	ck_assert_uint_eq(b.ring->wants_reader, 0);
}
END_TEST

/* Read what is there, with the descriptors beside it. return   how many these are */
static size_t
take_some(int fd, char *text, size_t size, int *fds)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
	struct iovec iov = { text, size - 1 };
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control) };
	const ssize_t n = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	size_t count, i;

	ck_assert_int_gt(n, 0);
	text[n] = '\0';
	if (!cmsg)
		return 0;
	count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(cmsg), count * sizeof(int));
	for (i = 0; i < count; i++)
		(void)close(fds[i]);
	return count;
}

/* Asked for in one go, each reply has its own descriptors. */
START_TEST(test_with_the_map)
{
	char text[16384];
	int fds[4];

	crig_puts(&b.client,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pool.map\"}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"recv.ring\",\"params\":{\"entries\":8}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"rpc.hello\"}\n");
	crig_settle(&rig);
	ck_assert_uint_eq(take_some(b.client.fd, text, sizeof(text), fds), 1);
	ck_assert_ptr_nonnull(strstr(text, "\"id\":1,"));
	ck_assert_ptr_null(strstr(text, "\"id\":2,"));
	ck_assert_uint_eq(take_some(b.client.fd, text, sizeof(text), fds), 2);
	ck_assert_ptr_null(strstr(text, "\"error\""));
	ck_assert_ptr_nonnull(strstr(text, "\"id\":2,"));
}
END_TEST

START_TEST(test_two)
{
	unsigned int i;

	reader_open(&b);
	reader_grant(&a, ENTRIES);
	reader_grant(&b, ENTRIES);
	for (i = 0; i < 12; i++)
		reader_arrive(&a, "x");
	ck_assert_uint_ge(a.ring->delivered, 4);
	ck_assert_uint_ge(b.ring->delivered, 4);
	ck_assert_uint_eq(a.ring->delivered + b.ring->delivered, 12);
	reader_answer(&a, &b.entries[0], RING_ACK);
	reader_answer(&a, &b.entries[1], RING_NACK);
	reader_ring(&a);
	ck_assert_uint_eq(a.ring->settled, 2);
	ck_assert_uint_eq(a.ring->unknown, 2);
	ring_rig_expect(&rig, SLOTS - 12, 0, 0, 12);
}
END_TEST

static void
expect_rings(long long count)
{
	json_t *stats = crig_call(&b.client, "stats.get", NULL);

	ck_assert_int_eq(crig_integer(json_object_get(stats, "control"), "rings"),
	    count);
	json_decref(stats);
}

START_TEST(test_counted)
{
	expect_rings(1);
	reader_open(&b);
	expect_rings(2);
	crig_close(&a.client);
	crig_settle(&rig);
	expect_rings(1);
	reader_drop(&a);
	crig_open(&rig, &a.client);
}
END_TEST

/* Polls that wait come first. */
START_TEST(test_polls_first)
{
	json_t *reply;

	reader_grant(&a, ENTRIES);
	crig_puts(&b.client, CRIG_POLL("\"wait_ms\":60000,\"max\":1"));
	crig_settle(&rig);
	reader_arrive(&a, "one");
	reply = crig_reply(&b.client);
	ck_assert_uint_eq(crig_count(json_object_get(reply, "result")), 1);
	json_decref(reply);
	ck_assert_uint_eq(a.ring->delivered, 0);
	reader_arrive(&a, "two");
	ck_assert_uint_eq(a.ring->delivered, 1);
}
END_TEST

/* ---- the end ---- */

/* What was answered counts, though nobody rang; the rest goes back. */
START_TEST(test_reader_dies)
{
	const unsigned int fds = harness_open_fds();
	unsigned int i;

	reader_grant(&a, ENTRIES);
	for (i = 0; i < 5; i++)
		reader_arrive(&a, "x");
	reader_answer(&a, &a.entries[2], RING_ACK);
	reader_answer(&a, &a.entries[4], RING_ACK);
	crig_close(&a.client);
	crig_settle(&rig);
	ring_rig_expect(&rig, SLOTS - 3, 0, 3, 0);
	ck_assert_uint_eq(a.ring->settled, 2);
	ck_assert_uint_eq(a.ring->state, RING_OVER);
	reader_drop(&a);
	/* Both its sockets, the daemon's ends, and the memory. */
	ck_assert_uint_eq(harness_open_fds(), fds - 5);
	crig_open(&rig, &a.client);
}
END_TEST

/* It closes its bell alone: the daemon does not spin, and goes on. */
START_TEST(test_bell_closed)
{
	reader_grant(&a, ENTRIES);
	(void)close(a.bell);
	a.bell = -1;
	a.ring->wants_reader = 1;
	reader_arrive(&a, "one");
	ck_assert_uint_eq(a.ring->delivered, 1);
	crig_settle(&rig);
	reader_answer(&a, &a.entries[0], RING_ACK);
	reader_arrive(&a, "two");
	ck_assert_uint_eq(a.ring->settled, 1);
}
END_TEST

/* Nobody listens to its bell: the daemon does not wait for room there. */
START_TEST(test_deaf)
{
	unsigned int i;

	reader_grant(&a, ENTRIES);
	for (i = 0; i < 3000; i++) {
		a.ring->request = i + 1;
		a.ring->wants_reader = 1;
		reader_ring(&a);
	}
	ck_assert_uint_eq(a.ring->wants_reader, 0);
	reader_arrive(&a, "one");
	ck_assert_uint_eq(a.ring->delivered, 1);
}
END_TEST

/* The daemon stops: nothing more comes, and what was held can still be settled. */
START_TEST(test_stop)
{
	reader_grant(&a, ENTRIES);
	reader_arrive(&a, "one");
	a.ring->wants_reader = 1;
	rpc_begin_stop(rig.rpc);
	ck_assert_uint_eq(a.ring->state, RING_STOPPING);
	ck_assert(reader_has_heard(&a));
	reader_arrive(&a, "two");
	ck_assert_uint_eq(a.ring->delivered, 1);
	reader_answer(&a, &a.entries[0], RING_ACK);
	a.ring->request = 1;
	reader_ring(&a);
	ck_assert_uint_eq(a.ring->settled, 1);
	ck_assert_uint_eq(a.ring->served, 1);
	ring_rig_expect(&rig, SLOTS - 1, 0, 1, 0);
	json_decref(crig_fail(&b.client, "recv.ring", NULL, "SHUTTING_DOWN"));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpc_ring");
	TCase *tc = tcase_create("rpc_ring");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_message);
	tcase_add_test(tc, test_imm_and_label);
	tcase_add_loop_test(tc, test_token_of_an_earlier_lease, 0, 2);
	tcase_add_test(tc, test_room);
	tcase_add_test(tc, test_request);
	tcase_add_test(tc, test_wakes);
	tcase_add_test(tc, test_wakes_no_other);
	tcase_add_test(tc, test_with_the_map);
	tcase_add_test(tc, test_two);
	tcase_add_test(tc, test_counted);
	tcase_add_test(tc, test_polls_first);
	tcase_add_test(tc, test_reader_dies);
	tcase_add_test(tc, test_bell_closed);
	tcase_add_test(tc, test_deaf);
	tcase_add_test(tc, test_stop);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
