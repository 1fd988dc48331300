/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_flush.c: flushing remote memory by reading it. */
#include <config.h>

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>
#include <unistd.h>

#include "tests/fake/fake_alloc.h"
#include "tests/unit/rpma_fixture.h"
#include "tests/unit/rpma_rma_fixture.h"

#define ALWAYS     RPMA_F_COMPLETION_ALWAYS
#define ON_ERROR   RPMA_F_COMPLETION_ON_ERROR
#define VISIBLE    RPMA_FLUSH_TYPE_VISIBILITY
#define PERSISTENT RPMA_FLUSH_TYPE_PERSISTENT
#define BOTH       (RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)

static struct rma rma;

static void
start(void)
{
	rma_start(&rma, NULL, RPMA_MR_USAGE_WRITE_DST | BOTH);
}

static void
stop(void)
{
	rma_stop(&rma);
}

/* Tell a connection that its peer takes direct writes to persistent memory, or not. */
static void
apply(struct rpma_conn *conn, bool supported)
{
	struct rpma_peer_cfg *pcfg = NULL;

	ck_assert_int_eq(rpma_peer_cfg_new(&pcfg), 0);
	ck_assert_int_eq(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, supported), 0);
	ck_assert_int_eq(rpma_conn_apply_remote_peer_cfg(conn, pcfg), 0);
	ck_assert_int_eq(rpma_peer_cfg_delete(&pcfg), 0);
}

static int
flush_at(struct rpma_mr_remote *remote, size_t offset, size_t len)
{
	return rpma_flush(rma.conn, remote, offset, len, VISIBLE, ALWAYS, (void *)88);
}

/* clang-format off */
static const struct {
	size_t offset;
	size_t len;
	size_t read_offset;
	size_t read_len;
} reads[] = {
	{ 0, RMA_SIZE, 0, 8 },
	{ 16, 64, 16, 8 },
	{ 16, 8, 16, 8 },
	/* never more than was asked for, never beyond the region */
	{ 16, 7, 16, 7 },
	{ RMA_SIZE - 1, 1, RMA_SIZE - 1, 1 },
	{ RMA_SIZE - 3, 3, RMA_SIZE - 3, 3 },
	/* of no bytes: what is nearest */
	{ 16, 0, 16, 8 },
	{ RMA_SIZE - 4, 0, RMA_SIZE - 8, 8 },
	{ RMA_SIZE, 0, RMA_SIZE - 8, 8 },
};
/* clang-format on */

/*
 * 8 bytes used to be read whatever was asked for: with fewer than that left in the
 * region the read failed, and the connection with it.
 */
START_TEST(test_read_stays_within_the_region)
{
	ck_assert_int_eq(flush_at(rma.remote, reads[_i].offset, reads[_i].len), 0);
	ck_assert_int_eq(fake_last_wr().opcode, IBV_WR_RDMA_READ);
	ck_assert_uint_eq(fake_last_wr().send_flags, IBV_SEND_SIGNALED);
	ck_assert_int_eq(fake_last_wr().num_sge, 1);
	ck_assert_uint_eq(fake_last_wr().length, reads[_i].read_len);
	ck_assert_uint_eq(fake_last_wr().raddr,
	    (uintptr_t)rma.there + reads[_i].read_offset);
	rma_check_wc(&rma, 88, IBV_WC_RDMA_READ);
	ck_assert_uint_eq(fixture_logs(), 0);
}
END_TEST

START_TEST(test_region_below_8_bytes)
{
	struct rpma_mr_remote *small =
	    rma_remote(&rma, (uintptr_t)rma.there + 4, 5, BOTH);
	struct rpma_mr_remote *empty = rma_remote(&rma, (uintptr_t)rma.there, 0, BOTH);

	ck_assert_int_eq(flush_at(small, 0, 5), 0);
	ck_assert_uint_eq(fake_last_wr().length, 5);
	rma_check_wc(&rma, 88, IBV_WC_RDMA_READ);
	ck_assert_int_eq(flush_at(small, 5, 0), 0);
	ck_assert_uint_eq(fake_last_wr().length, 5);
	ck_assert_uint_eq(fake_last_wr().raddr, (uintptr_t)rma.there + 4);
	rma_check_wc(&rma, 88, IBV_WC_RDMA_READ);
	ck_assert_int_eq(flush_at(empty, 0, 0), 0);
	ck_assert_int_eq(fake_last_wr().num_sge, 0);
	rma_check_wc(&rma, 88, IBV_WC_RDMA_READ);
	ck_assert_int_eq(rpma_mr_remote_delete(&small), 0);
	ck_assert_int_eq(rpma_mr_remote_delete(&empty), 0);
}
END_TEST

/* The length is of no request, so it may be any. */
START_TEST(test_len_beyond_32_bits)
{
	struct rpma_mr_remote *huge =
	    rma_remote(&rma, (uintptr_t)rma.there, (uint64_t)1 << 40, BOTH);

	ck_assert_int_eq(flush_at(huge, 8, ((size_t)1 << 32) + 3), 0);
	ck_assert_uint_eq(fake_last_wr().length, 8);
	ck_assert_uint_eq(fake_last_wr().raddr, (uintptr_t)rma.there + 8);
	ck_assert_int_eq(rpma_mr_remote_delete(&huge), 0);
}
END_TEST

/* clang-format off */
static const struct {
	size_t offset;
	size_t len;
} beyond[] = {
	{ 0, RMA_SIZE + 1 },
	{ 1, RMA_SIZE },
	{ RMA_SIZE, 1 },
	{ RMA_SIZE + 1, 0 },
	{ SIZE_MAX, 1 },
	{ 8, SIZE_MAX },
};
/* clang-format on */

START_TEST(test_range)
{
	ck_assert_int_eq(flush_at(rma.remote, beyond[_i].offset, beyond[_i].len),
	    RPMA_E_INVAL);
	ck_assert_uint_eq(fake_called("ibv_post_send"), 0);
	ck_assert_uint_eq(fake_called("ibv_reg_mr"), 2); /* of the fixture */
}
END_TEST

START_TEST(test_invalid)
{
	struct rpma_peer_cfg *pcfg = NULL;

	apply(rma.conn, true);
	ck_assert_int_eq(rpma_flush(NULL, rma.remote, 0, 8, VISIBLE, ALWAYS, NULL),
	    RPMA_E_INVAL);
	ck_assert_int_eq(flush_at(NULL, 0, 8), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_flush(rma.conn, rma.remote, 0, 8, VISIBLE, 0, NULL),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_apply_remote_peer_cfg(rma.conn, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_cfg_new(&pcfg), 0);
	ck_assert_int_eq(rpma_conn_apply_remote_peer_cfg(NULL, pcfg), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_cfg_delete(&pcfg), 0);
	ck_assert_uint_eq(fake_called("ibv_post_send"), 0);
	ck_assert_uint_eq(fixture_logs(), 0);
}
END_TEST

/* A kind of flush that is none used to be a flush. */
START_TEST(test_unknown_type)
{
	static const int types[] = { -1, 2, 0x10, 0x20 };

	apply(rma.conn, true);
	for (unsigned int i = 0; i < 4; i++) {
		int type = types[i];
		enum rpma_flush_type as_type;

		memcpy(&as_type, &type, sizeof(as_type));
		ck_assert_int_eq(rpma_flush(rma.conn, rma.remote, 0, 8, as_type, ALWAYS,
				     NULL),
		    RPMA_E_INVAL);
	}
	ck_assert_uint_eq(fake_called("ibv_post_send"), 0);
}
END_TEST

/* clang-format off */
static const struct {
	int applied; /* 0 nothing, 1 no, 2 yes */
	int usage;
	enum rpma_flush_type type;
	int ret;
} supports[] = {
	{ 0, BOTH, VISIBLE, 0 },
	{ 0, BOTH, PERSISTENT, RPMA_E_NOSUPP },
	{ 1, BOTH, PERSISTENT, RPMA_E_NOSUPP },
	{ 2, BOTH, PERSISTENT, 0 },
	{ 2, RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, PERSISTENT, 0 },
	{ 2, RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY, PERSISTENT, RPMA_E_NOSUPP },
	{ 2, RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY, VISIBLE, 0 },
	/* to be persistent does not stand for being visible */
	{ 2, RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, VISIBLE, RPMA_E_NOSUPP },
	{ 2, RPMA_MR_USAGE_WRITE_DST, VISIBLE, RPMA_E_NOSUPP },
	{ 2, RPMA_MR_USAGE_WRITE_DST, PERSISTENT, RPMA_E_NOSUPP },
};
/* clang-format on */

START_TEST(test_support)
{
	struct rpma_mr_remote *remote =
	    rma_remote(&rma, (uintptr_t)rma.there, RMA_SIZE, supports[_i].usage);
	int ret = supports[_i].ret;

	if (supports[_i].applied)
		apply(rma.conn, supports[_i].applied == 2);
	ck_assert_int_eq(rpma_flush(rma.conn, remote, 0, 8, supports[_i].type, ON_ERROR,
			     NULL),
	    ret);
	ck_assert_uint_eq(fake_called("ibv_post_send"), ret ? 0 : 1);
	ck_assert_uint_eq(fixture_logs(), ret ? 1 : 0);
	if (!ret)
		ck_assert_uint_eq(fake_last_wr().send_flags, 0);
	ck_assert_int_eq(rpma_mr_remote_delete(&remote), 0);
}
END_TEST

/* What was applied may be taken back. */
START_TEST(test_apply_again)
{
	apply(rma.conn, true);
	apply(rma.conn, false);
	ck_assert_int_eq(rpma_flush(rma.conn, rma.remote, 0, 8, PERSISTENT, ALWAYS,
			     NULL),
	    RPMA_E_NOSUPP);
}
END_TEST

/*
 * The memory that is read into: each connection used to pin a page of its own, even if
 * it never flushed. It is one for all, aligned to a page, and 8 bytes are registered.
 */
START_TEST(test_one_buffer_for_all)
{
	struct rpma_conn *other = fixture_connect(NULL);
	unsigned int before = fake_live(FAKE_MR);
	struct fake_wr wr;

	ck_assert_uint_eq(before, 2); /* of the fixture */
	fake_trace_clear();
	ck_assert_int_eq(flush_at(rma.remote, 0, 8), 0);
	wr = fake_last_wr();
	ck_assert_ptr_nonnull(strstr(fake_trace_args(),
	    "ibv_reg_mr(length=8,access=1) ibv_post_send(opcode=4,len=8"));
	ck_assert_uint_eq(wr.addr % (unsigned long)sysconf(_SC_PAGESIZE), 0);
	ck_assert_int_eq(flush_at(rma.remote, 0, 8), 0);
	ck_assert_int_eq(rpma_flush(other, rma.remote, 0, 8, VISIBLE, ALWAYS, NULL), 0);
	ck_assert_uint_eq(fake_last_wr().addr, wr.addr);
	ck_assert_uint_eq(fake_last_wr().lkey, wr.lkey);
	ck_assert_uint_eq(fake_live(FAKE_MR), before + 1);
	/* a queue pair may go, the memory of its reads stays until the peer goes */
	ck_assert_int_eq(rpma_conn_delete(&other), 0);
	ck_assert_uint_eq(fake_live(FAKE_MR), before + 1);
}
END_TEST

/* A connection of a peer of its own, whose flush is the peer's first. */
static struct rpma_conn *
flush_elsewhere(struct rpma_peer **peer)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;
	enum rpma_conn_event event;

	ck_assert_int_eq(rpma_peer_new(fake_context(0), peer), 0);
	ck_assert_int_eq(rpma_conn_req_new(*peer, FIXTURE_ADDR, FIXTURE_PORT_STR, NULL,
			     &req),
	    0);
	ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, &conn), 0);
	ck_assert_int_eq(rpma_conn_next_event(conn, &event), 0);
	fake_trace_clear();
	ck_assert_int_eq(rpma_flush(conn, rma.remote, 0, 8, VISIBLE, ALWAYS, NULL), 0);
	return conn;
}

/* The memory used to go before the queue pair whose reads may still come. */
START_TEST(test_buffer_goes_last)
{
	struct rpma_peer *peer = NULL;
	struct rpma_conn *conn = flush_elsewhere(&peer);

	fake_trace_clear();
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	ck_assert_int_eq(rpma_peer_delete(&peer), 0);
	ck_assert_str_eq(fake_trace(),
	    "rdma_destroy_qp ibv_destroy_cq ibv_destroy_comp_channel rdma_destroy_id "
	    "rdma_destroy_event_channel ibv_dereg_mr ibv_dealloc_pd");
}
END_TEST

/* On iWARP the answer to a read is a write of the other side. */
START_TEST(test_buffer_iwarp)
{
	struct rpma_peer *peer = NULL;
	struct rpma_conn *conn;

	fake_set_kind(FAKE_IWARP);
	conn = flush_elsewhere(&peer);
	ck_assert_ptr_nonnull(strstr(fake_trace_args(),
	    "ibv_reg_mr(length=8,access=3)"));
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	ck_assert_int_eq(rpma_peer_delete(&peer), 0);
}
END_TEST

START_TEST(test_buffer_fails)
{
	fake_fail_call("ibv_reg_mr", 1, ENOMEM);
	assert_provider(flush_at(rma.remote, 0, 8), ENOMEM);
	fake_alloc_fail_nth(1);
	ck_assert_int_eq(flush_at(rma.remote, 0, 8), RPMA_E_NOMEM);
	fake_alloc_fail_nth(0);
	ck_assert_uint_eq(fake_called("ibv_post_send"), 0);
	/* nothing of that stays */
	ck_assert_int_eq(flush_at(rma.remote, 0, 8), 0);
	fake_fail_call("ibv_post_send", 1, EIO);
	assert_provider(flush_at(rma.remote, 0, 8), EIO);
}
END_TEST

/* The end of the buffer is part of the end of its peer. */
START_TEST(test_buffer_dereg_fails)
{
	struct rpma_peer *peer = NULL;
	struct rpma_conn *conn = flush_elsewhere(&peer);

	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	fake_fail_call("ibv_dereg_mr", 1, EIO);
	assert_provider(rpma_peer_delete(&peer), EIO);
	ck_assert_ptr_null(peer);
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
	assert_provider(rpma_flush(conn, rma.remote, 0, 8, VISIBLE, ALWAYS, NULL),
	    ENOTCONN);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	ck_assert_int_eq(rpma_cm_delete(&cm), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_flush");
	TCase *tc = fixture_case(suite, "flush");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_loop_test(tc, test_read_stays_within_the_region, 0,
	    sizeof(reads) / sizeof(reads[0]));
	tcase_add_test(tc, test_region_below_8_bytes);
	tcase_add_test(tc, test_len_beyond_32_bits);
	tcase_add_loop_test(tc, test_range, 0, sizeof(beyond) / sizeof(beyond[0]));
	tcase_add_test(tc, test_invalid);
	tcase_add_test(tc, test_unknown_type);
	tcase_add_loop_test(tc, test_support, 0,
	    sizeof(supports) / sizeof(supports[0]));
	tcase_add_test(tc, test_apply_again);
	tcase_add_test(tc, test_one_buffer_for_all);
	tcase_add_test(tc, test_buffer_goes_last);
	tcase_add_test(tc, test_buffer_iwarp);
	tcase_add_test(tc, test_buffer_fails);
	tcase_add_test(tc, test_buffer_dereg_fails);
	tcase_add_test(tc, test_no_queue_pair);
	return harness_run(suite);
}
