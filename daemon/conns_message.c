/* SPDX-License-Identifier: BSD-3-Clause */
/* What completions and asynchronous events mean for the connection that they belong to.
 */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "daemon/conns.h"
#include "daemon/rpma_err.h"
#include "lib/rpma/librpma.h"

void
conns_check_quota(struct conns *conns, struct conn *conn)
{
	if (conns->established >= 2 && srq_is_short(conns->srq))
		conns_close(conns, conn, "over_quota");
}

const struct conn_info *
conns_late_message(struct conns *conns, uint32_t qp_num, uint32_t len)
{
	struct conn_info *closed = conn_closed_entry(&conns->table, 0, qp_num);

	conns->late++;
	if (closed) {
		closed->messages++;
		closed->bytes += len;
		if (++closed->held > closed->held_max)
			closed->held_max = closed->held;
	}
	return closed;
}

/*
 * Adapters say LOC_LEN_ERR. soft-RoCE says REM_INV_REQ_ERR when the first packet of a message
 * does not fit, LOC_QP_OP_ERR when a later one does not.
 */
static bool
is_too_long(const struct conns *conns, int status)
{
	return status == IBV_WC_LOC_LEN_ERR || status == IBV_WC_REM_INV_REQ_ERR ||
	    (status == IBV_WC_LOC_QP_OP_ERR && device_is_soft_roce(conns->device));
}

/*
 * A failed completion says why the connection ends. The end itself may have been seen first,
 * by its event, which knows nothing of the cause.
 */
static void
close_with_cause(struct conns *conns, struct conn *conn, const char *reason)
{
	const char *known = conn->info.reason;

	if (conn->info.state == CONN_DRAINING &&
	    (strcmp(known, "peer") == 0 || strcmp(known, "lost") == 0 ||
		strcmp(known, "error:QP_FATAL") == 0))
		(void)snprintf(conn->info.reason, sizeof(conn->info.reason), "%s",
		    reason);
	conns_close(conns, conn, reason);
}

void
conns_recv_failed(struct conns *conns, uint32_t qp_num, int status)
{
	struct conn *conn = conn_by_qp(&conns->table, qp_num);
	char reason[CONN_REASON_MAX];

	if (!conn || status == IBV_WC_WR_FLUSH_ERR)
		return;
	conn->info.errors++;
	if (is_too_long(conns, status))
		(void)snprintf(reason, sizeof(reason), "message_too_long");
	else
		(void)snprintf(reason, sizeof(reason), "error:%s",
		    wc_status_name(status));
	close_with_cause(conns, conn, reason);
}

void
conns_send_failed(struct conns *conns, struct conn *conn, int status)
{
	char reason[CONN_REASON_MAX];

	if (status == IBV_WC_WR_FLUSH_ERR)
		return;
	conn->info.errors++;
	if (status == IBV_WC_RETRY_EXC_ERR)
		(void)snprintf(reason, sizeof(reason), "timed_out");
	else if (status == IBV_WC_REM_INV_REQ_ERR)
		(void)snprintf(reason, sizeof(reason), "message_too_long");
	else
		(void)snprintf(reason, sizeof(reason), "error:%s",
		    wc_status_name(status));
	conns_close(conns, conn, reason);
}

void
conns_late_released(struct conns *conns, uint64_t id)
{
	struct conn_info *closed = conn_closed_entry(&conns->table, id, 0);

	if (closed && closed->held > 0)
		closed->held--;
}

void
conns_last_wqe(struct conns *conns, uint32_t qp_num)
{
	struct conn *conn = conn_by_qp(&conns->table, qp_num);

	if (!conn)
		return;
	conn->last_wqe_seen = true;
	/* What came before the event may still be in the queue. */
	conn->is_quiet = false;
	conn->drain_until = conns->polled + conns_queue_size(conns);
	conns->wants_drain(conns->arg);
}

void
conns_qp_fatal(struct conns *conns, uint32_t qp_num)
{
	struct conn *conn = conn_by_qp(&conns->table, qp_num);

	if (conn)
		conns_close(conns, conn, "error:QP_FATAL");
}
