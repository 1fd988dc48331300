/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_peer_cfg.c: what a node tells its peers about itself. */
#include <config.h>

#include <string.h>

#include "tests/fake/fake_alloc.h"
#include "tests/unit/rpma_fixture.h"

START_TEST(test_life)
{
	struct rpma_peer_cfg *pcfg = NULL;
	bool supported = true;

	ck_assert_int_eq(rpma_peer_cfg_new(NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_cfg_delete(NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_cfg_delete(&pcfg), 0);
	ck_assert_int_eq(rpma_peer_cfg_new(&pcfg), 0);
	ck_assert_int_eq(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &supported), 0);
	ck_assert(!supported);
	ck_assert_int_eq(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true), 0);
	ck_assert_int_eq(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &supported), 0);
	ck_assert(supported);
	ck_assert_int_eq(rpma_peer_cfg_delete(&pcfg), 0);
	ck_assert_ptr_null(pcfg);
}
END_TEST

START_TEST(test_invalid)
{
	struct rpma_peer_cfg *pcfg = UNTOUCHED(struct rpma_peer_cfg);
	bool supported = true;
	size_t size = 77;
	char byte = 77;

	ck_assert_int_eq(rpma_peer_cfg_set_direct_write_to_pmem(NULL, true),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_cfg_get_direct_write_to_pmem(NULL, &supported),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, NULL),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_cfg_get_descriptor(NULL, &byte), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_cfg_get_descriptor(pcfg, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_cfg_get_descriptor_size(NULL, &size), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_cfg_get_descriptor_size(pcfg, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_cfg_from_descriptor(NULL, 1, &pcfg), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_cfg_from_descriptor(&byte, 1, NULL), RPMA_E_INVAL);
	ck_assert_uint_eq(fixture_logs(), 0);
	ck_assert_int_eq(rpma_peer_cfg_from_descriptor(&byte, 0, &pcfg), RPMA_E_INVAL);
	ck_assert_uint_eq(fixture_logs(), 1);
	ck_assert_ptr_eq(pcfg, UNTOUCHED(struct rpma_peer_cfg));
	ck_assert(supported);
	ck_assert_uint_eq(size, 77);
	ck_assert_int_eq(byte, 77);
}
END_TEST

/* clang-format off */
static const struct {
	bool supported;
	char desc[2]; /* the second is not to be written */
} descriptors[] = {
	{ false, { 0x00, 0x5a } },
	{ true, { 0x01, 0x5a } },
};
/* clang-format on */

START_TEST(test_descriptor)
{
	struct rpma_peer_cfg *pcfg = NULL;
	char desc[2] = { 0x77, 0x5a };
	size_t size = 77;

	ck_assert_int_eq(rpma_peer_cfg_new(&pcfg), 0);
	ck_assert_int_eq(rpma_peer_cfg_set_direct_write_to_pmem(pcfg,
			     descriptors[_i].supported),
	    0);
	ck_assert_int_eq(rpma_peer_cfg_get_descriptor_size(pcfg, &size), 0);
	ck_assert_uint_eq(size, 1);
	ck_assert_int_eq(rpma_peer_cfg_get_descriptor(pcfg, desc), 0);
	ck_assert_mem_eq(desc, descriptors[_i].desc, 2);
	ck_assert_int_eq(rpma_peer_cfg_delete(&pcfg), 0);
}
END_TEST

/* clang-format off */
static const struct {
	unsigned char desc[2];
	size_t size;
	bool supported;
} received[] = {
	{ { 0, 0 }, 1, false },
	{ { 1, 0 }, 1, true },
	{ { 2, 0 }, 1, true }, /* any but 0 */
	{ { 0x80, 0 }, 1, true },
	{ { 0, 1 }, 2, false }, /* what follows is not read */
	{ { 1, 0 }, 2, true },
};
/* clang-format on */

START_TEST(test_from_descriptor)
{
	struct rpma_peer_cfg *pcfg = NULL;
	unsigned char again = 0x77;
	bool supported = !received[_i].supported;

	ck_assert_int_eq(rpma_peer_cfg_from_descriptor(received[_i].desc,
			     received[_i].size, &pcfg),
	    0);
	ck_assert_int_eq(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &supported), 0);
	ck_assert_int_eq(supported, received[_i].supported);
	ck_assert_int_eq(rpma_peer_cfg_get_descriptor(pcfg, &again), 0);
	ck_assert_uint_eq(again, received[_i].supported ? 1 : 0);
	ck_assert_int_eq(rpma_peer_cfg_delete(&pcfg), 0);
}
END_TEST

START_TEST(test_no_memory)
{
	struct rpma_peer_cfg *pcfg = UNTOUCHED(struct rpma_peer_cfg);
	unsigned char desc = 1;

	fake_alloc_fail_nth(1);
	ck_assert_int_eq(rpma_peer_cfg_new(&pcfg), RPMA_E_NOMEM);
	fake_alloc_fail_nth(1);
	ck_assert_int_eq(rpma_peer_cfg_from_descriptor(&desc, 1, &pcfg), RPMA_E_NOMEM);
	fake_alloc_fail_nth(0);
	ck_assert_ptr_eq(pcfg, UNTOUCHED(struct rpma_peer_cfg));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_peer_cfg");
	TCase *tc = fixture_case(suite, "peer_cfg");

	tcase_add_test(tc, test_life);
	tcase_add_test(tc, test_invalid);
	tcase_add_loop_test(tc, test_descriptor, 0,
	    sizeof(descriptors) / sizeof(descriptors[0]));
	tcase_add_loop_test(tc, test_from_descriptor, 0,
	    sizeof(received) / sizeof(received[0]));
	tcase_add_test(tc, test_no_memory);
	return harness_run(suite);
}
