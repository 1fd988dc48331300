/* SPDX-License-Identifier: BSD-3-Clause */
/* post.h: receives on their way into a queue; inline for the sake of speed. */
#ifndef RPMAD_LIB_RPMA_POST_H
#define RPMAD_LIB_RPMA_POST_H

#include <stddef.h>
#include <stdint.h>

#include "lib/rpma/mr.h"

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
	struct ibv_recv_wr wr = { .wr_id = (uintptr_t)op_context, .sg_list = &sge };
	struct ibv_recv_wr *bad;
	int rc = rpmai_mr_range(dst, offset, len, &sge, &wr.num_sge);

	if (rc)
		return rc;
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
