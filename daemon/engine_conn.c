/* SPDX-License-Identifier: BSD-3-Clause */
/* What the control protocol asks of listeners and connections. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "daemon/engine_impl.h"
#include "daemon/events.h"
#include "lib/core/log.h"

/* The device behind the address, when none is open yet. */
static int
open_for(struct engine *engine, const struct sockaddr_storage *addr, struct err *err)
{
	struct device *probe;
	int rc;

	if (engine->settings->device[0])
		return engine_up(engine, err);
	/* Others that are wanted may lead to no device: this one must. */
	rc = device_open_by_addr(addr, &probe, err);
	if (rc != 0)
		return rc;
	device_close(probe, false);
	return engine_up(engine, err);
}

int
engine_listener_add(struct engine *engine, const struct sockaddr_storage *addr,
    struct listener_info *out, struct err *err)
{
	bool had_device = engine->device != NULL;
	struct listener *listener;
	uint64_t id;
	int rc;

	if (engine->state == ENGINE_STOPPING || engine->state == ENGINE_STOPPED)
		return err_set(err, ERR_SHUTTING_DOWN, 0, "the daemon is stopping");
	rc = listeners_add(&engine->listeners, addr, &listener, err);
	if (rc != 0)
		return rc;
	id = listener->info.id;
	listener->is_asked_for = true;
	rc = engine->device ? 0 : open_for(engine, addr, err);
	listener = listener_by_id(&engine->listeners, id);
	if (rc == 0 && !listener->info.is_up) {
		rc = listener_up(listener, engine->cm, engine->device, err);
		if (rc == 0)
			events_add(engine->events, EVENT_LISTENER_UP, 0,
			    &listener->info.addr, NULL, 0);
	}
	listener->is_asked_for = false;
	if (rc != 0) {
		device_hint_addrs(err);
		listeners_remove(&engine->listeners, listener);
		engine->listeners.next_id--;
		/* A device that was opened for this one alone is let go again. */
		if (!had_device && engine->device && engine->listeners.count == 0 &&
		    !engine->settings->device[0]) {
			engine_down(engine, "shutdown", false);
			engine_set_state(engine, ENGINE_WAITING_FOR_LISTENER,
			    ENGINE_NO_LISTENER);
		}
		return rc;
	}
	*out = listener->info;
	return 0;
}

int
engine_listener_remove(struct engine *engine, uint64_t id, struct err *err)
{
	struct listener *listener = listener_by_id(&engine->listeners, id);
	int rc;

	if (!listener) {
		rc = err_set(err, ERR_NO_SUCH_LISTENER, 0, "there is no listener %llu",
		    (unsigned long long)id);
		err_hint(err, "rpmactl listeners lists them");
		return rc;
	}
	events_add(engine->events, EVENT_LISTENER_DOWN, 0, &listener->info.addr,
	    "removed", 0);
	listeners_remove(&engine->listeners, listener);
	/* Nobody wants the device that was waited for any more. */
	if (engine->state == ENGINE_WAITING_FOR_DEVICE &&
	    engine->listeners.count == 0 && !engine->settings->device[0])
		engine_set_state(engine, ENGINE_WAITING_FOR_LISTENER,
		    ENGINE_NO_LISTENER);
	return 0;
}

void
engine_listeners(const struct engine *engine,
    void (*fn)(void *arg, const struct listener_info *info), void *arg)
{
	size_t i;

	for (i = 0; i < engine->listeners.count; i++)
		fn(arg, &engine->listeners.list[i].info);
}

void
engine_conns(const struct engine *engine, bool closed,
    void (*fn)(void *arg, const struct conn_info *info), void *arg)
{
	const struct conn_table *table = &engine->conns.table;
	const struct conn *conn;
	uint64_t i = 0;

	if (closed && table->closed_total > CONN_CLOSED_MAX)
		i = table->closed_total - CONN_CLOSED_MAX;
	for (; closed && i < table->closed_total; i++)
		fn(arg, &table->closed[i % CONN_CLOSED_MAX]);
	TAILQ_FOREACH(conn, &table->list, entry)
		fn(arg, &conn->info);
}

static int
no_such_conn(const struct engine *engine, uint64_t id, struct err *err)
{
	const struct conn_info *closed = conn_closed_by_id(&engine->conns.table, id);
	int rc;

	if (closed)
		rc =
		    err_set(err, ERR_NO_SUCH_CONN, 0, "connection %llu was closed (%s)",
			(unsigned long long)id, closed->reason);
	else
		rc = err_set(err, ERR_NO_SUCH_CONN, 0, "there is no connection %llu",
		    (unsigned long long)id);
	err_hint(err, "rpmactl conns lists them");
	return rc;
}

int
engine_conn_info(const struct engine *engine, uint64_t id, struct conn_info *out,
    struct err *err)
{
	const struct conn *conn = conn_by_id(&engine->conns.table, id);
	const struct conn_info *closed;

	if (conn) {
		*out = conn->info;
		return 0;
	}
	closed = conn_closed_by_id(&engine->conns.table, id);
	if (!closed)
		return no_such_conn(engine, id, err);
	*out = *closed;
	return 0;
}

void
engine_conn_open(struct engine *engine, const struct sockaddr_storage *peer,
    uint64_t timeout_ms, engine_done_fn done, void *arg)
{
	conns_dial(&engine->conns, peer, timeout_ms, done, arg);
	engine_kick(engine);
}

void
engine_conn_close(struct engine *engine, uint64_t id, engine_done_fn done, void *arg)
{
	struct conn *conn = conn_by_id(&engine->conns.table, id);
	struct conn_waiter *waiter;
	struct err err;

	if (!conn) {
		(void)no_such_conn(engine, id, &err);
		done(arg, &err, NULL);
		return;
	}
	waiter = calloc(1, sizeof(*waiter));
	if (!waiter) {
		(void)err_set(&err, ERR_INTERNAL_ERROR, ENOMEM, "out of memory");
		done(arg, &err, NULL);
		return;
	}
	waiter->done = done;
	waiter->arg = arg;
	STAILQ_INSERT_TAIL(&conn->closers, waiter, entry);
	conns_close(&engine->conns, conn, "local");
}

/* Whether the connection can send; on iWARP the accepting side must have received
 * first. */
static int
may_send(const struct engine *engine, const struct conn *conn, struct err *err)
{
	int rc;

	if (conn->info.state != CONN_ESTABLISHED)
		return err_set(err, ERR_NOT_READY, 0, "connection %llu is %s",
		    (unsigned long long)conn->info.id,
		    conn_state_name(conn->info.state));
	if (!engine->conns.is_iwarp || conn->info.is_outgoing ||
	    conn->info.messages > 0)
		return 0;
	rc = err_set(err, ERR_NOT_READY, 0,
	    "connection %llu: on iWARP the side that connected must send first",
	    (unsigned long long)conn->info.id);
	err_hint(err, "wait for its first message, or connect from this side");
	return rc;
}

void
engine_conn_send(struct engine *engine, uint64_t id, const void *data, size_t len,
    uint64_t imm, uint64_t timeout_ms, engine_done_fn done, void *arg)
{
	struct conn *conn = conn_by_id(&engine->conns.table, id);
	uint64_t now_ns = loop_now_ns();
	struct err err;
	int rc;

	if (!conn) {
		(void)no_such_conn(engine, id, &err);
		done(arg, &err, NULL);
		return;
	}
	rc = may_send(engine, conn, &err);
	if (rc == 0) {
		conn->active_ns = now_ns;
		rc = sender_send(engine->sender, conn, data, len, imm,
		    now_ns + timeout_ms * 1000000, done, arg, &err);
	}
	if (rc != 0)
		done(arg, &err, &conn->info);
	else
		engine_kick(engine);
}

const char *
conn_state_name(enum conn_state state)
{
	switch (state) {
	case CONN_CONNECTING:
		return "connecting";
	case CONN_ACCEPTING:
		return "accepting";
	case CONN_ESTABLISHED:
		return "established";
	case CONN_DRAINING:
		return "draining";
	case CONN_CLOSED:
		return "closed";
	}
	return "unknown";
}
