/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor: findings about machines and daemons in all kinds of states. */
#include <config.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <jansson.h>

#include "ctl/doctor.h"
#include "ctl/exit.h"
#include "ctl/out.h"
#include "tests/unit/ctl_harness.h"
#include "tests/unit/harness.h"

static char dir[64];
static json_t *findings;

static void
setup(void)
{
	scratch_make(dir, sizeof(dir));
	findings = json_array();
}

static void
teardown(void)
{
	json_decref(findings);
	scratch_remove(dir);
}

static const char *
member(size_t index, const char *key)
{
	const char *text =
	    json_string_value(json_object_get(json_array_get(findings, index), key));

	return text ? text : "";
}

/* The next finding that was made is this; forget it. */
static void
expect(const char *check, const char *state, const char *text)
{
	ck_assert_uint_gt(json_array_size(findings), 0);
	ck_assert_str_eq(member(0, "check"), check);
	ck_assert_msg(strcmp(member(0, "state"), state) == 0, "%s is %s, should be %s",
	    member(0, "text"), member(0, "state"), state);
	ck_assert_msg(strstr(member(0, "text"), text) != NULL, "\"%s\" has no \"%s\"",
	    member(0, "text"), text);
	/* Whoever reads of a problem reads what to do. */
	if (strcmp(state, "problem") == 0)
		ck_assert_msg(member(0, "remedy")[0] != '\0', "no remedy: %s", text);
	ck_assert_int_eq(json_array_remove(findings, 0), 0);
}

static void
expect_no_more(void)
{
	ck_assert_msg(json_array_size(findings) == 0, "also: %s", member(0, "text"));
}

static const char *
put(const char *name, const char *text, mode_t mode)
{
	static char path[160];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
	return path;
}

/* ---- the machine ---- */

START_TEST(test_nodes)
{
	doctor_nodes(findings, "/nowhere", "nobody");
	expect("nodes", "problem", "there is no /nowhere/rdma_cm");
	expect("nodes", "problem", "there is no device in /nowhere");
	expect_no_more();
	(void)put("rdma_cm", "", 0666);
	doctor_nodes(findings, dir, "nobody");
	expect("nodes", "ok", "user nobody may read and write");
	expect("nodes", "problem", "there is no device");
	(void)put("umad0", "", 0);
	(void)put("rdma_cm", "", 0644);
	doctor_nodes(findings, dir, "nobody");
	expect("nodes", "problem", "user nobody may not read and write");
	expect("nodes", "problem", "there is no device");
	ck_assert_int_eq(unlink(put("rdma_cm", "", 0666)), 0);
	(void)put("uverbs0", "", 0666);
	doctor_nodes(findings, dir, "nobody");
	expect("nodes", "ok", "uverbs0");
	expect("nodes", "problem", "rdma_cm");
	expect_no_more();
	doctor_nodes(findings, dir, "no-such-user");
	expect("user", "problem", "there is no user no-such-user");
}
END_TEST

START_TEST(test_socket)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/sock", dir);
	doctor_socket(findings, addr.sun_path);
	expect("socket", "problem", "No such file or directory");
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_int_eq(chmod(addr.sun_path, 0600), 0);
	doctor_socket(findings, addr.sun_path);
	expect("socket", "ok", "you may use");
	doctor_socket(findings, put("file", "", 0600));
	expect("socket", "problem", "is no socket");
	/* Nobody's group does not have it. */
	if (geteuid() == 0) {
		ck_assert_int_eq(chmod(dir, 0755), 0);
		ck_assert_int_eq(setegid(65534), 0);
		ck_assert_int_eq(seteuid(65534), 0);
		doctor_socket(findings, addr.sun_path);
		expect("socket", "problem", "you may not use");
		ck_assert_int_eq(seteuid(0), 0);
		ck_assert_int_eq(setegid(0), 0);
	}
	expect_no_more();
	(void)close(fd);
}
END_TEST

/* A program that shows these properties. */
static void
service(const char *properties)
{
	char script[512];

	(void)snprintf(script, sizeof(script),
	    "#!/bin/sh\ntest \"$1 $2\" = \"show rpmad.service\" || exit 1\n"
	    "printf '%s'\n",
	    properties);
	doctor_service(findings, "rpmad.service", put("systemctl", script, 0700));
}

START_TEST(test_service)
{
	doctor_service(findings, "rpmad.service", "/nowhere/systemctl");
	expect("service", "ok", "systemd does not run here");
	service("LoadState=not-found\\nActiveState=inactive\\n");
	expect("service", "ok", "is not installed");
	service("LoadState=loaded\\nActiveState=active\\nUnitFileState=enabled\\n"
		"NRestarts=0\\nFileDescriptorStoreMax=16\\n");
	expect("service", "ok", "rpmad.service is active");
	expect_no_more();
	service("LoadState=loaded\\nActiveState=failed\\nUnitFileState=disabled\\n"
		"Result=exit-code\\nNRestarts=3\\nFileDescriptorStoreMax=0\\n");
	expect("service", "problem", "failed (exit-code)");
	expect("service", "warning", "not started when the machine starts");
	expect("service", "warning", "started again 3 times");
	expect("service", "warning", "keeps no messages");
	expect_no_more();
}
END_TEST

/* ---- the daemon ---- */

static void
look(void (*fn)(json_t *list, const json_t *result), const char *text)
{
	json_t *result = json_loads(text, 0, NULL);

	ck_assert_ptr_nonnull(result);
	fn(findings, result);
	json_decref(result);
}

START_TEST(test_daemon)
{
	look(doctor_hello, "{\"version\":\"" PACKAGE_VERSION "\",\"role\":\"post\"}");
	expect("versions", "ok", PACKAGE_VERSION);
	expect("role", "ok", "post");
	look(doctor_hello, "{\"version\":\"0.1\",\"role\":\"post\"}");
	expect("versions", "warning", "rpmad is of version 0.1");
	expect("role", "ok", "post");
	look(doctor_status,
	    "{\"state\":\"running\",\"device\":\"mlx5_0\",\"kept\":true,\"warnings\":[],"
	    "\"slots\":{\"ready\":3,\"leased\":2}}");
	expect("daemon", "ok", "mlx5_0");
	expect("restart", "ok", "a restart loses nothing");
	look(doctor_status,
	    "{\"state\":\"waiting_for_device\",\"reason\":\"there is none\",\"kept\":"
	    "false,\"warnings\":[\"low\"],\"slots\":{\"ready\":3,\"leased\":2}}");
	expect("daemon", "problem", "waiting_for_device: there is none");
	expect("daemon", "warning", "low");
	expect("restart", "warning", "loses what waits then, 5 messages");
	look(doctor_status, "{\"state\":\"waiting_for_listener\",\"kept\":true}");
	expect("daemon", "warning", "waiting_for_listener");
	expect("restart", "ok", "0 messages");
	look(doctor_stats,
	    "{\"memory\":{\"registered_bytes\":10,\"memlock_limit_bytes\":null}}");
	expect("memlock", "ok", "no limit");
	look(doctor_stats,
	    "{\"memory\":{\"registered_bytes\":10,\"memlock_limit_bytes\":9}}");
	expect("memlock", "warning", "10 bytes are locked, 9 may be");
	expect_no_more();
}
END_TEST

START_TEST(test_devices)
{
	look(doctor_devices, "{\"devices\":[]}");
	expect("device", "problem", "no RDMA device");
	look(doctor_devices,
	    "{\"devices\":[{\"name\":\"a\",\"reasons\":[],\"limits\":{\"max_srq\":4,"
	    "\"max_srq_wr\":99},\"ports\":[{\"port\":1,\"state\":\"ACTIVE\",\"gids\":[{}]}"
	    "]},{\"name\":\"b\",\"reasons\":[\"no address\"],\"limits\":{\"max_srq\":0},"
	    "\"ports\":[{\"port\":1,\"state\":\"DOWN\"},{\"port\":2,\"state\":\"ACTIVE\","
	    "\"gids\":[]}]}]}");
	expect("port", "ok", "port 1 of a is ACTIVE, with 1 GIDs");
	expect("srq", "ok", "99");
	expect("device", "warning", "b cannot be used: no address");
	expect("port", "problem", "port 1 of b is DOWN");
	expect("port", "problem", "port 2 of b has no GID");
	expect("srq", "problem", "b has no shared receive queues");
	expect_no_more();
}
END_TEST

/* ---- the command ---- */

START_TEST(test_command)
{
	struct capture capture;
	char path[128];
	json_t *result;

	/* Nobody is there: that is a finding, not an error. */
	(void)snprintf(path, sizeof(path), "%s/none", dir);
	ctl_run(&capture, path, ARGS("doctor", "--json"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_FAILED);
	ck_assert_str_eq(capture.err, "");
	result = json_loads(capture.out, 0, NULL);
	ck_assert_ptr_nonnull(result);
	ck_assert(json_is_false(json_object_get(result, "well")));
	json_decref(findings);
	findings = json_incref(json_object_get(result, "findings"));
	json_decref(result);
	while (strcmp(member(0, "check"), "socket") != 0)
		ck_assert_int_eq(json_array_remove(findings, 0), 0);
	expect("socket", "problem", "/none: No such file or directory");
	expect("daemon", "problem", "/none");
	expect_no_more();
	ctl_run(&capture, path, ARGS("doctor", "--dry-run"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_USAGE);
}
END_TEST

START_TEST(test_view)
{
	struct out out = { .fd = -1, .interrupt_fd = -1 };
	json_t *result;

	ck_assert(doctor_is_well(findings));
	doctor_add(findings, "socket", DOCTOR_OK, NULL, "you may use it");
	ck_assert(doctor_is_well(findings));
	doctor_add(findings, "daemon", DOCTOR_WARNING, NULL, "odd");
	ck_assert(!doctor_is_well(findings));
	doctor_add(findings, "port", DOCTOR_PROBLEM, "see the cable", "it is %s",
	    "DOWN");
	result = json_pack("{s:O}", "findings", findings);
	doctor_view(&out, result);
	ck_assert_str_eq(buf_text(&out.buf),
	    "ok       socket   you may use it\n"
	    "warning  daemon   odd\n"
	    "problem  port     it is DOWN\n"
	    "                  -> see the cable\n");
	buf_free(&out.buf);
	json_decref(result);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("doctor");
	TCase *tc = tcase_create("doctor");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_nodes);
	tcase_add_test(tc, test_socket);
	tcase_add_test(tc, test_service);
	tcase_add_test(tc, test_daemon);
	tcase_add_test(tc, test_devices);
	tcase_add_test(tc, test_command);
	tcase_add_test(tc, test_view);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
