/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_srq.c: shared receive queues and the receives given to them. */
#include <config.h>

#include <errno.h>
#include <string.h>

#include "tests/unit/rpma_fixture.h"

/* A queue of given sizes. */
static struct rpma_srq *
new_srq(uint32_t rq_size, uint32_t rcq_size)
{
	struct rpma_srq_cfg *cfg = NULL;
	struct rpma_srq *srq = NULL;

	ck_assert_int_eq(rpma_srq_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_srq_cfg_set_rq_size(cfg, rq_size), 0);
	ck_assert_int_eq(rpma_srq_cfg_set_rcq_size(cfg, rcq_size), 0);
	ck_assert_int_eq(rpma_srq_new(fixture_peer(), cfg, &srq), 0);
	ck_assert_int_eq(rpma_srq_cfg_delete(&cfg), 0);
	return srq;
}

START_TEST(test_default)
{
	struct rpma_srq *srq = NULL;
	struct rpma_cq *rcq = NULL;

	ck_assert_int_eq(rpma_srq_new(fixture_peer(), NULL, &srq), 0);
	ck_assert_str_eq(fake_trace_args(),
	    "ibv_create_srq(max_wr=20,max_sge=1) ibv_create_comp_channel "
	    "ibv_create_cq(cqe=20) ibv_req_notify_cq(solicited=0)");
	ck_assert_int_eq(rpma_srq_get_rcq(srq, &rcq), 0);
	ck_assert_ptr_nonnull(rcq);
	fake_trace_clear();
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
	ck_assert_ptr_null(srq);
	ck_assert_str_eq(fake_trace(),
	    "ibv_destroy_cq ibv_destroy_comp_channel ibv_destroy_srq");
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
}
END_TEST

START_TEST(test_without_rcq)
{
	struct rpma_srq *srq = new_srq(7, 0);
	struct rpma_cq *rcq = UNTOUCHED(struct rpma_cq);

	ck_assert_str_eq(fake_trace_args(), "ibv_create_srq(max_wr=7,max_sge=1)");
	ck_assert_int_eq(rpma_srq_get_rcq(srq, &rcq), 0);
	ck_assert_ptr_null(rcq);
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
}
END_TEST

START_TEST(test_size)
{
	struct rpma_srq *srq;
	uint32_t size = 77;

	fake_options()->srq_extra = 3;
	fake_options()->srq_query_nonsense = true;
	srq = new_srq(7, 8);
	ck_assert_int_eq(rpma_srq_get_size(NULL, &size), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_get_size(srq, NULL), RPMA_E_INVAL);
	ck_assert_uint_eq(size, 77);
	ck_assert_int_eq(rpma_srq_get_size(srq, &size), 0);
	ck_assert_uint_eq(size, 10);
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
}
END_TEST

START_TEST(test_invalid)
{
	struct rpma_srq *srq = UNTOUCHED(struct rpma_srq);
	struct rpma_cq *rcq = UNTOUCHED(struct rpma_cq);

	ck_assert_int_eq(rpma_srq_new(NULL, NULL, &srq), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_new(fixture_peer(), NULL, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_delete(NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_get_rcq(NULL, &rcq), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_get_rcq(srq, NULL), RPMA_E_INVAL);
	ck_assert_ptr_eq(srq, UNTOUCHED(struct rpma_srq));
	ck_assert_ptr_eq(rcq, UNTOUCHED(struct rpma_cq));
}
END_TEST

static const char *const steps[] = {
	"ibv_create_srq",
	"ibv_create_comp_channel",
	"ibv_create_cq",
	"ibv_req_notify_cq",
};

START_TEST(test_new_fails)
{
	struct rpma_srq *srq = UNTOUCHED(struct rpma_srq);

	fake_fail_call(steps[_i], 1, ENOSPC);
	assert_provider(rpma_srq_new(fixture_peer(), NULL, &srq), ENOSPC);
	ck_assert_ptr_eq(srq, UNTOUCHED(struct rpma_srq));
	ck_assert_str_eq(fake_leaks(), "pd 1");
}
END_TEST

static const char *const delete_steps[] = {
	"ibv_destroy_cq",
	"ibv_destroy_comp_channel",
	"ibv_destroy_srq",
};

START_TEST(test_delete_fails)
{
	struct rpma_srq *srq = new_srq(7, 7);

	fake_fail_call(delete_steps[_i], 1, EBUSY);
	assert_provider(rpma_srq_delete(&srq), EBUSY);
	ck_assert_ptr_null(srq);
}
END_TEST

#define SIZE FIXTURE_MR_SIZE
#define HUGE ((size_t)1 << 32)

/* clang-format off */
static const struct {
	bool with_dst;
	size_t offset;
	size_t len;
	int ret;
} ranges[] = {
	{ true, 0, SIZE, 0 },
	{ true, SIZE - 1, 1, 0 },
	{ true, 0, 0, 0 },
	{ true, SIZE, 0, 0 },
	{ true, 0, SIZE + 1, RPMA_E_INVAL },
	{ true, 1, SIZE, RPMA_E_INVAL },
	{ true, SIZE, 1, RPMA_E_INVAL },
	{ true, SIZE + 1, 0, RPMA_E_INVAL },
	{ true, SIZE_MAX, 1, RPMA_E_INVAL },  /* the sum wraps around to 0 */
	{ true, 8, SIZE_MAX - 7, RPMA_E_INVAL },
	{ true, 0, HUGE, RPMA_E_INVAL },      /* 0 in 32 bits */
	{ true, 0, HUGE + 5, RPMA_E_INVAL },
	{ false, 0, 0, 0 },
	{ false, 1, 0, RPMA_E_INVAL },
	{ false, 0, 1, RPMA_E_INVAL },
};
/* clang-format on */

START_TEST(test_recv_range)
{
	struct rpma_srq *srq = new_srq(4, 4);
	struct rpma_mr_local *dst = ranges[_i].with_dst ? fixture_mr() : NULL;

	fake_trace_clear();
	ck_assert_int_eq(rpma_srq_recv(srq, dst, ranges[_i].offset, ranges[_i].len,
			     (void *)7),
	    ranges[_i].ret);
	ck_assert_uint_eq(fake_srq_posted(), ranges[_i].ret ? 0 : 1);
	ck_assert_str_eq(fake_trace_args(),
	    ranges[_i].ret ? "" : "ibv_post_srq_recv(n=1)");
	ck_assert_int_eq(rpma_srq_recv(NULL, dst, 0, 0, NULL), RPMA_E_INVAL);
	ck_assert_uint_eq(fixture_logs(), 0);
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
}
END_TEST

/* A range of more than 4 GiB - 1, within the region. */
START_TEST(test_recv_too_long)
{
	struct rpma_srq *srq = new_srq(4, 4);
	struct rpma_mr_local *mr = NULL;

	ck_assert_int_eq(rpma_mr_reg(fixture_peer(), fixture_memory(), HUGE + 64,
			     RPMA_MR_USAGE_RECV, &mr),
	    0);
	ck_assert_int_eq(rpma_srq_recv(srq, mr, 0, HUGE - 1, NULL), 0);
	ck_assert_int_eq(rpma_srq_recv(srq, mr, 0, HUGE, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_recv(srq, mr, 64, HUGE, NULL), RPMA_E_INVAL);
	ck_assert_uint_eq(fake_srq_posted(), 1);
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
	ck_assert_int_eq(rpma_mr_dereg(&mr), 0);
}
END_TEST

/* How drivers say "full", and other errors. */
static const int fulls[] = { ENOMEM, -ENOMEM, -1 };

START_TEST(test_recv_full)
{
	struct rpma_srq *srq;

	fake_options()->srq_full = fulls[_i];
	srq = new_srq(2, 2);
	ck_assert_int_eq(rpma_srq_recv(srq, NULL, 0, 0, NULL), 0);
	ck_assert_int_eq(rpma_srq_recv(srq, NULL, 0, 0, NULL), 0);
	assert_provider(rpma_srq_recv(srq, NULL, 0, 0, NULL), ENOMEM);
	ck_assert_uint_eq(fixture_logs(), 0);
	fake_fail_call("ibv_post_srq_recv", 1, EIO);
	assert_provider(rpma_srq_recv(srq, NULL, 0, 0, NULL), EIO);
	ck_assert_uint_eq(fixture_logs(), 1);
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
}
END_TEST

START_TEST(test_batch_invalid)
{
	struct rpma_srq *srq = new_srq(4, 4);
	struct rpma_srq_buf bufs[RPMA_SRQ_BATCH_MAX + 1] = { { 0, 1, NULL } };
	size_t posted = 77;

	ck_assert_int_eq(rpma_srq_recv_batch(NULL, fixture_mr(), bufs, 1, &posted),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_recv_batch(srq, NULL, bufs, 1, &posted),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_recv_batch(srq, fixture_mr(), NULL, 1, &posted),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_recv_batch(srq, fixture_mr(), bufs, 0, &posted),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_recv_batch(srq, fixture_mr(), bufs,
			     RPMA_SRQ_BATCH_MAX + 1, &posted),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_recv_batch(srq, fixture_mr(), bufs, 1, NULL),
	    RPMA_E_INVAL);
	bufs[1] = (struct rpma_srq_buf){ SIZE - 4, 5, NULL };
	ck_assert_int_eq(rpma_srq_recv_batch(srq, fixture_mr(), bufs, 2, &posted),
	    RPMA_E_INVAL);
	ck_assert_uint_eq(posted, 77);
	ck_assert_uint_eq(fake_srq_posted(), 0);
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
}
END_TEST

START_TEST(test_batch)
{
	struct rpma_srq *srq = new_srq(RPMA_SRQ_BATCH_MAX + 1, 4);
	struct rpma_srq_buf bufs[RPMA_SRQ_BATCH_MAX];
	size_t posted = 77;

	for (size_t i = 0; i < RPMA_SRQ_BATCH_MAX; i++)
		bufs[i] = (struct rpma_srq_buf){ i * 64, 64, &bufs[i] };
	(void)fixture_mr();
	fake_trace_clear();
	ck_assert_int_eq(rpma_srq_recv_batch(srq, fixture_mr(), bufs, 1, &posted), 0);
	ck_assert_uint_eq(posted, 1);
	ck_assert_int_eq(rpma_srq_recv_batch(srq, fixture_mr(), bufs,
			     RPMA_SRQ_BATCH_MAX, &posted),
	    0);
	ck_assert_uint_eq(posted, RPMA_SRQ_BATCH_MAX);
	ck_assert_str_eq(fake_trace_args(),
	    "ibv_post_srq_recv(n=1) ibv_post_srq_recv(n=64)");
	ck_assert_uint_eq(fake_srq_posted(), 1 + RPMA_SRQ_BATCH_MAX);
	assert_provider(rpma_srq_recv_batch(srq, fixture_mr(), bufs, 2, &posted),
	    ENOMEM);
	ck_assert_uint_eq(posted, 0);
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
}
END_TEST

START_TEST(test_batch_in_part)
{
	struct rpma_srq *srq = new_srq(5, 5);
	struct rpma_srq_buf bufs[8] = { { 0, 1, NULL } };
	size_t posted = 77;

	assert_provider(rpma_srq_recv_batch(srq, fixture_mr(), bufs, 8, &posted),
	    ENOMEM);
	ck_assert_uint_eq(posted, 5);
	ck_assert_uint_eq(fake_srq_posted(), 5);
	ck_assert_uint_eq(fixture_logs(), 0);
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
}
END_TEST

START_TEST(test_limit)
{
	struct rpma_srq *srq = new_srq(5, 5);

	ck_assert_int_eq(rpma_srq_set_limit(NULL, 1), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_set_limit(srq, 3), 0);
	ck_assert_uint_eq(fake_srq_limit(), 3);
	ck_assert_int_eq(rpma_srq_set_limit(srq, 0), 0);
	ck_assert_uint_eq(fake_srq_limit(), 0);
	fake_fail_call("ibv_modify_srq", 1, EINVAL);
	assert_provider(rpma_srq_set_limit(srq, 1), EINVAL);
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_srq");
	TCase *tc = fixture_case(suite, "life");

	tcase_add_test(tc, test_default);
	tcase_add_test(tc, test_without_rcq);
	tcase_add_test(tc, test_size);
	tcase_add_test(tc, test_invalid);
	tcase_add_loop_test(tc, test_new_fails, 0, sizeof(steps) / sizeof(steps[0]));
	tcase_add_loop_test(tc, test_delete_fails, 0,
	    sizeof(delete_steps) / sizeof(delete_steps[0]));
	tc = fixture_case(suite, "recv");
	tcase_add_loop_test(tc, test_recv_range, 0, sizeof(ranges) / sizeof(ranges[0]));
	tcase_add_test(tc, test_recv_too_long);
	tcase_add_loop_test(tc, test_recv_full, 0, sizeof(fulls) / sizeof(fulls[0]));
	tc = fixture_case(suite, "batch");
	tcase_add_test(tc, test_batch_invalid);
	tcase_add_test(tc, test_batch);
	tcase_add_test(tc, test_batch_in_part);
	tcase_add_test(tc, test_limit);
	return harness_run(suite);
}
