/* SPDX-License-Identifier: BSD-3-Clause */
/* Readers in place over an end of the daemon whose pool the service manager keeps. */
#include <config.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/harness.h"
#include "tests/unit/manager_rig.h"
#include "tests/unit/rpmac_rig.h"

#ifdef HAVE_LIBSYSTEMD
#define COUNT 10
#define SIZE  64
#define POOL  "\"slots\": 64, \"slot_size\": 64, \"share\": true"

static struct manager manager;
static struct notify_fds kept;
static struct daemon_rig rig;
static struct rpmac *rpmac;

static void
setup(void)
{
	manager_start(&manager);
	memset(&rig, 0, sizeof(rig));
	rpmac_rig_start(&rig, POOL);
	rpmac = rpmac_rig_open(&rig);
}

static void
teardown(void)
{
	rpmac_close(&rpmac);
	daemon_rig_end(&rig);
	manager_end(&manager);
}

static void
have(unsigned int count)
{
	const long long before = rpmac_rig_stat(&rig, "recv.messages_total");
	pid_t pid = rpmac_rig_send(&rig, count, SIZE);

	rpmac_rig_wait(&rig, "recv.messages_total", before + count);
	rpmac_rig_sent(pid);
}

/* End it by a signal, and start the next one with what was kept and that pool. */
static void
restart(int number, const char *pool)
{
	int fds[NOTIFY_KEPT_MAX];
	char names[NOTIFY_KEPT_MAX * NOTIFY_NAME_MAX] = "";
	unsigned int i;

	ck_assert_int_eq(kill(rig.pid, number), 0);
	ck_assert_int_eq(waitpid(rig.pid, NULL, 0), rig.pid);
	manager_hand_over(&manager, &kept);
	/* Pool and ledger. */
	ck_assert_uint_eq(kept.kept_count, 2);
	for (i = 0; i < kept.kept_count; i++) {
		fds[i] = kept.kept[i].fd;
		(void)strcat(names, i > 0 ? ":" : "");
		(void)strcat(names, kept.kept[i].name);
	}
	rig.kept = fds;
	rig.kept_count = (unsigned int)kept.kept_count;
	rig.kept_names = names;
	rpmac_rig_configure(&rig, pool);
	daemon_rig_start_again(&rig);
	rig.kept_count = 0;
	for (i = 0; i < kept.kept_count; i++)
		(void)close(fds[i]);
}

static const struct {
	int number;
	const char *pool;
	bool is_same; /* the pool that it was */
} ends[] = {
	{ SIGKILL, POOL, true },
	{ SIGTERM, POOL, true },
	{ SIGTERM, "\"slots\": 4096, \"slot_size\": 128, \"share\": true", false },
	{ SIGKILL, "\"slots\": 16, \"slot_size\": 64, \"share\": true", false },
};

/*
 * What the daemon has dealt with stays so; all else comes again, counted. One that was
 * acknowledged without a flush may do either.
 */
START_TEST(test_restart)
{
	const struct rpmac_msg *msg, *held;
	char instance[24];
	unsigned int i;
	int rc;

	have(COUNT);
	ck_assert_int_eq(rpmac_set_batch(rpmac, 4), 0);
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(rpmac_ack(rpmac, rpmac_rig_next(rpmac)), 0);
	ck_assert_int_eq(rpmac_flush(rpmac), 0);
	held = rpmac_rig_next(rpmac);
	ck_assert_int_eq(rpmac_ack(rpmac, rpmac_rig_next(rpmac)), 0);
	ck_assert_int_eq(rpmac_check(rpmac), 0);
	(void)strcpy(instance, rpmac_instance(rpmac));

	restart(ends[_i].number, ends[_i].pool);
	ck_assert_int_eq(rpmac_check(rpmac), -ECONNRESET);
	ck_assert(rpmac_rig_is(held, 4, SIZE));
	/* What it had brought before can still be taken, in vain. */
	while ((rc = rpmac_next(rpmac, RPMAC_FOREVER, &msg)) == 0)
		ck_assert_uint_lt(msg->seq, COUNT + 1);
	ck_assert_int_eq(rc, -ECONNRESET);
	ck_assert_ptr_nonnull(strstr(rpmac_error(rpmac), "comes again"));
	ck_assert_int_eq(rpmac_flush(rpmac), -ECONNRESET);
	ck_assert_int_eq(rpmac_next(rpmac, 0, &msg), -ECONNRESET);
	/* Somebody may still be reading; to settle it is in vain. */
	ck_assert(rpmac_rig_is(held, 4, SIZE));
	ck_assert_int_eq(rpmac_ack(rpmac, held), 0);

	ck_assert_int_eq(rpmac_open(rpmac, rig.socket, RPMAC_RIG_ANSWER_MS), 0);
	ck_assert_int_eq(strcmp(rpmac_instance(rpmac), instance) == 0,
	    ends[_i].is_same);
	for (i = 4; i < COUNT; i++) {
		msg = rpmac_rig_next(rpmac);
		if (i == 5 && msg->seq == 7)
			i++;
		ck_assert(rpmac_rig_is(msg, i, SIZE));
		ck_assert_uint_eq(msg->seq, i + 1);
		/* Others may have been on their way to the reader. */
		if (i == 4)
			ck_assert_uint_eq(msg->deliveries, 2);
		ck_assert_uint_ge(msg->deliveries, 1);
		ck_assert_uint_le(msg->deliveries, 2);
		ck_assert_int_eq(rpmac_ack(rpmac, msg), 0);
	}
	ck_assert_int_eq(rpmac_flush(rpmac), 0);
	ck_assert_int_eq(rpmac_next(rpmac, 0, &msg), -EAGAIN);
	ck_assert_int_eq(rpmac_rig_stat(&rig, "slots.leased"), 0);
	ck_assert_int_eq(rpmac_rig_stat(&rig, "slots.ready"), 0);
}
END_TEST

/*
 * What is held over the daemon's end may become another message: the memory is the same,
 * and the next one knows of no reader. rpmac_check() is what tells.
 */
START_TEST(test_held_over_the_end)
{
	struct rpmac *next;
	const struct rpmac_msg *held, *msg;
	unsigned int i, round;

	have(1);
	held = rpmac_rig_next(rpmac);
	ck_assert(rpmac_rig_is(held, 0, SIZE));
	ck_assert_int_eq(rpmac_check(rpmac), 0);
	restart(SIGKILL, POOL);
	next = rpmac_rig_open(&rig);
	ck_assert_int_eq(rpmac_ack(next, rpmac_rig_next(next)), 0);
	ck_assert_int_eq(rpmac_flush(next), 0);
	/* Every slot has its turn. */
	for (round = 0; round < 3; round++) {
		have(64);
		for (i = 0; i < 64; i++)
			ck_assert_int_eq(rpmac_ack(next, rpmac_rig_next(next)), 0);
		ck_assert_int_eq(rpmac_flush(next), 0);
	}
	ck_assert(!rpmac_rig_is(held, 0, SIZE));
	ck_assert_int_eq(rpmac_check(rpmac), -ECONNRESET);
	ck_assert_int_eq(rpmac_next(rpmac, 0, &msg), -ECONNRESET);
	/* It can be read, whatever it is by now. */
	ck_assert_uint_eq(((const char *)held->data)[0], '0');
	rpmac_close(&next);
}
END_TEST

#endif

int
main(void)
{
	Suite *suite = suite_create("rpmac_restart");
	TCase *tc = tcase_create("rpmac_restart");

	tcase_set_timeout(tc, 120);
	/* Without libsystemd nothing is kept. */
#ifdef HAVE_LIBSYSTEMD
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_restart, 0, (int)(sizeof(ends) / sizeof(ends[0])));
	tcase_add_test(tc, test_held_over_the_end);
#endif
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
