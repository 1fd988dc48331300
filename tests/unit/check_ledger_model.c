/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random operations on the ledger, restarts and damage among them, against a trivial model.
 * LEDGER_STEPS sets how many, LEDGER_SEED repeats a run.
 */
#include <config.h>

#include "daemon/ledger.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "daemon/ledger_impl.h"
#include "tests/unit/harness.h"

#define SLOTS     16u
#define SLOT_SIZE 4096u
#define STEPS     200000u
#define INSTANCE  0x0123456789abcdefu

/* What the model knows of a slot. */
struct model_slot {
	enum slot_state state;
	uint32_t generation;
	uint64_t seq; /* of its last message */
	uint32_t deliveries;
	int owner; /* -1: by time */
	uint64_t deadline;
};

struct model {
	struct model_slot slots[SLOTS];
	uint64_t seq;
	/* What it is compared with, and what both are told. */
	struct ledger *ledger;
	void *memory;
	struct ledger_owner owners[2];
	uint64_t random, now;
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
next_random(struct model *model)
{
	model->random = model->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(model->random >> 33);
}

/* Check writes a note for every assertion: only a difference is worth one. */
static void
demand(bool holds, const char *what)
{
	if (!holds)
		ck_abort_msg("%s", what);
}

static void
compare(const struct model *model)
{
	struct ledger_counts counts;
	uint32_t seen[4] = { 0 };
	uint32_t i;

	for (i = 0; i < SLOTS; i++) {
		demand(ledger_state(model->ledger, i) == model->slots[i].state,
		    "state");
		seen[model->slots[i].state]++;
	}
	ledger_counts(model->ledger, &counts);
	demand(counts.free == seen[SLOT_FREE], "free");
	demand(counts.posted == seen[SLOT_POSTED], "posted");
	demand(counts.ready == seen[SLOT_READY], "ready");
	demand(counts.leased == seen[SLOT_LEASED], "leased");
	demand(ledger_check(model->ledger), "balance");
}

/* ---- the operations, each of a random slot ---- */

static void
step_lease(struct model *model, uint32_t index)
{
	uint32_t expected = oldest_ready(model);
	int owner = (int)(next_random(model) % 3) - 1;
	uint64_t deadline = model->now + next_random(model) % 50;
	struct ledger_message message;
	struct model_slot *slot;

	(void)index;
	if (!ledger_lease(model->ledger, owner < 0 ? NULL : &model->owners[owner],
		deadline, &message)) {
		demand(expected == SLOTS, "nothing to lease");
		return;
	}
	demand(message.slot == expected, "oldest");
	slot = &model->slots[expected];
	slot->state = SLOT_LEASED;
	slot->owner = owner;
	slot->deadline = deadline;
	slot->deliveries++;
	demand(message.deliveries == slot->deliveries, "deliveries");
	demand(message.seq == slot->seq, "number");
	demand(message.generation == slot->generation, "generation");
}

static void
step_post(struct model *model, uint32_t index)
{
	struct model_slot *slot = &model->slots[index];
	int rc = ledger_post_slot(model->ledger, index, NULL, 0);

	demand(rc == (slot->state == SLOT_FREE ? 0 : -EBUSY), "post");
	if (rc != 0)
		return;
	slot->state = SLOT_POSTED;
	slot->generation++;
	slot->deliveries = 0;
}

static void
step_unpost(struct model *model, uint32_t index)
{
	struct model_slot *slot = &model->slots[index];
	bool is_posted = slot->state == SLOT_POSTED;

	demand(ledger_unpost(model->ledger, index) == is_posted, "unpost");
	if (is_posted)
		slot->state = SLOT_FREE;
}

/* All that is posted comes back, in any order. */
static void
step_flush(struct model *model, uint32_t index)
{
	uint32_t i;

	for (i = 0; i < SLOTS; i++)
		step_unpost(model, (index + 5 * i) % SLOTS);
	demand(!ledger_unpost(model->ledger, SLOTS), "unpost out of range");
}

static void
step_arrive(struct model *model, uint32_t index)
{
	struct ledger_arrival arrival = { .conn = index, .len = index };
	struct model_slot *slot = &model->slots[index];

	demand(ledger_arrive(model->ledger, index, &arrival) ==
		(slot->state == SLOT_POSTED),
	    "arrive");
	if (slot->state != SLOT_POSTED)
		return;
	slot->state = SLOT_READY;
	slot->seq = ++model->seq;
}

static void
step_ack(struct model *model, uint32_t index)
{
	struct model_slot *slot = &model->slots[index];
	bool present = slot->state == SLOT_LEASED || slot->state == SLOT_READY;
	uint64_t conn = 0;

	demand((ledger_ack(model->ledger, index, slot->generation, &conn) ==
		   LEDGER_DONE) == present,
	    "ack");
	demand(!present || conn == index, "connection");
	if (present)
		slot->state = SLOT_FREE;
}

static void
step_nack(struct model *model, uint32_t index)
{
	struct model_slot *slot = &model->slots[index];
	bool present = slot->state == SLOT_LEASED;

	demand((ledger_nack(model->ledger, index, slot->generation) == LEDGER_DONE) ==
		present,
	    "nack");
	if (present)
		slot->state = SLOT_READY;
}

/* Of this delivery, of an earlier one, or of an earlier message. */
static void
step_undeliver(struct model *model, uint32_t index)
{
	struct model_slot *slot = &model->slots[index];
	uint32_t deliveries = slot->deliveries - next_random(model) % 2;
	uint32_t generation = slot->generation - (next_random(model) % 4 == 0);
	bool present = slot->state == SLOT_LEASED && deliveries == slot->deliveries &&
	    generation == slot->generation;

	demand(ledger_undeliver(model->ledger, index, generation, deliveries) ==
		present,
	    "undeliver");
	if (present)
		slot->state = SLOT_READY;
}

static void
step_owner_gone(struct model *model, uint32_t index)
{
	int owner = (int)(index % 2);
	uint32_t count = 0, i;

	for (i = 0; i < SLOTS; i++)
		if (model->slots[i].state == SLOT_LEASED &&
		    model->slots[i].owner == owner) {
			model->slots[i].state = SLOT_READY;
			count++;
		}
	demand(ledger_owner_gone(model->ledger, &model->owners[owner]) == count,
	    "owner gone");
}

static void
step_expire(struct model *model, uint32_t index)
{
	uint32_t count = 0, i;

	(void)index;
	for (i = 0; i < SLOTS; i++)
		if (model->slots[i].state == SLOT_LEASED && model->slots[i].owner < 0 &&
		    model->slots[i].deadline <= model->now) {
			model->slots[i].state = SLOT_READY;
			count++;
		}
	demand(ledger_expire(model->ledger, model->now) == count, "expire");
}

/* A record that is damaged while the ledger lives is seen, and nothing is done with it. */
static void
step_damage(struct model *model, uint32_t index)
{
	struct ledger *ledger = model->ledger;
	struct ledger_arrival arrival = { .conn = index };
	uint32_t generation = model->slots[index].generation;
	_Atomic uint64_t *word = &ledger->records[index].word;
	uint64_t before = *word;

	*word = before | (SLOT_LEASED + 1 + next_random(model) % 252);
	demand(!ledger_check(ledger), "unseen damage");
	demand(ledger_post_slot(ledger, index, NULL, 0) == -EBUSY, "damage: post");
	demand(!ledger_unpost(ledger, index), "damage: unpost");
	demand(!ledger_arrive(ledger, index, &arrival), "damage: arrive");
	demand(ledger_ack(ledger, index, generation, NULL) != LEDGER_DONE,
	    "damage: ack");
	demand(ledger_nack(ledger, index, generation) != LEDGER_DONE, "damage: nack");
	demand(!ledger_undeliver(ledger, index, generation,
		   model->slots[index].deliveries),
	    "damage: undeliver");
	*word = before;
}

/* ---- the end of a process, with damage or without ---- */

/*
 * Damage one record so that it cannot be true, in a way that its state allows; its slot is
 * free then, and the number of what was there is not given again where it is legible.
 */
static void
damage(struct model *model, uint32_t index)
{
	struct model_slot *slot = &model->slots[index];
	struct record *record = &model->ledger->records[index];
	uint32_t ways = slot->state == SLOT_FREE ? 1
	    : slot->state == SLOT_POSTED         ? 2
						 : 5;

	switch (next_random(model) % ways) {
	case 0:
		record->word |= 0x80;
		break;
	case 1:
		record->word &= 0xffffffffu;
		slot->generation = 0;
		break;
	case 2:
		record->len = SLOT_SIZE + 1;
		break;
	case 3:
		record->flags |= 0x8000;
		break;
	case 4:
		record->seq = 0;
		slot->seq = 0;
		break;
	}
	slot->state = SLOT_FREE;
	slot->generation++;
}

/* The process ends and another one takes the memory over. */
static void
restart(struct model *model)
{
	bool is_damaged = next_random(model) % 4 == 0;
	struct ledger_restored restored, expected = { .bad = is_damaged };
	uint32_t i;

	if (is_damaged)
		damage(model, next_random(model) % SLOTS);
	ledger_free(model->ledger);
	model->seq = 0;
	for (i = 0; i < SLOTS; i++) {
		struct model_slot *slot = &model->slots[i];

		expected.posted += slot->state == SLOT_POSTED;
		expected.leased += slot->state == SLOT_LEASED;
		if (slot->state == SLOT_POSTED)
			slot->state = SLOT_FREE;
		if (slot->state == SLOT_LEASED)
			slot->state = SLOT_READY;
		expected.messages += slot->state == SLOT_READY;
		if (slot->seq > model->seq)
			model->seq = slot->seq;
	}
	demand(ledger_restore(model->memory, ledger_memory_size(SLOTS), SLOTS,
		   SLOT_SIZE, &model->ledger, &restored, NULL) == 0,
	    "restore");
	demand(restored.bad == expected.bad, "bad records");
	demand(restored.messages == expected.messages, "messages");
	demand(restored.leased == expected.leased, "were leased");
	demand(restored.posted == expected.posted, "were posted");
	memset(model->owners, 0, sizeof(model->owners));
}

static void (*const steps[])(struct model *model, uint32_t index) = {
	step_post,
	step_post,
	step_post,
	step_post,
	step_post,
	step_arrive,
	step_arrive,
	step_arrive,
	step_arrive,
	step_arrive,
	step_lease,
	step_lease,
	step_lease,
	step_ack,
	step_ack,
	step_nack,
	step_undeliver,
	step_unpost,
	step_flush,
	step_owner_gone,
	step_expire,
	step_damage,
};
#define STEP_KINDS (sizeof(steps) / sizeof(steps[0]))

START_TEST(test_model)
{
	const char *wanted = getenv("LEDGER_STEPS"), *seed = getenv("LEDGER_SEED");
	uint64_t count = wanted ? strtoull(wanted, NULL, 10) : STEPS;
	size_t bytes = ledger_memory_size(SLOTS);
	struct model model;

	memset(&model, 0, sizeof(model));
	model.random = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
	printf("# LEDGER_SEED=%llu LEDGER_STEPS=%llu\n",
	    (unsigned long long)model.random, (unsigned long long)count);
	(void)fflush(stdout);
	model.memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(model.memory, MAP_FAILED);
	ck_assert_int_eq(ledger_new(model.memory, SLOTS, SLOT_SIZE, INSTANCE,
			     &model.ledger),
	    0);
	for (model.now = 1; model.now <= count; model.now++) {
		uint32_t index = next_random(&model) % SLOTS;

		if (next_random(&model) % 100 == 0)
			restart(&model);
		steps[next_random(&model) % STEP_KINDS](&model, index);
		compare(&model);
	}
	ledger_free(model.ledger);
	(void)munmap(model.memory, bytes);
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
