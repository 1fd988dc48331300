/* SPDX-License-Identifier: BSD-3-Clause */
/* queues.h: the completion queues and the queue pair of one connection. */
#ifndef RPMAD_LIB_RPMA_QUEUES_H
#define RPMAD_LIB_RPMA_QUEUES_H

#include <stdbool.h>
#include <stddef.h>

struct ibv_comp_channel;
struct ibv_qp;
struct rdma_cm_id;
struct rpma_conn_cfg;
struct rpma_cq;
struct rpma_mr_local;
struct rpma_peer;
struct rpma_srq;

/* All zero before rpmai_queues_make() and after rpmai_queues_destroy(). */
struct rpmai_queues {
	struct rpma_cq
	    *cq; /* of the sends; owned unless is_cq_borrowed, then referred to */
	struct rpma_cq *rcq; /* of the receives, owned; NULL: none of its own */
	/* owned, of both cq and rcq; NULL: each has its own */
	struct ibv_comp_channel *channel;
	struct rpma_srq *srq; /* referred to; NULL: none */
	struct ibv_qp *qp;    /* the id's; NULL: not made yet */
	bool is_cq_borrowed;
	unsigned int native_ops; /* RPMA_NATIVE_*: what the queue pair does by itself */
};

/*
 * Whether a configuration can be served at all: one completion channel cannot be shared
 * with a queue that has a channel of its own already.
 *
 * return   0; RPMA_E_INVAL
 */
int rpmai_queues_check(const struct rpma_conn_cfg *cfg);

/*
 * Make the queues of a connection on an id that has its device.
 *
 * queues   all zero; on failure, too
 * return   0; RPMA_E_NOMEM; RPMA_E_PROVIDER
 * source   ibv_create_cq(3), rdma_create_qp(3)
 */
int rpmai_queues_make(struct rpmai_queues *queues, struct rdma_cm_id *id,
    const struct rpma_peer *peer, const struct rpma_conn_cfg *cfg);

/* Destroy what there is of them. ret: see rpmai_err_note(). */
void rpmai_queues_destroy(struct rpmai_queues *queues, struct rdma_cm_id *id, int *ret);

/*
 * Post one receive to the SRQ, if there is one, else to the queue pair.
 *
 * return   0; RPMA_E_INVAL as rpma_recv(); RPMA_E_PROVIDER, with ENOTCONN when there is
 *          neither yet
 */
int rpmai_queues_recv(struct rpmai_queues *queues, const struct rpma_mr_local *dst,
    size_t offset, size_t len, const void *op_context);

#endif
