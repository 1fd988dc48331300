/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A record of a daemon's ledger is damaged while it runs: the defect is counted, told as an
 * event, logged, and said by the status.
 */
#include <config.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "daemon/ledger_impl.h"
#include "daemon/store.h"
#include "tests/unit/daemon_rig.h"
#include "tests/unit/harness.h"

#define POOL                             \
	"\"listen\": [\"127.0.0.1:0\"]," \
	"\"pool\": {\"slots\": 8}, \"receive\": {\"target\": 4, \"low_watermark\": 1}"
#define FDS_MAX     64
#define NOT_A_STATE 9u

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

/* The memory of the daemon's ledger. */
static int
open_ledger(void)
{
	char path[64], name[64];
	int n;

	for (n = 0; n < FDS_MAX; n++) {
		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)rig.pid, n);
		memset(name, 0, sizeof(name));
		if (readlink(path, name, sizeof(name) - 1) > 0 &&
		    strstr(name, STORE_LEDGER_FD))
			return open(path, O_RDWR | O_CLOEXEC);
	}
	return -1;
}

/* The word of the record of a free slot; *at: where it is. */
static uint64_t
read_free_word(int fd, off_t *at)
{
	uint64_t word = SLOT_POSTED;

	for (*at = HEADER_BYTES; ledger_word_state(word) != SLOT_FREE;
	     *at += RECORD_BYTES)
		ck_assert_int_eq(pread(fd, &word, sizeof(word), *at), sizeof(word));
	*at -= RECORD_BYTES;
	return word;
}

static void
write_word(int fd, off_t at, uint64_t word)
{
	ck_assert_int_eq(pwrite(fd, &word, sizeof(word), at), sizeof(word));
}

static json_int_t
faults(struct daemon_client *client)
{
	json_t *stats = daemon_client_call(client, "stats.get", NULL);
	json_int_t total = -1;

	ck_assert_int_eq(json_unpack(stats, "{s:{s:I}}", "recv", "ledger_faults_total",
			     &total),
	    0);
	json_decref(stats);
	return total;
}

static void
await_faults(struct daemon_client *client, json_int_t count)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	const uint64_t end_ms = daemon_rig_now_ms() + 20000;

	while (faults(client) < count) {
		ck_assert_uint_lt(daemon_rig_now_ms(), end_ms);
		(void)nanosleep(&pause, NULL);
	}
}

/* How many events tell of it; each gives both sides. */
static unsigned int
count_events(struct daemon_client *client)
{
	json_t *result = daemon_client_call(client, "event.get", "{\"since\":0}");
	const json_t *event;
	unsigned int n = 0;
	size_t i;

	json_array_foreach(json_object_get(result, "events"), i, event) {
		if (strcmp(json_string_value(json_object_get(event, "type")),
			"ledger.fault") != 0)
			continue;
		ck_assert_str_eq(json_string_value(json_object_get(event, "reason")),
		    "counts 4 free 4 posted 0 ready 0 leased of 8, "
		    "records 3 free 4 posted 0 ready 0 leased of 7");
		n++;
	}
	json_decref(result);
	return n;
}

static bool
is_warned_of(struct daemon_client *client)
{
	json_t *status = daemon_client_call(client, "daemon.status", NULL);
	const json_t *warning;
	bool found = false;
	size_t i;

	json_array_foreach(json_object_get(status, "warnings"), i, warning) {
		found |= strcmp(json_string_value(warning),
			     "the ledger's counts and records disagree: this is a "
			     "defect of rpmad, please report it") == 0;
	}
	json_decref(status);
	return found;
}

START_TEST(test_damaged_record)
{
	struct daemon_client client;
	uint64_t word;
	off_t at;
	int fd;

	daemon_rig_start(&rig, POOL, NULL);
	daemon_client_open(&rig, &client);
	/* The socket is there before the pool, an answer behind it. */
	ck_assert_int_eq(faults(&client), 0);
	fd = open_ledger();
	ck_assert_int_ge(fd, 0);
	ck_assert_uint_eq(count_events(&client), 0);
	ck_assert(!is_warned_of(&client));

	word = read_free_word(fd, &at);
	write_word(fd, at, word | NOT_A_STATE);
	/* Counted each second, told once. */
	await_faults(&client, 2);
	write_word(fd, at, word);
	ck_assert_uint_eq(count_events(&client), 1);
	ck_assert(is_warned_of(&client));
	ck_assert(daemon_rig_has_logged(&rig, "its counts and its records disagree"));
	(void)close(fd);
	daemon_client_close(&client);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ledger_fault");
	TCase *tc = tcase_create("ledger_fault");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_damaged_record);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
