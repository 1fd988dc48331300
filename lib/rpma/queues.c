/* SPDX-License-Identifier: BSD-3-Clause */
/* queues.c: makes and destroys the queues of a connection. */
#include <config.h>

#include "lib/rpma/queues.h"

#include <errno.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "lib/rpma/conn_cfg.h"
#include "lib/rpma/cq.h"
#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/log.h"
#include "lib/rpma/native.h"
#include "lib/rpma/peer.h"
#include "lib/rpma/srq.h"

/* Bytes that a queue pair takes without reading memory later: one atomic write. */
#define MAX_INLINE_DATA 8

int
rpmai_queues_check(const struct rpma_conn_cfg *cfg)
{
	if (!cfg->is_channel_shared)
		return 0;
	if (cfg->srq && cfg->srq->rcq) {
		RPMAI_ERROR(
		    "a shared completion channel and an SRQ with a completion queue of "
		    "its own exclude each other");
		return RPMA_E_INVAL;
	}
	if (cfg->cq) {
		RPMAI_ERROR(
		    "a shared completion channel and a send completion queue exclude "
		    "each other");
		return RPMA_E_INVAL;
	}
	return 0;
}

/* Whether receives complete in a queue of the connection's own. */
static bool
has_rcq(const struct rpma_conn_cfg *cfg)
{
	return cfg->rcq_size && !(cfg->srq && cfg->srq->rcq);
}

/*
 * Entries of the main completion queue: as configured, but never fewer than work
 * requests can be outstanding, because an overrun of a completion queue is fatal.
 */
static uint32_t
main_cq_size(const struct rpma_peer *peer, const struct rpma_conn_cfg *cfg)
{
	uint64_t needed = cfg->sq_size;

	if (!has_rcq(cfg)) {
		if (!cfg->srq)
			needed += cfg->rq_size;
		else if (!cfg->srq->rcq)
			needed += cfg->srq->size;
	}
	if (peer->max_cqe && needed > peer->max_cqe)
		needed = peer->max_cqe;
	return needed > cfg->cq_size ? (uint32_t)needed : cfg->cq_size;
}

static int
make_cqs(struct rpmai_queues *queues, struct ibv_context *verbs,
    const struct rpma_peer *peer, const struct rpma_conn_cfg *cfg)
{
	int ret;

	if (cfg->is_channel_shared) {
		queues->channel = ibv_create_comp_channel(verbs);
		if (!queues->channel)
			return rpmai_err_provider(errno, "ibv_create_comp_channel()");
	}
	if (cfg->cq) {
		queues->cq = cfg->cq;
		rpmai_ref_take(&queues->cq->ref);
		queues->is_cq_borrowed = true;
	} else {
		ret = rpmai_cq_new(verbs, main_cq_size(peer, cfg), queues->channel,
		    &queues->cq);
		if (ret)
			return ret;
	}
	if (!has_rcq(cfg))
		return 0;
	return rpmai_cq_new(verbs, cfg->rcq_size, queues->channel, &queues->rcq);
}

/* The queue that the receives of a connection complete in. */
static struct ibv_cq *
recv_cq(const struct rpmai_queues *queues)
{
	if (queues->srq && queues->srq->rcq)
		return queues->srq->rcq->ibv_cq;
	return queues->rcq ? queues->rcq->ibv_cq : queues->cq->ibv_cq;
}

/* Whether a failure says that the driver does not know what was asked for. */
static bool
is_refused(int errnum)
{
	return errnum == EOPNOTSUPP || errnum == EINVAL || errnum == ENOSYS;
}

static int
make_qp(struct rpmai_queues *queues, struct rdma_cm_id *id,
    const struct rpma_peer *peer, const struct rpma_conn_cfg *cfg)
{
	/* no optional attribute but the PD: several drivers refuse all others, so what
	 * is asked for besides is given up when it is refused */
	const struct ibv_qp_init_attr_ex plain = {
		.send_cq = queues->cq->ibv_cq,
		.recv_cq = recv_cq(queues),
		.srq = cfg->srq ? cfg->srq->ibv_srq : NULL,
		.cap = {
			.max_send_wr = cfg->sq_size,
			/* unused with an SRQ, and refused by some devices when large */
			.max_recv_wr = cfg->srq ? 0 : cfg->rq_size,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = MAX_INLINE_DATA,
		},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 0,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = peer->pd,
	};
	struct ibv_qp_init_attr_ex attr = plain;
	unsigned int asked = cfg->native_ops & peer->native_ops;
	int rc;

	rpmai_native_ask(&attr, asked);
	rc = rdma_create_qp_ex(id, &attr);
	if (rc && asked && is_refused(errno)) {
		RPMAI_INFO("the device has no queue pair with native operations");
		asked = 0;
		attr = plain;
		rc = rdma_create_qp_ex(id, &attr);
	}
	if (rc)
		return rpmai_err_provider(errno,
		    "rdma_create_qp_ex(max_send_wr=%u, max_recv_wr=%u, max_inline_data=%d)",
		    cfg->sq_size, cfg->srq ? 0 : cfg->rq_size, MAX_INLINE_DATA);
	queues->qp = id->qp;
	queues->native_ops = rpmai_native_of_qp(id->qp, asked);
	return 0;
}

int
rpmai_queues_make(struct rpmai_queues *queues, struct rdma_cm_id *id,
    const struct rpma_peer *peer, const struct rpma_conn_cfg *cfg)
{
	int ret;

	queues->srq = cfg->srq;
	if (queues->srq)
		rpmai_ref_take(&queues->srq->ref);
	ret = make_cqs(queues, id->verbs, peer, cfg);
	if (!ret)
		ret = make_qp(queues, id, peer, cfg);
	if (ret)
		rpmai_queues_destroy(queues, id, &ret);
	return ret;
}

void
rpmai_queues_destroy(struct rpmai_queues *queues, struct rdma_cm_id *id, int *ret)
{
	int rc;

	if (queues->qp)
		rdma_destroy_qp(id);
	rpmai_cq_free(queues->rcq, ret);
	if (queues->is_cq_borrowed)
		rpmai_cq_release(queues->cq, ret);
	else
		rpmai_cq_free(queues->cq, ret);
	if (queues->srq)
		rpmai_srq_release(queues->srq, ret);
	if (queues->channel) {
		rc = ibv_destroy_comp_channel(queues->channel);
		if (rc)
			rpmai_err_note(ret, rpmai_err_verbs(rc),
			    "ibv_destroy_comp_channel()");
	}
	memset(queues, 0, sizeof(*queues));
}
