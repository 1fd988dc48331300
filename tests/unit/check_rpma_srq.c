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

/* Register n bytes of which the doubles look at none. */
static struct rpma_mr_local *
reg(size_t n)
{
	struct rpma_mr_local *mr = NULL;

	ck_assert_int_eq(rpma_mr_reg(fixture_peer(), fixture_memory(), n,
			     RPMA_MR_USAGE_RECV, &mr),
	    0);
	return mr;
}

/* clang-format off */
static const struct {
	size_t size;
	size_t offset;
	size_t len;
	int ret;
} batch_ranges[] = {
	{ 4096, 0, 1, 0 },
	{ 4096, 0, 4096, 0 },
	{ 4096, 4095, 1, 0 },
	{ 1, 0, 1, 0 },
	{ 4096, 0, 0, 0 }, /* an empty one among others */
	{ 4096, 4096, 0, 0 },
	{ 4096, 4097, 0, RPMA_E_INVAL },
	{ 4096, 4096, 1, RPMA_E_INVAL },
	{ 4096, 0, 4097, RPMA_E_INVAL },
	{ 4096, 1, 4096, RPMA_E_INVAL },
	{ 4096, SIZE_MAX, 1, RPMA_E_INVAL },
	{ 4096, SIZE_MAX, 2, RPMA_E_INVAL },
	{ 4096, (size_t)-100, 200, RPMA_E_INVAL },
	{ 4096, (size_t)1 << 63, 1, RPMA_E_INVAL },
	{ 4096, 8, SIZE_MAX, RPMA_E_INVAL },
	{ 4096, 8, SIZE_MAX - 7, RPMA_E_INVAL },
	{ 4096, 0, HUGE, RPMA_E_INVAL },
	{ 4096, 0, HUGE + 1, RPMA_E_INVAL },
	{ HUGE - 1, 0, HUGE - 1, 0 },
	{ HUGE - 1, 1, HUGE - 1, RPMA_E_INVAL },
	{ HUGE, 0, HUGE - 1, 0 },
	{ HUGE, HUGE - 1, 1, 0 },
	{ HUGE, 0, HUGE, RPMA_E_INVAL },
	{ 2 * HUGE, HUGE + 7, HUGE - 7, 0 },
	{ 2 * HUGE, 0, HUGE + 1, RPMA_E_INVAL },
	{ 2 * HUGE, 2 * HUGE, 1, RPMA_E_INVAL },
};
/* clang-format on */

/* The receives that the provider got with the last call. */
static struct {
	struct ibv_recv_wr wr;
	struct ibv_sge sge;
} got[RPMA_SRQ_BATCH_MAX];
static size_t got_n;

static int
keep_recvs(struct ibv_srq *to, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)to;
	(void)bad;
	for (got_n = 0; wr; wr = wr->next) {
		got[got_n].wr = *wr;
		got[got_n++].sge = wr->sg_list[0];
	}
	return 0;
}

/*
 * A batch of every length, at every place of which one buffer is of a row: all others
 * are as they should be, and the batch after it is, too.
 */
START_TEST(test_batch_range)
{
	static const struct rpma_srq_buf usual = { 0, 1, (void *)7 };
	struct rpma_mr_local *mr = reg(batch_ranges[_i].size);
	struct rpma_srq *srq = new_srq(64, 0);
	struct rpma_srq_buf bufs[9];
	size_t posted;

	fake_context(0)->ops.post_srq_recv = keep_recvs;
	for (size_t n = 1; n <= 9; n++) {
		for (size_t at = 0; at < n; at++) {
			for (size_t i = 0; i < n; i++)
				bufs[i] = usual;
			bufs[at].offset = batch_ranges[_i].offset;
			bufs[at].len = batch_ranges[_i].len;
			bufs[at].op_context = (void *)8;
			posted = 77;
			got_n = 0;
			ck_assert_int_eq(rpma_srq_recv_batch(srq, mr, bufs, n, &posted),
			    batch_ranges[_i].ret);
			ck_assert_uint_eq(posted, batch_ranges[_i].ret ? 77 : n);
			ck_assert_uint_eq(got_n, batch_ranges[_i].ret ? 0 : n);
			for (size_t i = 0; i < got_n; i++) {
				ck_assert_uint_eq(got[i].wr.wr_id, i == at ? 8 : 7);
				ck_assert_int_eq(got[i].wr.num_sge,
				    bufs[i].len ? 1 : 0);
				ck_assert_uint_eq(got[i].sge.addr,
				    (uintptr_t)fixture_memory() + bufs[i].offset);
				ck_assert_uint_eq(got[i].sge.length, bufs[i].len);
			}
			bufs[at] = usual;
			ck_assert_int_eq(rpma_srq_recv_batch(srq, mr, bufs, n, &posted),
			    0);
			ck_assert_uint_eq(got_n, n);
			ck_assert_int_eq(got[at].wr.num_sge, 1);
			ck_assert_uint_eq(got[at].sge.length, 1);
		}
	}
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
	ck_assert_int_eq(rpma_mr_dereg(&mr), 0);
}
END_TEST

/* Each buffer has the key of its own region, whichever was before. */
START_TEST(test_batch_regions)
{
	struct rpma_mr_local *mrs[2] = { reg(64), reg(64) };
	struct rpma_srq *srq = new_srq(64, 0);
	struct rpma_srq_buf bufs[5] = { { 0, 8, NULL } };
	uint32_t lkeys[2] = { 0, 0 };
	size_t posted;

	for (size_t i = 1; i < 5; i++)
		bufs[i] = (struct rpma_srq_buf){ 8 * i, 8, NULL };
	fake_context(0)->ops.post_srq_recv = keep_recvs;
	for (int round = 0; round < 4; round++) {
		int which = round % 2;

		ck_assert_int_eq(rpma_srq_recv_batch(srq, mrs[which], bufs, 5, &posted),
		    0);
		for (size_t i = 1; i < 5; i++)
			ck_assert_uint_eq(got[i].sge.lkey, got[0].sge.lkey);
		if (round < 2)
			lkeys[which] = got[0].sge.lkey;
		ck_assert_uint_eq(got[0].sge.lkey, lkeys[which]);
	}
	ck_assert_uint_ne(lkeys[0], lkeys[1]);
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
	ck_assert_int_eq(rpma_mr_dereg(&mrs[0]), 0);
	ck_assert_int_eq(rpma_mr_dereg(&mrs[1]), 0);
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
	tcase_add_loop_test(tc, test_batch_range, 0,
	    sizeof(batch_ranges) / sizeof(batch_ranges[0]));
	tcase_add_test(tc, test_batch_regions);
	tcase_add_test(tc, test_limit);
	return harness_run(suite);
}
