/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive engine over the doubles: the main flow, posting and leases. */
#include <config.h>

#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/core/addr.h"
#include "tests/unit/engine_rig.h"
#include "tests/unit/harness.h"

static struct rig rig;

static void
set_up(void)
{
	fake_reset();
	rig_settings(&rig);
}

START_TEST(test_start_fills_the_queue)
{
	struct srq_info info;

	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_RUNNING);
	ck_assert_str_eq(engine_reason(rig.engine), "");
	ck_assert_str_eq(engine_device(rig.engine), "fake0");
	ck_assert_uint_eq(rig_counts(&rig).posted, 16);
	ck_assert_uint_eq(fake_srq_posted(), 16);
	ck_assert_uint_ne(rig_port(&rig), 0);
	ck_assert_int_eq(fake_listen_backlog(0), 1024);
	engine_srq_info(rig.engine, &info);
	ck_assert(info.is_active);
	ck_assert_uint_eq(info.asked, 32);
	ck_assert_uint_ge(info.effective, 32);
	ck_assert_uint_eq(info.min_rnr_timer_code, 12);
	ck_assert_uint_eq(info.page_size, (uint64_t)sysconf(_SC_PAGESIZE));
	ck_assert_uint_eq(info.pool_bytes, info.page_size);
	ck_assert(!info.huge_pages);
	ck_assert_uint_eq(rig_stats(&rig).huge_page_bytes, 0);
	/* An entry for each slot and 64 more: it cannot overrun. */
	ck_assert_ptr_nonnull(strstr(fake_trace_args(), "ibv_create_cq(cqe=96)"));
	rig_end(&rig);
}
END_TEST

START_TEST(test_receive_poll_ack)
{
	struct ledger_message message, none;
	struct fake_peer *peer;
	unsigned int ready;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	ready = rig.ready;
	ck_assert_int_ge(rig_send(peer, "one"), 0);
	ck_assert_int_ge(fake_peer_send(peer, "two", 3, 4000000000), 0);
	ck_assert_int_ge(fake_peer_send(peer, "", 0, FAKE_NO_IMM), 0);
	rig_settle(&rig);
	ck_assert_uint_gt(rig.ready, ready);
	message = rig_expect(&rig, "one");
	ck_assert_uint_eq(message.seq, 1);
	ck_assert_uint_eq(message.arrival.conn, 1);
	ck_assert_uint_eq(message.arrival.qp_num, fake_peer_qp_num(peer));
	ck_assert(!message.arrival.has_imm);
	ck_assert_int_eq(message.arrival.peer.family, AF_INET);
	rig_ack(&rig, &message);
	message = rig_expect(&rig, "two");
	ck_assert(message.arrival.has_imm);
	ck_assert_uint_eq(message.arrival.imm, 4000000000u);
	rig_ack(&rig, &message);
	message = rig_expect(&rig, "");
	rig_ack(&rig, &message);
	ck_assert(!engine_peek(rig.engine, &none));
	rig_settle(&rig);
	ck_assert_uint_eq(rig_counts(&rig).posted, 16);
	ck_assert_uint_eq(rig_stats(&rig).messages, 3);
	ck_assert_uint_eq(rig_stats(&rig).bytes, 6);
	ck_assert_uint_eq(rig_stats(&rig).imms, 1);
	ck_assert_uint_eq(rig_stats(&rig).acked, 3);
	ck_assert_uint_eq(rig_conn(&rig, 1).messages, 3);
	ck_assert_uint_eq(rig_conn(&rig, 1).held, 0);
	ck_assert_uint_eq(rig_conn(&rig, 1).held_max, 3);
	rig_end(&rig);
}
END_TEST

/* What was seen from outside bounds what the histograms say: sizes, time in the queue, and
 * how long a message was held, which begins anew with each delivery. */
START_TEST(test_histograms)
{
	char token[LEDGER_TOKEN_MAX];
	struct ledger_message message;
	struct engine_stats stats;
	struct fake_peer *peer;
	uint64_t sent_ns, there_ns, polled_ns, again_ns, acked_ns;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	stats = rig_stats(&rig);
	ck_assert_uint_eq(histogram_count(&stats.size_bytes) +
		histogram_count(&stats.queue_ns),
	    0);
	sent_ns = loop_now_ns();
	ck_assert_int_ge(rig_send(peer, "hello"), 0);
	rig_settle(&rig);
	there_ns = loop_now_ns();
	rig_turn_ms(&rig, 30);
	polled_ns = loop_now_ns();
	message = rig_expect(&rig, "hello");
	rig_turn_ms(&rig, 30);
	ledger_token_format(engine_ledger(rig.engine), message.slot, message.generation,
	    token);
	ck_assert_int_eq(engine_nack(rig.engine, NULL, token), LEDGER_DONE);
	again_ns = loop_now_ns();
	message = rig_expect(&rig, "hello");
	ck_assert_uint_eq(message.deliveries, 2);
	rig_turn_ms(&rig, 30);
	acked_ns = loop_now_ns();
	rig_ack(&rig, &message);
	stats = rig_stats(&rig);
	ck_assert_uint_eq(histogram_count(&stats.size_bytes), 1);
	ck_assert_uint_eq(stats.size_bytes.sum, 5);
	ck_assert_uint_eq(histogram_count(&stats.queue_ns), 1);
	/* The wall clock may be a little slower or faster. */
	ck_assert_uint_ge(stats.queue_ns.sum, (polled_ns - there_ns) / 2);
	ck_assert_uint_le(stats.queue_ns.sum, again_ns - sent_ns);
	ck_assert_uint_eq(histogram_count(&stats.hold_ns), 1);
	ck_assert_uint_ge(stats.hold_ns.sum, 20000000);
	ck_assert_uint_le(stats.hold_ns.sum, loop_now_ns() - again_ns);
	ck_assert_uint_lt(again_ns, acked_ns);
	rig_end(&rig);
}
END_TEST

/* "RPMD", version 1, three zeros, slot size in network order. */
START_TEST(test_accept_announces_the_slot_size)
{
	static const uint8_t expected[12] = { 'R', 'P', 'M', 'D', 1, 0, 0, 0, 0, 0, 0,
		64 };
	struct fake_peer *peer;
	const void *pdata;
	size_t len = 0;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	pdata = fake_peer_pdata(peer, &len);
	ck_assert_uint_eq(len, sizeof(expected));
	ck_assert_mem_eq(pdata, expected, sizeof(expected));
	ck_assert_int_eq(fake_peer_rnr_retry(peer), 7);
	rig_end(&rig);
}
END_TEST

START_TEST(test_announce_can_be_switched_off)
{
	size_t len = 99;

	rig.settings.conns_announce = false;
	ck_assert_int_eq(rig_start(&rig), 0);
	(void)fake_peer_pdata(rig_peer(&rig), &len);
	ck_assert_uint_eq(len, 0);
	rig_end(&rig);
}
END_TEST

START_TEST(test_rnr_timer_is_set)
{
	struct fake_peer *peer;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	ck_assert_int_eq(fake_qp_min_rnr_timer(fake_peer_qp_num(peer)), 12);
	rig_end(&rig);
}
END_TEST

START_TEST(test_manual_posts_on_request_only)
{
	uint32_t accepted = 0;

	rig.settings.refill = REFILL_MANUAL;
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_uint_eq(fake_srq_posted(), 0);
	ck_assert_int_eq(engine_post(rig.engine, 5, &accepted, &rig.err), 0);
	ck_assert_uint_eq(accepted, 5);
	ck_assert_uint_eq(fake_srq_posted(), 5);
	/* Part of what was asked is a result. */
	ck_assert_int_eq(engine_post(rig.engine, 100, &accepted, &rig.err), 0);
	ck_assert_uint_eq(accepted, 27);
	ck_assert_int_ne(engine_post(rig.engine, 1, &accepted, &rig.err), 0);
	ck_assert_int_eq(rig.err.code, ERR_SRQ_FULL);
	ck_assert_ptr_nonnull(strstr(rig.err.text, "32 posted"));
	ck_assert_uint_eq(rig_counts(&rig).posted, 32);
	rig_end(&rig);
}
END_TEST

/* The label comes back with whichever message used its slot. */
START_TEST(test_label_comes_back)
{
	struct ledger_message message;
	struct fake_peer *peer;
	char label[16];
	unsigned int i;

	rig.settings.refill = REFILL_MANUAL;
	ck_assert_int_eq(rig_start(&rig), 0);
	for (i = 0; i < 8; i++) {
		(void)snprintf(label, sizeof(label), "label-%u", i * 3);
		ck_assert_int_eq(engine_post_slot(rig.engine, i * 3, 64, label,
				     strlen(label), &rig.err),
		    0);
	}
	peer = rig_peer(&rig);
	for (i = 0; i < 8; i++)
		ck_assert_int_ge(rig_send(peer, "x"), 0);
	rig_settle(&rig);
	for (i = 0; i < 8; i++) {
		message = rig_expect(&rig, "x");
		(void)snprintf(label, sizeof(label), "label-%u", message.slot);
		ck_assert_uint_eq(message.context_len, strlen(label));
		ck_assert_mem_eq(message.context, label, strlen(label));
	}
	rig_end(&rig);
}
END_TEST

START_TEST(test_slot_errors)
{
	rig.settings.refill = REFILL_MANUAL;
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_ne(engine_post_slot(rig.engine, 32, 64, NULL, 0, &rig.err), 0);
	ck_assert_int_eq(rig.err.code, ERR_SLOT_RANGE);
	ck_assert_str_eq(rig.err.path, "params.slot");
	ck_assert_int_ne(engine_post_slot(rig.engine, 0, 65, NULL, 0, &rig.err), 0);
	ck_assert_int_eq(rig.err.code, ERR_INVALID_PARAMS);
	ck_assert_str_eq(rig.err.path, "params.len");
	ck_assert_int_eq(engine_post_slot(rig.engine, 0, 0, NULL, 0, &rig.err), 0);
	ck_assert_int_ne(engine_post_slot(rig.engine, 0, 1, NULL, 0, &rig.err), 0);
	ck_assert_int_eq(rig.err.code, ERR_SLOT_BUSY);
	ck_assert_ptr_nonnull(strstr(rig.err.text, "posted"));
	ck_assert_uint_eq(rig_counts(&rig).posted, 1);
	ck_assert_uint_eq(fake_srq_posted(), 1);
	rig_end(&rig);
}
END_TEST

/* Each driver has its own way to refuse; the slot stays free and the cause is named, also
 * where it is counted. */
START_TEST(test_refused_post)
{
	/* The last one has no name. */
	static const int refusals[] = { ENOMEM, -ENOMEM, -1, EINVAL, 4095 };
	struct engine_stats stats;
	uint32_t accepted = 77;
	size_t i;

	rig.settings.refill = REFILL_MANUAL;
	ck_assert_int_eq(rig_start(&rig), 0);
	for (i = 0; i < ARRAY_LEN(refusals); i++) {
		fake_fail_call("ibv_post_srq_recv", 1, refusals[i]);
		ck_assert_int_ne(engine_post(rig.engine, 4, &accepted, &rig.err), 0);
		ck_assert_int_eq(rig.err.code, ERR_PROVIDER);
		ck_assert_ptr_null(strstr(rig.err.text, "Success"));
		ck_assert_uint_eq(accepted, 77);
		ck_assert_uint_eq(rig_counts(&rig).free, 32);
		fake_fail_call("ibv_post_srq_recv", 1, refusals[i]);
		ck_assert_int_ne(engine_post_slot(rig.engine, 3, 8, NULL, 0, &rig.err),
		    0);
		ck_assert_int_eq(rig.err.code, ERR_PROVIDER);
		ck_assert_uint_eq(rig_counts(&rig).free, 32);
	}
	stats = rig_stats(&rig);
	ck_assert_uint_eq(stats.post_failures, 10);
	ck_assert_uint_eq(stats.post_error_count, 3);
	ck_assert_uint_eq(rig_named(stats.post_errors, 3, "ENOMEM"), 6);
	ck_assert_uint_eq(rig_named(stats.post_errors, 3, "EINVAL"), 2);
	ck_assert_uint_eq(rig_named(stats.post_errors, 3, "unknown"), 2);
	rig_end(&rig);
}
END_TEST

START_TEST(test_refill_recovers_from_a_refusal)
{
	fake_fail_call("ibv_post_srq_recv", 1, ENOMEM);
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_uint_eq(rig_counts(&rig).posted, 0);
	ck_assert_uint_eq(rig_stats(&rig).post_failures, 1);
	ck_assert(rig_until(&rig, rig_is_filled, NULL));
	rig_end(&rig);
}
END_TEST

static bool
all_arrived(struct rig *r, void *arg)
{
	struct fake_peer *peer = arg;

	(void)r;
	return fake_peer_sent_count(peer, FAKE_SENT_WAITING) == 0;
}

/* The sender waits, the wait is counted and timed, nothing is lost. */
START_TEST(test_empty_queue_stalls_and_recovers)
{
	struct ledger_message message;
	struct fake_peer *peer;
	char text[8];
	unsigned int i;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	for (i = 0; i < 40; i++) {
		(void)snprintf(text, sizeof(text), "m%u", i);
		ck_assert_int_ge(rig_send(peer, text), 0);
		rig_settle(&rig);
	}
	ck_assert_uint_eq(fake_peer_sent_count(peer, FAKE_SENT_OK), 32);
	ck_assert_uint_eq(fake_peer_sent_count(peer, FAKE_SENT_WAITING), 8);
	ck_assert(rig_stats(&rig).is_empty);
	ck_assert_uint_ge(rig_stats(&rig).times_empty, 1);
	ck_assert_uint_ge(rig_stats(&rig).times_low, 1);
	rig_turn_ms(&rig, 20);
	ck_assert_uint_ge(rig_stats(&rig).empty_ns, 20000000);
	for (i = 0; i < 40; i++) {
		(void)snprintf(text, sizeof(text), "m%u", i);
		message = rig_expect(&rig, text);
		ck_assert_uint_eq(message.seq, i + 1);
		rig_ack(&rig, &message);
		rig_settle(&rig);
	}
	ck_assert(rig_until(&rig, all_arrived, peer));
	ck_assert(!rig_stats(&rig).is_empty);
	ck_assert_uint_eq(fake_peer_sent_count(peer, FAKE_SENT_OK), 40);
	rig_end(&rig);
}
END_TEST

/* A burst that takes every receive is seen although the refill follows at once. */
START_TEST(test_burst_is_counted)
{
	struct fake_peer *peer;
	unsigned int i;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	ck_assert_uint_eq(rig_stats(&rig).times_empty, 0);
	ck_assert_uint_eq(rig_stats(&rig).empty_ns, 0);
	for (i = 0; i < 16; i++)
		ck_assert_int_ge(rig_send(peer, "burst"), 0);
	rig_settle(&rig);
	ck_assert_uint_eq(rig_counts(&rig).posted, 16);
	ck_assert_uint_eq(rig_stats(&rig).times_empty, 1);
	ck_assert_uint_eq(rig_stats(&rig).times_low, 1);
	ck_assert_uint_gt(rig_stats(&rig).empty_ns, 0);
	ck_assert(!rig_stats(&rig).is_empty);
	rig_end(&rig);
}
END_TEST

START_TEST(test_leases)
{
	struct ledger_owner owner = { 0 };
	struct ledger_message message;
	struct fake_peer *peer;
	char token[LEDGER_TOKEN_MAX];

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	ck_assert_int_ge(rig_send(peer, "a"), 0);
	rig_settle(&rig);
	ck_assert(engine_lease(rig.engine, &owner, PARAM_UNSET, &message));
	engine_owner_gone(rig.engine, &owner);
	ck_assert(engine_lease(rig.engine, &owner, 30, &message));
	ck_assert_uint_eq(message.deliveries, 2);
	ck_assert_uint_eq(owner.count, 0);
	ck_assert(!engine_lease(rig.engine, &owner, 30, &message));
	ck_assert(rig_until(&rig, rig_has_expired, NULL));
	ck_assert_uint_eq(rig_stats(&rig).expired, 1);
	ck_assert(engine_lease(rig.engine, &owner, PARAM_UNSET, &message));
	ck_assert_uint_eq(message.deliveries, 3);
	ledger_token_format(engine_ledger(rig.engine), message.slot, message.generation,
	    token);
	ck_assert_int_eq(engine_nack(rig.engine, NULL, token), LEDGER_DONE);
	ck_assert_int_eq(engine_nack(rig.engine, NULL, token), LEDGER_ALREADY);
	ck_assert_int_eq(engine_ack(rig.engine, NULL, "nonsense"), LEDGER_UNKNOWN);
	ck_assert(engine_lease(rig.engine, &owner, PARAM_UNSET, &message));
	engine_auto_ack(rig.engine, message.slot, message.generation);
	ck_assert_uint_eq(rig_stats(&rig).auto_acked, 1);
	ck_assert_int_eq(engine_ack(rig.engine, NULL, token), LEDGER_ALREADY);
	ck_assert_uint_eq(rig_stats(&rig).redelivered, 3);
	rig_end(&rig);
}
END_TEST

/* All of one owner, and of nobody else. */
START_TEST(test_ack_held)
{
	struct ledger_owner owner = { 0 }, other = { 0 };
	struct ledger_message message;
	struct fake_peer *peer;
	int i;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	for (i = 0; i < 5; i++)
		ck_assert_int_ge(rig_send(peer, "a"), 0);
	rig_settle(&rig);
	for (i = 0; i < 3; i++)
		ck_assert(engine_lease(rig.engine, &owner, PARAM_UNSET, &message));
	ck_assert(engine_lease(rig.engine, &other, PARAM_UNSET, &message));
	ck_assert_uint_eq(engine_ack_held(rig.engine, &owner), 3);
	ck_assert_uint_eq(engine_ack_held(rig.engine, &owner), 0);
	ck_assert_uint_eq(owner.count, 0);
	ck_assert_uint_eq(rig_stats(&rig).acked, 3);
	ck_assert_uint_eq(rig_counts(&rig).leased, 1);
	ck_assert_uint_eq(rig_counts(&rig).ready, 1);
	rig_end(&rig);
}
END_TEST

/* A completion that no event announced is found within a second; the next is announced. */
START_TEST(test_lost_notification)
{
	struct fake_peer *peer;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	ck_assert_int_ge(rig_send(peer, "first"), 0);
	rig_settle(&rig);
	fake_lose_notify(1);
	ck_assert_int_ge(rig_send(peer, "lost"), 0);
	rig_settle(&rig);
	ck_assert_uint_eq(rig_stats(&rig).messages, 1);
	ck_assert(rig_until(&rig, rig_has_looked, NULL));
	ck_assert_uint_eq(rig_stats(&rig).cq_late, 1);
	ck_assert_int_ge(rig_send(peer, "told"), 0);
	rig_settle(&rig);
	ck_assert_uint_eq(rig_stats(&rig).messages, 3);
	rig_end(&rig);
}
END_TEST

static void
send_in_window(void *arg)
{
	(void)rig_send(arg, "window");
}

/* What arrives between the last poll and the arming raises no event. */
START_TEST(test_completion_in_the_arm_window)
{
	struct fake_peer *peer;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	fake_on_notify(true, send_in_window, peer);
	ck_assert_int_ge(rig_send(peer, "event"), 0);
	rig_settle(&rig);
	ck_assert_uint_eq(rig_stats(&rig).messages, 2);
	ck_assert_uint_eq(rig_stats(&rig).cq_late, 0);
	rig_end(&rig);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("engine");
	TCase *tc = tcase_create("engine");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, test_start_fills_the_queue);
	tcase_add_test(tc, test_receive_poll_ack);
	tcase_add_test(tc, test_histograms);
	tcase_add_test(tc, test_accept_announces_the_slot_size);
	tcase_add_test(tc, test_announce_can_be_switched_off);
	tcase_add_test(tc, test_rnr_timer_is_set);
	tcase_add_test(tc, test_manual_posts_on_request_only);
	tcase_add_test(tc, test_label_comes_back);
	tcase_add_test(tc, test_slot_errors);
	tcase_add_test(tc, test_refused_post);
	tcase_add_test(tc, test_refill_recovers_from_a_refusal);
	tcase_add_test(tc, test_empty_queue_stalls_and_recovers);
	tcase_add_test(tc, test_burst_is_counted);
	tcase_add_test(tc, test_leases);
	tcase_add_test(tc, test_ack_held);
	tcase_add_test(tc, test_lost_notification);
	tcase_add_test(tc, test_completion_in_the_arm_window);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
