/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accepting, events, draining and the end of connections.
 *
 * A sender that sends and leaves is often seen first by its leaving, and some drivers
 * drop the completions of a queue pair that are unread when it is destroyed. So a
 * connection that ends is drained: its queue pair goes to error, the completion queue
 * is read until nothing older can be in it, and only then is the queue pair destroyed.
 */
#include <config.h>

#include "daemon/conns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/announce.h"
#include "daemon/events.h"
#include "daemon/loop.h"
#include "daemon/rpma_err.h"
#include "lib/core/addr.h"
#include "lib/core/text.h"
#include "lib/rpma/librpma.h"

#define DRAIN_MAX_NS \
	2000000000u /* a queue pair is destroyed after this in any case \
		     */
#define DRAIN_GRACE_NS \
	10000000u /* for flushes that a driver completes a little later */

int
conns_init(struct conns *conns, const struct settings *settings, uint64_t last_id,
    void (*wants_drain)(void *arg), void *arg)
{
	memset(conns, 0, sizeof(*conns));
	conns->settings = settings;
	conns->wants_drain = wants_drain;
	conns->arg = arg;
	conns->reject_log = (struct log_limit){ .burst = 10, .interval_ms = 10000 };
	return conn_table_init(&conns->table, settings->conns_max, last_id);
}

void
conns_fini(struct conns *conns)
{
	conns_shut(conns, "shutdown");
	conn_table_fini(&conns->table);
}

int
conns_open(struct conns *conns, struct device *device, struct rpma_cm *cm,
    struct srq *srq, struct sender *sender, struct err *err)
{
	struct device_limits limits;
	struct rpma_conn_cfg *cfg = NULL;
	int rc = rpma_conn_cfg_new(&cfg);

	if (rc == 0)
		rc = rpma_conn_cfg_set_srq(cfg, srq_rpma(srq));
	if (rc == 0)
		rc = rpma_conn_cfg_set_cq(cfg, sender_rpma_cq(sender));
	if (rc == 0)
		rc = rpma_conn_cfg_set_sq_size(cfg, SENDER_SQ_SIZE);
	if (rc != 0) {
		(void)rpma_conn_cfg_delete(&cfg);
		return rpma_err_set(err, rc, "cannot prepare connections");
	}
	device_get_limits(device, &limits);
	conns->is_iwarp = limits.is_iwarp;
	conns->device = device;
	conns->cm = cm;
	conns->srq = srq;
	conns->sender = sender;
	conns->cfg = cfg;
	return 0;
}

void
conns_shut(struct conns *conns, const char *reason)
{
	struct conn *conn;

	conns_close_all(conns, reason);
	while ((conn = TAILQ_FIRST(&conns->table.list)) != NULL)
		conns_destroy(conns, conn);
	(void)rpma_conn_cfg_delete(&conns->cfg);
	conns->device = NULL;
	conns->cm = NULL;
	conns->srq = NULL;
	conns->sender = NULL;
}

struct conn *
conns_make(struct conns *conns, bool is_outgoing)
{
	struct conn *conn = calloc(1, sizeof(*conn));

	if (!conn)
		return NULL;
	conn->info.is_outgoing = is_outgoing;
	conn->info.state = is_outgoing ? CONN_CONNECTING : CONN_ACCEPTING;
	conn->info.since_ns = loop_wall_ns();
	STAILQ_INIT(&conn->closers);
	conns->connecting++;
	conn_table_add(&conns->table, conn);
	return conn;
}

static void
leave_state(struct conns *conns, struct conn *conn)
{
	switch (conn->info.state) {
	case CONN_CONNECTING:
	case CONN_ACCEPTING:
		conns->connecting--;
		break;
	case CONN_ESTABLISHED:
		conns->established--;
		break;
	case CONN_DRAINING:
		conns->draining--;
		break;
	case CONN_CLOSED:
		break;
	}
}

void
conns_destroy(struct conns *conns, struct conn *conn)
{
	struct conn_waiter *waiter;
	char peer[ADDR_TEXT_MAX];

	/* A failure leaves objects behind that the device's own end removes. */
	(void)rpma_conn_delete(&conn->rpma);
	if (conn->is_qp_known)
		conns->left_until = conns->polled + conns_queue_size(conns);
	if (conn->sends > 0)
		sender_conn_gone(conns->sender, conn);
	leave_state(conns, conn);
	conn->info.state = CONN_CLOSED;
	conn->info.closed_ns = loop_wall_ns();
	named_counts_add(&conns->closes, conn->info.reason);
	conn_table_remove(&conns->table, conn);
	events_add(conns->events, EVENT_CONN_CLOSED, conn->info.id, &conn->info.peer,
	    conn->info.reason, 0);
	log_info("conn", "%llu: closed peer=%s reason=%s messages=%llu",
	    (unsigned long long)conn->info.id,
	    addr_format(&conn->info.peer, peer, sizeof(peer)), conn->info.reason,
	    (unsigned long long)conn->info.messages);
	while ((waiter = STAILQ_FIRST(&conn->closers)) != NULL) {
		STAILQ_REMOVE_HEAD(&conn->closers, entry);
		waiter->done(waiter->arg, NULL, &conn->info);
		free(waiter);
	}
	free(conn);
}

/* Why a peer is refused, NULL: it is not. */
static const char *
refusal(const struct conns *conns, const struct sockaddr_storage *peer)
{
	const struct settings *settings = conns->settings;
	size_t i;

	if (conns->is_stopping)
		return "stopping";
	for (i = 0; i < settings->conns_allow_count; i++)
		if (addr_net_contains(&settings->conns_allow[i], peer))
			break;
	if (settings->conns_allow_count > 0 && i == settings->conns_allow_count)
		return "not_allowed";
	if (conns->table.count >= settings->conns_max)
		return "limit";
	return NULL;
}

static void
refused(struct conns *conns, const struct sockaddr_storage *peer, const char *reason,
    const struct err *err)
{
	unsigned int suppressed = 0;
	char text[ADDR_TEXT_MAX];

	named_counts_add(&conns->rejected, reason);
	events_add(conns->events, EVENT_CONN_REJECTED, 0, peer, reason, 0);
	if (!log_limit_pass(&conns->reject_log, loop_now_ns() / 1000000, &suppressed))
		return;
	log_notice("conn", "refused peer=%s reason=%s%s%s",
	    addr_format(peer, text, sizeof(text)), reason, err ? ": " : "",
	    err ? err->text : "");
	if (suppressed > 0)
		log_notice("conn", "%u more refusal%s went unlogged", suppressed,
		    text_plural(suppressed));
}

void
conns_qp_ready(struct conns *conns, struct conn *conn)
{
	uint32_t qp_num;

	if (rpma_conn_get_qp_num(conn->rpma, &qp_num) == 0)
		conn_table_add_qp(&conns->table, conn, qp_num);
	if (conn->is_rnr_set || conns->is_iwarp)
		return;
	/* Tried again when it is established: not every driver allows it before. */
	conn->is_rnr_set = rpma_conn_set_min_rnr_timer(conn->rpma,
			       rnr_timer_code(conns->settings->min_rnr_timer_us)) == 0;
}

static int
accept_request(struct conns *conns, struct rpma_conn_req *req, struct conn *conn)
{
	uint8_t data[ANNOUNCE_BYTES];
	struct rpma_conn_private_data pdata = { .ptr = data, .len = sizeof(data) };
	int rc;

	announce_write(data, conns->settings->pool_slot_size);
	rc = rpma_cm_accept(&req, conns->cfg,
	    conns->settings->conns_announce ? &pdata : NULL, &conn->rpma);
	if (rc != 0)
		return rc;
	/* NULL arguments alone could make these fail. */
	(void)rpma_conn_set_context(conn->rpma, conn);
	(void)rpma_conn_get_local_addr(conn->rpma, &conn->info.local);
	conns_qp_ready(conns, conn);
	return 0;
}

bool
conns_request(struct conns *conns, struct rpma_conn_req *req, uint64_t listener)
{
	struct sockaddr_storage peer = { .ss_family = AF_UNSPEC };
	const char *reason;
	struct conn *conn;
	struct err err;
	int rc;

	conns->requests++;
	(void)rpma_conn_req_get_peer_addr(req, &peer);
	reason = refusal(conns, &peer);
	conn = reason ? NULL : conns_make(conns, false);
	if (!conn) {
		/* A request that died meanwhile needs no refusal. */
		(void)rpma_cm_reject(&req, NULL);
		refused(conns, &peer, reason ? reason : "no_memory", NULL);
		return false;
	}
	conn->info.peer = peer;
	conn->info.listener = listener;
	rc = accept_request(conns, req, conn);
	if (rc != 0) {
		(void)rpma_err_set(&err, rc, "it cannot be accepted");
		refused(conns, &peer, rc == RPMA_E_NOMEM ? "no_memory" : "provider",
		    &err);
		conns->connecting--;
		conn_table_forget(&conns->table, conn);
		free(conn);
		return false;
	}
	conns->accepted++;
	return true;
}

void
conns_read_announcement(struct conn *conn, const struct rpma_cm_event *event)
{
	conn->info.peer_slot_size =
	    announce_read(event->private_data, event->private_data_len);
}

static void
established(struct conns *conns, struct conn *conn, const struct rpma_cm_event *event)
{
	engine_done_fn opened = conn->opened;
	char peer[ADDR_TEXT_MAX];

	if (conn->info.state != CONN_CONNECTING && conn->info.state != CONN_ACCEPTING)
		return;
	leave_state(conns, conn);
	conn->info.state = CONN_ESTABLISHED;
	conn->info.since_ns = loop_wall_ns();
	conn->active_ns = loop_now_ns();
	conns->established++;
	conns->established_total++;
	if (conn->info.is_outgoing) {
		conns_read_announcement(conn, event);
		(void)rpma_conn_get_local_addr(conn->rpma, &conn->info.local);
	}
	conns_qp_ready(conns, conn);
	if (!conn->is_rnr_set && !conns->is_iwarp && conns->rnr_failures++ == 0)
		log_warning("conn", "%llu: its RNR timer cannot be set (errno %d)",
		    (unsigned long long)conn->info.id, rpma_err_last_errno());
	events_add(conns->events, EVENT_CONN_ESTABLISHED, conn->info.id,
	    &conn->info.peer, NULL, 0);
	log_info("conn", "%llu: established peer=%s qp=%u direction=%s",
	    (unsigned long long)conn->info.id,
	    addr_format(&conn->info.peer, peer, sizeof(peer)), conn->info.qp_num,
	    conn->info.is_outgoing ? "out" : "in");
	conn->opened = NULL;
	if (opened)
		opened(conn->opened_arg, NULL, &conn->info);
}

/*
 * On iWARP a message that meets an empty queue ends the connection, and nothing else says why.
 * It is taken for the cause when the queue was empty since the connection's last message.
 */
static bool
met_empty_queue(const struct conns *conns, const struct conn *conn)
{
	struct srq_stats stats;

	if (!conns->is_iwarp)
		return false;
	srq_get_stats(conns->srq, loop_now_ns(), &stats);
	return stats.is_empty ||
	    (stats.last_empty_ns != 0 && stats.last_empty_ns >= conn->active_ns &&
		stats.last_empty_ns >= conn->info.last_recv_ns);
}

/*
 * Since Linux 6.0 an established connection hears of it when the link address of its
 * peer's neighbour entry changes. That need not be its end: the transport finds out.
 */
static void
neighbour_changed(struct conn *conn, int status)
{
	char peer[ADDR_TEXT_MAX];

	conn->info.errors++;
	log_notice("conn", "%llu: the way to peer=%s has changed, status=%d",
	    (unsigned long long)conn->info.id,
	    addr_format(&conn->info.peer, peer, sizeof(peer)), status);
}

void
conns_event(struct conns *conns, const struct rpma_cm_event *event)
{
	void *context = NULL;
	struct conn *conn;

	if (rpma_conn_get_context(event->conn, &context) != 0 || !context)
		return;
	conn = context;
	switch (event->kind) {
	case RPMA_CM_ESTABLISHED:
		established(conns, conn, event);
		return;
	case RPMA_CM_CLOSED:
		conns_close(conns, conn,
		    met_empty_queue(conns, conn) ? "srq_empty" : "peer");
		return;
	case RPMA_CM_LOST:
	case RPMA_CM_REJECTED:
	case RPMA_CM_UNREACHABLE:
	case RPMA_CM_UNRESOLVED:
		if (conn->info.state == CONN_CONNECTING)
			conns_dial_failed(conns, conn, event);
		else
			conns_close(conns, conn,
			    met_empty_queue(conns, conn)      ? "srq_empty"
				: event->status == -ETIMEDOUT ? "timed_out"
							      : "lost");
		return;
	case RPMA_CM_PATH_CHANGED:
		neighbour_changed(conn, event->status);
		return;
	case RPMA_CM_REQUEST:
	case RPMA_CM_DEVICE_REMOVED:
	case RPMA_CM_OTHER:
		return;
	}
}

uint32_t
conns_queue_size(const struct conns *conns)
{
	struct srq_info info;

	srq_get_info(conns->srq, &info);
	return info.cq_asked;
}

void
conns_close(struct conns *conns, struct conn *conn, const char *reason)
{
	bool has_qp = conn->is_qp_known;

	if (conn->info.state == CONN_DRAINING || conn->info.state == CONN_CLOSED)
		return;
	leave_state(conns, conn);
	conn->info.state = CONN_DRAINING;
	conns->draining++;
	(void)snprintf(conn->info.reason, sizeof(conn->info.reason), "%s", reason);
	if (conn->opened) {
		engine_done_fn opened = conn->opened;
		struct err err;

		conn->opened = NULL;
		(void)err_set(&err, conn_lost_code(reason), 0,
		    "connection %llu: closed (%s)", (unsigned long long)conn->info.id,
		    reason);
		opened(conn->opened_arg, &err, &conn->info);
	}
	if (has_qp) {
		/* Either may find the connection dead already. */
		(void)rpma_conn_disconnect(conn->rpma);
		(void)rpma_conn_drain(conn->rpma);
	}
	conn->drain_until = conns->polled + conns_queue_size(conns);
	conn->deadline_ns = loop_now_ns() +
	    (has_qp && device_sends_last_wqe(conns->device) ? DRAIN_MAX_NS
							    : DRAIN_GRACE_NS);
	conn->is_quiet = !has_qp;
	conns->wants_drain(conns->arg);
}

void
conns_close_all(struct conns *conns, const char *reason)
{
	struct conn *conn;

	TAILQ_FOREACH(conn, &conns->table.list, entry)
		conns_close(conns, conn, reason);
}

static bool
is_drained(struct conns *conns, struct conn *conn, uint64_t now_ns)
{
	bool sends_last_wqe = device_sends_last_wqe(conns->device);

	if (!conn->is_qp_known)
		return true;
	if (sends_last_wqe && conn->last_wqe_seen)
		return conn->is_quiet;
	if (now_ns < conn->deadline_ns)
		return false;
	if (sends_last_wqe)
		device_last_wqe_missed(conns->device);
	/* Under a flood from others the queue is never empty: count what was read
	 * instead. */
	return conn->is_quiet || now_ns >= conn->deadline_ns + DRAIN_MAX_NS;
}

bool
conns_have_left(const struct conns *conns)
{
	return conns->polled < conns->left_until;
}

void
conns_none_left(struct conns *conns)
{
	conns->left_until = conns->polled;
}

void
conns_settle(struct conns *conns, uint64_t now_ns, bool empty)
{
	struct conn *conn = TAILQ_FIRST(&conns->table.list);

	while (conn && conns->draining > 0) {
		struct conn *next = TAILQ_NEXT(conn, entry);

		if (conn->info.state == CONN_DRAINING) {
			if (empty || conns->polled >= conn->drain_until)
				conn->is_quiet = true;
			if (is_drained(conns, conn, now_ns))
				conns_destroy(conns, conn);
		}
		conn = next;
	}
}
