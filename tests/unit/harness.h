/* SPDX-License-Identifier: BSD-3-Clause */
/* What every unit test binary shares. */
#ifndef RPMAD_TESTS_UNIT_HARNESS_H
#define RPMAD_TESTS_UNIT_HARNESS_H
#include <check.h>
#include <stdlib.h>
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
