/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order is: take the event, acknowledge, arm, then poll until nothing is left. What
 * arrives before the arming is found by the polling, what arrives after it raises an
 * event.
 */
#include <config.h>

#include "daemon/cq.h"

#include <errno.h>
#include <fcntl.h>

#include "daemon/rpma_err.h"
#include "lib/rpma/librpma.h"

#define BATCH          64
/* More would leave the receive queue empty behind them before it is filled again. */
#define BATCHES_A_TURN 4u

int
cq_open(struct cq *cq, struct rpma_cq *rpma, struct err *err)
{
	int fd, flags;
	int rc = rpma_cq_get_fd(rpma, &fd);

	if (rc != 0)
		return rpma_err_set(err, rc, "completion queue has no descriptor");
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
		return err_set(err, ERR_PROVIDER, errno,
		    "completion channel stays blocking");
	cq->rpma = rpma;
	cq->fd = fd;
	return 0;
}

/* Take all events that wait: each was counted by the provider and wants its own ack. */
static enum cq_result
take_events(struct cq *cq)
{
	unsigned int i;

	for (i = 0; i < BATCHES_A_TURN; i++) {
		int rc = rpma_cq_wait(cq->rpma);

		if (rc == RPMA_E_NO_COMPLETION)
			return CQ_EMPTY;
		if (rc != 0)
			return CQ_DEAD;
		cq->stats.events++;
	}
	return CQ_EMPTY;
}

enum cq_result
cq_drain(struct cq *cq, enum cq_cause cause)
{
	struct ibv_wc wcs[BATCH];
	uint64_t total = 0;
	unsigned int batch;
	enum cq_result result = CQ_MORE;

	if (!cq->rpma)
		return CQ_EMPTY;
	if (cause == CQ_EVENT && take_events(cq) == CQ_DEAD)
		return CQ_DEAD;
	for (batch = 0; batch < BATCHES_A_TURN && result == CQ_MORE; batch++) {
		int got = 0;
		int rc = rpma_cq_get_wc(cq->rpma, BATCH, wcs, &got);

		if (rc == RPMA_E_NO_COMPLETION) {
			result = CQ_EMPTY;
		} else if (rc != 0) {
			return CQ_DEAD;
		}
		if (rc == 0)
			cq->on_wcs(cq->arg, wcs, got);
		total += (uint64_t)got;
	}
	if (total > cq->stats.batch_max)
		cq->stats.batch_max = total;
	if (cause == CQ_EVENT && total == 0)
		cq->stats.empty_wakeups++;
	if (cause != CQ_SAFETY || total == 0)
		return result;
	cq->stats.late += total;
	/* With the event the arming was lost; what came in between is found by polling on. */
	return rpma_cq_arm(cq->rpma) == 0 ? CQ_MORE : CQ_DEAD;
}
