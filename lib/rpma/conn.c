/* SPDX-License-Identifier: BSD-3-Clause */
/* conn.c: the life of a connection, and what it tells of itself. */
#include <config.h>

#include "lib/rpma/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "lib/rpma/dial.h"
#include "lib/rpma/err.h"
#include "lib/rpma/log.h"
#include "lib/rpma/peer.h"

/* Try as often as the wire can say after a lost packet. */
#define RETRY_COUNT 7

/* The largest code of the RNR NAK timer, a field of 5 bits. */
#define RNR_TIMER_MAX 31

struct rpma_conn *
rpmai_conn_new(struct rpma_peer *peer)
{
	struct rpma_conn *conn = calloc(1, sizeof(*conn));

	if (!conn)
		return NULL;
	conn->node.kind = NODE_CONN;
	conn->peer = peer;
	rpmai_ref_take(&peer->ref);
	conn->state = CONN_IDLE;
	return conn;
}

void
rpmai_conn_free(struct rpma_conn *conn, int *ret)
{
	if (!conn)
		return;
	if (conn->id) {
		rpmai_queues_destroy(&conn->queues, conn->id, ret);
		/* after a failure the request may be dead already: not worth a word */
		if (conn->state == CONN_REQUESTED && rdma_reject(conn->id, NULL, 0) &&
		    !*ret)
			rpmai_err_note(ret, errno, "rdma_reject()");
		if (rdma_destroy_id(conn->id))
			rpmai_err_note(ret, errno, "rdma_destroy_id()");
	}
	if (conn->channel)
		rdma_destroy_event_channel(conn->channel);
	rpmai_dial_free(conn->dial, ret);
	rpmai_peer_release(conn->peer, ret);
	free(conn);
}

int
rpmai_conn_own_channel(struct rpma_conn *conn)
{
	conn->channel = rdma_create_event_channel();
	if (!conn->channel)
		return rpmai_err_provider(errno, "rdma_create_event_channel()");
	if (rdma_migrate_id(conn->id, conn->channel))
		return rpmai_err_provider(errno, "rdma_migrate_id()");
	return 0;
}

void
rpmai_conn_keep_pdata(struct rpma_conn *conn, const struct rdma_conn_param *param)
{
	if (conn->pdata_len || !param->private_data || !param->private_data_len)
		return;
	memcpy(conn->pdata, param->private_data, param->private_data_len);
	conn->pdata_len = param->private_data_len;
}

bool
rpmai_pdata_is_valid(const struct rpma_conn_private_data *pdata)
{
	return !pdata || (pdata->ptr && pdata->len);
}

/* Ask for the most of everything: librdmacm lowers it to what both devices can do. */
static struct rdma_conn_param
conn_param(const struct rpma_conn *conn, const struct rpma_conn_private_data *pdata)
{
	return (struct rdma_conn_param){
		.private_data = pdata ? pdata->ptr : NULL,
		.private_data_len = pdata ? pdata->len : 0,
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.flow_control = 1,
		.retry_count = RETRY_COUNT,
		.rnr_retry_count = conn->rnr_retry,
	};
}

int
rpmai_conn_connect(struct rpma_conn *conn, const struct rpma_conn_private_data *pdata)
{
	struct rdma_conn_param param = conn_param(conn, pdata);

	if (rdma_connect(conn->id, &param))
		return rpmai_err_provider(errno, "rdma_connect(private_data_len=%u)",
		    param.private_data_len);
	conn->state = CONN_CONNECTING;
	return 0;
}

int
rpmai_conn_accept(struct rpma_conn *conn, const struct rpma_conn_private_data *pdata)
{
	struct rdma_conn_param param = conn_param(conn, pdata);

	if (rdma_accept(conn->id, &param))
		return rpmai_err_provider(errno, "rdma_accept(private_data_len=%u)",
		    param.private_data_len);
	conn->state = CONN_CONNECTING;
	return 0;
}

int
rpma_conn_delete(struct rpma_conn **conn_ptr)
{
	struct rpma_conn *conn;
	int ret = 0;

	if (!conn_ptr)
		return RPMA_E_INVAL;
	conn = *conn_ptr;
	*conn_ptr = NULL;
	rpmai_conn_free(conn, &ret);
	return ret;
}

int
rpma_conn_disconnect(struct rpma_conn *conn)
{
	if (!conn)
		return RPMA_E_INVAL;
	RPMAI_NOTICE("disconnecting");
	if (rdma_disconnect(conn->id))
		return rpmai_err_provider(errno, "rdma_disconnect()");
	return 0;
}

int
rpma_conn_drain(struct rpma_conn *conn)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	int rc;

	if (!conn)
		return RPMA_E_INVAL;
	if (!conn->queues.qp)
		return 0;
	rc = ibv_modify_qp(conn->queues.qp, &attr, IBV_QP_STATE);
	if (rc)
		return rpmai_err_provider(rpmai_err_verbs(rc),
		    "ibv_modify_qp(qp_state=ERR)");
	return 0;
}

int
rpma_conn_set_min_rnr_timer(struct rpma_conn *conn, unsigned int code)
{
	struct ibv_qp_attr attr = { .min_rnr_timer = (uint8_t)code };
	int rc;

	if (!conn || code > RNR_TIMER_MAX)
		return RPMA_E_INVAL;
	if (conn->peer->is_iwarp)
		return rpmai_err_set(RPMA_E_NOSUPP, EOPNOTSUPP);
	if (!conn->queues.qp)
		return rpmai_err_provider(ENOTCONN,
		    "using a connection without a queue pair");
	rc = ibv_modify_qp(conn->queues.qp, &attr, IBV_QP_MIN_RNR_TIMER);
	if (rc)
		return rpmai_err_provider(rpmai_err_verbs(rc),
		    "ibv_modify_qp(min_rnr_timer=%u)", code);
	return 0;
}

/* Give out the private data if it is of the kind that is asked for. */
static void
give_pdata(const struct rpma_conn *conn, bool is_asked_for,
    struct rpma_conn_private_data *pdata)
{
	bool has_any = is_asked_for && conn->pdata_len;

	/* the bytes are the connection's; the type of the interface has no const */
	pdata->ptr = has_any ? (void *)(uintptr_t)conn->pdata : NULL;
	pdata->len = has_any ? conn->pdata_len : 0;
}

int
rpma_conn_get_private_data(const struct rpma_conn *conn,
    struct rpma_conn_private_data *pdata)
{
	if (!conn || !pdata)
		return RPMA_E_INVAL;
	give_pdata(conn, !conn->is_pdata_of_reject, pdata);
	return 0;
}

int
rpma_conn_get_reject_data(const struct rpma_conn *conn,
    struct rpma_conn_private_data *pdata)
{
	if (!conn || !pdata)
		return RPMA_E_INVAL;
	give_pdata(conn, conn->is_pdata_of_reject, pdata);
	return 0;
}

int
rpma_conn_get_event_status(const struct rpma_conn *conn, int *status)
{
	if (!conn || !status)
		return RPMA_E_INVAL;
	*status = conn->event_status;
	return 0;
}

int
rpma_conn_get_qp_num(const struct rpma_conn *conn, uint32_t *qp_num)
{
	if (!conn || !qp_num)
		return RPMA_E_INVAL;
	*qp_num = conn->queues.qp ? conn->queues.qp->qp_num : 0;
	return 0;
}

int
rpma_conn_get_native_ops(const struct rpma_conn *conn, unsigned int *ops)
{
	if (!conn || !ops)
		return RPMA_E_INVAL;
	*ops = conn->queues.native_ops;
	return 0;
}

int
rpma_conn_get_cq(const struct rpma_conn *conn, struct rpma_cq **cq_ptr)
{
	if (!conn || !cq_ptr)
		return RPMA_E_INVAL;
	*cq_ptr = conn->queues.cq;
	return 0;
}

int
rpma_conn_get_rcq(const struct rpma_conn *conn, struct rpma_cq **rcq_ptr)
{
	if (!conn || !rcq_ptr)
		return RPMA_E_INVAL;
	*rcq_ptr = conn->queues.rcq;
	return 0;
}

int
rpma_conn_get_peer_addr(const struct rpma_conn *conn, struct sockaddr_storage *addr)
{
	if (!conn || !addr)
		return RPMA_E_INVAL;
	*addr = conn->id->route.addr.dst_storage;
	return 0;
}

int
rpma_conn_get_local_addr(const struct rpma_conn *conn, struct sockaddr_storage *addr)
{
	if (!conn || !addr)
		return RPMA_E_INVAL;
	*addr = conn->id->route.addr.src_storage;
	return 0;
}

int
rpma_conn_set_context(struct rpma_conn *conn, void *context)
{
	if (!conn)
		return RPMA_E_INVAL;
	conn->context = context;
	return 0;
}

int
rpma_conn_get_context(const struct rpma_conn *conn, void **context)
{
	if (!conn || !context)
		return RPMA_E_INVAL;
	*context = conn->context;
	return 0;
}
