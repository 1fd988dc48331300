/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics: the text against the format's description, and the table against the numbers that there are. */
#include <config.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "daemon/metrics.h"
#include "daemon/rpc_text.h"
#include "tests/unit/crig.h"
#include "tests/unit/harness.h"

static struct crig rig;
static struct crig_client a;

static char *
render(const char *json)
{
	json_t *stats = json_loads(json, 0, NULL);
	struct rpc_text text = { 0 };

	ck_assert_ptr_nonnull(stats);
	ck_assert_int_eq(metrics_add(&text, stats), 0);
	ck_assert_int_eq(rpc_text_add(&text, "", 1), 0);
	json_decref(stats);
	return text.bytes;
}

static void
expect(const char *json, const char *wanted)
{
	char *text = render(json);

	ck_assert_str_eq(text, wanted);
	free(text);
}

/* What is too long for a line is an error of its own: no memory is missing. */
START_TEST(test_long_labels)
{
	char device[600];
	struct rpc_text text = { 0 };
	json_t *stats;

	memset(device, 'x', sizeof(device) - 1);
	device[sizeof(device) - 1] = '\0';
	stats = json_pack("{s:[{s:s, s:i, s:s, s:s}]}", "ports", "device", device,
	    "port", 1, "state", "ACTIVE", "rate", "100 Gb/sec");
	ck_assert_ptr_nonnull(stats);
	ck_assert_int_eq(metrics_add(&text, stats), -EMSGSIZE);
	json_decref(stats);
	free(text.bytes);
}
END_TEST

START_TEST(test_plain)
{
	expect("{}", "");
	expect("{\"slots\": {\"total\": 1024}}",
	    "# HELP rpmad_pool_slots Receive slots of the pool.\n"
	    "# TYPE rpmad_pool_slots gauge\n"
	    "rpmad_pool_slots 1024\n");
	expect("{\"recv\": {\"messages_total\": 9007199254740993}}",
	    "# HELP rpmad_recv_messages_total Messages that arrived.\n"
	    "# TYPE rpmad_recv_messages_total counter\n"
	    "rpmad_recv_messages_total 9007199254740993\n");
	/* Samples of one metric follow its one header. */
	expect("{\"slots\": {\"leased\": 1, \"free\": 2}}",
	    "# HELP rpmad_slots Receive slots of the pool by state.\n"
	    "# TYPE rpmad_slots gauge\n"
	    "rpmad_slots{state=\"free\"} 2\n"
	    "rpmad_slots{state=\"leased\"} 1\n");
	/* What is not known is left out. */
	expect("{\"memory\": {\"memlock_limit_bytes\": null}}", "");
}
END_TEST

/* The base unit of time is the second. */
START_TEST(test_seconds)
{
#define EMPTY_HEADER                                                                \
	"# HELP rpmad_srq_empty_seconds_total Time for which the queue was empty: " \
	"senders were stalled.\n"                                                   \
	"# TYPE rpmad_srq_empty_seconds_total counter\n"
	expect("{\"srq\": {\"empty_ns_total\": 0}}",
	    EMPTY_HEADER "rpmad_srq_empty_seconds_total 0.000000000\n");
	expect("{\"srq\": {\"empty_ns_total\": 3200000001}}",
	    EMPTY_HEADER "rpmad_srq_empty_seconds_total 3.200000001\n");
}
END_TEST

START_TEST(test_lists)
{
	expect("{\"recv\": {\"errors\": [{\"status\": \"LOC_LEN_ERR\", \"count\": 3},"
	       " {\"status\": \"a\\\"b\\\\c\\nd\", \"count\": 4}]}}",
	    "# HELP rpmad_recv_errors_total Receives that failed, by completion status.\n"
	    "# TYPE rpmad_recv_errors_total counter\n"
	    "rpmad_recv_errors_total{status=\"LOC_LEN_ERR\"} 3\n"
	    "rpmad_recv_errors_total{status=\"a\\\"b\\\\c\\nd\"} 4\n");
	expect("{\"recv\": {\"errors\": []}}", "");
	expect("{\"ports\": [{\"device\": \"rxe0\", \"port\": 2, \"state\": \"ACTIVE\","
	       " \"rate\": null, \"rnr_sent_total\": 5, \"rnr_received_total\": null,"
	       " \"hw_counters\": {\"sent_pkts\": 7}}]}",
	    "# HELP rpmad_port_info A port of the device.\n"
	    "# TYPE rpmad_port_info gauge\n"
	    "rpmad_port_info{device=\"rxe0\",port=\"2\",state=\"ACTIVE\"} 1\n"
	    "# HELP rpmad_port_rnr_sent_total Receiver-not-ready NAKs to peers, of all "
	    "processes at the port.\n"
	    "# TYPE rpmad_port_rnr_sent_total counter\n"
	    "rpmad_port_rnr_sent_total{device=\"rxe0\",port=\"2\"} 5\n"
	    "# HELP rpmad_port_hw_value The driver's own counters of the port, as "
	    "found.\n"
	    "# TYPE rpmad_port_hw_value gauge\n"
	    "rpmad_port_hw_value{device=\"rxe0\",port=\"2\",counter=\"sent_pkts\"} 7\n");
}
END_TEST

START_TEST(test_histogram)
{
	expect(
	    "{\"loop\": {\"turn_ns\": {\"count\": 4, \"sum\": 2000001024, \"buckets\": "
	    "[{\"le\": 1024, \"count\": 1}, {\"le\": 4096, \"count\": 3}]}}}",
	    "# HELP rpmad_loop_turn_seconds How long the turns served.\n"
	    "# TYPE rpmad_loop_turn_seconds histogram\n"
	    "rpmad_loop_turn_seconds_bucket{le=\"0.000001024\"} 1\n"
	    "rpmad_loop_turn_seconds_bucket{le=\"0.000004096\"} 3\n"
	    "rpmad_loop_turn_seconds_bucket{le=\"+Inf\"} 4\n"
	    "rpmad_loop_turn_seconds_count 4\n"
	    "rpmad_loop_turn_seconds_sum 2.000001024\n");
}
END_TEST

/* A label that has no room is an error, and nothing is written beyond it. */
START_TEST(test_long_label)
{
	struct rpc_text text = { 0 };
	char status[600];
	json_t *stats;

	memset(status, 'x', sizeof(status) - 1);
	status[sizeof(status) - 1] = '\0';
	stats = json_pack("{s:{s:[{s:s, s:i}]}}", "recv", "errors", "status", status,
	    "count", 1);
	ck_assert_int_eq(metrics_add(&text, stats), -EMSGSIZE);
	json_decref(stats);
	free(text.bytes);
}
END_TEST

/* Whether a row of the table reads this path. */
static bool
has_row(const char *path)
{
	size_t i;

	for (i = 0; i < metric_count; i++)
		if (strcmp(metrics[i].path, path) == 0)
			return true;
	return false;
}

/* Every number below a value is that of a row; strings are labels or state. */
static void
check_numbers(const json_t *value, const char *path)
{
	const char *key;
	char inner[128];
	json_t *member;
	size_t i;

	if (has_row(path) && !json_is_array(value) && !json_is_object(value))
		return;
	if (json_is_object(value) && json_object_get(value, "buckets")) {
		ck_assert_msg(has_row(path), "no metric for %s", path);
		return;
	}
	ck_assert_msg(!json_is_integer(value), "no metric for %s", path);
	if (json_is_array(value)) {
		(void)snprintf(inner, sizeof(inner), "%s[]", path);
		json_array_foreach((json_t *)(uintptr_t)value, i, member)
			check_numbers(member, inner);
	}
	json_object_foreach((json_t *)(uintptr_t)value, key, member) {
		(void)snprintf(inner, sizeof(inner), "%s%s%s", path,
		    path[0] != '\0' ? "." : "", key);
		if (strcmp(inner, "ports[].port") == 0)
			continue; /* a label */
		if (strcmp(key, "hw_counters") == 0)
			ck_assert(has_row("ports[].hw_counters{}"));
		else
			check_numbers(member, inner);
	}
}

static void
put(const char *root, const char *path, const char *text)
{
	char command[512];

	(void)snprintf(command, sizeof(command),
	    "mkdir -p \"$(dirname %s/%s)\" && printf '%s\\n' >%s/%s", root, path, text,
	    root, path);
	ck_assert_int_eq(system(command), 0);
}

/* All numbers of a daemon with a device are metrics, and all of them come from the one
 * answer. */
START_TEST(test_complete)
{
	char root[] = "/tmp/check_metrics.XXXXXX", command[128];
	const json_t *port, *text;
	json_t *result;

	ck_assert_ptr_nonnull(mkdtemp(root));
	put(root, "fake0/ports/1/state", "4: ACTIVE");
	put(root, "fake0/ports/1/rate", "100 Gb/sec (4X EDR)");
	put(root, "fake0/ports/1/hw_counters/send_rnr_err", "12");
	put(root, "fake0/ports/1/hw_counters/lifespan", "10");
	put(root, "fake0/ports/1/hw_counters/odd", "n/a");
	rig.devices_root = root;
	crig_start(&rig, NULL);
	crig_open(&rig, &a);
	stub_engine_count(rig.engine);
	result = crig_call(&a, "stats.get", NULL);
	check_numbers(result, "");
	port = json_array_get(json_object_get(result, "ports"), 0);
	ck_assert_int_eq(crig_integer(port, "rnr_sent_total"), 12);
	ck_assert(json_is_null(json_object_get(port, "rnr_received_total")));
	ck_assert_str_eq(crig_text(port, "rate"), "100 Gb/sec (4X EDR)");
	ck_assert_uint_eq(json_object_size(json_object_get(port, "hw_counters")), 1);
	json_decref(result);
	result = crig_call(&a, "stats.metrics", NULL);
	text = json_object_get(result, "text");
	ck_assert_ptr_nonnull(strstr(json_string_value(text),
	    "\nrpmad_port_rnr_sent_total{device=\"fake0\",port=\"1\"} 12\n"));
	ck_assert_ptr_nonnull(strstr(json_string_value(text),
	    "\nrpmad_cm_closes_total{reason=\"peer\"} 2\n"));
	ck_assert_ptr_nonnull(strstr(json_string_value(text),
	    "\nrpmad_srq_post_errors_total{name=\"ENOMEM\"} 5\n"));
	ck_assert_ptr_nonnull(strstr(json_string_value(text),
	    "\nrpmad_recv_drops_total{reason=\"too_long\"} 7\n"));
	ck_assert_ptr_nonnull(strstr(json_string_value(text), "\nrpmad_cm_ids 9\n"));
	ck_assert_ptr_nonnull(strstr(json_string_value(text),
	    "\nrpmad_memory_huge_page_bytes 4194304\n"));
	json_decref(result);
	crig_close(&a);
	crig_end(&rig);
	(void)snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

/* Names as the format and the conventions want them: a counter ends in _total, nothing else does, and no name says what type
 * it is of, which promtool takes for a fault. */
START_TEST(test_names)
{
	static const char *const types[] = { "_counter", "_gauge", "_histogram",
		"_summary", "_untyped" };
	size_t i, j;

	for (i = 0; i < metric_count; i++) {
		const char *name = metrics[i].name;
		const size_t len = strlen(name);
		const bool is_total = len > 6 && strcmp(name + len - 6, "_total") == 0;

		ck_assert_msg(strspn(name, "abcdefghijklmnopqrstuvwxyz_") == len, "%s",
		    name);
		ck_assert_msg(strncmp(name, "rpmad_", 6) == 0, "%s", name);
		ck_assert_msg(is_total == (metrics[i].kind == METRIC_COUNTER), "%s",
		    name);
		ck_assert_msg(metrics[i].unit != METRIC_NS || strstr(name, "_seconds"),
		    "%s", name);
		ck_assert_ptr_nonnull(metrics[i].help);
		for (j = 0; j < ARRAY_LEN(types); j++)
			ck_assert_msg(!strstr(name, types[j]), "%s", name);
		for (j = 0; j + 1 < i; j++)
			ck_assert_msg(strcmp(metrics[j].name, name) != 0 ||
				strcmp(metrics[i - 1].name, name) == 0,
			    "rows of %s do not follow each other", name);
	}
}
END_TEST

/* What the manual has to say of a metric's type and labels. */
static void
describe(const struct metric *metric, char *text, size_t size)
{
	static const char *const kinds[] = { [METRIC_COUNTER] = "Counter",
		[METRIC_GAUGE] = "Gauge",
		[METRIC_HISTOGRAM] = "Histogram",
		[METRIC_INFO] = "Gauge, always 1" };
	const char *const *label = metric->labels;
	const char *before = ", by ";
	size_t len = (size_t)snprintf(text, size, "%s", kinds[metric->kind]);

	if (metric->fixed) {
		len += (size_t)snprintf(text + len, size - len, "%s%.*s", before,
		    (int)strcspn(metric->fixed, "="), metric->fixed);
		before = ", ";
	}
	for (; *label; label++) {
		len += (size_t)snprintf(text + len, size - len, "%s%s", before, *label);
		before = ", ";
	}
	if (metric->key)
		len += (size_t)snprintf(text + len, size - len, "%s%s", before,
		    metric->key);
	(void)snprintf(text + len, size - len, ".");
}

/* The manual tells of each with its type, its labels and its help. */
START_TEST(test_manual)
{
	const char *top_srcdir = getenv("top_srcdir");
	char path[512], item[512], what[128];
	static char manual[262144];
	FILE *file;
	size_t i;

	(void)snprintf(path, sizeof(path), "%s/man/rpmad-rpc.7",
	    top_srcdir ? top_srcdir : ".");
	file = fopen(path, "re");
	ck_assert_msg(file != NULL, "%s cannot be read", path);
	manual[fread(manual, 1, sizeof(manual) - 1, file)] = '\0';
	ck_assert_int_eq(fclose(file), 0);
	for (i = 0; i < metric_count; i++) {
		describe(&metrics[i], what, sizeof(what));
		(void)snprintf(item, sizeof(item), "\n.It Va %s\n%s\n%s\n",
		    metrics[i].name, what, metrics[i].help);
		ck_assert_msg(strstr(manual, item) != NULL, "the manual has not: %s",
		    item);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("metrics");
	TCase *tc = tcase_create("metrics");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_plain);
	tcase_add_test(tc, test_long_labels);
	tcase_add_test(tc, test_seconds);
	tcase_add_test(tc, test_lists);
	tcase_add_test(tc, test_histogram);
	tcase_add_test(tc, test_long_label);
	tcase_add_test(tc, test_complete);
	tcase_add_test(tc, test_names);
	tcase_add_test(tc, test_manual);
	suite_add_tcase(s, tc);
	return harness_run(s);
}
