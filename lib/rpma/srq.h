/* SPDX-License-Identifier: BSD-3-Clause */
/* srq.h: a shared receive queue as connections see it. */
#ifndef RPMAD_LIB_RPMA_SRQ_H
#define RPMAD_LIB_RPMA_SRQ_H

#include <stdint.h>

#include "lib/rpma/ref.h"

struct ibv_srq;
struct rpma_cq;
struct rpma_peer;

struct rpmai_batch;

struct rpma_srq {
	struct rpmai_ref ref;    /* by connections, too */
	struct rpma_peer *peer;  /* referred to */
	struct ibv_srq *ibv_srq; /* owned */
	struct rpma_cq
	    *rcq; /* owned; NULL: receives complete in the connections' queues */
	struct rpmai_batch *batch; /* owned, of rpma_srq_recv_batch() */
	uint32_t size;             /* receives that it holds */
};

/* Give back a reference. ret: see rpmai_err_note(). */
void rpmai_srq_release(struct rpma_srq *srq, int *ret);

#endif
