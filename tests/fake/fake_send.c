/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_send.c: messages that queue pairs send. */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_impl.h"

void
fake_send_free(struct fake_send *send)
{
	free(send->copy);
	free(send);
}

size_t
fake_send_gather(const struct fake_send *send, unsigned char *out)
{
	size_t done = 0;
	int i;

	if (send->copy) {
		memcpy(out, send->copy, send->len);
		return send->len;
	}
	for (i = 0; i < send->num_sge; i++) {
		if (!send->sge[i].length)
			continue;
		memcpy(out + done, (const void *)(uintptr_t)send->sge[i].addr,
		    send->sge[i].length);
		done += send->sge[i].length;
	}
	return done;
}

/* Slots of the send queue come back when a later completion is read. */
static void
complete(struct fake_qp *qp, struct fake_send *send, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	TAILQ_REMOVE(&qp->sends, send, entry);
	qp->sq_silent++;
	if (send->signaled || status != IBV_WC_SUCCESS) {
		memset(&wc, 0xa5, sizeof(wc));
		wc.wr_id = send->wr_id;
		wc.status = status;
		wc.qp_num = qp->pub.qp_num;
		wc.vendor_err = status == IBV_WC_SUCCESS ? 0 : 0x88;
		if (status == IBV_WC_SUCCESS) {
			wc.opcode = fake_rma_wc(send->opcode);
			wc.byte_len = (uint32_t)send->len;
			wc.wc_flags = 0;
		}
		fake_cq_add(qp->pub.send_cq, &wc, qp, qp->sq_silent);
		qp->sq_silent = 0;
	}
	fake_send_free(send);
}

void
fake_qp_flush_sends(struct fake_qp *qp)
{
	while (!TAILQ_EMPTY(&qp->sends))
		complete(qp, TAILQ_FIRST(&qp->sends), IBV_WC_WR_FLUSH_ERR);
}

/* One send that was handed over is done. A failure ends the queue pair. */
void
fake_qp_sent(struct fake_qp *qp, int status)
{
	struct fake_send *send = TAILQ_FIRST(&qp->sends);

	if (!send || !send->handed)
		return;
	complete(qp, send, (enum ibv_wc_status)status);
	if (status != IBV_WC_SUCCESS)
		fake_qp_error(qp);
}

static int
memory_ok(const struct fake_qp *qp, const struct fake_send *send)
{
	bool reads = send->opcode == IBV_WR_RDMA_READ;
	const struct fake_mr *mr;
	int i;

	for (i = 0; !send->copy && i < send->num_sge; i++) {
		mr = fake_mr_find(qp->pub.pd, &send->sge[i]);
		if (!send->sge[i].length)
			continue;
		if (!mr || (reads && !(mr->access & IBV_ACCESS_LOCAL_WRITE)))
			return IBV_WC_LOC_PROT_ERR;
	}
	return IBV_WC_SUCCESS;
}

/* Offer one send to the far end. False: it did not take it. */
static bool
hand_over(struct fake_qp *qp, struct fake_send *send)
{
	struct fake_far *far = qp->id->far;
	bool one_sided = fake_rma_is_one_sided(send->opcode);
	int status = memory_ok(qp, send);

	/* what a write with immediate writes is there before it tells */
	if (status == IBV_WC_SUCCESS && send->opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		status = fake_rma_do(qp, send);
	if (status == IBV_WC_SUCCESS && far && far->ops->take) {
		send->handed = true;
		switch (far->ops->take(far, send)) {
		case FAKE_TAKE_OK:
			if (one_sided)
				status = fake_rma_do(qp, send);
			break;
		case FAKE_TAKE_LATER:
			return true;
		case FAKE_TAKE_BLOCKED:
			send->handed = false;
			return false;
		case FAKE_TAKE_LONG:
			status = IBV_WC_REM_INV_REQ_ERR;
			break;
		case FAKE_TAKE_DEAD:
			status = IBV_WC_RETRY_EXC_ERR;
			break;
		}
	} else if (status == IBV_WC_SUCCESS) {
		return false;
	}
	complete(qp, send, (enum ibv_wc_status)status);
	if (status != IBV_WC_SUCCESS)
		fake_qp_error(qp);
	return true;
}

/* The oldest send that nobody took yet. A far end may complete sends inside its take().
 */
static struct fake_send *
first_waiting(struct fake_qp *qp)
{
	struct fake_send *send;

	TAILQ_FOREACH(send, &qp->sends, entry) {
		if (!send->handed)
			return send;
	}
	return NULL;
}

void
fake_qp_push(struct fake_qp *qp)
{
	struct fake_send *send;

	if (fake_options()->kind == FAKE_IWARP && qp->passive && !qp->has_received)
		return;
	while (qp->pub.state == IBV_QPS_RTS && (send = first_waiting(qp))) {
		if (!hand_over(qp, send))
			return;
	}
}

static int
check_wr(const struct fake_qp *qp, const struct ibv_send_wr *wr)
{
	size_t len = 0;
	int i;

	if (!fake_rma_is_known(wr->opcode))
		return EINVAL;
	if (wr->num_sge < 0 || wr->num_sge > (int)qp->cap.max_send_sge)
		return EINVAL;
	for (i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	if (wr->send_flags & IBV_SEND_INLINE && len > qp->cap.max_inline_data)
		return EINVAL;
	return 0;
}

int
fake_send_queue(struct fake_qp *qp, struct fake_send *send)
{
	if (qp->sq_used >= qp->cap.max_send_wr)
		return ENOMEM;
	qp->sq_used++;
	TAILQ_INSERT_TAIL(&qp->sends, send, entry);
	return 0;
}

static int
queue_wr(struct fake_qp *qp, const struct ibv_send_wr *wr)
{
	struct fake_send *send = fake_alloc(sizeof(*send));
	unsigned char *copy;
	int error;
	int i;

	send->opcode = wr->opcode;
	send->raddr = wr->wr.rdma.remote_addr;
	send->rkey = wr->wr.rdma.rkey;
	send->wr_id = wr->wr_id;
	send->signaled = qp->sig_all || wr->send_flags & IBV_SEND_SIGNALED;
	send->with_imm = wr->opcode == IBV_WR_SEND_WITH_IMM ||
	    wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	send->imm = send->with_imm ? ntohl(wr->imm_data) : 0;
	send->num_sge = wr->num_sge;
	for (i = 0; i < wr->num_sge; i++) {
		send->sge[i] = wr->sg_list[i];
		send->len += wr->sg_list[i].length;
	}
	if (wr->send_flags & IBV_SEND_INLINE && send->len) {
		copy = fake_alloc(send->len);
		fake_send_gather(send, copy);
		send->copy = copy;
	}
	error = fake_send_queue(qp, send);
	if (error)
		fake_send_free(send);
	return error;
}

static void
remember(const struct ibv_send_wr *wr)
{
	fake_get()->last_wr = (struct fake_wr){
		.wr_id = wr->wr_id,
		.opcode = (int)wr->opcode,
		.send_flags = wr->send_flags,
		.num_sge = wr->num_sge,
		.addr = wr->num_sge ? wr->sg_list[0].addr : 0,
		.length = wr->num_sge ? wr->sg_list[0].length : 0,
		.lkey = wr->num_sge ? wr->sg_list[0].lkey : 0,
		.raddr = wr->wr.rdma.remote_addr,
		.rkey = wr->wr.rdma.rkey,
		.imm_data = wr->imm_data,
	};
}

struct fake_wr
fake_last_wr(void)
{
	struct fake_wr wr;

	fake_lock();
	wr = fake_get()->last_wr;
	fake_unlock();
	return wr;
}

static size_t
total_length(const struct ibv_send_wr *wr)
{
	size_t len = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	return len;
}

int
fake_post_send(struct ibv_qp *pub, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)pub;
	int error = fake_begin("ibv_post_send",
	    "opcode=%d,len=%zu,signaled=%d,inline=%d", (int)wr->opcode,
	    total_length(wr), !!(wr->send_flags & IBV_SEND_SIGNALED),
	    !!(wr->send_flags & IBV_SEND_INLINE));

	if (!error && fake_ctx_gone(pub->context))
		error = EIO;
	if (!error && pub->state != IBV_QPS_RTS && pub->state != IBV_QPS_ERR)
		error = EINVAL;
	for (; !error && wr; wr = wr->next) {
		remember(wr);
		error = check_wr(qp, wr);
		if (!error)
			error = queue_wr(qp, wr);
		if (error)
			break;
	}
	if (error)
		*bad = wr;
	if (pub->state == IBV_QPS_ERR)
		fake_qp_flush_sends(qp);
	else
		fake_qp_push(qp);
	return fake_end_verbs(error);
}
