/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_mr.c: registration of memory. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/fake/fake_alloc.h"
#include "tests/unit/rpma_fixture.h"

#define LW IBV_ACCESS_LOCAL_WRITE
#define RW IBV_ACCESS_REMOTE_WRITE
#define RR IBV_ACCESS_REMOTE_READ

static char buffer[64];

/* clang-format off */
static const struct {
	int usage;
	unsigned int access;
	unsigned int access_iwarp;
} usages[] = {
	{ RPMA_MR_USAGE_READ_SRC, RR, RR },
	{ RPMA_MR_USAGE_READ_DST, LW, LW | RW },
	{ RPMA_MR_USAGE_WRITE_SRC, 0, 0 },
	{ RPMA_MR_USAGE_WRITE_DST, RW | LW, RW | LW },
	{ RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY, RR, RR },
	{ RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, RR, RR },
	{ RPMA_MR_USAGE_SEND, 0, 0 },
	{ RPMA_MR_USAGE_RECV, LW, LW },
	{ RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, LW, LW },
	{ RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST, RR | RW | LW, RR | RW | LW },
	{ 0xff, RR | RW | LW, RR | RW | LW },
};
/* clang-format on */

/* Register for a usage and compare the access that the device is asked for. */
static void
check_access(struct rpma_peer *peer, int usage, unsigned int access)
{
	struct rpma_mr_local *mr = NULL;
	char expected[64];

	fake_trace_clear();
	ck_assert_int_eq(rpma_mr_reg(peer, buffer, sizeof(buffer), usage, &mr), 0);
	(void)snprintf(expected, sizeof(expected), "ibv_reg_mr(length=64,access=%u)",
	    access);
	ck_assert_str_eq(fake_trace_args(), expected);
	ck_assert_int_eq(rpma_mr_dereg(&mr), 0);
	ck_assert_ptr_null(mr);
}

START_TEST(test_access)
{
	check_access(fixture_peer(), usages[_i].usage, usages[_i].access);
}
END_TEST

START_TEST(test_access_iwarp)
{
	struct rpma_peer *peer = NULL;

	fake_set_kind(FAKE_IWARP);
	ck_assert_int_eq(rpma_peer_new(fake_context(0), &peer), 0);
	check_access(peer, usages[_i].usage, usages[_i].access_iwarp);
	ck_assert_int_eq(rpma_peer_delete(&peer), 0);
}
END_TEST

START_TEST(test_reg_invalid)
{
	struct rpma_mr_local *mr = UNTOUCHED(struct rpma_mr_local);
	struct rpma_peer *peer = fixture_peer();

	ck_assert_int_eq(rpma_mr_reg(NULL, buffer, 8, RPMA_MR_USAGE_RECV, &mr),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_reg(peer, NULL, 8, RPMA_MR_USAGE_RECV, &mr),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_reg(peer, buffer, 0, RPMA_MR_USAGE_RECV, &mr),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_reg(peer, buffer, 8, 0, &mr), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_reg(peer, buffer, 8, 0x100, &mr), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_reg(peer, buffer, 8, 0x101, &mr), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_reg(peer, buffer, 8, -1, &mr), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_reg(peer, buffer, 8, RPMA_MR_USAGE_RECV, NULL),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_dereg(NULL), RPMA_E_INVAL);
	ck_assert_ptr_eq(mr, UNTOUCHED(struct rpma_mr_local));
	ck_assert_str_eq(fake_trace(), "");
	mr = NULL;
	ck_assert_int_eq(rpma_mr_dereg(&mr), 0);
}
END_TEST

START_TEST(test_reg_fails)
{
	struct rpma_mr_local *mr = UNTOUCHED(struct rpma_mr_local);

	fake_options()->memlock_bytes = 16;
	assert_provider(rpma_mr_reg(fixture_peer(), buffer, sizeof(buffer),
			    RPMA_MR_USAGE_RECV, &mr),
	    ENOMEM);
	ck_assert_ptr_nonnull(strstr(fixture_last_log(), "locked memory"));
	fake_alloc_fail_nth(1);
	ck_assert_int_eq(rpma_mr_reg(fixture_peer(), buffer, 8, RPMA_MR_USAGE_RECV,
			     &mr),
	    RPMA_E_NOMEM);
	ck_assert_ptr_eq(mr, UNTOUCHED(struct rpma_mr_local));
}
END_TEST

/* What cannot be pinned is tried again with paging, if the device can do that. */
START_TEST(test_reg_odp)
{
	struct rpma_peer *peer = NULL;
	struct rpma_mr_local *mr = NULL;

	fake_fail_call("ibv_reg_mr", 1, EOPNOTSUPP);
	assert_provider(rpma_mr_reg(fixture_peer(), buffer, 8, RPMA_MR_USAGE_RECV, &mr),
	    EOPNOTSUPP);
	fake_options()->odp = true;
	ck_assert_int_eq(rpma_peer_new(fake_context(0), &peer), 0);
	fake_trace_clear();
	fake_fail_call("ibv_reg_mr", 1, EOPNOTSUPP);
	ck_assert_int_eq(rpma_mr_reg(peer, buffer, 8, RPMA_MR_USAGE_RECV, &mr), 0);
	ck_assert_str_eq(fake_trace_args(),
	    "ibv_reg_mr(length=8,access=1) ibv_reg_mr(length=8,access=65)");
	ck_assert_int_eq(rpma_mr_dereg(&mr), 0);
	fake_fail_call("ibv_reg_mr", 1, EINVAL);
	assert_provider(rpma_mr_reg(peer, buffer, 8, RPMA_MR_USAGE_RECV, &mr), EINVAL);
	ck_assert_int_eq(rpma_peer_delete(&peer), 0);
}
END_TEST

START_TEST(test_getters)
{
	struct rpma_mr_local *mr = NULL;
	void *ptr = buffer + 1;
	size_t size = 77;

	ck_assert_int_eq(rpma_mr_reg(fixture_peer(), buffer + 8, 24, RPMA_MR_USAGE_RECV,
			     &mr),
	    0);
	ck_assert_int_eq(rpma_mr_get_ptr(NULL, &ptr), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_get_ptr(mr, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_get_size(NULL, &size), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_get_size(mr, NULL), RPMA_E_INVAL);
	ck_assert_ptr_eq(ptr, buffer + 1);
	ck_assert_uint_eq(size, 77);
	ck_assert_int_eq(rpma_mr_get_ptr(mr, &ptr), 0);
	ck_assert_int_eq(rpma_mr_get_size(mr, &size), 0);
	ck_assert_ptr_eq(ptr, buffer + 8);
	ck_assert_uint_eq(size, 24);
	ck_assert_int_eq(rpma_mr_dereg(&mr), 0);
}
END_TEST

/* clang-format off */
static const struct {
	size_t offset;
	size_t len;
	int ret;
} advised[] = {
	{ 0, 64, 0 },
	{ 8, 16, 0 },
	{ 64, 0, 0 },
	{ 0, 65, RPMA_E_INVAL },
	{ 64, 1, RPMA_E_INVAL },
	{ 65, 0, RPMA_E_INVAL },
	{ SIZE_MAX, 1, RPMA_E_INVAL },
	/* 4 GiB and 8 bytes used to be 8 bytes, and a success */
	{ 0, ((size_t)1 << 32) + 8, RPMA_E_INVAL },
};
/* clang-format on */

START_TEST(test_advise)
{
	struct rpma_mr_local *mr = NULL;
	int ret = advised[_i].ret;

	fake_options()->odp = true;
	ck_assert_int_eq(rpma_mr_reg(fixture_peer(), buffer, sizeof(buffer),
			     RPMA_MR_USAGE_RECV, &mr),
	    0);
	fake_trace_clear();
	ck_assert_int_eq(rpma_mr_advise(mr, advised[_i].offset, advised[_i].len,
			     IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			     IBV_ADVISE_MR_FLAG_FLUSH),
	    ret);
	ck_assert_str_eq(fake_trace_args(),
	    ret ? "" : "ibv_advise_mr(advice=1,flags=1,n=1)");
	ck_assert_int_eq(rpma_mr_dereg(&mr), 0);
}
END_TEST

/* clang-format off */
static const struct {
	int errnum;
	int ret;
} advise_errors[] = {
	{ EOPNOTSUPP, RPMA_E_NOSUPP },
	{ ENOTSUP, RPMA_E_NOSUPP },
	{ EFAULT, RPMA_E_INVAL },
	{ EINVAL, RPMA_E_INVAL },
	{ EIO, RPMA_E_PROVIDER },
	{ ENOMEM, RPMA_E_PROVIDER },
};
/* clang-format on */

START_TEST(test_advise_fails)
{
	struct rpma_mr_local *mr = NULL;

	fake_options()->odp = true;
	ck_assert_int_eq(rpma_mr_reg(fixture_peer(), buffer, sizeof(buffer),
			     RPMA_MR_USAGE_RECV, &mr),
	    0);
	fake_fail_call("ibv_advise_mr", 1, advise_errors[_i].errnum);
	ck_assert_int_eq(rpma_mr_advise(mr, 0, 8, IBV_ADVISE_MR_ADVICE_PREFETCH, 0),
	    advise_errors[_i].ret);
	ck_assert_int_eq(rpma_err_last_errno(), advise_errors[_i].errnum);
	ck_assert_int_eq(rpma_mr_dereg(&mr), 0);
}
END_TEST

/* A region that is none used to be a crash; a device that takes no advice says so. */
START_TEST(test_advise_nothing)
{
	struct rpma_mr_local *mr = NULL;

	ck_assert_int_eq(rpma_mr_advise(NULL, 0, 0, IBV_ADVISE_MR_ADVICE_PREFETCH, 0),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_reg(fixture_peer(), buffer, sizeof(buffer),
			     RPMA_MR_USAGE_RECV, &mr),
	    0);
	ck_assert_int_eq(rpma_mr_advise(mr, 0, 8, IBV_ADVISE_MR_ADVICE_PREFETCH, 0),
	    RPMA_E_NOSUPP);
	ck_assert_uint_eq(fixture_logs(), 0);
	ck_assert_int_eq(rpma_mr_dereg(&mr), 0);
}
END_TEST

START_TEST(test_dereg_fails)
{
	struct rpma_mr_local *mr = NULL;

	ck_assert_int_eq(rpma_mr_reg(fixture_peer(), buffer, 8, RPMA_MR_USAGE_RECV,
			     &mr),
	    0);
	fake_fail_call("ibv_dereg_mr", 1, EIO);
	assert_provider(rpma_mr_dereg(&mr), EIO);
	ck_assert_ptr_null(mr);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_mr");
	TCase *tc = fixture_case(suite, "mr");
	int n = sizeof(usages) / sizeof(usages[0]);

	tcase_add_loop_test(tc, test_access, 0, n);
	tcase_add_loop_test(tc, test_access_iwarp, 0, n);
	tcase_add_test(tc, test_reg_invalid);
	tcase_add_test(tc, test_reg_fails);
	tcase_add_test(tc, test_reg_odp);
	tcase_add_test(tc, test_getters);
	tcase_add_loop_test(tc, test_advise, 0, sizeof(advised) / sizeof(advised[0]));
	tcase_add_loop_test(tc, test_advise_fails, 0,
	    sizeof(advise_errors) / sizeof(advise_errors[0]));
	tcase_add_test(tc, test_advise_nothing);
	tcase_add_test(tc, test_dereg_fails);
	return harness_run(suite);
}
