/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections over the doubles: closing, draining, refusing, dialling, sending,
 * devices. */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/conn.h"
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

static struct sockaddr_storage
address(const char *text, uint16_t port)
{
	struct sockaddr_storage addr;

	ck_assert_int_eq(addr_parse(text, port, &addr, &rig.err), 0);
	return addr;
}

static void
dial(struct rig_done *done, const char *addr, uint64_t timeout_ms)
{
	struct sockaddr_storage peer = address(addr, 7471);

	memset(done, 0, sizeof(*done));
	engine_conn_open(rig.engine, &peer, timeout_ms, rig_done, done);
}

/* What each outcome of a dial is called. */
static const struct dial_case {
	enum fake_dial outcome;
	int status;
	unsigned int device;
	enum err_code code;
	const char *reason;
	const char
	    *says; /* the end of the sentence, a number in ms left out; may be NULL */
} dial_cases[] = {
	{ FAKE_DIAL_REJECT, 8, 0, ERR_CONN_REJECTED, "rejected", NULL },
	{ FAKE_DIAL_REJECT, 28, 0, ERR_CONN_REJECTED, "rejected", NULL },
	{ FAKE_DIAL_UNREACHABLE, 0, 0, ERR_CONN_UNREACHABLE, "unreachable", NULL },
	{ FAKE_DIAL_CONNECT_ERROR, 0, 0, ERR_CONN_LOST, "lost", NULL },
	{ FAKE_DIAL_ADDR_ERROR, 0, 0, ERR_ADDR_UNRESOLVED, "unresolved",
	    " has not answered to address resolution on device " },
	{ FAKE_DIAL_ADDR_ERROR, -ENETUNREACH, 0, ERR_ADDR_UNRESOLVED, "unresolved",
	    " over device fake0: Network is unreachable" },
	{ FAKE_DIAL_ADDR_SILENT, 0, 0, ERR_TIMEOUT, "timed_out",
	    " has not answered on device " },
	{ FAKE_DIAL_ROUTE_ERROR, 0, 0, ERR_CONN_UNREACHABLE, "unreachable", NULL },
	{ FAKE_DIAL_ROUTE_SILENT, 0, 0, ERR_TIMEOUT, "timed_out",
	    " has not answered 127.0.0.1 within " },
	{ FAKE_DIAL_HOLD, 0, 0, ERR_TIMEOUT, "timed_out",
	    " has not answered 127.0.0.1 within " },
	{ FAKE_DIAL_ACCEPT, 0, 1, ERR_WRONG_DEVICE, "wrong_device", NULL },
};

START_TEST(test_dial_fails)
{
	const struct dial_case *c = &dial_cases[_i];
	struct rig_done done;

	fake_options()->devices = 2;
	ck_assert_int_eq(rig_start(&rig), 0);
	fake_dial_script("192.0.2.5", 0, c->device, c->outcome, c->status, NULL, 0);
	dial(&done, "192.0.2.5", c->code == ERR_TIMEOUT ? 200 : 60000);
	ck_assert(rig_wait(&rig, &done));
	ck_assert(done.failed);
	ck_assert_int_eq(done.err.code, c->code);
	ck_assert_ptr_nonnull(strstr(done.err.text, "192.0.2.5:7471"));
	if (c->says)
		ck_assert_msg(strstr(done.err.text, c->says), "%s", done.err.text);
	if (c->code == ERR_TIMEOUT) {
		const char *within = strstr(done.err.text, "within ");

		ck_assert(within && strtoul(within + 7, NULL, 10) >= 200);
	}
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	ck_assert_str_eq(rig_conn(&rig, 1).reason, c->reason);
	rig_end(&rig);
}
END_TEST

/* A dial that waits for its answer hears what became of the device, or of the daemon. */
START_TEST(test_dial_meets_the_end)
{
	struct rig_done done;

	ck_assert_int_eq(rig_start(&rig), 0);
	fake_dial_script("192.0.2.5", 0, 0, FAKE_DIAL_HOLD, 0, NULL, 0);
	dial(&done, "192.0.2.5", 60000);
	rig_settle(&rig);
	if (_i == 0)
		fake_device_remove(0);
	else
		engine_stop(rig.engine);
	ck_assert(rig_wait(&rig, &done));
	ck_assert_int_eq(done.err.code, _i == 0 ? ERR_DEVICE_GONE : ERR_SHUTTING_DOWN);
	rig_end(&rig);
}
END_TEST

static struct fake_peer *
dial_well(struct rig_done *done)
{
	static const uint8_t announcement[12] = { 'R', 'P', 'M', 'D', 1, 0, 0, 0, 0, 0,
		0, 32 };

	fake_dial_script("192.0.2.5", 0, 0, FAKE_DIAL_ACCEPT, 0, announcement,
	    sizeof(announcement));
	dial(done, "192.0.2.5", 1000);
	ck_assert(rig_wait(&rig, done));
	ck_assert(!done->failed);
	return fake_peer_last();
}

static void
send_to(struct rig_done *done, uint64_t id, const char *text, uint64_t imm,
    uint64_t timeout_ms)
{
	memset(done, 0, sizeof(*done));
	engine_conn_send(rig.engine, id, text, strlen(text), imm, timeout_ms, rig_done,
	    done);
}

START_TEST(test_dial_send_receive)
{
	struct ledger_message message;
	struct rig_done done;
	struct fake_peer *peer;
	const void *data;
	size_t len = 0;
	int64_t imm = 0;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = dial_well(&done);
	ck_assert_uint_eq(done.info.peer_slot_size, 32);
	ck_assert_int_eq(done.info.state, CONN_ESTABLISHED);
	ck_assert(done.info.is_outgoing);
	ck_assert_int_eq(fake_qp_min_rnr_timer(fake_peer_qp_num(peer)), 12);
	send_to(&done, 1, "to the peer", 7, 1000);
	ck_assert(rig_wait(&rig, &done));
	ck_assert(!done.failed);
	data = fake_peer_message(peer, 0, &len, &imm);
	ck_assert_uint_eq(len, 11);
	ck_assert_mem_eq(data, "to the peer", 11);
	ck_assert_int_eq(imm, 7);
	send_to(&done, 1, "", PARAM_UNSET, 1000);
	ck_assert(rig_wait(&rig, &done));
	ck_assert(!done.failed);
	(void)fake_peer_message(peer, 1, &len, &imm);
	ck_assert_uint_eq(len, 0);
	ck_assert_int_eq(imm, FAKE_NO_IMM);
	ck_assert_int_ge(rig_send(peer, "and back"), 0);
	rig_settle(&rig);
	message = rig_expect(&rig, "and back");
	ck_assert_uint_eq(message.arrival.conn, 1);
	ck_assert_uint_eq(rig_conn(&rig, 1).sent_messages, 2);
	ck_assert_uint_eq(rig_stats(&rig).send_free, 4);
	rig_end(&rig);
}
END_TEST

START_TEST(test_send_refusals)
{
	struct rig_done done, held[4];
	struct fake_peer *peer;
	unsigned int i;

	ck_assert_int_eq(rig_start(&rig), 0);
	send_to(&done, 9, "x", PARAM_UNSET, 1000);
	ck_assert_int_eq(done.err.code, ERR_NO_SUCH_CONN);
	peer = dial_well(&done);
	send_to(&done, 1, "123456789012345678901234567890123", PARAM_UNSET, 1000);
	ck_assert(done.failed);
	ck_assert_int_eq(done.err.code, ERR_TOO_LARGE);
	ck_assert_ptr_nonnull(strstr(done.err.text, "32 bytes"));
	/* A peer without receives: the sends wait, and so do their slots. */
	fake_peer_set_ready(peer, false);
	for (i = 0; i < 4; i++)
		send_to(&held[i], 1, "waits", PARAM_UNSET, i == 0 ? 50 : 60000);
	send_to(&done, 1, "one too many", PARAM_UNSET, 1000);
	ck_assert(done.failed);
	ck_assert_int_eq(done.err.code, ERR_BUSY);
	ck_assert_str_eq(done.err.hint, "try again when a send has completed");
	ck_assert(rig_wait(&rig, &held[0]));
	ck_assert_int_eq(held[0].err.code, ERR_TIMEOUT);
	ck_assert_uint_eq(rig_stats(&rig).send_free, 0);
	/* Now it is known who has the slots. */
	send_to(&done, 1, "one too many", PARAM_UNSET, 1000);
	ck_assert_int_eq(done.err.code, ERR_BUSY);
	ck_assert_msg(strstr(done.err.hint, "rpmactl disconnect 1 "), "%s",
	    done.err.hint);
	fake_peer_set_ready(peer, true);
	ck_assert(rig_wait(&rig, &held[3]));
	ck_assert(!held[3].failed);
	ck_assert_uint_eq(held[0].calls, 1);
	ck_assert_uint_eq(fake_peer_received(peer), 4);
	rig_settle(&rig);
	ck_assert_uint_eq(rig_stats(&rig).send_free, 4);
	rig_end(&rig);
}
END_TEST

START_TEST(test_send_meets_the_end)
{
	static const struct {
		enum err_code code;
		const char *reason;
	} ends[] = { { ERR_CONN_LOST, "peer" }, { ERR_CONN_LOST, "timed_out" },
		{ ERR_SHUTTING_DOWN, "shutdown" } };
	struct rig_done done;
	struct fake_peer *peer;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = dial_well(&done);
	fake_peer_set_ready(peer, false);
	send_to(&done, 1, "never", PARAM_UNSET, 60000);
	if (_i == 0)
		fake_peer_kill(peer);
	else if (_i == 1)
		fake_peer_vanish(peer);
	else
		engine_stop(rig.engine);
	ck_assert(rig_wait(&rig, &done));
	ck_assert_int_eq(done.err.code, ends[_i].code);
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	ck_assert_str_eq(rig_conn(&rig, 1).reason, ends[_i].reason);
	if (_i < 2)
		ck_assert_uint_eq(rig_stats(&rig).send_free, 4);
	rig_end(&rig);
}
END_TEST

static void
check_cm_ids(unsigned int wanted)
{
	ck_assert_uint_eq(rig_stats(&rig).cm_ids, wanted);
	ck_assert_uint_eq(fake_live(FAKE_ID), wanted);
}

/* As many as the library has made, whatever state their connections are in. */
START_TEST(test_cm_ids)
{
	struct sockaddr_storage addr = address("127.0.0.1", 0);
	struct rig_done dialled, closed = { 0 };
	struct listener_info second;
	struct fake_peer *peer;

	fake_options()->auto_rtu = fake_options()->last_wqe = false;
	ck_assert_int_eq(rig_start(&rig), 0);
	check_cm_ids(1);
	peer = fake_peer_connect(rig_port(&rig), NULL, 0);
	rig_settle(&rig);
	ck_assert_int_eq(rig_conn(&rig, 1).state, CONN_ACCEPTING);
	check_cm_ids(2);
	fake_peer_confirm(peer);
	rig_settle(&rig);
	ck_assert_int_eq(rig_conn(&rig, 1).state, CONN_ESTABLISHED);
	check_cm_ids(2);
	fake_dial_script("192.0.2.5", 0, 0, FAKE_DIAL_HOLD, 0, NULL, 0);
	dial(&dialled, "192.0.2.5", 60000);
	rig_settle(&rig);
	ck_assert_int_eq(rig_conn(&rig, 2).state, CONN_CONNECTING);
	check_cm_ids(3);
	ck_assert_int_eq(engine_listener_add(rig.engine, &addr, &second, &rig.err), 0);
	check_cm_ids(4);
	/* Drained until it is closed. */
	fake_peer_disconnect(peer);
	rig_settle(&rig);
	check_cm_ids(rig_conn(&rig, 1).state == CONN_CLOSED ? 3 : 4);
	engine_conn_close(rig.engine, 2, rig_done, &closed);
	ck_assert(rig_wait(&rig, &closed));
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	check_cm_ids(2);
	ck_assert_int_eq(engine_listener_remove(rig.engine, second.id, &rig.err), 0);
	check_cm_ids(1);
	fake_device_remove(0);
	rig_settle(&rig);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_WAITING_FOR_DEVICE);
	check_cm_ids(0);
	rig_end(&rig);
}
END_TEST

static void
keep_last(void *arg, const char *sentence)
{
	(void)snprintf(arg, 256, "%s", sentence);
}

/* On iWARP the accepting side waits for the first message, an empty queue is an end. */
START_TEST(test_iwarp)
{
	char warning[256] = "";
	struct fake_peer *peer;
	struct rig_done done;
	unsigned int i;

	fake_set_kind(FAKE_IWARP);
	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	send_to(&done, 1, "too early", PARAM_UNSET, 1000);
	ck_assert(done.failed);
	ck_assert_int_eq(done.err.code, ERR_NOT_READY);
	for (i = 0; i < 40; i++) {
		(void)rig_send(peer, "x");
		rig_settle(&rig);
	}
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	ck_assert_str_eq(rig_conn(&rig, 1).reason, "srq_empty");
	ck_assert_uint_eq(rig_counts(&rig).ready, 32);
	engine_warnings(rig.engine, keep_last, warning);
	ck_assert_ptr_nonnull(strstr(warning,
	    "1 connection ended because the SRQ was empty"));
	ck_assert_ptr_null(strstr(warning, "senders wait"));
	rig_end(&rig);
}
END_TEST

/* One that holds too much is closed there, too, and who sent it has to be told what that costs. */
START_TEST(test_iwarp_quota)
{
	char warning[256] = "";
	struct fake_peer *greedy;
	unsigned int i;

	fake_set_kind(FAKE_IWARP);
	rig.settings.conns_quota_slots = 8;
	ck_assert_int_eq(rig_start(&rig), 0);
	greedy = rig_peer(&rig);
	(void)rig_peer(&rig);
	for (i = 0; i < 30; i++) {
		(void)rig_send(greedy, "mine");
		rig_settle(&rig);
	}
	/* It is counted when it is drained. */
	ck_assert(rig_until(&rig, rig_one_conn, NULL));
	ck_assert_str_eq(rig_conn(&rig, 1).reason, "over_quota");
	engine_warnings(rig.engine, keep_last, warning);
	ck_assert_ptr_nonnull(strstr(warning,
	    "1 connection ended for holding too many slots"));
	ck_assert_ptr_nonnull(strstr(warning, "connections.quota_slots"));
	rig_end(&rig);
}
END_TEST

/* The cause is found although the end is seen in the same turn as the messages. */
START_TEST(test_iwarp_burst)
{
	struct fake_peer *peer;
	unsigned int i;

	fake_set_kind(FAKE_IWARP);
	rig.settings.receive_target = 32;
	ck_assert_int_eq(rig_start(&rig), 0);
	rig_settle(&rig);
	peer = rig_peer(&rig);
	for (i = 0; i < 40; i++)
		(void)rig_send(peer, "x");
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	ck_assert_str_eq(rig_conn(&rig, 1).reason, "srq_empty");
	ck_assert_uint_eq(rig_counts(&rig).ready, 32);
	rig_end(&rig);
}
END_TEST

/* Whatever call fails under way, the ledger stays exact and nothing is left behind. */
START_TEST(test_nth_call_fails_under_way)
{
	unsigned int n;

	for (n = 1; n < 300; n++) {
		struct rig_done done;
		struct fake_peer *peer;
		bool fired;

		rig_settings(&rig);
		ck_assert_int_eq(rig_start(&rig), 0);
		fake_fail_nth(n, EIO);
		peer = fake_peer_connect(rig_port(&rig), NULL, 0);
		rig_settle(&rig);
		(void)rig_send(peer, "hello");
		rig_settle(&rig);
		fake_dial_script("192.0.2.5", 0, 0, FAKE_DIAL_ACCEPT, 0, NULL, 0);
		dial(&done, "192.0.2.5", 200);
		rig_turn_ms(&rig, 30);
		send_to(&done, 2, "out", PARAM_UNSET, 100);
		rig_settle(&rig);
		fake_peer_disconnect(peer);
		rig_turn_ms(&rig, 30);
		fired = fake_fired();
		fake_fail_nth(0, 0);
		rig_end(&rig);
		if (!fired)
			break;
	}
	ck_assert_uint_gt(n, 20);
	ck_assert_uint_lt(n, 300);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("engine_dial");
	TCase *tc = tcase_create("engine_dial");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_loop_test(tc, test_dial_fails, 0, ARRAY_LEN(dial_cases));
	tcase_add_test(tc, test_dial_send_receive);
	tcase_add_test(tc, test_send_refusals);
	tcase_add_loop_test(tc, test_dial_meets_the_end, 0, 2);
	tcase_add_loop_test(tc, test_send_meets_the_end, 0, 3);
	tcase_add_test(tc, test_cm_ids);
	tcase_add_test(tc, test_iwarp);
	tcase_add_test(tc, test_iwarp_quota);
	tcase_add_test(tc, test_iwarp_burst);
	tcase_add_test(tc, test_nth_call_fails_under_way);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
