/* SPDX-License-Identifier: BSD-3-Clause */
/* dial.c: outgoing connections on a shared channel, one step for each event. */
#include <config.h>

#include "lib/rpma/dial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "lib/rpma/addr.h"
#include "lib/rpma/cm.h"
#include "lib/rpma/conn.h"
#include "lib/rpma/conn_cfg.h"
#include "lib/rpma/cq.h"
#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/peer.h"
#include "lib/rpma/srq.h"

/* What is needed once the address is resolved; it holds the queues of its configuration. */
struct rpmai_dial {
	struct rpma_conn_cfg cfg;
	int timeout_ms;
	uint8_t pdata_len; /* bytes; 0: none */
	uint8_t pdata[RPMAI_PDATA_MAX];
};

void
rpmai_dial_free(struct rpmai_dial *dial, int *ret)
{
	if (!dial)
		return;
	if (dial->cfg.srq)
		rpmai_srq_release(dial->cfg.srq, ret);
	if (dial->cfg.cq)
		rpmai_cq_release(dial->cfg.cq, ret);
	free(dial);
}

/* Nothing more is to be done with a dial, for better or worse. */
static void
forget(struct rpma_conn *conn)
{
	int ret = 0;

	/* a queue that goes with it was deleted before, and the failure is logged */
	rpmai_dial_free(conn->dial, &ret);
	conn->dial = NULL;
}

/* The dial failed: say how. */
static bool
fail(struct rpma_conn *conn, struct rpma_cm_event *found, enum rpma_cm_event_kind kind,
    int status)
{
	forget(conn);
	conn->state = CONN_ENDED;
	found->kind = kind;
	found->status = status;
	return true;
}

/* The result of a step of ours as the status of an event. */
static int
status_of(int ret)
{
	int errnum = rpma_err_last_errno();

	if (ret == RPMA_E_NOMEM)
		return -ENOMEM;
	return errnum ? -errnum : -EIO;
}

/* The address is known: go on if it is reached through the right device. */
static bool
resolve_route(struct rpma_conn *conn, struct rpma_cm_event *found)
{
	int ret = rpmai_peer_check_device(conn->peer, conn->id->verbs);

	if (ret)
		return fail(conn, found, RPMA_CM_UNRESOLVED, status_of(ret));
	if (rdma_resolve_route(conn->id, conn->dial->timeout_ms)) {
		ret = rpmai_err_provider(errno, "rdma_resolve_route(timeout_ms=%d)",
		    conn->dial->timeout_ms);
		/* a loopback address is noticed here, not before */
		return fail(conn, found,
		    rpma_err_last_errno() == ENODEV ? RPMA_CM_UNRESOLVED
						    : RPMA_CM_UNREACHABLE,
		    status_of(ret));
	}
	conn->state = CONN_DIAL_ROUTE;
	return false;
}

/* What it means that the peer could not even be asked. */
static enum rpma_cm_event_kind
kind_of(int errnum)
{
	switch (errnum) {
	case ECONNREFUSED:
		return RPMA_CM_REJECTED;
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return RPMA_CM_UNREACHABLE;
	default:
		return RPMA_CM_LOST;
	}
}

/* The route is known: ask the peer. */
static bool
ask(struct rpma_conn *conn, struct rpma_cm_event *found)
{
	struct rpmai_dial *dial = conn->dial;
	const struct rpma_conn_private_data pdata = { dial->pdata, dial->pdata_len };
	int ret = rpmai_queues_make(&conn->queues, conn->id, conn->peer, &dial->cfg);

	if (ret)
		return fail(conn, found, RPMA_CM_LOST, status_of(ret));
	ret = rpmai_conn_connect(conn, dial->pdata_len ? &pdata : NULL);
	/* iWARP drivers may wait for the answer of TCP in there */
	if (ret)
		return fail(conn, found, kind_of(rpma_err_last_errno()),
		    status_of(ret));
	forget(conn);
	return false;
}

bool
rpmai_dial_step(struct rpma_conn *conn, int type, struct rpma_cm_event *found)
{
	if (type == RDMA_CM_EVENT_ADDR_RESOLVED && conn->state == CONN_DIAL_ADDR)
		return resolve_route(conn, found);
	if (type == RDMA_CM_EVENT_ROUTE_RESOLVED && conn->state == CONN_DIAL_ROUTE)
		return ask(conn, found);
	if (type == RDMA_CM_EVENT_ADDR_ERROR)
		return fail(conn, found, RPMA_CM_UNRESOLVED, found->status);
	if (type == RDMA_CM_EVENT_ROUTE_ERROR)
		return fail(conn, found, RPMA_CM_UNREACHABLE, found->status);
	return false; /* the answer to a question that was not asked */
}

/* What a dial has to remember. NULL: out of memory. */
static struct rpmai_dial *
dial_new(const struct rpma_conn_cfg *cfg, int timeout_ms,
    const struct rpma_conn_private_data *pdata)
{
	struct rpmai_dial *dial = calloc(1, sizeof(*dial));

	if (!dial)
		return NULL;
	dial->cfg = *cfg;
	if (cfg->srq)
		rpmai_ref_take(&cfg->srq->ref);
	if (cfg->cq)
		rpmai_ref_take(&cfg->cq->ref);
	dial->timeout_ms = timeout_ms;
	if (pdata) {
		memcpy(dial->pdata, pdata->ptr, pdata->len);
		dial->pdata_len = pdata->len;
	}
	return dial;
}

int
rpma_cm_dial(struct rpma_cm *cm, struct rpma_peer *peer, const struct sockaddr *dst,
    const struct rpma_conn_cfg *cfg, int timeout_ms,
    const struct rpma_conn_private_data *pdata, struct rpma_conn **conn_ptr)
{
	const struct rpma_conn_cfg *config = rpmai_conn_cfg_or_default(cfg);
	struct sockaddr_storage storage;
	struct rpma_conn *conn;
	int ret;

	if (!cm || !peer || !dst || timeout_ms < 1 || !conn_ptr ||
	    !rpmai_pdata_is_valid(pdata) || rpmai_addr_copy(&storage, dst) ||
	    rpmai_queues_check(config))
		return RPMA_E_INVAL;
	conn = rpmai_conn_new(peer);
	if (!conn)
		return rpmai_err_nomem();
	conn->rnr_retry = config->rnr_retry;
	conn->state = CONN_DIAL_ADDR;
	conn->dial = dial_new(config, timeout_ms, pdata);
	if (!conn->dial) {
		ret = rpmai_err_nomem();
		goto fail;
	}
	if (rdma_create_id(cm->channel, &conn->id, &conn->node, RDMA_PS_TCP)) {
		conn->id = NULL;
		ret = rpmai_err_provider(errno, "rdma_create_id()");
		goto fail;
	}
	if (rdma_resolve_addr(conn->id, NULL, (struct sockaddr *)&storage,
		timeout_ms)) {
		ret = rpmai_err_provider(errno, "rdma_resolve_addr(timeout_ms=%d)",
		    timeout_ms);
		goto fail;
	}
	*conn_ptr = conn;
	return 0;

fail:
	rpmai_conn_free(conn, &ret);
	return ret;
}
