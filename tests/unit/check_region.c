/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sealed memory, of ordinary and of huge pages. The calls that make it are wrapped at link
 * time, so that a system that has no huge page to give is there on every machine.
 */
#include <config.h>

#include "daemon/region.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/core/compiler.h"
#include "tests/unit/harness.h"

#define HUGE_PAGE 2097152u

/* What the system is to be like, and what it was asked. */
static struct {
	unsigned int flags; /* of the newest memfd */
	int memfd_errno;    /* 0: it can be made */
	int fstatfs_errno;  /* 0: it can be asked */
	int mmap_errno;     /* 0: it can be mapped */
	long pages;         /* that the machine has; 0: what it has */
	int madvise_errno;  /* of the call madvise_fails, from 1; 0: of none */
	int madvise_fails, madvise_calls;
	int fd; /* the newest */
} host;

int __real_memfd_create(const char *name, unsigned int flags);
int __wrap_memfd_create(const char *name, unsigned int flags);
int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __real_fstatfs(int fd, struct statfs *fs);
int __wrap_fstatfs(int fd, struct statfs *fs);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);

int __real_madvise(void *addr, size_t len, int advice);
int __wrap_madvise(void *addr, size_t len, int advice);

int
__wrap_memfd_create(const char *name, unsigned int flags)
{
	host.flags = flags;
	if (host.memfd_errno != 0) {
		errno = host.memfd_errno;
		return -1;
	}
	host.fd = __real_memfd_create(name, flags & ~MFD_HUGETLB);
	return host.fd;
}

/*
 * The block size is that of a huge page for ordinary memory, too, where
 * /sys/kernel/mm/transparent_hugepage/shmem_enabled says "always".
 */
int
__wrap_fstat(int fd, struct stat *st)
{
	int rc = __real_fstat(fd, st);

	st->st_blksize = HUGE_PAGE;
	return rc;
}

/* Files of huge pages are in a file system of their own. */
int
__wrap_fstatfs(int fd, struct statfs *fs)
{
	int rc = __real_fstatfs(fd, fs);

	if (host.fstatfs_errno != 0) {
		errno = host.fstatfs_errno;
		return -1;
	}
	if (rc == 0 && (host.flags & MFD_HUGETLB)) {
		fs->f_type = HUGETLBFS_MAGIC;
		fs->f_bsize = HUGE_PAGE;
	}
	return rc;
}

void *
__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (host.mmap_errno != 0 && fd >= 0) {
		errno = host.mmap_errno;
		return MAP_FAILED;
	}
	return __real_mmap(addr, len, prot, flags, fd, offset);
}

int
__wrap_madvise(void *addr, size_t len, int advice)
{
	if (host.madvise_errno != 0 && ++host.madvise_calls == host.madvise_fails) {
		errno = host.madvise_errno;
		return -1;
	}
	return __real_madvise(addr, len, advice);
}

long __real_sysconf(int name);
long __wrap_sysconf(int name);

long
__wrap_sysconf(int name)
{
	return name == _SC_PHYS_PAGES && host.pages ? host.pages : __real_sysconf(name);
}

static void
set_up(void)
{
	memset(&host, 0, sizeof(host));
	host.fd = -1;
}

/* What is true of both kinds. */
static void
check_region(struct region *region, size_t bytes)
{
	struct stat st;

	ck_assert_uint_eq(region->bytes, bytes);
	ck_assert_int_eq(fstat(region->fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(st.st_size, (off_t)bytes);
	ck_assert_int_eq(fcntl(region->fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(fcntl(region->fd, F_GET_SEALS),
	    F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	ck_assert_int_ne(ftruncate(region->fd, 4096), 0);
	((char *)region->base)[bytes - 1] = 1;
	region_close(region);
	ck_assert_int_eq(region->fd, -1);
	region_close(region);
}

START_TEST(test_ordinary)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct region region = REGION_NONE;
	struct err err;

	ck_assert_int_eq(region_open("test", page + 1, &region, &err), 0);
	ck_assert_uint_eq(host.flags, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ck_assert_uint_eq(region.page_size, page);
	check_region(&region, 2 * page);
}
END_TEST

/*
 * What a device writes after a fork it writes for parent and child alike, and for nobody's copy:
 * the pages are shared, so they need no guard against forks.
 */
START_TEST(test_shared_over_fork)
{
	struct region region = REGION_NONE;
	volatile char *base;
	struct err err;
	int status, fds[2];
	pid_t child;
	char byte;

	ck_assert_int_eq(region_open("test", 4096, &region, &err), 0);
	base = region.base;
	ck_assert_int_eq(pipe(fds), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		(void)close(fds[1]);
		base[1] = 'c';
		/* Until the parent has written. */
		(void)!read(fds[0], &byte, 1);
		_exit(base[0] == 'p' ? 0 : 1);
	}
	base[0] = 'p';
	(void)close(fds[1]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(base[1], 'c');
	(void)close(fds[0]);
	region_close(&region);
}
END_TEST

START_TEST(test_more_than_there_is)
{
	size_t page = (size_t)__real_sysconf(_SC_PAGESIZE);
	struct region region = REGION_NONE;
	struct err err;
	char text[96];

	host.pages = 1024;
	ck_assert_int_eq(region_open("it", 1023 * page, &region, &err), 0);
	region_close(&region);
	ck_assert_int_eq(region_open("it", 2048 * page, &region, &err), -EDQUOT);
	ck_assert_int_eq(err.code, ERR_LIMIT);
	(void)snprintf(text, sizeof(text),
	    "it needs %zu MiB of memory, the machine has %zu MiB in all", page / 512,
	    page / 1024);
	ck_assert_str_eq(err.text, text);
	ck_assert_int_eq(region.fd, -1);
}
END_TEST

static void
count_step(void *arg)
{
	++*(int *)arg;
}

/* All of it is there afterwards, as the kernel says, and what was in it still is. */
START_TEST(test_populate)
{
	struct region region = REGION_NONE;
	unsigned char *resident;
	size_t i, pages;
	struct err err;
	int steps = 0;

	ck_assert_int_eq(region_open("test", REGION_STEP + 1, &region, &err), 0);
	pages = region.bytes / region.page_size;
	resident = calloc(pages, 1);
	ck_assert_ptr_nonnull(resident);
	((char *)region.base)[5] = 9;
	ck_assert_int_eq(region_populate(&region, "test", count_step, &steps, &err), 0);
	ck_assert_int_eq(mincore(region.base, region.bytes, resident), 0);
	/* No step: this kernel cannot do it. */
	for (i = 0; i < pages && steps > 0; i++)
		ck_assert_msg(resident[i] & 1, "page %zu", i);
	ck_assert(steps == 2 || steps == 0);
	ck_assert_int_eq(((char *)region.base)[5], 9);
	ck_assert_int_eq(region_populate(&region, "test", NULL, NULL, &err), 0);
	free(resident);
	region_close(&region);
}
END_TEST

START_TEST(test_populate_fails)
{
	struct region region = REGION_NONE;
	struct err err;

	ck_assert_int_eq(region_open("test", REGION_STEP + 1, &region, &err), 0);
	host.madvise_errno = ENOMEM;
	host.madvise_fails = 2;
	ck_assert_int_eq(region_populate(&region, "it", NULL, NULL, &err), -EDQUOT);
	ck_assert_int_eq(err.code, ERR_LIMIT);
	ck_assert_str_eq(err.text,
	    "it: the system has no memory for more than 64 of 64 MiB");
	host.madvise_calls = 0;
	host.madvise_errno = EINVAL;
	ck_assert_int_eq(region_populate(&region, "it", NULL, NULL, &err), 0);
	host.madvise_calls = 0;
	host.madvise_errno = EINTR;
	ck_assert_int_eq(region_populate(&region, "it", NULL, NULL, &err), 0);
	ck_assert_int_eq(host.madvise_calls, 3);
	region_close(&region);
}
END_TEST

/* Of either kind: for reading alone, by its rights as by its descriptor. */
START_TEST(test_readonly)
{
	struct region region = REGION_NONE, again = REGION_NONE;
	struct stat st;
	struct err err;
	int fd = -1;

	if (_i)
		ck_assert_int_eq(region_open_huge("test", 1, &region, &err), 0);
	else
		ck_assert_int_eq(region_open("test", 1, &region, &err), 0);
	ck_assert_int_eq(region_open_readonly(&region, &fd, &err), 0);
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(__real_fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0400);
	ck_assert_ptr_eq(mmap(NULL, region.bytes, PROT_WRITE, MAP_SHARED, fd, 0),
	    MAP_FAILED);
	/* The next process writes all the same. */
	ck_assert_int_eq(region_adopt(region.fd, 1, &again, &err), 0);
	((char *)again.base)[0] = 7;
	ck_assert_int_eq(((char *)region.base)[0], 7);
	(void)close(fd);
	region_close(&again);
	region_close(&region);
	fd = -1;
	ck_assert_int_ne(region_open_readonly(&region, &fd, &err), 0);
	ck_assert_int_eq(err.code, ERR_INTERNAL_ERROR);
	ck_assert_int_eq(fd, -1);
}
END_TEST

/* Whole huge pages, however little is wanted. */
START_TEST(test_huge)
{
	struct region region = REGION_NONE;
	struct err err;

	ck_assert_int_eq(region_open_huge("test", 2 * HUGE_PAGE + 1, &region, &err), 0);
	ck_assert_uint_eq(host.flags, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
	ck_assert_uint_eq(region.page_size, HUGE_PAGE);
	check_region(&region, (size_t)3 * HUGE_PAGE);
}
END_TEST

/* Which and how many, and what to do. */
START_TEST(test_too_few_huge_pages)
{
	struct region region = REGION_NONE;
	struct err err;

	host.mmap_errno = ENOMEM;
	ck_assert_int_lt(region_open_huge("test", 2 * HUGE_PAGE + 1, &region, &err), 0);
	ck_assert_int_eq(err.code, ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(err.text, "needs 3 huge pages of 2048 KiB"));
	ck_assert_ptr_nonnull(strstr(err.text, "free"));
	ck_assert_ptr_nonnull(strstr(err.hint, "vm.nr_hugepages"));
	ck_assert_ptr_nonnull(strstr(err.hint, "pool.huge_pages"));
	ck_assert_int_eq(region.fd, -1);
	/* Nothing stays behind. */
	ck_assert_int_eq(fcntl(host.fd, F_GETFD), -1);
}
END_TEST

/* The next process finds pages of the size that they were made of. */
START_TEST(test_adopted)
{
	size_t page = _i ? HUGE_PAGE : (size_t)sysconf(_SC_PAGESIZE);
	struct region region = REGION_NONE, again = REGION_NONE;
	struct err err;

	if (_i)
		ck_assert_int_eq(region_open_huge("test", page, &region, &err), 0);
	else
		ck_assert_int_eq(region_open("test", page, &region, &err), 0);
	ck_assert_int_eq(region_adopt(region.fd, page, &again, &err), 0);
	ck_assert_uint_eq(again.page_size, page);
	ck_assert_uint_eq(again.bytes, page);
	region_close(&again);
	host.fstatfs_errno = ENOMEM;
	ck_assert_int_lt(region_adopt(region.fd, page, &again, &err), 0);
	ck_assert_int_eq(err.errnum, ENOMEM);
	ck_assert_int_eq(again.fd, -1);
	region_close(&region);
}
END_TEST

static const int no_huge[] = { ENOSYS, EINVAL, ENODEV, ENOENT };

START_TEST(test_no_huge_pages)
{
	struct region region = REGION_NONE;
	struct err err;

	host.memfd_errno = no_huge[_i];
	ck_assert_int_lt(region_open_huge("test", 1, &region, &err), 0);
	ck_assert_int_eq(err.code, ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(err.text, "no huge pages"));
	ck_assert_ptr_nonnull(strstr(err.hint, "pool.huge_pages"));
	ck_assert_int_eq(region.fd, -1);
}
END_TEST

static const struct {
	int *errnum;
	int value;
	bool is_huge;
} failures[] = {
	{ &host.mmap_errno, EPERM, true },
	{ &host.mmap_errno, ENOMEM, false },
	{ &host.memfd_errno, EMFILE, true },
	{ &host.memfd_errno, EMFILE, false },
	{ &host.fstatfs_errno, ENOMEM, true },
};

/* A failure of another kind is not taken for theirs. */
START_TEST(test_other_failure)
{
	struct region region = REGION_NONE;
	struct err err;

	*failures[_i].errnum = failures[_i].value;
	if (failures[_i].is_huge)
		ck_assert_int_lt(region_open_huge("test", 1, &region, &err), 0);
	else
		ck_assert_int_lt(region_open("test", 1, &region, &err), 0);
	ck_assert_int_eq(err.code, ERR_INTERNAL_ERROR);
	ck_assert_int_eq(err.errnum, failures[_i].value);
	ck_assert_ptr_null(strstr(err.text, "has no huge pages"));
	ck_assert_int_eq(region.fd, -1);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("region");
	TCase *tc = tcase_create("region");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, test_ordinary);
	tcase_add_test(tc, test_huge);
	tcase_add_test(tc, test_shared_over_fork);
	tcase_add_test(tc, test_more_than_there_is);
	tcase_add_test(tc, test_populate);
	tcase_add_test(tc, test_populate_fails);
	tcase_add_loop_test(tc, test_readonly, 0, 2);
	tcase_add_test(tc, test_too_few_huge_pages);
	tcase_add_loop_test(tc, test_adopted, 0, 2);
	tcase_add_loop_test(tc, test_no_huge_pages, 0, (int)ARRAY_LEN(no_huge));
	tcase_add_loop_test(tc, test_other_failure, 0, (int)ARRAY_LEN(failures));
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
