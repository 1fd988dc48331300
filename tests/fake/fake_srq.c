/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_srq.c: receives that were posted, to shared queues and to queue pairs. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_impl.h"

static uint32_t
effective_depth(uint32_t asked)
{
	const struct fake_options *options = fake_options();
	uint32_t depth = asked;

	if (options->srq_pow2) {
		for (depth = 1; depth < asked; depth = depth * 2 + 1)
			;
	}
	return depth + options->srq_extra;
}

struct ibv_srq *
ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	uint32_t asked = attr->attr.max_wr;
	int error = fake_begin("ibv_create_srq", "max_wr=%u,max_sge=%u", asked,
	    attr->attr.max_sge);
	struct fake_srq *srq = NULL;

	if (attr->srq_context || attr->attr.srq_limit)
		fake_blame("ibv_create_srq: attributes were not cleared");
	if (!error && fake_ctx_gone(pd->context))
		error = EIO;
	if (!error && fake_options()->max_srq_wr == 0)
		error = EOPNOTSUPP;
	if (!error &&
	    (asked == 0 || asked > fake_options()->max_srq_wr ||
		attr->attr.max_sge > FAKE_SGE_MAX))
		error = EINVAL;
	if (!error) {
		srq = fake_alloc(sizeof(*srq));
		srq->pub.context = pd->context;
		srq->pub.srq_context = attr->srq_context;
		srq->pub.pd = pd;
		srq->depth = effective_depth(asked);
		srq->max_sge = attr->attr.max_sge;
		attr->attr.max_wr = srq->depth;
		srq->recvs = fake_alloc(srq->depth * sizeof(srq->recvs[0]));
		((struct fake_pd *)pd)->uses++;
		TAILQ_INSERT_HEAD(&fake_get()->srqs, srq, entry);
		fake_count(FAKE_SRQ, 1);
	}
	return fake_end_ptr(error, srq);
}

static void
srq_free(struct fake_srq *srq)
{
	while (srq->posted)
		free(srq->recvs[--srq->posted]);
	free(srq->recvs);
	((struct fake_pd *)srq->pub.pd)->uses--;
	fake_ctx_forget(fake_ctx_of(srq->pub.context), &srq->pub);
	TAILQ_REMOVE(&fake_get()->srqs, srq, entry);
	fake_count(FAKE_SRQ, -1);
	free(srq);
}

int
ibv_destroy_srq(struct ibv_srq *pub)
{
	int error = fake_begin("ibv_destroy_srq", "%s", "");
	struct fake_srq *srq = (struct fake_srq *)pub;

	if (srq->uses)
		error = EBUSY;
	else if (!error || !fake_options()->fail_keeps)
		srq_free(srq);
	return fake_end_verbs(error);
}

/* Depth cannot change; a limit above the depth is refused. */
int
ibv_modify_srq(struct ibv_srq *pub, struct ibv_srq_attr *attr, int mask)
{
	int error = fake_begin("ibv_modify_srq", "limit=%u", attr->srq_limit);
	struct fake_srq *srq = (struct fake_srq *)pub;

	if (!error && fake_ctx_gone(pub->context))
		error = EIO;
	if (!error && mask & IBV_SRQ_MAX_WR)
		error = EINVAL;
	if (!error && mask & IBV_SRQ_LIMIT && attr->srq_limit > srq->depth)
		error = EINVAL;
	if (!error && mask & IBV_SRQ_LIMIT)
		srq->limit = attr->srq_limit;
	return fake_end_verbs(error);
}

int
ibv_query_srq(struct ibv_srq *pub, struct ibv_srq_attr *attr)
{
	int error = fake_begin("ibv_query_srq", "%s", "");
	const struct fake_srq *srq = (const struct fake_srq *)pub;

	if (!error && fake_ctx_gone(pub->context))
		error = EIO;
	if (!error) {
		memset(attr, 0, sizeof(*attr));
		attr->max_wr = fake_options()->srq_query_nonsense ? 0x7ffe : srq->depth;
		attr->max_sge = srq->max_sge;
		attr->srq_limit = srq->limit;
	}
	return fake_end_verbs(error);
}

/* ---- posting ------------------------------------------------------------------ */

static struct fake_recv *
copy_recv(const struct ibv_recv_wr *wr)
{
	struct fake_recv *recv = fake_alloc(sizeof(*recv));

	recv->wr_id = wr->wr_id;
	recv->num_sge = wr->num_sge;
	if (wr->num_sge > 0)
		memcpy(recv->sge, wr->sg_list,
		    (size_t)wr->num_sge * sizeof(recv->sge[0]));
	return recv;
}

static unsigned
list_length(const struct ibv_recv_wr *wr)
{
	unsigned n = 0;

	for (; wr; wr = wr->next)
		n++;
	return n;
}

/* Let those that wait for a receive try again, one message each in turn. */
static void
serve_waiting(struct fake_srq *srq)
{
	struct fake_qp *qp;
	bool progress = true;

	while (srq->posted && progress) {
		progress = false;
		TAILQ_FOREACH(qp, &fake_get()->qps, entry) {
			if (qp->pub.srq == &srq->pub)
				progress |= fake_qp_pump(qp);
		}
	}
}

int
fake_post_srq_recv(struct ibv_srq *pub, struct ibv_recv_wr *wr,
    struct ibv_recv_wr **bad)
{
	int error = fake_begin("ibv_post_srq_recv", "n=%u", list_length(wr));
	struct fake_srq *srq = (struct fake_srq *)pub;

	if (!error && fake_ctx_gone(pub->context))
		error = EIO;
	for (; !error && wr; wr = wr->next) {
		if (wr->num_sge < 0 || wr->num_sge > (int)srq->max_sge) {
			error = EINVAL;
		} else if (srq->posted >= srq->depth ||
		    srq->depth - srq->posted <= fake_options()->srq_missing) {
			error = fake_options()->srq_full;
		} else {
			srq->recvs[srq->posted++] = copy_recv(wr);
		}
		if (error)
			break;
	}
	if (error)
		*bad = wr;
	serve_waiting(srq);
	return fake_end_verbs(error);
}

int
fake_post_recv(struct ibv_qp *pub, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	int error = fake_begin("ibv_post_recv", "n=%u", list_length(wr));
	struct fake_qp *qp = (struct fake_qp *)pub;
	struct fake_recv *recv;

	if (!error && fake_ctx_gone(pub->context))
		error = EIO;
	if (!error && (pub->srq || pub->state == IBV_QPS_RESET))
		error = EINVAL;
	for (; !error && wr; wr = wr->next) {
		if (wr->num_sge < 0 || wr->num_sge > (int)qp->cap.max_recv_sge) {
			error = EINVAL;
		} else if (qp->posted >= qp->cap.max_recv_wr) {
			error = ENOMEM;
		} else {
			recv = copy_recv(wr);
			TAILQ_INSERT_TAIL(&qp->recvs, recv, entry);
			qp->posted++;
		}
		if (error)
			break;
	}
	if (error)
		*bad = wr;
	if (pub->state == IBV_QPS_ERR)
		fake_qp_flush_recvs(qp);
	while (fake_qp_pump(qp))
		;
	return fake_end_verbs(error);
}

/* ---- taking ------------------------------------------------------------------- */

static void
check_limit(struct fake_srq *srq)
{
	struct ibv_async_event event = { .event_type = IBV_EVENT_SRQ_LIMIT_REACHED };

	if (srq->limit && srq->posted < srq->limit) {
		srq->limit = 0;
		event.element.srq = &srq->pub;
		fake_ctx_async(fake_ctx_of(srq->pub.context), &event);
	}
}

/* Buffers of a shared queue are an unordered set, and this makes sure of it. */
static struct fake_recv *
srq_take(struct fake_srq *srq)
{
	struct fake_recv *recv;
	uint32_t i;

	if (!srq->posted)
		return NULL;
	i = fake_random() % srq->posted;
	recv = srq->recvs[i];
	srq->recvs[i] = srq->recvs[--srq->posted];
	check_limit(srq);
	return recv;
}

struct fake_recv *
fake_recv_take(struct fake_qp *qp)
{
	struct fake_recv *recv;

	if (qp->pub.srq)
		return srq_take((struct fake_srq *)qp->pub.srq);
	recv = TAILQ_FIRST(&qp->recvs);
	if (recv) {
		TAILQ_REMOVE(&qp->recvs, recv, entry);
		qp->posted--;
	}
	return recv;
}

/* ---- for the script ----------------------------------------------------------- */

unsigned
fake_srq_posted(void)
{
	const struct fake_srq *srq;
	unsigned n = 0;

	fake_lock();
	TAILQ_FOREACH(srq, &fake_get()->srqs, entry)
		n += srq->posted;
	fake_unlock();
	return n;
}

unsigned
fake_rq_posted(void)
{
	const struct fake_qp *qp;
	unsigned n = 0;

	fake_lock();
	TAILQ_FOREACH(qp, &fake_get()->qps, entry)
		n += qp->posted;
	fake_unlock();
	return n;
}

uint32_t
fake_srq_depth(void)
{
	const struct fake_srq *srq;
	uint32_t depth;

	fake_lock();
	srq = TAILQ_FIRST(&fake_get()->srqs);
	depth = srq ? srq->depth : 0;
	fake_unlock();
	return depth;
}

uint32_t
fake_srq_limit(void)
{
	const struct fake_srq *srq;
	uint32_t limit;

	fake_lock();
	srq = TAILQ_FIRST(&fake_get()->srqs);
	limit = srq ? srq->limit : 0;
	fake_unlock();
	return limit;
}

void
fake_srq_reset(void)
{
	struct fake *fake = fake_get();

	while (!TAILQ_EMPTY(&fake->srqs))
		srq_free(TAILQ_FIRST(&fake->srqs));
}
