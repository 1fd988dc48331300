/* SPDX-License-Identifier: BSD-3-Clause */
/* librpmac over a real socket, with a daemon over the doubles as a process of its own. */
#include <config.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fake/fake_alloc.h"
#include "tests/unit/harness.h"
#include "tests/unit/rpmac_rig.h"

#define POOL "\"slots\": 1024, \"slot_size\": 256, \"share\": true"

static struct daemon_rig rig;
static struct rpmac *rpmac;
static const struct rpmac_msg *none;

static void
setup(void)
{
	memset(&rig, 0, sizeof(rig));
	rpmac_rig_start(&rig, POOL);
	rpmac = rpmac_rig_open(&rig);
}

static void
teardown(void)
{
	rpmac_close(&rpmac);
	ck_assert_ptr_null(rpmac);
	rpmac_close(&rpmac);
	daemon_rig_end(&rig);
}

/* Have messages come, whose index begins with 0. */
static void
have(unsigned int count, unsigned int size)
{
	const long long before = rpmac_rig_stat(&rig, "recv.messages_total");
	pid_t pid = rpmac_rig_send(&rig, count, size);

	rpmac_rig_wait(&rig, "recv.messages_total", before + count);
	rpmac_rig_sent(pid);
}

/* ---- messages ---- */

START_TEST(test_next_and_ack)
{
	const struct rpmac_msg *msg;
	unsigned int i;

	have(512, 100);
	for (i = 0; i < 512; i++) {
		msg = rpmac_rig_next(rpmac);
		ck_assert(rpmac_rig_is(msg, i, 100));
		ck_assert_uint_eq(msg->seq, i + 1);
		ck_assert_uint_eq(msg->conn, 1);
		ck_assert_uint_eq(msg->deliveries, 1);
		ck_assert_int_eq(strncmp(msg->peer, "127.0.0.1:", 10), 0);
		ck_assert_uint_eq(strlen(msg->received_at), 27);
		ck_assert_int_eq(strncmp(msg->token, rpmac_instance(rpmac), 16), 0);
		ck_assert_ptr_null(msg->context);
		ck_assert(!msg->has_imm && !msg->is_rdma_write);
		ck_assert_int_eq(rpmac_ack(rpmac, msg), 0);
		ck_assert_int_eq(rpmac_ack(rpmac, msg), -EINVAL);
	}
	ck_assert_int_eq(rpmac_flush(rpmac), 0);
	ck_assert_int_eq(rpmac_rig_stat(&rig, "slots.leased"), 0);
	ck_assert_int_eq(rpmac_rig_stat(&rig, "recv.acked_total"), 512);
	/* Without a request for any of them. */
	ck_assert_int_eq(rpmac_rig_calls(&rig, "recv.ring"), 1);
	ck_assert_int_eq(rpmac_rig_calls(&rig, "recv.poll"), 0);
	ck_assert_int_eq(rpmac_rig_calls(&rig, "recv.ack"), 0);
	ck_assert_int_eq(rpmac_next(rpmac, 0, &none), -EAGAIN);
	ck_assert_ptr_null(none);
}
END_TEST

/* Held as long as one likes, in any order; and more than a ring has entries. */
START_TEST(test_held)
{
	static const struct rpmac_msg *held[1000];
	unsigned int i;

	have(1000, 64);
	for (i = 0; i < 1000; i++)
		held[i] = rpmac_rig_next(rpmac);
	for (i = 0; i < 1000; i++)
		ck_assert(rpmac_rig_is(held[i], i, 64));
	for (i = 1000; i-- > 0;)
		if (i % 2)
			ck_assert_int_eq(rpmac_ack(rpmac, held[i]), 0);
	for (i = 0; i < 1000; i += 2)
		ck_assert_int_eq(rpmac_nack(rpmac, held[i]), 0);
	/* Those that were given back come again. */
	for (i = 0; i < 1000; i += 2) {
		const struct rpmac_msg *msg = rpmac_rig_next(rpmac);

		ck_assert(rpmac_rig_is(msg, i, 64));
		ck_assert_uint_eq(msg->deliveries, 2);
		ck_assert_int_eq(rpmac_ack(rpmac, msg), 0);
	}
	ck_assert_int_eq(rpmac_flush(rpmac), 0);
	ck_assert_int_eq(rpmac_rig_stat(&rig, "slots.leased"), 0);
	ck_assert_int_eq(rpmac_rig_stat(&rig, "slots.ready"), 0);
}
END_TEST

/* All but one are settled, then that one too: the daemon is told of just these. */
START_TEST(test_one_kept)
{
	const struct rpmac_msg *kept, *msg;
	unsigned int i;

	have(600, 64);
	kept = rpmac_rig_next(rpmac);
	for (i = 1; i < 600; i++)
		ck_assert_int_eq(rpmac_ack(rpmac, rpmac_rig_next(rpmac)), 0);
	ck_assert_int_eq(rpmac_next(rpmac, 0, &msg), -EAGAIN);
	ck_assert_int_eq(rpmac_rig_stat(&rig, "slots.leased"), 1);
	ck_assert(rpmac_rig_is(kept, 0, 64));
	ck_assert_int_eq(rpmac_ack(rpmac, kept), 0);
	ck_assert_int_eq(rpmac_next(rpmac, 0, &msg), -EAGAIN);
	ck_assert_int_eq(rpmac_rig_stat(&rig, "slots.leased"), 0);
	ck_assert_int_eq(rpmac_rig_stat(&rig, "recv.acked_total"), 600);
}
END_TEST

/* One that was given back comes again. */
START_TEST(test_given_back)
{
	const struct rpmac_msg *msg;
	unsigned int i;

	have(100, 64);
	for (i = 0; i < 100; i++) {
		msg = rpmac_rig_next(rpmac);
		ck_assert_int_eq(i == 7 ? rpmac_nack(rpmac, msg)
					: rpmac_ack(rpmac, msg),
		    0);
	}
	msg = rpmac_rig_next(rpmac);
	ck_assert(rpmac_rig_is(msg, 7, 64));
	ck_assert_uint_eq(msg->deliveries, 2);
	ck_assert_int_eq(rpmac_flush(rpmac), 0);
	ck_assert_int_eq(rpmac_rig_stat(&rig, "recv.acked_total"), 99);
	ck_assert_int_eq(rpmac_rig_stat(&rig, "recv.nacked_total"), 1);
	ck_assert_int_eq(rpmac_rig_stat(&rig, "slots.leased"), 1);
}
END_TEST

/* What is settled goes along when the handle is closed, the rest comes again. */
START_TEST(test_close)
{
	unsigned int i;

	have(10, 64);
	ck_assert_int_eq(rpmac_set_batch(rpmac, 4), 0);
	for (i = 0; i < 6; i++)
		if (i != 3)
			ck_assert_int_eq(rpmac_ack(rpmac, rpmac_rig_next(rpmac)), 0);
		else
			(void)rpmac_rig_next(rpmac);
	rpmac_close(&rpmac);
	rpmac_rig_wait(&rig, "slots.ready", 5);
	ck_assert_int_eq(rpmac_rig_stat(&rig, "recv.acked_total"), 5);
	rpmac = rpmac_rig_open(&rig);
	ck_assert(rpmac_rig_is(rpmac_rig_next(rpmac), 3, 64));
	ck_assert(rpmac_rig_is(rpmac_rig_next(rpmac), 6, 64));
}
END_TEST

/* No memory is asked for once it runs: neither for a message nor for an exchange. */
START_TEST(test_no_allocation)
{
	unsigned int i, round;

	for (round = 0; round < 3; round++) {
		have(512, 256);
		/* The first round finds how much is needed. */
		fake_alloc_fail_nth(0);
		for (i = 0; i < 512; i++)
			if (rpmac_next(rpmac, RPMAC_RIG_ANSWER_MS, &none) != 0 ||
			    rpmac_ack(rpmac, none) != 0)
				break;
		i += rpmac_flush(rpmac) != 0;
		ck_assert_msg(round == 0 || fake_alloc_count() == 0, "%u in round %u",
		    fake_alloc_count(), round);
		ck_assert_uint_eq(i, 512);
	}
}
END_TEST

/* Every allocation fails once: the call may be made again, and nothing is lost. */
START_TEST(test_memory)
{
	static const struct rpmac_msg *held[300];
	unsigned int n = 0, i, failed;
	bool fired = true;
	int rc;

	rpmac_close(&rpmac);
	have(300, 64);
	while (fired) {
		failed = 0;
		fake_alloc_fail_nth(++n);
		do
			rpmac = rpmac_new();
		while (!rpmac && failed++ == 0);
		do
			rc = rpmac_open(rpmac, rig.socket, RPMAC_RIG_ANSWER_MS);
		while (rc == -ENOMEM && failed++ == 0);
		for (i = 0; i < 300 && rc == 0;) {
			rc = rpmac_next(rpmac, RPMAC_RIG_ANSWER_MS, &held[i]);
			if (rc == 0 && !rpmac_rig_is(held[i], i, 64))
				rc = -EBADMSG;
			if (rc == 0)
				i++;
			else if (rc == -ENOMEM && failed++ == 0)
				rc = 0;
		}
		while (i > 0 && rc == 0)
			rc = rpmac_nack(rpmac, held[--i]);
		if (rc == 0)
			rc = rpmac_flush(rpmac);
		fired = fake_alloc_fired();
		fake_alloc_fail_nth(0);
		ck_assert_msg(rc == 0, "allocation %u: %s", n, rpmac_error(rpmac));
		ck_assert_uint_eq(failed, fired ? 1 : 0);
		rpmac_close(&rpmac);
	}
	ck_assert_uint_ge(n, 4);
	rpmac = rpmac_rig_open(&rig);
}
END_TEST

/* ---- what the daemon does ---- */

START_TEST(test_not_shared)
{
	struct daemon_rig other = { 0 };
	struct rpmac *handle = rpmac_new();

	rpmac_rig_start(&other, "\"slots\": 16");
	ck_assert_int_eq(rpmac_open(handle, other.socket, RPMAC_RIG_ANSWER_MS),
	    -EOPNOTSUPP);
	ck_assert_str_eq(rpmac_error_name(handle), "UNSUPPORTED");
	ck_assert_ptr_nonnull(strstr(rpmac_error(handle), "pool.share"));
	ck_assert_int_eq(rpmac_next(handle, 0, &none), -ECONNRESET);
	rpmac_close(&handle);
	daemon_rig_end(&other);
}
END_TEST

/* It hangs: no call does, and what it was asked for comes when it goes on. */
START_TEST(test_hanging_daemon)
{
	struct rpmac *other = rpmac_new();

	ck_assert_int_eq(rpmac_open(rpmac, rig.socket, 2000), 0);
	ck_assert_int_eq(kill(rig.pid, SIGSTOP), 0);
	ck_assert_int_eq(rpmac_open(other, rig.socket, 50), -ETIMEDOUT);
	ck_assert_ptr_nonnull(strstr(rpmac_error(other), "50 ms"));
	ck_assert_int_eq(rpmac_next(rpmac, 0, &none), -ETIMEDOUT);
	ck_assert_int_eq(rpmac_next(rpmac, 10, &none), -ETIMEDOUT);
	ck_assert_int_eq(kill(rig.pid, SIGCONT), 0);
	have(2, 64);
	ck_assert(rpmac_rig_is(rpmac_rig_next(rpmac), 0, 64));
	ck_assert_int_eq(rpmac_ack(rpmac, rpmac_rig_next(rpmac)), 0);
	ck_assert_int_eq(kill(rig.pid, SIGSTOP), 0);
	ck_assert_int_eq(rpmac_flush(rpmac), -ETIMEDOUT);
	ck_assert_int_eq(kill(rig.pid, SIGCONT), 0);
	while (rpmac_flush(rpmac) == -ETIMEDOUT)
		continue;
	ck_assert_int_eq(rpmac_rig_stat(&rig, "recv.acked_total"), 1);
	rpmac_close(&other);
}
END_TEST

/* It dies: the next call says so, all later ones too, and the handle can be used again. */
START_TEST(test_dead_daemon)
{
	const struct rpmac_msg *msg;
	struct daemon_rig next = { 0 };

	have(3, 64);
	msg = rpmac_rig_next(rpmac);
	ck_assert_int_eq(kill(rig.pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(rig.pid, NULL, 0), rig.pid);
	/* What was fetched can still be read, and settled in vain. */
	ck_assert(rpmac_rig_is(msg, 0, 64));
	ck_assert_int_eq(rpmac_ack(rpmac, msg), 0);
	ck_assert_int_eq(rpmac_ack(rpmac, rpmac_rig_next(rpmac)), 0);
	ck_assert_int_eq(rpmac_ack(rpmac, rpmac_rig_next(rpmac)), 0);
	ck_assert_int_eq(rpmac_next(rpmac, RPMAC_FOREVER, &none), -ECONNRESET);
	ck_assert_ptr_nonnull(strstr(rpmac_error(rpmac), "comes again"));
	ck_assert_int_eq(rpmac_next(rpmac, RPMAC_FOREVER, &none), -ECONNRESET);
	ck_assert_int_eq(rpmac_flush(rpmac), -ECONNRESET);
	ck_assert_int_eq(rpmac_open(rpmac, rig.socket, 1000), -ECONNREFUSED);
	ck_assert_ptr_nonnull(strstr(rpmac_error(rpmac), rig.socket));
	rpmac_rig_start(&next, POOL);
	ck_assert_int_eq(rpmac_open(rpmac, next.socket, RPMAC_RIG_ANSWER_MS), 0);
	ck_assert_int_eq(rpmac_next(rpmac, 0, &none), -EAGAIN);
	daemon_rig_end(&next);
	/* For the fixture to end. */
	rpmac_rig_start(&rig, POOL);
}
END_TEST

static void
on_alarm(int number)
{
	(void)number;
}

/* A signal ends the wait for a message, and nothing else. */
START_TEST(test_signal)
{
	const struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, off = { 0 };
	const struct sigaction action = { .sa_handler = on_alarm };
	unsigned int i;
	int rc;

	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &every, NULL), 0);
	ck_assert_int_eq(rpmac_next(rpmac, RPMAC_FOREVER, &none), -EINTR);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &off, NULL), 0);
	ck_assert_int_eq(rpmac_next(rpmac, 0, &none), -EAGAIN);
	ck_assert_int_eq(rpmac_flush(rpmac), 0);
	have(50, 64);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &every, NULL), 0);
	for (i = 0; i < 50;) {
		rc = rpmac_next(rpmac, RPMAC_FOREVER, &none);
		if (rc == -EINTR)
			continue;
		ck_assert_int_eq(rc, 0);
		ck_assert(rpmac_rig_is(none, i++, 64));
		ck_assert_int_eq(rpmac_ack(rpmac, none), 0);
		ck_assert_int_eq(rpmac_flush(rpmac), 0);
	}
	ck_assert_int_eq(setitimer(ITIMER_REAL, &off, NULL), 0);
	ck_assert_int_eq(rpmac_rig_stat(&rig, "recv.acked_total"), 50);
}
END_TEST

/* ---- wrong arguments ---- */

START_TEST(test_arguments)
{
	char path[200];

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(rpmac_set_batch(rpmac, 0), -EINVAL);
	ck_assert_int_eq(rpmac_set_batch(rpmac, RPMAC_BATCH_MAX + 1), -EINVAL);
	ck_assert_int_eq(rpmac_next(rpmac, 0, NULL), -EINVAL);
	ck_assert_int_eq(rpmac_next(rpmac, -2, &none), -EINVAL);
	ck_assert_int_eq(rpmac_ack(rpmac, NULL), -EINVAL);
	ck_assert_int_eq(rpmac_open(rpmac, rig.socket, 0), -EINVAL);
	ck_assert_int_eq(rpmac_open(rpmac, path, 1), -EINVAL);
	ck_assert_ptr_nonnull(strstr(rpmac_error(rpmac), "limit of 107"));
	ck_assert_int_eq(rpmac_open(rpmac, "/nonexistent/sock", 1), -ENOENT);
	ck_assert_ptr_nonnull(strstr(rpmac_error(rpmac), "does not run"));
	/* A name is that of an instance. */
	ck_assert_int_eq(rpmac_open(rpmac, "no-such-instance", 1), -ENOENT);
	ck_assert_ptr_nonnull(strstr(rpmac_error(rpmac),
	    RPMAD_RUNSTATEDIR "/no-such-instance.sock"));
	ck_assert_int_eq(setenv("RPMAD_SOCKET", rig.socket, 1), 0);
	ck_assert_int_eq(rpmac_open(rpmac, NULL, RPMAC_RIG_ANSWER_MS), 0);
	ck_assert_int_eq(rpmac_open(NULL, NULL, 1), -EINVAL);
	ck_assert_int_eq(rpmac_next(NULL, 0, &none), -EINVAL);
	ck_assert_int_eq(rpmac_ack(NULL, none), -EINVAL);
	ck_assert_int_eq(rpmac_flush(NULL), -EINVAL);
	ck_assert_str_ne(rpmac_error(NULL), "");
	ck_assert_str_eq(rpmac_version(), PACKAGE_VERSION);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpmac");
	TCase *tc = tcase_create("rpmac");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_next_and_ack);
	tcase_add_test(tc, test_held);
	tcase_add_test(tc, test_one_kept);
	tcase_add_test(tc, test_given_back);
	tcase_add_test(tc, test_close);
	tcase_add_test(tc, test_no_allocation);
	tcase_add_test(tc, test_memory);
	tcase_add_test(tc, test_not_shared);
	tcase_add_test(tc, test_hanging_daemon);
	tcase_add_test(tc, test_dead_daemon);
	tcase_add_test(tc, test_signal);
	tcase_add_test(tc, test_arguments);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
