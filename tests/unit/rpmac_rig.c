/* SPDX-License-Identifier: BSD-3-Clause */
/* librpmac and a daemon over the doubles. */
#include <config.h>

#include "tests/unit/rpmac_rig.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>
#include <jansson.h>

#define PATIENCE_MS 20000u
#define MEMBERS_MAX 256u

static void
make_members(char members[MEMBERS_MAX], const char *pool)
{
	(void)snprintf(members, MEMBERS_MAX,
	    "\"listen\": [\"127.0.0.1:0\"], \"pool\": {%s}", pool);
}

void
rpmac_rig_start(struct daemon_rig *rig, const char *pool)
{
	char members[MEMBERS_MAX];

	make_members(members, pool);
	daemon_rig_start(rig, members, NULL);
}

void
rpmac_rig_configure(const struct daemon_rig *rig, const char *pool)
{
	char members[MEMBERS_MAX];

	make_members(members, pool);
	daemon_rig_configure(rig, members, NULL);
}

static json_t *
call(const struct daemon_rig *rig, const char *method)
{
	struct daemon_client client;
	json_t *result;

	daemon_client_open(rig, &client);
	result = daemon_client_call(&client, method, NULL);
	daemon_client_close(&client);
	return result;
}

pid_t
rpmac_rig_send(const struct daemon_rig *rig, unsigned int count, unsigned int size)
{
	json_t *listeners = call(rig, "listener.list");
	json_t *first = json_array_get(json_object_get(listeners, "listeners"), 0);
	char program[512], addr[32], counts[16], sizes[16];
	const char *top = getenv("top_builddir");
	pid_t pid;

	(void)snprintf(addr, sizeof(addr), "127.0.0.1:%lld",
	    json_integer_value(json_object_get(first, "port")));
	json_decref(listeners);
	(void)snprintf(program, sizeof(program), "%s/tests/fake/fake-send",
	    top ? top : ".");
	(void)snprintf(counts, sizeof(counts), "%u", count);
	(void)snprintf(sizes, sizeof(sizes), "%u", size);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)execl(program, program, addr, "--count", counts, "--size", sizes,
		    "--timeout", "300", (char *)NULL);
		_exit(127);
	}
	return pid;
}

void
rpmac_rig_sent(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}

long long
rpmac_rig_stat(const struct daemon_rig *rig, const char *path)
{
	json_t *stats = call(rig, "stats.get"), *at = stats;
	char copy[64], *part, *save = NULL;
	long long value;

	(void)snprintf(copy, sizeof(copy), "%s", path);
	for (part = strtok_r(copy, ".", &save); part; part = strtok_r(NULL, ".", &save))
		at = json_object_get(at, part);
	ck_assert_msg(json_is_integer(at), "no number %s", path);
	value = json_integer_value(at);
	json_decref(stats);
	return value;
}

long long
rpmac_rig_calls(const struct daemon_rig *rig, const char *method)
{
	json_t *stats = call(rig, "stats.get"), *row;
	json_t *rows = json_object_get(json_object_get(stats, "control"), "calls");
	long long value = 0;
	size_t i;

	ck_assert(json_is_array(rows));
	json_array_foreach(rows, i, row)
		if (strcmp(json_string_value(json_object_get(row, "method")), method) ==
			0 &&
		    strcmp(json_string_value(json_object_get(row, "result")), "ok") ==
			0)
			value = json_integer_value(json_object_get(row, "count"));
	json_decref(stats);
	return value;
}

void
rpmac_rig_wait(const struct daemon_rig *rig, const char *path, long long at_least)
{
	const uint64_t end_ms = daemon_rig_now_ms() + PATIENCE_MS;

	while (rpmac_rig_stat(rig, path) < at_least) {
		ck_assert_msg(daemon_rig_now_ms() < end_ms, "%s stays below %lld", path,
		    at_least);
		(void)usleep(2000);
	}
}

struct rpmac *
rpmac_rig_open(const struct daemon_rig *rig)
{
	struct rpmac *rpmac = rpmac_new();

	ck_assert_ptr_nonnull(rpmac);
	ck_assert_msg(rpmac_open(rpmac, rig->socket, RPMAC_RIG_ANSWER_MS) == 0, "%s",
	    rpmac_error(rpmac));
	return rpmac;
}

const struct rpmac_msg *
rpmac_rig_next(struct rpmac *rpmac)
{
	const struct rpmac_msg *msg = NULL;

	ck_assert_msg(rpmac_next(rpmac, (int)PATIENCE_MS, &msg) == 0, "%s",
	    rpmac_error(rpmac));
	return msg;
}

bool
rpmac_rig_is(const struct rpmac_msg *msg, unsigned int index, unsigned int size)
{
	char head[32];
	int len = snprintf(head, sizeof(head), "0 %u ", index);

	return msg->len == size && memcmp(msg->data, head, (size_t)len) == 0;
}
