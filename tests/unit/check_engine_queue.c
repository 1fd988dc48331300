/* SPDX-License-Identifier: BSD-3-Clause */
/* The queues over the doubles: what the device holds, what the ledger says of it, and who
 * uses it up. */
#include <config.h>

#include "tests/unit/engine_rig.h"
#include "tests/unit/harness.h"

static struct rig rig;

static void
set_up(void)
{
	fake_reset();
	rig_settings(&rig);
}

static void
expect_agreement(uint32_t posted)
{
	ck_assert_uint_eq(rig_counts(&rig).posted, posted);
	ck_assert_uint_eq(fake_srq_posted(), posted);
}

static bool
was_polled(struct rig *r, void *arg)
{
	const unsigned int *polls = arg;

	(void)r;
	return fake_called("ibv_poll_cq") != *polls;
}

/*
 * More completions than one look at the queue takes, behind one event, of a connection whose
 * end drains nothing: all are read at once, and none is left for the safety poll. That is a
 * second away after the one that is waited for, for nothing else polls an idle queue.
 */
START_TEST(test_one_event_many_completions)
{
	static const unsigned int counts[] = { 65, 257, 600 };
	const unsigned int count = counts[_i];
	struct fake_peer *peer;
	unsigned int i, polls;
	uint64_t start_ns;

	rig.settings.pool_slots = 1024;
	rig.settings.receive_target = 1024;
	ck_assert_int_eq(rig_start(&rig), 0);
	expect_agreement(1024);
	peer = rig_peer(&rig);
	polls = fake_called("ibv_poll_cq");
	ck_assert(rig_until(&rig, was_polled, &polls));
	start_ns = loop_now_ns();
	for (i = 0; i < count; i++)
		ck_assert_int_ge(rig_send(peer, "many"), 0);
	ck_assert_uint_eq(fake_peer_sent_count(peer, FAKE_SENT_OK), count);
	rig_settle(&rig);
	ck_assert_uint_eq(rig_stats(&rig).messages, count);
	/* Unless the machine stood still for so long. */
	if (loop_now_ns() - start_ns < 900000000u)
		ck_assert_uint_eq(rig_stats(&rig).cq_late, 0);
	ck_assert_int_eq(fake_peer_state(peer), FAKE_PEER_ESTABLISHED);
	expect_agreement(1024 - count);
	rig_end(&rig);
}
END_TEST

static bool
has_one_conn(struct rig *r, void *arg)
{
	(void)arg;
	return rig_stats(r).conns == 1;
}

/* One more message that nobody reads; how many slots are posted or free then. */
static uint32_t
hold_one_more(struct fake_peer *peer)
{
	struct ledger_counts counts;

	ck_assert_int_ge(rig_send(peer, "mine"), 0);
	rig_settle(&rig);
	counts = rig_counts(&rig);
	return counts.free + counts.posted;
}

/* The one that holds too much goes, and only while others go short. */
START_TEST(test_quota)
{
	uint32_t left = 32, held = 0;
	struct fake_peer *greedy;

	fake_options()->last_wqe = true;
	rig.settings.conns_quota_slots = 8;
	ck_assert_int_eq(rig_start(&rig), 0);
	greedy = rig_peer(&rig);
	(void)rig_peer(&rig);
	while (left >= 4) {
		ck_assert_uint_eq(left, 32 - held);
		ck_assert_uint_eq(rig_conn(&rig, 1).held, held);
		ck_assert_uint_eq(rig_conn(&rig, 1).held_max, held);
		ck_assert_int_eq(fake_peer_state(greedy), FAKE_PEER_ESTABLISHED);
		left = hold_one_more(greedy);
		held++;
	}
	(void)rig_send(greedy, "mine");
	ck_assert(rig_until(&rig, has_one_conn, NULL));
	ck_assert_str_eq(rig_conn(&rig, 1).reason, "over_quota");
	ck_assert_int_eq(rig_conn(&rig, 2).state, CONN_ESTABLISHED);
	/* What had arrived stays. */
	ck_assert_uint_eq(rig_counts(&rig).ready, rig_stats(&rig).messages);
	rig_end(&rig);
}
END_TEST

/* A peer that is alone takes nothing from anybody, until another comes. */
START_TEST(test_quota_of_one_alone)
{
	struct ledger_message message;
	struct fake_peer *alone;

	fake_options()->last_wqe = true;
	rig.settings.conns_quota_slots = 8;
	ck_assert_int_eq(rig_start(&rig), 0);
	alone = rig_peer(&rig);
	while (hold_one_more(alone) > 0)
		;
	ck_assert_uint_eq(rig_conn(&rig, 1).held, 32);
	ck_assert_int_eq(fake_peer_state(alone), FAKE_PEER_ESTABLISHED);
	(void)rig_peer(&rig);
	ck_assert_int_eq(fake_peer_state(alone), FAKE_PEER_ESTABLISHED);
	ck_assert_int_ge(rig_send(alone, "mine"), 0);
	message = rig_expect(&rig, "mine");
	rig_ack(&rig, &message);
	ck_assert(rig_until(&rig, has_one_conn, NULL));
	ck_assert_str_eq(rig_conn(&rig, 1).reason, "over_quota");
	rig_end(&rig);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("engine_queue");
	TCase *tc = tcase_create("engine_queue");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_loop_test(tc, test_one_event_many_completions, 0, 3);
	tcase_add_test(tc, test_quota);
	tcase_add_test(tc, test_quota_of_one_alone);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
