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

/* Which element of an event is valid. */
enum about {
	ABOUT_OTHER,
	ABOUT_QP,
	ABOUT_PORT,
};

/* clang-format off */
static const struct {
	enum rpma_async_kind kind;
	enum about about;
} meanings[] = {
	[IBV_EVENT_CQ_ERR]              = { RPMA_ASYNC_CQ_ERR,       ABOUT_OTHER },
	[IBV_EVENT_QP_FATAL]            = { RPMA_ASYNC_QP_FATAL,     ABOUT_QP },
	[IBV_EVENT_QP_REQ_ERR]          = { RPMA_ASYNC_QP_FATAL,     ABOUT_QP },
	[IBV_EVENT_QP_ACCESS_ERR]       = { RPMA_ASYNC_QP_FATAL,     ABOUT_QP },
	[IBV_EVENT_COMM_EST]            = { RPMA_ASYNC_OTHER,        ABOUT_QP },
	[IBV_EVENT_SQ_DRAINED]          = { RPMA_ASYNC_OTHER,        ABOUT_QP },
	[IBV_EVENT_PATH_MIG]            = { RPMA_ASYNC_OTHER,        ABOUT_QP },
	[IBV_EVENT_PATH_MIG_ERR]        = { RPMA_ASYNC_OTHER,        ABOUT_QP },
	[IBV_EVENT_DEVICE_FATAL]        = { RPMA_ASYNC_DEVICE_FATAL, ABOUT_OTHER },
	[IBV_EVENT_PORT_ACTIVE]         = { RPMA_ASYNC_PORT_ACTIVE,  ABOUT_PORT },
	[IBV_EVENT_PORT_ERR]            = { RPMA_ASYNC_PORT_ERR,     ABOUT_PORT },
	[IBV_EVENT_LID_CHANGE]          = { RPMA_ASYNC_OTHER,        ABOUT_PORT },
	[IBV_EVENT_PKEY_CHANGE]         = { RPMA_ASYNC_OTHER,        ABOUT_PORT },
	[IBV_EVENT_SM_CHANGE]           = { RPMA_ASYNC_OTHER,        ABOUT_PORT },
	[IBV_EVENT_SRQ_ERR]             = { RPMA_ASYNC_SRQ_ERR,      ABOUT_OTHER },
	[IBV_EVENT_SRQ_LIMIT_REACHED]   = { RPMA_ASYNC_SRQ_LIMIT,    ABOUT_OTHER },
	[IBV_EVENT_QP_LAST_WQE_REACHED] = { RPMA_ASYNC_LAST_WQE,     ABOUT_QP },
	[IBV_EVENT_CLIENT_REREGISTER]   = { RPMA_ASYNC_OTHER,        ABOUT_PORT },
	[IBV_EVENT_GID_CHANGE]          = { RPMA_ASYNC_OTHER,        ABOUT_PORT },
};
/* clang-format on */

/* What an event means; its element is read before the event is acknowledged. */
static void
translate(const struct ibv_async_event *from, struct rpma_async_event *to)
{
	size_t i = (size_t)from->event_type;

	*to = (struct rpma_async_event){
		.kind = RPMA_ASYNC_OTHER,
		.ibv_type = from->event_type,
	};
	if (i >= sizeof(meanings) / sizeof(meanings[0]))
		return;
	to->kind = meanings[i].kind;
	if (meanings[i].about == ABOUT_QP)
		to->qp_num = from->element.qp->qp_num;
	else if (meanings[i].about == ABOUT_PORT)
		to->port_num = (uint8_t)from->element.port_num;
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
