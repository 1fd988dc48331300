/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_rpma_native.c: operations that the device does by itself: only when asked for,
 * only where it can, and never in the way of a connection.
 */
#include <config.h>

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

#include "tests/unit/rpma_fixture.h"
#include "tests/unit/rpma_rma_fixture.h"

#define ALWAYS   RPMA_F_COMPLETION_ALWAYS
#define ON_ERROR RPMA_F_COMPLETION_ON_ERROR
#define FLUSH    RPMA_NATIVE_FLUSH
#define ATOMIC   RPMA_NATIVE_ATOMIC_WRITE
#define BOTH     (FLUSH | ATOMIC)
#define USAGES                                              \
	(RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC | \
	    RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)

/* What the headers of this build know. */
#define KNOWN                                    \
	((HAVE_DECL_IBV_WR_FLUSH ? FLUSH : 0U) | \
	    (HAVE_DECL_IBV_WR_ATOMIC_WRITE ? ATOMIC : 0U))

/* Bits of send_ops_flags. Source: rdma-core, enum ibv_qp_create_send_ops_flags. */
#define OPS_FLUSH  (1U << 11)
#define OPS_ATOMIC (1U << 12)

/* Numbers of rdma-core 45 that older headers lack. */
#define WR_FLUSH        14
#define WR_ATOMIC_WRITE 15
#define WC_FLUSH        8
#define WC_ATOMIC_WRITE 9

static struct rpma_peer *peer;
static struct rpma_conn *conn;
static struct rma rma;

/* A peer that knows what the device can do now, and a connection that asks for ops. */
static void
connect_native(unsigned int ops)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn_req *req = NULL;
	enum rpma_conn_event event;

	ck_assert_int_eq(rpma_peer_new(fake_context(0), &peer), 0);
	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_native_ops(cfg, ops), 0);
	fake_trace_clear();
	ck_assert_int_eq(rpma_conn_req_new(peer, FIXTURE_ADDR, FIXTURE_PORT_STR, cfg,
			     &req),
	    0);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
	ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, &conn), 0);
	ck_assert_int_eq(rpma_conn_next_event(conn, &event), 0);
	ck_assert_int_eq(event, RPMA_CONN_ESTABLISHED);
}

static void
start(void)
{
	rma_start(&rma, NULL, USAGES);
	fake_trace_clear();
}

static void
stop(void)
{
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	ck_assert_int_eq(rpma_peer_delete(&peer), 0);
	rma_stop(&rma);
}

/* clang-format off */
static const struct {
	unsigned int flush; /* 1 global, 2 persistent */
	bool atomic_write;
	unsigned int asked;
} devices[] = {
	{ 0, false, BOTH },
	{ 0, true, BOTH },
	{ 0, true, FLUSH },
	{ 0, true, ATOMIC },
	/* one kind of flush alone: the other would end the connection */
	{ 1, false, BOTH },
	{ 2, false, BOTH },
	{ 1, true, BOTH },
	{ 3, false, BOTH },
	{ 3, false, ATOMIC },
	{ 3, true, BOTH },
	{ 3, true, FLUSH },
	{ 3, true, 0 },
};
/* clang-format on */

/*
 * Drivers that know plain queue pairs alone refuse the mere mention of others, so that
 * no connection came about at all: nothing is mentioned that the device cannot do or
 * that was not asked for.
 */
START_TEST(test_asked_for_only_where_possible)
{
	unsigned int able = (devices[_i].flush == 3 ? FLUSH : 0) |
	    (devices[_i].atomic_write ? ATOMIC : 0);
	unsigned int expected = devices[_i].asked & able & KNOWN;
	unsigned int ops = 77;
	char text[32];

	fake_options()->native_flush = devices[_i].flush;
	fake_options()->native_atomic_write = devices[_i].atomic_write;
	connect_native(devices[_i].asked);
	ck_assert_int_eq(rpma_conn_get_native_ops(conn, &ops), 0);
	ck_assert_uint_eq(ops, expected);
	(void)snprintf(text, sizeof(text), "ops=%u",
	    (expected & FLUSH ? OPS_FLUSH : 0) | (expected & ATOMIC ? OPS_ATOMIC : 0));
	if (expected)
		ck_assert_ptr_nonnull(strstr(fake_trace_args(), text));
	else
		ck_assert_ptr_null(strstr(fake_trace_args(), "ops="));
	ck_assert_uint_eq(fake_called("rdma_create_qp_ex"), 2); /* one: the fixture */
}
END_TEST

/* clang-format off */
static const int refusals[] = { EOPNOTSUPP, EINVAL, ENOSYS };
/* clang-format on */

/* A driver that refuses gets a plain queue pair to make, and the connection lives. */
START_TEST(test_refused)
{
	unsigned int ops = 77;

	fake_options()->native_atomic_write = true;
	fake_options()->no_send_ops = refusals[_i];
	connect_native(ATOMIC);
	ck_assert_int_eq(rpma_conn_get_native_ops(conn, &ops), 0);
	ck_assert_uint_eq(ops, 0);
	ck_assert_uint_eq(fake_called("rdma_create_qp_ex"), KNOWN & ATOMIC ? 3 : 2);
	ck_assert_uint_eq(fixture_logs(), 0);
	ck_assert_int_eq(rpma_atomic_write(conn, rma.remote, 0, "abcdefgh", ALWAYS,
			     NULL),
	    0);
	ck_assert_int_eq(fake_last_wr().opcode, IBV_WR_RDMA_WRITE);
	ck_assert(!fake_last_wr().is_built);
}
END_TEST

/*
 * A driver may make a queue pair for operations that it cannot build: one that was
 * written before them does not look at what it does not know. Calling it for them would
 * be a jump to nowhere.
 */
START_TEST(test_driver_builds_nothing)
{
	unsigned int ops = 77;

	fake_options()->native_flush = 3;
	fake_options()->native_atomic_write = true;
	fake_options()->no_builders = true;
	connect_native(BOTH);
	ck_assert_int_eq(rpma_conn_get_native_ops(conn, &ops), 0);
	ck_assert_uint_eq(ops, 0);
	ck_assert_uint_eq(fake_called("rdma_create_qp_ex"), 2);
	ck_assert_int_eq(rpma_atomic_write(conn, rma.remote, 0, "abcdefgh", ALWAYS,
			     NULL),
	    0);
	ck_assert_int_eq(fake_last_wr().opcode, IBV_WR_RDMA_WRITE);
	ck_assert_int_eq(rpma_flush(conn, rma.remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
			     ALWAYS, NULL),
	    0);
	ck_assert_int_eq(fake_last_wr().opcode, IBV_WR_RDMA_READ);
	ck_assert(!fake_last_wr().is_built);
}
END_TEST

/* Other failures are failures, and are not tried twice. */
START_TEST(test_creation_fails)
{
	struct rpma_conn_req *req = UNTOUCHED(struct rpma_conn_req);
	struct rpma_conn_cfg *cfg = NULL;

	fake_options()->native_atomic_write = true;
	ck_assert_int_eq(rpma_peer_new(fake_context(0), &peer), 0);
	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_native_ops(cfg, BOTH), 0);
	fake_fail_call("rdma_create_qp_ex", 1, ENOMEM);
	assert_provider(rpma_conn_req_new(peer, FIXTURE_ADDR, FIXTURE_PORT_STR, cfg,
			    &req),
	    ENOMEM);
	ck_assert_uint_eq(fake_called("rdma_create_qp_ex"), 2);
	ck_assert_ptr_eq(req, UNTOUCHED(struct rpma_conn_req));
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
}
END_TEST

START_TEST(test_atomic_write)
{
	struct rpma_cq *cq;
	struct ibv_wc wc;

	if (!(KNOWN & ATOMIC))
		return;
	fake_options()->native_atomic_write = true;
	connect_native(ATOMIC);
	ck_assert_int_eq(rpma_conn_get_cq(conn, &cq), 0);
	ck_assert_int_eq(rpma_atomic_write(conn, rma.remote, 8, "abcdefgh", ALWAYS,
			     (void *)88),
	    0);
	ck_assert(fake_last_wr().is_built);
	ck_assert_int_eq(fake_last_wr().opcode, WR_ATOMIC_WRITE);
	/* the fence used to be missing: the write could overtake a flush */
	ck_assert_uint_eq(fake_last_wr().send_flags,
	    IBV_SEND_SIGNALED | IBV_SEND_FENCE);
	ck_assert_uint_eq(fake_last_wr().raddr, (uintptr_t)rma.there + 8);
	ck_assert_mem_eq(rma.there + 8, "abcdefgh", 8);
	ck_assert_uint_eq(rma.there[16], 0x22);
	ck_assert_int_eq(rpma_cq_get_wc(cq, 1, &wc, NULL), 0);
	ck_assert_uint_eq(wc.wr_id, 88);
	ck_assert_int_eq((int)wc.opcode, WC_ATOMIC_WRITE);
	ck_assert_int_eq(rpma_atomic_write(conn, rma.remote, 0, "abcdefgh", ON_ERROR,
			     NULL),
	    0);
	ck_assert_uint_eq(fake_last_wr().send_flags, IBV_SEND_FENCE);
	ck_assert_int_eq(rpma_atomic_write(conn, rma.remote, 4, "abcdefgh", ALWAYS,
			     NULL),
	    RPMA_E_INVAL);
	fake_fail_call("ibv_wr_complete", 1, EIO);
	assert_provider(rpma_atomic_write(conn, rma.remote, 0, "abcdefgh", ALWAYS,
			    NULL),
	    EIO);
	/* a flush of this connection still reads */
	ck_assert_int_eq(rpma_flush(conn, rma.remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
			     ALWAYS, NULL),
	    0);
	ck_assert_int_eq(fake_last_wr().opcode, IBV_WR_RDMA_READ);
}
END_TEST

#define FOUR_GIB ((size_t)1 << 32)

/* clang-format off */
static const struct {
	enum rpma_flush_type type;
	size_t offset;
	size_t len;
	unsigned int kind; /* 1 global, 2 persistent */
	unsigned int level; /* 0 the range, 1 the region */
	size_t flush_len;
} flushes[] = {
	{ RPMA_FLUSH_TYPE_VISIBILITY, 16, 64, 1, 0, 64 },
	{ RPMA_FLUSH_TYPE_PERSISTENT, 0, RMA_SIZE, 2, 0, RMA_SIZE },
	/* 4 GiB and 5 bytes used to be 5 bytes */
	{ RPMA_FLUSH_TYPE_VISIBILITY, 16, FOUR_GIB + 5, 1, 1, 0 },
};
/* clang-format on */

START_TEST(test_flush)
{
	size_t len = flushes[_i].len;
	struct rpma_peer_cfg *pcfg = NULL;
	struct rpma_mr_local *target = NULL;
	struct rpma_mr_remote *remote = NULL;
	unsigned char desc[21];

	if (!(KNOWN & FLUSH))
		return;
	fake_options()->native_flush = 3;
	connect_native(FLUSH);
	ck_assert_int_eq(rpma_peer_cfg_new(&pcfg), 0);
	ck_assert_int_eq(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true), 0);
	ck_assert_int_eq(rpma_conn_apply_remote_peer_cfg(conn, pcfg), 0);
	ck_assert_int_eq(rpma_peer_cfg_delete(&pcfg), 0);
	ck_assert_int_eq(rpma_mr_reg(peer, rma.there, 2 * FOUR_GIB, USAGES, &target),
	    0);
	ck_assert_int_eq(rpma_mr_get_descriptor(target, desc), 0);
	ck_assert_int_eq(rpma_mr_remote_from_descriptor(desc, sizeof(desc), &remote),
	    0);
	ck_assert_int_eq(rpma_flush(conn, remote, flushes[_i].offset, len,
			     flushes[_i].type, ALWAYS, (void *)88),
	    0);
	ck_assert(fake_last_wr().is_built);
	ck_assert_int_eq(fake_last_wr().opcode, WR_FLUSH);
	ck_assert_uint_eq(fake_last_wr().send_flags, IBV_SEND_SIGNALED);
	ck_assert_uint_eq(fake_last_wr().flush_type, flushes[_i].kind);
	ck_assert_uint_eq(fake_last_wr().flush_level, flushes[_i].level);
	ck_assert_uint_eq(fake_last_wr().flush_len, flushes[_i].flush_len);
	ck_assert_uint_eq(fake_last_wr().raddr,
	    (uintptr_t)rma.there + (flushes[_i].level ? 0 : flushes[_i].offset));
	fake_fail_call("ibv_wr_complete", 1, EIO);
	assert_provider(rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
			    ALWAYS, NULL),
	    EIO);
	ck_assert_int_eq(rpma_mr_remote_delete(&remote), 0);
	ck_assert_int_eq(rpma_mr_dereg(&target), 0);
}
END_TEST

/*
 * Memory to be flushed used to be registered for flushes of the device alone where it
 * has them, so a peer that flushes by reading was refused. It is for both, and where the
 * device minds, for reading.
 */
START_TEST(test_memory_can_be_read)
{
	struct rpma_mr_local *mr = NULL;
	unsigned int flush = KNOWN & FLUSH ? 1U << 8 | 1U << 9 : 0;
	char expected[64];

	fake_options()->native_flush = 3;
	connect_native(0);
	fake_trace_clear();
	ck_assert_int_eq(rpma_mr_reg(peer, rma.there, 64,
			     RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
				 RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT,
			     &mr),
	    0);
	(void)snprintf(expected, sizeof(expected), "ibv_reg_mr(length=64,access=%u)",
	    IBV_ACCESS_REMOTE_READ | flush);
	ck_assert_str_eq(fake_trace_args(), expected);
	ck_assert_int_eq(rpma_mr_dereg(&mr), 0);
	if (flush) {
		fake_fail_call("ibv_reg_mr", 1, EINVAL);
		fake_trace_clear();
		ck_assert_int_eq(rpma_mr_reg(peer, rma.there, 64,
				     RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY, &mr),
		    0);
		ck_assert_str_eq(fake_trace_args(),
		    "ibv_reg_mr(length=64,access=260) ibv_reg_mr(length=64,access=4)");
		ck_assert_int_eq(rpma_mr_dereg(&mr), 0);
	}
}
END_TEST

/* Of a device with one kind of flush, memory is for that kind, and for reading. */
START_TEST(test_memory_for_one_kind)
{
	const unsigned int kind = 1U + (unsigned int)_i;
	struct rpma_mr_local *mr = NULL;
	char expected[64];

	fake_options()->native_flush = kind;
	connect_native(0);
	fake_trace_clear();
	ck_assert_int_eq(rpma_mr_reg(peer, rma.there, 64,
			     RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
				 RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT,
			     &mr),
	    0);
	(void)snprintf(expected, sizeof(expected), "ibv_reg_mr(length=64,access=%u)",
	    IBV_ACCESS_REMOTE_READ | (KNOWN & FLUSH ? kind << 8 : 0));
	ck_assert_str_eq(fake_trace_args(), expected);
	ck_assert_int_eq(rpma_mr_dereg(&mr), 0);
}
END_TEST

START_TEST(test_invalid)
{
	struct rpma_conn_cfg *cfg = NULL;
	unsigned int ops = 77;

	connect_native(0);
	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_native_ops(NULL, 0), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_set_native_ops(cfg, 4), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_get_native_ops(NULL, &ops), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_cfg_get_native_ops(cfg, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_native_ops(NULL, &ops), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_native_ops(conn, NULL), RPMA_E_INVAL);
	ck_assert_uint_eq(ops, 77);
	ck_assert_int_eq(rpma_conn_cfg_get_native_ops(cfg, &ops), 0);
	ck_assert_uint_eq(ops, 0);
	ck_assert_int_eq(rpma_conn_cfg_set_native_ops(cfg, BOTH), 0);
	ck_assert_int_eq(rpma_conn_cfg_get_native_ops(cfg, &ops), 0);
	ck_assert_uint_eq(ops, BOTH);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_native");
	TCase *tc = fixture_case(suite, "native");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_loop_test(tc, test_asked_for_only_where_possible, 0,
	    sizeof(devices) / sizeof(devices[0]));
	tcase_add_loop_test(tc, test_refused, 0,
	    sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_test(tc, test_driver_builds_nothing);
	tcase_add_test(tc, test_creation_fails);
	tcase_add_test(tc, test_atomic_write);
	tcase_add_loop_test(tc, test_flush, 0, sizeof(flushes) / sizeof(flushes[0]));
	tcase_add_test(tc, test_memory_can_be_read);
	tcase_add_loop_test(tc, test_memory_for_one_kind, 0, 2);
	tcase_add_test(tc, test_invalid);
	return harness_run(suite);
}
