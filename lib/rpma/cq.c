/* SPDX-License-Identifier: BSD-3-Clause */
/* cq.c: completion queues and their events. */
#include <config.h>

#include "lib/rpma/cq.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/log.h"
#include "lib/rpma/peer.h"

int
rpmai_cq_arm(struct rpma_cq *cq)
{
	int rc = ibv_req_notify_cq(cq->ibv_cq, 0);

	if (rc)
		return rpmai_err_provider(rpmai_err_verbs(rc), "ibv_req_notify_cq()");
	return 0;
}

int
rpmai_cq_new(struct ibv_context *ibv_ctx, uint32_t size,
    struct ibv_comp_channel *shared, struct rpma_cq **cq_ptr)
{
	int cqe = size > INT_MAX ? INT_MAX : (int)size;
	struct rpma_cq *cq = calloc(1, sizeof(*cq));
	int ret;

	if (!cq)
		return rpmai_err_nomem();
	cq->is_channel_shared = shared;
	cq->channel = shared ? shared : ibv_create_comp_channel(ibv_ctx);
	if (!cq->channel) {
		ret = rpmai_err_provider(errno, "ibv_create_comp_channel()");
		goto fail;
	}
	cq->ibv_cq = ibv_create_cq(ibv_ctx, cqe, NULL, cq->channel, 0);
	if (!cq->ibv_cq) {
		ret = rpmai_err_provider(errno, "ibv_create_cq(cqe=%d)", cqe);
		goto fail;
	}
	ret = rpmai_cq_arm(cq);
	if (ret)
		goto fail;
	*cq_ptr = cq;
	return 0;

fail:
	rpmai_cq_free(cq, &ret);
	return ret;
}

void
rpmai_cq_free(struct rpma_cq *cq, int *ret)
{
	int rc;

	if (!cq)
		return;
	if (cq->ibv_cq) {
		rc = ibv_destroy_cq(cq->ibv_cq);
		if (rc)
			rpmai_err_note(ret, rpmai_err_verbs(rc), "ibv_destroy_cq()");
	}
	if (cq->channel && !cq->is_channel_shared) {
		rc = ibv_destroy_comp_channel(cq->channel);
		if (rc)
			rpmai_err_note(ret, rpmai_err_verbs(rc),
			    "ibv_destroy_comp_channel()");
	}
	free(cq);
}

int
rpma_cq_new(struct rpma_peer *peer, uint32_t size, struct rpma_cq **cq_ptr)
{
	struct rpma_cq *cq;
	int ret;

	if (!peer || !cq_ptr || size == 0 || size > INT_MAX)
		return RPMA_E_INVAL;
	ret = rpmai_cq_new(peer->ibv_ctx, size, NULL, &cq);
	if (ret)
		return ret;
	cq->is_standalone = true;
	*cq_ptr = cq;
	return 0;
}

int
rpma_cq_delete(struct rpma_cq **cq_ptr)
{
	int ret = 0;

	if (!cq_ptr || (*cq_ptr && !(*cq_ptr)->is_standalone))
		return RPMA_E_INVAL;
	rpmai_cq_free(*cq_ptr, &ret);
	*cq_ptr = NULL;
	return ret;
}

int
rpma_cq_get_fd(const struct rpma_cq *cq, int *fd)
{
	if (!cq || !fd)
		return RPMA_E_INVAL;
	*fd = cq->channel->fd;
	return 0;
}

int
rpmai_cq_take_event(struct ibv_comp_channel *channel, struct ibv_cq **source_cq)
{
	void *context;

	while (ibv_get_cq_event(channel, source_cq, &context)) {
		if (errno == EAGAIN)
			return RPMA_E_NO_COMPLETION;
		if (errno != EINTR)
			return rpmai_err_provider(errno, "ibv_get_cq_event()");
	}
	/* at once: a queue with unacknowledged events cannot be destroyed */
	ibv_ack_cq_events(*source_cq, 1);
	return 0;
}

int
rpma_cq_wait(struct rpma_cq *cq)
{
	struct ibv_cq *source_cq;
	int ret;

	if (!cq)
		return RPMA_E_INVAL;
	if (cq->is_channel_shared)
		return RPMA_E_SHARED_CHANNEL;
	ret = rpmai_cq_take_event(cq->channel, &source_cq);
	return ret ? ret : rpmai_cq_arm(cq);
}

int
rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc,
    int *num_entries_got)
{
	int got;

	if (!cq || !wc || num_entries < 1 || (num_entries > 1 && !num_entries_got))
		return RPMA_E_INVAL;
	got = ibv_poll_cq(cq->ibv_cq, num_entries, wc);
	if (got == 0)
		return RPMA_E_NO_COMPLETION;
	if (got < 0) /* the call defines no errno */
		return rpmai_err_provider(0, "ibv_poll_cq(num_entries=%d)",
		    num_entries);
	if (got > num_entries) {
		RPMAI_ERROR("ibv_poll_cq(num_entries=%d) answered %d", num_entries,
		    got);
		return RPMA_E_UNKNOWN;
	}
	if (num_entries_got)
		*num_entries_got = got;
	return 0;
}
