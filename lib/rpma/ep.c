/* SPDX-License-Identifier: BSD-3-Clause */
/* ep.c: listening endpoints and the requests that arrive at those with a channel. */
#include <config.h>

#include "lib/rpma/ep.h"

#include <errno.h>
#include <stdlib.h>

#include <rdma/rdma_cma.h>

#include "lib/rpma/addr.h"
#include "lib/rpma/conn.h"
#include "lib/rpma/conn_cfg.h"
#include "lib/rpma/conn_req.h"
#include "lib/rpma/err.h"
#include "lib/rpma/event.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/log.h"
#include "lib/rpma/peer.h"

struct rpma_ep *
rpmai_ep_new(struct rpma_peer *peer)
{
	struct rpma_ep *ep = calloc(1, sizeof(*ep));

	if (!ep)
		return NULL;
	ep->node.kind = NODE_EP;
	ep->peer = peer;
	return ep;
}

void
rpmai_ep_free(struct rpma_ep *ep, int *ret)
{
	if (ep->id && rdma_destroy_id(ep->id))
		rpmai_err_note(ret, errno, "rdma_destroy_id()");
	if (ep->channel)
		rdma_destroy_event_channel(ep->channel);
	free(ep);
}

int
rpmai_ep_start(struct rpma_ep *ep, struct rdma_event_channel *channel,
    struct sockaddr *addr, int backlog)
{
	struct rdma_cm_id *id;
	int ret = 0;

	if (rdma_create_id(channel, &id, &ep->node, RDMA_PS_TCP))
		return rpmai_err_provider(errno, "rdma_create_id()");
	if (rdma_bind_addr(id, addr))
		ret = rpmai_err_provider(errno, "rdma_bind_addr()");
	else if (id->verbs || !rpmai_addr_is_any(addr))
		/* of a wildcard address alone it is right to have no device */
		ret = rpmai_peer_check_device(ep->peer, id->verbs);
	if (!ret && rdma_listen(id, backlog))
		ret = rpmai_err_provider(errno, "rdma_listen(backlog=%d)", backlog);
	if (!ret)
		ep->id = id;
	else if (rdma_destroy_id(id))
		rpmai_err_note(&ret, errno, "rdma_destroy_id()");
	return ret;
}

/* Listen at one of the addresses that the endpoint's name stands for. */
static int
start(struct sockaddr *src, struct sockaddr *dst, void *arg)
{
	struct rpma_ep *ep = arg;

	(void)dst;
	return rpmai_ep_start(ep, ep->channel, src, 0);
}

int
rpma_ep_listen(struct rpma_peer *peer, const char *addr, const char *port,
    struct rpma_ep **ep_ptr)
{
	struct rpma_ep *ep;
	int ret;

	if (!peer || !addr || !port || !ep_ptr)
		return RPMA_E_INVAL;
	ep = rpmai_ep_new(peer);
	if (!ep)
		return rpmai_err_nomem();
	ep->channel = rdma_create_event_channel();
	if (!ep->channel) {
		ret = rpmai_err_provider(errno, "rdma_create_event_channel()");
		goto fail;
	}
	ret = rpmai_addr_try(addr, port, true, start, ep);
	if (ret)
		goto fail;
	RPMAI_NOTICE("listening at %s:%s", addr, port);
	*ep_ptr = ep;
	return 0;

fail:
	rpmai_ep_free(ep, &ret);
	return ret;
}

int
rpma_ep_shutdown(struct rpma_ep **ep_ptr)
{
	struct rpma_ep *ep;
	int ret = 0;

	if (!ep_ptr)
		return RPMA_E_INVAL;
	ep = *ep_ptr;
	if (!ep)
		return 0;
	*ep_ptr = NULL;
	rpmai_ep_free(ep, &ret);
	return ret;
}

int
rpma_ep_get_fd(const struct rpma_ep *ep, int *fd)
{
	if (!ep || !fd)
		return RPMA_E_INVAL;
	if (!ep->channel)
		return rpmai_err_set(RPMA_E_NOSUPP, 0);
	*fd = ep->channel->fd;
	return 0;
}

int
rpma_ep_get_addr(const struct rpma_ep *ep, struct sockaddr_storage *addr)
{
	if (!ep || !addr)
		return RPMA_E_INVAL;
	*addr = ep->id->route.addr.src_storage;
	return 0;
}

/*
 * Give a request what it needs to be accepted. It leaves the endpoint's channel first:
 * its later events are its own, and it does not depend on the endpoint any more.
 */
static int
prepare(struct rpma_conn *conn, const struct rpma_conn_cfg *cfg)
{
	int ret = rpmai_peer_check_device(conn->peer, conn->id->verbs);

	if (!ret)
		ret = rpmai_conn_own_channel(conn);
	if (!ret)
		ret = rpmai_queues_make(&conn->queues, conn->id, conn->peer, cfg);
	conn->rnr_retry = cfg->rnr_retry;
	return ret;
}

int
rpma_ep_next_conn_req(struct rpma_ep *ep, const struct rpma_conn_cfg *cfg,
    struct rpma_conn_req **req_ptr)
{
	const struct rpma_conn_cfg *config = rpmai_conn_cfg_or_default(cfg);
	struct rdma_cm_event *event;
	struct rpma_conn_req *req;
	int ret;

	if (!ep || !req_ptr || rpmai_queues_check(config))
		return RPMA_E_INVAL;
	if (!ep->channel)
		return rpmai_err_set(RPMA_E_NOSUPP, 0);
	ret = rpmai_event_take(ep->channel, &event);
	if (ret)
		return ret;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		RPMAI_ERROR("no request, but %s", rdma_event_str(event->event));
		ret = rpmai_event_ack(event);
		return ret ? ret : RPMA_E_INVAL;
	}
	ret = rpmai_conn_req_of_event(ep->peer, event, &req);
	if (ret)
		return ret;
	ret = prepare(req->conn, config);
	if (ret) {
		rpmai_conn_req_free(req, &ret);
		return ret;
	}
	*req_ptr = req;
	return 0;
}
