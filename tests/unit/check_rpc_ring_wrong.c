/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reader may not do with its ring, and what becomes of one that does. */
#include <config.h>

#include <string.h>
#include <sys/socket.h>

#include <jansson.h>

#include "tests/unit/harness.h"
#include "tests/unit/ring_rig.h"

#define SLOTS   RING_RIG_SLOTS
#define ENTRIES RING_RIG_ENTRIES
#define STORMS  2000

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

START_TEST(test_refused)
{
	json_t *reply, *error;

	json_decref(crig_fail(&a.client, "recv.ring", NULL, "ALREADY_EXISTS"));
	json_decref(crig_fail(&b.client, "recv.ring", "{\"entries\":0}",
	    "INVALID_PARAMS"));
	json_decref(crig_fail(&b.client, "recv.ring", "{\"entries\":4097}",
	    "INVALID_PARAMS"));
	crig_puts(&b.client,
	    "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"recv.ring\"}]\n");
	reply = crig_reply(&b.client);
	error = json_object_get(json_array_get(reply, 0), "error");
	ck_assert_str_eq(crig_text(json_object_get(error, "data"), "name"),
	    "UNSUPPORTED");
	json_decref(reply);
	rig.settings->pool_share = false;
	error = crig_fail(&b.client, "recv.ring", NULL, "UNSUPPORTED");
	ck_assert_ptr_nonnull(strstr(crig_text(json_object_get(error, "data"), "hint"),
	    "pool.share"));
	json_decref(error);
}
END_TEST

/* Of all that these can be, none names a message that it holds: nothing changes. */
static const struct ring_answer wrong[] = {
	{ .slot = SLOTS, .generation = 1 },
	{ .slot = UINT32_MAX, .generation = 1 },
	{ .slot = 0, .generation = 0 },
	{ .slot = 0, .generation = UINT32_MAX },
	{ .slot = 0, .generation = 2, .verb = RING_NACK },
	{ .slot = 0, .generation = 1, .verb = 2 },
	{ .slot = 0, .generation = 1, .verb = UINT32_MAX },
	{ .slot = 1, .generation = 1 },
};

START_TEST(test_wrong_answer)
{
	reader_grant(&a, ENTRIES);
	reader_arrive(&a, "one");
	ck_assert_uint_eq(a.entries[0].slot, 0);
	ck_assert_uint_eq(a.entries[0].generation, 1);
	a.answers[0] = wrong[_i];
	a.ring->answered = 1;
	reader_ring(&a);
	ck_assert_uint_eq(a.ring->settled, 1);
	ck_assert_uint_eq(a.ring->unknown, 1);
	ring_rig_expect(&rig, SLOTS - 1, 0, 0, 1);
	reader_answer(&a, &a.entries[0], RING_ACK);
	/* Twice is once. */
	reader_answer(&a, &a.entries[0], RING_ACK);
	reader_ring(&a);
	ck_assert_uint_eq(a.ring->unknown, 2);
	ring_rig_expect(&rig, SLOTS, 0, 0, 0);
	crig_close(&a.client);
	crig_settle(&rig);
	ck_assert_ptr_nonnull(strstr(rig.log, "answered 2 times by its ring"));
	crig_open(&rig, &a.client);
}
END_TEST

/* Counters that cannot be end the connection, and what it held goes back. */
static const struct {
	uint32_t granted, answered;
} counters[] = {
	{ 1 + ENTRIES + 1, 0 },
	{ 0x80000000u, 0 },
	{ ENTRIES, 4096 },
	{ ENTRIES, UINT32_MAX },
};

START_TEST(test_wrong_counters)
{
	reader_grant(&a, 1);
	reader_arrive(&a, "one");
	ck_assert_uint_eq(a.ring->delivered, 1);
	a.ring->granted = counters[_i].granted;
	a.ring->answered = counters[_i].answered;
	a.ring->wants_reader = 1;
	reader_ring(&a);
	ck_assert_uint_eq(a.ring->state, RING_OVER);
	ck_assert_ptr_null(crig_line(&a.client));
	ring_rig_expect(&rig, SLOTS - 1, 0, 1, 0);
	/* Others do not notice. */
	json_decref(crig_call(&b.client, "recv.poll", "{}"));
	crig_close(&a.client);
	crig_open(&rig, &a.client);
}
END_TEST

/* It may not receive any more: that is what it is told, and what it held goes back. */
START_TEST(test_denied)
{
	struct err err;
	unsigned int i;

	reader_grant(&a, ENTRIES);
	reader_arrive(&a, "one");
	a.ring->wants_reader = 1;
	/* Each role is given, to nobody. */
	for (i = 0; i < ARRAY_LEN(rig.settings->roles); i++)
		rig.settings->roles[i].is_given = true;
	ck_assert_int_eq(access_update(rig.access, rig.settings, ACCESS_NO_GROUP, &err),
	    0);
	rpc_roles_changed(rig.rpc);
	ck_assert_uint_eq(a.ring->state, RING_DENIED);
	ck_assert(reader_has_heard(&a));
	ring_rig_expect(&rig, SLOTS - 1, 0, 1, 0);
	json_decref(crig_fail(&a.client, "stats.get", NULL, "DENIED"));
}
END_TEST

/*
 * Everything in its memory becomes something else, again and again: the daemon lives, its
 * books are right, and another reader loses nothing.
 */
START_TEST(test_storm)
{
	uint32_t seed = 20261130, got = 0;
	unsigned int i, j;

	reader_open(&b);
	for (i = 0; i < STORMS; i++) {
		uint32_t *words = (uint32_t *)a.ring;

		for (j = 0; j < 40; j++) {
			seed = seed * 1103515245u + 12345u;
			/* Mostly the counters, and small steps of these. */
			if (j % 2)
				words[(seed >> 8) % (a.bytes / 4)] = seed;
			else
				words[16 + (seed >> 8) % 40] += (seed >> 20) % 5;
		}
		reader_grant(&b, 2);
		if (stub_engine_counts(rig.engine).free > 0)
			reader_arrive(&a, "x");
		(void)send(a.bell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		crig_settle(&rig);
		while (b.ring->delivered != got)
			reader_answer(&b, &b.entries[got++ % ENTRIES], RING_ACK);
		reader_ring(&b);
		ck_assert_uint_eq(b.ring->unknown, 0);
		ck_assert_uint_eq(b.ring->settled, got);
		if (!reader_is_over(&a))
			continue;
		reader_drop(&a);
		crig_close(&a.client);
		crig_open(&rig, &a.client);
		reader_open(&a);
	}
	ck_assert_uint_gt(got, STORMS / 4);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpc_ring_wrong");
	TCase *tc = tcase_create("rpc_ring_wrong");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_refused);
	tcase_add_loop_test(tc, test_wrong_answer, 0, (int)ARRAY_LEN(wrong));
	tcase_add_loop_test(tc, test_wrong_counters, 0, (int)ARRAY_LEN(counters));
	tcase_add_test(tc, test_denied);
	tcase_add_test(tc, test_storm);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
