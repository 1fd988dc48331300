/* SPDX-License-Identifier: BSD-3-Clause */
/* cm_event.c: what the events of a shared channel mean to their objects. */
#include <config.h>

#include <stdint.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "lib/rpma/cm.h"
#include "lib/rpma/conn.h"
#include "lib/rpma/conn_req.h"
#include "lib/rpma/dial.h"
#include "lib/rpma/ep.h"
#include "lib/rpma/event.h"
#include "lib/rpma/librpma.h"

/* Fill in what to report. Returns true: there is something to report. */
static bool
report(struct rpma_cm_event *found, enum rpma_cm_event_kind kind)
{
	found->kind = kind;
	return true;
}

/* The connection is over. Nothing is reported when that was reported before. */
static bool
end(struct rpma_conn *conn, struct rpma_cm_event *found, enum rpma_cm_event_kind kind)
{
	if (conn->state == CONN_ENDED)
		return false;
	conn->state = CONN_ENDED;
	return report(found, kind);
}

/* The peer did not answer, or no longer does. */
static bool
unreachable(struct rpma_conn *conn, struct rpma_cm_event *found)
{
	/*
	 * The kernel also says so of an established connection whose neighbour entry
	 * changed; such a one may still be closed in good order.
	 */
	if (conn->state == CONN_ESTABLISHED)
		return report(found, RPMA_CM_PATH_CHANGED);
	return end(conn, found, conn->is_passive ? RPMA_CM_LOST : RPMA_CM_UNREACHABLE);
}

/* An event of a connection. Returns whether there is something to report. */
static bool
conn_event(struct rpma_conn *conn, enum rdma_cm_event_type type,
    struct rpma_cm_event *found)
{
	found->conn = conn;
	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		if (conn->dial)
			return rpmai_dial_step(conn, (int)type, found);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (conn->state == CONN_ENDED)
			return false;
		conn->state = CONN_ESTABLISHED;
		return report(found, RPMA_CM_ESTABLISHED);
	case RDMA_CM_EVENT_DISCONNECTED:
		return end(conn, found, RPMA_CM_CLOSED);
	case RDMA_CM_EVENT_CONNECT_ERROR:
		return end(conn, found, RPMA_CM_LOST);
	case RDMA_CM_EVENT_REJECTED:
		return end(conn, found,
		    conn->is_passive ? RPMA_CM_LOST : RPMA_CM_REJECTED);
	case RDMA_CM_EVENT_UNREACHABLE:
		return unreachable(conn, found);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return report(found, RPMA_CM_DEVICE_REMOVED);
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return false; /* the end was reported before it */
	default:
		break;
	}
	found->status = (int)type;
	return report(found, RPMA_CM_OTHER);
}

/* An event of the object of a node. Returns whether there is something to report. */
static bool
node_event(struct rpmai_node *node, enum rdma_cm_event_type type,
    struct rpma_cm_event *found)
{
	struct rpma_conn *conn;

	if (node && node->kind == NODE_CONN) {
		conn = rpmai_node_owner(node, struct rpma_conn);
		/* what becomes of a request shows when it is accepted */
		if (conn->state == CONN_REQUESTED)
			return false;
		return conn_event(conn, type, found);
	}
	if (node)
		found->ep = rpmai_node_owner(node, struct rpma_ep);
	if (node && type == RDMA_CM_EVENT_DEVICE_REMOVAL)
		return report(found, RPMA_CM_DEVICE_REMOVED);
	found->status = (int)type;
	return report(found, RPMA_CM_OTHER);
}

/* A client asks for a connection. 0; RPMA_E_* when it was refused. */
static int
request(struct rdma_cm_event *event, struct rpma_cm_event *found)
{
	struct rpmai_node *node = event->listen_id->context;
	struct rpma_ep *ep = rpmai_node_owner(node, struct rpma_ep);

	found->kind = RPMA_CM_REQUEST;
	found->ep = ep;
	return rpmai_conn_req_of_event(ep->peer, event, &found->req);
}

/* Keep the private data of an answer, in the event and, of an acceptance, for good. */
static void
keep_pdata(const struct rdma_cm_event *event, struct rpmai_node *node,
    struct rpma_cm_event *found)
{
	const struct rdma_conn_param *param = &event->param.conn;

	if (event->event != RDMA_CM_EVENT_ESTABLISHED &&
	    event->event != RDMA_CM_EVENT_REJECTED)
		return;
	if (!node || node->kind != NODE_CONN || !param->private_data)
		return;
	memcpy(found->private_data, param->private_data, param->private_data_len);
	found->private_data_len = param->private_data_len;
	if (event->event == RDMA_CM_EVENT_ESTABLISHED)
		rpmai_conn_keep_pdata(rpmai_node_owner(node, struct rpma_conn), param);
}

/* Take one event. *found_one: whether there is something to report. */
static int
take(struct rpma_cm *cm, struct rpma_cm_event *found, bool *found_one)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;
	struct rpmai_node *node;
	int ret = rpmai_event_take(cm->channel, &event);

	if (ret)
		return ret;
	memset(found, 0, sizeof(*found));
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		*found_one = true;
		return request(event, found);
	}
	type = event->event;
	node = event->id->context;
	found->status = event->status;
	keep_pdata(event, node, found);
	ret = rpmai_event_ack(event);
	if (!ret)
		*found_one = node_event(node, type, found);
	return ret;
}

int
rpma_cm_next_event(struct rpma_cm *cm, struct rpma_cm_event *event)
{
	struct rpma_cm_event found;
	bool found_one = false;
	int ret;

	if (!cm || !event)
		return RPMA_E_INVAL;
	do {
		ret = take(cm, &found, &found_one);
	} while (!ret && !found_one);
	if (!ret)
		*event = found;
	return ret;
}
