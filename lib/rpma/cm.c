/* SPDX-License-Identifier: BSD-3-Clause */
/* cm.c: a channel that many share, and the answers to requests. */
#include <config.h>

#include "lib/rpma/cm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include <rdma/rdma_cma.h>

#include "lib/rpma/addr.h"
#include "lib/rpma/conn.h"
#include "lib/rpma/conn_cfg.h"
#include "lib/rpma/conn_req.h"
#include "lib/rpma/ep.h"
#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/peer.h"

int
rpma_cm_new(struct rpma_cm **cm_ptr)
{
	struct rpma_cm *cm;
	int flags;
	int ret;

	if (!cm_ptr)
		return RPMA_E_INVAL;
	cm = calloc(1, sizeof(*cm));
	if (!cm)
		return rpmai_err_nomem();
	cm->channel = rdma_create_event_channel();
	if (!cm->channel) {
		ret = rpmai_err_provider(errno, "rdma_create_event_channel()");
		goto fail;
	}
	flags = fcntl(cm->channel->fd, F_GETFL);
	if (flags < 0 || fcntl(cm->channel->fd, F_SETFL, flags | O_NONBLOCK)) {
		ret = rpmai_err_provider(errno, "fcntl()");
		goto fail;
	}
	*cm_ptr = cm;
	return 0;

fail:
	if (cm->channel)
		rdma_destroy_event_channel(cm->channel);
	free(cm);
	return ret;
}

int
rpma_cm_delete(struct rpma_cm **cm_ptr)
{
	if (!cm_ptr)
		return RPMA_E_INVAL;
	if (!*cm_ptr)
		return 0;
	rdma_destroy_event_channel((*cm_ptr)->channel);
	free(*cm_ptr);
	*cm_ptr = NULL;
	return 0;
}

int
rpma_cm_get_fd(const struct rpma_cm *cm, int *fd)
{
	if (!cm || !fd)
		return RPMA_E_INVAL;
	*fd = cm->channel->fd;
	return 0;
}

int
rpma_cm_listen(struct rpma_cm *cm, struct rpma_peer *peer, const struct sockaddr *addr,
    int backlog, struct rpma_ep **ep_ptr)
{
	struct sockaddr_storage storage;
	struct rpma_ep *ep;
	int ret;

	if (!cm || !peer || !addr || backlog < 0 || !ep_ptr ||
	    rpmai_addr_copy(&storage, addr))
		return RPMA_E_INVAL;
	ep = rpmai_ep_new(peer);
	if (!ep)
		return rpmai_err_nomem();
	ret = rpmai_ep_start(ep, cm->channel, (struct sockaddr *)&storage, backlog);
	if (ret) {
		rpmai_ep_free(ep, &ret);
		return ret;
	}
	*ep_ptr = ep;
	return 0;
}

int
rpma_cm_accept(struct rpma_conn_req **req_ptr, const struct rpma_conn_cfg *cfg,
    const struct rpma_conn_private_data *pdata, struct rpma_conn **conn_ptr)
{
	const struct rpma_conn_cfg *config = rpmai_conn_cfg_or_default(cfg);
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	int ret = RPMA_E_INVAL;

	if (!req_ptr || !*req_ptr)
		return RPMA_E_INVAL;
	req = *req_ptr;
	*req_ptr = NULL;
	conn = req->conn;
	/* a request with a channel of its own came from rpma_ep_next_conn_req() */
	if (!conn_ptr || !rpmai_pdata_is_valid(pdata) || conn->channel ||
	    rpmai_queues_check(config))
		goto fail;
	ret = rpmai_peer_check_device(conn->peer, conn->id->verbs);
	if (ret)
		goto fail;
	ret = rpmai_queues_make(&conn->queues, conn->id, conn->peer, config);
	if (ret)
		goto fail;
	conn->rnr_retry = config->rnr_retry;
	ret = rpmai_conn_accept(conn, pdata);
	if (ret)
		goto fail;
	*conn_ptr = rpmai_conn_req_leave(req);
	return 0;

fail:
	rpmai_conn_req_free(req, &ret);
	return ret;
}

/* Whether a refusal failed because there was nobody left to refuse. */
static bool
is_request_dead(int errnum)
{
	return errnum == EINVAL || errnum == ENOTCONN || errnum == ECONNRESET ||
	    errnum == ENODEV;
}

int
rpma_cm_reject(struct rpma_conn_req **req_ptr,
    const struct rpma_conn_private_data *pdata)
{
	struct rpma_conn_req *req;
	int ret = 0;

	if (!req_ptr || !*req_ptr)
		return RPMA_E_INVAL;
	req = *req_ptr;
	*req_ptr = NULL;
	if (!rpmai_pdata_is_valid(pdata)) {
		ret = RPMA_E_INVAL;
	} else if (req->conn->is_passive) {
		if (rdma_reject(req->conn->id, pdata ? pdata->ptr : NULL,
			pdata ? pdata->len : 0) &&
		    !is_request_dead(errno))
			rpmai_err_note(&ret, errno, "rdma_reject()");
		req->conn->state = CONN_ENDED;
	}
	rpmai_conn_req_free(req, &ret);
	return ret;
}
