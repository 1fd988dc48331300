/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_cq.c: completion channels and queues. */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_impl.h"

/* ---- completion channels ------------------------------------------------------ */

struct ibv_comp_channel *
ibv_create_comp_channel(struct ibv_context *context)
{
	int error = fake_begin("ibv_create_comp_channel", "%s", "");
	struct fake_comp *comp = NULL;

	if (!error && fake_ctx_gone(context))
		error = EIO;
	if (!error) {
		comp = fake_alloc(sizeof(*comp));
		fake_signal_init(&comp->signal);
		TAILQ_INIT(&comp->ready);
		comp->pub.context = context;
		comp->pub.fd = comp->signal.fd;
		TAILQ_INSERT_TAIL(&fake_get()->comps, comp, entry);
		fake_count(FAKE_COMP_CHANNEL, 1);
	}
	return fake_end_ptr(error, comp);
}

static void
comp_free(struct fake_comp *comp)
{
	TAILQ_REMOVE(&fake_get()->comps, comp, entry);
	fake_signal_close(&comp->signal);
	fake_count(FAKE_COMP_CHANNEL, -1);
	free(comp);
}

int
ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	int error = fake_begin("ibv_destroy_comp_channel", "%s", "");
	struct fake_comp *comp = (struct fake_comp *)channel;

	if (comp->pub.refcnt)
		error = EBUSY;
	else if (!error || !fake_options()->fail_keeps)
		comp_free(comp);
	return fake_end_verbs(error);
}

int
ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	int error = fake_begin_quiet("ibv_get_cq_event");
	struct fake_comp *comp = (struct fake_comp *)channel;
	struct fake_cq *ready;

	while (!error && !(ready = TAILQ_FIRST(&comp->ready)))
		error = fake_signal_wait(&comp->signal, "ibv_get_cq_event");
	if (!error) {
		TAILQ_REMOVE(&comp->ready, ready, ready);
		if (--ready->events)
			TAILQ_INSERT_TAIL(&comp->ready, ready, ready);
		ready->unacked++;
		fake_count(FAKE_COMP_EVENT, 1);
		fake_signal_set(&comp->signal, !TAILQ_EMPTY(&comp->ready));
		*cq = &ready->pub;
		*context = ready->pub.cq_context;
		fake_trace_add("ibv_get_cq_event", "%s", "");
	}
	return fake_end_rdma(error);
}

void
ibv_ack_cq_events(struct ibv_cq *pub, unsigned int n)
{
	struct fake_cq *cq = (struct fake_cq *)pub;

	fake_begin_void("ibv_ack_cq_events", "n=%u", n);
	if (n > cq->unacked) {
		fake_blame("ibv_ack_cq_events: %u of %u events", n, cq->unacked);
		n = cq->unacked;
	}
	cq->unacked -= n;
	fake_count(FAKE_COMP_EVENT, -(int)n);
	fake_unlock();
}

/* ---- completion queues -------------------------------------------------------- */

struct ibv_cq *
ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int comp_vector)
{
	int error = fake_begin("ibv_create_cq", "cqe=%d", cqe);
	struct fake_cq *cq = NULL;

	if (!error && fake_ctx_gone(context))
		error = EIO;
	if (!error &&
	    (cqe < 1 || cqe > (int)fake_options()->max_cqe || comp_vector != 0))
		error = EINVAL;
	if (!error) {
		cq = fake_alloc(sizeof(*cq));
		cq->pub.context = context;
		cq->pub.channel = channel;
		cq->pub.cq_context = cq_context;
		cq->pub.cqe = cqe;
		TAILQ_INIT(&cq->wcs);
		if (channel)
			channel->refcnt++;
		TAILQ_INSERT_TAIL(&fake_get()->cqs, cq, entry);
		fake_count(FAKE_CQ, 1);
	}
	return fake_end_ptr(error, cq);
}

static void
wc_free(struct fake_cq *cq, struct fake_wc *wc)
{
	TAILQ_REMOVE(&cq->wcs, wc, entry);
	cq->count--;
	free(wc);
}

static void
cq_free(struct fake_cq *cq)
{
	struct fake_comp *comp = (struct fake_comp *)cq->pub.channel;

	while (!TAILQ_EMPTY(&cq->wcs))
		wc_free(cq, TAILQ_FIRST(&cq->wcs));
	if (cq->events) {
		TAILQ_REMOVE(&comp->ready, cq, ready);
		fake_signal_set(&comp->signal, !TAILQ_EMPTY(&comp->ready));
	}
	if (comp)
		comp->pub.refcnt--;
	fake_ctx_forget(fake_ctx_of(cq->pub.context), &cq->pub);
	TAILQ_REMOVE(&fake_get()->cqs, cq, entry);
	fake_count(FAKE_CQ, -1);
	free(cq);
}

int
ibv_destroy_cq(struct ibv_cq *pub)
{
	int error = fake_begin("ibv_destroy_cq", "%s", "");
	struct fake_cq *cq = (struct fake_cq *)pub;

	if (cq->unacked) {
		fake_blame("ibv_destroy_cq: %u events are not acknowledged",
		    cq->unacked);
		error = EBUSY;
	} else if (cq->uses) {
		error = EBUSY;
	} else if (!error || !fake_options()->fail_keeps) {
		cq_free(cq);
	}
	return fake_end_verbs(error);
}

static void
overrun(struct fake_cq *cq)
{
	struct ibv_async_event event = { .event_type = IBV_EVENT_CQ_ERR };
	struct fake_qp *qp;

	if (cq->dead)
		return;
	cq->dead = true;
	event.element.cq = &cq->pub;
	fake_ctx_async(fake_ctx_of(cq->pub.context), &event);
	TAILQ_FOREACH(qp, &fake_get()->qps, entry) {
		if (qp->pub.send_cq == &cq->pub || qp->pub.recv_cq == &cq->pub)
			fake_qp_error(qp);
	}
}

static void
tell(struct fake_comp *comp, struct fake_cq *cq)
{
	if (fake_get()->lose_notify) {
		fake_get()->lose_notify--;
		return;
	}
	if (cq->events++ == 0)
		TAILQ_INSERT_TAIL(&comp->ready, cq, ready);
	fake_signal_set(&comp->signal, true);
}

void
fake_lose_notify(unsigned n)
{
	fake_lock();
	fake_get()->lose_notify = n;
	fake_unlock();
}

/* Completions are one-shot wake-ups: nothing is told to a queue that is not armed. */
void
fake_cq_add(struct ibv_cq *pub, const struct ibv_wc *wc, struct fake_qp *qp,
    unsigned slots)
{
	struct fake_cq *cq = (struct fake_cq *)pub;
	struct fake_comp *comp = (struct fake_comp *)pub->channel;
	struct fake_wc *row;

	if (cq->dead)
		return;
	if (cq->count >= (unsigned)cq->pub.cqe) {
		overrun(cq);
		return;
	}
	row = fake_alloc(sizeof(*row));
	row->wc = *wc;
	row->qp = qp;
	row->slots = slots;
	TAILQ_INSERT_TAIL(&cq->wcs, row, entry);
	cq->count++;
	if (cq->armed && comp) {
		cq->armed = false;
		tell(comp, cq);
	}
}

/* A queue pair goes: its completions stay readable unless drivers drop them. */
void
fake_cq_forget(struct ibv_cq *pub, struct fake_qp *qp, bool drop)
{
	struct fake_cq *cq = (struct fake_cq *)pub;
	struct fake_wc *row = TAILQ_FIRST(&cq->wcs);

	while (row) {
		struct fake_wc *next = TAILQ_NEXT(row, entry);

		if (row->qp == qp)
			row->qp = NULL;
		if (drop && row->wc.qp_num == qp->pub.qp_num)
			wc_free(cq, row);
		row = next;
	}
}

void
fake_overrun(uint32_t qp_num)
{
	struct fake_qp *qp;

	fake_lock();
	qp = fake_qp_find(qp_num);
	if (qp)
		overrun((struct fake_cq *)qp->pub.recv_cq);
	fake_unlock();
}

void
fake_cq_reset(void)
{
	struct fake *fake = fake_get();

	while (!TAILQ_EMPTY(&fake->cqs))
		cq_free(TAILQ_FIRST(&fake->cqs));
	while (!TAILQ_EMPTY(&fake->comps))
		comp_free(TAILQ_FIRST(&fake->comps));
}

/* ---- the inline calls --------------------------------------------------------- */

int
fake_poll_cq(struct ibv_cq *pub, int n, struct ibv_wc *wc)
{
	struct fake_cq *cq = (struct fake_cq *)pub;
	int error = fake_begin_quiet("ibv_poll_cq");
	struct fake_wc *row;
	int got = 0;

	while (!error && got < n && (row = TAILQ_FIRST(&cq->wcs))) {
		wc[got++] = row->wc;
		if (row->qp)
			row->qp->sq_used -= row->slots;
		wc_free(cq, row);
	}
	if (got)
		fake_trace_add("ibv_poll_cq", "n=%d,got=%d", n, got);
	fake_unlock();
	return error ? -error : got;
}

static void
run_notify_hook(bool before)
{
	struct fake *fake = fake_get();
	void (*fn)(void *arg) = fake->notify_fn;

	if (fn && fake->notify_before == before) {
		fake->notify_fn = NULL;
		fn(fake->notify_arg);
	}
}

int
fake_req_notify_cq(struct ibv_cq *pub, int solicited)
{
	struct fake_cq *cq = (struct fake_cq *)pub;
	int error = fake_begin("ibv_req_notify_cq", "solicited=%d", solicited);

	if (!error) {
		run_notify_hook(true);
		cq->armed = true;
		run_notify_hook(false);
	}
	return fake_end_verbs(error);
}

void
fake_on_notify(bool before, void (*fn)(void *arg), void *arg)
{
	struct fake *fake = fake_get();

	fake_lock();
	fake->notify_before = before;
	fake->notify_fn = fn;
	fake->notify_arg = arg;
	fake_unlock();
}
