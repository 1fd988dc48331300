/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_alloc.h: lets the n-th memory allocation of the code under test fail.
 *
 * The program is linked with $(FAKE_ALLOC_LDFLAGS) of local.mk, which is
 *   -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=strndup,
 *   --wrap=aligned_alloc
 * Only calls from objects of that link are seen, not those inside shared libraries.
 * What the doubles allocate for themselves does not count. Works with sanitizers, whose
 * allocator is behind it. Counts the calling thread only.
 */
#ifndef RPMAD_TESTS_FAKE_FAKE_ALLOC_H
#define RPMAD_TESTS_FAKE_FAKE_ALLOC_H

#include <stdbool.h>

/* Let the n-th allocation from now on fail (1: the next; 0: none), once. */
void fake_alloc_fail_nth(unsigned n);

/* Allocations counted since fake_alloc_fail_nth(); whether the fault struck. */
unsigned fake_alloc_count(void);
bool fake_alloc_fired(void);

#endif
