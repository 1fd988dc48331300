/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_desc.c: descriptors of memory regions, byte for byte, and what they give. */
#include <config.h>

#include <infiniband/verbs.h>
#include <string.h>

#include "tests/fake/fake_alloc.h"
#include "tests/unit/rpma_fixture.h"

#define SIZE 21

/* Address 0x1122334455667788, 0x10000 bytes, key 0x99aabbcc, flushable both ways. */
static const unsigned char sample[SIZE] = {
	0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* address */
	0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, /* size */
	0xcc, 0xbb, 0xaa, 0x99,                         /* key */
	0x3b,                                           /* usage */
};

START_TEST(test_size)
{
	size_t size = 77;

	ck_assert_int_eq(rpma_mr_get_descriptor_size(NULL, &size), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_get_descriptor_size(fixture_mr(), NULL), RPMA_E_INVAL);
	ck_assert_uint_eq(size, 77);
	ck_assert_int_eq(rpma_mr_get_descriptor_size(fixture_mr(), &size), 0);
	ck_assert_uint_eq(size, SIZE);
}
END_TEST

/* The i-th byte of a number on a little-endian wire. */
static unsigned char
byte(uint64_t number, unsigned int i)
{
	return (unsigned char)(number >> 8 * i);
}

/* clang-format off */
static const int usages[] = {
	RPMA_MR_USAGE_READ_SRC,
	RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT,
	RPMA_MR_USAGE_RECV, /* the topmost bit */
	0xff,
};
/* clang-format on */

/* All that a descriptor holds is what the device said of the region. */
START_TEST(test_get)
{
	unsigned char desc[SIZE + 2];
	struct rpma_mr_local *mr = NULL;
	struct rpma_mr_remote *remote = NULL;
	uint64_t addr = (uintptr_t)fixture_memory() + 64;
	uint32_t rkey = 0;

	ck_assert_int_eq(rpma_mr_reg(fixture_peer(), fixture_memory() + 64, 0x234,
			     usages[_i], &mr),
	    0);
	memset(desc, 0x5a, sizeof(desc));
	ck_assert_int_eq(rpma_mr_get_descriptor(NULL, desc), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_get_descriptor(mr, NULL), RPMA_E_INVAL);
	ck_assert_uint_eq(desc[0], 0x5a);
	/* at an odd address, and not a byte more than its size */
	ck_assert_int_eq(rpma_mr_get_descriptor(mr, desc + 1), 0);
	ck_assert_uint_eq(desc[0], 0x5a);
	ck_assert_uint_eq(desc[SIZE + 1], 0x5a);
	for (unsigned int i = 0; i < 8; i++)
		ck_assert_uint_eq(desc[1 + i], byte(addr, i));
	for (unsigned int i = 0; i < 8; i++)
		ck_assert_uint_eq(desc[9 + i], byte(0x234, i));
	ck_assert_uint_eq(desc[21], usages[_i]);
	ck_assert_int_eq(rpma_mr_remote_from_descriptor(desc + 1, SIZE, &remote), 0);
	ck_assert_int_eq(rpma_mr_remote_get_rkey(remote, &rkey), 0);
	for (unsigned int i = 0; i < 4; i++)
		ck_assert_uint_eq(desc[17 + i], byte(rkey, i));
	/* the key for peers, which those of the doubles can tell from the other */
	ck_assert_uint_eq(rkey >> 16, 0xc0de);
	ck_assert_int_eq(rpma_mr_remote_delete(&remote), 0);
	ck_assert_int_eq(rpma_mr_dereg(&mr), 0);
}
END_TEST

START_TEST(test_remote)
{
	struct rpma_mr_remote *mr = NULL;
	unsigned char longer[24];
	size_t size = 77;
	uint64_t addr = 77;
	uint32_t rkey = 77;
	int flush = 77;
	int usage = 77;

	memset(longer, 0xff, sizeof(longer));
	memcpy(longer, sample, SIZE);
	/* buffers of 24 bytes are usual */
	ck_assert_int_eq(rpma_mr_remote_from_descriptor(longer, sizeof(longer), &mr),
	    0);
	memset(longer, 0, sizeof(longer));
	ck_assert_int_eq(rpma_mr_remote_get_size(mr, &size), 0);
	ck_assert_uint_eq(size, 0x10000);
	ck_assert_int_eq(rpma_mr_remote_get_flush_type(mr, &flush), 0);
	ck_assert_int_eq(flush, 0x30);
	ck_assert_int_eq(rpma_mr_remote_get_usage(mr, &usage), 0);
	ck_assert_int_eq(usage, 0x3b);
	ck_assert_int_eq(rpma_mr_remote_get_addr(mr, &addr), 0);
	ck_assert_uint_eq(addr, 0x1122334455667788);
	ck_assert_int_eq(rpma_mr_remote_get_rkey(mr, &rkey), 0);
	ck_assert_uint_eq(rkey, 0x99aabbcc);
	ck_assert_str_eq(fake_trace(), "");
	ck_assert_int_eq(rpma_mr_remote_delete(&mr), 0);
	ck_assert_ptr_null(mr);
	ck_assert_int_eq(rpma_mr_remote_delete(&mr), 0);
}
END_TEST

/* The log used to have the numbers as they are on the wire, and cut to 32 bits. */
START_TEST(test_log_of_remote)
{
	struct rpma_mr_remote *mr = NULL;

	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_DEBUG);
	ck_assert_int_eq(rpma_mr_remote_from_descriptor(sample, SIZE, &mr), 0);
	ck_assert_str_eq(fixture_last_log(),
	    "remote region: addr=0x1122334455667788 size=65536 rkey=0x99aabbcc "
	    "usage=0x3b\n");
	ck_assert_int_eq(rpma_mr_remote_delete(&mr), 0);
}
END_TEST

/* clang-format off */
static const struct {
	unsigned char usage;
	int flush;
} flushes[] = {
	{ 0x01, 0 },
	{ 0x10, RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY },
	{ 0x20, RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT },
	{ 0xcf, 0 },
	{ 0xff, 0x30 },
};
/* clang-format on */

START_TEST(test_flush_type)
{
	struct rpma_mr_remote *mr = NULL;
	unsigned char desc[SIZE];
	int flush = 77;

	memcpy(desc, sample, SIZE);
	desc[20] = flushes[_i].usage;
	ck_assert_int_eq(rpma_mr_remote_from_descriptor(desc, SIZE, &mr), 0);
	ck_assert_int_eq(rpma_mr_remote_get_flush_type(mr, &flush), 0);
	ck_assert_int_eq(flush, flushes[_i].flush);
	ck_assert_int_eq(rpma_mr_remote_delete(&mr), 0);
}
END_TEST

START_TEST(test_remote_invalid)
{
	struct rpma_mr_remote *mr = UNTOUCHED(struct rpma_mr_remote);
	unsigned char desc[SIZE];

	memcpy(desc, sample, SIZE);
	ck_assert_int_eq(rpma_mr_remote_from_descriptor(NULL, SIZE, &mr), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_remote_from_descriptor(desc, SIZE, NULL),
	    RPMA_E_INVAL);
	ck_assert_uint_eq(fixture_logs(), 0);
	ck_assert_int_eq(rpma_mr_remote_from_descriptor(desc, SIZE - 1, &mr),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_remote_from_descriptor(desc, 0, &mr), RPMA_E_INVAL);
	desc[20] = 0;
	ck_assert_int_eq(rpma_mr_remote_from_descriptor(desc, SIZE, &mr), RPMA_E_INVAL);
	ck_assert_uint_eq(fixture_logs(), 3);
	fake_alloc_fail_nth(1);
	ck_assert_int_eq(rpma_mr_remote_from_descriptor(sample, SIZE, &mr),
	    RPMA_E_NOMEM);
	fake_alloc_fail_nth(0);
	ck_assert_ptr_eq(mr, UNTOUCHED(struct rpma_mr_remote));
	ck_assert_int_eq(rpma_mr_remote_delete(NULL), RPMA_E_INVAL);
}
END_TEST

START_TEST(test_getters_invalid)
{
	struct rpma_mr_remote *mr = NULL;
	size_t size = 77;
	uint64_t addr = 77;
	uint32_t rkey = 77;
	int bits = 77;

	ck_assert_int_eq(rpma_mr_remote_get_size(NULL, &size), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_remote_get_flush_type(NULL, &bits), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_remote_get_usage(NULL, &bits), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_remote_get_addr(NULL, &addr), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_remote_get_rkey(NULL, &rkey), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_remote_from_descriptor(sample, SIZE, &mr), 0);
	ck_assert_int_eq(rpma_mr_remote_get_size(mr, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_remote_get_flush_type(mr, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_remote_get_usage(mr, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_remote_get_addr(mr, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_remote_get_rkey(mr, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_remote_delete(&mr), 0);
	ck_assert_uint_eq(size, 77);
	ck_assert_uint_eq(addr, 77);
	ck_assert_uint_eq(rkey, 77);
	ck_assert_int_eq(bits, 77);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_desc");
	TCase *tc = fixture_case(suite, "desc");

	tcase_add_test(tc, test_size);
	tcase_add_loop_test(tc, test_get, 0, sizeof(usages) / sizeof(usages[0]));
	tcase_add_test(tc, test_remote);
	tcase_add_test(tc, test_log_of_remote);
	tcase_add_loop_test(tc, test_flush_type, 0,
	    sizeof(flushes) / sizeof(flushes[0]));
	tcase_add_test(tc, test_remote_invalid);
	tcase_add_test(tc, test_getters_invalid);
	return harness_run(suite);
}
