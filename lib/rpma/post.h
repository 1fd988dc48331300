/* SPDX-License-Identifier: BSD-3-Clause */
/* post.h: work requests on their way into a queue; inline for the sake of speed. */
#ifndef RPMAD_LIB_RPMA_POST_H
#define RPMAD_LIB_RPMA_POST_H

#include <stddef.h>
#include <stdint.h>

#include "lib/rpma/conn.h"
#include "lib/rpma/mr.h"

/*
 * For calls that a program makes for each message: they have no array on the stack that
 * could be overrun, so they need no guard of it, which would cost a sixth of them.
 */
#ifdef __has_attribute
#if __has_attribute(no_stack_protector)
#define RPMAI_HOT __attribute__((no_stack_protector))
#endif
#endif
#ifndef RPMAI_HOT
#define RPMAI_HOT
#endif

/*
 * The result of a post that the provider refused. A full queue (ENOMEM) is not logged:
 * it is a state that the caller handles, and a peer could bring it about as often as it
 * likes.
 *
 * rc       what the call answered, not 0
 * call     its name, for the log
 * return   RPMA_E_PROVIDER
 */
int rpmai_post_failed(int rc, const char *call) __attribute__((cold));

/* Nothing can be posted before a dial has got its queue pair: RPMA_E_PROVIDER, ENOTCONN. */
int rpmai_no_queue_pair(void) __attribute__((cold));

/* The bit of RPMA_F_COMPLETION_ALWAYS that asks for a completion of success, too. */
#define RPMAI_F_COMPLETION_ON_SUCCESS \
	(RPMA_F_COMPLETION_ALWAYS & ~RPMA_F_COMPLETION_ON_ERROR)

/* RPMA_F_COMPLETION_* as IBV_SEND_*; bits of no meaning do not count. */
static inline unsigned int
rpmai_send_flags(int flags)
{
	return flags & RPMAI_F_COMPLETION_ON_SUCCESS ? IBV_SEND_SIGNALED : 0;
}

/* Post one complete work request to the send queue. 0; RPMA_E_PROVIDER. */
static inline int
rpmai_post_wr(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	int rc = ibv_post_send(qp, wr, &bad);

	return rc ? rpmai_post_failed(rc, "ibv_post_send()") : 0;
}

/*
 * Post a work request after filling in its flags and its local memory.
 *
 * local        see rpmai_mr_range()
 * flags        RPMA_F_COMPLETION_*
 * return       0; RPMA_E_INVAL conn NULL, flags 0, or of the range; RPMA_E_PROVIDER
 * source       ibv_post_send(3)
 */
static inline int
rpmai_post_send(struct rpma_conn *conn, struct ibv_send_wr *wr,
    const struct rpma_mr_local *local, size_t offset, size_t len, int flags)
{
	struct ibv_sge sge;
	int ret;

	if (!conn || flags == 0)
		return RPMA_E_INVAL;
	ret = rpmai_mr_range(local, offset, len, &sge, &wr->num_sge);
	if (ret)
		return ret;
	if (!conn->queues.qp)
		return rpmai_no_queue_pair();
	wr->sg_list = &sge;
	wr->send_flags = rpmai_send_flags(flags);
	return rpmai_post_wr(conn->queues.qp, wr);
}

/*
 * Post one receive to a shared receive queue.
 *
 * dst, offset, len  see rpmai_mr_range()
 * return            0; RPMA_E_INVAL; RPMA_E_PROVIDER
 * source            ibv_post_srq_recv(3)
 */
static inline int
rpmai_post_srq_recv(struct ibv_srq *ibv_srq, const struct rpma_mr_local *dst,
    size_t offset, size_t len, const void *op_context)
{
	struct ibv_sge sge;
	struct ibv_recv_wr wr;
	struct ibv_recv_wr *bad;
	int rc = rpmai_mr_range(dst, offset, len, &sge, &wr.num_sge);

	if (rc)
		return rc;
	wr.wr_id = (uintptr_t)op_context;
	wr.next = NULL;
	wr.sg_list = &sge;
	rc = ibv_post_srq_recv(ibv_srq, &wr, &bad);
	return rc ? rpmai_post_failed(rc, "ibv_post_srq_recv()") : 0;
}

/* Post one receive to a queue pair; else as rpmai_post_srq_recv(). */
static inline int
rpmai_post_recv(struct ibv_qp *qp, const struct rpma_mr_local *dst, size_t offset,
    size_t len, const void *op_context)
{
	struct ibv_sge sge;
	struct ibv_recv_wr wr = { .wr_id = (uintptr_t)op_context, .sg_list = &sge };
	struct ibv_recv_wr *bad;
	int rc = rpmai_mr_range(dst, offset, len, &sge, &wr.num_sge);

	if (rc)
		return rc;
	rc = ibv_post_recv(qp, &wr, &bad);
	return rc ? rpmai_post_failed(rc, "ibv_post_recv()") : 0;
}

#endif
