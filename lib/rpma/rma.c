/* SPDX-License-Identifier: BSD-3-Clause */
/* rma.c: reading and writing remote memory. */
#include <config.h>

#include <arpa/inet.h>

#include "lib/rpma/conn.h"
#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/native.h"
#include "lib/rpma/post.h"

/* Both regions, or none, and then nothing of either. */
static inline int
post_rma(struct rpma_conn *conn, struct ibv_send_wr *wr,
    const struct rpma_mr_local *local, size_t local_offset,
    const struct rpma_mr_remote *remote, size_t remote_offset, size_t len, int flags)
{
	if (remote) {
		if (!local || !rpmai_mr_remote_has(remote, remote_offset, len))
			return RPMA_E_INVAL;
		wr->wr.rdma.remote_addr = remote->base + remote_offset;
		wr->wr.rdma.rkey = remote->rkey;
	} else if (local || remote_offset) {
		return RPMA_E_INVAL;
	}
	return rpmai_post_send(conn, wr, local, local_offset, len, flags);
}

int
rpma_read(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t dst_offset,
    const struct rpma_mr_remote *src, size_t src_offset, size_t len, int flags,
    const void *op_context)
{
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.opcode = IBV_WR_RDMA_READ,
	};

	return post_rma(conn, &wr, dst, dst_offset, src, src_offset, len, flags);
}

int
rpma_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
    const struct rpma_mr_local *src, size_t src_offset, size_t len, int flags,
    const void *op_context)
{
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.opcode = IBV_WR_RDMA_WRITE,
	};

	return post_rma(conn, &wr, src, src_offset, dst, dst_offset, len, flags);
}

int
rpma_write_with_imm(struct rpma_conn *conn, struct rpma_mr_remote *dst,
    size_t dst_offset, const struct rpma_mr_local *src, size_t src_offset, size_t len,
    int flags, uint32_t imm, const void *op_context)
{
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htonl(imm),
	};

	return post_rma(conn, &wr, src, src_offset, dst, dst_offset, len, flags);
}

/*
 * A write of 8 aligned bytes, taken from the request itself; the fence lets it wait for
 * the reads before it, and so for flushes.
 */
static int
write_inline(struct ibv_qp *qp, const struct rpma_mr_remote *dst, uint64_t dst_offset,
    const char src[8], int flags, uint64_t wr_id)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)src,
		.length = RPMA_ATOMIC_WRITE_ALIGNMENT,
	};
	struct ibv_send_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags =
		    rpmai_send_flags(flags) | IBV_SEND_INLINE | IBV_SEND_FENCE,
		.wr.rdma.remote_addr = dst->base + dst_offset,
		.wr.rdma.rkey = dst->rkey,
	};

	return rpmai_post_wr(qp, &wr);
}

int
rpma_atomic_write(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
    const char src[8], int flags, const void *op_context)
{
	uint64_t wr_id = (uintptr_t)op_context;
	int rc;

	if (!conn || !dst || !src || flags == 0 ||
	    !rpmai_mr_remote_has(dst, dst_offset, RPMA_ATOMIC_WRITE_ALIGNMENT) ||
	    (dst->base + dst_offset) % RPMA_ATOMIC_WRITE_ALIGNMENT)
		return RPMA_E_INVAL;
	if (!conn->queues.qp)
		return rpmai_no_queue_pair();
	if (!(conn->queues.native_ops & RPMA_NATIVE_ATOMIC_WRITE))
		return write_inline(conn->queues.qp, dst, dst_offset, src, flags,
		    wr_id);
	rc = rpmai_native_atomic_write(conn->queues.qp, dst, dst_offset, src, flags,
	    wr_id);
	return rc ? rpmai_post_failed(rc, "ibv_wr_atomic_write()") : 0;
}
