/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_atomic.c: writes of 8 bytes at once. */
#include <config.h>

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#include "tests/unit/rpma_fixture.h"
#include "tests/unit/rpma_rma_fixture.h"

#define ALWAYS   RPMA_F_COMPLETION_ALWAYS
#define ON_ERROR RPMA_F_COMPLETION_ON_ERROR

static struct rma rma;

static void
start(void)
{
	rma_start(&rma, NULL, RPMA_MR_USAGE_WRITE_DST);
}

static void
stop(void)
{
	rma_stop(&rma);
}

static int
write_at(struct rpma_mr_remote *remote, size_t offset)
{
	return rpma_atomic_write(rma.conn, remote, offset, "01234567", ALWAYS,
	    (void *)88);
}

/* The bytes travel in the request, behind a fence that waits for flushes. */
START_TEST(test_write)
{
	char src[8] = { 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' };
	struct fake_wr wr;
	struct ibv_wc wc;

	/* held back until the source has changed */
	fake_peer_set_ready(fake_peer_last(), false);
	ck_assert_int_eq(rpma_atomic_write(rma.conn, rma.remote, 16, src, ALWAYS,
			     (void *)88),
	    0);
	wr = fake_last_wr();
	ck_assert_int_eq(wr.opcode, IBV_WR_RDMA_WRITE);
	ck_assert_uint_eq(wr.send_flags,
	    IBV_SEND_SIGNALED | IBV_SEND_INLINE | IBV_SEND_FENCE);
	ck_assert_int_eq(wr.num_sge, 1);
	ck_assert_uint_eq(wr.addr, (uintptr_t)src);
	ck_assert_uint_eq(wr.length, 8);
	ck_assert_uint_eq(wr.lkey, 0);
	ck_assert_uint_eq(wr.raddr, (uintptr_t)rma.there + 16);
	memset(src, 'x', sizeof(src));
	fake_peer_set_ready(fake_peer_last(), true);
	ck_assert_mem_eq(rma.there + 16, "abcdefgh", 8);
	ck_assert_uint_eq(rma.there[15], 0x22);
	ck_assert_uint_eq(rma.there[24], 0x22);
	rma_check_wc(&rma, 88, IBV_WC_RDMA_WRITE);

	ck_assert_int_eq(rpma_atomic_write(rma.conn, rma.remote, 0, src, ON_ERROR,
			     NULL),
	    0);
	ck_assert_uint_eq(fake_last_wr().send_flags, IBV_SEND_INLINE | IBV_SEND_FENCE);
	ck_assert_int_eq(rpma_cq_get_wc(rma.cq, 1, &wc, NULL), RPMA_E_NO_COMPLETION);
	ck_assert_uint_eq(fixture_logs(), 0);
}
END_TEST

/* clang-format off */
static const struct {
	size_t offset;
	int ret;
} offsets[] = {
	{ 0, 0 },
	{ RMA_SIZE - 8, 0 },
	{ 1, RPMA_E_INVAL },
	{ 4, RPMA_E_INVAL },
	{ 7, RPMA_E_INVAL },
	/* fewer than 8 bytes are left */
	{ RMA_SIZE, RPMA_E_INVAL },
	{ SIZE_MAX - 7, RPMA_E_INVAL },
};
/* clang-format on */

START_TEST(test_offset)
{
	ck_assert_int_eq(write_at(rma.remote, offsets[_i].offset), offsets[_i].ret);
	ck_assert_uint_eq(fake_called("ibv_post_send"), offsets[_i].ret ? 0 : 1);
}
END_TEST

/* The base of the region used to be left out: aligned is what the address is. */
START_TEST(test_alignment_of_the_address)
{
	struct rpma_mr_remote *odd = rma_remote(&rma, (uintptr_t)rma.there + 4,
	    RMA_SIZE - 4, RPMA_MR_USAGE_WRITE_DST);

	ck_assert_int_eq(write_at(odd, 0), RPMA_E_INVAL);
	ck_assert_int_eq(write_at(odd, 8), RPMA_E_INVAL);
	ck_assert_int_eq(write_at(odd, 4), 0);
	ck_assert_uint_eq(fake_last_wr().raddr, (uintptr_t)rma.there + 8);
	/* the last 8 bytes, and then not enough */
	ck_assert_int_eq(write_at(odd, RMA_SIZE - 12), 0);
	ck_assert_int_eq(write_at(odd, RMA_SIZE - 4), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_remote_delete(&odd), 0);
}
END_TEST

START_TEST(test_small_region)
{
	struct rpma_mr_remote *small =
	    rma_remote(&rma, (uintptr_t)rma.there, 7, RPMA_MR_USAGE_WRITE_DST);

	ck_assert_int_eq(write_at(small, 0), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_mr_remote_delete(&small), 0);
}
END_TEST

START_TEST(test_invalid)
{
	ck_assert_int_eq(rpma_atomic_write(NULL, rma.remote, 0, "01234567", ALWAYS,
			     NULL),
	    RPMA_E_INVAL);
	ck_assert_int_eq(write_at(NULL, 0), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_atomic_write(rma.conn, rma.remote, 0, NULL, ALWAYS, NULL),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_atomic_write(rma.conn, rma.remote, 0, "01234567", 0,
			     NULL),
	    RPMA_E_INVAL);
	ck_assert_uint_eq(fake_called("ibv_post_send"), 0);
	ck_assert_uint_eq(fixture_logs(), 0);
}
END_TEST

START_TEST(test_fails)
{
	fake_fail_call("ibv_post_send", 1, EIO);
	assert_provider(write_at(rma.remote, 0), EIO);
	ck_assert_uint_eq(fixture_logs(), 1);
	ck_assert_uint_eq(rma.there[0], 0x22);
}
END_TEST

START_TEST(test_no_queue_pair)
{
	struct rpma_cm *cm = NULL;
	struct rpma_conn *conn = NULL;

	ck_assert_int_eq(rpma_cm_new(&cm), 0);
	fake_dial_script(FIXTURE_ADDR, 9, 0, FAKE_DIAL_ADDR_SILENT, 0, NULL, 0);
	ck_assert_int_eq(rpma_cm_dial(cm, fixture_peer(),
			     fixture_sockaddr(FIXTURE_ADDR, 9), NULL, 1, NULL, &conn),
	    0);
	assert_provider(rpma_atomic_write(conn, rma.remote, 0, "01234567", ALWAYS,
			    NULL),
	    ENOTCONN);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	ck_assert_int_eq(rpma_cm_delete(&cm), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_atomic");
	TCase *tc = fixture_case(suite, "atomic");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, test_write);
	tcase_add_loop_test(tc, test_offset, 0, sizeof(offsets) / sizeof(offsets[0]));
	tcase_add_test(tc, test_alignment_of_the_address);
	tcase_add_test(tc, test_small_region);
	tcase_add_test(tc, test_invalid);
	tcase_add_test(tc, test_fails);
	tcase_add_test(tc, test_no_queue_pair);
	return harness_run(suite);
}
