/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine with messages that were kept in other slots than are configured. */
#include <config.h>

#include <string.h>

#include "daemon/store.h"
#include "tests/unit/harness.h"
#include "tests/unit/restore_rig.h"

#ifdef HAVE_LIBSYSTEMD
START_TEST(test_more_slots)
{
	struct ledger_message old, message;
	char token[LEDGER_TOKEN_MAX];

	restore_begin();
	restore_receive(4);
	message = rig_expect(&rig, "0");
	rig_ack(&rig, &message);
	old = rig_expect(&rig, "11");
	ledger_token_format(engine_ledger(rig.engine), old.slot, old.generation, token);
	restore_end();
	rig.settings.pool_slots = 48;
	rig.settings.pool_slot_size = 128;
	restore_begin();
	restore_logged("was of 32 slots of 64 bytes and is made anew with 48 of 128");
	restore_logged("messages=3 were moved");
	ck_assert_uint_eq(rig_counts(&rig).total, 48);
	ck_assert_uint_eq(rig_stats(&rig).restored, 3);
	ck_assert_uint_eq(store_count_aside(rig.store), 0);
	/* A token of before names nothing here. */
	ck_assert_int_eq(engine_ack(rig.engine, NULL, token), LEDGER_UNKNOWN);
	message = rig_expect(&rig, "11");
	ck_assert_uint_eq(message.deliveries, 2);
	ck_assert_uint_eq(message.seq, 2);
	ck_assert_uint_eq(message.arrival.conn, old.arrival.conn);
	rig_ack(&rig, &message);
	message = rig_expect(&rig, "222");
	rig_ack(&rig, &message);
	message = rig_expect(&rig, "3333");
	rig_ack(&rig, &message);
	restore_end();
	ck_assert_uint_eq(manager.count, 2);
	/* Numbers go on behind those of the first pool, which nothing else remembers. */
	restore_begin();
	restore_receive(1);
	ck_assert_uint_eq(rig_expect(&rig, "0").seq, 5);
	restore_end();
}
END_TEST

/* Nor does a number come again whose message was acknowledged before the others moved. */
START_TEST(test_numbers_go_on)
{
	struct ledger_message messages[4], message;
	unsigned int i;

	restore_begin();
	restore_receive(3);
	/* The last one is of a connection that no other message is of. */
	ck_assert_int_eq(rig_send(rig_peer(&rig), "last"), 0);
	rig_settle(&rig);
	for (i = 0; i < 4; i++)
		ck_assert(engine_lease(rig.engine, NULL, 1000, &messages[i]));
	rig_ack(&rig, &messages[3]);
	restore_end();
	rig.settings.pool_slots = 48;
	restore_begin();
	restore_logged("messages=3 were moved");
	for (i = 0; i < 3; i++) {
		ck_assert(engine_lease(rig.engine, NULL, 1000, &message));
		rig_ack(&rig, &message);
	}
	restore_end();
	restore_begin();
	restore_receive(1);
	message = rig_expect(&rig, "0");
	ck_assert_uint_eq(message.seq, messages[3].seq + 1);
	ck_assert_uint_gt(message.arrival.conn, messages[3].arrival.conn);
	restore_end();
}
END_TEST

/* What does not fit waits, under another name, until it does. */
START_TEST(test_fewer_slots)
{
	struct ledger_message message;
	unsigned int i;

	restore_begin();
	restore_receive(6);
	restore_end();
	rig.settings.pool_slots = 4;
	rig.settings.pool_slot_size = 4;
	rig.settings.receive_target = 2;
	rig.settings.receive_low_watermark = 1;
	restore_begin();
	restore_logged("messages=4 were moved");
	restore_logged("messages=2 of an earlier pool do not fit");
	restore_warns("messages in it do not fit the configured pool");
	for (i = 1; i <= 4; i++) {
		ck_assert(engine_lease(rig.engine, NULL, 1000, &message));
		ck_assert_uint_eq(message.seq, i);
		ck_assert_uint_eq(message.arrival.len, i);
	}
	rig_ack(&rig, &message);
	restore_end();
	ck_assert_uint_eq(manager_count(&manager, "rpmad-unfit-"), 2);
	/* There is room now, but they are too long. */
	restore_begin();
	ck_assert_uint_eq(rig_stats(&rig).restored, 3);
	restore_end();
	ck_assert_uint_eq(manager_count(&manager, "rpmad-unfit-"), 2);
	rig_settings(&rig);
	restore_begin();
	ck_assert_uint_eq(rig_stats(&rig).restored, 5);
	ck_assert_uint_eq(store_count_aside(rig.store), 0);
	for (i = 1; i <= 6; i++) {
		if (i == 4)
			continue;
		ck_assert(engine_lease(rig.engine, NULL, 1000, &message));
		ck_assert_uint_eq(message.seq, i);
		ck_assert_uint_eq(message.arrival.len, i);
		ck_assert_int_eq(*(const char *)engine_slot_data(rig.engine,
				     message.slot),
		    '0' + (int)i - 1);
	}
	ck_assert(!engine_lease(rig.engine, NULL, 1000, &message));
	restore_end();
	ck_assert_uint_eq(manager.count, 2);
}
END_TEST

#endif

int
main(void)
{
	Suite *suite = suite_create("engine_resize");
	TCase *tc = tcase_create("engine_resize");

	/* Without libsystemd nothing is kept. */
#ifdef HAVE_LIBSYSTEMD
	tcase_add_checked_fixture(tc, restore_setup, restore_teardown);
	tcase_add_test(tc, test_more_slots);
	tcase_add_test(tc, test_numbers_go_on);
	tcase_add_test(tc, test_fewer_slots);
#endif
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
