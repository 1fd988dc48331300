/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_rma.c: reading and writing remote memory. */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#include "tests/unit/rpma_fixture.h"
#include "tests/unit/rpma_rma_fixture.h"

#define ALWAYS     RPMA_F_COMPLETION_ALWAYS
#define ON_ERROR   RPMA_F_COMPLETION_ON_ERROR
#define FOUR_GIB   ((size_t)1 << 32)
#define ALL_USAGES 0xff

static struct rma rma;

static void
start(void)
{
	rma_start(&rma, NULL, ALL_USAGES);
}

static void
stop(void)
{
	rma_stop(&rma);
}

/* The three calls as one, so that what they share is tested for each. */
enum operation {
	READ,
	WRITE,
	WRITE_WITH_IMM,
	OPERATIONS,
};

static int
operate(enum operation op, struct rpma_conn *conn, struct rpma_mr_local *local,
    size_t here, struct rpma_mr_remote *remote, size_t there, size_t len, int flags)
{
	void *context = (void *)88;

	switch (op) {
	case READ:
		return rpma_read(conn, local, here, remote, there, len, flags, context);
	case WRITE:
		return rpma_write(conn, remote, there, local, here, len, flags,
		    context);
	default:
		return rpma_write_with_imm(conn, remote, there, local, here, len, flags,
		    0x12345678, context);
	}
}

static const int opcodes[] = { IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE,
	IBV_WR_RDMA_WRITE_WITH_IMM };
static const int wc_opcodes[] = { IBV_WC_RDMA_READ, IBV_WC_RDMA_WRITE,
	IBV_WC_RDMA_WRITE };

START_TEST(test_operation)
{
	ck_assert_int_eq(operate(_i, rma.conn, rma.local, 16, rma.remote, 32, 64,
			     ALWAYS),
	    0);
	rma_check(&rma, opcodes[_i], IBV_SEND_SIGNALED, 16, 64, 32);
	rma_check_wc(&rma, 88, wc_opcodes[_i]);
	ck_assert_uint_eq(fixture_logs(), 0);
	for (unsigned int i = 0; i < RMA_SIZE; i++) {
		ck_assert_uint_eq(rma.here[i],
		    _i == READ && i >= 16 && i < 80 ? 0x22 : 0x11);
		ck_assert_uint_eq(rma.there[i],
		    _i != READ && i >= 32 && i < 96 ? 0x11 : 0x22);
	}
}
END_TEST

START_TEST(test_imm)
{
	size_t len = 77;
	int64_t imm = -77;

	ck_assert_int_eq(operate(WRITE_WITH_IMM, rma.conn, rma.local, 0, rma.remote, 0,
			     8, ALWAYS),
	    0);
	ck_assert_uint_eq(fake_last_wr().imm_data, htonl(0x12345678));
	ck_assert_ptr_nonnull(fake_peer_message(fake_peer_last(), 0, &len, &imm));
	ck_assert_uint_eq(len, 8);
	ck_assert_int_eq(imm, 0x12345678);
	/* the others tell the peer nothing */
	ck_assert_int_eq(operate(WRITE, rma.conn, rma.local, 0, rma.remote, 0, 8,
			     ALWAYS),
	    0);
	ck_assert_int_eq(operate(READ, rma.conn, rma.local, 0, rma.remote, 0, 8,
			     ALWAYS),
	    0);
	ck_assert_uint_eq(fake_peer_received(fake_peer_last()), 1);
}
END_TEST

/* clang-format off */
static const struct {
	int flags;
	bool is_signaled;
} flags[] = {
	{ ALWAYS, true },
	{ ON_ERROR, false },
	{ 2, true },
	{ 4, false }, /* bits of no meaning do not count */
};
/* clang-format on */

START_TEST(test_flags)
{
	int op = _i % OPERATIONS;
	bool is_signaled = flags[_i / OPERATIONS].is_signaled;
	struct ibv_wc wc;

	ck_assert_int_eq(operate(op, rma.conn, rma.local, 0, rma.remote, 0, 8,
			     flags[_i / OPERATIONS].flags),
	    0);
	rma_check(&rma, opcodes[op], is_signaled ? IBV_SEND_SIGNALED : 0, 0, 8, 0);
	ck_assert_int_eq(rpma_cq_get_wc(rma.cq, 1, &wc, NULL),
	    is_signaled ? 0 : RPMA_E_NO_COMPLETION);
}
END_TEST

/* clang-format off */
static const struct {
	bool local;
	bool remote;
	size_t here;
	size_t there;
	size_t len;
	int ret;
} ranges[] = {
	{ true, true, 0, 0, RMA_SIZE, 0 },
	{ true, true, RMA_SIZE - 1, RMA_SIZE - 1, 1, 0 },
	{ true, true, RMA_SIZE, 0, 0, 0 },
	{ true, true, 0, RMA_SIZE, 0, 0 },
	{ false, false, 0, 0, 0, 0 },
	/* out of the region of this side */
	{ true, true, 1, 0, RMA_SIZE, RPMA_E_INVAL },
	{ true, true, RMA_SIZE, 0, 1, RPMA_E_INVAL },
	{ true, true, RMA_SIZE + 1, 0, 0, RPMA_E_INVAL },
	{ true, true, SIZE_MAX, 0, 1, RPMA_E_INVAL },
	{ true, true, SIZE_MAX - 3, 0, 8, RPMA_E_INVAL },
	/* out of the region of the other side */
	{ true, true, 0, 1, RMA_SIZE, RPMA_E_INVAL },
	{ true, true, 0, RMA_SIZE, 1, RPMA_E_INVAL },
	{ true, true, 0, RMA_SIZE + 1, 0, RPMA_E_INVAL },
	{ true, true, 0, SIZE_MAX, 1, RPMA_E_INVAL },
	{ true, true, 0, SIZE_MAX - 3, 8, RPMA_E_INVAL },
	/* one region alone, or an offset of none */
	{ true, false, 0, 0, 0, RPMA_E_INVAL },
	{ false, true, 0, 0, 0, RPMA_E_INVAL },
	{ false, false, 1, 0, 0, RPMA_E_INVAL },
	{ false, false, 0, 1, 0, RPMA_E_INVAL },
	{ false, false, 0, 0, 1, RPMA_E_INVAL },
};
/* clang-format on */

#define RANGES ((int)(sizeof(ranges) / sizeof(ranges[0])))

/* A range that leaves a region used to be posted, and the error ended the connection. */
START_TEST(test_range)
{
	int op = _i % OPERATIONS;
	int row = _i / OPERATIONS;
	int ret = ranges[row].ret;

	ck_assert_int_eq(operate(op, rma.conn, ranges[row].local ? rma.local : NULL,
			     ranges[row].here, ranges[row].remote ? rma.remote : NULL,
			     ranges[row].there, ranges[row].len, ALWAYS),
	    ret);
	ck_assert_uint_eq(fake_called("ibv_post_send"), ret ? 0 : 1);
	if (!ret)
		rma_check_wc(&rma, 88, wc_opcodes[op]);
	ck_assert_uint_eq(fixture_logs(), 0);
}
END_TEST

/* Nothing at all: neither memory of this side nor an address of the other. */
START_TEST(test_nothing)
{
	struct fake_wr wr;

	ck_assert_int_eq(operate(_i, rma.conn, NULL, 0, NULL, 0, 0, ALWAYS), 0);
	wr = fake_last_wr();
	ck_assert_int_eq(wr.opcode, opcodes[_i]);
	ck_assert_int_eq(wr.num_sge, 0);
	ck_assert_uint_eq(wr.raddr, 0);
	ck_assert_uint_eq(wr.rkey, 0);
}
END_TEST

/* 4 GiB and 8 bytes used to be 8 bytes, and a success. */
START_TEST(test_len_beyond_32_bits)
{
	struct rpma_mr_remote *huge = rma_remote(&rma, 0, SIZE_MAX, ALL_USAGES);
	struct rpma_mr_local *local = NULL;

	/* the doubles look at no byte of it */
	ck_assert_int_eq(rpma_mr_reg(fixture_peer(), rma.here, 2 * FOUR_GIB, ALL_USAGES,
			     &local),
	    0);
	ck_assert_int_eq(operate(_i, rma.conn, local, 0, huge, 0, FOUR_GIB, ALWAYS),
	    RPMA_E_INVAL);
	ck_assert_int_eq(operate(_i, rma.conn, local, 0, huge, 0, FOUR_GIB + 8, ALWAYS),
	    RPMA_E_INVAL);
	ck_assert_uint_eq(fake_called("ibv_post_send"), 0);
	ck_assert_int_eq(rpma_mr_dereg(&local), 0);
	ck_assert_int_eq(rpma_mr_remote_delete(&huge), 0);
}
END_TEST

START_TEST(test_invalid)
{
	ck_assert_int_eq(operate(_i, NULL, rma.local, 0, rma.remote, 0, 8, ALWAYS),
	    RPMA_E_INVAL);
	ck_assert_int_eq(operate(_i, rma.conn, rma.local, 0, rma.remote, 0, 8, 0),
	    RPMA_E_INVAL);
	ck_assert_uint_eq(fake_called("ibv_post_send"), 0);
}
END_TEST

/* A full queue is told without a word in the log, other failures with one. */
START_TEST(test_fails)
{
	fake_peer_set_ready(fake_peer_last(), false);
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(operate(_i, rma.conn, rma.local, 0, rma.remote, 0, 8,
				     ALWAYS),
		    0);
	assert_provider(operate(_i, rma.conn, rma.local, 0, rma.remote, 0, 8, ALWAYS),
	    ENOMEM);
	ck_assert_uint_eq(fixture_logs(), 0);
	fake_fail_call("ibv_post_send", 1, EIO);
	assert_provider(operate(_i, rma.conn, rma.local, 0, rma.remote, 0, 8, ALWAYS),
	    EIO);
	ck_assert_uint_eq(fixture_logs(), 1);
}
END_TEST

/*
 * Operations without a completion keep their places in the send queue until a later one
 * has completed and was read: the program is to ask for one now and then.
 */
START_TEST(test_unsignaled_fill_the_queue)
{
	struct ibv_wc wc;

	for (int i = 0; i < 9; i++)
		ck_assert_int_eq(operate(_i, rma.conn, rma.local, 0, rma.remote, 0, 8,
				     ON_ERROR),
		    0);
	ck_assert_int_eq(operate(_i, rma.conn, rma.local, 0, rma.remote, 0, 8, ALWAYS),
	    0);
	assert_provider(operate(_i, rma.conn, rma.local, 0, rma.remote, 0, 8, ALWAYS),
	    ENOMEM);
	ck_assert_int_eq(rpma_cq_get_wc(rma.cq, 1, &wc, NULL), 0);
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(operate(_i, rma.conn, rma.local, 0, rma.remote, 0, 8,
				     ON_ERROR),
		    0);
}
END_TEST

/* A dial that has no queue pair yet can do nothing. */
START_TEST(test_no_queue_pair)
{
	struct rpma_cm *cm = NULL;
	struct rpma_conn *conn = NULL;

	ck_assert_int_eq(rpma_cm_new(&cm), 0);
	fake_dial_script(FIXTURE_ADDR, 9, 0, FAKE_DIAL_ADDR_SILENT, 0, NULL, 0);
	ck_assert_int_eq(rpma_cm_dial(cm, fixture_peer(),
			     fixture_sockaddr(FIXTURE_ADDR, 9), NULL, 1, NULL, &conn),
	    0);
	assert_provider(operate(_i, conn, rma.local, 0, rma.remote, 0, 8, ALWAYS),
	    ENOTCONN);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	ck_assert_int_eq(rpma_cm_delete(&cm), 0);
}
END_TEST

/* What the region was not registered for ends the connection. */
START_TEST(test_usage)
{
	struct ibv_wc wc;

	rma_stop(&rma);
	rma_start(&rma, NULL,
	    _i == READ ? RPMA_MR_USAGE_WRITE_DST : RPMA_MR_USAGE_READ_SRC);
	ck_assert_int_eq(operate(_i, rma.conn, rma.local, 0, rma.remote, 0, 8, ALWAYS),
	    0);
	ck_assert_int_eq(rpma_cq_get_wc(rma.cq, 1, &wc, NULL), 0);
	ck_assert_int_eq(wc.status, IBV_WC_REM_ACCESS_ERR);
	ck_assert_int_eq(fake_qp_state(fixture_qp_num(rma.conn)), IBV_QPS_ERR);
}
END_TEST

/* Both ends are ours: a write with immediate takes a receive of the other. */
START_TEST(test_imm_from_both_ends)
{
	struct rpma_cm *cm = NULL;
	struct rpma_ep *ep = NULL;
	struct rpma_conn *ends[2] = { NULL, NULL };
	struct rpma_cm_event event;
	struct rpma_cq *cq;
	struct ibv_wc wc;

	ck_assert_int_eq(rpma_cm_new(&cm), 0);
	ck_assert_int_eq(rpma_cm_listen(cm, fixture_peer(),
			     fixture_sockaddr("::1", 7000), 0, &ep),
	    0);
	ck_assert_int_eq(rpma_cm_dial(cm, fixture_peer(), fixture_sockaddr("::1", 7000),
			     NULL, 100, NULL, &ends[0]),
	    0);
	ck_assert_int_eq(rpma_cm_next_event(cm, &event), 0);
	ck_assert_int_eq(event.kind, RPMA_CM_REQUEST);
	ck_assert_int_eq(rpma_cm_accept(&event.req, NULL, NULL, &ends[1]), 0);
	ck_assert_int_eq(rpma_cm_next_event(cm, &event), 0);
	ck_assert_int_eq(rpma_cm_next_event(cm, &event), 0);
	ck_assert_int_eq(rpma_recv(ends[1], NULL, 0, 0, (void *)5), 0);
	ck_assert_int_eq(rpma_write_with_imm(ends[0], rma.remote, 8, rma.local, 0, 16,
			     ON_ERROR, 0xfedcba98, NULL),
	    0);
	ck_assert_int_eq(rpma_conn_get_cq(ends[1], &cq), 0);
	ck_assert_int_eq(rpma_cq_get_wc(cq, 1, &wc, NULL), 0);
	ck_assert_uint_eq(wc.wr_id, 5);
	ck_assert_int_eq(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	ck_assert_uint_eq(wc.byte_len, 16);
	ck_assert_uint_eq(ntohl(wc.imm_data), 0xfedcba98);
	ck_assert_uint_eq(rma.there[8], 0x11);
	ck_assert_uint_eq(rma.there[24], 0x22);
	ck_assert_int_eq(rpma_conn_delete(&ends[0]), 0);
	ck_assert_int_eq(rpma_conn_delete(&ends[1]), 0);
	ck_assert_int_eq(rpma_ep_shutdown(&ep), 0);
	ck_assert_int_eq(rpma_cm_delete(&cm), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_rma");
	TCase *tc = fixture_case(suite, "rma");
	int n = sizeof(flags) / sizeof(flags[0]);

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_loop_test(tc, test_operation, 0, OPERATIONS);
	tcase_add_test(tc, test_imm);
	tcase_add_loop_test(tc, test_flags, 0, n * OPERATIONS);
	tcase_add_loop_test(tc, test_range, 0, RANGES * OPERATIONS);
	tcase_add_loop_test(tc, test_nothing, 0, OPERATIONS);
	tcase_add_loop_test(tc, test_len_beyond_32_bits, 0, OPERATIONS);
	tcase_add_loop_test(tc, test_invalid, 0, OPERATIONS);
	tcase_add_loop_test(tc, test_fails, 0, OPERATIONS);
	tcase_add_loop_test(tc, test_unsignaled_fill_the_queue, 0, OPERATIONS);
	tcase_add_loop_test(tc, test_no_queue_pair, 0, OPERATIONS);
	tcase_add_loop_test(tc, test_usage, 0, OPERATIONS);
	tcase_add_test(tc, test_imm_from_both_ends);
	return harness_run(suite);
}
