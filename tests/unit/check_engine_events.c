/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine over the doubles: what it tells of. */
#include <config.h>

#include <errno.h>
#include <string.h>

#include "daemon/events.h"
#include "lib/core/addr.h"
#include "tests/unit/engine_rig.h"
#include "tests/unit/harness.h"

static struct rig rig;
static uint64_t seen; /* number of the last event that was looked at */

static void
setup(void)
{
	fake_reset();
	fake_set_kind(FAKE_RXE);
	rig_settings(&rig);
	ck_assert_int_eq(events_new(&rig.events), 0);
	seen = 0;
}

static void
teardown(void)
{
	rig_end(&rig);
	events_free(rig.events);
	rig.events = NULL;
}

/* The next event is of that type, and the reason begins so. */
static const struct event *
expect(enum event_type type, const char *reason)
{
	const struct event *event;

	rig_settle(&rig);
	ck_assert_msg(events_newest(rig.events) > seen, "no event, %s should be",
	    event_type_name(type));
	event = events_at(rig.events, ++seen);
	ck_assert_msg(event->type == type, "%s, should be %s",
	    event_type_name(event->type), event_type_name(type));
	ck_assert_msg(strncmp(event->reason, reason, strlen(reason)) == 0,
	    "%s: \"%s\", should be \"%s\"", event_type_name(type), event->reason,
	    reason);
	return event;
}

static void
expect_no_more(void)
{
	rig_settle(&rig);
	ck_assert_uint_eq(events_newest(rig.events), seen);
}

static void
begin(void)
{
	ck_assert_int_eq(rig_start(&rig), 0);
	(void)expect(EVENT_DEVICE_OPEN, "fake0");
	ck_assert_uint_eq(addr_port(&expect(EVENT_LISTENER_UP, "")->addr),
	    rig_port(&rig));
	expect_no_more();
}

START_TEST(test_connections)
{
	struct fake_peer *peer;
	const struct event *event;

	rig.settings.conns_max = 1;
	begin();
	peer = rig_peer(&rig);
	event = expect(EVENT_CONN_ESTABLISHED, "");
	ck_assert_uint_eq(event->conn, 1);
	ck_assert_int_eq(event->addr.ss_family, AF_INET);
	ck_assert_ptr_nonnull(fake_peer_connect(rig_port(&rig), NULL, 0));
	event = expect(EVENT_CONN_REJECTED, "limit");
	ck_assert_uint_eq(event->conn, 0);
	fake_peer_disconnect(peer);
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	event = expect(EVENT_CONN_CLOSED, "peer");
	ck_assert_uint_eq(event->conn, 1);
	expect_no_more();
}
END_TEST

static bool
is_running(struct rig *r, void *arg)
{
	(void)arg;
	return engine_state(r->engine) == ENGINE_RUNNING;
}

START_TEST(test_device)
{
	begin();
	(void)rig_peer(&rig);
	(void)expect(EVENT_CONN_ESTABLISHED, "");
	fake_device_remove(0);
	(void)expect(EVENT_DEVICE_LOST, "device fake0: it was removed");
	(void)expect(EVENT_CONN_CLOSED, "device_gone");
	fake_device_return(0);
	ck_assert(rig_until(&rig, is_running, NULL));
	(void)expect(EVENT_DEVICE_OPEN, "fake0");
	(void)expect(EVENT_LISTENER_UP, "");
	expect_no_more();
}
END_TEST

START_TEST(test_listeners)
{
	struct sockaddr_storage addr;
	struct listener_info info;

	begin();
	ck_assert_int_eq(addr_parse("127.0.0.1", 0, &addr, &rig.err), 0);
	ck_assert_int_eq(engine_listener_add(rig.engine, &addr, &info, &rig.err), 0);
	ck_assert_uint_eq(addr_port(&expect(EVENT_LISTENER_UP, "")->addr),
	    addr_port(&info.addr));
	ck_assert_int_eq(engine_listener_remove(rig.engine, info.id, &rig.err), 0);
	ck_assert_uint_eq(addr_port(&expect(EVENT_LISTENER_DOWN, "removed")->addr),
	    addr_port(&info.addr));
	fake_fail_call("rdma_listen", 0, EADDRINUSE);
	ck_assert_int_ne(engine_listener_add(rig.engine, &addr, &info, &rig.err), 0);
	expect_no_more();
}
END_TEST

/* The queue runs low, then dry, and is filled again: each is told, with its time. */
START_TEST(test_queue)
{
	struct ledger_message message;
	struct fake_peer *peer;
	unsigned int i;

	rig.settings.pool_slots = 16;
	rig.settings.receive_target = 16;
	rig.settings.receive_low_watermark = 4;
	begin();
	peer = rig_peer(&rig);
	(void)expect(EVENT_CONN_ESTABLISHED, "");
	for (i = 0; i < 12; i++)
		ck_assert_int_ge(rig_send(peer, "x"), 0);
	expect_no_more();
	ck_assert_int_ge(rig_send(peer, "x"), 0);
	(void)expect(EVENT_SRQ_LOW, "");
	expect_no_more();
	for (i = 0; i < 3; i++)
		ck_assert_int_ge(rig_send(peer, "x"), 0);
	(void)expect(EVENT_SRQ_EMPTY, "");
	rig_turn_ms(&rig, 50);
	expect_no_more();
	message = rig_expect(&rig, "x");
	rig_ack(&rig, &message);
	ck_assert_uint_ge(expect(EVENT_SRQ_REFILLED, "")->duration_ns, 50000000);
	expect_no_more();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("engine_events");
	TCase *tc = tcase_create("engine_events");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_connections);
	tcase_add_test(tc, test_device);
	tcase_add_test(tc, test_listeners);
	tcase_add_test(tc, test_queue);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
