/* SPDX-License-Identifier: BSD-3-Clause */
/* Let an allocation of jansson fail, and count the blocks that are not freed. */
#ifndef RPMAD_TESTS_UNIT_JSON_ALLOC_H
#define RPMAD_TESTS_UNIT_JSON_ALLOC_H

#include <stdbool.h>

/* Take jansson's allocations over; before its first use. */
void json_alloc_install(void);

/* The nth allocation from now on fails (1 is the next), those after it do not. 0: none.
 */
void json_alloc_fail_at(unsigned long nth);

/* Whether the failure that was asked for has come. */
bool json_alloc_failed(void);

/* Blocks in use. */
long json_alloc_live(void);

#endif
