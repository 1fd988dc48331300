/* SPDX-License-Identifier: BSD-3-Clause */
/* rpma_rma_fixture.c: see rpma_rma_fixture.h. */
#include <config.h>

#include "tests/unit/rpma_rma_fixture.h"

#include <string.h>

#include "tests/unit/rpma_fixture.h"

static unsigned char memory_here[RMA_SIZE] __attribute__((aligned(64)));
static unsigned char memory_there[RMA_SIZE] __attribute__((aligned(64)));

struct rpma_mr_remote *
rma_remote(const struct rma *rma, uint64_t addr, uint64_t size, int usage)
{
	struct rpma_mr_remote *mr = NULL;
	unsigned char desc[21];

	ck_assert_int_eq(rpma_mr_get_descriptor(rma->target, desc), 0);
	for (unsigned int i = 0; i < 8; i++) {
		desc[i] = (unsigned char)(addr >> 8 * i);
		desc[8 + i] = (unsigned char)(size >> 8 * i);
	}
	desc[20] = (unsigned char)usage;
	ck_assert_int_eq(rpma_mr_remote_from_descriptor(desc, sizeof(desc), &mr), 0);
	return mr;
}

void
rma_start(struct rma *rma, const struct rpma_conn_cfg *cfg, int usage)
{
	*rma = (struct rma){ .here = memory_here, .there = memory_there };
	rma->conn = fixture_connect(cfg);
	ck_assert_int_eq(rpma_conn_get_cq(rma->conn, &rma->cq), 0);
	memset(memory_here, 0x11, RMA_SIZE);
	memset(memory_there, 0x22, RMA_SIZE);
	ck_assert_int_eq(rpma_mr_reg(fixture_peer(), memory_here, RMA_SIZE,
			     RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC,
			     &rma->local),
	    0);
	ck_assert_int_eq(rpma_mr_reg(fixture_peer(), memory_there, RMA_SIZE, usage,
			     &rma->target),
	    0);
	rma->remote =
	    rma_remote(rma, (uintptr_t)memory_there, sizeof(memory_there), usage);
	fake_trace_clear();
}

void
rma_stop(struct rma *rma)
{
	ck_assert_int_eq(rpma_conn_delete(&rma->conn), 0);
	ck_assert_int_eq(rpma_mr_remote_delete(&rma->remote), 0);
	ck_assert_int_eq(rpma_mr_dereg(&rma->target), 0);
	ck_assert_int_eq(rpma_mr_dereg(&rma->local), 0);
}

void
rma_check(const struct rma *rma, int opcode, unsigned int send_flags,
    size_t here_offset, size_t len, size_t there_offset)
{
	struct fake_wr wr = fake_last_wr();
	uint32_t rkey = 0;

	ck_assert_int_eq(rpma_mr_remote_get_rkey(rma->remote, &rkey), 0);
	ck_assert_int_eq(wr.opcode, opcode);
	ck_assert_uint_eq(wr.send_flags, send_flags);
	ck_assert_uint_eq(wr.raddr, (uintptr_t)rma->there + there_offset);
	ck_assert_uint_eq(wr.rkey, rkey);
	ck_assert_int_eq(wr.num_sge, len ? 1 : 0);
	if (!len)
		return;
	ck_assert_uint_eq(wr.addr, (uintptr_t)rma->here + here_offset);
	ck_assert_uint_eq(wr.length, len);
	/* not the key for peers */
	ck_assert_uint_ne(wr.lkey >> 16, 0xc0de);
}

void
rma_check_wc(const struct rma *rma, uint64_t wr_id, int opcode)
{
	struct ibv_wc wc;

	ck_assert_int_eq(rpma_cq_get_wc(rma->cq, 1, &wc, NULL), 0);
	ck_assert_uint_eq(wc.wr_id, wr_id);
	ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
	ck_assert_int_eq((int)wc.opcode, opcode);
}
