/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of events, and event.get over it. */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "daemon/events.h"
#include "lib/core/addr.h"
#include "tests/unit/crig.h"
#include "tests/unit/harness.h"

static struct crig rig;
static struct crig_client a;

static void
setup(void)
{
	memset(&rig, 0, sizeof(rig));
	crig_start(&rig, NULL);
	crig_open(&rig, &a);
}

static void
teardown(void)
{
	crig_close(&a);
	crig_end(&rig);
}

static void
add(enum event_type type, const char *reason)
{
	events_add(rig.events, type, 0, NULL, reason, 0);
}

static void
pause_ns(long ns)
{
	const struct timespec time = { .tv_nsec = ns };

	ck_assert_int_eq(nanosleep(&time, NULL), 0);
}

START_TEST(test_names)
{
	unsigned int type;

	for (type = 0; type < EVENT_TYPE_COUNT; type++) {
		const char *name = event_type_name((enum event_type)type);

		ck_assert_ptr_nonnull(strchr(name, '.'));
		ck_assert_str_ne(event_type_help((enum event_type)type), "");
		ck_assert_int_eq(event_type_by_name(name), type);
	}
	ck_assert_int_eq(event_type_by_name("conn"), EVENT_TYPE_COUNT);
	ck_assert_int_eq(event_type_by_name(""), EVENT_TYPE_COUNT);
}
END_TEST

/* The ring keeps the last ones, numbered without gaps. */
START_TEST(test_ring)
{
	char reason[300];
	uint64_t seq;
	unsigned int i;

	ck_assert_uint_eq(events_newest(rig.events), 0);
	ck_assert_uint_eq(events_oldest(rig.events), 0);
	for (i = 1; i <= EVENTS_KEPT + 3; i++) {
		(void)snprintf(reason, sizeof(reason), "%u", i);
		add(EVENT_CONN_CLOSED, reason);
		ck_assert_uint_eq(events_newest(rig.events), i);
	}
	ck_assert_uint_eq(events_oldest(rig.events), 4);
	for (seq = 4; seq <= EVENTS_KEPT + 3; seq++) {
		ck_assert_uint_eq(events_at(rig.events, seq)->seq, seq);
		(void)snprintf(reason, sizeof(reason), "%u", (unsigned int)seq);
		ck_assert_str_eq(events_at(rig.events, seq)->reason, reason);
	}
	memset(reason, 'x', sizeof(reason) - 1);
	reason[sizeof(reason) - 1] = '\0';
	add(EVENT_DEVICE_LOST, reason);
	ck_assert_uint_eq(strlen(events_at(rig.events, EVENTS_KEPT + 4)->reason), 159);
	events_add(NULL, EVENT_SRQ_LOW, 0, NULL, NULL, 0);
	events_tick(NULL);
}
END_TEST

/* Those that come too often are told as one, which is never forgotten. */
START_TEST(test_often)
{
	unsigned int i;

	add(EVENT_SRQ_EMPTY, NULL);
	events_add(rig.events, EVENT_SRQ_REFILLED, 0, NULL, NULL, 5);
	for (i = 0; i < 10; i++) {
		add(EVENT_SRQ_EMPTY, NULL);
		events_add(rig.events, EVENT_SRQ_REFILLED, 0, NULL, NULL, 7);
	}
	ck_assert_uint_eq(events_newest(rig.events), 2);
	events_tick(rig.events);
	ck_assert_uint_eq(events_newest(rig.events), 2);
	pause_ns(EVENTS_QUIET_NS + 1000000);
	events_tick(rig.events);
	ck_assert_uint_eq(events_newest(rig.events), 4);
	ck_assert_int_eq(events_at(rig.events, 3)->type, EVENT_SRQ_EMPTY);
	ck_assert_uint_eq(events_at(rig.events, 3)->count, 10);
	ck_assert_int_eq(events_at(rig.events, 4)->type, EVENT_SRQ_REFILLED);
	ck_assert_uint_eq(events_at(rig.events, 4)->count, 10);
	ck_assert_uint_eq(events_at(rig.events, 4)->duration_ns, 70);
	events_tick(rig.events);
	ck_assert_uint_eq(events_newest(rig.events), 4);
	/* Others are never put off. */
	add(EVENT_CONN_CLOSED, NULL);
	add(EVENT_CONN_CLOSED, NULL);
	ck_assert_uint_eq(events_newest(rig.events), 6);
}
END_TEST

/* A storm of peers that are refused leaves room for what else happens, and each reason is told. */
START_TEST(test_refused_often)
{
	const uint64_t refused = 5000;
	uint64_t told = 0;
	unsigned int i;

	for (i = 0; i < refused; i++)
		add(EVENT_CONN_REJECTED, "not_allowed");
	add(EVENT_CONN_REJECTED, "limit");
	pause_ns(EVENTS_QUIET_NS + 1000000);
	events_tick(rig.events);
	/* One for each 0.1 s that the storm lasts, and those that stand for the others. */
	ck_assert_uint_le(events_newest(rig.events), EVENTS_KEPT);
	for (i = 1; i < events_newest(rig.events); i++) {
		ck_assert_str_eq(events_at(rig.events, i)->reason, "not_allowed");
		told += events_at(rig.events, i)->count;
	}
	ck_assert_uint_eq(told, refused);
	ck_assert_str_eq(events_at(rig.events, i)->reason, "limit");
	ck_assert_uint_eq(events_at(rig.events, i)->count, 1);
}
END_TEST

static const json_t *
event_of(const json_t *result, size_t i)
{
	const json_t *event = json_array_get(json_object_get(result, "events"), i);

	ck_assert_ptr_nonnull(event);
	return event;
}

START_TEST(test_get)
{
	struct sockaddr_storage addr;
	struct err err;
	json_t *result;

	result = crig_call(&a, "event.get", NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(result, "events")), 0);
	ck_assert_int_eq(crig_integer(result, "next"), 0);
	json_decref(result);
	ck_assert_int_eq(addr_parse("192.0.2.9", 7, &addr, &err), 0);
	events_add(rig.events, EVENT_CONN_CLOSED, 12, &addr, "peer", 0);
	events_add(rig.events, EVENT_SRQ_REFILLED, 0, NULL, NULL, 31);
	add(EVENT_CONN_REJECTED, "limit");
	result = crig_call(&a, "event.get", "{\"limit\":2}");
	ck_assert_uint_eq(json_array_size(json_object_get(result, "events")), 2);
	ck_assert_int_eq(crig_integer(result, "next"), 2);
	ck_assert_int_eq(crig_integer(result, "missed"), 0);
	ck_assert_uint_eq(strlen(crig_text(result, "instance")), 16);
	ck_assert_uint_eq(json_object_size(event_of(result, 0)), 8);
	ck_assert_int_eq(crig_integer(event_of(result, 0), "seq"), 1);
	ck_assert_str_eq(crig_text(event_of(result, 0), "type"), "conn.closed");
	ck_assert_int_eq(crig_integer(event_of(result, 0), "conn"), 12);
	ck_assert_str_eq(crig_text(event_of(result, 0), "addr"), "192.0.2.9:7");
	ck_assert_str_eq(crig_text(event_of(result, 0), "reason"), "peer");
	ck_assert(json_is_null(json_object_get(event_of(result, 0), "duration_ns")));
	ck_assert_int_eq(crig_integer(event_of(result, 0), "count"), 1);
	ck_assert_int_eq(crig_integer(event_of(result, 1), "duration_ns"), 31);
	ck_assert(json_is_null(json_object_get(event_of(result, 1), "conn")));
	ck_assert(json_is_null(json_object_get(event_of(result, 1), "addr")));
	ck_assert(json_is_null(json_object_get(event_of(result, 1), "reason")));
	json_decref(result);
	result = crig_call(&a, "event.get",
	    "{\"since\":1,\"types\":[\"conn.rejected\",\"conn.closed\"]}");
	ck_assert_uint_eq(json_array_size(json_object_get(result, "events")), 1);
	ck_assert_int_eq(crig_integer(event_of(result, 0), "seq"), 3);
	ck_assert_int_eq(crig_integer(result, "next"), 3);
	json_decref(result);
}
END_TEST

START_TEST(test_refused)
{
	json_t *error;

	add(EVENT_SRQ_LOW, NULL);
	error = crig_fail(&a, "event.get", "{\"since\":2}", "INVALID_PARAMS");
	ck_assert_str_eq(crig_text(json_object_get(error, "data"), "path"),
	    "params.since");
	json_decref(error);
	error = crig_fail(&a, "event.get", "{\"types\":[\"srq.low\",\"srq\"]}",
	    "INVALID_PARAMS");
	ck_assert_str_eq(crig_text(json_object_get(error, "data"), "path"),
	    "params.types[1]");
	json_decref(error);
	crig_puts(&a,
	    "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"event.get\","
	    "\"params\":{\"wait_ms\":5}},"
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"event.get\"}]\n");
	error = crig_reply(&a);
	ck_assert_ptr_nonnull(json_object_get(json_array_get(error, 0), "error"));
	ck_assert_ptr_nonnull(json_object_get(json_array_get(error, 1), "result"));
	json_decref(error);
}
END_TEST

/* What is gone is told by number. */
START_TEST(test_missed)
{
	json_t *result;
	unsigned int i;

	for (i = 0; i < EVENTS_KEPT + 10; i++)
		add(EVENT_CONN_CLOSED, NULL);
	result = crig_call(&a, "event.get", "{\"since\":4,\"limit\":1}");
	ck_assert_int_eq(crig_integer(result, "missed"), 6);
	ck_assert_int_eq(crig_integer(event_of(result, 0), "seq"), 11);
	ck_assert_int_eq(crig_integer(result, "next"), 11);
	json_decref(result);
	result = crig_call(&a, "event.get", "{\"limit\":1024}");
	ck_assert_uint_eq(json_array_size(json_object_get(result, "events")),
	    EVENTS_KEPT);
	ck_assert_int_eq(crig_integer(result, "next"), EVENTS_KEPT + 10);
	json_decref(result);
}
END_TEST

#define WAIT(types)                                                           \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"event.get\",\"params\":{" \
	"\"wait_ms\":60000" types "}}\n"

START_TEST(test_wait)
{
	json_t *result;

	crig_puts(&a, WAIT(",\"types\":[\"conn.closed\"]"));
	ck_assert(crig_is_silent(&a));
	add(EVENT_CONN_REJECTED, NULL);
	ck_assert(crig_is_silent(&a));
	add(EVENT_CONN_CLOSED, "idle");
	result = crig_reply(&a);
	ck_assert_str_eq(crig_text(event_of(json_object_get(result, "result"), 0),
			     "reason"),
	    "idle");
	json_decref(result);
	result = crig_call(&a, "event.get", "{\"wait_ms\":30,\"since\":2}");
	ck_assert_uint_eq(json_array_size(json_object_get(result, "events")), 0);
	ck_assert_int_eq(crig_integer(result, "next"), 2);
	json_decref(result);
	/* A client that goes takes its wait along. */
	crig_puts(&a, WAIT(",\"since\":2"));
	crig_settle(&rig);
	crig_close(&a);
	crig_settle(&rig);
	add(EVENT_CONN_CLOSED, NULL);
	crig_settle(&rig);
	crig_open(&rig, &a);
	crig_puts(&a, WAIT(",\"since\":3"));
	ck_assert(crig_is_silent(&a));
	rpc_end_calls(rig.rpc);
	ck_assert_ptr_nonnull(strstr(crig_line(&a), "SHUTTING_DOWN"));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("events");
	TCase *tc = tcase_create("events");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_names);
	tcase_add_test(tc, test_ring);
	tcase_add_test(tc, test_often);
	tcase_add_test(tc, test_refused_often);
	tcase_add_test(tc, test_get);
	tcase_add_test(tc, test_refused);
	tcase_add_test(tc, test_missed);
	tcase_add_test(tc, test_wait);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
