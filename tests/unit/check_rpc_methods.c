/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of all methods: their keys, types and nulls; and their asynchronous ends.
 */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "lib/core/method.h"
#include "tests/unit/crig.h"
#include "tests/unit/harness.h"

static struct crig rig;
static struct crig_client a;

static void
setup(void)
{
	memset(&rig, 0, sizeof(rig));
	rig.devices_root = "/nowhere";
	crig_start(&rig, "{\"pool\":{\"slots\":16}}");
	crig_open(&rig, &a);
}

static void
teardown(void)
{
	crig_close(&a);
	crig_end(&rig);
}

/*
 * A shape: "key type" separated by blanks. Types: i integer, s string, b boolean,
 * a array, o object, n null, S string or null, I integer or null.
 */
static void
check_shape(const json_t *object, const char *shape)
{
	char copy[1024], *word, *type, *save = NULL;
	const json_t *value;
	size_t n = 0;
	bool ok;

	(void)snprintf(copy, sizeof(copy), "%s", shape);
	for (word = strtok_r(copy, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		type = strchr(word, ':');
		*type++ = '\0';
		value = json_object_get(object, word);
		ck_assert_msg(value != NULL, "%s is missing", word);
		ok = (strchr("iI", *type) && json_is_integer(value)) ||
		    (strchr("sS", *type) && json_is_string(value)) ||
		    (*type == 'b' && json_is_boolean(value)) ||
		    (*type == 'a' && json_is_array(value)) ||
		    (*type == 'o' && json_is_object(value)) ||
		    (strchr("nSI", *type) && json_is_null(value));
		ck_assert_msg(ok, "%s is of another type", word);
		n++;
	}
	ck_assert_uint_eq(json_object_size(object), n);
}

#define CONN_SHAPE                                                                              \
	"conn:i state:s direction:s peer:s local:S qp_num:I listener:I since:s "                \
	"messages:i bytes:i sent_messages:i sent_bytes:i held:i held_max:i last_recv_age_ms:I " \
	"peer_slot_size:I reason:S closed_at:S errors:i"
#define SRQ_TOTALS                                                                \
	"posted_total:i refills_total:i post_failures_total:i times_low_total:i " \
	"times_empty_total:i empty_ns_total:i"
#define SLOTS_SHAPE "free:i posted:i ready:i leased:i total:i"

START_TEST(test_list_and_hello)
{
	json_t *result = crig_call(&a, "rpc.list", NULL);

	check_shape(result, "methods:a");
	ck_assert_uint_eq(json_array_size(json_object_get(result, "methods")),
	    METHOD_COUNT);
	json_decref(result);
	result = crig_call(&a, "rpc.hello", NULL);
	check_shape(result,
	    "name:s version:s protocol:i instance:s pid:i role:s limits:o");
	ck_assert_str_eq(crig_text(result, "name"), "rpmad");
	ck_assert_str_eq(crig_text(result, "instance"), "c0ffee0123456789");
	ck_assert_str_eq(crig_text(result, "role"), "admin");
	ck_assert_int_eq(crig_integer(result, "pid"), getpid());
	check_shape(json_object_get(result, "limits"),
	    "max_request:i max_reply:i max_batch:i max_depth:i max_values:i "
	    "max_clients:i");
	json_decref(result);
}
END_TEST

START_TEST(test_status)
{
	const char *shape =
	    "state:s reason:S version:s instance:s pid:i uptime_ms:i "
	    "device:S refill:s slots:o listeners:i conns:i clients:i kept:b "
	    "warnings:a";
	json_t *result = crig_call(&a, "daemon.status", NULL);

	check_shape(result, shape);
	check_shape(json_object_get(result, "slots"), SLOTS_SHAPE);
	ck_assert_str_eq(crig_text(result, "state"), "running");
	ck_assert(json_is_null(json_object_get(result, "reason")));
	ck_assert_str_eq(crig_text(result, "device"), "fake0");
	ck_assert_uint_eq(json_array_size(json_object_get(result, "warnings")), 0);
	ck_assert_int_eq(crig_integer(result, "clients"), 1);
	json_decref(result);
	rig.engine->state = ENGINE_WAITING_FOR_DEVICE;
	rig.engine->reason = "rxe0 is not there";
	rig.engine->device = "";
	rig.engine->warning = "the pool is \"dry\"\n";
	result = crig_call(&a, "daemon.status", NULL);
	check_shape(result, shape);
	ck_assert_str_eq(crig_text(result, "state"), "waiting_for_device");
	ck_assert_str_eq(crig_text(result, "reason"), "rxe0 is not there");
	ck_assert(json_is_null(json_object_get(result, "device")));
	ck_assert_uint_eq(json_array_size(json_object_get(result, "warnings")), 1);
	json_decref(result);
	rpc_begin_stop(rig.rpc);
	result = crig_call(&a, "daemon.status", NULL);
	ck_assert_str_eq(crig_text(result, "state"), "stopping");
	json_decref(result);
}
END_TEST

START_TEST(test_srq)
{
	const char *shape =
	    "device:S state:s asked:i effective:I posted:i free:i total:i "
	    "target:i low_watermark:i refill:s min_rnr_timer_us:i "
	    "min_rnr_timer_code:i cq_asked:i huge_pages:b pool_bytes:i page_size:i empty:b " SRQ_TOTALS;
	json_t *result = crig_call(&a, "srq.show", NULL);

	check_shape(result, shape);
	ck_assert_str_eq(crig_text(result, "state"), "active");
	ck_assert_int_eq(crig_integer(result, "effective"), 17);
	ck_assert(json_is_true(json_object_get(result, "huge_pages")));
	ck_assert_int_eq(crig_integer(result, "page_size"), 2097152);
	json_decref(result);
	rig.engine->device = "";
	result = crig_call(&a, "srq.show", NULL);
	check_shape(result, shape);
	ck_assert_str_eq(crig_text(result, "state"), "none");
	ck_assert(json_is_null(json_object_get(result, "effective")));
	json_decref(result);
}
END_TEST

/* The list of that name has one row: {key: name, "count"}. */
static void
check_count(const json_t *object, const char *list, const char *key, const char *name,
    int count)
{
	const json_t *rows = json_object_get(object, list), *row;

	ck_assert_uint_eq(json_array_size(rows), 1);
	row = json_array_get(rows, 0);
	ck_assert_uint_eq(json_object_size(row), 2);
	ck_assert_str_eq(crig_text(row, key), name);
	ck_assert_int_eq(crig_integer(row, "count"), count);
}

START_TEST(test_stats)
{
	json_t *result, *srq, *recv, *cm, *memory;

	stub_engine_count(rig.engine);
	rig.engine->stats.memlock_limit_bytes = UINT64_MAX;
	result = crig_call(&a, "stats.get", NULL);
	check_shape(result,
	    "slots:o srq:o recv:o send:o cq:o cm:o memory:o control:o loop:o "
	    "ports:a");
	check_shape(json_object_get(result, "slots"), SLOTS_SHAPE);
	srq = json_object_get(result, "srq");
	check_shape(srq, SRQ_TOTALS " post_failures:a");
	check_count(srq, "post_failures", "name", "ENOMEM", 5);
	recv = json_object_get(result, "recv");
	check_shape(recv,
	    "messages_total:i bytes_total:i imm_total:i polled_total:i "
	    "redelivered_total:i acked_total:i nacked_total:i expired_total:i "
	    "auto_acked_total:i flushed_total:i late_total:i errors:a dropped_total:i "
	    "dropped:a ledger_faults_total:i restored_total:i maybe_lost_total:i "
	    "size_bytes:o queue_ns:o hold_ns:o");
	check_shape(json_object_get(recv, "queue_ns"), "count:i sum:i buckets:a");
	check_count(recv, "errors", "status", "LOC_LEN_ERR", 3);
	check_count(recv, "dropped", "reason", "too_long", 7);
	check_shape(json_object_get(result, "send"),
	    "slots:o messages_total:i bytes_total:i failures_total:i");
	check_shape(json_object_get(json_object_get(result, "send"), "slots"),
	    "free:i total:i");
	check_shape(json_object_get(result, "cq"),
	    "size:i events_total:i empty_wakeups_total:i late_completions_total:i "
	    "batch_max:i");
	cm = json_object_get(result, "cm");
	check_shape(cm,
	    "requests_total:i accepted_total:i established_total:i opened_total:i "
	    "closed_total:i conns:i ids:i unknown_events_total:i rejected:a closes:a");
	ck_assert_int_eq(crig_integer(cm, "ids"), 9);
	check_count(cm, "closes", "reason", "peer", 2);
	memory = json_object_get(result, "memory");
	check_shape(memory,
	    "registered_bytes:i memlock_limit_bytes:n huge_page_bytes:i");
	ck_assert_int_eq(crig_integer(memory, "huge_page_bytes"), 4194304);
	check_shape(json_object_get(result, "control"),
	    "clients:i clients_total:i clients_refused_total:i clients_dropped_total:i "
	    "requests_total:i request_errors_total:i parse_errors_total:i "
	    "notifications_refused_total:i subscribers:i events_missed_total:i "
	    "rings:i calls:a request_ns:o");
	check_shape(json_object_get(result, "loop"),
	    "turns_total:i stalls_total:i turn_ns:o");
	check_shape(json_object_get(json_object_get(result, "loop"), "turn_ns"),
	    "count:i sum:i buckets:a");
	json_decref(result);
}
END_TEST

/* Each call by its method and its end; a poll that waits is no request that took long. */
START_TEST(test_calls)
{
	const json_t *call;
	json_t *result, *calls, *waited;

	json_decref(crig_call(&a, "srq.show", NULL));
	json_decref(crig_call(&a, "srq.show", NULL));
	json_decref(crig_fail(&a, "conn.show", "{\"conn\": 99}", "NO_SUCH_CONN"));
	json_decref(crig_call(&a, "recv.poll", "{\"wait_ms\": 50}"));
	result = crig_call(&a, "stats.get", NULL);
	calls = json_object_get(json_object_get(result, "control"), "calls");
	ck_assert_uint_eq(json_array_size(calls), 3);
	call = json_array_get(calls, 0);
	check_shape(call, "method:s result:s count:i");
	ck_assert_str_eq(crig_text(call, "method"), "srq.show");
	ck_assert_str_eq(crig_text(call, "result"), "ok");
	ck_assert_int_eq(crig_integer(call, "count"), 2);
	call = json_array_get(calls, 1);
	ck_assert_str_eq(crig_text(call, "method"), "recv.poll");
	call = json_array_get(calls, 2);
	ck_assert_str_eq(crig_text(call, "method"), "conn.show");
	ck_assert_str_eq(crig_text(call, "result"), "error");
	ck_assert_int_eq(crig_integer(call, "count"), 1);
	waited = json_object_get(json_object_get(result, "control"), "request_ns");
	ck_assert_int_eq(crig_integer(waited, "count"), 3);
	json_decref(result);
}
END_TEST

START_TEST(test_listeners)
{
	json_t *result = crig_call(&a, "listener.list", NULL), *error;

	check_shape(result, "listeners:a");
	ck_assert_uint_eq(json_array_size(json_object_get(result, "listeners")), 0);
	json_decref(result);
	result =
	    crig_call(&a, "listener.add", "{\"addr\":\"192.168.77.1\",\"port\":0}");
	check_shape(result, "listener:i addr:s port:i");
	ck_assert_str_eq(crig_text(result, "addr"), "192.168.77.1");
	ck_assert_int_eq(crig_integer(result, "port"), 7001);
	json_decref(result);
	result = crig_call(&a, "listener.list", NULL);
	check_shape(json_array_get(json_object_get(result, "listeners"), 0),
	    "listener:i addr:s port:i up:b requests_total:i accepted_total:i");
	json_decref(result);
	result = crig_call(&a, "listener.remove", "{\"listener\":1}");
	check_shape(result, "listener:i");
	json_decref(result);
	json_decref(crig_fail(&a, "listener.remove", "{\"listener\":1}",
	    "NO_SUCH_LISTENER"));
	error = crig_fail(&a, "listener.add", "{\"addr\":\"localhost\",\"port\":1}",
	    "INVALID_PARAMS");
	ck_assert_str_eq(crig_text(json_object_get(error, "data"), "path"),
	    "params.addr");
	json_decref(error);
	error = crig_fail(&a, "listener.add", "{\"addr\":\"::1\",\"port\":1}",
	    "ADDR_NOT_RDMA");
	ck_assert_str_eq(crig_text(json_object_get(error, "data"), "hint"),
	    "192.168.77.1 is one");
	json_decref(error);
}
END_TEST

START_TEST(test_conns)
{
	json_t *result = crig_call(&a, "conn.list", NULL), *list;

	check_shape(result, "conns:a");
	ck_assert_uint_eq(json_array_size(json_object_get(result, "conns")), 0);
	json_decref(result);
	rig.engine->conns = 2;
	rig.engine->has_closed = true;
	result = crig_call(&a, "conn.list", NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(result, "conns")), 2);
	json_decref(result);
	result = crig_call(&a, "conn.list", "{\"closed\":true}");
	list = json_object_get(result, "conns");
	ck_assert_uint_eq(json_array_size(list), 3);
	check_shape(json_array_get(list, 0), CONN_SHAPE);
	check_shape(json_array_get(list, 1), CONN_SHAPE);
	ck_assert_str_eq(crig_text(json_array_get(list, 0), "state"), "closed");
	ck_assert_str_eq(crig_text(json_array_get(list, 0), "direction"), "out");
	ck_assert_str_eq(crig_text(json_array_get(list, 0), "closed_at"),
	    "2026-01-02T03:04:06.000000Z");
	ck_assert(json_is_null(json_object_get(json_array_get(list, 0), "qp_num")));
	ck_assert(json_is_null(json_object_get(json_array_get(list, 0), "local")));
	ck_assert_str_eq(crig_text(json_array_get(list, 1), "local"), "10.0.0.1:7001");
	ck_assert_int_eq(crig_integer(json_array_get(list, 1), "qp_num"), 42);
	ck_assert(json_is_null(json_object_get(json_array_get(list, 1), "reason")));
	json_decref(result);
	result = crig_call(&a, "conn.show", "{\"conn\":8}");
	check_shape(result, CONN_SHAPE);
	ck_assert_int_eq(crig_integer(result, "conn"), 8);
	json_decref(result);
	json_decref(crig_fail(&a, "conn.show", "{\"conn\":9}", "NO_SUCH_CONN"));
}
END_TEST

/* Both at once and later. */
START_TEST(test_conn_open_and_close)
{
	json_t *result, *error;

	rig.engine->finishes_at_once = true;
	result = crig_call(&a, "conn.open", "{\"addr\":\"10.0.0.1\",\"port\":4711}");
	check_shape(result, "conn:i peer:s local:s peer_slot_size:I");
	ck_assert_str_eq(crig_text(result, "peer"), "10.0.0.1:4711");
	json_decref(result);
	result = crig_call(&a, "conn.close", "{\"conn\":9}");
	check_shape(result, "conn:i reason:s");
	ck_assert_str_eq(crig_text(result, "reason"), "local");
	json_decref(result);
	rig.engine->finishes_at_once = false;
	crig_puts(&a,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"conn.open\",\"params\":"
	    "{\"addr\":\"10.0.0.1\",\"port\":1,\"timeout_ms\":77}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"conn.close\",\"params\":"
	    "{\"conn\":9}}\n");
	ck_assert(crig_is_silent(&a));
	ck_assert_uint_eq(rig.engine->op_count, 2);
	ck_assert_uint_eq(rig.engine->ops[0].timeout_ms, 77);
	stub_engine_finish(rig.engine, ERR_CONN_REJECTED);
	ck_assert_ptr_nonnull(strstr(crig_line(&a), "CONN_REJECTED"));
	stub_engine_finish(rig.engine, ERR_NONE);
	ck_assert_ptr_nonnull(strstr(crig_line(&a), "\"reason\":\"local\""));
	error = crig_fail(&a, "conn.open", "{\"addr\":\"host\",\"port\":1}",
	    "INVALID_PARAMS");
	json_decref(error);
	/* Its client goes meanwhile. */
	crig_puts(&a,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"conn.open\","
	    "\"params\":{\"addr\":\"10.0.0.1\",\"port\":1}}\n");
	crig_settle(&rig);
	crig_close(&a);
	crig_settle(&rig);
	ck_assert_uint_eq(rig.engine->op_count, 1);
	stub_engine_finish(rig.engine, ERR_NONE);
	crig_settle(&rig);
}
END_TEST

START_TEST(test_conn_send)
{
	json_t *result;

	crig_puts(&a,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"conn.send\",\"params\":"
	    "{\"conn\":7,\"data\":\"aGVsbG8A\",\"imm\":5,\"timeout_ms\":9}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"conn.send\",\"params\":"
	    "{\"conn\":7,\"data\":\"h\u00e4\",\"encoding\":\"text\"}}\n"
	    "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"conn.send\",\"params\":"
	    "{\"conn\":7,\"data\":\"\"}}\n");
	ck_assert(crig_is_silent(&a));
	ck_assert_uint_eq(rig.engine->op_count, 3);
	ck_assert_uint_eq(rig.engine->ops[0].len, 6);
	ck_assert_int_eq(memcmp(rig.engine->ops[0].data, "hello", 6), 0);
	ck_assert_uint_eq(rig.engine->ops[0].imm, 5);
	ck_assert_uint_eq(rig.engine->ops[0].timeout_ms, 9);
	ck_assert_uint_eq(rig.engine->ops[1].len, 3);
	ck_assert_uint_eq(rig.engine->ops[1].imm, PARAM_UNSET);
	ck_assert_uint_eq(rig.engine->ops[2].len, 0);
	stub_engine_finish(rig.engine, ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(crig_line(&a), "BUSY"));
	stub_engine_finish(rig.engine, ERR_NONE);
	ck_assert_str_eq(crig_line(&a),
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"conn\":7,\"len\":3}}");
	stub_engine_finish(rig.engine, ERR_NONE);
	ck_assert_ptr_nonnull(strstr(crig_line(&a), "\"len\":0"));
	json_decref(crig_fail(&a, "conn.send", "{\"conn\":7,\"data\":\"a b\"}",
	    "INVALID_PARAMS"));
	rig.engine->finishes_at_once = true;
	result = crig_call(&a, "conn.send", "{\"conn\":7,\"data\":\"YQ==\"}");
	check_shape(result, "conn:i len:i");
	json_decref(result);
}
END_TEST

static void
put(const char *root, const char *path, const char *text)
{
	char full[256];
	FILE *file;

	(void)snprintf(full, sizeof(full), "%s/%s", root, path);
	file = fopen(full, "we");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

#define DEVICE_SHAPE \
	"name:s transport:s node_guid:s in_use:b addrs:a ports:a usable:b reasons:a "

START_TEST(test_devices)
{
	char root[] = "/tmp/check_rpc_methods.XXXXXX", command[256];
	json_t *result = crig_call(&a, "device.list", NULL), *device, *port;

	check_shape(result, "devices:a");
	ck_assert_uint_eq(json_array_size(json_object_get(result, "devices")), 0);
	json_decref(result);
	teardown();
	ck_assert_ptr_nonnull(mkdtemp(root));
	(void)snprintf(command, sizeof(command),
	    "mkdir -p %s/fake0/ports/1/gids %s/sad0/ports/1", root, root);
	ck_assert_int_eq(system(command), 0);
	put(root, "fake0/node_type", "1: CA\n");
	put(root, "fake0/ports/1/state", "4: ACTIVE\n");
	put(root, "fake0/ports/1/gids/0", "fe80::1\n");
	put(root, "sad0/ports/1/state", "1: DOWN\n");
	memset(&rig, 0, sizeof(rig));
	rig.devices_root = root;
	crig_start(&rig, NULL);
	crig_open(&rig, &a);
	rig.engine->has_limits = true;
	result = crig_call(&a, "device.list", NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(result, "devices")), 2);
	device = json_array_get(json_object_get(result, "devices"), 0);
	check_shape(device, DEVICE_SHAPE "limits:o");
	ck_assert(json_is_true(json_object_get(device, "in_use")));
	ck_assert(json_is_true(json_object_get(device, "usable")));
	ck_assert_uint_eq(json_array_size(json_object_get(device, "addrs")), 2);
	ck_assert_uint_eq(json_array_size(json_object_get(device, "reasons")), 0);
	check_shape(json_object_get(device, "limits"),
	    "max_srq:i max_srq_wr:i max_cqe:i max_qp:i max_qp_wr:i max_mr_bytes:n");
	port = json_array_get(json_object_get(device, "ports"), 0);
	check_shape(port, "port:i state:s link_layer:s netdev:n gids:a");
	check_shape(json_array_get(json_object_get(port, "gids"), 0),
	    "index:i gid:s type:n");
	device = json_array_get(json_object_get(result, "devices"), 1);
	check_shape(device, DEVICE_SHAPE "limits:n");
	ck_assert(json_is_false(json_object_get(device, "usable")));
	ck_assert_str_eq(json_string_value(json_array_get(json_object_get(device,
							      "reasons"),
			     0)),
	    "port 1 is DOWN, not ACTIVE");
	ck_assert_uint_eq(json_array_size(json_object_get(device, "reasons")), 2);
	json_decref(result);
	(void)snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
	/* A batch of hundreds does not go through all of it each time. */
	result = crig_call(&a, "device.list", NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(result, "devices")), 2);
	json_decref(result);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("rpc_methods");
	TCase *tc = tcase_create("rpc_methods");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_list_and_hello);
	tcase_add_test(tc, test_status);
	tcase_add_test(tc, test_srq);
	tcase_add_test(tc, test_stats);
	tcase_add_test(tc, test_calls);
	tcase_add_test(tc, test_listeners);
	tcase_add_test(tc, test_conns);
	tcase_add_test(tc, test_conn_open_and_close);
	tcase_add_test(tc, test_conn_send);
	tcase_add_test(tc, test_devices);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
