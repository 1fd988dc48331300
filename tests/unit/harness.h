/* SPDX-License-Identifier: BSD-3-Clause */
/* What every unit test binary shares. */
#ifndef RPMAD_TESTS_UNIT_HARNESS_H
#define RPMAD_TESTS_UNIT_HARNESS_H
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
/* Tell that a test shows nothing here, and why: Check itself knows no such thing. */
static inline void
harness_skip(const char *test, const char *why)
{
	(void)printf("# SKIP %s: %s\n", test, why);
	(void)fflush(stdout);
}
/* How many descriptors this process has open, and a few. */
static inline unsigned int
harness_open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}
static inline int
harness_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
#endif
