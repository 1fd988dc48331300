/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_recv.c: messages that reach a queue pair. */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_impl.h"

static bool
is_withheld(const struct fake_qp *qp)
{
	const struct fake_options *options = fake_options();

	return options->late_at_destroy ||
	    (options->cm_event_first && qp->pub.state != IBV_QPS_ERR);
}

/* Only four members of a failed completion are valid: the rest is filled with rubbish.
 */
static void
recv_complete(struct fake_qp *qp, uint64_t wr_id, enum ibv_wc_status status,
    const struct fake_msg *msg)
{
	struct ibv_wc wc;
	struct fake_wc *late;

	memset(&wc, 0xa5, sizeof(wc));
	wc.wr_id = wr_id;
	wc.status = status;
	wc.qp_num = qp->pub.qp_num;
	wc.vendor_err = 0;
	if (status == IBV_WC_SUCCESS) {
		wc.opcode = IBV_WC_RECV;
		wc.byte_len = msg ? (uint32_t)msg->len : 0;
		wc.wc_flags = 0;
		if (msg && msg->written)
			wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
		if (msg && msg->with_imm) {
			wc.wc_flags = IBV_WC_WITH_IMM;
			wc.imm_data = htonl(msg->imm);
		}
	} else {
		wc.vendor_err = 0x77;
	}
	if (is_withheld(qp)) {
		late = fake_alloc(sizeof(*late));
		late->wc = wc;
		TAILQ_INSERT_TAIL(&qp->late, late, entry);
		return;
	}
	fake_qp_show_late(qp);
	fake_cq_add(qp->pub.recv_cq, &wc, NULL, 0);
}

void
fake_qp_show_late(struct fake_qp *qp)
{
	struct fake_wc *late;

	while ((late = TAILQ_FIRST(&qp->late))) {
		TAILQ_REMOVE(&qp->late, late, entry);
		fake_cq_add(qp->pub.recv_cq, &late->wc, NULL, 0);
		free(late);
	}
}

void
fake_qp_ends(struct fake_qp *qp)
{
	if (!fake_options()->late_at_destroy)
		fake_qp_show_late(qp);
}

void
fake_flush_late(void)
{
	struct fake_qp *qp;

	fake_lock();
	TAILQ_FOREACH(qp, &fake_get()->qps, entry)
		fake_qp_show_late(qp);
	fake_unlock();
}

static void
inject(uint32_t qp_num, uint64_t wr_id, enum ibv_wc_status status,
    const struct fake_msg *msg)
{
	struct fake_qp *qp;

	fake_lock();
	qp = fake_qp_find(qp_num);
	if (qp)
		recv_complete(qp, wr_id, status, msg);
	fake_unlock();
}

void
fake_inject_wc(uint32_t qp_num, uint64_t wr_id, int status)
{
	inject(qp_num, wr_id, (enum ibv_wc_status)status, NULL);
}

void
fake_inject_bytes(uint32_t qp_num, uint64_t wr_id, uint32_t bytes)
{
	const struct fake_msg msg = { .len = bytes };

	inject(qp_num, wr_id, IBV_WC_SUCCESS, &msg);
}

void
fake_qp_flush_recvs(struct fake_qp *qp)
{
	struct fake_recv *recv;

	if (qp->pub.srq)
		return;
	while ((recv = fake_recv_take(qp))) {
		recv_complete(qp, recv->wr_id, IBV_WC_WR_FLUSH_ERR, NULL);
		free(recv);
	}
}

static void
msg_done(struct fake_qp *qp, struct fake_msg *msg, int status, bool lost)
{
	struct fake_far *far = qp->id->far;

	TAILQ_REMOVE(&qp->in, msg, entry);
	if (far && far->ops->done)
		far->ops->done(far, msg, status, lost);
	free(msg);
}

void
fake_qp_drop_in(struct fake_qp *qp)
{
	while (!TAILQ_EMPTY(&qp->in))
		msg_done(qp, TAILQ_FIRST(&qp->in), FAKE_MSG_DROPPED, false);
}

/* Scatter a message over a receive's entries. */
static enum ibv_wc_status
scatter(const struct fake_qp *qp, const struct fake_recv *recv,
    const struct fake_msg *msg)
{
	const struct fake_mr *mr;
	size_t room = 0;
	size_t done = 0;
	int i;

	for (i = 0; i < recv->num_sge; i++)
		room += recv->sge[i].length;
	if (msg->len > room)
		return IBV_WC_LOC_LEN_ERR;
	for (i = 0; i < recv->num_sge && done < msg->len; i++) {
		size_t part = msg->len - done;

		if (part > recv->sge[i].length)
			part = recv->sge[i].length;
		mr = fake_mr_find(qp->pub.pd, &recv->sge[i]);
		if (!mr || !(mr->access & IBV_ACCESS_LOCAL_WRITE))
			return IBV_WC_LOC_PROT_ERR;
		memcpy((void *)(uintptr_t)recv->sge[i].addr, msg->data + done, part);
		done += part;
	}
	return IBV_WC_SUCCESS;
}

/* iWARP has no way to make a sender wait: it saw success, and the message is lost. */
static void
terminate(struct fake_qp *qp)
{
	while (!TAILQ_EMPTY(&qp->in))
		msg_done(qp, TAILQ_FIRST(&qp->in), IBV_WC_SUCCESS, true);
	fake_qp_error(qp);
	fake_hangup(qp->id);
}

static void
deliver(struct fake_qp *qp, const struct fake_recv *recv, struct fake_msg *msg)
{
	enum ibv_wc_status status =
	    msg->written ? IBV_WC_SUCCESS : scatter(qp, recv, msg);
	int remote = IBV_WC_SUCCESS;

	if (status == IBV_WC_LOC_LEN_ERR) {
		status = (enum ibv_wc_status)fake_options()->too_long_status;
		remote = IBV_WC_REM_INV_REQ_ERR;
	} else if (status != IBV_WC_SUCCESS) {
		remote = IBV_WC_REM_OP_ERR;
	}
	qp->has_received = true;
	recv_complete(qp, recv->wr_id, status, msg);
	if (status != IBV_WC_SUCCESS)
		fake_qp_error(qp);
	msg_done(qp, msg, remote, false);
}

bool
fake_qp_pump(struct fake_qp *qp)
{
	struct fake_msg *msg = TAILQ_FIRST(&qp->in);
	struct fake_far *far = qp->id->far;
	struct fake_recv *recv;

	if (!msg || (qp->pub.state != IBV_QPS_RTS && qp->pub.state != IBV_QPS_RTR))
		return false;
	recv = fake_recv_take(qp);
	if (recv) {
		deliver(qp, recv, msg);
		free(recv);
		if (qp->pub.state == IBV_QPS_RTS)
			fake_qp_push(qp);
		return true;
	}
	if (fake_options()->kind == FAKE_IWARP) {
		terminate(qp);
	} else if (!msg->waited) {
		msg->waited = true;
		if (far && far->ops->waits)
			far->ops->waits(far, msg);
	}
	return false;
}

void
fake_qp_receive(struct fake_qp *qp, struct fake_msg *msg)
{
	TAILQ_INSERT_TAIL(&qp->in, msg, entry);
	while (fake_qp_pump(qp))
		;
}
