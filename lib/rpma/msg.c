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

/* The bit of RPMA_F_COMPLETION_ALWAYS that asks for a completion of success, too. */
#define COMPLETION_ON_SUCCESS (RPMA_F_COMPLETION_ALWAYS & ~RPMA_F_COMPLETION_ON_ERROR)

int
rpmai_post_failed(int rc, const char *call)
{
	/* mlx4 says -1, and nothing in errno, for a full shared receive queue */
	int errnum = rc == -1 ? ENOMEM : rpmai_err_verbs(rc);

	if (errnum == ENOMEM)
		return rpmai_err_set(RPMA_E_PROVIDER, ENOMEM);
	return rpmai_err_provider(errnum, "%s", call);
}

/* Nothing can be posted before a dial has got its queue pair. */
static int __attribute__((cold)) no_queue_pair(void)
{
	return rpmai_err_provider(ENOTCONN, "using a connection without a queue pair");
}

/* Send what wr says, with the memory of src. */
static inline int
post_send(struct rpma_conn *conn, struct ibv_send_wr *wr,
    const struct rpma_mr_local *src, size_t offset, size_t len, int flags)
{
	struct ibv_sge sge;
	struct ibv_send_wr *bad;
	int rc;

	if (!conn || flags == 0)
		return RPMA_E_INVAL;
	rc = rpmai_mr_range(src, offset, len, &sge, &wr->num_sge);
	if (rc)
		return rc;
	if (!conn->queues.qp)
		return no_queue_pair();
	wr->sg_list = &sge;
	wr->send_flags = flags & COMPLETION_ON_SUCCESS ? IBV_SEND_SIGNALED : 0;
	rc = ibv_post_send(conn->queues.qp, wr, &bad);
	return rc ? rpmai_post_failed(rc, "ibv_post_send()") : 0;
}

int
rpma_send(struct rpma_conn *conn, const struct rpma_mr_local *src, size_t offset,
    size_t len, int flags, const void *op_context)
{
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.opcode = IBV_WR_SEND,
	};

	return post_send(conn, &wr, src, offset, len, flags);
}

int
rpma_send_with_imm(struct rpma_conn *conn, const struct rpma_mr_local *src,
    size_t offset, size_t len, int flags, uint32_t imm, const void *op_context)
{
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htonl(imm),
	};

	return post_send(conn, &wr, src, offset, len, flags);
}

int
rpmai_queues_recv(struct rpmai_queues *queues, const struct rpma_mr_local *dst,
    size_t offset, size_t len, const void *op_context)
{
	if (queues->srq)
		return rpmai_post_srq_recv(queues->srq->ibv_srq, dst, offset, len,
		    op_context);
	if (!queues->qp)
		return no_queue_pair();
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
