/* SPDX-License-Identifier: BSD-3-Clause */
/* Polls that wait, and what becomes of messages whose client goes or gets no reply. */
#include <config.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <jansson.h>

#include "daemon/rpc_call.h"
#include "tests/unit/crig.h"
#include "tests/unit/harness.h"
#include "tests/unit/json_alloc.h"

static struct crig rig;
static struct crig_client a, b;

static void
setup(void)
{
	crig_start_two(&rig, "{\"pool\":{\"slots\":16}}", &a, &b);
}

static void
teardown(void)
{
	crig_end_two(&rig, &a, &b);
}

/* Polls that wait are served in order, each with the first message for it. */
START_TEST(test_waits_in_order)
{
	json_t *reply;

	crig_puts(&a, CRIG_POLL("\"wait_ms\":60000"));
	crig_settle(&rig);
	crig_puts(&b, CRIG_POLL("\"wait_ms\":60000"));
	crig_settle(&rig);
	/* Requests behind it are served meanwhile. */
	crig_puts(&a, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"rpc.hello\"}\n");
	ck_assert_ptr_nonnull(strstr(crig_line(&a), "\"id\":9"));
	crig_arrive(&rig, "first");
	ck_assert_ptr_nonnull(strstr(crig_line(&a), "Zmlyc3Q="));
	ck_assert(crig_is_silent(&b));
	crig_arrive(&rig, "second");
	reply = crig_reply(&b);
	ck_assert_uint_eq(crig_count(json_object_get(reply, "result")), 1);
	json_decref(reply);
	ck_assert(crig_is_silent(&a));
}
END_TEST

START_TEST(test_wait_ends)
{
	const uint64_t start_ns = loop_now_ns();
	json_t *result = crig_call(&a, "recv.poll", "{\"wait_ms\":50}");

	ck_assert_uint_ge(loop_now_ns() - start_ns, 50000000);
	ck_assert_uint_eq(crig_count(result), 0);
	ck_assert(json_is_false(json_object_get(result, "more")));
	json_decref(result);
	/* What is there is not waited for. */
	crig_arrive(&rig, "1");
	result = crig_call(&a, "recv.poll", "{\"wait_ms\":600000}");
	ck_assert_uint_eq(crig_count(result), 1);
	json_decref(result);
	json_decref(crig_fail(&a, "recv.poll", "{\"wait_ms\":600001}",
	    "INVALID_PARAMS"));
}
END_TEST

START_TEST(test_too_many_waits)
{
	unsigned int i;

	for (i = 0; i < RPC_WAITING_MAX; i++)
		crig_puts(&a, CRIG_POLL("\"wait_ms\":60000"));
	ck_assert(crig_is_silent(&a));
	json_decref(crig_fail(&a, "recv.poll", "{\"wait_ms\":1}", "LIMIT"));
	crig_close(&a);
	crig_settle(&rig);
	crig_arrive(&rig, "1");
	crig_settle(&rig);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).ready, 1);
}
END_TEST

/* Half-closed clients still get what they wait for; those quite gone take nothing. */
START_TEST(test_half_close)
{
	const char *request = CRIG_POLL("\"wait_ms\":60000");

	crig_send(&a, request, strlen(request) - 1); /* no LF */
	ck_assert_int_eq(shutdown(a.fd, SHUT_WR), 0);
	ck_assert(crig_is_silent(&a));
	crig_run_ms(&rig, 30);
	crig_arrive(&rig, "1");
	ck_assert_ptr_nonnull(strstr(crig_line(&a), "MQ=="));
	ck_assert_ptr_null(crig_line(&a)); /* closed behind it */
	crig_puts(&b, request);
	ck_assert_int_eq(shutdown(b.fd, SHUT_WR), 0);
	crig_settle(&rig);
	crig_close(&b);
	crig_settle(&rig);
	crig_arrive(&rig, "2");
	crig_settle(&rig);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).leased, 0);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).ready, 2);
}
END_TEST

/* A client that goes gives back what it held, in the old order; leases by time stay. */
/* What it held comes back at once, what it leased by time does not. */
START_TEST(test_client_gone)
{
	json_t *result;

	crig_arrive(&rig, "1");
	crig_arrive(&rig, "2");
	crig_arrive(&rig, "3");
	json_decref(crig_call(&a, "recv.poll", "{\"max\":2}"));
	json_decref(crig_call(&a, "recv.poll", "{\"max\":1,\"lease_ms\":600000}"));
	ck_assert_uint_eq(stub_engine_counts(rig.engine).leased, 3);
	crig_puts(&b, CRIG_POLL("\"wait_ms\":60000"));
	crig_close(&a);
	result = crig_reply(&b);
	ck_assert_uint_eq(crig_count(json_object_get(result, "result")), 2);
	ck_assert_str_eq(crig_text(crig_completion(json_object_get(result, "result"),
				       0),
			     "data"),
	    "MQ==");
	json_decref(result);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).leased, 3);
}
END_TEST

/* Until its time is over, though the client is gone. */
START_TEST(test_time_of_client_gone)
{
	json_t *result;

	crig_arrive(&rig, "3");
	json_decref(crig_call(&a, "recv.poll", "{\"max\":1,\"lease_ms\":80}"));
	crig_close(&a);
	result = crig_call(&b, "recv.poll", "{\"wait_ms\":60000}");
	ck_assert_str_eq(crig_text(crig_completion(result, 0), "data"), "Mw==");
	json_decref(result);
}
END_TEST

START_TEST(test_auto_ack)
{
	json_t *result;

	crig_arrive(&rig, "1");
	crig_arrive(&rig, "2");
	result = crig_call(&a, "recv.poll", "{\"ack\":\"auto\",\"lease_ms\":1}");
	ck_assert_uint_eq(crig_count(result), 2);
	json_decref(result);
	crig_settle(&rig);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).free, 16);
	ck_assert_uint_eq(rig.engine->stats.auto_acked, 2);
	/* In a batch, with the array. */
	crig_arrive(&rig, "3");
	crig_puts(&a,
	    "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"recv.poll\","
	    "\"params\":{\"ack\":\"auto\"}}]\n");
	json_decref(crig_reply(&a));
	crig_settle(&rig);
	ck_assert_uint_eq(rig.engine->stats.auto_acked, 3);
	/* Not when nobody could read it. */
	crig_arrive(&rig, "4");
	crig_puts(&a, CRIG_POLL("\"ack\":\"auto\""));
	crig_close(&a);
	crig_settle(&rig);
	ck_assert_uint_eq(rig.engine->stats.auto_acked, 3);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).ready, 1);
}
END_TEST

/* Whatever allocation fails, no message is lost and none stays leased unseen. */
static void
starve(const char *request)
{
	struct crig_client client;
	struct ledger_counts counts;
	bool has_failed = true;
	unsigned long n;
	const char *line;

	for (n = 1; has_failed; n++) {
		crig_open(&rig, &client);
		crig_settle(&rig);
		crig_puts(&client, request);
		json_alloc_fail_at(n);
		line = crig_line(&client);
		has_failed = json_alloc_failed();
		json_alloc_fail_at(0);
		if (line && strstr(line, "INTERNAL_ERROR")) {
			counts = stub_engine_counts(rig.engine);
			ck_assert_uint_eq(counts.ready, 3);
		}
		crig_close(&client);
		crig_settle(&rig);
		if (has_failed)
			ck_assert_uint_eq(stub_engine_counts(rig.engine).ready, 3);
	}
	ck_assert_uint_gt(n, 20);
}

START_TEST(test_no_memory)
{
	teardown();
	json_alloc_install();
	setup();
	crig_arrive(&rig, "1");
	crig_arrive(&rig, "2");
	crig_arrive(&rig, "3");
	starve(CRIG_POLL("\"ack\":\"manual\""));
	starve(CRIG_POLL("\"encoding\":\"text\",\"ack\":\"auto\""));
	ck_assert_uint_eq(stub_engine_counts(rig.engine).free, 16);
}
END_TEST

/*
 * Large replies do not pile up for a client that has yet to read the first; others get what
 * it cannot take, and it gets the rest as it reads.
 */
START_TEST(test_large_replies)
{
	const size_t size = 2097152;
	char *data = calloc(1, size);
	json_t *reply;
	unsigned int i;
	size_t got = 0;

	ck_assert_ptr_nonnull(data);
	teardown();
	crig_start_two(&rig, "{\"pool\":{\"slots\":5,\"slot_size\":2097152}}", &a, &b);
	for (i = 0; i < 4; i++)
		crig_puts(&a, CRIG_POLL("\"wait_ms\":60000,\"max\":1"));
	crig_puts(&a, CRIG_POLL("\"wait_ms\":200"));
	crig_settle(&rig);
	crig_puts(&b, CRIG_POLL("\"wait_ms\":60000,\"max\":1"));
	crig_settle(&rig);
	crig_post(&rig, 5);
	for (i = 0; i < 5; i++)
		stub_engine_arrive(rig.engine, data, size);
	crig_settle(&rig);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).leased, 2);
	reply = crig_reply(&b);
	ck_assert_uint_eq(crig_count(json_object_get(reply, "result")), 1);
	json_decref(reply);
	crig_run_ms(&rig, 300);
	/* The one whose time is over is answered without. */
	for (i = 0; i < 5; i++) {
		reply = crig_reply(&a);
		got += crig_count(json_object_get(reply, "result"));
		json_decref(reply);
	}
	ck_assert_uint_eq(got, 4);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).leased, 5);
	free(data);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("rpc_wait");
	TCase *tc = tcase_create("rpc_wait");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_waits_in_order);
	tcase_add_test(tc, test_wait_ends);
	tcase_add_test(tc, test_too_many_waits);
	tcase_add_test(tc, test_half_close);
	tcase_add_test(tc, test_client_gone);
	tcase_add_test(tc, test_time_of_client_gone);
	tcase_add_test(tc, test_auto_ack);
	tcase_add_test(tc, test_large_replies);
	tcase_add_test(tc, test_no_memory);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
