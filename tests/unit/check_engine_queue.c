/* SPDX-License-Identifier: BSD-3-Clause */
/* The queues over the doubles: what the device holds, what the ledger says of it, and who
 * uses it up. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "tests/unit/engine_rig.h"
#include "tests/unit/harness.h"

#define PEERS 8u

static struct rig rig;

static void
set_up(void)
{
	fake_reset();
	rig_settings(&rig);
}

/* Before Linux 5.14 memory comes when it is used, and takes no time at the start. */
static bool
has_populate_write(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *base = mmap(NULL, page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool has;

	ck_assert_ptr_ne(base, MAP_FAILED);
	has = madvise(base, page, 23) == 0;
	(void)munmap(base, page);
	return has;
}

/* Whoever waits for the start hears that it goes on. */
START_TEST(test_memory_is_taken)
{
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_uint_eq(rig.busy, has_populate_write() ? 1 : 0);
	rig_end(&rig);
}
END_TEST

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
is_waiting(struct rig *r, void *arg)
{
	(void)arg;
	return engine_state(r->engine) == ENGINE_WAITING_FOR_DEVICE;
}

/* However many are unread when the device is let go: their senders were told that they arrived. */
START_TEST(test_many_unread_at_the_end)
{
	const unsigned int count = 20000;
	struct fake_peer *peer;
	unsigned int i;

	rig.settings.pool_slots = count;
	rig.settings.receive_target = count;
	ck_assert_int_eq(rig_start(&rig), 0);
	rig_settle(&rig);
	expect_agreement(count);
	peer = rig_peer(&rig);
	for (i = 0; i < count; i++)
		ck_assert_int_ge(rig_send(peer, "many"), 0);
	ck_assert_uint_eq(fake_peer_sent_count(peer, FAKE_SENT_OK), count);
	fake_async_event(0, IBV_EVENT_DEVICE_FATAL, 0, 0);
	ck_assert(rig_until(&rig, is_waiting, NULL));
	ck_assert_uint_eq(rig_counts(&rig).ready, count);
	rig_end(&rig);
}
END_TEST

/* The same of sends: who hears that one failed that had arrived would send it again. */
START_TEST(test_many_sends_unread_at_the_end)
{
	const unsigned int peers = 32, each = 32;
	struct rig_done *done = calloc((size_t)peers * each, sizeof(*done));
	unsigned int i, failed = 0;

	rig.settings.send_slots = peers * each;
	rig.settings.conns_max = peers;
	ck_assert_int_eq(rig_start(&rig), 0);
	for (i = 0; i < peers; i++)
		(void)rig_peer(&rig);
	for (i = 0; i < peers * each; i++)
		engine_conn_send(rig.engine, 1 + i / each, "sent", 4, PARAM_UNSET, 1000,
		    rig_done, &done[i]);
	fake_async_event(0, IBV_EVENT_DEVICE_FATAL, 0, 0);
	ck_assert(rig_until(&rig, is_waiting, NULL));
	for (i = 0; i < peers * each; i++) {
		ck_assert_uint_eq(done[i].calls, 1);
		failed += done[i].failed;
	}
	ck_assert_uint_eq(failed, 0);
	free(done);
	rig_end(&rig);
}
END_TEST

/* The full queue refuses the rest of a batch, in each driver's words: what it took is
 * posted, what it did not take is free. */
START_TEST(test_refused_in_part)
{
	static const int refusals[] = { ENOMEM, -ENOMEM, -1 };
	struct ledger_message message;
	struct fake_peer *peer;
	uint32_t accepted = 0;
	char text[8];
	unsigned int i;

	fake_options()->srq_full = refusals[_i];
	fake_options()->srq_missing = 10;
	rig.settings.refill = REFILL_MANUAL;
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(engine_post(rig.engine, 32, &accepted, &rig.err), 0);
	ck_assert_uint_eq(accepted, 22);
	expect_agreement(22);
	ck_assert_uint_eq(rig_counts(&rig).free, 10);
	ck_assert_int_ne(engine_post(rig.engine, 10, &accepted, &rig.err), 0);
	ck_assert_int_eq(rig.err.code, ERR_PROVIDER);
	ck_assert_uint_eq(accepted, 22);
	expect_agreement(22);
	ck_assert_uint_eq(rig_counts(&rig).free, 10);
	ck_assert_uint_eq(rig_stats(&rig).post_failures, 2);
	peer = rig_peer(&rig);
	for (i = 0; i < 23; i++) {
		(void)snprintf(text, sizeof(text), "m%u", i);
		ck_assert_int_ge(rig_send(peer, text), 0);
	}
	rig_settle(&rig);
	ck_assert_uint_eq(fake_peer_sent_count(peer, FAKE_SENT_OK), 22);
	ck_assert_uint_eq(fake_peer_sent_count(peer, FAKE_SENT_WAITING), 1);
	expect_agreement(0);
	for (i = 0; i < 22; i++) {
		(void)snprintf(text, sizeof(text), "m%u", i);
		message = rig_expect(&rig, text);
		rig_ack(&rig, &message);
	}
	ck_assert_uint_eq(rig_counts(&rig).free, 32);
	rig_end(&rig);
}
END_TEST

/* Peers send in turn, more than fits, and are killed before or after that was read; how many
 * messages landed. */
static unsigned int
send_and_kill(bool is_read)
{
	struct fake_peer *peers[PEERS];
	unsigned int i, landed = 0;

	for (i = 0; i < PEERS; i++)
		peers[i] = rig_peer(&rig);
	for (i = 0; i < 3 * PEERS; i++)
		ck_assert_int_ge(rig_send(peers[i % PEERS], "last words"), 0);
	if (is_read)
		rig_settle(&rig);
	for (i = 0; i < PEERS; i++) {
		fake_peer_kill(peers[i]);
		landed += fake_peer_sent_count(peers[i], FAKE_SENT_OK);
	}
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	rig_settle(&rig);
	return landed;
}

/* _i: bit 0 the driver shows the CM event first, bit 1 it drops unread completions and tells of
 * the last receive, bit 2 it shows completions when their queue pair goes. */
START_TEST(test_kills_do_not_leak)
{
	struct ledger_message message;
	unsigned int round, i, landed;
	uint64_t all = 0;

	fake_options()->cm_event_first = _i & 1;
	fake_options()->drop_unread = _i & 2;
	fake_options()->last_wqe = _i & 2;
	fake_options()->late_at_destroy = _i & 4;
	fake_options()->reuse_qp_num = _i & 6;
	ck_assert_int_eq(rig_start(&rig), 0);
	for (round = 0; round < 40; round++) {
		landed = send_and_kill(round % 2 != 0);
		all += landed;
		/* The target, or what the messages leave of 32. */
		ck_assert_uint_ge(landed, 16);
		expect_agreement(landed > 16 ? 32 - landed : 16);
		ck_assert_uint_eq(rig_counts(&rig).ready, landed);
		for (i = 0; i < landed; i++) {
			message = rig_expect(&rig, "last words");
			rig_ack(&rig, &message);
		}
		rig_settle(&rig);
		expect_agreement(16);
		ck_assert_uint_eq(rig_counts(&rig).free, 16);
	}
	ck_assert_uint_eq(rig_stats(&rig).messages, all);
	ck_assert_uint_eq(rig_stats(&rig).dropped, 0);
	rig_end(&rig);
}
END_TEST

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
	ck_assert(rig_until(&rig, rig_one_conn, NULL));
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
	ck_assert(rig_until(&rig, rig_one_conn, NULL));
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
	tcase_add_test(tc, test_memory_is_taken);
	tcase_add_test(tc, test_many_unread_at_the_end);
	tcase_add_test(tc, test_many_sends_unread_at_the_end);
	tcase_add_loop_test(tc, test_one_event_many_completions, 0, 3);
	tcase_add_loop_test(tc, test_refused_in_part, 0, 3);
	tcase_add_loop_test(tc, test_kills_do_not_leak, 0, 5);
	tcase_add_test(tc, test_quota);
	tcase_add_test(tc, test_quota_of_one_alone);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
