/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_conn.c: connections: what the program does to them, and what the far end does.
 */
#include <config.h>

#include <errno.h>
#include <string.h>

#include "tests/fake/fake_impl.h"

/* Room for private data on InfiniBand: of a request, a reply, a rejection. */
enum {
	REQ_PDATA = 56,
	REP_PDATA = 196,
	REJ_PDATA = 148,
};

static bool
pdata_fits(const struct rdma_conn_param *param, size_t room)
{
	size_t len = param->private_data ? param->private_data_len : 0;

	return len <= (fake_options()->kind == FAKE_IWARP ? FAKE_PDATA_MAX : room);
}

/* ---- queue pairs of ids ------------------------------------------------------- */

static int
create_qp(struct fake_id *id, struct ibv_qp_init_attr_ex *attr)
{
	struct fake_qp *qp;
	int error = 0;

	if (id->pub.qp || !id->pub.verbs)
		return EINVAL;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd ||
	    attr->pd->context != id->pub.verbs)
		return EINVAL;
	/* what nobody asked for is to be zero: drivers that look at it find rubbish */
	if (attr->qp_context || attr->xrcd || attr->create_flags ||
	    attr->max_tso_header || attr->rwq_ind_tbl || attr->source_qpn)
		fake_blame("rdma_create_qp_ex: attributes were not cleared");
	if (id->ctx->gone)
		return EIO;
	/* that the flag is there is what drivers mind, even without operations */
	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		if (fake_options()->no_send_ops)
			return fake_options()->no_send_ops;
		if (!fake_rma_has_ops(attr->send_ops_flags))
			return EOPNOTSUPP;
	}
	qp = fake_qp_new(id, attr->pd, attr, &error);
	if (qp)
		id->pub.qp = &qp->pub;
	return error;
}

int
rdma_create_qp_ex(struct rdma_cm_id *pub, struct ibv_qp_init_attr_ex *attr)
{
	const struct ibv_qp_cap *cap = &attr->cap;
	char ops[32] = "";
	int error;

	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		snprintf(ops, sizeof(ops), ",ops=%llu",
		    (unsigned long long)attr->send_ops_flags);
	error = fake_begin("rdma_create_qp_ex",
	    "send_wr=%u,recv_wr=%u,send_sge=%u,recv_sge=%u,inline=%u,sig_all=%d,srq=%d,"
	    "cqs=%s%s",
	    cap->max_send_wr, cap->max_recv_wr, cap->max_send_sge, cap->max_recv_sge,
	    cap->max_inline_data, attr->sq_sig_all, attr->srq != NULL,
	    attr->send_cq == attr->recv_cq ? "same" : "two", ops);
	if (!error)
		error = create_qp((struct fake_id *)pub, attr);
	return fake_end_rdma(error);
}

int
rdma_create_qp(struct rdma_cm_id *pub, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex = { 0 };
	int rc;

	memcpy(&ex, attr, sizeof(*attr));
	ex.comp_mask = IBV_QP_INIT_ATTR_PD;
	ex.pd = pd;
	rc = rdma_create_qp_ex(pub, &ex);
	memcpy(attr, &ex, sizeof(*attr));
	return rc;
}

void
rdma_destroy_qp(struct rdma_cm_id *pub)
{
	fake_begin_void("rdma_destroy_qp", "%s", "");
	if (pub->qp)
		fake_qp_destroy((struct fake_qp *)pub->qp);
	else
		fake_blame("rdma_destroy_qp: the id has none");
	pub->qp = NULL;
	fake_unlock();
}

static const struct rdma_conn_param default_param = {
	.retry_count = 7,
	.rnr_retry_count = 7,
};

static int
begin_param(const char *name, const struct rdma_conn_param *param)
{
	unsigned resp = param->responder_resources;
	unsigned init = param->initiator_depth;
	unsigned len = param->private_data_len;
	unsigned flow = param->flow_control;
	unsigned retry = param->retry_count;
	unsigned rnr = param->rnr_retry_count;

	return fake_begin(name, "pdata=%u,resp=%u,init=%u,flow=%u,retry=%u,rnr=%u", len,
	    resp, init, flow, retry, rnr);
}

/* ---- what the program does ---------------------------------------------------- */

static int
connect_id(struct fake_id *id, const struct rdma_conn_param *param)
{
	if (id->state != ID_ROUTED || !id->pub.qp || !pdata_fits(param, REQ_PDATA))
		return EINVAL;
	if (id->ctx->gone)
		return ENODEV;
	id->state = ID_CONNECTING;
	if (id->script)
		fake_peer_dial(id, id->script);
	else if (!fake_loop_dial(id) && !fake_wire_dial(id))
		fake_refuse(id, RDMA_CM_EVENT_REJECTED, FAKE_REJ_NO_LISTENER, NULL, 0);
	if (id->far && id->far->ops->connect)
		id->far->ops->connect(id->far, param);
	return fake_sync_complete(id);
}

int
rdma_connect(struct rdma_cm_id *pub, struct rdma_conn_param *param)
{
	const struct rdma_conn_param *used = param ? param : &default_param;
	int error = begin_param("rdma_connect", used);

	if (!error)
		error = connect_id((struct fake_id *)pub, used);
	return fake_end_rdma(error);
}

static int
accept_id(struct fake_id *id, const struct rdma_conn_param *param)
{
	if (id->state != ID_REQUEST || !id->pub.qp || !pdata_fits(param, REP_PDATA))
		return EINVAL;
	if (id->ctx->gone)
		return ENODEV;
	id->pub.qp->state = IBV_QPS_RTS;
	id->state = ID_ACCEPTED;
	if (id->far->ops->accepted)
		id->far->ops->accepted(id->far, param);
	return fake_sync_complete(id);
}

int
rdma_accept(struct rdma_cm_id *pub, struct rdma_conn_param *param)
{
	const struct rdma_conn_param *used = param ? param : &default_param;
	int error = begin_param("rdma_accept", used);

	if (!error)
		error = accept_id((struct fake_id *)pub, used);
	if (error && pub->qp)
		fake_qp_error((struct fake_qp *)pub->qp);
	return fake_end_rdma(error);
}

int
rdma_reject(struct rdma_cm_id *pub, const void *pdata, uint8_t len)
{
	unsigned n = pdata ? len : 0;
	int error = fake_begin("rdma_reject", "pdata=%u", n);
	struct fake_id *id = (struct fake_id *)pub;

	if (!error && (id->state != ID_REQUEST || n > REJ_PDATA))
		error = EINVAL;
	if (!error) {
		id->state = ID_FAILED;
		if (id->far->ops->rejected)
			id->far->ops->rejected(id->far, FAKE_REJ_CONSUMER, pdata, n);
	}
	return fake_end_rdma(error);
}

static int
disconnect_id(struct fake_id *id)
{
	enum fake_id_state was = id->state;

	if (!id->pub.verbs)
		return EINVAL;
	if (id->pub.qp)
		fake_qp_error((struct fake_qp *)id->pub.qp);
	if (was < ID_CONNECTING)
		return EINVAL;
	if (was == ID_CONNECTED || was == ID_ACCEPTED)
		id->state = ID_CLOSING;
	if (was == ID_CONNECTED || was == ID_ACCEPTED || was == ID_CLOSED) {
		if (id->far && id->far->ops->hangup)
			id->far->ops->hangup(id->far);
	}
	if (was == ID_CLOSED)
		fake_timewait(id);
	return fake_sync_complete(id);
}

int
rdma_disconnect(struct rdma_cm_id *pub)
{
	int error = fake_begin("rdma_disconnect", "%s", "");

	if (!error)
		error = disconnect_id((struct fake_id *)pub);
	return fake_end_rdma(error);
}

/* An id goes for good: an open request is refused, an open connection ended. */
void
fake_abandon(struct fake_id *id)
{
	struct fake_far *far = id->far;

	if (!far)
		return;
	id->far = NULL;
	far->id = NULL;
	if (id->state == ID_REQUEST && far->ops->rejected)
		far->ops->rejected(far,
		    id->hidden ? FAKE_REJ_NO_LISTENER : FAKE_REJ_CONSUMER, NULL, 0);
	else if (id->state >= ID_CONNECTING && id->state < ID_CLOSING &&
	    far->ops->hangup)
		far->ops->hangup(far);
	if (far->ops->gone)
		far->ops->gone(far);
}

/* ---- what the far end does ---------------------------------------------------- */

struct fake_id *
fake_request(struct fake_id *listener, struct fake_far *far, const struct sockaddr *src,
    const struct sockaddr *dst, const void *pdata, size_t len)
{
	const struct fake_addr *row = fake_addr_find(dst);
	struct fake_event *event;
	struct fake_ctx *ctx;
	struct fake_id *id;

	ctx = row && row->device >= 0 ? fake_get()->ctx[row->device] : NULL;
	if (!ctx || fake_backlog_full(listener))
		return NULL;
	id = fake_id_new(fake_channel_of(listener->pub.channel), NULL);
	id->hidden = true;
	id->passive = true;
	id->state = ID_REQUEST;
	id->listener = listener;
	id->ctx = ctx;
	id->far = far;
	id->pub.verbs = fake_context(ctx->device);
	id->pub.port_num = 1;
	memcpy(&id->pub.route.addr.src_storage, dst, fake_addr_len(dst));
	memcpy(&id->pub.route.addr.dst_storage, src, fake_addr_len(src));
	far->id = id;
	listener->pending++;
	event = fake_event_new(id, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	fake_event_pdata(event, pdata, len, REQ_PDATA);
	event->owner = listener;
	event->pub.param.conn.responder_resources = 16;
	event->pub.param.conn.initiator_depth = 16;
	event->pub.param.conn.retry_count = 7;
	event->pub.param.conn.rnr_retry_count = 7;
	fake_event_queue(event);
	return id;
}

void
fake_answer(struct fake_id *id, const void *pdata, size_t len)
{
	struct fake_event *event;

	if (id->state != ID_CONNECTING)
		return;
	event = fake_event_new(id, RDMA_CM_EVENT_ESTABLISHED, 0);
	fake_event_pdata(event, pdata, len, REP_PDATA);
	fake_event_queue(event);
}

void
fake_refuse(struct fake_id *id, enum rdma_cm_event_type type, int status,
    const void *pdata, size_t len)
{
	struct fake_event *event = fake_event_new(id, type, status);

	id->state = ID_FAILED;
	if (type == RDMA_CM_EVENT_REJECTED)
		fake_event_pdata(event, pdata, len, REJ_PDATA);
	fake_event_queue(event);
}

void
fake_confirm(struct fake_id *id)
{
	if (id->state != ID_ACCEPTED)
		return;
	id->state = ID_CONNECTED;
	fake_event_add(id, RDMA_CM_EVENT_ESTABLISHED, 0);
}

void
fake_timewait(struct fake_id *id)
{
	if (!fake_options()->timewait_exit || id->timewait)
		return;
	id->timewait = true;
	fake_event_add(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
}

/*
 * The event does not touch the queue pair on InfiniBand, where the program must end it;
 * iWARP ends it with the stream.
 */
void
fake_hangup(struct fake_id *id)
{
	bool answered = id->state == ID_CLOSING;

	if (id->state < ID_CONNECTING || id->state == ID_REQUEST ||
	    id->state == ID_FAILED)
		return;
	id->state = ID_CLOSED;
	if (!id->ended) {
		id->ended = true;
		fake_event_add(id, RDMA_CM_EVENT_DISCONNECTED, 0);
	}
	if (fake_options()->kind == FAKE_IWARP && id->pub.qp)
		fake_qp_error((struct fake_qp *)id->pub.qp);
	if (answered)
		fake_timewait(id);
}
