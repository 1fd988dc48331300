/* SPDX-License-Identifier: BSD-3-Clause */
/* daemon.reload and log.set: what takes effect, what waits, and what a bad file does. */
#include <config.h>

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "daemon/settings_reload.h"
#include "lib/core/log.h"
#include "tests/unit/crig.h"
#include "tests/unit/harness.h"
#include "tests/unit/json_alloc.h"

static struct crig rig;
static struct crig_client a;
static char file[64];

static void
put_config(const char *text)
{
	FILE *f = fopen(file, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void
start(const char *config)
{
	(void)snprintf(file, sizeof(file), "/tmp/check_reload.%ld", (long)getpid());
	memset(&rig, 0, sizeof(rig));
	rig.file = file;
	crig_start(&rig, config);
	log_set_level(rig.settings->log_level);
	crig_open(&rig, &a);
}

static void
setup(void)
{
	start("{\"pool\":{\"slots\":64}}");
}

static void
teardown(void)
{
	crig_close(&a);
	crig_end(&rig);
	(void)unlink(file);
}

/* The keys of a list, joined by blanks. */
static const char *
joined(const json_t *result, const char *list)
{
	static char text[512];
	const json_t *keys = json_object_get(result, list);
	size_t i;

	ck_assert(json_is_array(keys));
	text[0] = '\0';
	for (i = 0; i < json_array_size(keys); i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
		    i > 0 ? " " : "", json_string_value(json_array_get(keys, i)));
	return text;
}

/* Reload a file: the keys that have changed, and those that need a restart. */
static void
expect_reload(const char *config, const char *changed, const char *pending)
{
	json_t *result;

	put_config(config);
	result = crig_call(&a, "daemon.reload", NULL);
	ck_assert_uint_eq(json_object_size(result), 2);
	ck_assert_str_eq(joined(result, "changed"), changed);
	ck_assert_str_eq(joined(result, "needs_restart"), pending);
	json_decref(result);
}

START_TEST(test_what_changes)
{
	const struct settings *settings = rig.settings;

	expect_reload("{\"pool\":{\"slots\":64}}", "", "");
	expect_reload("{\"pool\":{\"slots\":64},"
		      "\"receive\":{\"refill\":\"manual\",\"target\":20,"
		      "\"low_watermark\":3,\"min_rnr_timer_us\":100},"
		      "\"connections\":{\"allow\":[\"192.0.2.0/24\"],\"quota_slots\":9,"
		      "\"idle_ms\":5000,\"announce\":false},"
		      "\"control\":{\"roles\":{\"read\":{\"users\":[\"root\"]}}},"
		      "\"log\":{\"level\":\"info\"}}",
	    "receive.refill receive.target receive.low_watermark "
	    "receive.min_rnr_timer_us connections.allow connections.quota_slots "
	    "connections.idle_ms connections.announce control.roles log.level",
	    "");
	ck_assert_int_eq(settings->refill, REFILL_MANUAL);
	ck_assert_uint_eq(settings->receive_target, 20);
	ck_assert_uint_eq(settings->receive_low_watermark, 3);
	ck_assert_uint_eq(settings->min_rnr_timer_us, 100);
	ck_assert_uint_eq(settings->conns_allow_count, 1);
	ck_assert_uint_eq(settings->conns_allow[0].prefix_bits, 24);
	ck_assert_uint_eq(settings->conns_quota_slots, 9);
	ck_assert_uint_eq(settings->conns_idle_ms, 5000);
	ck_assert(!settings->conns_announce);
	ck_assert_str_eq(settings->roles[0].users[0], "root");
	ck_assert_int_eq(log_get_level(), LOG_LEVEL_INFO);
	ck_assert_ptr_nonnull(strstr(rig.log,
	    "notice reload: changed=receive.refill,"));
	/* Back to the defaults. */
	expect_reload("{\"pool\":{\"slots\":64}}",
	    "receive.refill receive.target receive.low_watermark "
	    "receive.min_rnr_timer_us connections.allow connections.quota_slots "
	    "connections.idle_ms connections.announce control.roles log.level",
	    "");
	ck_assert_uint_eq(settings->receive_target, 32);
	ck_assert_uint_eq(settings->conns_allow_count, 0);
}
END_TEST

START_TEST(test_what_waits)
{
	const struct settings *settings = rig.settings;

	expect_reload("{\"listen\":[\"192.0.2.1:7471\"],\"device\":\"x\","
		      "\"pool\":{\"slots\":128,\"slot_size\":64},"
		      "\"receive\":{\"target\":100,\"low_watermark\":50},"
		      "\"send\":{\"slots\":2},\"connections\":{\"max\":3},"
		      "\"control\":{\"socket\":\"/tmp/x\",\"mode\":\"0600\","
		      "\"max_clients\":4,\"max_request\":5000},"
		      "\"log\":{\"level\":\"debug\"}}",
	    "log.level",
	    "listen device pool.slots pool.slot_size receive.target "
	    "receive.low_watermark send.slots connections.max control.socket "
	    "control.mode control.max_clients control.max_request");
	ck_assert_uint_eq(settings->listen_count, 0);
	ck_assert_uint_eq(settings->pool_slots, 64);
	ck_assert_uint_eq(settings->receive_target, 32);
	ck_assert_uint_eq(settings->receive_low_watermark, 8);
	ck_assert_uint_eq(settings->control_max_clients, 64);
	ck_assert_uint_eq(settings->control_mode, 0660);
	ck_assert_int_eq(log_get_level(), LOG_LEVEL_DEBUG);
}
END_TEST

static void
expect_refusal(const char *config, const char *path, const char *text)
{
	json_t *before = settings_to_json(rig.settings), *after, *error;

	if (config)
		put_config(config);
	error = crig_fail(&a, "daemon.reload", NULL, "CONFIG_INVALID");
	ck_assert_msg(strstr(crig_text(error, "message"), file) != NULL &&
		strstr(crig_text(error, "message"), text) != NULL,
	    "%s", crig_text(error, "message"));
	if (path)
		ck_assert_str_eq(crig_text(json_object_get(error, "data"), "path"),
		    path);
	json_decref(error);
	after = settings_to_json(rig.settings);
	ck_assert(json_equal(before, after));
	json_decref(before);
	json_decref(after);
	ck_assert_int_eq(log_get_level(), LOG_LEVEL_NOTICE);
}

/* A file that is not valid as a whole changes nothing. */
START_TEST(test_refused)
{
	json_t *error;

	expect_refusal("{\"log\":{\"level\":\"debug\"},\"pool\":{\"slots\":0}}",
	    "pool.slots", "pool.slots: 0 is below 1 slots");
	expect_refusal("{\"log\":{\"level\":\"debug\"},", NULL, "line 1");
	expect_refusal("[]", NULL, "must be an object");
	(void)unlink(file);
	expect_refusal(NULL, NULL, "No such file or directory");
	put_config("{\"log\":{\"level\":\"debug\"},\"control\":{\"roles\":"
		   "{\"post\":{\"groups\":[\"no-such-group\"]}}}}");
	error = crig_fail(&a, "daemon.reload", NULL, "CONFIG_INVALID");
	ck_assert_str_eq(crig_text(json_object_get(error, "data"), "path"),
	    "control.roles.post.groups[0]");
	ck_assert_ptr_nonnull(strstr(crig_text(error, "message"), file));
	ck_assert_ptr_nonnull(strstr(crig_text(error, "message"),
	    ": control.roles.post.groups[0]: there is no group \"no-such-group\""));
	json_decref(error);
	ck_assert_int_eq(log_get_level(), LOG_LEVEL_NOTICE);
	ck_assert_ptr_nonnull(strstr(rig.log,
	    "method=daemon.reload result=CONFIG_INVALID"));
	json_decref(crig_call(&a, "rpc.hello", NULL));
}
END_TEST

START_TEST(test_log_set)
{
	json_t *result = crig_call(&a, "log.set", "{\"level\":\"debug\"}");

	ck_assert_str_eq(crig_text(result, "level"), "debug");
	ck_assert_str_eq(crig_text(result, "before"), "notice");
	ck_assert_uint_eq(json_object_size(result), 2);
	json_decref(result);
	ck_assert_int_eq(log_get_level(), LOG_LEVEL_DEBUG);
	ck_assert_ptr_nonnull(strstr(rig.log, "method=log.set result=ok"));
	/* The file's word counts again. */
	expect_reload("{\"pool\":{\"slots\":64}}", "log.level", "");
	ck_assert_int_eq(log_get_level(), LOG_LEVEL_NOTICE);
	json_decref(crig_fail(&a, "log.set", "{\"level\":\"loud\"}", "INVALID_PARAMS"));
	json_decref(crig_fail(&a, "log.set", NULL, "INVALID_PARAMS"));
}
END_TEST

/* Every word is the level of that name. */
START_TEST(test_levels)
{
	unsigned int level;
	char params[64];

	for (level = 0; level <= LOG_LEVEL_DEBUG; level++) {
		(void)snprintf(params, sizeof(params), "{\"level\":\"%s\"}",
		    log_level_name((enum log_level)level));
		json_decref(crig_call(&a, "log.set", params));
		ck_assert_int_eq(log_get_level(), (int)level);
	}
}
END_TEST

/* Who loses his role while he waits is told so, and may do no more; nor may he undo it. */
START_TEST(test_roles)
{
	const char *end;

	crig_puts(&a,
	    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"recv.poll\","
	    "\"params\":{\"wait_ms\":600000}}\n");
	json_decref(crig_call(&a, "event.subscribe", NULL));
	put_config("{\"pool\":{\"slots\":64},\"control\":{\"roles\":{\"admin\":{},"
		   "\"post\":{},\"read\":{}}}}");
	crig_puts(&a, "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"daemon.reload\"}\n");
	end = crig_line(&a);
	ck_assert_msg(strstr(end, "\"id\":7") && strstr(end, "DENIED") &&
		strstr(end, "recv.poll needs the role post"),
	    "%s", end);
	end = crig_line(&a);
	ck_assert_msg(strstr(end, "event.end") && strstr(end, "\"denied\""), "%s", end);
	end = crig_line(&a);
	ck_assert_msg(strstr(end, "\"id\":8") && strstr(end, "control.roles"), "%s",
	    end);
	json_decref(crig_fail(&a, "daemon.reload", NULL, "DENIED"));
	json_decref(crig_fail(&a, "rpc.hello", NULL, "DENIED"));
	ck_assert_ptr_nonnull(strstr(rig.log, "role=none was=admin"));
}
END_TEST

/* A role, and none above it, for who runs this. return   false: he has no name to be given one by */
static bool
put_role(const char *role, const char *test)
{
	const struct passwd *user = getpwuid(geteuid());
	char text[256];

	if (!user) {
		harness_skip(test, "the user who runs it has no name");
		return false;
	}
	(void)snprintf(text, sizeof(text),
	    "{\"pool\":{\"slots\":64},\"control\":{\"roles\":{\"admin\":{},%s\"%s\":"
	    "{\"users\":[\"%s\"]}}}}",
	    strcmp(role, "read") == 0 ? "\"post\":{}," : "", role, user->pw_name);
	put_config(text);
	return true;
}

/* What it holds and may not acknowledge any more is for others. */
START_TEST(test_leases)
{
	struct ledger_counts counts;

	crig_post(&rig, 1);
	crig_arrive(&rig, "x");
	json_decref(crig_call(&a, "recv.poll", NULL));
	ledger_counts(engine_ledger(rig.engine), &counts);
	ck_assert_uint_eq(counts.leased, 1);
	if (!put_role("read", "test_leases"))
		return;
	crig_puts(&a, "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"daemon.reload\"}\n");
	ck_assert_ptr_nonnull(strstr(crig_line(&a), "control.roles"));
	ledger_counts(engine_ledger(rig.engine), &counts);
	ck_assert_uint_eq(counts.leased, 0);
	ck_assert_uint_eq(counts.ready, 1);
}
END_TEST

/* Who may still acknowledge keeps what it holds. */
START_TEST(test_leases_kept)
{
	struct ledger_counts counts;

	crig_post(&rig, 1);
	crig_arrive(&rig, "x");
	json_decref(crig_call(&a, "recv.poll", NULL));
	if (!put_role("post", "test_leases_kept"))
		return;
	crig_puts(&a, "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"daemon.reload\"}\n");
	ck_assert_ptr_nonnull(strstr(crig_line(&a), "control.roles"));
	ck_assert_ptr_nonnull(strstr(rig.log, "role=post was=admin"));
	ledger_counts(engine_ledger(rig.engine), &counts);
	ck_assert_uint_eq(counts.leased, 1);
}
END_TEST

/* Ask for a reload, and look at the reply no further than its line. */
static const char *
reload_line(const char *config)
{
	put_config(config);
	crig_puts(&a, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.reload\"}\n");
	return crig_line(&a);
}

/* Whatever allocation of jansson fails: all is taken over, or nothing; no leak. */
START_TEST(test_no_memory)
{
	unsigned long n, failures = 0;
	bool has_failed = true;
	const char *line;
	long live;

	teardown();
	json_alloc_install();
	start("{\"pool\":{\"slots\":64}}");
	(void)reload_line("{\"pool\":{\"slots\":64}}");
	live = json_alloc_live();
	for (n = 1; has_failed; n++) {
		json_alloc_fail_at(n);
		line = reload_line(
		    "{\"pool\":{\"slots\":64},\"connections\":{\"idle_ms\":5}}");
		has_failed = json_alloc_failed();
		json_alloc_fail_at(0);
		if (line && strstr(line, "\"result\""))
			ck_assert_uint_eq(rig.settings->conns_idle_ms, 5);
		else
			ck_assert(has_failed);
		if (!line) {
			crig_close(&a);
			crig_open(&rig, &a);
		}
		line = reload_line("{\"pool\":{\"slots\":64}}");
		ck_assert_ptr_nonnull(strstr(line, "\"result\""));
		ck_assert_uint_eq(rig.settings->conns_idle_ms, 0);
		ck_assert_int_eq(json_alloc_live(), live);
		failures += has_failed;
	}
	ck_assert_uint_gt(failures, 50);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("reload");
	TCase *tc = tcase_create("reload");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_what_changes);
	tcase_add_test(tc, test_what_waits);
	tcase_add_test(tc, test_refused);
	tcase_add_test(tc, test_log_set);
	tcase_add_test(tc, test_levels);
	tcase_add_test(tc, test_roles);
	tcase_add_test(tc, test_leases);
	tcase_add_test(tc, test_leases_kept);
	tcase_add_test(tc, test_no_memory);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
