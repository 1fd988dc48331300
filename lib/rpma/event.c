/* SPDX-License-Identifier: BSD-3-Clause */
/* event.c: events of a connection's own channels. */
#include <config.h>

#include "lib/rpma/event.h"

#include <errno.h>

#include <rdma/rdma_cma.h>

#include "lib/rpma/conn.h"
#include "lib/rpma/cq.h"
#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/log.h"

int
rpmai_event_take(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	for (;;) {
		errno = 0;
		if (!rdma_get_cm_event(channel, event))
			break;
		/* ENODATA is how librdmacm reports a short write */
		if (errno == EAGAIN || errno == ENODATA)
			return RPMA_E_NO_EVENT;
		if (errno != EINTR)
			return rpmai_err_provider(errno, "rdma_get_cm_event()");
	}
	/* a step of librdmacm's own that failed leaves -1 as the status, and errno */
	if ((*event)->status == -1 && errno > 0)
		(*event)->status = -errno;
	return 0;
}

int
rpmai_event_ack(struct rdma_cm_event *event)
{
	if (rdma_ack_cm_event(event))
		return rpmai_err_provider(errno, "rdma_ack_cm_event()");
	return 0;
}

int
rpma_conn_get_event_fd(const struct rpma_conn *conn, int *fd)
{
	if (!conn || !fd)
		return RPMA_E_INVAL;
	if (!conn->channel)
		return rpmai_err_set(RPMA_E_NOSUPP, 0);
	*fd = conn->channel->fd;
	return 0;
}

/* The public name of a CM event. */
static enum rpma_conn_event
translate(enum rdma_cm_event_type type)
{
	switch (type) {
	case RDMA_CM_EVENT_ESTABLISHED:
		return RPMA_CONN_ESTABLISHED;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return RPMA_CONN_CLOSED;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return RPMA_CONN_LOST;
	case RDMA_CM_EVENT_REJECTED:
		return RPMA_CONN_REJECTED;
	case RDMA_CM_EVENT_UNREACHABLE:
		return RPMA_CONN_UNREACHABLE;
	default:
		return RPMA_CONN_UNDEFINED;
	}
}

/* Keep the private data of an answer, of whichever kind it is. */
static void
keep_pdata(struct rpma_conn *conn, const struct rdma_cm_event *event)
{
	bool had_any = conn->pdata_len;

	if (event->event != RDMA_CM_EVENT_ESTABLISHED &&
	    event->event != RDMA_CM_EVENT_REJECTED)
		return;
	rpmai_conn_keep_pdata(conn, &event->param.conn);
	if (!had_any)
		conn->is_pdata_of_reject = event->event == RDMA_CM_EVENT_REJECTED;
}

/* Take the next event that is more than a piece of information. */
static int
next_event(struct rpma_conn *conn, enum rdma_cm_event_type *type)
{
	struct rdma_cm_event *event;
	int status;
	int ret;

	do {
		ret = rpmai_event_take(conn->channel, &event);
		if (ret)
			return ret;
		*type = event->event;
		status = event->status;
		keep_pdata(conn, event);
		ret = rpmai_event_ack(event);
	} while (!ret && *type == RDMA_CM_EVENT_ADDR_CHANGE);
	if (!ret)
		conn->event_status = status;
	return ret;
}

int
rpma_conn_next_event(struct rpma_conn *conn, enum rpma_conn_event *event)
{
	enum rdma_cm_event_type type;
	enum rpma_conn_event found;
	int ret;

	if (!conn || !event)
		return RPMA_E_INVAL;
	if (!conn->channel)
		return rpmai_err_set(RPMA_E_NOSUPP, 0);
	ret = next_event(conn, &type);
	if (ret)
		return ret;
	found = translate(type);
	*event = found;
	if (found == RPMA_CONN_UNDEFINED) {
		RPMAI_WARNING("event of no meaning here: %s", rdma_event_str(type));
		return RPMA_E_UNKNOWN;
	}
	RPMAI_NOTICE("%s", rpma_utils_conn_event_2str(found));
	return 0;
}

int
rpma_conn_get_compl_fd(const struct rpma_conn *conn, int *fd)
{
	if (!conn || !fd)
		return RPMA_E_INVAL;
	if (!conn->queues.channel)
		return RPMA_E_NOT_SHARED_CHNL;
	*fd = conn->queues.channel->fd;
	return 0;
}

int
rpma_conn_wait(struct rpma_conn *conn, int flags, struct rpma_cq **cq, bool *is_rcq)
{
	struct rpmai_queues *queues;
	struct ibv_cq *source_cq;
	struct rpma_cq *found;
	int ret;

	if (!conn || !cq)
		return RPMA_E_INVAL;
	queues = &conn->queues;
	if (!queues->channel)
		return RPMA_E_NOT_SHARED_CHNL;
	ret = rpmai_cq_take_event(queues->channel, &source_cq);
	if (ret)
		return ret;
	if (source_cq == queues->cq->ibv_cq) {
		found = queues->cq;
	} else if (queues->rcq && source_cq == queues->rcq->ibv_cq) {
		found = queues->rcq;
	} else {
		/* at once: a queue with such events cannot be destroyed */
		ibv_ack_cq_events(source_cq, 1);
		RPMAI_ERROR("completion event of a queue that is not the connection's");
		return RPMA_E_UNKNOWN;
	}
	rpmai_cq_ack(found);
	ret = flags & RPMA_W_NO_ARM ? 0 : rpmai_cq_arm(found);
	if (ret)
		return ret;
	*cq = found;
	if (is_rcq)
		*is_rcq = found == queues->rcq;
	return 0;
}
