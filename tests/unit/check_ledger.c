/* SPDX-License-Identifier: BSD-3-Clause */
/* The ledger: states, order, leases and tokens. */
#include <config.h>

#include "daemon/ledger.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "daemon/ledger_impl.h"
#include "daemon/slot_heap.h"
#include "tests/unit/harness.h"

#define SLOTS    16u
#define INSTANCE 0x0123456789abcdefu

static struct ledger *
make(uint32_t slots)
{
	size_t bytes = ledger_memory_size(slots);
	struct ledger *ledger = NULL;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	ck_assert_int_eq(ledger_new(memory, slots, 4096, INSTANCE, &ledger), 0);
	return ledger;
}

/* Post any slot and let a message of one connection arrive in it. */
static uint32_t
arrive(struct ledger *ledger, uint64_t conn)
{
	struct ledger_arrival arrival = {
		.conn = conn, .len = 5, .peer = { .family = AF_INET }
	};
	uint32_t slot;

	ck_assert(ledger_post_any(ledger, &slot));
	ck_assert(ledger_arrive(ledger, slot, &arrival));
	return slot;
}

static void
expect_counts(struct ledger *ledger, uint32_t free, uint32_t posted, uint32_t ready,
    uint32_t leased)
{
	struct ledger_counts counts;

	ledger_counts(ledger, &counts);
	ck_assert_uint_eq(counts.free, free);
	ck_assert_uint_eq(counts.posted, posted);
	ck_assert_uint_eq(counts.ready, ready);
	ck_assert_uint_eq(counts.leased, leased);
	ck_assert(ledger_check(ledger));
}

START_TEST(test_states)
{
	struct ledger *ledger = make(SLOTS);
	struct ledger_message message;
	uint64_t conn = 0;
	uint32_t slot;

	expect_counts(ledger, SLOTS, 0, 0, 0);
	ck_assert(!ledger_lease(ledger, NULL, 1, &message));
	slot = arrive(ledger, 7);
	expect_counts(ledger, SLOTS - 1, 0, 1, 0);
	ck_assert(ledger_lease(ledger, NULL, 100, &message));
	ck_assert_uint_eq(message.slot, slot);
	ck_assert_uint_eq(message.seq, 1);
	ck_assert_uint_eq(message.deliveries, 1);
	ck_assert_uint_eq(message.arrival.conn, 7);
	ck_assert_ptr_null(message.context);
	expect_counts(ledger, SLOTS - 1, 0, 0, 1);
	ck_assert_int_eq(ledger_ack(ledger, slot, message.generation, &conn),
	    LEDGER_DONE);
	ck_assert_uint_eq(conn, 7);
	expect_counts(ledger, SLOTS, 0, 0, 0);
	ledger_free(ledger);
}
END_TEST

START_TEST(test_refusals_change_nothing)
{
	struct ledger *ledger = make(2);
	struct ledger_arrival arrival = { .len = 1 };
	uint32_t slot;

	ck_assert(!ledger_arrive(ledger, 0, &arrival));
	ck_assert(!ledger_arrive(ledger, 99, &arrival));
	ck_assert(!ledger_unpost(ledger, 0));
	ck_assert(!ledger_unpost(ledger, UINT32_MAX));
	ck_assert_int_eq(ledger_post_slot(ledger, 1, NULL, 0), 0);
	ck_assert_int_eq(ledger_post_slot(ledger, 1, NULL, 0), -EBUSY);
	ck_assert(ledger_post_any(ledger, &slot));
	ck_assert_uint_eq(slot, 0);
	ck_assert(!ledger_post_any(ledger, &slot));
	expect_counts(ledger, 0, 2, 0, 0);
	ck_assert(ledger_unpost(ledger, 1) && !ledger_unpost(ledger, 1));
	expect_counts(ledger, 1, 1, 0, 0);
	ledger_free(ledger);
}
END_TEST

START_TEST(test_context)
{
	struct ledger *ledger = make(4);
	struct ledger_arrival arrival = { .len = 3 };
	struct ledger_message message;
	char label[LEDGER_CONTEXT_MAX + 1];

	memset(label, 'x', sizeof(label));
	ck_assert_int_eq(ledger_post_slot(ledger, 2, label, sizeof(label)), -EINVAL);
	ck_assert_int_eq(ledger_post_slot(ledger, 2, label, LEDGER_CONTEXT_MAX), 0);
	ck_assert_int_eq(ledger_post_slot(ledger, 3, "", 0), 0);
	ck_assert(ledger_arrive(ledger, 2, &arrival));
	ck_assert(ledger_arrive(ledger, 3, &arrival));
	ck_assert(ledger_lease(ledger, NULL, 1, &message));
	ck_assert_uint_eq(message.context_len, LEDGER_CONTEXT_MAX);
	ck_assert_mem_eq(message.context, label, LEDGER_CONTEXT_MAX);
	ck_assert(ledger_lease(ledger, NULL, 1, &message));
	ck_assert_ptr_nonnull(message.context);
	ck_assert_uint_eq(message.context_len, 0);
	/* The label is of that use of the slot alone. */
	ck_assert_int_eq(ledger_ack(ledger, 2, 1, NULL), LEDGER_DONE);
	ck_assert_int_eq(ledger_post_slot(ledger, 2, NULL, 0), 0);
	ck_assert(ledger_arrive(ledger, 2, &arrival));
	ck_assert(ledger_lease(ledger, NULL, 1, &message));
	ck_assert_ptr_null(message.context);
	ledger_free(ledger);
}
END_TEST

START_TEST(test_order_and_redelivery)
{
	struct ledger *ledger = make(SLOTS);
	struct ledger_message m[3], again;
	unsigned int i;

	for (i = 0; i < 4; i++)
		(void)arrive(ledger, i);
	for (i = 0; i < 3; i++) {
		ck_assert(ledger_lease(ledger, NULL, 10, &m[i]));
		ck_assert_uint_eq(m[i].seq, i + 1);
	}
	/* Given back in any order, they come again by age and before younger ones. */
	ck_assert_int_eq(ledger_nack(ledger, m[2].slot, m[2].generation), LEDGER_DONE);
	ck_assert_int_eq(ledger_nack(ledger, m[0].slot, m[0].generation), LEDGER_DONE);
	ck_assert_int_eq(ledger_nack(ledger, m[0].slot, m[0].generation),
	    LEDGER_ALREADY);
	ck_assert(ledger_lease(ledger, NULL, 10, &again));
	ck_assert_uint_eq(again.seq, 1);
	ck_assert_uint_eq(again.deliveries, 2);
	ck_assert(ledger_lease(ledger, NULL, 10, &again));
	ck_assert_uint_eq(again.seq, 3);
	ck_assert(ledger_lease(ledger, NULL, 10, &again));
	ck_assert_uint_eq(again.seq, 4);
	ck_assert_uint_eq(again.deliveries, 1);
	ledger_free(ledger);
}
END_TEST

START_TEST(test_owner_and_time)
{
	struct ledger *ledger = make(SLOTS);
	struct ledger_owner owner = { 0 };
	struct ledger_message mine, timed, other;
	uint64_t deadline = 0;

	(void)arrive(ledger, 1);
	(void)arrive(ledger, 1);
	(void)arrive(ledger, 1);
	ck_assert(ledger_lease(ledger, &owner, 0, &mine));
	ck_assert(ledger_lease(ledger, NULL, 500, &timed));
	ck_assert(ledger_lease(ledger, NULL, 300, &other));
	ck_assert_uint_eq(owner.count, 1);
	ck_assert(ledger_next_deadline(ledger, &deadline));
	ck_assert_uint_eq(deadline, 300);
	ck_assert_uint_eq(ledger_expire(ledger, 299), 0);
	ck_assert_uint_eq(ledger_expire(ledger, 300), 1);
	ck_assert_uint_eq(ledger_expire(ledger, 1000000), 1);
	ck_assert(!ledger_next_deadline(ledger, &deadline));
	expect_counts(ledger, SLOTS - 3, 0, 2, 1);
	ck_assert_uint_eq(ledger_owner_gone(ledger, &owner), 1);
	ck_assert_uint_eq(owner.count, 0);
	ck_assert_uint_eq(ledger_owner_gone(ledger, &owner), 0);
	expect_counts(ledger, SLOTS - 3, 0, 3, 0);
	/* A late acknowledgement of one that went back consumes it. */
	ck_assert_int_eq(ledger_ack(ledger, timed.slot, timed.generation, NULL),
	    LEDGER_DONE);
	ck_assert_int_eq(ledger_ack(ledger, timed.slot, timed.generation, NULL),
	    LEDGER_ALREADY);
	expect_counts(ledger, SLOTS - 2, 0, 2, 0);
	ledger_free(ledger);
}
END_TEST

/* A lost reply gives back its own delivery, never somebody else's. */
START_TEST(test_undeliver)
{
	struct ledger *ledger = make(2);
	struct ledger_message first, second;

	(void)arrive(ledger, 1);
	ck_assert(ledger_lease(ledger, NULL, 10, &first));
	ck_assert_uint_eq(ledger_expire(ledger, 10), 1);
	ck_assert(ledger_lease(ledger, NULL, 1000, &second));
	ck_assert(!ledger_undeliver(ledger, first.slot, first.generation,
	    first.deliveries));
	expect_counts(ledger, 1, 0, 0, 1);
	ck_assert(ledger_undeliver(ledger, second.slot, second.generation,
	    second.deliveries));
	expect_counts(ledger, 1, 0, 1, 0);
	ledger_free(ledger);
}
END_TEST

/* A record that is in another state than was counted, or in none. */
START_TEST(test_imbalance)
{
	static const uint8_t states[] = { SLOT_FREE, SLOT_POSTED, SLOT_READY,
		SLOT_LEASED, SLOT_LEASED + 1, UINT8_MAX };
	struct ledger *ledger = make(SLOTS);
	struct ledger_message message;
	struct ledger_counts records;
	uint32_t slot;
	size_t i;

	(void)arrive(ledger, 1);
	(void)arrive(ledger, 1);
	ck_assert(ledger_lease(ledger, NULL, 1000, &message));
	ck_assert(ledger_post_any(ledger, &slot));
	for (slot = 0; slot < SLOTS; slot++) {
		uint64_t word = ledger_word(ledger, slot);

		for (i = 0; i < sizeof(states); i++) {
			ledger->records[slot].word = (word & ~0xffull) | states[i];
			ck_assert(ledger_check(ledger) ==
			    (states[i] == ledger_word_state(word)));
			ledger_recount(ledger, &records);
			ck_assert_uint_eq(records.total,
			    states[i] <= SLOT_LEASED ? SLOTS : SLOTS - 1);
		}
		ledger->records[slot].word = word;
	}
	expect_counts(ledger, SLOTS - 3, 1, 1, 1);
	/* A ready message that nobody would find. */
	ck_assert(ledger_ready_min(ledger, &slot));
	ledger_ready_remove(ledger, slot);
	ck_assert(!ledger_check(ledger));
	ledger_free(ledger);
}
END_TEST

/* Records that were damaged lead out of no list, whatever is done with their slots then. */
START_TEST(test_damaged_free)
{
	struct ledger *ledger = make(SLOTS);
	struct ledger_counts counts;
	uint32_t slot;

	/* Free, and said to be posted: there is no room for any of them among the free. */
	for (slot = 0; slot < SLOTS; slot++) {
		ledger_set_word(ledger, slot, SLOT_POSTED, 1, 0);
		ck_assert(ledger_unpost(ledger, slot));
	}
	ledger_counts(ledger, &counts);
	ck_assert_uint_eq(counts.free, SLOTS);
	ck_assert(!ledger_check(ledger));
	ledger_free(ledger);
	/* Posted, and said to be free. */
	ledger = make(SLOTS);
	while (ledger_post_any(ledger, &slot))
		;
	for (slot = 0; slot < SLOTS; slot++) {
		ledger_set_word(ledger, slot, SLOT_FREE, 1, 0);
		ck_assert_int_eq(ledger_post_slot(ledger, slot, NULL, 0), -EBUSY);
	}
	ck_assert(!ledger_post_any(ledger, &slot));
	ck_assert(!ledger_check(ledger));
	ledger_free(ledger);
}
END_TEST

START_TEST(test_old_tokens)
{
	struct ledger *ledger = make(1);
	struct ledger_message first, second;

	(void)arrive(ledger, 1);
	ck_assert(ledger_lease(ledger, NULL, 1, &first));
	ck_assert_int_eq(ledger_ack(ledger, first.slot, first.generation + 1, NULL),
	    LEDGER_UNKNOWN);
	ck_assert_int_eq(ledger_ack(ledger, first.slot, UINT32_MAX, NULL),
	    LEDGER_UNKNOWN);
	ck_assert_int_eq(ledger_ack(ledger, 1, 1, NULL), LEDGER_UNKNOWN);
	ck_assert_int_eq(ledger_ack(ledger, 0, 0, NULL), LEDGER_UNKNOWN);
	ck_assert_int_eq(ledger_ack(ledger, first.slot, first.generation, NULL),
	    LEDGER_DONE);
	(void)arrive(ledger, 1);
	ck_assert(ledger_lease(ledger, NULL, 1, &second));
	ck_assert_uint_eq(first.slot, second.slot);
	/* The old token is never taken for the new message. */
	ck_assert_int_eq(ledger_ack(ledger, first.slot, first.generation, NULL),
	    LEDGER_ALREADY);
	ck_assert_int_eq(ledger_nack(ledger, first.slot, first.generation),
	    LEDGER_ALREADY);
	expect_counts(ledger, 0, 0, 0, 1);
	ledger_free(ledger);
}
END_TEST

START_TEST(test_token_text)
{
	static const char *const bad[] = { "", "0123456789abcdef", "0123456789abcdef.",
		"0123456789abcdef.3", "0123456789abcdef.3.", "0123456789abcdef..4",
		"0123456789abcdef.3.4.5", "0123456789abcdef.03.4",
		"0123456789abcdef.-3.4", "0123456789abcdef.3.4 ",
		"0123456789abcdee.3.4", "0123456789ABCDEF.3.4",
		"0123456789abcdef.3.4294967296",
		"0123456789abcdef.99999999999999999.1" };
	struct ledger *ledger = make(SLOTS);
	char token[LEDGER_TOKEN_MAX];
	uint32_t slot = 0, generation = 0;
	size_t i;

	ledger_token_format(ledger, 65535, 4294967295u, token);
	ck_assert_str_eq(token, "0123456789abcdef.65535.4294967295");
	ck_assert(ledger_token_parse(ledger, token, &slot, &generation));
	ck_assert_uint_eq(slot, 65535);
	ck_assert_uint_eq(generation, 4294967295u);
	for (i = 0; i < ARRAY_LEN(bad); i++)
		ck_assert_msg(!ledger_token_parse(ledger, bad[i], &slot, &generation),
		    "\"%s\" was taken", bad[i]);
	ledger_free(ledger);
}
END_TEST

START_TEST(test_heap_order)
{
	static const uint64_t keys[] = { 5, 1, 9, 3, 7, 2, 8, 4, 6, 0 };
	struct slot_heap_item item;
	struct slot_heap heap;
	uint64_t last = 0;
	uint32_t i;

	ck_assert_int_eq(slot_heap_init(&heap, 10), 0);
	ck_assert(!slot_heap_min(&heap, &item));
	for (i = 0; i < 10; i++)
		slot_heap_push(&heap, i, keys[i]);
	slot_heap_remove(&heap, 2);
	slot_heap_remove(&heap, 2);
	for (i = 0; i < 9; i++) {
		ck_assert(slot_heap_min(&heap, &item));
		ck_assert_uint_eq(item.key, keys[item.slot]);
		ck_assert_uint_ge(item.key, last);
		ck_assert_uint_ne(item.slot, 2);
		last = item.key;
		slot_heap_remove(&heap, item.slot);
	}
	ck_assert_uint_eq(heap.count, 0);
	slot_heap_fini(&heap);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ledger");
	TCase *tc = tcase_create("ledger");

	tcase_add_test(tc, test_states);
	tcase_add_test(tc, test_refusals_change_nothing);
	tcase_add_test(tc, test_context);
	tcase_add_test(tc, test_order_and_redelivery);
	tcase_add_test(tc, test_owner_and_time);
	tcase_add_test(tc, test_undeliver);
	tcase_add_test(tc, test_imbalance);
	tcase_add_test(tc, test_damaged_free);
	tcase_add_test(tc, test_old_tokens);
	tcase_add_test(tc, test_token_text);
	tcase_add_test(tc, test_heap_order);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
