/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever allocation of the control plane fails: one request or one client pays. */
#include <config.h>

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/core/log.h"
#include "tests/fake/fake_alloc.h"
#include "tests/unit/crig.h"
#include "tests/unit/harness.h"

#define REQUEST(method, params)                                                       \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":{" params \
	"}}"

static struct crig rig;
static char answer[1048576];

static void
setup(void)
{
	memset(&rig, 0, sizeof(rig));
	crig_start(&rig, "{\"pool\":{\"slots\":64,\"share\":true}}");
	rig.engine->finishes_at_once = true;
	rig.engine->listeners = 2;
	rig.engine->conns = 2;
}

static void
teardown(void)
{
	crig_end(&rig);
}

/* Bytes of the answer, 0: none yet, -1: closed without one. */
static ssize_t
read_some(int fd)
{
	ssize_t n = recv(fd, answer, sizeof(answer) - 1, 0);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n == 0)
		n = -1;
	answer[n > 0 ? n : 0] = '\0';
	return n;
}

/*
 * Connect, ask, hang up halfway and read all there is, while the nth allocation fails.
 * return   whether it was reached
 */
static bool
ask(const char *request, unsigned int nth, ssize_t *len)
{
	int fds[2], failures = 0, i;
	bool fired;

	*len = 0;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			     0, fds),
	    0);
	ck_assert_int_eq(send(fds[0], request, strlen(request), 0),
	    (ssize_t)strlen(request));
	ck_assert_int_eq(shutdown(fds[0], SHUT_WR), 0);
	/* Assertions allocate themselves: none while the fault is armed. */
	fake_alloc_fail_nth(nth);
	control_adopt(rig.control, fds[1]);
	for (i = 0; i < 20 && *len == 0; i++) {
		failures += loop_turn(rig.loop, i % 2) < 0;
		*len = read_some(fds[0]);
	}
	fired = fake_alloc_fired();
	fake_alloc_fail_nth(0);
	ck_assert_int_eq(failures, 0);
	/* Answered, or closed: never left waiting. */
	ck_assert_int_ne(*len, 0);
	(void)close(fds[0]);
	crig_settle(&rig);
	return fired;
}

/* Every allocation of a request fails once; messages that were ready stay so. */
static void
starve(const char *request)
{
	struct control_stats stats;
	unsigned int n, ready;
	bool fired = true;
	ssize_t len;

	for (n = 1; fired; n++) {
		ready = stub_engine_counts(rig.engine).ready;
		fired = ask(request, n, &len);
		control_get_stats(rig.control, &stats);
		ck_assert_uint_eq(stats.clients, 0);
		/* What a client got to see may be gone; nothing else. */
		if (len < 0 || strstr(answer, "INTERNAL_ERROR"))
			ck_assert_uint_eq(stub_engine_counts(rig.engine).ready, ready);
		ck_assert_uint_eq(stub_engine_counts(rig.engine).leased, 0);
	}
	ck_assert_int_gt(len, 0);
	ck_assert_ptr_null(strstr(answer, "INTERNAL_ERROR"));
	ck_assert_uint_gt(n, 5);
}

START_TEST(test_requests)
{
	starve(REQUEST("rpc.hello", ""));
	starve(REQUEST("rpc.list", ""));
	starve(REQUEST("stats.get", ""));
	starve(REQUEST("device.list", ""));
	starve(REQUEST("conn.list", ""));
	starve(REQUEST("conn.send", "\"conn\":7,\"data\":\"YWJj\""));
	starve(REQUEST("conn.open", "\"addr\":\"10.0.0.1\",\"port\":1"));
	starve(REQUEST("pool.map", ""));
	starve(REQUEST("recv.ring", ""));
	starve(REQUEST("daemon.stop", ""));
	starve("[" REQUEST("rpc.hello", "") "," REQUEST("conn.list", "") "]");
	starve("nonsense");
}
END_TEST

/* A client that could not be given the pool's memory, or told so, may ask again. */
START_TEST(test_map_again)
{
	static const char request[] = REQUEST("pool.map", "") "\n";
	unsigned int n, i, refused = 0;
	bool fired = true;

	for (n = 1; fired; n++) {
		int fds[2], failures = 0;
		ssize_t len = 0;

		ck_assert_int_eq(socketpair(AF_UNIX,
				     SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
				     fds),
		    0);
		control_adopt(rig.control, fds[1]);
		crig_settle(&rig);
		ck_assert_int_gt(send(fds[0], request, sizeof(request) - 1, 0), 0);
		fake_alloc_fail_nth(n);
		for (i = 0; i < 20 && len == 0; i++) {
			failures += loop_turn(rig.loop, i % 2) < 0;
			len = read_some(fds[0]);
		}
		fired = fake_alloc_fired();
		fake_alloc_fail_nth(0);
		ck_assert_int_eq(failures, 0);
		if (len > 0 && strstr(answer, "INTERNAL_ERROR")) {
			refused++;
			ck_assert_int_gt(send(fds[0], request, sizeof(request) - 1, 0),
			    0);
			crig_settle(&rig);
			ck_assert_int_gt(read_some(fds[0]), 0);
			ck_assert_ptr_nonnull(strstr(answer, "\"slots\":64"));
		}
		(void)close(fds[0]);
		crig_settle(&rig);
	}
	ck_assert_uint_gt(refused, 0);
}
END_TEST

START_TEST(test_polls)
{
	int i;

	starve(REQUEST("recv.poll", ""));
	starve(REQUEST("recv.poll", "\"wait_ms\":1"));
	for (i = 0; i < 20; i++)
		crig_arrive(&rig, "message");
	starve(REQUEST("recv.poll", ""));
	starve(REQUEST("recv.poll", "\"wait_ms\":1,\"max\":20"));
	for (i = 0; i < 20; i++)
		crig_arrive(&rig, "message");
	starve(REQUEST("recv.poll", "\"ack\":\"auto\",\"max\":20"));
}
END_TEST

/* Make all parts; false when the allocation that fails was in the way. */
static bool
build(unsigned int nth)
{
	static const char config[] = "{\"listen\":[\"10.0.0.1:1\"]}";
	struct control_config control = { .listen_fd = -1, .max_clients = 4 };
	struct crig r = { 0 };
	struct rpc_config rpc = { 0 };
	struct err err;
	bool ok, fired;

	ck_assert_int_eq(events_new(&r.events), 0);
	fake_alloc_fail_nth(nth);
	ok = settings_parse(config, sizeof(config) - 1, "test", &r.settings, &err) ==
		0 &&
	    loop_new(&r.loop, &err) == 0 &&
	    access_new(r.settings, ACCESS_NO_GROUP, &r.access, &err) == 0;
	rpc.loop = r.loop;
	rpc.settings = r.settings;
	rpc.access = r.access;
	rpc.events = r.events;
	ok = ok && rpc_new(&rpc, &r.rpc, &err) == 0;
	if (ok)
		control.hooks = rpc_hooks(r.rpc);
	ok = ok && control_new(r.loop, &control, &r.control, &err) == 0;
	fired = fake_alloc_fired();
	fake_alloc_fail_nth(0);
	ck_assert(ok || err.code == ERR_INTERNAL_ERROR);
	ck_assert_int_eq(ok, !fired);
	control_free(r.control);
	rpc_free(r.rpc);
	events_free(r.events);
	access_free(r.access);
	loop_free(r.loop);
	settings_free(r.settings);
	return ok;
}

START_TEST(test_build)
{
	unsigned int n;

	log_set_level(LOG_LEVEL_ERROR);
	for (n = 1; !build(n); n++)
		continue;
	ck_assert_uint_gt(n, 8);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("rpc_memory");
	TCase *tc = tcase_create("rpc_memory");
	TCase *bare = tcase_create("bare");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_requests);
	tcase_add_test(tc, test_map_again);
	tcase_add_test(tc, test_polls);
	tcase_add_test(bare, test_build);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, bare);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
