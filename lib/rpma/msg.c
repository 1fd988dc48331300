/* SPDX-License-Identifier: BSD-3-Clause */
/* msg.c: sending and receiving messages. */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>

#include "lib/rpma/conn.h"
#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/post.h"
#include "lib/rpma/srq.h"

int
rpmai_post_failed(int rc, const char *call)
{
	/* mlx4 says -1, and nothing in errno, for a full shared receive queue */
	int errnum = rc == -1 ? ENOMEM : rpmai_err_verbs(rc);

	if (errnum == ENOMEM)
		return rpmai_err_set(RPMA_E_PROVIDER, ENOMEM);
	return rpmai_err_provider(errnum, "%s", call);
}

int
rpmai_no_queue_pair(void)
{
	return rpmai_err_provider(ENOTCONN, "using a connection without a queue pair");
}

RPMAI_HOT int
rpma_send(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset,
    size_t len, int flags, const void *op_context)
{
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.opcode = IBV_WR_SEND,
	};

	return rpmai_post_send(conn, &wr, src, offset, len, flags);
}

RPMAI_HOT int
rpma_send_with_imm(struct rpma_conn *conn, const struct rpma_mr_local *src,
    size_t offset, size_t len, int flags, uint32_t imm, const void *op_context)
{
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htonl(imm),
	};

	return rpmai_post_send(conn, &wr, src, offset, len, flags);
}

int
rpmai_queues_recv(struct rpmai_queues *queues, const struct rpma_mr_local *dst,
    size_t offset, size_t len, const void *op_context)
{
	if (queues->srq)
		return rpmai_post_srq_recv(queues->srq->ibv_srq, dst, offset, len,
		    op_context);
	if (!queues->qp)
		return rpmai_no_queue_pair();
	return rpmai_post_recv(queues->qp, dst, offset, len, op_context);
}

int
rpma_recv(struct rpma_conn *conn, struct rpma_mr_local *dst, size_t offset, size_t len,
    const void *op_context)
{
	if (!conn)
		return RPMA_E_INVAL;
	return rpmai_queues_recv(&conn->queues, dst, offset, len, op_context);
}
