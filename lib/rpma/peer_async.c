/* SPDX-License-Identifier: BSD-3-Clause */
/* peer_async.c: the asynchronous events of a device. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>

#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/peer.h"

/* Make the context's event descriptor non-blocking, unless it is so already. */
static int
set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0 && flags & O_NONBLOCK)
		return 0;
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return rpmai_err_provider(errno, "fcntl(fd=%d)", fd);
	return 0;
}

int
rpma_peer_get_async_fd(const struct rpma_peer *peer, int *fd)
{
	int ret;

	if (!peer || !fd)
		return RPMA_E_INVAL;
	ret = set_nonblocking(peer->ibv_ctx->async_fd);
	if (ret)
		return ret;
	*fd = peer->ibv_ctx->async_fd;
	return 0;
}

/* What an event is about; the element is read before the event is acknowledged. */
static void
translate(const struct ibv_async_event *from, struct rpma_async_event *to)
{
	*to = (struct rpma_async_event){
		.kind = RPMA_ASYNC_OTHER,
		.ibv_type = from->event_type,
	};
	switch (from->event_type) {
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		to->kind = RPMA_ASYNC_LAST_WQE;
		to->qp_num = from->element.qp->qp_num;
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		to->kind = RPMA_ASYNC_QP_FATAL;
		to->qp_num = from->element.qp->qp_num;
		break;
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
		to->qp_num = from->element.qp->qp_num;
		break;
	case IBV_EVENT_CQ_ERR:
		to->kind = RPMA_ASYNC_CQ_ERR;
		break;
	case IBV_EVENT_SRQ_ERR:
		to->kind = RPMA_ASYNC_SRQ_ERR;
		break;
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		to->kind = RPMA_ASYNC_SRQ_LIMIT;
		break;
	case IBV_EVENT_PORT_ACTIVE:
		to->kind = RPMA_ASYNC_PORT_ACTIVE;
		to->port_num = (uint8_t)from->element.port_num;
		break;
	case IBV_EVENT_PORT_ERR:
		to->kind = RPMA_ASYNC_PORT_ERR;
		to->port_num = (uint8_t)from->element.port_num;
		break;
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		to->port_num = (uint8_t)from->element.port_num;
		break;
	case IBV_EVENT_DEVICE_FATAL:
		to->kind = RPMA_ASYNC_DEVICE_FATAL;
		break;
	default:
		break;
	}
}

int
rpma_peer_next_async_event(struct rpma_peer *peer, struct rpma_async_event *event)
{
	struct ibv_async_event from;
	int ret;

	if (!peer || !event)
		return RPMA_E_INVAL;
	/* other users of the context may have made it blocking again */
	ret = set_nonblocking(peer->ibv_ctx->async_fd);
	if (ret)
		return ret;
	while (ibv_get_async_event(peer->ibv_ctx, &from)) {
		if (errno == EAGAIN)
			return RPMA_E_NO_EVENT;
		if (errno != EINTR)
			return rpmai_err_provider(errno, "ibv_get_async_event()");
	}
	translate(&from, event);
	ibv_ack_async_event(&from);
	return 0;
}
