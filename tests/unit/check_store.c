/* SPDX-License-Identifier: BSD-3-Clause */
/* What is handed over by a service manager, and what it is told to keep. */
#include <config.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/store.h"
#include "lib/core/log.h"
#include "tests/unit/harness.h"
#include "tests/unit/manager_rig.h"

static struct manager manager;
static char logged[4096];

static void
sink(void *arg, enum log_level level, const char *tag, const char *text)
{
	size_t used = strlen(logged);

	(void)arg;
	(void)level;
	(void)snprintf(logged + used, sizeof(logged) - used, "%s: %s\n", tag, text);
}

static void
setup(void)
{
	manager_start(&manager);
	logged[0] = '\0';
	log_set_sink(sink, NULL);
}

static void
teardown(void)
{
	manager_end(&manager);
}

static int
memory(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	return fd;
}

/* The next life of the process. */
static struct store *
next(void)
{
	struct notify_fds fds;
	struct store *store;

	manager_hand_over(&manager, &fds);
	ck_assert_int_eq(store_new(&fds, &store), 0);
	return store;
}

#ifdef HAVE_LIBSYSTEMD
static void
keep(struct store *store)
{
	int pool = memory(STORE_POOL_FD), ledger = memory(STORE_LEDGER_FD);

	ck_assert_int_eq(store_keep(store, pool, ledger), 1);
	ck_assert_ptr_nonnull(store_current(store));
	manager_read(&manager);
	(void)close(pool);
	(void)close(ledger);
}

#endif

/* ---- descriptors as a process gets them ---- */

/* In a process of its own: descriptors from 3 on are fds, then exit with fn's word. */
static int
with_fds(const int *fds, int count, const char *names, int (*fn)(void))
{
	int status, i;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		char text[32];

		/* Out of the way first: they may stand where others go. */
		for (i = 0; i < count; i++)
			(void)dup2(fds[i], 100 + i);
		for (i = 0; i < count; i++)
			(void)dup2(100 + i, 3 + i);
		(void)snprintf(text, sizeof(text), "%ld", (long)getpid());
		(void)setenv("LISTEN_PID", text, 1);
		(void)snprintf(text, sizeof(text), "%d", count);
		(void)setenv("LISTEN_FDS", text, 1);
		if (names)
			(void)setenv("LISTEN_FDNAMES", names, 1);
		_exit(fn());
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int
take_all(void)
{
	struct notify_fds fds;
	struct err err;

	if (notify_take_fds(&fds, &err) != 0)
		return 1;
	if (getenv("LISTEN_PID") || getenv("LISTEN_FDS") || getenv("LISTEN_FDNAMES"))
		return 2;
	if (fds.socket != 4 || fds.kept_count != 2)
		return 3;
	if (fds.kept[0].fd != 3 || strcmp(fds.kept[0].name, "one") != 0 ||
	    fds.kept[1].fd != 5 || strcmp(fds.kept[1].name, "three") != 0)
		return 4;
	if (!(fcntl(3, F_GETFD) & FD_CLOEXEC) || !(fcntl(4, F_GETFD) & FD_CLOEXEC))
		return 5;
	/* They were for the first who asks. */
	if (notify_take_fds(&fds, &err) != 0 || fds.socket != -1 || fds.kept_count != 0)
		return 6;
	return 0;
}

static int
take_refused(void)
{
	struct notify_fds fds;
	struct err err;

	return notify_take_fds(&fds, &err) == 0 || err.code != ERR_INVALID_PARAMS;
}

static int
take_unnamed(void)
{
	struct notify_fds fds;
	struct err err;

	return notify_take_fds(&fds, &err) != 0 || fds.kept_count != 1 ||
	    fds.kept[0].name[0] != '\0';
}

static int
listening(int type)
{
	struct sockaddr addr = { .sa_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, &addr, sizeof(addr.sa_family)), 0);
	if (type == SOCK_STREAM)
		ck_assert_int_eq(listen(fd, 4), 0);
	return fd;
}

START_TEST(test_handed_over)
{
	int first = memory("a"), third = memory("b"), stream = listening(SOCK_STREAM);
	int datagram = listening(SOCK_DGRAM), file = open("/dev/null", O_RDONLY);

	ck_assert_int_eq(with_fds((int[]){ first, stream, third }, 3, "one:two:three",
			     take_all),
	    0);
	ck_assert_int_eq(with_fds((int[]){ first }, 1, NULL, take_unnamed), 0);
	ck_assert_int_eq(with_fds((int[]){ stream, stream }, 2, "a:b", take_refused),
	    0);
	ck_assert_int_eq(with_fds((int[]){ datagram }, 1, "a", take_refused), 0);
	ck_assert_int_eq(with_fds((int[]){ file }, 1, "a", take_refused), 0);
	(void)close(first);
	(void)close(third);
	(void)close(stream);
	(void)close(datagram);
	(void)close(file);
}
END_TEST

/* ---- the store ---- */

#ifdef HAVE_LIBSYSTEMD
START_TEST(test_kept)
{
	struct store *store = next();

	ck_assert_ptr_null(store_current(store));
	keep(store);
	ck_assert_uint_eq(manager.count, 2);
	ck_assert_uint_eq(manager_count(&manager, "rpmad-pool"), 2);
	store_free(store);
	store = next();
	ck_assert_ptr_nonnull(store_current(store));
	ck_assert_uint_eq(store_count_aside(store), 0);
	ck_assert_str_eq(logged, "");
	store_free(store);
}
END_TEST

START_TEST(test_set_aside)
{
	enum store_kind kinds[] = { STORE_UNFIT, STORE_CRASHED, STORE_DAMAGED,
		STORE_VERSION };
	const char *prefixes[] = { "rpmad-unfit-", "rpmad-crashed-", "rpmad-damaged-",
		"rpmad-version-" };
	struct store *store = next();
	struct stat st;

	keep(store);
	store_free(store);
	store = next();
	/* As it is while clients read in it. */
	ck_assert_int_eq(fchmod(store_current(store)->pool_fd, 0400), 0);
	store_set_aside(store, store_current(store), kinds[_i]);
	ck_assert_int_eq(fstat(store_aside(store, 0)->pool_fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0400);
	ck_assert_int_eq(fcntl(store_aside(store, 0)->pool_fd, F_GETFL) & O_ACCMODE,
	    O_RDWR);
	ck_assert_ptr_null(store_current(store));
	ck_assert_uint_eq(store_count_aside(store), 1);
	/* Both are there under the new name, and nothing under the old one. */
	manager_read(&manager);
	ck_assert_uint_eq(manager.count, 2);
	ck_assert_uint_eq(manager_count(&manager, prefixes[_i]), 2);
	keep(store);
	store_free(store);
	store = next();
	ck_assert_ptr_nonnull(store_current(store));
	ck_assert_uint_eq(store_count_aside(store), 1);
	ck_assert_int_eq(store_aside(store, 0)->kind, kinds[_i]);
	store_drop(store, store_aside(store, 0));
	manager_read(&manager);
	ck_assert_uint_eq(manager.count, 2);
	ck_assert_uint_eq(manager_count(&manager, "rpmad-pool"), 2);
	ck_assert_ptr_nonnull(store_current(store));
	store_free(store);
}
END_TEST

/* However many are set aside, there is room for the one in use, and the newest stay. */
START_TEST(test_room)
{
	char first[STORE_NAME_MAX] = "", last[STORE_NAME_MAX] = "";
	struct store *store;
	unsigned int i;

	for (i = 0; i < 12; i++) {
		store = next();
		keep(store);
		store_free(store);
		store = next();
		ck_assert_ptr_nonnull(store_current(store));
		store_set_aside(store, store_current(store), STORE_CRASHED);
		store_make_room(store);
		(void)snprintf(last, sizeof(last), "%s",
		    store_aside(store, store_count_aside(store) - 1)->name);
		if (i == 0)
			(void)snprintf(first, sizeof(first), "%s", last);
		store_free(store);
	}
	store = next();
	ck_assert_uint_eq(store_count_aside(store), 4);
	ck_assert_uint_eq(manager.count, 8);
	ck_assert_uint_eq(manager.refused, 0);
	ck_assert_uint_eq(manager_count(&manager, last), 2);
	ck_assert_uint_eq(manager_count(&manager, first), 0);
	ck_assert_ptr_nonnull(strstr(logged, first));
	ck_assert_ptr_null(strstr(logged, last));
	store_free(store);
}
END_TEST

/* What others kept there, or only one half, is no pool, and is said. */
START_TEST(test_odd_things)
{
	struct store *store = next();
	int pool = memory(STORE_POOL_FD), other = memory("other");

	ck_assert_int_eq(notify_keep("rpmad-pool", &pool, 1), 1);
	ck_assert_int_eq(notify_keep("other", &other, 1), 1);
	store_free(store);
	store = next();
	ck_assert_ptr_null(store_current(store));
	ck_assert_ptr_nonnull(strstr(logged, "\"other\""));
	ck_assert_ptr_nonnull(strstr(logged, "only half of the pool rpmad-pool"));
	/* The half is dropped, so that a new one finds its place. */
	manager_read(&manager);
	ck_assert_uint_eq(manager_count(&manager, "rpmad-pool"), 0);
	ck_assert_uint_eq(manager_count(&manager, "other"), 1);
	store_free(store);
	(void)close(pool);
	(void)close(other);
}
END_TEST

#endif

START_TEST(test_no_manager)
{
	struct store *store = next();

	ck_assert_int_eq(unsetenv("NOTIFY_SOCKET"), 0);
	ck_assert_int_eq(store_keep(store, 0, 1), 0);
	ck_assert_ptr_null(store_current(store));
	ck_assert(!store_is_ending(store));
	store_end(store);
	ck_assert(store_is_ending(store));
	store_free(store);
	store_free(NULL);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("store");
	TCase *tc = tcase_create("store");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_handed_over);
#ifdef HAVE_LIBSYSTEMD
	tcase_add_test(tc, test_kept);
	tcase_add_loop_test(tc, test_set_aside, 0, 4);
	tcase_add_test(tc, test_room);
	tcase_add_test(tc, test_odd_things);
#endif
	tcase_add_test(tc, test_no_manager);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
