/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine from one process to the next: what is there again, and what is not. */
#include <config.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/ledger_impl.h"
#include "daemon/pool.h"
#include "daemon/store.h"
#include "lib/core/compiler.h"
#include "lib/core/log.h"
#include "tests/unit/harness.h"
#include "tests/unit/restore_rig.h"

#ifdef HAVE_LIBSYSTEMD
/* ---- an orderly end ---- */

START_TEST(test_restart)
{
	struct ledger_message first, second, message;

	restore_begin();
	ck_assert(rig_stats(&rig).is_kept);
	restore_receive(4);
	first = rig_expect(&rig, "0");
	second = rig_expect(&rig, "11");
	message = rig_expect(&rig, "222");
	rig_ack(&rig, &message);
	restore_end();
	restore_logged("notice pool: messages=3 were handed to the service manager");
	restore_begin();
	restore_logged("notice pool: messages=3 leased=2 are there again");
	ck_assert_ptr_null(strstr(logged, "warning"));
	ck_assert_uint_eq(rig_stats(&rig).restored, 3);
	ck_assert_uint_eq(rig_stats(&rig).maybe_lost, 0);
	/* A token of before is good. */
	rig_ack(&rig, &second);
	message = rig_expect(&rig, "0");
	ck_assert_uint_eq(message.deliveries, 2);
	ck_assert_uint_eq(message.seq, first.seq);
	ck_assert_uint_eq(message.arrival.conn, first.arrival.conn);
	rig_ack(&rig, &message);
	message = rig_expect(&rig, "3333");
	ck_assert_uint_eq(message.deliveries, 1);
	ck_assert_uint_eq(message.seq, 4);
	rig_ack(&rig, &message);
	restore_receive(1);
	ck_assert_uint_eq(rig_expect(&rig, "0").seq, 5);
	restore_end();
}
END_TEST

/* A connection of this life is not taken for one of an earlier life, nor that for it. */
START_TEST(test_conn_ids)
{
	struct ledger_message old, message;
	struct fake_peer *peer;

	restore_begin();
	restore_receive(2);
	old = rig_expect(&rig, "0");
	restore_end();
	restore_begin();
	peer = rig_peer(&rig);
	ck_assert_int_lt(engine_conn_info(rig.engine, old.arrival.conn,
			     &(struct conn_info){ 0 }, &rig.err),
	    0);
	ck_assert_int_eq(rig_send(peer, "new"), 0);
	rig_settle(&rig);
	message = rig_expect(&rig, "0");
	rig_ack(&rig, &message);
	message = rig_expect(&rig, "11");
	rig_ack(&rig, &message);
	message = rig_expect(&rig, "new");
	ck_assert_uint_gt(message.arrival.conn, old.arrival.conn);
	/* What was acknowledged was not this connection's. */
	ck_assert_uint_eq(rig_conn(&rig, message.arrival.conn).held, 1);
	rig_ack(&rig, &message);
	restore_end();
	/* Acknowledged messages' ids are not given again, either. */
	restore_begin();
	restore_receive(1);
	ck_assert_uint_gt(rig_expect(&rig, "0").arrival.conn, message.arrival.conn);
	restore_end();
}
END_TEST

/* With nobody to keep it, and when the service ends for good, the number is said. */
START_TEST(test_end)
{
	restore_begin();
	restore_receive(2);
	store_end(rig.store);
	restore_end();
	restore_logged(
	    "warning pool: messages=2 were not acknowledged and end with the "
	    "service");
	ck_assert_int_eq(unsetenv("NOTIFY_SOCKET"), 0);
	rig_settings(&rig);
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert(!rig_stats(&rig).is_kept);
	restore_receive(2);
	rig_end(&rig);
	restore_logged(
	    "warning pool: messages=2 were not acknowledged and end with the "
	    "daemon");
}
END_TEST

/* A start that fails says what it costs, and leaves it as it is. */
START_TEST(test_unused)
{
	struct notify_fds fds;

	restore_begin();
	restore_receive(2);
	(void)rig_expect(&rig, "0");
	restore_end();
	manager_hand_over(&manager, &fds);
	ck_assert_int_eq(store_new(&fds, &rig.store), 0);
	logged[0] = '\0';
	pool_tell_unused(rig.store);
	restore_logged(
	    "warning pool: messages=2 were kept for this start, which failed");
	store_free(rig.store);
	restore_begin();
	ck_assert_uint_eq(rig_stats(&rig).restored, 2);
	restore_logged("leased=1");
	restore_end();
}
END_TEST

/* ---- crashes ---- */

START_TEST(test_killed)
{
	struct ledger_message message;

	restore_die(3, SIGKILL);
	restore_begin();
	restore_logged("messages=3 leased=0 are there again");
	restore_logged("crashed with 16 receives posted: up to 16 messages");
	restore_warns("up to 16 messages whose sender saw success may be lost");
	ck_assert_uint_eq(rig_stats(&rig).maybe_lost, 16);
	ck_assert_uint_eq(rig_stats(&rig).restored, 3);
	message = rig_expect(&rig, "0");
	ck_assert_uint_eq(message.deliveries, 1);
	(void)rig_expect(&rig, "11");
	(void)rig_expect(&rig, "222");
	restore_end();
	/* Of the crash before the last start nothing is said any more. */
	restore_begin();
	ck_assert_uint_eq(rig_stats(&rig).maybe_lost, 0);
	ck_assert_uint_eq(rig_expect(&rig, "0").deliveries, 2);
	restore_end();
}
END_TEST

/* Who is killed from outside is not at fault, however often. */
START_TEST(test_killed_often)
{
	unsigned int i;

	restore_die(2, SIGKILL);
	for (i = 0; i < 10; i++)
		restore_die(0, SIGKILL);
	restore_begin();
	ck_assert_uint_eq(rig_stats(&rig).restored, 2);
	ck_assert_uint_eq(store_count_aside(rig.store), 0);
	restore_end();
}
END_TEST

static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

/* Three crashes right after a restore: the pool may be the cause, and is put away. */
START_TEST(test_crash_loop)
{
	struct store_pool *aside;

	/* There was no restore before this one. */
	restore_die(2, faults[_i]);
	restore_die(0, faults[_i]);
	restore_die(0, faults[_i]);
	ck_assert_uint_eq(manager_count(&manager, "rpmad-pool"), 2);
	restore_die(0, faults[_i]);
	restore_begin();
	ck_assert_uint_eq(rig_stats(&rig).restored, 0);
	ck_assert(rig_stats(&rig).is_kept);
	ck_assert_uint_eq(store_count_aside(rig.store), 1);
	aside = store_aside(rig.store, 0);
	ck_assert_int_eq(aside->kind, STORE_CRASHED);
	restore_logged(aside->name);
	restore_warns(aside->name);
	restore_warns("crashed three times within a minute");
	/* The new one serves, and is kept. */
	restore_receive(3);
	restore_end();
	restore_begin();
	ck_assert_uint_eq(rig_stats(&rig).restored, 3);
	restore_warns("crashed three times within a minute");
	restore_end();
}
END_TEST

/* An end of another kind between them breaks the row. */
START_TEST(test_crash_row)
{
	restore_die(2, SIGSEGV);
	restore_die(0, SIGSEGV);
	restore_die(0, SIGSEGV);
	restore_begin();
	restore_end();
	restore_die(0, SIGSEGV);
	restore_die(0, SIGSEGV);
	restore_begin();
	ck_assert_uint_eq(rig_stats(&rig).restored, 2);
	ck_assert_uint_eq(store_count_aside(rig.store), 0);
	restore_end();
}
END_TEST

/* ---- damage ---- */

/* The header of the ledger that is kept; unmapped by done_with(). */
static struct header *
kept_ledger(void)
{
	int fd = manager_fd(&manager, "rpmad-pool", STORE_LEDGER_FD);
	void *memory = mmap(NULL, ledger_memory_size(32), PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	return memory;
}

static void
done_with(struct header *header)
{
	(void)munmap(header, ledger_memory_size(32));
}

static void
damage_magic(struct header *header)
{
	header->magic[0] ^= 1;
}

static void
damage_sum(struct header *header)
{
	header->checksum ^= 1;
}

static void
other_version(struct header *header)
{
	header->version++;
	header->checksum = ledger_checksum(header);
}

static void
too_many_slots(struct header *header)
{
	header->slots = 4096;
	header->checksum = ledger_checksum(header);
}

static const struct {
	void (*damage)(struct header *header);
	const char *prefix, *said;
} damages[] = {
	{ damage_magic, "rpmad-damaged-", "memory of no ledger" },
	{ damage_sum, "rpmad-damaged-", "header is damaged" },
	{ other_version, "rpmad-version-",
	    "has version 2, this program knows version 1" },
	{ too_many_slots, "rpmad-damaged-", "not the" },
};

START_TEST(test_damaged)
{
	struct header *header;

	restore_begin();
	restore_receive(2);
	restore_end();
	header = kept_ledger();
	damages[_i].damage(header);
	done_with(header);
	restore_begin();
	restore_logged("error pool: the pool that was kept cannot be used");
	restore_logged(damages[_i].said);
	restore_logged(damages[_i].prefix);
	restore_warns(damages[_i].prefix);
	ck_assert_uint_eq(rig_stats(&rig).restored, 0);
	restore_receive(3);
	restore_end();
	ck_assert_uint_eq(manager_count(&manager, damages[_i].prefix), 2);
	ck_assert_uint_eq(manager_count(&manager, "rpmad-pool"), 2);
	restore_begin();
	ck_assert_uint_eq(rig_stats(&rig).restored, 3);
	restore_end();
}
END_TEST

START_TEST(test_damaged_record)
{
	struct header *header;
	struct record *records;
	unsigned int slot;

	restore_begin();
	restore_receive(3);
	restore_end();
	header = kept_ledger();
	records = (void *)((char *)header + HEADER_BYTES);
	for (slot = 0; records[slot].seq != 2; slot++)
		ck_assert_uint_lt(slot, 32);
	records[slot].len = 65;
	done_with(header);
	restore_begin();
	restore_logged("found 1 damaged record:");
	restore_warns("the pool that was kept had 1 damaged slot:");
	ck_assert_uint_eq(rig_stats(&rig).restored, 2);
	(void)rig_expect(&rig, "0");
	(void)rig_expect(&rig, "222");
	restore_end();
}
END_TEST

/* What is found when all is let go has the time of that, and not of the look before. */
START_TEST(test_found_at_the_end)
{
	uint64_t before_ns;
	struct ledger_message message;

	restore_begin();
	fake_lose_notify(1);
	ck_assert_int_eq(rig_send(rig_peer(&rig), "last"), 0);
	rig_settle(&rig);
	ck_assert_uint_eq(rig_counts(&rig).ready, 0);
	before_ns = loop_wall_ns();
	restore_end();
	restore_begin();
	message = rig_expect(&rig, "last");
	ck_assert_uint_ge(message.arrival.received_ns, before_ns);
	ck_assert_uint_le(message.arrival.received_ns, loop_wall_ns());
	restore_end();
}
END_TEST

#endif

int
main(void)
{
	Suite *suite = suite_create("engine_restore");
	TCase *tc = tcase_create("engine_restore");

	/* Without libsystemd nothing is kept. */
#ifdef HAVE_LIBSYSTEMD
	tcase_add_checked_fixture(tc, restore_setup, restore_teardown);
	tcase_add_test(tc, test_restart);
	tcase_add_test(tc, test_conn_ids);
	tcase_add_test(tc, test_end);
	tcase_add_test(tc, test_unused);
	tcase_add_test(tc, test_killed);
	tcase_add_test(tc, test_killed_often);
	tcase_add_loop_test(tc, test_crash_loop, 0, (int)ARRAY_LEN(faults));
	tcase_add_test(tc, test_crash_row);
	tcase_add_loop_test(tc, test_damaged, 0, (int)ARRAY_LEN(damages));
	tcase_add_test(tc, test_damaged_record);
	tcase_add_test(tc, test_found_at_the_end);
#endif
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
