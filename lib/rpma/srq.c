/* SPDX-License-Identifier: BSD-3-Clause */
/* srq.c: shared receive queues and the receives given to them. */
#include <config.h>

#include "lib/rpma/srq.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/rpma/batch.h"
#include "lib/rpma/cq.h"
#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/mr.h"
#include "lib/rpma/peer.h"
#include "lib/rpma/post.h"
#include "lib/rpma/srq_cfg.h"

/* Destroy a queue, half-built ones too. ret: see rpmai_err_note(). */
static void
srq_free(struct rpma_srq *srq, int *ret)
{
	int rc;

	rpmai_cq_free(srq->rcq, ret);
	if (srq->ibv_srq) {
		rc = ibv_destroy_srq(srq->ibv_srq);
		if (rc)
			rpmai_err_note(ret, rpmai_err_verbs(rc), "ibv_destroy_srq()");
	}
	rpmai_peer_release(srq->peer, ret);
	free(srq->batch);
	free(srq);
}

void
rpmai_srq_release(struct rpma_srq *srq, int *ret)
{
	if (rpmai_ref_give(&srq->ref))
		srq_free(srq, ret);
}

int
rpma_srq_new(struct rpma_peer *peer, struct rpma_srq_cfg *cfg,
    struct rpma_srq **srq_ptr)
{
	const struct rpma_srq_cfg *config = rpmai_srq_cfg_or_default(cfg);
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = config->rq_size, .max_sge = 1 },
	};
	struct rpma_srq *srq;
	int ret;

	if (!peer || !srq_ptr)
		return RPMA_E_INVAL;
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return rpmai_err_nomem();
	rpmai_ref_init(&srq->ref);
	srq->peer = peer;
	rpmai_ref_take(&peer->ref);
	srq->batch = rpmai_batch_new();
	if (!srq->batch) {
		ret = rpmai_err_nomem();
		goto fail;
	}
	srq->ibv_srq = ibv_create_srq(peer->pd, &attr);
	if (!srq->ibv_srq) {
		ret = rpmai_err_provider(errno, "ibv_create_srq(max_wr=%u)",
		    config->rq_size);
		goto fail;
	}
	/* creation answers with what there is; some drivers keep silent */
	srq->size =
	    attr.attr.max_wr > config->rq_size ? attr.attr.max_wr : config->rq_size;
	if (config->rcq_size) {
		ret = rpmai_cq_new(peer->ibv_ctx, config->rcq_size, NULL, &srq->rcq);
		if (ret)
			goto fail;
	}
	*srq_ptr = srq;
	return 0;

fail:
	srq_free(srq, &ret);
	return ret;
}

int
rpma_srq_delete(struct rpma_srq **srq_ptr)
{
	struct rpma_srq *srq;
	int ret = 0;

	if (!srq_ptr)
		return RPMA_E_INVAL;
	srq = *srq_ptr;
	if (!srq)
		return 0;
	*srq_ptr = NULL;
	if (rpmai_ref_is_shared(&srq->ref))
		rpmai_err_note(&ret, EBUSY, "deleting an SRQ that is in use");
	rpmai_srq_release(srq, &ret);
	return ret;
}

RPMAI_HOT int
rpma_srq_recv(struct rpma_srq *srq, struct rpma_mr_local *dst, size_t offset,
    size_t len, const void *op_context)
{
	if (!srq)
		return RPMA_E_INVAL;
	return rpmai_post_srq_recv(srq->ibv_srq, dst, offset, len, op_context);
}

int
rpma_srq_get_rcq(const struct rpma_srq *srq, struct rpma_cq **rcq_ptr)
{
	if (!srq || !rcq_ptr)
		return RPMA_E_INVAL;
	*rcq_ptr = srq->rcq;
	return 0;
}

int
rpma_srq_get_size(const struct rpma_srq *srq, uint32_t *size)
{
	if (!srq || !size)
		return RPMA_E_INVAL;
	*size = srq->size;
	return 0;
}

int
rpma_srq_set_limit(struct rpma_srq *srq, uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };
	int rc;

	if (!srq)
		return RPMA_E_INVAL;
	rc = ibv_modify_srq(srq->ibv_srq, &attr, IBV_SRQ_LIMIT);
	if (rc)
		return rpmai_err_provider(rpmai_err_verbs(rc),
		    "ibv_modify_srq(srq_limit=%u)", limit);
	return 0;
}
