/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration: its defaults, its errors, and the way back to text. */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "daemon/settings.h"
#include "daemon/settings_print.h"
#include "lib/core/event_type.h"
#include "tests/unit/harness.h"
#include "tests/unit/json_alloc.h"

static struct settings *
parse(const char *text)
{
	struct settings *settings;
	struct err err;

	ck_assert_msg(settings_parse(text, strlen(text), "test.json", &settings,
			  &err) == 0,
	    "%s", err.text);
	return settings;
}

START_TEST(test_defaults)
{
	struct settings *s;
	struct err err;
	size_t i;

	ck_assert_int_eq(settings_load(NULL, &s, &err), 0);
	ck_assert_uint_eq(s->listen_count, 0);
	ck_assert_str_eq(s->device, "");
	ck_assert_uint_eq(s->pool_slots, 1024);
	ck_assert_uint_eq(s->pool_slot_size, 4096);
	ck_assert(!s->pool_huge_pages);
	ck_assert(!s->pool_share);
	ck_assert_int_eq(s->refill, REFILL_AUTO);
	ck_assert_uint_eq(s->receive_target, 512);
	ck_assert_uint_eq(s->receive_low_watermark, 128);
	ck_assert_uint_eq(s->min_rnr_timer_us, 640);
	ck_assert_uint_eq(s->send_slots, 64);
	ck_assert_uint_eq(s->conns_max, 512);
	ck_assert_uint_eq(s->conns_quota_slots, 0);
	ck_assert_uint_eq(s->conns_idle_ms, 0);
	ck_assert(s->conns_announce);
	ck_assert_uint_eq(s->conns_allow_count, 0);
	ck_assert_str_eq(s->control_socket, RPMAD_RUNSTATEDIR "/rpmad.sock");
	ck_assert_uint_eq(s->control_mode, 0660);
	ck_assert_uint_eq(s->control_max_clients, 64);
	ck_assert_uint_eq(s->control_max_request, 1048576);
	for (i = 0; i < ARRAY_LEN(s->roles); i++)
		ck_assert(!s->roles[i].is_given);
	ck_assert_int_eq(s->log_level, LOG_LEVEL_NOTICE);
	settings_free(s);
	settings_free(NULL);
}
END_TEST

#define FULL                                                                                 \
	"{\"#\": \"comment\", \"listen\": [\"10.0.0.1:7471\", \"[fd00::1]:0\", "             \
	"\"10.0.0.1:0\", \"10.0.0.1:0\"], "                                                  \
	"\"device\": \"rxe0\", "                                                             \
	"\"pool\": {\"# why\": 1, \"slots\": 16, \"slot_size\": 128, \"huge_pages\": true, " \
	"\"share\": true}, "                                                                 \
	"\"receive\": {\"refill\": \"manual\", \"target\": 16, \"low_watermark\": 16, "      \
	"\"min_rnr_timer_us\": 10}, \"send\": {\"slots\": 4096}, "                           \
	"\"connections\": {\"max\": 4096, \"allow\": [\"10.0.0.0/8\", \"fd00::/8\", "        \
	"\"192.168.1.1\"], \"quota_slots\": 3, \"idle_ms\": 5, \"announce\": false}, "       \
	"\"control\": {\"socket\": \"/tmp/x\", \"mode\": \"600\", \"max_clients\": 2, "      \
	"\"max_request\": 4096, \"roles\": {\"# x\": 1, \"post\": {\"groups\": [\"a\", "     \
	"\"b\"]}, \"admin\": {\"users\": [\"root\"]}}}, \"log\": {\"level\": \"debug\"}}"

START_TEST(test_every_key)
{
	struct settings *s = parse(FULL);
	char text[ADDR_TEXT_MAX];

	ck_assert_uint_eq(s->listen_count, 4);
	ck_assert_str_eq(addr_format(&s->listen[1], text, sizeof(text)), "[fd00::1]:0");
	ck_assert_str_eq(s->device, "rxe0");
	ck_assert_uint_eq(s->pool_slots, 16);
	ck_assert_uint_eq(s->pool_slot_size, 128);
	ck_assert(s->pool_huge_pages);
	ck_assert(s->pool_share);
	ck_assert_int_eq(s->refill, REFILL_MANUAL);
	ck_assert_uint_eq(s->receive_target, 16);
	ck_assert_uint_eq(s->receive_low_watermark, 16);
	ck_assert_uint_eq(s->min_rnr_timer_us, 10);
	ck_assert_uint_eq(s->send_slots, 4096);
	ck_assert_uint_eq(s->conns_max, 4096);
	ck_assert_uint_eq(s->conns_quota_slots, 3);
	ck_assert_uint_eq(s->conns_idle_ms, 5);
	ck_assert(!s->conns_announce);
	ck_assert_uint_eq(s->conns_allow_count, 3);
	ck_assert_uint_eq(s->conns_allow[1].prefix_bits, 8);
	ck_assert_str_eq(s->control_socket, "/tmp/x");
	ck_assert_uint_eq(s->control_mode, 0600);
	ck_assert_uint_eq(s->control_max_clients, 2);
	ck_assert_uint_eq(s->control_max_request, 4096);
	ck_assert(!s->roles[0].is_given);
	ck_assert(s->roles[1].is_given);
	ck_assert_uint_eq(s->roles[1].group_count, 2);
	ck_assert_str_eq(s->roles[1].groups[1], "b");
	ck_assert_uint_eq(s->roles[1].user_count, 0);
	ck_assert_str_eq(s->roles[2].users[0], "root");
	ck_assert_int_eq(s->log_level, LOG_LEVEL_DEBUG);
	settings_free(s);
}
END_TEST

/* Derived values never leave their bounds, however small the pool. */
START_TEST(test_derived)
{
	static const struct {
		const char *text;
		uint32_t target, watermark;
	} cases[] = {
		{ "{\"pool\": {\"slots\": 1}}", 1, 1 },
		{ "{\"pool\": {\"slots\": 2}}", 1, 1 },
		{ "{\"pool\": {\"slots\": 3}}", 1, 1 },
		{ "{\"pool\": {\"slots\": 9}}", 4, 1 },
		{ "{\"pool\": {\"slots\": 65536}}", 32768, 8192 },
		{ "{\"receive\": {\"target\": 20}}", 20, 20 },
		{ "{\"receive\": {\"low_watermark\": 512}}", 512, 512 },
	};
	struct settings *s;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		s = parse(cases[i].text);
		ck_assert_uint_eq(s->receive_target, cases[i].target);
		ck_assert_uint_eq(s->receive_low_watermark, cases[i].watermark);
		settings_free(s);
	}
}
END_TEST

/* What is printed can be read again, and prints the same. */
START_TEST(test_print_parse_print)
{
	static const char *const texts[] = { "{}", FULL };
	struct settings *first, *second;
	json_t *a, *b;
	char *text;
	size_t i;

	for (i = 0; i < ARRAY_LEN(texts); i++) {
		first = parse(texts[i]);
		a = settings_to_json(first);
		text = json_dumps(a, 0);
		second = parse(text);
		b = settings_to_json(second);
		ck_assert_msg(json_equal(a, b), "%s", text);
		ck_assert_uint_eq(first->control_mode, second->control_mode);
		free(text);
		json_decref(a);
		json_decref(b);
		settings_free(first);
		settings_free(second);
	}
}
END_TEST

/* Each key of the table is in what is printed. */
START_TEST(test_print_has_every_key)
{
	struct settings *s = parse("{}");
	json_t *json = settings_to_json(s), *value;
	char name[128], *dot;
	size_t i;

	for (i = 0; i < settings_table.count; i++) {
		(void)snprintf(name, sizeof(name), "%s", settings_table.specs[i].name);
		dot = strchr(name, '.');
		if (dot)
			*dot = '\0';
		value = json_object_get(json, name);
		if (dot)
			value = json_object_get(value, dot + 1);
		ck_assert_msg(value != NULL, "%s", settings_table.specs[i].name);
	}
	json_decref(json);
	settings_free(s);
}
END_TEST

START_TEST(test_schema)
{
	json_t *schema;
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	ck_assert_int_eq(settings_print_schema(file), 0);
	(void)fclose(file);
	schema = json_loads(text, 0, NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(schema, "config")),
	    settings_table.count);
	ck_assert_uint_gt(json_array_size(json_object_get(schema, "methods")), 15);
	ck_assert_uint_eq(json_array_size(json_object_get(schema, "events")),
	    EVENT_TYPE_COUNT);
	json_decref(schema);
	free(text);
}
END_TEST

/* Replace the end of a path, ".json" by ".err". */
static void
read_text(const char *dir, const char *name, const char *suffix, char *out, size_t size)
{
	char path[512];
	FILE *file;
	size_t n;

	(void)snprintf(path, sizeof(path), "%s/%.*s%s", dir,
	    (int)(strlen(name) - strlen(".json")), name, suffix);
	file = fopen(path, "re");
	ck_assert_msg(file != NULL, "%s", path);
	n = fread(out, 1, size - 1, file);
	out[n] = '\0';
	(void)fclose(file);
}

/* One bad file: its message is in the file beside it. */
static void
check_invalid(const char *dir, const char *name)
{
	char text[8192], wanted[2048], got[2048];
	struct settings *settings;
	struct err err;

	read_text(dir, name, ".json", text, sizeof(text));
	read_text(dir, name, ".err", wanted, sizeof(wanted));
	ck_assert_msg(settings_parse(text, strlen(text), name, &settings, &err) < 0,
	    "%s is accepted", name);
	(void)snprintf(got, sizeof(got), "%s%s%s%s\n", err.text,
	    err.hint[0] != '\0' ? " (" : "", err.hint, err.hint[0] != '\0' ? ")" : "");
	ck_assert_str_eq(got, wanted);
}

START_TEST(test_invalid)
{
	const char *top = getenv("top_srcdir");
	const struct dirent *entry;
	char dir[256];
	int cases = 0;
	DIR *folder;

	(void)snprintf(dir, sizeof(dir), "%s/tests/unit/settings_invalid",
	    top ? top : ".");
	folder = opendir(dir);
	ck_assert_msg(folder != NULL, "%s", dir);
	while ((entry = readdir(folder))) {
		if (!strstr(entry->d_name, ".json"))
			continue;
		check_invalid(dir, entry->d_name);
		cases++;
	}
	(void)closedir(folder);
	ck_assert_int_ge(cases, 50);
}
END_TEST

START_TEST(test_file)
{
	char path[] = "/tmp/check_settings.XXXXXX";
	int fd = mkstemp(path);
	struct settings *s;
	struct err err;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "{\"device\":\"d\"}\n", 15), 15);
	ck_assert_int_eq(settings_load(path, &s, &err), 0);
	ck_assert_str_eq(s->device, "d");
	settings_free(s);
	/* Too large to be one. */
	ck_assert_int_eq(ftruncate(fd, 1048577), 0);
	ck_assert_int_lt(settings_load(path, &s, &err), 0);
	ck_assert_int_eq(err.code, ERR_TOO_LARGE);
	(void)close(fd);
	(void)unlink(path);
	ck_assert_int_eq(settings_load("/nowhere/rpmad.json", &s, &err), -ENOENT);
	ck_assert_str_eq(err.text, "/nowhere/rpmad.json: No such file or directory");
	ck_assert_int_eq(settings_load("/tmp", &s, &err), -EISDIR);
}
END_TEST

/* Whatever allocation fails, nothing is left behind. */
START_TEST(test_no_memory)
{
	struct settings *s;
	struct err err;
	unsigned long n;
	long live;
	json_t *json;

	json_alloc_install();
	for (n = 1;; n++) {
		live = json_alloc_live();
		s = NULL;
		json = NULL;
		json_alloc_fail_at(n);
		if (settings_parse(FULL, strlen(FULL), "x", &s, &err) == 0)
			json = settings_to_json(s);
		json_alloc_fail_at(0);
		json_decref(json);
		settings_free(s);
		ck_assert_int_eq(json_alloc_live(), live);
		if (json)
			break;
	}
	ck_assert_uint_gt(n, 50);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("settings");
	TCase *tc = tcase_create("settings");

	tcase_add_test(tc, test_defaults);
	tcase_add_test(tc, test_every_key);
	tcase_add_test(tc, test_derived);
	tcase_add_test(tc, test_print_parse_print);
	tcase_add_test(tc, test_print_has_every_key);
	tcase_add_test(tc, test_schema);
	tcase_add_test(tc, test_invalid);
	tcase_add_test(tc, test_file);
	tcase_add_test(tc, test_no_memory);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
