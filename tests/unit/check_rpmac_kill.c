/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Consumers that read in place and are killed at any step: nothing is lost, and what one of
 * them knew to be acknowledged comes to no other.
 */
#include <config.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/harness.h"
#include "tests/unit/rpmac_rig.h"

#define KILLS       50  /* unless RPMAC_KILLS says otherwise */
#define STEPS_MAX   200 /* of a consumer before it is killed */
#define PER_KILL    150 /* messages */
#define SIZE        64
#define UNSEEN      0
#define DELIVERED   1
#define ACKED       2 /* and its consumer was told so */
#define PATIENCE_MS 60000u

/* What all consumers know, whoever has died. */
struct shared {
	atomic_uint steps;
	atomic_uint again;    /* delivered though it was acknowledged */
	atomic_uint wrong;    /* of other bytes than were sent */
	atomic_uint failed;   /* calls, by the line of the first */
	atomic_uint acked;    /* messages */
	atomic_uchar state[]; /* of each message, by its number */
};

static struct shared *shared;
static struct daemon_rig rig;

static void
step(void)
{
	atomic_fetch_add(&shared->steps, 1);
}

/* Take messages, in rounds of different sizes, and note what is known of them. */
static void
consume(unsigned int seed, unsigned int until)
{
	struct rpmac *rpmac = rpmac_rig_open(&rig);
	unsigned int round, i, last[RPMAC_BATCH_MAX];
	const struct rpmac_msg *msg;

	while (atomic_load(&shared->acked) < until) {
		seed = seed * 1103515245u + 12345u;
		round = 1 + (seed >> 16) % 40;
		for (i = 0; i < round && rpmac_next(rpmac, i ? 0 : 20, &msg) == 0;
		     i++) {
			last[i] = (unsigned int)msg->seq;
			if (!rpmac_rig_is(msg, last[i] - 1, SIZE))
				atomic_fetch_add(&shared->wrong, 1);
			if (atomic_load(&shared->state[last[i]]) == ACKED)
				atomic_fetch_add(&shared->again, 1);
			atomic_store(&shared->state[last[i]], DELIVERED);
			step();
			if (rpmac_ack(rpmac, msg) != 0)
				atomic_store(&shared->failed, __LINE__);
			step();
		}
		if (rpmac_flush(rpmac) != 0)
			atomic_store(&shared->failed, __LINE__);
		step();
		for (; i > 0; i--) {
			atomic_store(&shared->state[last[i - 1]], ACKED);
			atomic_fetch_add(&shared->acked, 1);
		}
	}
	rpmac_close(&rpmac);
}

static pid_t
start_consumer(unsigned int seed, unsigned int until)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		consume(seed, until);
		_exit(0);
	}
	return pid;
}

START_TEST(test_killed_at_random)
{
	const char *asked = getenv("RPMAC_KILLS");
	const unsigned int kills = asked ? (unsigned int)atoi(asked) : KILLS;
	const unsigned int count = kills * PER_KILL;
	unsigned int i, seed = 1, lost = 0;
	pid_t sender, pid;
	int status;

	ck_assert_uint_gt(kills, 0);
	shared = mmap(NULL, sizeof(*shared) + count + 1, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	rpmac_rig_start(&rig, "\"slots\": 128, \"slot_size\": 64, \"share\": true");
	sender = rpmac_rig_send(&rig, count, SIZE);
	for (i = 0; i < kills; i++) {
		const uint64_t end_ms = daemon_rig_now_ms() + PATIENCE_MS;
		unsigned int at;

		seed = seed * 1103515245u + 12345u;
		at = atomic_load(&shared->steps) + (seed >> 16) % STEPS_MAX;
		pid = start_consumer(seed, count + 1);
		while (atomic_load(&shared->steps) < at &&
		    atomic_load(&shared->acked) < count) {
			ck_assert_uint_lt(daemon_rig_now_ms(), end_ms);
			(void)usleep(100);
		}
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status));
	}
	/* The last one lives. An acknowledgement whose consumer died before it knew is not
	 * in its count, so it goes on until no message is left. */
	rpmac_rig_wait(&rig, "slots.total", 128);
	{
		struct rpmac *rpmac = rpmac_rig_open(&rig);
		const struct rpmac_msg *msg;

		while (rpmac_rig_stat(&rig, "recv.acked_total") < count) {
			while (rpmac_next(rpmac, 100, &msg) == 0) {
				if (atomic_load(&shared->state[msg->seq]) == ACKED)
					atomic_fetch_add(&shared->again, 1);
				ck_assert(rpmac_rig_is(msg, (unsigned int)msg->seq - 1,
				    SIZE));
				atomic_store(&shared->state[msg->seq], DELIVERED);
				ck_assert_int_eq(rpmac_ack(rpmac, msg), 0);
			}
			ck_assert_int_eq(rpmac_flush(rpmac), 0);
		}
		rpmac_close(&rpmac);
	}
	rpmac_rig_sent(sender);
	for (i = 1; i <= count; i++)
		lost += atomic_load(&shared->state[i]) == UNSEEN;
	ck_assert_uint_eq(lost, 0);
	ck_assert_uint_eq(atomic_load(&shared->again), 0);
	ck_assert_uint_eq(atomic_load(&shared->wrong), 0);
	ck_assert_uint_eq(atomic_load(&shared->failed), 0);
	/* The deaths were no formality: some held messages. */
	ck_assert_int_gt(rpmac_rig_stat(&rig, "recv.redelivered_total"), 0);
	ck_assert_uint_gt(atomic_load(&shared->acked), 0);
	daemon_rig_end(&rig);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpmac_kill");
	TCase *tc = tcase_create("rpmac_kill");

	tcase_set_timeout(tc, 900);
	tcase_add_test(tc, test_killed_at_random);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
