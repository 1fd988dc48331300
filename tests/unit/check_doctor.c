/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor: findings about machines and daemons in all kinds of states. */
#include <config.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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
static struct doctor doctor = { .unit = "rpmad.service" };

static void
setup(void)
{
	scratch_make(dir, sizeof(dir));
	findings = json_array();
	doctor.findings = findings;
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
	ck_assert_msg((strcmp(state, "ok") == 0) == (member(0, "remedy")[0] == '\0'),
	    "\"%s\" has the remedy \"%s\"", text, member(0, "remedy"));
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
	doctor_nodes(&doctor, "/nowhere", "nobody", true);
	expect("nodes", "problem", "there is no /nowhere/rdma_cm");
	expect("nodes", "problem", "there is no device in /nowhere");
	expect_no_more();
	(void)put("rdma_cm", "", 0666);
	doctor_nodes(&doctor, dir, "nobody", true);
	expect("nodes", "ok", "user nobody may read and write");
	expect("nodes", "problem", "there is no device");
	(void)put("umad0", "", 0);
	(void)put("rdma_cm", "", 0644);
	doctor_nodes(&doctor, dir, "nobody", true);
	expect("nodes", "problem", "user nobody may not read and write");
	expect("nodes", "problem", "there is no device");
	ck_assert_int_eq(unlink(put("rdma_cm", "", 0666)), 0);
	(void)put("uverbs0", "", 0666);
	doctor_nodes(&doctor, dir, "nobody", true);
	expect("nodes", "ok", "uverbs0");
	expect("nodes", "problem", "rdma_cm");
	expect_no_more();
	doctor_nodes(&doctor, dir, "no-such-user", true);
	expect("user", "problem", "there is no user no-such-user");
	while (json_array_size(findings) > 0)
		expect("nodes", member(0, "state"), "");
	/* Without a service nobody needs it. */
	doctor_nodes(&doctor, dir, "no-such-user", false);
	expect("nodes", "ok", "user you may read and write");
}
END_TEST

START_TEST(test_socket)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/sock", dir);
	doctor_socket(&doctor, addr.sun_path);
	expect("socket", "problem", "No such file or directory");
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_int_eq(chmod(addr.sun_path, 0600), 0);
	doctor_socket(&doctor, addr.sun_path);
	expect("socket", "ok", "you may use");
	doctor_socket(&doctor, put("file", "", 0600));
	expect("socket", "problem", "is no socket");
	/* Nobody's group does not have it. */
	if (geteuid() == 0) {
		ck_assert_int_eq(chmod(dir, 0755), 0);
		ck_assert_int_eq(setegid(65534), 0);
		ck_assert_int_eq(seteuid(65534), 0);
		doctor_socket(&doctor, addr.sun_path);
		expect("socket", "problem", "you may not use");
		ck_assert_int_eq(seteuid(0), 0);
		ck_assert_int_eq(setegid(0), 0);
	}
	expect_no_more();
	(void)close(fd);
}
END_TEST

/* A program that shows these properties; socket: the state of the socket's unit file. */
static bool
service(const char *properties, const char *socket)
{
	char script[512];

	(void)snprintf(script, sizeof(script),
	    "#!/bin/sh\ncase \"$1 $2\" in\n"
	    "\"show rpmad.service\") printf '%s' ;;\n"
	    "\"show rpmad.socket\") echo UnitFileState=%s ;;\n"
	    "*) exit 1 ;;\nesac\n",
	    properties, socket);
	return doctor_service(&doctor, put("systemctl", script, 0700));
}

#define RUNS                                                     \
	"LoadState=loaded\\nActiveState=active\\nNRestarts=0\\n" \
	"FileDescriptorStoreMax=16\\nUnitFileState="

START_TEST(test_service)
{
	ck_assert(!doctor_service(&doctor, "/nowhere/systemctl"));
	expect("service", "ok", "systemd does not run here");
	ck_assert(!service("LoadState=not-found\\nActiveState=inactive\\n", ""));
	expect("service", "ok", "is not installed");
	ck_assert(service(RUNS "enabled\\n", "disabled"));
	expect("service", "ok", "rpmad.service is active");
	expect_no_more();
	(void)
	    service("LoadState=loaded\\nActiveState=failed\\nUnitFileState=disabled\\n"
		    "Result=exit-code\\nNRestarts=3\\nFileDescriptorStoreMax=0\\n",
		"disabled");
	expect("service", "problem", "failed (exit-code)");
	expect("service", "warning", "not started when the machine starts");
	expect("service", "warning", "started again 3 times");
	expect("service", "warning", "keeps no messages");
	expect_no_more();
	/* Its socket starts it. */
	(void)service(RUNS "disabled\\n", "enabled");
	expect("service", "ok", "rpmad.service is active");
	expect_no_more();
	(void)service(RUNS "disabled\\n", "");
	expect("service", "ok", "rpmad.service is active");
	expect("service", "warning", "not started when the machine starts");
	expect_no_more();
}
END_TEST

/* An instance is asked for, and its units are what the remedies name. */
START_TEST(test_instance)
{
	struct err err = { .text = "gone" };
	const struct doctor hall = { .findings = findings,
		.unit = "rpmad@hall.service" };
	const char *systemctl = put("systemctl",
	    "#!/bin/sh\ntest \"$2\" = rpmad@hall.service && printf "
	    "'LoadState=loaded\\nActiveState=failed\\nNRestarts=1\\n"
	    "FileDescriptorStoreMax=16\\n'\n",
	    0700);

	ck_assert(doctor_service(&hall, systemctl));
	ck_assert_str_eq(member(0, "remedy"),
	    "journalctl -u rpmad@hall.service tells why; then systemctl start it");
	expect("service", "problem", "rpmad@hall.service failed");
	ck_assert_str_eq(member(0, "remedy"),
	    "journalctl -u rpmad@hall.service tells why; please report crashes");
	expect("service", "warning", "started again 1 time ");
	doctor_socket(&hall, "/nowhere/hall.sock");
	ck_assert_str_eq(member(0, "remedy"),
	    "systemctl start rpmad@hall.socket, or start the daemon");
	expect("socket", "problem", "/nowhere/hall.sock");
	doctor_unreachable(&hall, &err);
	ck_assert_str_eq(member(0, "remedy"), "systemctl status rpmad@hall.service");
	expect("daemon", "problem", "gone");
}
END_TEST

/* ---- the daemon ---- */

static void
look(void (*fn)(const struct doctor *doctor, const json_t *result), const char *text)
{
	json_t *result = json_loads(text, 0, NULL);

	ck_assert_ptr_nonnull(result);
	fn(&doctor, result);
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
	look(doctor_status, "{\"state\":\"stopping\",\"kept\":true}");
	ck_assert_str_eq(member(0, "remedy"),
	    "once it has ended, systemctl start rpmad.service starts it again");
	expect("daemon", "problem", "stopping: no reason is given");
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
	expect("port", "ok", "port 1 of a is ACTIVE, with 1 GID");
	expect("srq", "ok", "99");
	expect("device", "warning", "b cannot be used: no address");
	expect("port", "problem", "port 1 of b is DOWN");
	expect("port", "problem", "port 2 of b has no GID");
	expect("srq", "problem", "b has no shared receive queues");
	expect_no_more();
	/* Of two devices one is served: what the other lacks is no matter. */
	look(doctor_devices,
	    "{\"devices\":[{\"name\":\"a\",\"in_use\":true,\"ports\":[{\"port\":1,"
	    "\"state\":\"ACTIVE\",\"gids\":[{}]}]},{\"name\":\"b\",\"in_use\":false,"
	    "\"reasons\":[\"no address\"],\"ports\":[{\"port\":1,\"state\":\"DOWN\"},"
	    "{\"port\":2,\"state\":\"ACTIVE\",\"gids\":[]}]}]}");
	expect("port", "ok", "port 1 of a is ACTIVE, with 1 GID");
	expect("device", "ok", "b cannot be used: no address; nobody needs it");
	expect("port", "ok", "port 1 of b is DOWN, and nobody needs it");
	expect("port", "ok", "port 2 of b has no GID: nobody can reach it, and nobody");
	expect_no_more();
	/* Of two ports of the one that is served, one carries all; or none does. */
	look(doctor_devices,
	    "{\"devices\":[{\"name\":\"a\",\"in_use\":true,\"ports\":[{\"port\":1,"
	    "\"state\":\"DOWN\"},{\"port\":2,\"state\":\"ACTIVE\",\"gids\":[{}]}]}]}");
	expect("port", "warning", "port 1 of a is DOWN");
	expect("port", "ok", "port 2 of a is ACTIVE");
	look(doctor_devices,
	    "{\"devices\":[{\"name\":\"a\",\"in_use\":true,\"ports\":[{\"port\":1,"
	    "\"state\":\"DOWN\"},{\"port\":2,\"state\":\"DOWN\"}]},{\"name\":\"b\"}]}");
	expect("port", "problem", "port 1 of a is DOWN");
	expect("port", "problem", "port 2 of a is DOWN");
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
	/* A path need not be text. */
	(void)snprintf(path, sizeof(path), "%s/\xff\xfe", dir);
	ck_assert_int_eq(setenv("RPMAD_SOCKET", path, 1), 0);
	ctl_run(&capture, NULL, ARGS("doctor"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_FAILED);
	ck_assert_str_eq(capture.err, "");
	ck_assert_ptr_nonnull(strstr(capture.out,
	    "/?"
	    "?: No such file or directory"));
	ctl_run(&capture, path, ARGS("doctor", "--dry-run"));
	ck_assert_int_eq(capture.status, EXIT_STATUS_USAGE);
}
END_TEST

START_TEST(test_view)
{
	struct out out = { .fd = -1, .interrupt_fd = -1 };
	json_t *result;

	ck_assert(doctor_is_well(findings));
	doctor_add(&doctor, "socket", DOCTOR_OK, NULL, "you may use it");
	ck_assert(doctor_is_well(findings));
	doctor_add(&doctor, "daemon", DOCTOR_WARNING, NULL, "odd");
	ck_assert(!doctor_is_well(findings));
	doctor_add(&doctor, "port", DOCTOR_PROBLEM, "see the cable", "it is %s",
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
	tcase_add_test(tc, test_instance);
	tcase_add_test(tc, test_daemon);
	tcase_add_test(tc, test_devices);
	tcase_add_test(tc, test_command);
	tcase_add_test(tc, test_view);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
