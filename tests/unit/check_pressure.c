/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that do not read, too many of them, too few descriptors, and clients that die:
 * what they cost the daemon, by what the system says of its process.
 */
#include <config.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "tests/unit/daemon_rig.h"
#include "tests/unit/harness.h"

#define LISTEN    "\"listen\": [\"127.0.0.1:0\"], \"log\": {\"level\": \"warning\"}"
#define HELLO     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.hello\"}\n"
#define LIST      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.list\"}\n"
#define SUBSCRIBE "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"event.subscribe\"}\n"
#define WAIT                                                      \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"recv.poll\"," \
	"\"params\":{\"wait_ms\":600000}}\n"
#define CLIENTS 64u
#define EVENTS  50000u
#define PAIRS   128u /* listeners of one batch, each up and down */

static struct daemon_rig rig;

static void
setup(void)
{
	memset(&rig, 0, sizeof(rig));
}

static void
teardown(void)
{
	daemon_rig_end(&rig);
}

static void
pause_ms(unsigned int ms)
{
	const struct timespec time = { ms / 1000, (long)(ms % 1000) * 1000000 };

	(void)nanosleep(&time, NULL);
}

static json_int_t
control_stat(struct daemon_client *client, const char *key)
{
	json_t *stats = daemon_client_call(client, "stats.get", NULL);
	json_int_t value =
	    json_integer_value(json_object_get(json_object_get(stats, "control"), key));

	json_decref(stats);
	return value;
}

/* Until so many clients are there, this one included. */
static void
await_clients(struct daemon_client *client, json_int_t count)
{
	const uint64_t end_ms = daemon_rig_now_ms() + 20000;

	while (control_stat(client, "clients") != count) {
		ck_assert_uint_lt(daemon_rig_now_ms(), end_ms);
		pause_ms(5);
	}
}

/* One more than are served is told why, and its place is free as soon as one leaves. */
START_TEST(test_one_too_many)
{
	struct daemon_client clients[CLIENTS], more;
	json_t *reply;
	const json_t *error;
	unsigned int i;

	daemon_rig_start(&rig, NULL, NULL);
	for (i = 0; i < CLIENTS; i++) {
		daemon_client_open(&rig, &clients[i]);
		json_decref(daemon_client_call(&clients[i], "rpc.hello", NULL));
	}
	daemon_client_open(&rig, &more);
	reply = daemon_client_json(&more);
	error = json_object_get(reply, "error");
	ck_assert(json_is_null(json_object_get(reply, "id")));
	ck_assert_str_eq(json_string_value(json_object_get(json_object_get(error,
							       "data"),
			     "name")),
	    "TOO_MANY_CLIENTS");
	ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(error,
					 "message")),
	    "64 clients"));
	json_decref(reply);
	ck_assert_ptr_null(daemon_client_line(&more));
	daemon_client_close(&more);
	daemon_client_close(&clients[0]);
	await_clients(&clients[1], CLIENTS - 1);
	ck_assert_int_eq(control_stat(&clients[1], "clients_refused_total"), 1);
	daemon_client_open(&rig, &more);
	json_decref(daemon_client_call(&more, "rpc.hello", NULL));
	daemon_client_close(&more);
	for (i = 1; i < CLIENTS; i++)
		daemon_client_close(&clients[i]);
}
END_TEST

/* Two events for each of so many listeners, whose numbers begin with first. */
static void
produce(struct daemon_client *client, json_int_t first)
{
	static char line[65536];
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < PAIRS; i++)
		len += (size_t)snprintf(line + len, sizeof(line) - len,
		    "%s{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"listener.add\","
		    "\"params\":{\"addr\":\"127.0.0.1\",\"port\":0}},"
		    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"listener.remove\","
		    "\"params\":{\"listener\":%lld}}",
		    i > 0 ? "," : "[", (long long)first + i);
	len += (size_t)snprintf(line + len, sizeof(line) - len, "]\n");
	ck_assert_uint_lt(len, sizeof(line));
	daemon_client_send(client, line, len);
	json_decref(daemon_client_json(client));
}

static json_int_t
member(struct daemon_client *client, const char *method, const char *params,
    const char *key)
{
	json_t *result = daemon_client_call(client, method, params);
	json_int_t value = json_integer_value(json_object_get(result, key));

	json_decref(result);
	return value;
}

/* The number of the newest event. */
static json_int_t
newest_event(struct daemon_client *client)
{
	json_int_t next = member(client, "event.subscribe", NULL, "next");

	json_decref(daemon_client_call(client, "event.unsubscribe", NULL));
	return next;
}

/*
 * A round of clients that ask for all events, and every other one for 2 MB of replies
 * too, and read nothing.
 * return   the most memory that the daemon was seen to have
 */
static uint64_t
run_round(struct daemon_client *producer)
{
	struct daemon_client clients[CLIENTS];
	uint64_t rss_kb, peak_kb = 0;
	json_int_t listener, first_event;
	unsigned int i, k;

	for (i = 0; i < CLIENTS; i++) {
		daemon_client_open(&rig, &clients[i]);
		daemon_client_puts(&clients[i], SUBSCRIBE);
		for (k = 0; i % 2 == 1 && k < 100; k++)
			daemon_client_puts(&clients[i], LIST);
	}
	await_clients(producer, CLIENTS + 1);
	listener = member(producer, "listener.add",
	    "{\"addr\":\"127.0.0.1\",\"port\":0}", "listener");
	first_event = newest_event(producer);
	for (i = 0; i < EVENTS; i += 2 * PAIRS) {
		produce(producer, listener + 1 + i / 2);
		rss_kb = daemon_rig_rss_kb(&rig);
		peak_kb = rss_kb > peak_kb ? rss_kb : peak_kb;
	}
	ck_assert_int_ge(newest_event(producer), first_event + EVENTS);
	for (i = 0; i < CLIENTS; i++)
		daemon_client_close(&clients[i]);
	await_clients(producer, 1);
	return peak_kb;
}

/* The memory that it has once it is below a limit, or after a while. */
static uint64_t
rss_within(uint64_t limit_kb)
{
	const uint64_t end_ms = daemon_rig_now_ms() + 10000;
	uint64_t rss_kb;

	do {
		pause_ms(50);
		rss_kb = daemon_rig_rss_kb(&rig);
	} while (rss_kb >= limit_kb && daemon_rig_now_ms() < end_ms);
	return rss_kb;
}

START_TEST(test_silent_clients)
{
	struct daemon_client producer;
	uint64_t before_kb, peak_kb, after_kb, again_kb;

	daemon_rig_start(&rig, LISTEN, "\"max_clients\": 65");
	daemon_client_open(&rig, &producer);
	json_decref(daemon_client_call(&producer, "rpc.list", NULL));
	before_kb = daemon_rig_rss_kb(&rig);
	peak_kb = run_round(&producer);
	after_kb = rss_within(before_kb + 4096 + daemon_rig_slack_kb());
	again_kb = run_round(&producer);
	printf("# RSS in KiB: %llu before, %llu at most, %llu after, %llu again\n",
	    (unsigned long long)before_kb, (unsigned long long)peak_kb,
	    (unsigned long long)after_kb, (unsigned long long)again_kb);
	ck_assert_uint_lt(peak_kb, before_kb + 32768 + daemon_rig_slack_kb());
	ck_assert_uint_lt(after_kb, before_kb + 4096 + daemon_rig_slack_kb());
	ck_assert_uint_lt(again_kb, peak_kb + 4096 + daemon_rig_slack_kb());
	daemon_client_close(&producer);
}
END_TEST

/* Without a descriptor left it waits at next to no cost, and goes on by itself. */
START_TEST(test_no_descriptors)
{
	struct daemon_client clients[40];
	uint64_t cpu_ns, begin_ms;
	unsigned int i, served;

	rig.max_fds = 32;
	daemon_rig_start(&rig, LISTEN, NULL);
	for (i = 0; i < 40; i++) {
		daemon_client_open(&rig, &clients[i]);
		daemon_client_puts(&clients[i], HELLO);
	}
	/* "." and ".." apart. */
	begin_ms = daemon_rig_now_ms();
	while (daemon_rig_fds(&rig) - 2 < rig.max_fds) {
		ck_assert_uint_lt(daemon_rig_now_ms(), begin_ms + 20000);
		pause_ms(10);
	}
	begin_ms = daemon_rig_now_ms();
	cpu_ns = daemon_rig_cpu_ns(&rig);
	pause_ms(2000);
	cpu_ns = daemon_rig_cpu_ns(&rig) - cpu_ns;
	begin_ms = daemon_rig_now_ms() - begin_ms;
	printf("# %llu us of CPU in %llu ms at the limit\n",
	    (unsigned long long)cpu_ns / 1000, (unsigned long long)begin_ms);
	ck_assert_uint_lt(cpu_ns, begin_ms * 1000000 / 20);
	ck_assert(daemon_rig_has_logged(&rig, "cannot accept clients for a while"));
	/* Each that leaves makes room for one that waits. */
	for (served = 0; served < 40; served++) {
		ck_assert_ptr_nonnull(daemon_client_line(&clients[served]));
		daemon_client_close(&clients[served]);
	}
}
END_TEST

static void
die_halfway(unsigned int count)
{
	struct daemon_client client;
	char half[3000];
	unsigned int i;

	memset(half, ' ', sizeof(half));
	memcpy(half, HELLO, 20);
	for (i = 0; i < count; i++) {
		daemon_client_open(&rig, &client);
		switch (i % 4) {
		case 1:
			daemon_client_puts(&client, WAIT);
			break;
		case 2:
			daemon_client_puts(&client, SUBSCRIBE);
			break;
		case 3:
			daemon_client_puts(&client, LIST LIST LIST);
			break;
		default:
			break;
		}
		daemon_client_send(&client, half, i % sizeof(half));
		daemon_client_close(&client);
	}
}

START_TEST(test_dying_clients)
{
	struct daemon_client client;
	uint64_t before_kb, after_kb;
	unsigned int fds;

	daemon_rig_start(&rig, LISTEN, "\"max_clients\": 1024");
	daemon_client_open(&rig, &client);
	die_halfway(200);
	await_clients(&client, 1);
	fds = daemon_rig_fds(&rig);
	before_kb = daemon_rig_rss_kb(&rig);
	die_halfway(1000);
	await_clients(&client, 1);
	after_kb = daemon_rig_rss_kb(&rig);
	printf("# RSS in KiB: %llu before, %llu after; %u descriptors\n",
	    (unsigned long long)before_kb, (unsigned long long)after_kb, fds);
	ck_assert_uint_eq(daemon_rig_fds(&rig), fds);
	ck_assert_uint_lt(after_kb, before_kb + 2048 + daemon_rig_slack_kb());
	ck_assert_int_eq(control_stat(&client, "subscribers"), 0);
	ck_assert_int_eq(control_stat(&client, "clients_refused_total"), 0);
	daemon_client_close(&client);
}
END_TEST

/* Where a descriptor of a process leads; "" where there is none. */
static void
read_fd(long pid, const char *fd, char name[64])
{
	char path[320];

	(void)snprintf(path, sizeof(path), "/proc/%ld/fd/%s", pid, fd);
	memset(name, 0, 64);
	if (readlink(path, name, 63) < 0)
		name[0] = '\0';
}

static bool
ends_with_exec(long pid, const char *fd)
{
	char path[320], line[128];
	unsigned int flags = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%ld/fdinfo/%s", pid, fd);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "flags: %o", &flags) == 1)
			break;
	(void)fclose(f);
	return flags & O_CLOEXEC;
}

/* A program that the daemon became, or started, would hold neither pool nor device. */
START_TEST(test_descriptors_end_with_exec)
{
	struct daemon_client client;
	const struct dirent *entry;
	char path[64], name[64], own[64];
	unsigned int count = 0;
	DIR *dir;

	daemon_rig_start(&rig, LISTEN, NULL);
	daemon_client_open(&rig, &client);
	await_clients(&client, 1);
	(void)snprintf(path, sizeof(path), "/proc/%ld/fd", (long)rig.pid);
	dir = opendir(path);
	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		read_fd(rig.pid, entry->d_name, name);
		read_fd(getpid(), entry->d_name, own);
		/* What the test gave it is no matter of the daemon's. */
		if (entry->d_name[0] == '.' || strcmp(name, own) == 0 ||
		    strtol(entry->d_name, NULL, 10) <= STDERR_FILENO)
			continue;
		ck_assert_msg(ends_with_exec(rig.pid, entry->d_name),
		    "descriptor %s, %s, does not end with exec", entry->d_name, name);
		count++;
	}
	(void)closedir(dir);
	/* Pool, ledger, lock, socket, client, device, channels and the loop's own. */
	ck_assert_uint_ge(count, 8);
	daemon_client_close(&client);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("pressure");
	TCase *tc = tcase_create("pressure");

	tcase_set_timeout(tc, 300);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_descriptors_end_with_exec);
	tcase_add_test(tc, test_one_too_many);
	tcase_add_test(tc, test_silent_clients);
	tcase_add_test(tc, test_no_descriptors);
	tcase_add_test(tc, test_dying_clients);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
