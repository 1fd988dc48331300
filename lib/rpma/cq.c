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
	rpmai_ref_init(&cq->ref);
	cq->ack_batch = 1;
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

/* Acknowledge what was put off. */
static void
ack_all(struct rpma_cq *cq)
{
	if (cq->unacked)
		ibv_ack_cq_events(cq->ibv_cq, cq->unacked);
	cq->unacked = 0;
}

void
rpmai_cq_ack(struct rpma_cq *cq)
{
	if (++cq->unacked >= cq->ack_batch)
		ack_all(cq);
}

void
rpmai_cq_free(struct rpma_cq *cq, int *ret)
{
	int rc;

	if (!cq)
		return;
	if (cq->ibv_cq) {
		/* with events that are not acknowledged it would wait for ever */
		ack_all(cq);
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

void
rpmai_cq_release(struct rpma_cq *cq, int *ret)
{
	if (rpmai_ref_give(&cq->ref))
		rpmai_cq_free(cq, ret);
}

int
rpma_cq_delete(struct rpma_cq **cq_ptr)
{
	struct rpma_cq *cq;
	int ret = 0;

	if (!cq_ptr || (*cq_ptr && !(*cq_ptr)->is_standalone))
		return RPMA_E_INVAL;
	cq = *cq_ptr;
	if (!cq)
		return 0;
	*cq_ptr = NULL;
	if (rpmai_ref_is_shared(&cq->ref))
		rpmai_err_note(&ret, EBUSY, "deleting a completion queue in use");
	rpmai_cq_release(cq, &ret);
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
	return 0;
}

int
rpma_cq_wait(struct rpma_cq *cq)
{
	return rpma_cq_wait_flags(cq, RPMA_W_WAIT_FOR_COMPLETION);
}

int
rpma_cq_wait_flags(struct rpma_cq *cq, int flags)
{
	struct ibv_cq *source_cq;
	int ret;

	if (!cq || flags & ~(RPMA_W_WAIT_FOR_COMPLETION | RPMA_W_NO_ARM))
		return RPMA_E_INVAL;
	if (cq->is_channel_shared)
		return RPMA_E_SHARED_CHANNEL;
	ret = rpmai_cq_take_event(cq->channel, &source_cq);
	if (ret)
		return ret;
	rpmai_cq_ack(cq);
	return flags & RPMA_W_NO_ARM ? 0 : rpmai_cq_arm(cq);
}

int
rpma_cq_arm(struct rpma_cq *cq)
{
	return cq ? rpmai_cq_arm(cq) : RPMA_E_INVAL;
}

int
rpma_cq_set_ack_batch(struct rpma_cq *cq, unsigned int n)
{
	if (!cq || n == 0)
		return RPMA_E_INVAL;
	cq->ack_batch = n;
	if (cq->unacked >= n)
		ack_all(cq);
	return 0;
}

/* ibv_poll_cq(3) failed, for which it defines no errno, or gave more than asked for. */
static int __attribute__((cold, noinline)) bad_answer(int num_entries, int got)
{
	if (got < 0)
		return rpmai_err_provider(0, "ibv_poll_cq(num_entries=%d)",
		    num_entries);
	RPMAI_ERROR("ibv_poll_cq(num_entries=%d) answered %d", num_entries, got);
	return RPMA_E_UNKNOWN;
}

int
rpma_cq_get_wc(struct rpma_cq *cq, int num_entries, struct ibv_wc *wc,
    int *num_entries_got)
{
	int got;

	if (!cq || !wc)
		return RPMA_E_INVAL;
	if (num_entries != 1 && (num_entries < 1 || !num_entries_got))
		return RPMA_E_INVAL;
	got = ibv_poll_cq(cq->ibv_cq, num_entries, wc);
	if (got < 1 || got > num_entries)
		return got ? bad_answer(num_entries, got) : RPMA_E_NO_COMPLETION;
	if (num_entries_got)
		*num_entries_got = got;
	return 0;
}
