/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a message costs on its way from the device to a consumer that reads in place: no
 * allocation, and no copy of its payload. Allocations and copies are counted at link time.
 */
#include <config.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/fake/fake_alloc.h"
#include "tests/fake/fake_peer.h"
#include "tests/unit/engine_rig.h"
#include "tests/unit/harness.h"

#define SLOTS     32u
#define SLOT_SIZE 4096u
#define ROUNDS    50u

/* With its address sanitizer clang calls functions of its own to copy, which are not seen. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COPIES_SEEN 0
#endif
#endif
#ifndef COPIES_SEEN
#define COPIES_SEEN 1
#endif

static struct rig rig;

/* Where the pool is, and what was copied out of it. */
static struct {
	const char *base;
	size_t bytes;
	uint64_t copies;
} pool;

void *__real_memcpy(void *to, const void *from, size_t len);
void *__wrap_memcpy(void *to, const void *from, size_t len);
void *__real_memmove(void *to, const void *from, size_t len);
void *__wrap_memmove(void *to, const void *from, size_t len);

static void
watch(const void *from)
{
	const char *at = from;

	if (pool.base && at >= pool.base && at < pool.base + pool.bytes)
		pool.copies++;
}

void *
__wrap_memcpy(void *to, const void *from, size_t len)
{
	watch(from);
	return __real_memcpy(to, from, len);
}

void *
__wrap_memmove(void *to, const void *from, size_t len)
{
	watch(from);
	return __real_memmove(to, from, len);
}

/* The same with _FORTIFY_SOURCE. */
void *__real___memcpy_chk(void *to, const void *from, size_t len, size_t to_size);
void *__wrap___memcpy_chk(void *to, const void *from, size_t len, size_t to_size);

void *
__wrap___memcpy_chk(void *to, const void *from, size_t len, size_t to_size)
{
	watch(from);
	return __real___memcpy_chk(to, from, len, to_size);
}

/* A round of messages, each looked at where it lies, and acknowledged. */
static unsigned int
take_round(struct ledger_owner *owner)
{
	struct ledger_message message;
	char token[LEDGER_TOKEN_MAX];
	unsigned int n = 0;

	while (engine_lease(rig.engine, owner, PARAM_UNSET, &message)) {
		const char *data = engine_slot_data(rig.engine, message.slot);

		if (message.arrival.len != SLOT_SIZE || data[0] != 'x' ||
		    data[SLOT_SIZE - 1] != 'x')
			return 0;
		ledger_token_format(engine_ledger(rig.engine), message.slot,
		    message.generation, token);
		if (engine_ack(rig.engine, NULL, token) != LEDGER_DONE)
			return 0;
		n++;
	}
	return n;
}

START_TEST(test_no_allocation_and_no_copy)
{
	static char payload[SLOT_SIZE], copy[SLOT_SIZE];
	volatile size_t len = SLOT_SIZE - 1;
	struct ledger_owner owner = { 0 };
	unsigned int round, i, taken = 0, allocations = 0, failures = 0;
	struct fake_peer *peer;

	rig_settings(&rig);
	rig.settings.pool_slots = SLOTS;
	rig.settings.pool_slot_size = SLOT_SIZE;
	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	memset(payload, 'x', sizeof(payload));
	pool.base = engine_slot_data(rig.engine, 0);
	pool.bytes = (size_t)SLOTS * SLOT_SIZE;
	/* The counting counts. */
	if (_i)
		memmove(copy, pool.base + 1, len);
	else
		memcpy(copy, pool.base, len);
	ck_assert_int_eq(copy[1], 0);
	ck_assert_uint_eq(pool.copies, COPIES_SEEN);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < 8; i++)
			ck_assert_int_ge(fake_peer_send(peer, payload, sizeof(payload),
					     FAKE_NO_IMM),
			    0);
		/* The first round may still set up what all later ones use. */
		if (round == 1)
			pool.copies = 0;
		fake_alloc_fail_nth(0);
		for (i = 0; i < 4; i++)
			failures += loop_turn(rig.loop, 0) < 0;
		taken += take_round(&owner);
		failures += loop_turn(rig.loop, 0) < 0;
		if (round > 0)
			allocations += fake_alloc_count();
	}
	ck_assert_uint_eq(failures, 0);
	ck_assert_uint_eq(taken, 8 * ROUNDS);
	ck_assert_uint_eq(allocations, 0);
	ck_assert_uint_eq(pool.copies, 0);
	pool.base = NULL;
	rig_end(&rig);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("engine_path");
	TCase *tc = tcase_create("engine_path");

	tcase_add_loop_test(tc, test_no_allocation_and_no_copy, 0, 2);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
