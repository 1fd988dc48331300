/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that works on a ledger is killed at random, and the ledger restored, again and
 * again: what it had reported as done is there, what it was about to do is done or not. A
 * record that was damaged meanwhile costs its own message.
 * LEDGER_KILLS sets how often, LEDGER_SEED repeats a run.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/ledger_impl.h"
#include "tests/unit/harness.h"

#define SLOTS     16u
#define SLOT_SIZE 4096u
#define KILLS     100u

enum what {
	POST,
	ARRIVE,
	LEASE,
	NACK,
	ACK,
	UNPOST,
	FLUSH, /* all that is posted; slot says nothing */
	UNDELIVER
};

/* What the child says before (is_done false) and after each step. */
struct report {
	uint8_t what;
	bool is_done;
	uint32_t slot;
	uint32_t generation;
	uint32_t deliveries;
	uint64_t seq;
};

/* What a slot must hold. */
struct model_slot {
	bool has_message;
	uint32_t generation, deliveries;
	uint64_t seq;
};

static struct model_slot model[SLOTS];
static uint64_t highest; /* number of a message that an earlier comparison saw */

static uint64_t
next_random(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/* ---- the child ---- */

static void
say(int fd, const struct report *report)
{
	if (write(fd, report, sizeof(*report)) != (ssize_t)sizeof(*report))
		_exit(1);
}

/* Choose a step that the slot's state allows. false: there is none. */
static bool
choose(struct ledger *ledger, uint64_t *random, struct report *report)
{
	struct ledger_message message;

	report->slot = next_random(random) % SLOTS;
	switch (ledger_state(ledger, report->slot)) {
	case SLOT_FREE:
		report->what = POST;
		return true;
	case SLOT_POSTED:
		report->what = next_random(random) % 8 ? ARRIVE : UNPOST;
		if (next_random(random) % 32 == 0)
			report->what = FLUSH;
		return true;
	case SLOT_READY:
		if (!ledger_peek(ledger, &message))
			_exit(2);
		report->what = LEASE;
		report->slot = message.slot;
		return true;
	case SLOT_LEASED:
		report->what = next_random(random) % 4 ? ACK
		    : next_random(random) % 2          ? NACK
						       : UNDELIVER;
		return true;
	}
	return false;
}

/* What the child knows of a lease. */
struct lease {
	uint32_t generation, deliveries;
};

static bool
flush(struct ledger *ledger)
{
	struct ledger_counts counts;
	uint32_t slot, n = 0;

	ledger_counts(ledger, &counts);
	for (slot = 0; slot < SLOTS; slot++)
		n += ledger_unpost(ledger, slot);
	return n == counts.posted;
}

static void
step(struct ledger *ledger, struct report *report, const struct lease *leases)
{
	const struct lease *lease = &leases[report->slot];
	struct ledger_arrival arrival = { .conn = 1, .peer = { .family = AF_INET6 } };
	struct ledger_message message = { .slot = report->slot };
	bool ok = true;

	arrival.len = report->slot;
	switch ((enum what)report->what) {
	case POST:
		ok = ledger_post_slot(ledger, report->slot, "label", 5) == 0;
		break;
	case ARRIVE:
		ok = ledger_arrive(ledger, report->slot, &arrival);
		break;
	case LEASE:
		ok = ledger_lease(ledger, NULL, 1, &message) &&
		    message.slot == report->slot;
		report->generation = message.generation;
		report->deliveries = message.deliveries;
		report->seq = message.seq;
		break;
	case NACK:
		ok =
		    ledger_nack(ledger, report->slot, lease->generation) == LEDGER_DONE;
		break;
	case ACK:
		ok = ledger_ack(ledger, report->slot, lease->generation, NULL) ==
		    LEDGER_DONE;
		break;
	case UNPOST:
		ok = ledger_unpost(ledger, report->slot);
		break;
	case FLUSH:
		ok = flush(ledger);
		break;
	case UNDELIVER:
		ok = ledger_undeliver(ledger, report->slot, lease->generation,
		    lease->deliveries);
		break;
	}
	if (!ok)
		_exit(3);
}

static void
work(void *memory, int fd, uint64_t random)
{
	struct lease leases[SLOTS];
	struct ledger_restored restored;
	struct ledger *ledger;

	memset(leases, 0, sizeof(leases));
	/* As a daemon that starts: the restoring, too, may be cut short. */
	if (ledger_restore(memory, ledger_memory_size(SLOTS), SLOTS, SLOT_SIZE, &ledger,
		&restored, NULL) != 0)
		_exit(4);
	for (;;) {
		struct report report;

		memset(&report, 0, sizeof(report));
		if (!choose(ledger, &random, &report))
			_exit(5);
		say(fd, &report);
		step(ledger, &report, leases);
		if (report.what == LEASE)
			leases[report.slot] =
			    (struct lease){ report.generation, report.deliveries };
		report.is_done = true;
		say(fd, &report);
	}
}

/* ---- the parent ---- */

/* Read what the child says, into the model; what was begun last and not done is *open. */
static void
take(const struct report *report, struct report *open, bool *has_open)
{
	struct model_slot *slot = &model[report->slot];

	*has_open = !report->is_done;
	*open = *report;
	if (!report->is_done)
		return;
	switch ((enum what)report->what) {
	case POST:
		break;
	case ARRIVE:
		*slot = (struct model_slot){ .has_message = true };
		break;
	case LEASE:
		slot->generation = report->generation;
		slot->deliveries = report->deliveries;
		slot->seq = report->seq;
		break;
	case ACK:
		slot->has_message = false;
		break;
	case NACK:
	case UNPOST:
	case FLUSH:
	case UNDELIVER:
		break;
	}
}

/* Make a record impossible, by its state or by what it says of its message. */
static void
damage(void *memory, uint64_t *random)
{
	uint32_t slot = next_random(random) % SLOTS;
	struct record *records = (void *)((char *)memory + HEADER_BYTES);
	struct record *record = &records[slot];
	enum slot_state state = ledger_word_state(record->word);
	bool has_message = state == SLOT_READY || state == SLOT_LEASED;

	switch (next_random(random) % (has_message ? 3 : 1)) {
	case 0:
		record->word |= 0x80;
		break;
	case 1:
		record->len = SLOT_SIZE + 1;
		break;
	case 2:
		record->context_len = LEDGER_CONTEXT_MAX + 1;
		break;
	}
	model[slot].has_message = false;
}

static uint64_t
now_us(void)
{
	struct timespec now;

	ck_assert_int_eq(clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/*
 * Let it work until it has said `reports` things, and live_us more; kill it, and read the
 * rest. A child with no reports to wait for may be killed before or while it restores. The
 * number of steps.
 */
static unsigned int
watch(pid_t child, int fd, unsigned int reports, unsigned int live_us,
    struct report *open, bool *has_open)
{
	struct report report;
	unsigned int seen = 0, steps = 0;
	uint64_t end_us = reports == 0 ? now_us() + live_us : 0;
	bool is_killed = false;
	int status;

	for (;;) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };

		if (!is_killed && seen >= reports) {
			if (end_us == 0)
				end_us = now_us() + live_us;
			if (now_us() >= end_us) {
				ck_assert_int_eq(kill(child, SIGKILL), 0);
				is_killed = true;
			} else if (poll(&pfd, 1, 0) == 0) {
				continue;
			}
		}
		if (read(fd, &report, sizeof(report)) != (ssize_t)sizeof(report))
			break;
		take(&report, open, has_open);
		seen++;
		steps += report.is_done;
	}
	if (!is_killed)
		(void)kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFSIGNALED(status), "the child ended by itself: %d",
	    WEXITSTATUS(status));
	return steps;
}

/* A slot against the model; is_open: the last step was about it, and is done or not. */
static void
compare_slot(struct ledger *ledger, uint32_t slot, const struct report *open,
    bool is_open)
{
	struct model_slot *m = &model[slot];
	bool has_message = ledger_state(ledger, slot) == SLOT_READY;

	if (is_open && open->what == ARRIVE && has_message)
		*m = (struct model_slot){ .has_message = true };
	if (is_open && open->what == ACK && !has_message)
		m->has_message = false;
	ck_assert_msg(has_message == m->has_message,
	    "slot %u: message %d, should be %d", slot, has_message, m->has_message);
}

static void
compare(struct ledger *ledger, const struct report *open, bool has_open)
{
	struct ledger_message message;
	struct ledger_counts counts;
	uint64_t before = 0;
	uint32_t slot;

	ck_assert(ledger_check(ledger));
	for (slot = 0; slot < SLOTS; slot++)
		compare_slot(ledger, slot, open, has_open && open->slot == slot);
	ledger_counts(ledger, &counts);
	ck_assert_uint_eq(counts.ready + counts.free, SLOTS);
	while (ledger_lease(ledger, NULL, 1, &message)) {
		struct model_slot *m = &model[message.slot];
		bool is_open =
		    has_open && open->slot == message.slot && open->what == LEASE;

		ck_assert_uint_gt(message.seq, before);
		before = message.seq;
		ck_assert_uint_eq(message.arrival.len, message.slot);
		ck_assert_uint_eq(message.context_len, 5);
		ck_assert_int_eq(message.arrival.peer.family, AF_INET6);
		if (m->seq != 0) {
			ck_assert_uint_eq(message.seq, m->seq);
			ck_assert_uint_eq(message.generation, m->generation);
		} else {
			ck_assert_uint_gt(message.seq, highest);
		}
		/* This lease counts as well. */
		ck_assert_uint_ge(message.deliveries, m->deliveries + 1);
		ck_assert_uint_le(message.deliveries, m->deliveries + 1 + is_open);
		m->seq = message.seq;
		m->generation = message.generation;
		m->deliveries = message.deliveries;
	}
	if (before > highest)
		highest = before;
}

START_TEST(test_killed)
{
	const char *wanted = getenv("LEDGER_KILLS"), *seed = getenv("LEDGER_SEED");
	unsigned int kills = wanted ? (unsigned int)atoi(wanted) : KILLS, n, steps = 0;
	uint64_t random = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
	size_t bytes = ledger_memory_size(SLOTS);
	struct ledger_restored restored;
	struct ledger *ledger;
	void *memory;

	printf("# LEDGER_SEED=%llu LEDGER_KILLS=%u\n", (unsigned long long)random,
	    kills);
	(void)fflush(stdout);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	    -1, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	ck_assert_int_eq(ledger_new(memory, SLOTS, SLOT_SIZE, 1, &ledger), 0);
	ledger_free(ledger);
	for (n = 0; n < kills; n++) {
		uint64_t child_random = next_random(&random);
		struct report open = { 0 };
		bool has_open = false, is_damaged;
		int fds[2];
		pid_t child;

		ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
		child = fork();
		ck_assert_int_ge(child, 0);
		if (child == 0)
			work(memory, fds[1], child_random);
		(void)close(fds[1]);
		steps += watch(child, fds[0],
		    n % 4 == 0 ? 0 : (unsigned int)(next_random(&random) % 200),
		    (unsigned int)(next_random(&random) % 3000), &open, &has_open);
		(void)close(fds[0]);
		is_damaged = next_random(&random) % 4 == 0;
		if (is_damaged)
			damage(memory, &random);
		ck_assert_int_eq(ledger_restore(memory, bytes, SLOTS, SLOT_SIZE,
				     &ledger, &restored, NULL),
		    0);
		ck_assert_uint_eq(restored.bad, is_damaged);
		compare(ledger, &open, has_open);
		ledger_free(ledger);
	}
	ck_assert_uint_gt(steps, kills);
	(void)munmap(memory, bytes);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ledger_kill");
	TCase *tc = tcase_create("ledger_kill");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, test_killed);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
