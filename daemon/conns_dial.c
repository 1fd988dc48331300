/* SPDX-License-Identifier: BSD-3-Clause */
/* Outgoing connections: their start, their time-out, and why one did not come about. */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/conns.h"
#include "daemon/loop.h"
#include "daemon/rpma_err.h"
#include "lib/core/addr.h"
#include "lib/core/text.h"
#include "lib/rpma/librpma.h"

/* InfiniBand Architecture Specification volume 1, 12.6.7.2: reasons of a REJ message.
 */
#define REJ_INVALID_SERVICE_ID 8
#define REJ_CONSUMER           28

static void
dial_refused(engine_done_fn done, void *arg, const struct err *err)
{
	done(arg, err, NULL);
}

/* Each of the two resolution steps gets part of the time, so that its own error comes
 * first. */
static int
step_ms(uint64_t timeout_ms)
{
	uint64_t step = timeout_ms - timeout_ms / 4;

	return step > INT_MAX ? INT_MAX : (int)(step ? step : 1);
}

static bool
may_dial(const struct conns *conns, struct err *err)
{
	if (conns->is_stopping) {
		(void)err_set(err, ERR_SHUTTING_DOWN, 0, "the daemon is stopping");
		return false;
	}
	if (!conns->device) {
		(void)err_set(err, ERR_NOT_READY, 0, "no RDMA device is open");
		err_hint(err, "rpmactl status says what the daemon waits for");
		return false;
	}
	if (conns->table.count >= conns->settings->conns_max) {
		(void)err_set(err, ERR_LIMIT, 0,
		    "connections.max allows %u connection%s, and no more is free",
		    conns->settings->conns_max,
		    text_plural(conns->settings->conns_max));
		return false;
	}
	return true;
}

void
conns_dial(struct conns *conns, const struct sockaddr_storage *peer,
    uint64_t timeout_ms, engine_done_fn done, void *arg)
{
	char text[ADDR_TEXT_MAX];
	struct conn *conn;
	struct err err;
	int rc;

	if (!may_dial(conns, &err)) {
		dial_refused(done, arg, &err);
		return;
	}
	conn = conns_make(conns, true);
	if (!conn) {
		(void)err_set(&err, ERR_INTERNAL_ERROR, ENOMEM, "out of memory");
		dial_refused(done, arg, &err);
		return;
	}
	conn->info.peer = *peer;
	conn->active_ns = loop_now_ns();
	conn->deadline_ns = conn->active_ns + timeout_ms * 1000000;
	rc = rpma_cm_dial(conns->cm, device_peer(conns->device),
	    (const struct sockaddr *)peer, conns->cfg, step_ms(timeout_ms), NULL,
	    &conn->rpma);
	if (rc != 0) {
		(void)rpma_err_set(&err, rc, "cannot start to connect to %s",
		    addr_format(peer, text, sizeof(text)));
		conns->connecting--;
		conn_table_forget(&conns->table, conn);
		free(conn);
		dial_refused(done, arg, &err);
		return;
	}
	conn->opened = done;
	conn->opened_arg = arg;
	conns->opened++;
	/* NULL arguments alone could make this fail. */
	(void)rpma_conn_set_context(conn->rpma, conn);
}

/* The caller hears why; the connection is remembered with the reason. */
static void
give_up(struct conns *conns, struct conn *conn, const char *reason,
    const struct err *err)
{
	engine_done_fn opened = conn->opened;

	conn->opened = NULL;
	if (opened)
		opened(conn->opened_arg, err, &conn->info);
	conns_close(conns, conn, reason);
}

static void
rejected(int status, const char *peer, struct err *err)
{
	if (status == REJ_INVALID_SERVICE_ID || status == -ECONNREFUSED) {
		(void)err_set(err, ERR_CONN_REJECTED, ECONNREFUSED,
		    "%s refused: nobody listens at that port", peer);
		err_hint(err, "check the port, and that the receiver runs");
	} else if (status == REJ_CONSUMER) {
		(void)err_set(err, ERR_CONN_REJECTED, ECONNREFUSED,
		    "%s refused the connection", peer);
		err_hint(err, "its allow list or its limit of connections may say why");
	} else {
		(void)err_set(err, ERR_CONN_REJECTED, ECONNREFUSED,
		    "%s refused the connection (reason %d)", peer, status);
	}
}

/* How long the dial has been under way, ms. */
static unsigned long long
waited_ms(const struct conn *conn)
{
	return (unsigned long long)((loop_now_ns() - conn->active_ns) / 1000000);
}

static const char *
unresolved(const struct conns *conns, const struct conn *conn, int status,
    const char *peer, struct err *err)
{
	if (status == -EXDEV) {
		(void)err_set(err, ERR_WRONG_DEVICE, EXDEV,
		    "the way to %s does not lead through device %s", peer,
		    device_name(conns->device));
		err_hint(err, "this daemon serves that device alone; run one for each");
		return "wrong_device";
	}
	/* The kernel knows why, without an answer or the want of one. */
	if (status < 0 && status != -ETIMEDOUT) {
		(void)err_set(err, ERR_ADDR_UNRESOLVED, -status,
		    "%s cannot be resolved over device %s: %s", peer,
		    device_name(conns->device), strerror(-status));
		err_hint(err, "check the address, and the route to it (ip route get)");
		return "unresolved";
	}
	(void)err_set(err, ERR_ADDR_UNRESOLVED, status < 0 ? -status : 0,
	    "%s has not answered to address resolution on device %s within %llu ms",
	    peer, device_name(conns->device), waited_ms(conn));
	err_hint(err, "check the address, the cable and ip neigh");
	return "unresolved";
}

void
conns_dial_failed(struct conns *conns, struct conn *conn,
    const struct rpma_cm_event *event)
{
	int errnum = event->status < 0 ? -event->status : 0;
	const char *reason = "lost";
	char peer[ADDR_TEXT_MAX];
	struct err err;

	addr_format(&conn->info.peer, peer, sizeof(peer));
	if (event->kind == RPMA_CM_REJECTED) {
		reason = "rejected";
		rejected(event->status, peer, &err);
	} else if (event->kind == RPMA_CM_UNREACHABLE) {
		reason = "unreachable";
		(void)err_set(&err, ERR_CONN_UNREACHABLE, errnum,
		    "%s cannot be reached", peer);
		err_hint(&err, "check the route, and that the receiver runs");
	} else if (event->kind == RPMA_CM_UNRESOLVED) {
		reason = unresolved(conns, conn, event->status, peer, &err);
	} else {
		(void)err_set(&err, ERR_CONN_LOST, errnum,
		    "the connection to %s was lost while it was made", peer);
	}
	give_up(conns, conn, reason, &err);
}

static void
time_out(struct conns *conns, struct conn *conn)
{
	char peer[ADDR_TEXT_MAX], local[ADDR_TEXT_MAX];
	struct err err;

	addr_format(&conn->info.peer, peer, sizeof(peer));
	(void)rpma_conn_get_local_addr(conn->rpma, &conn->info.local);
	if (addr_len(&conn->info.local) == 0 || addr_is_wildcard(&conn->info.local))
		(void)err_set(&err, ERR_TIMEOUT, ETIMEDOUT,
		    "%s has not answered on device %s within %llu ms", peer,
		    device_name(conns->device), waited_ms(conn));
	else
		(void)err_set(&err, ERR_TIMEOUT, ETIMEDOUT,
		    "%s has not answered %s within %llu ms", peer,
		    addr_format_ip(&conn->info.local, local, sizeof(local)),
		    waited_ms(conn));
	err_hint(&err, "check the address and the port, or allow more time");
	give_up(conns, conn, "timed_out", &err);
}

void
conns_tick(struct conns *conns, uint64_t now_ns)
{
	uint64_t idle_ns = conns->settings->conns_idle_ms * 1000000;
	struct conn *conn;

	TAILQ_FOREACH(conn, &conns->table.list, entry) {
		const struct conn_info *info = &conn->info;

		if (info->state == CONN_CONNECTING && now_ns >= conn->deadline_ns)
			time_out(conns, conn);
		else if (info->state == CONN_ESTABLISHED && idle_ns != 0 &&
		    now_ns - conn->active_ns >= idle_ns &&
		    now_ns - info->last_recv_ns >= idle_ns)
			conns_close(conns, conn, "idle");
	}
}
