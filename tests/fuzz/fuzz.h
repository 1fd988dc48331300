/* SPDX-License-Identifier: BSD-3-Clause */
/* What a fuzz target is, and how it says that something is wrong. */
#ifndef RPMAD_TESTS_FUZZ_FUZZ_H
#define RPMAD_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The target; always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert() it is never compiled away. */
#define FUZZ_CHECK(condition)                                                    \
	do {                                                                     \
		if (!(condition)) {                                              \
			(void)fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, \
			    #condition);                                         \
			abort();                                                 \
		}                                                                \
	} while (0)

#endif
