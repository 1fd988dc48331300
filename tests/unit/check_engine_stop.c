/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end, out of every state that the doubles can bring about: it comes within 5 s, and what
 * a sender saw succeed before is in the ledger then. The same for a device that goes at any
 * moment.
 */
#include <config.h>

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#include "lib/core/addr.h"
#include "tests/unit/engine_rig.h"
#include "tests/unit/harness.h"

#define STOP_MAX_NS 5000000000u

static struct rig rig;
static struct rig_done done; /* of what is_asked for */
static bool is_asked;

static void
set_up(void)
{
	fake_reset();
	rig_settings(&rig);
	memset(&done, 0, sizeof(done));
	is_asked = false;
}

static bool
is_stopped(struct rig *r, void *arg)
{
	(void)arg;
	return r->is_stopped;
}

static bool
is_running(struct rig *r, void *arg)
{
	(void)arg;
	return engine_state(r->engine) == ENGINE_RUNNING;
}

static bool
is_waiting(struct rig *r, void *arg)
{
	(void)arg;
	return engine_state(r->engine) == ENGINE_WAITING_FOR_DEVICE;
}

/* Messages that a sender saw succeed, of all peers that there ever were. */
static unsigned int
succeeded(void)
{
	unsigned int i, sum = 0;

	for (i = 0; i < fake_peers(); i++)
		sum += fake_peer_sent_count(fake_peer(i), FAKE_SENT_OK);
	return sum;
}

static struct fake_peer *
start_with_peer(void)
{
	ck_assert_int_eq(rig_start(&rig), 0);
	return rig_peer(&rig);
}

static void
send_some(struct fake_peer *peer, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		ck_assert_int_ge(rig_send(peer, "last words"), 0);
}

static void
dial(enum fake_dial outcome)
{
	struct sockaddr_storage addr;

	ck_assert_int_eq(addr_parse("192.0.2.5", 7471, &addr, &rig.err), 0);
	fake_dial_script("192.0.2.5", 0, 0, outcome, 0, NULL, 0);
	engine_conn_open(rig.engine, &addr, 60000, rig_done, &done);
	is_asked = true;
	rig_settle(&rig);
	ck_assert_uint_eq(done.calls, 0);
}

static void
no_listener(void)
{
	rig.settings.listen_count = 0;
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_WAITING_FOR_LISTENER);
}

static void
no_device(void)
{
	fake_device_remove(0);
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_WAITING_FOR_DEVICE);
}

static void
idle(void)
{
	ck_assert_int_eq(rig_start(&rig), 0);
}

/* Some leased, some ready, some not even read. */
static void
messages_everywhere(void)
{
	struct ledger_owner owner = { 0 };
	struct fake_peer *peer = start_with_peer();
	struct ledger_message message;

	send_some(peer, 6);
	rig_settle(&rig);
	ck_assert(engine_lease(rig.engine, &owner, 60000, &message));
	send_some(peer, 6);
}

static void
peers_leave_at_the_same_time(void)
{
	struct fake_peer *peer;

	fake_options()->cm_event_first = true;
	fake_options()->drop_unread = true;
	peer = start_with_peer();
	send_some(peer, 10);
	send_some(rig_peer(&rig), 3);
	fake_peer_disconnect(peer);
}

static void
no_last_wqe(void)
{
	fake_options()->last_wqe = false;
	send_some(start_with_peer(), 5);
}

static void
peer_vanished(void)
{
	struct fake_peer *peer = start_with_peer();

	send_some(peer, 5);
	fake_peer_vanish(peer);
}

static void
disconnect_is_not_answered(void)
{
	fake_options()->auto_drep = false;
	send_some(start_with_peer(), 5);
}

static void
accept_is_not_confirmed(void)
{
	fake_options()->auto_rtu = false;
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_ptr_nonnull(fake_peer_connect(rig_port(&rig), NULL, 0));
	rig_settle(&rig);
}

static void
request_is_unread(void)
{
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_ptr_nonnull(fake_peer_connect(rig_port(&rig), NULL, 0));
}

/* No event of any connection comes any more. */
static void
events_stay_away(void)
{
	send_some(start_with_peer(), 5);
	fake_cm_hold(true);
	ck_assert_ptr_nonnull(fake_peer_connect(rig_port(&rig), NULL, 0));
}

static void
senders_wait(void)
{
	struct fake_peer *peer = start_with_peer();
	unsigned int i;

	for (i = 0; i < 40; i++) {
		send_some(peer, 1);
		rig_settle(&rig);
	}
	ck_assert(rig_stats(&rig).is_empty);
}

static void
address_is_not_resolved(void)
{
	idle();
	dial(FAKE_DIAL_ADDR_SILENT);
}

static void
route_is_not_resolved(void)
{
	idle();
	dial(FAKE_DIAL_ROUTE_SILENT);
}

static void
dial_is_not_answered(void)
{
	idle();
	dial(FAKE_DIAL_HOLD);
}

static void
send_is_not_completed(void)
{
	struct fake_peer *peer = start_with_peer();

	fake_peer_set_ready(peer, false);
	send_some(peer, 2);
	rig_settle(&rig);
	engine_conn_send(rig.engine, 1, "out", 3, PARAM_UNSET, 60000, rig_done, &done);
	is_asked = true;
	rig_settle(&rig);
	ck_assert_uint_eq(done.calls, 0);
}

static void
close_is_under_way(void)
{
	fake_options()->last_wqe = false;
	send_some(start_with_peer(), 5);
	engine_conn_close(rig.engine, 1, rig_done, &done);
	is_asked = true;
}

static void
flushes_without_end(void)
{
	struct fake_peer *peer = start_with_peer();
	unsigned int i;

	send_some(peer, 5);
	for (i = 0; i < 64; i++)
		fake_inject_wc(fake_peer_qp_num(peer), 70000 + i, IBV_WC_WR_FLUSH_ERR);
}

static void
calls_fail(void)
{
	send_some(start_with_peer(), 5);
	fake_fail_call("ibv_modify_qp", 0, EIO);
	fake_fail_call("rdma_disconnect", 0, EIO);
	fake_fail_call("ibv_post_srq_recv", 0, -1);
}

static void
device_goes_meanwhile(void)
{
	(void)start_with_peer();
	fake_device_remove(0);
}

static void
queue_is_dead(void)
{
	struct fake_peer *peer = start_with_peer();

	fake_overrun(fake_peer_qp_num(peer));
}

static void
iwarp(void)
{
	fake_set_kind(FAKE_IWARP);
	send_some(start_with_peer(), 5);
}

static const struct {
	void (*reach)(void);
	const char *name;
} states[] = {
	{ no_listener, "no listener" },
	{ no_device, "no device" },
	{ idle, "idle" },
	{ messages_everywhere, "messages in every state" },
	{ peers_leave_at_the_same_time, "peers leave at the same time" },
	{ no_last_wqe, "no LAST_WQE_REACHED" },
	{ peer_vanished, "a peer vanished" },
	{ disconnect_is_not_answered, "a disconnect is not answered" },
	{ accept_is_not_confirmed, "an accept is not confirmed" },
	{ request_is_unread, "a request is unread" },
	{ events_stay_away, "no events of connections come" },
	{ senders_wait, "senders wait at an empty queue" },
	{ address_is_not_resolved, "an address is not resolved" },
	{ route_is_not_resolved, "a route is not resolved" },
	{ dial_is_not_answered, "a dial is not answered" },
	{ send_is_not_completed, "a send is not completed" },
	{ close_is_under_way, "a close is under way" },
	{ flushes_without_end, "a storm of flushes" },
	{ calls_fail, "the provider refuses" },
	{ device_goes_meanwhile, "the device goes meanwhile" },
	{ queue_is_dead, "a queue is dead" },
	{ iwarp, "iWARP" },
};

START_TEST(test_stop)
{
	struct ledger_counts counts;
	unsigned int before;
	uint64_t begin_ns;

	states[_i].reach();
	before = succeeded();
	begin_ns = loop_now_ns();
	engine_stop(rig.engine);
	ck_assert_msg(rig_until(&rig, is_stopped, NULL), "%s: it does not stop",
	    states[_i].name);
	ck_assert_msg(loop_now_ns() - begin_ns < STOP_MAX_NS, "%s: too slow",
	    states[_i].name);
	counts = rig_counts(&rig);
	/* Nobody acknowledged one. */
	ck_assert_msg(counts.ready + counts.leased >= before,
	    "%s: %u of %u are in the ledger", states[_i].name,
	    counts.ready + counts.leased, before);
	ck_assert_uint_eq(counts.ready + counts.leased, rig_stats(&rig).messages);
	/* Whoever waited was answered. */
	ck_assert_uint_eq(done.calls, is_asked);
	fake_fail_call("ibv_modify_qp", 0, 0);
	fake_fail_call("rdma_disconnect", 0, 0);
	fake_fail_call("ibv_post_srq_recv", 0, 0);
	fake_cm_hold(false);
	rig_end(&rig);
}
END_TEST

/* What a busy daemon does with a device. */
static void
use_device(void)
{
	struct sockaddr_storage addr;
	struct fake_peer *peer = fake_peer_connect(rig_port(&rig), NULL, 0);
	struct ledger_owner owner = { 0 };
	struct ledger_message message;

	rig_settle(&rig);
	(void)rig_send(peer, "one");
	(void)rig_send(peer, "two");
	rig_settle(&rig);
	if (engine_lease(rig.engine, &owner, PARAM_UNSET, &message))
		rig_ack(&rig, &message);
	fake_dial_script("192.0.2.5", 0, 0, FAKE_DIAL_ACCEPT, 0, NULL, 0);
	ck_assert_int_eq(addr_parse("192.0.2.5", 7471, &addr, &rig.err), 0);
	memset(&done, 0, sizeof(done));
	engine_conn_open(rig.engine, &addr, 200, rig_done, &done);
	rig_turn_ms(&rig, 20);
	engine_conn_send(rig.engine, 2, "out", 3, PARAM_UNSET, 100, rig_done, &done);
	rig_settle(&rig);
	fake_peer_disconnect(peer);
	rig_turn_ms(&rig, 20);
}

/* It goes inside the n-th call: what had arrived is kept, and all works when it is back. */
START_TEST(test_device_gone_at_every_call)
{
	unsigned int n;

	for (n = 1; n < 300; n++) {
		struct ledger_counts counts;
		struct fake_peer *peer;
		bool fired;

		rig_settings(&rig);
		ck_assert_int_eq(rig_start(&rig), 0);
		fake_remove_nth(n);
		use_device();
		fired = fake_fired();
		fake_remove_nth(0);
		if (!fired) {
			rig_end(&rig);
			break;
		}
		ck_assert_msg(rig_until(&rig, is_waiting, NULL), "call %u", n);
		counts = rig_counts(&rig);
		ck_assert_uint_eq(counts.posted, 0);
		ck_assert_uint_eq(counts.ready + counts.leased + rig_stats(&rig).acked,
		    rig_stats(&rig).messages);
		ck_assert_uint_eq(rig_stats(&rig).conns, 0);
		fake_device_return(0);
		ck_assert_msg(rig_until(&rig, is_running, NULL), "call %u", n);
		rig_settle(&rig);
		peer = rig_peer(&rig);
		ck_assert_int_ge(rig_send(peer, "again"), 0);
		rig_settle(&rig);
		ck_assert_uint_eq(rig_counts(&rig).ready,
		    counts.ready + counts.leased + 1);
		rig_end(&rig);
	}
	ck_assert_uint_gt(n, 30);
	ck_assert_uint_lt(n, 300);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("engine_stop");
	TCase *tc = tcase_create("engine_stop");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_loop_test(tc, test_stop, 0, ARRAY_LEN(states));
	tcase_add_test(tc, test_device_gone_at_every_call);
	tcase_set_timeout(tc, 240);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
