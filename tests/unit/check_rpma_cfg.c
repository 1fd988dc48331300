/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_cfg.c: the configurations of connections and shared receive queues. */
#include <config.h>

#include <limits.h>

#include "tests/fake/fake_alloc.h"
#include "tests/unit/rpma_fixture.h"

/* The numbers of struct rpma_conn_cfg behind one pair of functions each. */
typedef int conn_set_fn(struct rpma_conn_cfg *cfg, uint32_t value);
typedef int conn_get_fn(const struct rpma_conn_cfg *cfg, uint32_t *value);

/* clang-format off */
static const struct {
	conn_set_fn *set;
	conn_get_fn *get;
	uint32_t initial;
} sizes[] = {
	{ rpma_conn_cfg_set_cq_size, rpma_conn_cfg_get_cq_size, 10 },
	{ rpma_conn_cfg_set_rcq_size, rpma_conn_cfg_get_rcq_size, 0 },
	{ rpma_conn_cfg_set_sq_size, rpma_conn_cfg_get_sq_size, 10 },
	{ rpma_conn_cfg_set_rq_size, rpma_conn_cfg_get_rq_size, 10 },
	{ rpma_conn_cfg_set_rnr_retry, rpma_conn_cfg_get_rnr_retry, 7 },
};
/* clang-format on */

static struct rpma_conn_cfg *
new_cfg(void)
{
	struct rpma_conn_cfg *cfg = NULL;

	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_ptr_nonnull(cfg);
	return cfg;
}

START_TEST(test_conn_cfg_life)
{
	struct rpma_conn_cfg *cfg = UNTOUCHED(struct rpma_conn_cfg);

	ck_assert_int_eq(rpma_conn_cfg_new(NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_delete(NULL), RPMA_E_INVAL);
	fake_alloc_fail_nth(1);
	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), RPMA_E_NOMEM);
	ck_assert(fake_alloc_fired());
	ck_assert_ptr_eq(cfg, UNTOUCHED(struct rpma_conn_cfg));
	cfg = new_cfg();
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
	ck_assert_ptr_null(cfg);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
}
END_TEST

START_TEST(test_conn_cfg_size)
{
	struct rpma_conn_cfg *cfg = new_cfg();
	uint32_t value = 99;

	ck_assert_int_eq(sizes[_i].get(cfg, &value), 0);
	ck_assert_uint_eq(value, sizes[_i].initial);
	ck_assert_int_eq(sizes[_i].set(cfg, 5), 0);
	ck_assert_int_eq(sizes[_i].get(cfg, &value), 0);
	ck_assert_uint_eq(value, 5);
	ck_assert_int_eq(sizes[_i].set(cfg, 0), 0);
	ck_assert_int_eq(sizes[_i].get(cfg, &value), 0);
	ck_assert_uint_eq(value, 0);
	ck_assert_int_eq(sizes[_i].set(NULL, 5), RPMA_E_INVAL);
	ck_assert_int_eq(sizes[_i].get(NULL, &value), RPMA_E_INVAL);
	ck_assert_int_eq(sizes[_i].get(cfg, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
}
END_TEST

START_TEST(test_conn_cfg_rnr_retry)
{
	struct rpma_conn_cfg *cfg = new_cfg();
	unsigned int value = 99;

	for (unsigned int i = 0; i <= 7; i++)
		ck_assert_int_eq(rpma_conn_cfg_set_rnr_retry(cfg, i), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_rnr_retry(cfg, 8), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_set_rnr_retry(cfg, 256), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_get_rnr_retry(cfg, &value), 0);
	ck_assert_uint_eq(value, 7);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
}
END_TEST

START_TEST(test_conn_cfg_timeout)
{
	struct rpma_conn_cfg *cfg = new_cfg();
	int value = 99;

	ck_assert_int_eq(rpma_conn_cfg_get_timeout(cfg, &value), 0);
	ck_assert_int_eq(value, 1000);
	ck_assert_int_eq(rpma_conn_cfg_set_timeout(cfg, -1), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_set_timeout(NULL, 1), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_set_timeout(cfg, 0), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_timeout(cfg, INT_MAX), 0);
	ck_assert_int_eq(rpma_conn_cfg_get_timeout(cfg, &value), 0);
	ck_assert_int_eq(value, INT_MAX);
	ck_assert_int_eq(rpma_conn_cfg_get_timeout(NULL, &value), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_get_timeout(cfg, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
}
END_TEST

START_TEST(test_conn_cfg_compl_channel)
{
	struct rpma_conn_cfg *cfg = new_cfg();
	bool value = true;

	ck_assert_int_eq(rpma_conn_cfg_get_compl_channel(cfg, &value), 0);
	ck_assert(!value);
	ck_assert_int_eq(rpma_conn_cfg_set_compl_channel(cfg, true), 0);
	ck_assert_int_eq(rpma_conn_cfg_get_compl_channel(cfg, &value), 0);
	ck_assert(value);
	ck_assert_int_eq(rpma_conn_cfg_set_compl_channel(NULL, true), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_get_compl_channel(NULL, &value), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_get_compl_channel(cfg, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
}
END_TEST

/* Both pointers are kept, and can be taken back by NULL. */
START_TEST(test_conn_cfg_pointers)
{
	struct rpma_conn_cfg *cfg = new_cfg();
	struct rpma_srq *srq = UNTOUCHED(struct rpma_srq);
	struct rpma_cq *cq = UNTOUCHED(struct rpma_cq);

	ck_assert_int_eq(rpma_conn_cfg_get_srq(cfg, &srq), 0);
	ck_assert_ptr_null(srq);
	ck_assert_int_eq(rpma_conn_cfg_get_cq(cfg, &cq), 0);
	ck_assert_ptr_null(cq);
	ck_assert_int_eq(rpma_conn_cfg_set_srq(cfg, UNTOUCHED(struct rpma_srq)), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_cq(cfg, UNTOUCHED(struct rpma_cq)), 0);
	ck_assert_int_eq(rpma_conn_cfg_get_srq(cfg, &srq), 0);
	ck_assert_ptr_eq(srq, UNTOUCHED(struct rpma_srq));
	ck_assert_int_eq(rpma_conn_cfg_get_cq(cfg, &cq), 0);
	ck_assert_ptr_eq(cq, UNTOUCHED(struct rpma_cq));
	ck_assert_int_eq(rpma_conn_cfg_set_srq(cfg, NULL), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_cq(cfg, NULL), 0);
	ck_assert_int_eq(rpma_conn_cfg_get_srq(cfg, &srq), 0);
	ck_assert_ptr_null(srq);
	ck_assert_int_eq(rpma_conn_cfg_get_cq(cfg, &cq), 0);
	ck_assert_ptr_null(cq);
	ck_assert_int_eq(rpma_conn_cfg_set_srq(NULL, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_set_cq(NULL, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_get_srq(NULL, &srq), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_get_srq(cfg, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_get_cq(NULL, &cq), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_get_cq(cfg, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
}
END_TEST

START_TEST(test_srq_cfg)
{
	struct rpma_srq_cfg *cfg = UNTOUCHED(struct rpma_srq_cfg);
	uint32_t value = 99;

	ck_assert_int_eq(rpma_srq_cfg_new(NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_cfg_delete(NULL), RPMA_E_INVAL);
	fake_alloc_fail_nth(1);
	ck_assert_int_eq(rpma_srq_cfg_new(&cfg), RPMA_E_NOMEM);
	ck_assert_ptr_eq(cfg, UNTOUCHED(struct rpma_srq_cfg));
	ck_assert_int_eq(rpma_srq_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_srq_cfg_get_rq_size(cfg, &value), 0);
	ck_assert_uint_eq(value, 20);
	ck_assert_int_eq(rpma_srq_cfg_get_rcq_size(cfg, &value), 0);
	ck_assert_uint_eq(value, 20);
	ck_assert_int_eq(rpma_srq_cfg_set_rq_size(cfg, 7), 0);
	ck_assert_int_eq(rpma_srq_cfg_set_rcq_size(cfg, 0), 0);
	ck_assert_int_eq(rpma_srq_cfg_get_rq_size(cfg, &value), 0);
	ck_assert_uint_eq(value, 7);
	ck_assert_int_eq(rpma_srq_cfg_get_rcq_size(cfg, &value), 0);
	ck_assert_uint_eq(value, 0);
	ck_assert_int_eq(rpma_srq_cfg_set_rq_size(NULL, 7), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_cfg_set_rcq_size(NULL, 7), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_cfg_get_rq_size(NULL, &value), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_cfg_get_rq_size(cfg, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_cfg_get_rcq_size(NULL, &value), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_cfg_get_rcq_size(cfg, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_srq_cfg_delete(&cfg), 0);
	ck_assert_ptr_null(cfg);
	ck_assert_int_eq(rpma_srq_cfg_delete(&cfg), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_cfg");
	TCase *tc = fixture_case(suite, "conn_cfg");

	tcase_add_test(tc, test_conn_cfg_life);
	tcase_add_loop_test(tc, test_conn_cfg_size, 0,
	    sizeof(sizes) / sizeof(sizes[0]));
	tcase_add_test(tc, test_conn_cfg_rnr_retry);
	tcase_add_test(tc, test_conn_cfg_timeout);
	tcase_add_test(tc, test_conn_cfg_compl_channel);
	tcase_add_test(tc, test_conn_cfg_pointers);
	tc = fixture_case(suite, "srq_cfg");
	tcase_add_test(tc, test_srq_cfg);
	return harness_run(suite);
}
