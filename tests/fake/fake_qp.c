/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_qp.c: the life of queue pairs and their attributes. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/fake/fake_impl.h"

#define INLINE_MAX 256

struct fake_qp *
fake_qp_find(uint32_t qp_num)
{
	struct fake_qp *qp;

	TAILQ_FOREACH(qp, &fake_get()->qps, entry) {
		if (qp->pub.qp_num == qp_num)
			return qp;
	}
	return NULL;
}

static uint32_t
choose_qp_num(void)
{
	struct fake *fake = fake_get();
	uint32_t qp_num = 0x11;

	if (!fake->options.reuse_qp_num)
		return fake->next_qp_num++;
	while (fake_qp_find(qp_num))
		qp_num++;
	return qp_num;
}

static int
check_attr(const struct ibv_qp_init_attr_ex *attr)
{
	const struct fake_options *options = fake_options();
	const struct ibv_qp_cap *cap = &attr->cap;

	if (attr->qp_type != IBV_QPT_RC || !attr->send_cq || !attr->recv_cq)
		return EINVAL;
	/* Some drivers mind a large receive queue that an SRQ leaves unused; so does
	 * this. */
	if (cap->max_send_wr > options->max_qp_wr ||
	    cap->max_recv_wr > options->max_qp_wr)
		return EINVAL;
	if (cap->max_send_sge > FAKE_SGE_MAX || cap->max_recv_sge > FAKE_SGE_MAX ||
	    cap->max_inline_data > INLINE_MAX)
		return EINVAL;
	if (fake_get()->live[FAKE_QP] >= options->max_qp)
		return ENOMEM;
	return 0;
}

static void
use(struct fake_qp *qp, unsigned delta)
{
	((struct fake_pd *)qp->pub.pd)->uses += delta;
	((struct fake_cq *)qp->pub.send_cq)->uses += delta;
	((struct fake_cq *)qp->pub.recv_cq)->uses += delta;
	if (qp->pub.srq)
		((struct fake_srq *)qp->pub.srq)->uses += delta;
}

struct fake_qp *
fake_qp_new(struct fake_id *id, struct ibv_pd *pd,
    const struct ibv_qp_init_attr_ex *attr, int *error)
{
	struct fake_qp *qp;

	*error = check_attr(attr);
	if (*error)
		return NULL;
	qp = fake_alloc(sizeof(*qp));
	qp->pub.context = pd->context;
	qp->pub.qp_context = attr->qp_context;
	qp->pub.pd = pd;
	qp->pub.send_cq = attr->send_cq;
	qp->pub.recv_cq = attr->recv_cq;
	qp->pub.srq = attr->srq;
	qp->pub.qp_num = choose_qp_num();
	qp->pub.state = IBV_QPS_INIT; /* librdmacm takes it there at once */
	qp->pub.qp_type = attr->qp_type;
	qp->id = id;
	qp->cap = attr->cap;
	qp->sig_all = attr->sq_sig_all;
	qp->passive = id->passive;
	qp->min_rnr_timer = -1;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		fake_rma_equip(qp, attr->send_ops_flags);
	TAILQ_INIT(&qp->recvs);
	TAILQ_INIT(&qp->sends);
	TAILQ_INIT(&qp->in);
	TAILQ_INIT(&qp->late);
	use(qp, 1);
	TAILQ_INSERT_TAIL(&fake_get()->qps, qp, entry);
	fake_count(FAKE_QP, 1);
	return qp;
}

/* What lies unread in the completion queues stays there, unless the device drops it. */
void
fake_qp_destroy(struct fake_qp *qp)
{
	bool drop = fake_options()->drop_unread;
	struct fake_far *far = qp->id->far;
	struct fake_send *send;
	struct fake_recv *recv;

	if (far && far->ops->aborted)
		far->ops->aborted(far);
	fake_qp_drop_in(qp);
	while ((send = TAILQ_FIRST(&qp->sends))) {
		TAILQ_REMOVE(&qp->sends, send, entry);
		fake_send_free(send);
	}
	while ((recv = TAILQ_FIRST(&qp->recvs))) {
		TAILQ_REMOVE(&qp->recvs, recv, entry);
		free(recv);
	}
	fake_qp_show_late(qp);
	fake_cq_forget(qp->pub.send_cq, qp, drop);
	fake_cq_forget(qp->pub.recv_cq, qp, drop);
	fake_ctx_forget(fake_ctx_of(qp->pub.context), &qp->pub);
	use(qp, (unsigned)-1);
	TAILQ_REMOVE(&fake_get()->qps, qp, entry);
	fake_count(FAKE_QP, -1);
	free(qp);
}

void
fake_qp_error(struct fake_qp *qp)
{
	struct ibv_async_event event = { .event_type = IBV_EVENT_QP_LAST_WQE_REACHED };
	struct fake_far *far = qp->id->far;

	if (qp->pub.state == IBV_QPS_ERR)
		return;
	qp->pub.state = IBV_QPS_ERR;
	fake_qp_ends(qp);
	if (far && far->ops->aborted)
		far->ops->aborted(far);
	fake_qp_flush_sends(qp);
	fake_qp_flush_recvs(qp);
	if (fake_options()->last_wqe && qp->pub.srq && !qp->last_wqe_sent) {
		qp->last_wqe_sent = true;
		event.element.qp = &qp->pub;
		fake_ctx_async(fake_ctx_of(qp->pub.context), &event);
	}
}

static int
modify_state(struct fake_qp *qp, enum ibv_qp_state state)
{
	if (state == IBV_QPS_ERR)
		fake_qp_error(qp);
	else if (qp->pub.state == IBV_QPS_ERR && state != IBV_QPS_RESET)
		return EINVAL;
	else
		qp->pub.state = state;
	return 0;
}

static int
modify_timer(struct fake_qp *qp, uint8_t code)
{
	struct timespec now;

	if (qp->pub.state != IBV_QPS_RTR && qp->pub.state != IBV_QPS_RTS)
		return EINVAL;
	if (code > 31)
		return EINVAL;
	clock_gettime(CLOCK_MONOTONIC, &now);
	qp->min_rnr_timer = code;
	qp->min_rnr_sets++;
	qp->min_rnr_set_at = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	return 0;
}

int
ibv_modify_qp(struct ibv_qp *pub, struct ibv_qp_attr *attr, int mask)
{
	struct fake_qp *qp = (struct fake_qp *)pub;
	int error;

	if (mask & IBV_QP_STATE)
		error = fake_begin("ibv_modify_qp", "state=%d", (int)attr->qp_state);
	else
		error = fake_begin("ibv_modify_qp", "min_rnr_timer=%u",
		    attr->min_rnr_timer);
	if (!error && fake_ctx_gone(pub->context))
		error = EIO;
	if (!error && mask & IBV_QP_MIN_RNR_TIMER)
		error = modify_timer(qp, attr->min_rnr_timer);
	if (!error && mask & IBV_QP_STATE)
		error = modify_state(qp, attr->qp_state);
	return fake_end_verbs(error);
}

int
ibv_query_qp(struct ibv_qp *pub, struct ibv_qp_attr *attr, int mask,
    struct ibv_qp_init_attr *init)
{
	const struct fake_qp *qp = (const struct fake_qp *)pub;
	int error = fake_begin("ibv_query_qp", "mask=%d", mask);

	if (!error && fake_ctx_gone(pub->context))
		error = EIO;
	if (!error) {
		memset(attr, 0, sizeof(*attr));
		memset(init, 0, sizeof(*init));
		attr->qp_state = pub->state;
		attr->cur_qp_state = pub->state;
		attr->cap = qp->cap;
		attr->min_rnr_timer =
		    qp->min_rnr_timer < 0 ? 0 : (uint8_t)qp->min_rnr_timer;
		attr->rnr_retry = 7;
		attr->retry_cnt = 7;
		attr->port_num = 1;
		init->qp_context = pub->qp_context;
		init->send_cq = pub->send_cq;
		init->recv_cq = pub->recv_cq;
		init->srq = pub->srq;
		init->cap = qp->cap;
		init->qp_type = pub->qp_type;
		init->sq_sig_all = qp->sig_all;
	}
	return fake_end_verbs(error);
}

/* ---- for the script ----------------------------------------------------------- */

int
fake_qp_state(uint32_t qp_num)
{
	const struct fake_qp *qp;
	int state;

	fake_lock();
	qp = fake_qp_find(qp_num);
	state = qp ? (int)qp->pub.state : -1;
	fake_unlock();
	return state;
}

int
fake_qp_min_rnr_timer(uint32_t qp_num)
{
	const struct fake_qp *qp;
	int code;

	fake_lock();
	qp = fake_qp_find(qp_num);
	code = qp ? qp->min_rnr_timer : -1;
	fake_unlock();
	return code;
}

unsigned
fake_qp_min_rnr_sets(uint32_t qp_num)
{
	const struct fake_qp *qp;
	unsigned n;

	fake_lock();
	qp = fake_qp_find(qp_num);
	n = qp ? qp->min_rnr_sets : 0;
	fake_unlock();
	return n;
}

uint64_t
fake_qp_min_rnr_set_at(uint32_t qp_num)
{
	const struct fake_qp *qp;
	uint64_t at;

	fake_lock();
	qp = fake_qp_find(qp_num);
	at = qp ? qp->min_rnr_set_at : 0;
	fake_unlock();
	return at;
}

struct rdma_cm_id *
fake_id_of_qp(uint32_t qp_num)
{
	const struct fake_qp *qp;

	fake_lock();
	qp = fake_qp_find(qp_num);
	fake_unlock();
	return qp ? &qp->id->pub : NULL;
}
