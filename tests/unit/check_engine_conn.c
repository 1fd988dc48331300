/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections over the doubles: closing, draining, refusing, dialling, sending,
 * devices. */
#include <config.h>

#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#include "daemon/conn.h"
#include "lib/core/addr.h"
#include "tests/unit/engine_rig.h"
#include "tests/unit/harness.h"

/* How long the end of a queue pair is waited for. */
#define WQE_NS 2000000000u

static struct rig rig;

static void
set_up(void)
{
	fake_reset();
	rig_settings(&rig);
}

static bool
is_running(struct rig *r, void *arg)
{
	(void)arg;
	return engine_state(r->engine) == ENGINE_RUNNING;
}

static bool
is_stopped(struct rig *r, void *arg)
{
	(void)arg;
	return r->is_stopped;
}

/* One round: a peer sends a burst and leaves at once; every message is there. */
static void
send_and_leave(unsigned int round, unsigned int count)
{
	struct fake_peer *peer = rig_peer(&rig);
	struct ledger_message message;
	char text[32];
	unsigned int i;

	for (i = 0; i < count; i++) {
		(void)snprintf(text, sizeof(text), "round %u message %u", round, i);
		ck_assert_int_ge(rig_send(peer, text), 0);
	}
	ck_assert_uint_eq(fake_peer_sent_count(peer, FAKE_SENT_OK), count);
	fake_peer_disconnect(peer);
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	for (i = 0; i < count; i++) {
		(void)snprintf(text, sizeof(text), "round %u message %u", round, i);
		message = rig_expect(&rig, text);
		ck_assert_uint_eq(message.arrival.conn, round + 1);
		ck_assert_int_eq(message.arrival.peer.family, AF_INET);
		rig_ack(&rig, &message);
	}
	rig_settle(&rig);
	ck_assert_uint_eq(fake_srq_posted(), rig_counts(&rig).posted);
	ck_assert_str_eq(rig_conn(&rig, round + 1).reason, "peer");
	ck_assert_uint_eq(rig_conn(&rig, round + 1).messages, count);
}

/* _i: bit 0 the driver shows the CM event first, bit 1 it drops unread completions. */
START_TEST(test_send_and_leave_at_once)
{
	unsigned int round;

	rig.settings.pool_slots = 256;
	rig.settings.receive_target = 128;
	fake_options()->cm_event_first = _i & 1;
	fake_options()->drop_unread = _i & 2;
	fake_options()->reuse_qp_num = _i & 2;
	ck_assert_int_eq(rig_start(&rig), 0);
	for (round = 0; round < 20; round++)
		send_and_leave(round, 100);
	ck_assert_uint_eq(rig_stats(&rig).messages, 2000);
	rig_end(&rig);
}
END_TEST

/* Where LAST_WQE_REACHED is never sent the close ends within the deadline. */
START_TEST(test_last_wqe)
{
	struct fake_peer *peer;
	uint64_t start_ns;

	fake_options()->last_wqe = _i;
	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	ck_assert_int_ge(rig_send(peer, "x"), 0);
	fake_peer_disconnect(peer);
	start_ns = loop_now_ns();
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	ck_assert_uint_lt(loop_now_ns() - start_ns, _i ? WQE_NS : 2 * WQE_NS);
	/* Waited for in vain once, it is not waited for again. */
	peer = rig_peer(&rig);
	fake_peer_disconnect(peer);
	start_ns = loop_now_ns();
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	ck_assert_uint_lt(loop_now_ns() - start_ns, WQE_NS);
	rig_end(&rig);
}
END_TEST

START_TEST(test_message_too_long)
{
	struct fake_peer *bad, *good;
	struct ledger_message message;
	char text[65];

	fake_set_kind(_i ? FAKE_RXE : FAKE_IB);
	memset(text, 'x', sizeof(text));
	ck_assert_int_eq(rig_start(&rig), 0);
	bad = rig_peer(&rig);
	good = rig_peer(&rig);
	ck_assert_int_ge(fake_peer_send(bad, text, sizeof(text), FAKE_NO_IMM), 0);
	rig_settle(&rig);
	ck_assert_uint_eq(fake_peer_sent_count(bad, FAKE_SENT_ERROR), 1);
	ck_assert(rig_until(&rig, rig_one_conn, NULL));
	ck_assert_str_eq(rig_conn(&rig, 1).reason, "message_too_long");
	ck_assert_int_ge(rig_send(good, "fine"), 0);
	rig_settle(&rig);
	message = rig_expect(&rig, "fine");
	rig_ack(&rig, &message);
	rig_settle(&rig);
	ck_assert_uint_eq(rig_counts(&rig).free, 16);
	ck_assert_uint_eq(rig_counts(&rig).posted, 16);
	ck_assert_uint_eq(rig_named(rig_stats(&rig).recv_errors,
			      rig_stats(&rig).recv_error_count,
			      _i ? "REM_INV_REQ_ERR" : "LOC_LEN_ERR"),
	    1);
	ck_assert_int_eq(fake_peer_state(good), FAKE_PEER_ESTABLISHED);
	rig_end(&rig);
}
END_TEST

/* The cause is named although the end of the connection was seen before it. */
START_TEST(test_cause_outweighs_the_end)
{
	struct fake_peer *peer;
	char text[65];

	memset(text, 'x', sizeof(text));
	fake_set_kind(FAKE_RXE);
	fake_options()->cm_event_first = true;
	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	ck_assert_int_ge(fake_peer_send(peer, text, sizeof(text), FAKE_NO_IMM), 0);
	fake_peer_disconnect(peer);
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	ck_assert_str_eq(rig_conn(&rig, 1).reason, "message_too_long");
	rig_end(&rig);
}
END_TEST

START_TEST(test_other_status_is_named)
{
	struct fake_peer *peer;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	fake_inject_wc(fake_peer_qp_num(peer), 99999, IBV_WC_LOC_PROT_ERR);
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	ck_assert_str_eq(rig_conn(&rig, 1).reason, "error:LOC_PROT_ERR");
	/* Its slot number was nonsense: nothing was taken for it. */
	ck_assert_uint_eq(rig_stats(&rig).dropped, 1);
	rig_end(&rig);
}
END_TEST

START_TEST(test_refused_before_a_queue_pair_exists)
{
	struct fake_peer *peer;
	struct engine_stats stats;

	rig.settings.conns_max = 1;
	rig.settings.conns_allow_count = 1;
	ck_assert_int_eq(addr_net_parse("127.0.0.0/8", &rig.settings.conns_allow[0],
			     &rig.err),
	    0);
	ck_assert_int_eq(rig_start(&rig), 0);
	peer = fake_peer_connect_from("192.0.2.1", rig_port(&rig), NULL, 0);
	rig_settle(&rig);
	ck_assert_int_eq(fake_peer_state(peer), FAKE_PEER_REJECTED);
	ck_assert_int_eq(fake_peer_reason(peer), 28);
	ck_assert_uint_eq(fake_made(FAKE_QP), 0);
	(void)rig_peer(&rig);
	peer = fake_peer_connect(rig_port(&rig), NULL, 0);
	rig_settle(&rig);
	ck_assert_int_eq(fake_peer_state(peer), FAKE_PEER_REJECTED);
	ck_assert_uint_eq(fake_made(FAKE_QP), 1);
	stats = rig_stats(&rig);
	ck_assert_uint_eq(stats.requests, 3);
	ck_assert_uint_eq(stats.accepted, 1);
	ck_assert_uint_eq(rig_named(stats.rejected, stats.rejected_count,
			      "not_allowed"),
	    1);
	ck_assert_uint_eq(rig_named(stats.rejected, stats.rejected_count, "limit"), 1);
	rig_end(&rig);
}
END_TEST

/* Many refused requests leave no id behind. */
START_TEST(test_rejects_do_not_leak)
{
	unsigned int i, live;

	rig.settings.conns_allow_count = 1;
	ck_assert_int_eq(addr_net_parse("10.0.0.0/8", &rig.settings.conns_allow[0],
			     &rig.err),
	    0);
	ck_assert_int_eq(rig_start(&rig), 0);
	live = fake_live(FAKE_ID);
	for (i = 0; i < 500; i++) {
		ck_assert_ptr_nonnull(fake_peer_connect(rig_port(&rig), NULL, 0));
		rig_settle(&rig);
	}
	ck_assert_uint_eq(fake_live(FAKE_ID), live);
	ck_assert_uint_eq(rig_stats(&rig).conns, 0);
	rig_end(&rig);
}
END_TEST

/* A peer that dies between its request and its acceptance. */
START_TEST(test_request_that_died)
{
	struct fake_peer *peer;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = fake_peer_connect(rig_port(&rig), NULL, 0);
	fake_peer_kill(peer);
	rig_settle(&rig);
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	(void)rig_peer(&rig);
	rig_end(&rig);
}
END_TEST

START_TEST(test_close)
{
	struct rig_done first = { .calls = 0 }, second = { .calls = 0 };
	struct fake_peer *peer;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	engine_conn_close(rig.engine, 1, rig_done, &first);
	engine_conn_close(rig.engine, 1, rig_done, &second);
	ck_assert_uint_eq(first.calls, 0);
	ck_assert(rig_wait(&rig, &first));
	ck_assert(rig_wait(&rig, &second));
	ck_assert(!first.failed);
	ck_assert_str_eq(first.info.reason, "local");
	ck_assert_int_eq(fake_peer_state(peer), FAKE_PEER_DISCONNECTED);
	memset(&first, 0, sizeof(first));
	engine_conn_close(rig.engine, 1, rig_done, &first);
	ck_assert(first.failed);
	ck_assert_int_eq(first.err.code, ERR_NO_SUCH_CONN);
	ck_assert_ptr_nonnull(strstr(first.err.text, "local"));
	rig_end(&rig);
}
END_TEST

START_TEST(test_closed_are_remembered)
{
	struct conn_info info;
	unsigned int i;

	ck_assert_int_eq(rig_start(&rig), 0);
	for (i = 0; i < CONN_CLOSED_MAX + 3; i++) {
		fake_peer_disconnect(rig_peer(&rig));
		ck_assert(rig_until(&rig, rig_no_conns, NULL));
	}
	ck_assert_int_ne(engine_conn_info(rig.engine, 3, &info, &rig.err), 0);
	ck_assert_int_eq(rig.err.code, ERR_NO_SUCH_CONN);
	ck_assert_int_eq(engine_conn_info(rig.engine, 4, &info, &rig.err), 0);
	ck_assert_int_eq(info.state, CONN_CLOSED);
	ck_assert_uint_ne(info.closed_ns, 0);
	rig_end(&rig);
}
END_TEST

START_TEST(test_idle)
{
	struct fake_peer *busy;
	unsigned int i;

	/* Many times the time between two messages, also where the machine is slow. */
	rig.settings.conns_idle_ms = 2000;
	ck_assert_int_eq(rig_start(&rig), 0);
	(void)rig_peer(&rig);
	busy = rig_peer(&rig);
	for (i = 0; i < 200 && rig_conn(&rig, 1).state == CONN_ESTABLISHED; i++) {
		struct ledger_message message;

		ck_assert_int_ge(rig_send(busy, "x"), 0);
		rig_turn_ms(&rig, 50);
		message = rig_expect(&rig, "x");
		rig_ack(&rig, &message);
	}
	ck_assert_str_eq(rig_conn(&rig, 1).reason, "idle");
	ck_assert_int_eq(rig_conn(&rig, 2).state, CONN_ESTABLISHED);
	rig_end(&rig);
}
END_TEST

START_TEST(test_device_goes_and_returns)
{
	struct ledger_message message;
	const struct ibv_context *old = fake_context(0);
	struct fake_peer *peer;
	uint16_t port;
	unsigned int i;

	ck_assert_int_eq(rig_start(&rig), 0);
	port = rig_port(&rig);
	for (i = 0; i < 3; i++) {
		old = fake_context(0);
		peer = rig_peer(&rig);
		ck_assert_int_ge(rig_send(peer, "before"), 0);
		rig_settle(&rig);
		fake_device_remove(0);
		rig_settle(&rig);
		ck_assert_int_eq(engine_state(rig.engine), ENGINE_WAITING_FOR_DEVICE);
		ck_assert(fake_device_released(old));
		ck_assert_str_eq(rig_conn(&rig, i + 1).reason, "device_gone");
		ck_assert_uint_eq(rig_counts(&rig).posted, 0);
		message = rig_expect(&rig, "before");
		rig_ack(&rig, &message);
		rig_turn_ms(&rig, 300);
		fake_device_return(0);
		ck_assert(rig_until(&rig, is_running, NULL));
		rig_settle(&rig);
		ck_assert_uint_eq(rig_port(&rig), port);
		ck_assert_uint_eq(rig_counts(&rig).posted, 16);
	}
	rig_end(&rig);
}
END_TEST

START_TEST(test_start_without_a_device)
{
	fake_device_remove(0);
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_WAITING_FOR_DEVICE);
	ck_assert_str_ne(engine_reason(rig.engine), "");
	fake_device_return(0);
	ck_assert(rig_until(&rig, is_running, NULL));
	(void)rig_peer(&rig);
	rig_end(&rig);
}
END_TEST

static void
add_warning(void *arg, const char *sentence)
{
	unsigned int *count = arg;

	*count += strstr(sentence, "up to 16 messages") != NULL;
}

/* A dead queue takes all connections with it; they may come back, messages are kept. */
START_TEST(test_queue_overrun)
{
	unsigned int warnings = 0;
	struct ledger_message message;
	struct fake_peer *peer;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	ck_assert_int_ge(rig_send(peer, "kept"), 0);
	rig_settle(&rig);
	fake_overrun(fake_peer_qp_num(peer));
	rig_settle(&rig);
	ck_assert(rig_until(&rig, is_running, NULL));
	message = rig_expect(&rig, "kept");
	rig_ack(&rig, &message);
	(void)rig_peer(&rig);
	ck_assert_str_eq(rig_conn(&rig, 1).reason, "error:QUEUE_FATAL");
	/* What the queue could have held besides is not passed over in silence. */
	ck_assert_uint_eq(rig_stats(&rig).maybe_lost, 16);
	engine_warnings(rig.engine, add_warning, &warnings);
	ck_assert_uint_eq(warnings, 1);
	rig_end(&rig);
}
END_TEST

/* What a sender saw succeed before the stop is in the ledger after it. */
START_TEST(test_stop_drains)
{
	struct fake_peer *peers[4];
	unsigned int i, sent = 0;

	fake_options()->cm_event_first = true;
	fake_options()->drop_unread = true;
	ck_assert_int_eq(rig_start(&rig), 0);
	for (i = 0; i < 4; i++)
		peers[i] = rig_peer(&rig);
	for (i = 0; i < 16; i++)
		ck_assert_int_ge(rig_send(peers[i % 4], "last words"), 0);
	for (i = 0; i < 4; i++)
		sent += fake_peer_sent_count(peers[i], FAKE_SENT_OK);
	engine_stop(rig.engine);
	ck_assert(rig_until(&rig, is_stopped, NULL));
	ck_assert_uint_eq(sent, 16);
	ck_assert_uint_eq(rig_counts(&rig).ready, 16);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_STOPPED);
	rig_end(&rig);
}
END_TEST

START_TEST(test_stop_without_a_device)
{
	rig.settings.listen_count = 0;
	ck_assert_int_eq(rig_start(&rig), 0);
	engine_stop(rig.engine);
	ck_assert(rig_until(&rig, is_stopped, NULL));
	rig_end(&rig);
}
END_TEST

/* A device for which nothing is to listen any more is not waited for, and not opened. */
START_TEST(test_unlisten_while_waiting)
{
	struct sockaddr_storage addr;
	struct listener_info info;

	fake_device_remove(0);
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_WAITING_FOR_DEVICE);
	ck_assert_int_eq(engine_listener_remove(rig.engine, 1, &rig.err), 0);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_WAITING_FOR_LISTENER);
	fake_device_return(0);
	rig_turn_ms(&rig, 700);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_WAITING_FOR_LISTENER);
	ck_assert_str_eq(engine_device(rig.engine), "");
	ck_assert_int_eq(addr_parse("127.0.0.1", 0, &addr, &rig.err), 0);
	ck_assert_int_eq(engine_listener_add(rig.engine, &addr, &info, &rig.err), 0);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_RUNNING);
	rig_end(&rig);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("engine_conn");
	TCase *tc = tcase_create("engine_conn");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_loop_test(tc, test_send_and_leave_at_once, 0, 4);
	tcase_add_loop_test(tc, test_last_wqe, 0, 2);
	tcase_add_loop_test(tc, test_message_too_long, 0, 2);
	tcase_add_test(tc, test_cause_outweighs_the_end);
	tcase_add_test(tc, test_other_status_is_named);
	tcase_add_test(tc, test_refused_before_a_queue_pair_exists);
	tcase_add_test(tc, test_rejects_do_not_leak);
	tcase_add_test(tc, test_request_that_died);
	tcase_add_test(tc, test_close);
	tcase_add_test(tc, test_closed_are_remembered);
	tcase_add_test(tc, test_idle);
	tcase_add_test(tc, test_device_goes_and_returns);
	tcase_add_test(tc, test_start_without_a_device);
	tcase_add_test(tc, test_queue_overrun);
	tcase_add_test(tc, test_stop_drains);
	tcase_add_test(tc, test_stop_without_a_device);
	tcase_add_test(tc, test_unlisten_while_waiting);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
