/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_msg.c: messages, from both ends. */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/rpma_fixture.h"

#define SIZE FIXTURE_MR_SIZE
#define HUGE ((size_t)1 << 32)

static struct rpma_conn *conn;
static struct rpma_cq *cq;

static void
connect_default(void)
{
	conn = fixture_connect(NULL);
	ck_assert_int_eq(rpma_conn_get_cq(conn, &cq), 0);
	(void)fixture_mr();
	memcpy(fixture_memory(), "0123456789", 10);
	fake_trace_clear();
}

static void
delete_conn(void)
{
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}

/* clang-format off */
static const struct {
	bool with_mr;
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
	{ true, SIZE_MAX, 1, RPMA_E_INVAL },
	{ true, 8, SIZE_MAX - 7, RPMA_E_INVAL },
	{ true, 0, HUGE, RPMA_E_INVAL },
	{ true, 0, HUGE + 5, RPMA_E_INVAL },
	{ false, 0, 0, 0 },
	{ false, 1, 0, RPMA_E_INVAL },
	{ false, 0, 1, RPMA_E_INVAL },
};
/* clang-format on */

#define ALWAYS RPMA_F_COMPLETION_ALWAYS

START_TEST(test_send_range)
{
	struct rpma_mr_local *mr = ranges[_i].with_mr ? fixture_mr() : NULL;
	size_t offset = ranges[_i].offset;
	size_t len = ranges[_i].len;
	int ret = ranges[_i].ret;

	ck_assert_int_eq(rpma_send(conn, mr, offset, len, ALWAYS, NULL), ret);
	ck_assert_int_eq(rpma_send_with_imm(conn, mr, offset, len, ALWAYS, 1, NULL),
	    ret);
	ck_assert_int_eq(rpma_send(NULL, mr, offset, len, ALWAYS, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_send(conn, mr, offset, len, 0, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_send_with_imm(NULL, mr, offset, len, ALWAYS, 1, NULL),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_send_with_imm(conn, mr, offset, len, 0, 1, NULL),
	    RPMA_E_INVAL);
	ck_assert_uint_eq(fake_called("ibv_post_send"), ret ? 0 : 2);
	ck_assert_uint_eq(fake_peer_received(fake_peer_last()), ret ? 0 : 2);
	ck_assert_uint_eq(fixture_logs(), 0);
}
END_TEST

START_TEST(test_recv_range)
{
	struct rpma_mr_local *mr = ranges[_i].with_mr ? fixture_mr() : NULL;

	ck_assert_int_eq(rpma_recv(conn, mr, ranges[_i].offset, ranges[_i].len, NULL),
	    ranges[_i].ret);
	ck_assert_int_eq(rpma_recv(NULL, mr, ranges[_i].offset, ranges[_i].len, NULL),
	    RPMA_E_INVAL);
	ck_assert_uint_eq(fake_rq_posted(), ranges[_i].ret ? 0 : 1);
	ck_assert_uint_eq(fixture_logs(), 0);
}
END_TEST

START_TEST(test_send)
{
	struct ibv_wc wc;
	size_t len;
	int64_t imm;

	ck_assert_int_eq(rpma_send(conn, fixture_mr(), 2, 3, ALWAYS, (void *)77), 0);
	ck_assert_str_eq(fake_trace_args(),
	    "ibv_post_send(opcode=2,len=3,signaled=1,inline=0)");
	ck_assert_mem_eq(fake_peer_message(fake_peer_last(), 0, &len, &imm), "234", 3);
	ck_assert_uint_eq(len, 3);
	ck_assert_int_eq(imm, FAKE_NO_IMM);
	ck_assert_int_eq(rpma_cq_get_wc(cq, 1, &wc, NULL), 0);
	ck_assert_uint_eq(wc.wr_id, 77);
	ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
	ck_assert_uint_eq(fixture_logs(), 0);
}
END_TEST

START_TEST(test_send_with_imm)
{
	size_t len;
	int64_t imm;

	ck_assert_int_eq(rpma_send_with_imm(conn, fixture_mr(), 0, 10, ALWAYS,
			     0x12345678, NULL),
	    0);
	ck_assert_str_eq(fake_trace_args(),
	    "ibv_post_send(opcode=3,len=10,signaled=1,inline=0)");
	ck_assert_mem_eq(fake_peer_message(fake_peer_last(), 0, &len, &imm),
	    "0123456789", 10);
	ck_assert_uint_eq(len, 10);
	ck_assert_int_eq(imm, 0x12345678);
}
END_TEST

START_TEST(test_send_empty)
{
	size_t len = 77;

	ck_assert_int_eq(rpma_send(conn, NULL, 0, 0, ALWAYS, NULL), 0);
	ck_assert_ptr_nonnull(fake_peer_message(fake_peer_last(), 0, &len, NULL));
	ck_assert_uint_eq(len, 0);
}
END_TEST

/* clang-format off */
static const struct {
	int flags;
	bool is_signaled;
} flags[] = {
	{ RPMA_F_COMPLETION_ALWAYS, true },
	{ RPMA_F_COMPLETION_ON_ERROR, false },
	{ 2, true },
	{ 4, false }, /* bits of no meaning do not count */
};
/* clang-format on */

START_TEST(test_send_flags)
{
	struct ibv_wc wc;

	ck_assert_int_eq(rpma_send(conn, fixture_mr(), 0, 1, flags[_i].flags, NULL), 0);
	ck_assert_ptr_nonnull(strstr(fake_trace_args(),
	    flags[_i].is_signaled ? "signaled=1" : "signaled=0"));
	ck_assert_int_eq(rpma_cq_get_wc(cq, 1, &wc, NULL),
	    flags[_i].is_signaled ? 0 : RPMA_E_NO_COMPLETION);
}
END_TEST

/* A full queue is told without a word in the log, other failures with one. */
START_TEST(test_send_fails)
{
	fake_peer_set_ready(fake_peer_last(), false);
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(rpma_send(conn, NULL, 0, 0, ALWAYS, NULL), 0);
	assert_provider(rpma_send(conn, NULL, 0, 0, ALWAYS, NULL), ENOMEM);
	ck_assert_uint_eq(fixture_logs(), 0);
	fake_fail_call("ibv_post_send", 1, EIO);
	assert_provider(rpma_send(conn, NULL, 0, 0, ALWAYS, NULL), EIO);
	ck_assert_uint_eq(fixture_logs(), 1);
}
END_TEST

START_TEST(test_recv)
{
	struct ibv_wc wc;

	ck_assert_int_eq(rpma_recv(conn, fixture_mr(), 64, 16, (void *)88), 0);
	ck_assert_int_eq(fake_peer_send(fake_peer_last(), "hello", 5, 0xfedcba98), 0);
	ck_assert_int_eq(rpma_cq_get_wc(cq, 1, &wc, NULL), 0);
	ck_assert_uint_eq(wc.wr_id, 88);
	ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
	ck_assert_uint_eq(wc.byte_len, 5);
	ck_assert_int_ne(wc.wc_flags & IBV_WC_WITH_IMM, 0);
	ck_assert_uint_eq(ntohl(wc.imm_data), 0xfedcba98);
	ck_assert_mem_eq(fixture_memory() + 64, "hello", 5);
}
END_TEST

START_TEST(test_recv_fails)
{
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(rpma_recv(conn, NULL, 0, 0, NULL), 0);
	assert_provider(rpma_recv(conn, NULL, 0, 0, NULL), ENOMEM);
	ck_assert_uint_eq(fixture_logs(), 0);
	fake_fail_call("ibv_post_recv", 1, EIO);
	assert_provider(rpma_recv(conn, NULL, 0, 0, NULL), EIO);
	ck_assert_uint_eq(fixture_logs(), 1);
}
END_TEST

/* On a connection with an SRQ a receive goes there; messages complete in its queue. */
START_TEST(test_recv_srq)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn *other;
	struct rpma_srq *srq = NULL;
	struct rpma_cq *rcq;
	struct ibv_wc wc;

	ck_assert_int_eq(rpma_srq_new(fixture_peer(), NULL, &srq), 0);
	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_srq(cfg, srq), 0);
	other = fixture_connect(cfg);
	ck_assert_int_eq(rpma_recv(other, fixture_mr(), 0, 16, (void *)1), 0);
	ck_assert_int_eq(rpma_srq_recv(srq, fixture_mr(), 16, 16, (void *)2), 0);
	ck_assert_uint_eq(fake_srq_posted(), 2);
	ck_assert_uint_eq(fake_rq_posted(), 0);
	ck_assert_int_eq(fake_peer_send(fake_peer_last(), "hello", 5, FAKE_NO_IMM), 0);
	ck_assert_int_eq(rpma_srq_get_rcq(srq, &rcq), 0);
	ck_assert_int_eq(rpma_cq_get_wc(rcq, 1, &wc, NULL), 0);
	ck_assert(wc.wr_id == 1 || wc.wr_id == 2);
	ck_assert_uint_eq(wc.qp_num, fixture_qp_num(other));
	ck_assert_mem_eq(fixture_memory() + 16 * (wc.wr_id - 1), "hello", 5);
	ck_assert_int_eq(rpma_conn_delete(&other), 0);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_msg");
	TCase *tc = fixture_case(suite, "messages");
	int n = sizeof(ranges) / sizeof(ranges[0]);

	tcase_add_checked_fixture(tc, connect_default, delete_conn);
	tcase_add_loop_test(tc, test_send_range, 0, n);
	tcase_add_loop_test(tc, test_recv_range, 0, n);
	tcase_add_test(tc, test_send);
	tcase_add_test(tc, test_send_with_imm);
	tcase_add_test(tc, test_send_empty);
	tcase_add_loop_test(tc, test_send_flags, 0, sizeof(flags) / sizeof(flags[0]));
	tcase_add_test(tc, test_send_fails);
	tcase_add_test(tc, test_recv);
	tcase_add_test(tc, test_recv_fails);
	tcase_add_test(tc, test_recv_srq);
	return harness_run(suite);
}
