/* SPDX-License-Identifier: BSD-3-Clause */
/* conn_req.c: requests for a connection, incoming and outgoing. */
#include <config.h>

#include "lib/rpma/conn_req.h"

#include <errno.h>
#include <stdlib.h>

#include <rdma/rdma_cma.h>

#include "lib/rpma/addr.h"
#include "lib/rpma/conn.h"
#include "lib/rpma/conn_cfg.h"
#include "lib/rpma/err.h"
#include "lib/rpma/event.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/log.h"
#include "lib/rpma/peer.h"

/* Allocate a request and its connection. NULL: out of memory. */
static struct rpma_conn_req *
req_new(struct rpma_peer *peer)
{
	struct rpma_conn_req *req = calloc(1, sizeof(*req));

	if (!req)
		return NULL;
	req->conn = rpmai_conn_new(peer);
	if (!req->conn) {
		free(req);
		return NULL;
	}
	return req;
}

void
rpmai_conn_req_free(struct rpma_conn_req *req, int *ret)
{
	if (!req)
		return;
	rpmai_conn_free(req->conn, ret);
	free(req);
}

struct rpma_conn *
rpmai_conn_req_leave(struct rpma_conn_req *req)
{
	struct rpma_conn *conn = req->conn;

	free(req);
	return conn;
}

int
rpmai_conn_req_of_event(struct rpma_peer *peer, struct rdma_cm_event *event,
    struct rpma_conn_req **req_ptr)
{
	struct rpma_conn_req *req = req_new(peer);
	struct rdma_cm_id *id = event->id;
	int ret;

	if (!req) {
		/* the event first: an id cannot be destroyed before */
		(void)rdma_ack_cm_event(event);
		(void)rdma_reject(id, NULL, 0);
		(void)rdma_destroy_id(id);
		return rpmai_err_nomem();
	}
	req->conn->id = id;
	req->conn->is_passive = true;
	req->conn->state = CONN_REQUESTED;
	id->context = &req->conn->node;
	rpmai_conn_keep_pdata(req->conn, &event->param.conn);
	ret = rpmai_event_ack(event);
	if (ret) {
		rpmai_conn_req_free(req, &ret);
		return ret;
	}
	*req_ptr = req;
	return 0;
}

/* What the trial of one address needs. */
struct resolution {
	struct rpma_conn *conn;
	int timeout_ms;
};

/* Find the way to one address, on an id that waits for its own answers. */
static int
resolve(struct sockaddr *src, struct sockaddr *dst, void *arg)
{
	struct resolution *to = arg;
	struct rdma_cm_id *id;
	int ret;

	if (rdma_create_id(NULL, &id, &to->conn->node, RDMA_PS_TCP))
		return rpmai_err_provider(errno, "rdma_create_id()");
	if (rdma_resolve_addr(id, src, dst, to->timeout_ms)) {
		ret = rpmai_err_provider(errno, "rdma_resolve_addr(timeout_ms=%d)",
		    to->timeout_ms);
		goto fail;
	}
	ret = rpmai_peer_check_device(to->conn->peer, id->verbs);
	if (ret)
		goto fail;
	if (rdma_resolve_route(id, to->timeout_ms)) {
		ret = rpmai_err_provider(errno, "rdma_resolve_route(timeout_ms=%d)",
		    to->timeout_ms);
		goto fail;
	}
	to->conn->id = id;
	return 0;

fail:
	if (rdma_destroy_id(id))
		rpmai_err_note(&ret, errno, "rdma_destroy_id()");
	return ret;
}

int
rpma_conn_req_new(struct rpma_peer *peer, const char *addr, const char *port,
    const struct rpma_conn_cfg *cfg, struct rpma_conn_req **req_ptr)
{
	const struct rpma_conn_cfg *config = rpmai_conn_cfg_or_default(cfg);
	struct resolution to = { .timeout_ms = config->timeout_ms };
	struct rpma_conn_req *req;
	int ret;

	if (!peer || !addr || !port || !req_ptr || rpmai_queues_check(config))
		return RPMA_E_INVAL;
	req = req_new(peer);
	if (!req)
		return rpmai_err_nomem();
	to.conn = req->conn;
	ret = rpmai_addr_try(addr, port, false, resolve, &to);
	if (ret)
		goto fail;
	ret = rpmai_conn_own_channel(req->conn);
	if (ret)
		goto fail;
	ret = rpmai_queues_make(&req->conn->queues, req->conn->id, peer, config);
	if (ret)
		goto fail;
	req->conn->rnr_retry = config->rnr_retry;
	RPMAI_NOTICE("requesting a connection to %s:%s", addr, port);
	*req_ptr = req;
	return 0;

fail:
	rpmai_conn_req_free(req, &ret);
	return ret;
}

int
rpma_conn_req_delete(struct rpma_conn_req **req_ptr)
{
	struct rpma_conn_req *req;
	int ret = 0;

	if (!req_ptr)
		return RPMA_E_INVAL;
	req = *req_ptr;
	*req_ptr = NULL;
	rpmai_conn_req_free(req, &ret);
	return ret;
}

int
rpma_conn_req_connect(struct rpma_conn_req **req_ptr,
    const struct rpma_conn_private_data *pdata, struct rpma_conn **conn_ptr)
{
	struct rpma_conn_req *req;
	int ret = RPMA_E_INVAL;

	if (!req_ptr || !*req_ptr)
		return RPMA_E_INVAL;
	req = *req_ptr;
	*req_ptr = NULL;
	/* a request without a channel of its own belongs to a struct rpma_cm */
	if (!conn_ptr || !rpmai_pdata_is_valid(pdata) || !req->conn->channel)
		goto fail;
	ret = req->conn->is_passive ? rpmai_conn_accept(req->conn, pdata)
				    : rpmai_conn_connect(req->conn, pdata);
	if (ret)
		goto fail;
	*conn_ptr = rpmai_conn_req_leave(req);
	return 0;

fail:
	rpmai_conn_req_free(req, &ret);
	return ret;
}

int
rpma_conn_req_recv(struct rpma_conn_req *req, struct rpma_mr_local *dst, size_t offset,
    size_t len, const void *op_context)
{
	if (!req)
		return RPMA_E_INVAL;
	return rpmai_queues_recv(&req->conn->queues, dst, offset, len, op_context);
}

int
rpma_conn_req_get_private_data(const struct rpma_conn_req *req,
    struct rpma_conn_private_data *pdata)
{
	return req ? rpma_conn_get_private_data(req->conn, pdata) : RPMA_E_INVAL;
}

int
rpma_conn_req_get_peer_addr(const struct rpma_conn_req *req,
    struct sockaddr_storage *addr)
{
	return req ? rpma_conn_get_peer_addr(req->conn, addr) : RPMA_E_INVAL;
}
