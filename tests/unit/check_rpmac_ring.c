/* SPDX-License-Identifier: BSD-3-Clause */
/* librpmac and a ring that is written by the test. */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/core/compiler.h"
#include "lib/rpmac/impl.h"
#include "tests/unit/harness.h"
#include "tests/unit/hostile_rig.h"

#define SHORT_MS 50

static struct hostile h;
static const struct rpmac_msg *msg;

static void
setup(void)
{
	hostile_start(&h);
}

static void
teardown(void)
{
	hostile_end(&h);
}

/* The time is that for later answers: the other end has to come to its feet for the first. */
static void
open_good(int answer_ms)
{
	hostile_serve(&h, hostile_good);
	ck_assert_int_eq(rpmac_open(h.rpmac, h.path, HOSTILE_ANSWER_MS), 0);
	h.rpmac->answer_ms = answer_ms;
}

static void
close_good(void)
{
	hostile_stop(&h);
}

static void
put(uint32_t slot, uint32_t len)
{
	struct ring_entry *entry = &h.entries[h.ring->delivered % HOSTILE_ENTRIES];

	*entry = (struct ring_entry){ .seq = h.ring->delivered + 1,
		.conn = 3,
		.slot = slot,
		.generation = 7,
		.len = len,
		.deliveries = 1 };
	h.ring->delivered++;
}

static void
put_peer(const char *addr, uint16_t port)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	ck_assert_int_eq(inet_pton(AF_INET6, addr, &in6.sin6_addr), 1);
	memcpy(h.entries[(h.ring->delivered - 1) % HOSTILE_ENTRIES].peer, &in6,
	    sizeof(in6));
}

START_TEST(test_message)
{
	open_good(HOSTILE_ANSWER_MS);
	put(3, 1024);
	put_peer("2001:db8::1", 9);
	h.entries[0].received_ns =
	    1767322985123456789u; /* date -d @1767322985.123456789 */
	h.entries[0].flags = RING_IMM | RING_RDMA_WRITE | RING_CONTEXT;
	h.entries[0].imm = 4294967295u;
	h.entries[0].qp_num = 5;
	h.entries[0].context_len = 5;
	memcpy(h.entries[0].context, "label", 5);
	ck_assert_int_eq(rpmac_next(h.rpmac, 0, &msg), 0);
	/* What was sealed has not become shorter. */
	ck_assert_int_eq(memcmp((const char *)msg->data + 1020, "last", 4), 0);
	ck_assert_uint_eq(msg->len, 1024);
	ck_assert_str_eq(msg->peer, "[2001:db8::1]:9");
	ck_assert_str_eq(msg->received_at, "2026-01-02T03:03:05.123456Z");
	ck_assert_str_eq(msg->token, "c0ffee.3.7");
	ck_assert_str_eq(msg->context, "label");
	ck_assert(msg->has_imm && msg->is_rdma_write);
	ck_assert_uint_eq(msg->imm, 4294967295u);
	ck_assert_uint_eq(msg->qp_num, 5);
	ck_assert_uint_eq(msg->conn, 3);
	put(2, 0);
	put_peer("::ffff:192.0.2.7", 65535);
	ck_assert_int_eq(rpmac_nack(h.rpmac, msg), 0);
	ck_assert_int_eq(rpmac_next(h.rpmac, 0, &msg), 0);
	ck_assert_str_eq(msg->peer, "192.0.2.7:65535");
	ck_assert_ptr_null(msg->context);
	put(1, 0);
	ck_assert_int_eq(rpmac_ack(h.rpmac, msg), 0);
	ck_assert_int_eq(rpmac_next(h.rpmac, 0, &msg), 0);
	ck_assert_str_eq(msg->peer, "-");
	ck_assert_uint_eq(h.ring->answered, 2);
	ck_assert_uint_eq(h.answers[0].slot, 3);
	ck_assert_uint_eq(h.answers[0].generation, 7);
	ck_assert_uint_eq(h.answers[0].verb, RING_NACK);
	ck_assert_uint_eq(h.answers[1].slot, 2);
	ck_assert_uint_eq(h.answers[1].verb, RING_ACK);
	close_good();
}
END_TEST

static const struct {
	uint32_t slot, len, delivered;
	uint16_t context_len;
} messages[] = {
	{ 4, 0, 1, 0 },
	{ UINT32_MAX, 0, 1, 0 },
	{ 3, 1025, 1, 0 },
	{ 3, UINT32_MAX, 1, 0 },
	{ 3, 1, 1, RING_CONTEXT_MAX + 1 },
	{ 3, 1, 1, UINT16_MAX },
	{ 3, 1, HOSTILE_ENTRIES + 1, 0 },
	{ 3, 1, UINT32_MAX, 0 },
};

START_TEST(test_no_message)
{
	open_good(HOSTILE_ANSWER_MS);
	put(messages[_i].slot, messages[_i].len);
	h.entries[0].context_len = messages[_i].context_len;
	h.ring->delivered = messages[_i].delivered;
	ck_assert_int_eq(rpmac_next(h.rpmac, 0, &msg), -EPROTO);
	ck_assert_int_eq(rpmac_next(h.rpmac, 0, &msg), -ECONNRESET);
	close_good();
}
END_TEST

/* One that is held already. */
START_TEST(test_twice)
{
	open_good(HOSTILE_ANSWER_MS);
	put(1, 1);
	put(1, 1);
	ck_assert_int_eq(rpmac_next(h.rpmac, 0, &msg), 0);
	ck_assert_int_eq(rpmac_next(h.rpmac, 0, &msg), -EPROTO);
	/* It is still the caller's. */
	ck_assert_int_eq(rpmac_ack(h.rpmac, msg), 0);
	close_good();
}
END_TEST

/* ---- a daemon that does not do its part ---- */

/* Nobody answers: the calls end, and what was asked for comes later. */
START_TEST(test_not_served)
{
	open_good(SHORT_MS);
	ck_assert_int_eq(rpmac_next(h.rpmac, 0, &msg), -ETIMEDOUT);
	ck_assert_int_eq(rpmac_next(h.rpmac, 1, &msg), -ETIMEDOUT);
	put(1, 1);
	ck_assert_int_eq(rpmac_next(h.rpmac, 0, &msg), 0);
	ck_assert_int_eq(rpmac_ack(h.rpmac, msg), 0);
	ck_assert_int_eq(rpmac_flush(h.rpmac), -ETIMEDOUT);
	/* A number that cannot be is no number of answers either. */
	h.ring->settled = 12345;
	ck_assert_int_eq(rpmac_flush(h.rpmac), -ETIMEDOUT);
	h.ring->settled = h.ring->answered;
	ck_assert_int_eq(rpmac_flush(h.rpmac), 0);
	h.ring->served = h.ring->request + 1;
	ck_assert_int_eq(rpmac_next(h.rpmac, 0, &msg), -EAGAIN);
	close_good();
}
END_TEST

/* Who waits for ever asks now and then whether there is somebody, and goes on waiting. */
START_TEST(test_silent_for_long)
{
	h.rpmac->alive_ms = 10;
	open_good(SHORT_MS);
	h.ring->served = 1;
	ck_assert_int_eq(rpmac_next(h.rpmac, RPMAC_FOREVER, &msg), -ETIMEDOUT);
	ck_assert_uint_eq(h.ring->request, 2);
	close_good();
}
END_TEST

/* It never listens: ringing does not wait for room. */
START_TEST(test_deaf)
{
	unsigned int i;

	open_good(HOSTILE_ANSWER_MS);
	for (i = 0; i < 2000; i++) {
		h.ring->served = i + 1;
		h.ring->wants_daemon = 1;
		ck_assert_int_eq(rpmac_next(h.rpmac, 0, &msg), -EAGAIN);
	}
	close_good();
}
END_TEST

static const struct {
	uint32_t state;
	int check, rc;
	const char *name;
} states[] = {
	{ RING_STOPPING, 0, -ESHUTDOWN, "SHUTTING_DOWN" },
	{ RING_DENIED, -ECONNRESET, -EACCES, "DENIED" },
	{ RING_OVER, -ECONNRESET, -ECONNRESET, "" },
	{ 77, -ECONNRESET, -ECONNRESET, "" },
};

/*
 * What is there is taken first. Where the messages are this handle's no more, what was read
 * of them may be of others, though the connection has not ended.
 */
START_TEST(test_state)
{
	open_good(HOSTILE_ANSWER_MS);
	put(0, 5);
	h.ring->state = states[_i].state;
	ck_assert_int_eq(rpmac_next(h.rpmac, RPMAC_FOREVER, &msg), 0);
	ck_assert_int_eq(rpmac_check(h.rpmac), states[_i].check);
	ck_assert_int_eq(rpmac_next(h.rpmac, RPMAC_FOREVER, &msg), states[_i].rc);
	ck_assert_str_eq(rpmac_error_name(h.rpmac), states[_i].name);
	ck_assert_int_eq(rpmac_ack(h.rpmac, NULL), -EINVAL);
	ck_assert_str_eq(rpmac_error_name(h.rpmac), "");
	close_good();
}
END_TEST

/* It stops, and is gone before it has taken an answer: that is no orderly end. */
START_TEST(test_stops_and_is_gone)
{
	open_good(HOSTILE_ANSWER_MS);
	put(0, 5);
	ck_assert_int_eq(rpmac_next(h.rpmac, 0, &msg), 0);
	ck_assert_int_eq(rpmac_ack(h.rpmac, msg), 0);
	h.ring->state = RING_STOPPING;
	(void)shutdown(h.bells[0], SHUT_RDWR);
	ck_assert_int_eq(rpmac_next(h.rpmac, 0, &msg), -ECONNRESET);
	ck_assert_str_eq(rpmac_error_name(h.rpmac), "");
	close_good();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpmac_ring");
	TCase *tc = tcase_create("rpmac_ring");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_message);
	tcase_add_loop_test(tc, test_no_message, 0, (int)ARRAY_LEN(messages));
	tcase_add_test(tc, test_twice);
	tcase_add_test(tc, test_not_served);
	tcase_add_test(tc, test_silent_for_long);
	tcase_add_test(tc, test_deaf);
	tcase_add_loop_test(tc, test_state, 0, (int)ARRAY_LEN(states));
	tcase_add_test(tc, test_stops_and_is_gone);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
