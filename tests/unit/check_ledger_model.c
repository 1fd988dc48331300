/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random operations on the ledger, restarts among them, against a trivial model.
 * LEDGER_STEPS sets how many, LEDGER_SEED repeats a run.
 */
#include <config.h>

#include "daemon/ledger.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/unit/harness.h"

#define SLOTS     16u
#define SLOT_SIZE 4096u
#define STEPS     200000u
#define INSTANCE  0x0123456789abcdefu

/* What the model knows of a slot. */
struct model_slot {
	enum slot_state state;
	uint32_t generation;
	uint64_t seq;
	uint32_t deliveries;
	int owner; /* -1: by time */
	uint64_t deadline;
};

struct model {
	struct model_slot slots[SLOTS];
	uint64_t seq;
};

static uint32_t
oldest_ready(const struct model *model)
{
	uint32_t best = SLOTS, i;

	for (i = 0; i < SLOTS; i++)
		if (model->slots[i].state == SLOT_READY &&
		    (best == SLOTS || model->slots[i].seq < model->slots[best].seq))
			best = i;
	return best;
}

static uint32_t
next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* Check writes a note for every assertion: only a difference is worth one. */
static void
demand(bool holds, const char *what)
{
	if (!holds)
		ck_abort_msg("%s", what);
}

static void
compare(const struct model *model, const struct ledger *ledger)
{
	struct ledger_counts counts;
	uint32_t seen[4] = { 0 };
	uint32_t i;

	for (i = 0; i < SLOTS; i++) {
		demand(ledger_state(ledger, i) == model->slots[i].state, "state");
		seen[model->slots[i].state]++;
	}
	ledger_counts(ledger, &counts);
	demand(counts.free == seen[SLOT_FREE], "free");
	demand(counts.posted == seen[SLOT_POSTED], "posted");
	demand(counts.ready == seen[SLOT_READY], "ready");
	demand(counts.leased == seen[SLOT_LEASED], "leased");
}

static void
model_lease(struct model *model, struct ledger *ledger, struct ledger_owner *owners,
    uint64_t *random, uint64_t now)
{
	uint32_t expected = oldest_ready(model);
	int owner = (int)(next_random(random) % 3) - 1;
	uint64_t deadline = now + next_random(random) % 50;
	struct ledger_message message;
	struct model_slot *slot;

	if (!ledger_lease(ledger, owner < 0 ? NULL : &owners[owner], deadline,
		&message)) {
		demand(expected == SLOTS, "model");
		return;
	}
	demand(message.slot == expected, "model");
	slot = &model->slots[expected];
	slot->state = SLOT_LEASED;
	slot->owner = owner;
	slot->deadline = deadline;
	slot->deliveries++;
	demand(message.deliveries == slot->deliveries, "model");
	demand(message.seq == slot->seq, "model");
	demand(message.generation == slot->generation, "model");
}

static void
model_post(struct model *model, struct ledger *ledger, uint32_t index)
{
	struct model_slot *slot = &model->slots[index];
	int rc = ledger_post_slot(ledger, index, NULL, 0);

	demand((rc) == (slot->state == SLOT_FREE ? 0 : -EBUSY), "model");
	if (rc != 0)
		return;
	slot->state = SLOT_POSTED;
	slot->generation++;
	slot->deliveries = 0;
}

static void
model_arrive(struct model *model, struct ledger *ledger, uint32_t index)
{
	struct ledger_arrival arrival = { .conn = index, .len = index };
	struct model_slot *slot = &model->slots[index];

	demand((ledger_arrive(ledger, index, &arrival)) == (slot->state == SLOT_POSTED),
	    "model");
	if (slot->state != SLOT_POSTED)
		return;
	slot->state = SLOT_READY;
	slot->seq = ++model->seq;
}

static void
model_token(struct model *model, struct ledger *ledger, uint32_t index, bool ack)
{
	struct model_slot *slot = &model->slots[index];
	bool present = slot->state == SLOT_LEASED || (ack && slot->state == SLOT_READY);
	enum ledger_result result = ack
	    ? ledger_ack(ledger, index, slot->generation, NULL)
	    : ledger_nack(ledger, index, slot->generation);

	demand((result == LEDGER_DONE) == (present), "model");
	if (present)
		slot->state = ack ? SLOT_FREE : SLOT_READY;
}

static void
model_step(struct model *model, struct ledger *ledger, struct ledger_owner *owners,
    uint64_t *random, uint64_t now)
{
	uint32_t index = next_random(random) % SLOTS, i;
	uint32_t what = next_random(random) % 16;

	if (what < 4) {
		model_post(model, ledger, index);
	} else if (what < 8) {
		model_arrive(model, ledger, index);
	} else if (what < 11) {
		model_lease(model, ledger, owners, random, now);
	} else if (what < 14) {
		model_token(model, ledger, index, what < 13);
	} else if (what == 14) {
		int owner = (int)(next_random(random) % 2);

		(void)ledger_owner_gone(ledger, &owners[owner]);
		for (i = 0; i < SLOTS; i++)
			if (model->slots[i].state == SLOT_LEASED &&
			    model->slots[i].owner == owner)
				model->slots[i].state = SLOT_READY;
	} else {
		(void)ledger_expire(ledger, now);
		for (i = 0; i < SLOTS; i++)
			if (model->slots[i].state == SLOT_LEASED &&
			    model->slots[i].owner < 0 &&
			    model->slots[i].deadline <= now)
				model->slots[i].state = SLOT_READY;
	}
}

/* The process ends and another one takes the memory over. */
static struct ledger *
model_restart(struct model *model, struct ledger *ledger, void *memory)
{
	struct ledger_restored restored;
	struct ledger *again = NULL;
	uint32_t i;

	ledger_free(ledger);
	demand(ledger_restore(memory, ledger_memory_size(SLOTS), SLOTS, SLOT_SIZE,
		   &again, &restored, NULL) == 0,
	    "restore");
	demand(restored.bad == 0, "bad record");
	for (i = 0; i < SLOTS; i++) {
		if (model->slots[i].state == SLOT_POSTED)
			model->slots[i].state = SLOT_FREE;
		if (model->slots[i].state == SLOT_LEASED)
			model->slots[i].state = SLOT_READY;
	}
	return again;
}

START_TEST(test_model)
{
	const char *wanted = getenv("LEDGER_STEPS"), *seed = getenv("LEDGER_SEED");
	uint64_t steps = wanted ? strtoull(wanted, NULL, 10) : STEPS;
	uint64_t random = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
	struct ledger_owner owners[2] = { { 0, 0 }, { 0, 0 } };
	size_t bytes = ledger_memory_size(SLOTS);
	struct ledger *ledger = NULL;
	struct model model;
	uint64_t now;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	printf("# LEDGER_SEED=%llu LEDGER_STEPS=%llu\n", (unsigned long long)random,
	    (unsigned long long)steps);
	(void)fflush(stdout);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	ck_assert_int_eq(ledger_new(memory, SLOTS, SLOT_SIZE, INSTANCE, &ledger), 0);
	memset(&model, 0, sizeof(model));
	for (now = 1; now <= steps; now++) {
		if (next_random(&random) % 100 == 0) {
			ledger = model_restart(&model, ledger, memory);
			memset(owners, 0, sizeof(owners));
		}
		model_step(&model, ledger, owners, &random, now);
		compare(&model, ledger);
	}
	ck_assert(ledger_check(ledger));
	ledger_free(ledger);
	(void)munmap(memory, bytes);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ledger_model");
	TCase *tc = tcase_create("ledger_model");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, test_model);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
