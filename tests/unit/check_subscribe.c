/* SPDX-License-Identifier: BSD-3-Clause */
/* Subscriptions: what is told, in which order, and what a client that lags costs. */
#include <config.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <jansson.h>

#include "daemon/events.h"
#include "tests/unit/crig.h"
#include "tests/unit/harness.h"
#include "tests/unit/json_alloc.h"

#define MANY 50000u

static struct crig rig;
static struct crig_client a, b;

/* The sockets hold what is usual, whatever net.core.wmem_default says: how much a client
 * may lag behind depends on it. */
static void
set_buffers(void)
{
	const int half = 106496; /* socket(7): twice that is taken */
	socklen_t size;
	int fd, domain;

	for (fd = 3; fd < 256; fd++) {
		size = sizeof(domain);
		if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
		    domain == AF_UNIX)
			ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &half,
					     sizeof(half)),
			    0);
	}
}

static void
start(unsigned int stall_ms)
{
	memset(&rig, 0, sizeof(rig));
	rig.stall_ms = stall_ms;
	crig_start(&rig, NULL);
	crig_open(&rig, &a);
	crig_open(&rig, &b);
	set_buffers();
}

static void
setup(void)
{
	start(0);
}

static void
teardown(void)
{
	crig_close(&a);
	crig_close(&b);
	crig_end(&rig);
}

static void
add(enum event_type type, const char *reason)
{
	events_add(rig.events, type, 7, NULL, reason, 0);
}

/* The params of the next line, which is a notification of that method. */
static json_t *
told(struct crig_client *client, const char *method)
{
	json_t *line = crig_reply(client), *params;

	ck_assert_str_eq(crig_text(line, "method"), method);
	ck_assert_str_eq(crig_text(line, "jsonrpc"), "2.0");
	ck_assert_uint_eq(json_object_size(line), 3);
	params = json_incref(json_object_get(line, "params"));
	ck_assert(json_is_object(params));
	json_decref(line);
	return params;
}

/* The number of the next line, which is an event; its reason is as expected. */
static long long
expect_event(struct crig_client *client, const char *type, const char *reason)
{
	json_t *event = told(client, "event");
	long long seq = crig_integer(event, "seq");

	ck_assert_str_eq(crig_text(event, "type"), type);
	ck_assert_str_eq(crig_text(event, "reason"), reason);
	json_decref(event);
	return seq;
}

/* Subscribe; params as JSON or NULL. return   next */
static long long
subscribe(struct crig_client *client, const char *params)
{
	json_t *result = crig_call(client, "event.subscribe", params);
	long long next = crig_integer(result, "next");

	ck_assert_uint_eq(json_object_size(result), 2);
	ck_assert_uint_eq(strlen(crig_text(result, "instance")), 16);
	json_decref(result);
	return next;
}

static long long
control_stat(struct crig_client *client, const char *key)
{
	json_t *stats = crig_call(client, "stats.get", NULL);
	long long value = crig_integer(json_object_get(stats, "control"), key);

	json_decref(stats);
	return value;
}

/* From now on, and only what was asked for; each in the shape of event.get. */
START_TEST(test_shape_and_types)
{
	json_t *event, *result;
	const json_t *same;

	add(EVENT_CONN_CLOSED, "before");
	ck_assert_int_eq(subscribe(&a, "{\"types\":[\"conn.closed\",\"srq.low\"]}"), 1);
	ck_assert(crig_is_silent(&a));
	add(EVENT_DEVICE_OPEN, "fake0");
	add(EVENT_CONN_CLOSED, "peer");
	event = told(&a, "event");
	ck_assert(crig_is_silent(&a));
	ck_assert_int_eq(crig_integer(event, "seq"), 3);
	result = crig_call(&b, "event.get", "{\"since\":2}");
	same = json_array_get(json_object_get(result, "events"), 0);
	ck_assert(json_equal(event, same));
	json_decref(event);
	json_decref(result);
}
END_TEST

START_TEST(test_since)
{
	json_t *error;

	add(EVENT_CONN_CLOSED, "1");
	add(EVENT_CONN_CLOSED, "2");
	add(EVENT_CONN_CLOSED, "3");
	ck_assert_int_eq(subscribe(&a, "{\"since\":1}"), 1);
	ck_assert_int_eq(expect_event(&a, "conn.closed", "2"), 2);
	ck_assert_int_eq(expect_event(&a, "conn.closed", "3"), 3);
	add(EVENT_CONN_CLOSED, "4");
	ck_assert_int_eq(expect_event(&a, "conn.closed", "4"), 4);
	ck_assert(crig_is_silent(&a));
	error = crig_fail(&b, "event.subscribe", "{\"since\":5}", "INVALID_PARAMS");
	ck_assert_str_eq(crig_text(json_object_get(error, "data"), "path"),
	    "params.since");
	json_decref(error);
	error = crig_fail(&b, "event.subscribe", "{\"types\":[\"srq.low\",\"x.y\"]}",
	    "INVALID_PARAMS");
	ck_assert_str_eq(crig_text(json_object_get(error, "data"), "path"),
	    "params.types[1]");
	json_decref(error);
	ck_assert_int_eq(control_stat(&b, "subscribers"), 1);
}
END_TEST

/* One for each connection; it ends by unsubscribe, and can be taken up where it was. */
START_TEST(test_unsubscribe)
{
	json_t *result;

	subscribe(&a, NULL);
	json_decref(crig_fail(&a, "event.subscribe", NULL, "ALREADY_EXISTS"));
	add(EVENT_CONN_CLOSED, "1");
	ck_assert_int_eq(expect_event(&a, "conn.closed", "1"), 1);
	result = crig_call(&a, "event.unsubscribe", NULL);
	ck_assert_int_eq(crig_integer(result, "next"), 1);
	json_decref(result);
	ck_assert_int_eq(control_stat(&a, "subscribers"), 0);
	add(EVENT_CONN_CLOSED, "2");
	ck_assert(crig_is_silent(&a));
	result = crig_call(&a, "event.unsubscribe", NULL);
	ck_assert(json_is_null(json_object_get(result, "next")));
	json_decref(result);
	subscribe(&a, "{\"since\":1}");
	ck_assert_int_eq(expect_event(&a, "conn.closed", "2"), 2);
}
END_TEST

/* In a batch the events come behind its replies; as a notification it is nothing. */
START_TEST(test_batch_and_notification)
{
	json_t *replies;

	add(EVENT_CONN_CLOSED, "1");
	crig_puts(&a,
	    "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"event.subscribe\","
	    "\"params\":{\"since\":0}},"
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"rpc.hello\"}]\n");
	replies = crig_reply(&a);
	ck_assert_uint_eq(json_array_size(replies), 2);
	json_decref(replies);
	ck_assert_int_eq(expect_event(&a, "conn.closed", "1"), 1);
	crig_puts(&b,
	    "{\"jsonrpc\":\"2.0\",\"method\":\"event.subscribe\","
	    "\"params\":{\"since\":0}}\n");
	ck_assert(crig_is_silent(&b));
	ck_assert_int_eq(control_stat(&b, "subscribers"), 1);
}
END_TEST

/*
 * A client that reads nothing: others are served, it is not dropped, little waits for
 * it, and when it reads at last, told and missed are all that happened, in order.
 */
START_TEST(test_lag)
{
	unsigned int i, events = 0;
	long long missed = 0, last = 0;
	json_t *line, *params;

	teardown();
	start(50);
	subscribe(&a, NULL);
	for (i = 1; i <= MANY; i++) {
		add(EVENT_CONN_CLOSED, "peer");
		if (i % 16 == 0)
			ck_assert_int_eq(loop_turn(rig.loop, 0), 0);
		if (i % 10000 == 0)
			json_decref(crig_call(&b, "rpc.hello", NULL));
	}
	crig_run_ms(&rig, 200);
	ck_assert_int_eq(control_stat(&b, "clients"), 2);
	ck_assert_int_eq(control_stat(&b, "clients_dropped_total"), 0);
	while (last < MANY) {
		line = crig_reply(&a);
		params = json_object_get(line, "params");
		if (strcmp(crig_text(line, "method"), "event.gap") == 0) {
			missed += crig_integer(params, "missed");
			ck_assert_int_eq(crig_integer(params, "next"),
			    last + crig_integer(params, "missed"));
			last = crig_integer(params, "next");
		} else {
			ck_assert_str_eq(crig_text(line, "method"), "event");
			ck_assert_int_eq(crig_integer(params, "seq"), ++last);
			events++;
		}
		json_decref(line);
	}
	ck_assert_int_eq(last, MANY);
	ck_assert_int_eq(events + missed, MANY);
	/* A socket's buffer, a piece under way and the ring: not what was produced. */
	ck_assert_uint_lt(events, 6000);
	ck_assert_uint_ge(events, EVENTS_KEPT);
	ck_assert_int_eq(control_stat(&b, "events_missed_total"), missed);
	ck_assert(crig_is_silent(&a));
}
END_TEST

/* A reply that it leaves unread behind its events is another matter. */
START_TEST(test_lag_with_reply)
{
	unsigned int i;

	teardown();
	start(50);
	subscribe(&a, NULL);
	for (i = 1; i <= 8000; i++) {
		add(EVENT_CONN_CLOSED, "peer");
		if (i % 16 == 0)
			ck_assert_int_eq(loop_turn(rig.loop, 0), 0);
	}
	crig_puts(&a, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.hello\"}\n");
	for (i = 0; i < 200 && control_stat(&b, "clients") > 1; i++)
		crig_run_ms(&rig, 100);
	ck_assert_int_eq(control_stat(&b, "clients"), 1);
	ck_assert_int_eq(control_stat(&b, "clients_dropped_total"), 1);
	ck_assert_int_eq(control_stat(&b, "subscribers"), 0);
}
END_TEST

/* It lasts as long as anybody is there to read: a client may end its requests. */
START_TEST(test_half_close)
{
	subscribe(&a, NULL);
	ck_assert_int_eq(shutdown(a.fd, SHUT_WR), 0);
	crig_settle(&rig);
	add(EVENT_CONN_CLOSED, "1");
	ck_assert_int_eq(expect_event(&a, "conn.closed", "1"), 1);
	ck_assert_int_eq(control_stat(&b, "subscribers"), 1);
	crig_close(&a);
	crig_settle(&rig);
	ck_assert_int_eq(control_stat(&b, "subscribers"), 0);
	ck_assert_int_eq(control_stat(&b, "clients"), 1);
}
END_TEST

/* Unsubscribed, a client that has ended its requests is done. */
START_TEST(test_half_close_and_unsubscribe)
{
	crig_puts(&a,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"event.subscribe\"}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"event.unsubscribe\"}\n");
	ck_assert_int_eq(shutdown(a.fd, SHUT_WR), 0);
	ck_assert_ptr_nonnull(strstr(crig_line(&a), "\"id\":1"));
	ck_assert_ptr_nonnull(strstr(crig_line(&a), "\"id\":2"));
	ck_assert_ptr_null(crig_line(&a));
}
END_TEST

/* The daemon's stop is told to the end. */
START_TEST(test_end)
{
	json_t *end;

	subscribe(&a, NULL);
	rpc_begin_stop(rig.rpc);
	add(EVENT_DAEMON_STOPPING, "x");
	add(EVENT_CONN_CLOSED, "shutdown");
	rpc_end_calls(rig.rpc);
	ck_assert_int_eq(expect_event(&a, "daemon.stopping", "x"), 1);
	ck_assert_int_eq(expect_event(&a, "conn.closed", "shutdown"), 2);
	end = told(&a, "event.end");
	ck_assert_str_eq(crig_text(end, "reason"), "stopping");
	ck_assert_int_eq(crig_integer(end, "next"), 2);
	json_decref(end);
	/* Who comes when all were told the end is told at once, and not left to wait. */
	json_decref(crig_fail(&b, "event.subscribe", NULL, "SHUTTING_DOWN"));
	json_decref(crig_fail(&b, "event.get", "{\"since\":2,\"wait_ms\":600000}",
	    "SHUTTING_DOWN"));
	json_decref(crig_call(&b, "event.get", "{\"since\":1}"));
	add(EVENT_CONN_CLOSED, "late");
	ck_assert(crig_is_silent(&a));
}
END_TEST

/* Whatever allocation of jansson fails: the event is told, or its client is gone. */
START_TEST(test_no_memory)
{
	struct crig_client c;
	unsigned long n, failures = 0;
	bool has_failed = true;
	const char *line;
	long live;

	teardown();
	json_alloc_install();
	start(0);
	for (n = 1; has_failed; n++) {
		crig_open(&rig, &c);
		subscribe(&c, NULL);
		crig_settle(&rig);
		live = json_alloc_live();
		json_alloc_fail_at(n);
		add(EVENT_CONN_CLOSED, "peer");
		crig_settle(&rig);
		has_failed = json_alloc_failed();
		json_alloc_fail_at(0);
		line = crig_line(&c);
		ck_assert(has_failed == (line == NULL));
		ck_assert_int_eq(json_alloc_live(), live);
		crig_close(&c);
		crig_settle(&rig);
		failures += has_failed;
	}
	ck_assert_uint_gt(failures, 10);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("subscribe");
	TCase *tc = tcase_create("subscribe");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_shape_and_types);
	tcase_add_test(tc, test_since);
	tcase_add_test(tc, test_unsubscribe);
	tcase_add_test(tc, test_batch_and_notification);
	tcase_add_test(tc, test_lag);
	tcase_add_test(tc, test_lag_with_reply);
	tcase_add_test(tc, test_half_close);
	tcase_add_test(tc, test_half_close_and_unsubscribe);
	tcase_add_test(tc, test_end);
	tcase_add_test(tc, test_no_memory);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
