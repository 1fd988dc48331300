/* SPDX-License-Identifier: BSD-3-Clause */
/* A ledger restored from its memory: what is kept, what is refused, and what damage costs. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "daemon/ledger_impl.h"
#include "tests/unit/harness.h"

#define SLOTS     8u
#define SLOT_SIZE 4096u
#define INSTANCE  0x0123456789abcdefu

static unsigned char *memory;
static size_t bytes;
static struct ledger *ledger;
static struct ledger_restored restored;
static struct err err;

static void
setup(void)
{
	bytes = ledger_memory_size(SLOTS);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	    -1, 0);
	ck_assert_ptr_ne(memory, MAP_FAILED);
	ck_assert_int_eq(ledger_new(memory, SLOTS, SLOT_SIZE, INSTANCE, &ledger), 0);
}

static void
teardown(void)
{
	ledger_free(ledger);
	(void)munmap(memory, bytes);
}

static int
restore(void)
{
	ledger_free(ledger);
	ledger = NULL;
	return ledger_restore(memory, bytes, SLOTS, SLOT_SIZE, &ledger, &restored,
	    &err);
}

static void
arrive(uint32_t slot, const char *context)
{
	struct ledger_arrival arrival = { .conn = slot + 100,
		.len = slot,
		.imm = 7,
		.has_imm = true,
		.received_ns = 1234567890u,
		.peer = { .family = AF_INET } };

	ck_assert_int_eq(ledger_post_slot(ledger, slot, context,
			     context ? strlen(context) : 0),
	    0);
	ck_assert(ledger_arrive(ledger, slot, &arrival));
}

static void
expect(uint32_t ready, uint32_t free)
{
	struct ledger_counts counts;

	ledger_counts(ledger, &counts);
	ck_assert_uint_eq(counts.ready, ready);
	ck_assert_uint_eq(counts.free, free);
	ck_assert_uint_eq(counts.posted + counts.leased, 0);
	ck_assert(ledger_check(ledger));
}

/* Ready and leased messages are ready, in order, with all that is known of them. */
START_TEST(test_messages_are_kept)
{
	struct ledger_owner owner = { 0 };
	struct ledger_message first, second, third, again;

	arrive(5, "label");
	arrive(2, NULL);
	arrive(3, NULL);
	arrive(4, NULL);
	ck_assert_int_eq(ledger_post_slot(ledger, 0, NULL, 0), 0);
	ck_assert(ledger_lease(ledger, &owner, 0, &first));
	ck_assert(ledger_lease(ledger, NULL, 1000, &second));
	ck_assert(ledger_lease(ledger, NULL, 1000, &third));
	ck_assert_int_eq(ledger_ack(ledger, third.slot, third.generation, NULL),
	    LEDGER_DONE);
	ck_assert_int_eq(restore(), 0);
	expect(3, SLOTS - 3);
	ck_assert_uint_eq(restored.messages, 3);
	ck_assert_uint_eq(restored.leased, 2);
	ck_assert_uint_eq(restored.posted, 1);
	ck_assert_uint_eq(restored.bad, 0);
	ck_assert_uint_eq(ledger_instance(ledger), INSTANCE);
	ck_assert(ledger_lease(ledger, NULL, 1, &again));
	ck_assert_uint_eq(again.slot, 5);
	ck_assert_uint_eq(again.seq, 1);
	ck_assert_uint_eq(again.deliveries, 2);
	ck_assert_uint_eq(again.arrival.conn, 105);
	ck_assert_uint_eq(again.arrival.len, 5);
	ck_assert_uint_eq(again.arrival.imm, 7);
	ck_assert(again.arrival.has_imm);
	ck_assert_uint_eq(again.arrival.received_ns, 1234567890u);
	ck_assert_int_eq(again.arrival.peer.family, AF_INET);
	ck_assert_uint_eq(again.context_len, 5);
	ck_assert_int_eq(memcmp(again.context, "label", 5), 0);
	/* Tokens of before are good, and remember. */
	ck_assert_int_eq(ledger_ack(ledger, second.slot, second.generation, NULL),
	    LEDGER_DONE);
	ck_assert_int_eq(ledger_ack(ledger, third.slot, third.generation, NULL),
	    LEDGER_ALREADY);
	/* Numbers go on. */
	arrive(0, NULL);
	ck_assert(ledger_lease(ledger, NULL, 1, &again));
	ck_assert_uint_eq(again.seq, 4);
	ck_assert(ledger_lease(ledger, NULL, 1, &again));
	ck_assert_uint_eq(again.seq, 5);
}
END_TEST

/* The number of a message that is gone does not come again. */
START_TEST(test_numbers_never_repeat)
{
	struct ledger_message message;

	arrive(1, NULL);
	ck_assert(ledger_lease(ledger, NULL, 1, &message));
	ck_assert_int_eq(ledger_ack(ledger, 1, message.generation, NULL), LEDGER_DONE);
	ck_assert_int_eq(restore(), 0);
	expect(0, SLOTS);
	arrive(2, NULL);
	ck_assert(ledger_peek(ledger, &message));
	ck_assert_uint_eq(message.seq, 2);
}
END_TEST

static void
expect_refused(enum err_code code, int errnum)
{
	unsigned char before[256 + SLOTS * 256];

	memcpy(before, memory, sizeof(before));
	ck_assert_int_lt(restore(), 0);
	ck_assert_int_eq(err.code, code);
	ck_assert_int_eq(err.errnum, errnum);
	ck_assert_ptr_null(ledger);
	ck_assert_int_eq(memcmp(before, memory, sizeof(before)), 0);
}

/* Whatever byte of the header is damaged, it is refused and left alone. */
START_TEST(test_damaged_header)
{
	size_t i;

	arrive(1, NULL);
	for (i = 0; i < offsetof(struct header, checksum) + 8; i++) {
		memory[i] ^= 0x10;
		if (i >= 8 && i < 16)
			expect_refused(ERR_UNSUPPORTED, EPROTONOSUPPORT);
		else
			expect_refused(ERR_INTERNAL_ERROR, EBADMSG);
		memory[i] ^= 0x10;
	}
	ck_assert_int_eq(restore(), 0);
	expect(1, SLOTS - 1);
}
END_TEST

START_TEST(test_other_geometry)
{
	ledger_free(ledger);
	ledger = NULL;
	ck_assert_int_lt(ledger_restore(memory, bytes, SLOTS / 2, SLOT_SIZE, &ledger,
			     &restored, &err),
	    0);
	ck_assert_int_eq(err.errnum, EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "8 slots of 4096 bytes"));
	ck_assert_int_lt(ledger_restore(memory, bytes, SLOTS, SLOT_SIZE * 2, &ledger,
			     &restored, &err),
	    0);
	ck_assert_int_eq(err.errnum, EINVAL);
	ck_assert_int_lt(ledger_restore(memory, 256, SLOTS, SLOT_SIZE, &ledger,
			     &restored, &err),
	    0);
	ck_assert_int_eq(err.errnum, EBADMSG);
	ck_assert_int_lt(ledger_restore(memory, 8, SLOTS, SLOT_SIZE, &ledger, &restored,
			     &err),
	    0);
	ck_assert_int_eq(err.errnum, EBADMSG);
}
END_TEST

static void
bad_state(struct record *record)
{
	atomic_store(&record->word, (uint64_t)1 << 32 | 4);
}

static void
no_generation(struct record *record)
{
	atomic_store(&record->word, (uint64_t)SLOT_READY);
}

static void
no_number(struct record *record)
{
	record->seq = 0;
}

static void
huge_number(struct record *record)
{
	record->seq = UINT64_MAX - 1;
}

static void
huge_conn(struct record *record)
{
	record->conn = UINT64_MAX;
}

static void
too_long(struct record *record)
{
	record->len = SLOT_SIZE + 1;
}

static void
unknown_flag(struct record *record)
{
	record->flags |= 8;
}

static void
long_label(struct record *record)
{
	record->context_len = LEDGER_CONTEXT_MAX + 1;
}

static void
foreign_label(struct record *record)
{
	record->flags |= FLAG_CONTEXT;
	record->context_len = 2;
	memcpy(record->context, "\xc3\x28", 2);
}

static void
odd_peer(struct record *record)
{
	record->peer[0] = 0xff;
}

static void (*const damages[])(struct record *record) = { bad_state, no_generation,
	no_number, huge_number, huge_conn, too_long, unknown_flag, long_label,
	foreign_label, odd_peer };

/* A bad record costs its slot alone, and its token names nothing that comes later. */
START_TEST(test_bad_record)
{
	struct ledger_message bad, message;

	arrive(1, NULL);
	arrive(2, NULL);
	arrive(3, NULL);
	ck_assert(ledger_lease(ledger, NULL, 1, &message));
	ck_assert(ledger_lease(ledger, NULL, 1, &bad));
	ck_assert_uint_eq(bad.slot, 2);
	damages[_i](&ledger->records[2]);
	ck_assert_int_eq(restore(), 0);
	expect(2, SLOTS - 2);
	ck_assert_uint_eq(restored.bad, 1);
	ck_assert_uint_eq(restored.messages, 2);
	arrive(2, NULL);
	ck_assert_int_ne(ledger_ack(ledger, 2, bad.generation, NULL), LEDGER_DONE);
	ck_assert(ledger_lease(ledger, NULL, 1, &message));
	ck_assert_uint_eq(message.slot, 1);
	ck_assert(ledger_lease(ledger, NULL, 1, &message));
	ck_assert_uint_eq(message.slot, 3);
	ck_assert(ledger_lease(ledger, NULL, 1, &message));
	ck_assert_uint_eq(message.slot, 2);
	ck_assert_uint_eq(message.seq, 4);
}
END_TEST

/* Whatever is behind a good header, all slots are there and serve. */
START_TEST(test_random_records)
{
	uint64_t random = 88172645463325252u + (uint64_t)_i;
	struct ledger_message message;
	struct ledger_counts counts;
	uint32_t round, slot;
	size_t i;

	for (round = 0; round < 500; round++) {
		for (i = 256; i < 256 + SLOTS * 256; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			/* Mostly small numbers, so that some pass as true. */
			memory[i] = random % 8 ? random % 4 : (unsigned char)random;
		}
		ck_assert_int_eq(restore(), 0);
		ck_assert(ledger_check(ledger));
		ledger_counts(ledger, &counts);
		ck_assert_uint_eq(counts.free + counts.ready, SLOTS);
		while (ledger_lease(ledger, NULL, 1, &message)) {
			ck_assert_uint_le(message.arrival.len, SLOT_SIZE);
			ck_assert_uint_le(message.context_len, LEDGER_CONTEXT_MAX);
			ck_assert_int_eq(ledger_ack(ledger, message.slot,
					     message.generation, NULL),
			    LEDGER_DONE);
		}
		for (i = 0; i < SLOTS; i++)
			ck_assert(ledger_post_any(ledger, &slot));
		ck_assert(ledger_check(ledger));
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ledger_restore");
	TCase *tc = tcase_create("ledger_restore");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_messages_are_kept);
	tcase_add_test(tc, test_numbers_never_repeat);
	tcase_add_test(tc, test_damaged_header);
	tcase_add_test(tc, test_other_geometry);
	tcase_add_loop_test(tc, test_bad_record, 0,
	    sizeof(damages) / sizeof(damages[0]));
	tcase_add_loop_test(tc, test_random_records, 0, 4);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
