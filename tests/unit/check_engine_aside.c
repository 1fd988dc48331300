/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools that are set aside: in which order they are tried again, and which are dropped. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/ledger_impl.h"
#include "daemon/pool.h"
#include "daemon/store.h"
#include "tests/unit/harness.h"
#include "tests/unit/restore_rig.h"

/* What handing over fails with; 0: it does not. */
static int keep_errno;

int __real_notify_keep(const char *name, const int *fds, unsigned int count);
int __wrap_notify_keep(const char *name, const int *fds, unsigned int count);

int
__wrap_notify_keep(const char *name, const int *fds, unsigned int count)
{
	return keep_errno != 0 ? -keep_errno : __real_notify_keep(name, fds, count);
}

#ifdef HAVE_LIBSYSTEMD
/* The store of the next process, which has its log for itself. */
static struct store *
next(void)
{
	struct notify_fds fds;
	struct store *store;

	logged[0] = '\0';
	manager_hand_over(&manager, &fds);
	ck_assert_int_eq(store_new(&fds, &store), 0);
	return store;
}

/* The pool in use is set aside. */
static void
set_aside(enum store_kind kind, char name[STORE_NAME_MAX])
{
	struct store *store = next();

	store_set_aside(store, store_current(store), kind);
	(void)snprintf(name, STORE_NAME_MAX, "%s",
	    store_aside(store, store_count_aside(store) - 1)->name);
	store_free(store);
	manager_read(&manager);
}

/*
 * A process receives so many messages, and the pool is set aside; it was made then.
 * name     the one that it has now
 */
static void
leave_aside(unsigned int messages, enum store_kind kind, time_t made_s,
    char name[STORE_NAME_MAX])
{
	const struct timespec made[2] = { { .tv_sec = made_s }, { .tv_sec = made_s } };

	restore_begin();
	if (messages > 0)
		restore_receive(messages);
	restore_end();
	set_aside(kind, name);
	ck_assert_int_eq(futimens(manager_fd(&manager, name, STORE_LEDGER_FD), made),
	    0);
}

/* Change the header of a ledger that is kept, whose checksum is right afterwards. */
static void
change_ledger(const char *name, uint32_t version, char magic)
{
	struct header *header =
	    mmap(NULL, ledger_memory_size(32), PROT_READ | PROT_WRITE, MAP_SHARED,
		manager_fd(&manager, name, STORE_LEDGER_FD), 0);

	ck_assert_ptr_ne(header, MAP_FAILED);
	header->version = version;
	header->magic[0] = magic;
	header->checksum = ledger_checksum(header);
	(void)munmap(header, ledger_memory_size(32));
}

/* Have the pools that crashed tried again, as those that did not fit are. */
static void
try_again(char name[STORE_NAME_MAX])
{
	char old[STORE_NAME_MAX];
	size_t i;

	(void)snprintf(old, sizeof(old), "%s", name);
	(void)snprintf(name, STORE_NAME_MAX, "rpmad-unfit-%s",
	    old + sizeof("rpmad-crashed-") - 1);
	for (i = 0; i < manager.count; i++)
		if (strcmp(manager.kept[i].name, old) == 0)
			(void)snprintf(manager.kept[i].name, NOTIFY_NAME_MAX, "%s",
			    name);
}

/* Where there is room for two of four, those of the older pool come. */
START_TEST(test_oldest_first)
{
	char first[STORE_NAME_MAX], second[STORE_NAME_MAX];

	leave_aside(2, STORE_CRASHED, 2000 + _i, first);
	leave_aside(2, STORE_CRASHED, 2000 + !_i, second);
	try_again(first);
	try_again(second);
	rig.settings.pool_slots = 2;
	rig.settings.receive_target = rig.settings.receive_low_watermark = 1;
	restore_begin();
	ck_assert_uint_eq(rig_stats(&rig).restored, 2);
	ck_assert_uint_eq(store_count_aside(rig.store), 1);
	ck_assert_str_eq(store_aside(rig.store, 0)->name, _i ? first : second);
	restore_end();
}
END_TEST

/* What another version wrote is there again when a program comes that can read it. */
START_TEST(test_version_returns)
{
	char name[STORE_NAME_MAX];
	struct store *store;

	leave_aside(3, STORE_VERSION, 2000, name);
	change_ledger(name, LEDGER_VERSION + 1, LEDGER_MAGIC[0]);
	restore_begin();
	ck_assert_uint_eq(rig_stats(&rig).restored, 0);
	ck_assert_uint_eq(store_count_aside(rig.store), 1);
	ck_assert_ptr_null(strstr(logged, "error"));
	restore_end();
	change_ledger(name, LEDGER_VERSION, LEDGER_MAGIC[0]);
	/* It fits in part: that is why the rest is set aside now. */
	store = next();
	store_drop(store, store_current(store));
	store_free(store);
	rig.settings.pool_slots = 2;
	rig.settings.receive_target = rig.settings.receive_low_watermark = 1;
	restore_begin();
	ck_assert_uint_eq(rig_stats(&rig).restored, 2);
	restore_warns("rpmad-unfit-");
	restore_end();
	ck_assert_uint_eq(manager_count(&manager, "rpmad-version-"), 0);
	ck_assert_uint_eq(manager_count(&manager, "rpmad-unfit-"), 2);
	rig_settings(&rig);
	restore_begin();
	ck_assert_uint_eq(rig_stats(&rig).restored, 3);
	ck_assert_uint_eq(store_count_aside(rig.store), 0);
	restore_end();
}
END_TEST

/* One that cannot be read any more says so by its name. */
START_TEST(test_unreadable)
{
	char name[STORE_NAME_MAX];

	leave_aside(2, STORE_UNFIT, 2000, name);
	if (_i)
		change_ledger(name, LEDGER_VERSION + 1, LEDGER_MAGIC[0]);
	else
		change_ledger(name, LEDGER_VERSION, '?');
	restore_begin();
	restore_logged(_i
		? "error pool: the pool that was kept cannot be used: the "
		  "ledger has version 2"
		: "error pool: the pool that was kept cannot be used: this is "
		  "the memory of no ledger");
	restore_end();
	ck_assert_uint_eq(manager_count(&manager, "rpmad-unfit-"), 0);
	ck_assert_uint_eq(manager_count(&manager,
			      _i ? "rpmad-version-" : "rpmad-damaged-"),
	    2);
}
END_TEST

/* Of the four there are, none is lost for one more that is there for a moment. */
START_TEST(test_room_for_a_moment)
{
	char names[4][STORE_NAME_MAX];
	unsigned int i;

	for (i = 0; i < 4; i++)
		leave_aside(0, STORE_CRASHED, 2000 + i, names[i]);
	restore_begin();
	restore_receive(2);
	restore_end();
	rig.settings.pool_slots = 48;
	restore_begin();
	ck_assert_uint_eq(rig_stats(&rig).restored, 2);
	ck_assert_ptr_null(strstr(logged, "is dropped"));
	restore_end();
	for (i = 0; i < 4; i++)
		ck_assert_uint_eq(manager_count(&manager, names[i]), 2);
	ck_assert_uint_eq(manager.refused, 0);
}
END_TEST

/* When one has to go it is the damaged one, and else the oldest. */
START_TEST(test_which_is_dropped)
{
	char names[5][STORE_NAME_MAX];
	unsigned int i;

	for (i = 0; i < 5; i++)
		leave_aside(0, i == 2 && _i ? STORE_DAMAGED : STORE_CRASHED, 2000 + i,
		    names[i]);
	restore_begin();
	restore_logged("more than 4 pools are set aside");
	restore_logged(names[_i ? 2 : 0]);
	restore_end();
	for (i = 0; i < 5; i++)
		ck_assert_uint_eq(manager_count(&manager, names[i]),
		    i == (_i ? 2 : 0) ? 0 : 2);
}
END_TEST

/*
 * One that dies between the two messages that give a pool another name leaves it there under
 * both: it is still one pool, whose messages come once.
 */
START_TEST(test_two_names)
{
	const bool is_moved = _i == STORE_UNFIT || _i == STORE_VERSION;
	char name[STORE_NAME_MAX];
	int fds[2];
	size_t i;

	restore_begin();
	restore_receive(3);
	restore_end();
	for (i = 0; i < 2; i++)
		fds[i] = fcntl(manager.kept[i].fd, F_DUPFD_CLOEXEC, 0);
	set_aside((enum store_kind)_i, name);
	for (i = 0; i < 2; i++) {
		manager.kept[manager.count].fd = fds[i];
		(void)snprintf(manager.kept[manager.count++].name, NOTIFY_NAME_MAX,
		    "rpmad-pool");
	}
	restore_begin();
	restore_logged("loses that name");
	ck_assert_uint_eq(rig_stats(&rig).restored, is_moved ? 3 : 0);
	ck_assert_uint_eq(rig_counts(&rig).ready, is_moved ? 3 : 0);
	ck_assert(ledger_check(engine_ledger(rig.engine)));
	ck_assert_uint_eq(store_count_aside(rig.store), is_moved ? 0 : 1);
	restore_end();
	ck_assert_uint_eq(manager.count, is_moved ? 2 : 4);
}
END_TEST

/* Not a fault of the pool: the start fails, and all is as it was for the next. */
START_TEST(test_passing_fault)
{
	struct rlimit limit, before;
	struct store *store;
	struct pool pool;
	struct err err;
	int fd;

	restore_begin();
	restore_receive(2);
	restore_end();
	store = next();
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	(void)close(fd);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = (rlim_t)fd + 1; /* one is left, a pool needs two */
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_lt(pool_open(&rig.settings, store, &pool, &err), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_eq(err.code, ERR_INTERNAL_ERROR);
	ck_assert_int_eq(err.errnum, EMFILE);
	store_free(store);
	restore_begin();
	ck_assert_uint_eq(store_count_aside(rig.store), 0);
	ck_assert_uint_eq(rig_stats(&rig).restored, 2);
	restore_end();
}
END_TEST

/* Messages do not leave what the manager has for a pool that it does not get. */
START_TEST(test_not_handed_over)
{
	restore_begin();
	restore_receive(2);
	restore_end();
	rig.settings.pool_slots = 48;
	rig.store = next();
	keep_errno = ETOOMANYREFS;
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert(!rig_stats(&rig).is_kept);
	ck_assert_uint_eq(rig_stats(&rig).restored, 0);
	restore_logged("error pool: the pool cannot be handed to the service manager");
	restore_logged("the service manager keeps 1 earlier pool, with");
	restore_end();
	keep_errno = 0;
	restore_begin();
	ck_assert_uint_eq(rig_stats(&rig).restored, 2);
	ck_assert(rig_stats(&rig).is_kept);
	restore_end();
}
END_TEST

/* A manager of systemd 254 and later says whether it keeps anything. */
START_TEST(test_said_room)
{
	ck_assert_int_eq(setenv("FDSTORE", _i ? "2" : "0", 1), 0);
	restore_begin();
	ck_assert_int_eq(rig_stats(&rig).is_kept, _i);
	restore_receive(1);
	restore_end();
	restore_logged(_i ? "messages=1 were handed to the service manager"
			  : "messages=1 were not acknowledged and end with the daemon");
	ck_assert_uint_eq(manager.count, _i ? 2 : 0);
	ck_assert_int_eq(unsetenv("FDSTORE"), 0);
}
END_TEST

/* Fill the stack, a page at a time. */
static __attribute__((noinline)) unsigned int
descend(volatile unsigned int depth)
{
	volatile char page[4096];

	page[depth % sizeof(page)] = 1;
	return depth > 0 ? descend(depth - 1) + (unsigned int)page[1] : 0;
}

/* A process that begins, and overflows its stack. */
static void
overflow(void)
{
	const struct rlimit limit = { 262144, 262144 };
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		restore_begin();
		(void)setrlimit(RLIMIT_STACK, &limit);
		_exit((int)(98 + (descend(100000) & 1)));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGSEGV);
	manager_read(&manager);
}

/* An overflow of the stack is a crash like others: the handler has a stack of its own. */
START_TEST(test_stack_overflow)
{
	unsigned int i;

	restore_die(2, SIGSEGV);
	for (i = 0; i < 3; i++)
		overflow();
	restore_begin();
	ck_assert_uint_eq(rig_stats(&rig).restored, 0);
	ck_assert_uint_eq(store_count_aside(rig.store), 1);
	ck_assert_int_eq(store_aside(rig.store, 0)->kind, STORE_CRASHED);
	restore_end();
}
END_TEST

/* A start that fails behind the move tells of the messages wherever they are. */
START_TEST(test_unused)
{
	char name[STORE_NAME_MAX];
	struct store *store;
	struct pool pool;
	struct err err;

	leave_aside(3, STORE_CRASHED, 2000, name);
	restore_begin();
	restore_receive(2);
	restore_end();
	rig.settings.pool_slots = 48;
	store = next();
	ck_assert_int_eq(pool_open(&rig.settings, store, &pool, &err), 0);
	pool_close(&pool);
	pool_tell_unused(store);
	restore_logged(
	    "warning pool: messages=5 were kept for this start, which failed");
	store_free(store);
}
END_TEST

#endif

int
main(void)
{
	Suite *suite = suite_create("engine_aside");
	TCase *tc = tcase_create("engine_aside");

	/* Without libsystemd nothing is kept. */
#ifdef HAVE_LIBSYSTEMD
	tcase_add_checked_fixture(tc, restore_setup, restore_teardown);
	tcase_add_loop_test(tc, test_oldest_first, 0, 2);
	tcase_add_test(tc, test_version_returns);
	tcase_add_loop_test(tc, test_unreadable, 0, 2);
	tcase_add_test(tc, test_room_for_a_moment);
	tcase_add_loop_test(tc, test_which_is_dropped, 0, 2);
	tcase_add_loop_test(tc, test_two_names, STORE_UNFIT, STORE_VERSION + 1);
	tcase_add_test(tc, test_passing_fault);
	tcase_add_test(tc, test_not_handed_over);
	tcase_add_loop_test(tc, test_said_room, 0, 2);
	tcase_add_test(tc, test_unused);
	tcase_add_test(tc, test_stack_overflow);
#endif
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
