/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_utils.c: devices by address and name, their release, on-demand paging. */
#include <config.h>

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/rpma_fixture.h"

#define LOCAL  RPMA_UTIL_IBV_CONTEXT_LOCAL
#define REMOTE RPMA_UTIL_IBV_CONTEXT_REMOTE

START_TEST(test_get_invalid)
{
	struct ibv_context *context = UNTOUCHED(struct ibv_context);
	enum rpma_util_ibv_context_type neither = (enum rpma_util_ibv_context_type)2;

	ck_assert_int_eq(rpma_utils_get_ibv_context(NULL, LOCAL, &context),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_utils_get_ibv_context(FIXTURE_ADDR, LOCAL, NULL),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_utils_get_ibv_context(FIXTURE_ADDR, neither, &context),
	    RPMA_E_INVAL);
	ck_assert_ptr_eq(context, UNTOUCHED(struct ibv_context));
	ck_assert_str_eq(fake_trace(), "");
}
END_TEST

START_TEST(test_get_local)
{
	struct ibv_context *context = NULL;

	ck_assert_int_eq(rpma_utils_get_ibv_context(FIXTURE_ADDR, LOCAL, &context), 0);
	ck_assert_ptr_eq(context, fake_context(0));
	ck_assert_str_eq(fake_trace(),
	    "rdma_getaddrinfo rdma_create_id rdma_bind_addr rdma_destroy_id "
	    "rdma_freeaddrinfo");
	fake_addr_add("192.0.2.7", 1);
	ck_assert_int_eq(rpma_utils_get_ibv_context("192.0.2.7", LOCAL, &context), 0);
	ck_assert_ptr_eq(context, fake_context(1));
}
END_TEST

START_TEST(test_get_remote)
{
	struct ibv_context *context = NULL;

	fake_dial_script("192.0.2.9", 0, 1, FAKE_DIAL_ACCEPT, 0, NULL, 0);
	ck_assert_int_eq(rpma_utils_get_ibv_context("192.0.2.9", REMOTE, &context), 0);
	ck_assert_ptr_eq(context, fake_context(1));
	ck_assert_ptr_nonnull(strstr(fake_trace_args(), "timeout_ms=1000"));
	ck_assert_int_eq(fake_called("rdma_bind_addr"), 0);
}
END_TEST

/* clang-format off */
static const struct {
	const char *addr;
	enum rpma_util_ibv_context_type type;
	int errnum;
} unusable[] = {
	{ "0.0.0.0", LOCAL, ENODEV },          /* a wildcard belongs to no device */
	{ "::", LOCAL, ENODEV },
	{ "192.0.2.1", LOCAL, EADDRNOTAVAIL }, /* not of this host */
	{ "192.0.2.2", LOCAL, ENODEV },        /* of this host, not of a device */
	{ "192.0.2.3", REMOTE, ENODEV },       /* no route */
	{ "192.0.2.4", REMOTE, ETIMEDOUT },    /* silent */
};
/* clang-format on */

START_TEST(test_get_unusable)
{
	struct ibv_context *context = UNTOUCHED(struct ibv_context);

	fake_addr_local("192.0.2.2");
	fake_dial_script("192.0.2.4", 0, 0, FAKE_DIAL_ADDR_ERROR, -ETIMEDOUT, NULL, 0);
	assert_provider(rpma_utils_get_ibv_context(unusable[_i].addr, unusable[_i].type,
			    &context),
	    unusable[_i].errnum);
	ck_assert_ptr_eq(context, UNTOUCHED(struct ibv_context));
	ck_assert_uint_ge(fixture_logs(), 1);
}
END_TEST

START_TEST(test_by_name)
{
	struct ibv_context *context = NULL;

	fake_options()->devices = 2;
	ck_assert_int_eq(rpma_utils_ibv_context_by_name("fake1", &context), 0);
	ck_assert_ptr_eq(context, fake_context(1));
	ck_assert_int_eq(rpma_utils_ibv_context_by_name("fake0", &context), 0);
	ck_assert_ptr_eq(context, fake_context(0));
	ck_assert_str_eq(rpma_utils_ibv_context_2name(context), "fake0");
	ck_assert_str_eq(rpma_utils_ibv_context_2name(NULL), "");
}
END_TEST

START_TEST(test_by_name_fails)
{
	struct ibv_context *context = UNTOUCHED(struct ibv_context);

	ck_assert_int_eq(rpma_utils_ibv_context_by_name(NULL, &context), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_utils_ibv_context_by_name("fake0", NULL), RPMA_E_INVAL);
	assert_provider(rpma_utils_ibv_context_by_name("fake1", &context), ENODEV);
	assert_provider(rpma_utils_ibv_context_by_name("", &context), ENODEV);
	fake_fail_call("rdma_get_devices", 1, ENOENT);
	assert_provider(rpma_utils_ibv_context_by_name("fake0", &context), ENOENT);
	ck_assert_ptr_eq(context, UNTOUCHED(struct ibv_context));
}
END_TEST

START_TEST(test_release)
{
	struct ibv_context *context = fake_context(1);
	struct stat before;
	struct stat after;

	ck_assert_int_eq(rpma_utils_ibv_context_release(NULL), RPMA_E_INVAL);
	ck_assert(!fake_device_released(context));
	ck_assert_int_eq(rpma_utils_ibv_context_release(context), 0);
	ck_assert(fake_device_released(context));
	ck_assert_int_eq(fstat(context->cmd_fd, &before), 0);
	ck_assert(S_ISCHR(before.st_mode));
	ck_assert_int_eq(rpma_utils_ibv_context_release(context), 0);
	ck_assert_int_eq(fstat(context->cmd_fd, &after), 0);
	ck_assert_uint_eq(before.st_rdev, after.st_rdev);
}
END_TEST

START_TEST(test_release_fails)
{
	struct ibv_context context = { .cmd_fd = -1, .async_fd = -1 };

	assert_provider(rpma_utils_ibv_context_release(&context), EBADF);
}
END_TEST

START_TEST(test_odp)
{
	int odp = 77;

	ck_assert_int_eq(rpma_utils_ibv_context_is_odp_capable(NULL, &odp),
	    RPMA_E_INVAL);
	ck_assert_int_eq(odp, 77);
	ck_assert_int_eq(rpma_utils_ibv_context_is_odp_capable(fake_context(0), NULL),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_utils_ibv_context_is_odp_capable(fake_context(0), &odp),
	    0);
	ck_assert_int_eq(odp, 0);
	fake_options()->odp = true;
	ck_assert_int_eq(rpma_utils_ibv_context_is_odp_capable(fake_context(0), &odp),
	    0);
	ck_assert_int_eq(odp, 1);
	fake_fail_call("ibv_query_device_ex", 1, EIO);
	assert_provider(rpma_utils_ibv_context_is_odp_capable(fake_context(0), &odp),
	    EIO);
	ck_assert_int_eq(odp, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_utils");
	TCase *tc = fixture_case(suite, "by address");

	tcase_add_test(tc, test_get_invalid);
	tcase_add_test(tc, test_get_local);
	tcase_add_test(tc, test_get_remote);
	tcase_add_loop_test(tc, test_get_unusable, 0,
	    sizeof(unusable) / sizeof(unusable[0]));
	tc = fixture_case(suite, "by name");
	tcase_add_test(tc, test_by_name);
	tcase_add_test(tc, test_by_name_fails);
	tc = fixture_case(suite, "release");
	tcase_add_test(tc, test_release);
	tcase_add_test(tc, test_release_fails);
	tc = fixture_case(suite, "odp");
	tcase_add_test(tc, test_odp);
	return harness_run(suite);
}
