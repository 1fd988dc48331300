/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's device side: open all in order, feed events in, let go in reverse order.
 */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "daemon/engine_impl.h"
#include "daemon/events.h"
#include "daemon/rpma_err.h"
#include "lib/core/addr.h"
#include "lib/core/log.h"
#include "lib/core/text.h"
#include "lib/rpma/librpma.h"

#define CM_EVENTS_A_TURN    64
#define ASYNC_EVENTS_A_TURN 16

void
engine_lose(struct engine *engine, const char *reason)
{
	if (!engine->is_device_lost || strcmp(engine->lost_reason, "device_gone") != 0)
		engine->lost_reason = reason;
	engine->is_device_lost = true;
	engine_kick(engine);
}

bool
engine_drain(struct engine *engine, struct cq *cq, enum cq_cause cause)
{
	enum cq_result result;

	engine->drain_clock = engine_clock();
	result = cq_drain(cq, cause);
	if (result == CQ_DEAD) {
		engine_lose(engine, "error:CQ_FATAL");
	} else if (result == CQ_MORE) {
		engine->wants_drain = true;
		engine_kick(engine);
	}
	return result == CQ_EMPTY;
}

static void
on_recv_ready(void *arg)
{
	struct engine *engine = arg;

	(void)engine_drain(engine, &engine->recv_cq, CQ_EVENT);
	engine_kick(engine);
}

static void
on_send_ready(void *arg)
{
	struct engine *engine = arg;

	(void)engine_drain(engine, sender_cq(engine->sender), CQ_EVENT);
	engine_kick(engine);
}

static void
on_cm_event(struct engine *engine, struct rpma_cm_event *event)
{
	struct listener *listener;

	switch (event->kind) {
	case RPMA_CM_REQUEST:
		listener = listener_by_ep(&engine->listeners, event->ep);
		if (listener)
			listener->info.requests++;
		if (conns_request(&engine->conns, event->req,
			listener ? listener->info.id : 0) &&
		    listener)
			listener->info.accepted++;
		return;
	case RPMA_CM_DEVICE_REMOVED:
		engine->is_removed = true;
		engine_lose(engine, "device_gone");
		return;
	case RPMA_CM_OTHER:
		engine->unknown_events++;
		return;
	case RPMA_CM_CLOSED:
	case RPMA_CM_LOST:
		/* What came before the end says why it came. */
		(void)engine_drain(engine, &engine->recv_cq, CQ_DRAIN);
		engine_watch_srq(engine);
		if (event->conn)
			conns_event(&engine->conns, event);
		return;
	case RPMA_CM_ESTABLISHED:
	case RPMA_CM_REJECTED:
	case RPMA_CM_UNREACHABLE:
	case RPMA_CM_UNRESOLVED:
	case RPMA_CM_PATH_CHANGED:
		if (event->conn)
			conns_event(&engine->conns, event);
		return;
	}
}

/* Completions know their connection by the number of its queue pair alone. */
static void
read_left(struct engine *engine)
{
	while (conns_have_left(&engine->conns) && !engine->is_device_lost)
		if (engine_drain(engine, &engine->recv_cq, CQ_DRAIN))
			conns_none_left(&engine->conns);
}

void
engine_read_cm(struct engine *engine)
{
	struct rpma_cm_event event;
	unsigned int i;

	for (i = 0; i < CM_EVENTS_A_TURN; i++) {
		int rc;

		/* Dials and requests make queue pairs, and numbers are used again. */
		read_left(engine);
		rc = rpma_cm_next_event(engine->cm, &event);
		if (rc == RPMA_E_NO_EVENT)
			return;
		if (rc == 0) {
			on_cm_event(engine, &event);
		} else if (rc != RPMA_E_NOMEM) {
			engine_lose(engine, "error:CM_FATAL");
			return;
		}
	}
}

static void
on_cm_ready(void *arg)
{
	engine_read_cm(arg);
}

static void
on_async_event(struct engine *engine, const struct device_event *event)
{
	const char *name = device_name(engine->device);

	switch (event->kind) {
	case DEVICE_EVENT_LAST_WQE:
		conns_last_wqe(&engine->conns, event->qp_num);
		return;
	case DEVICE_EVENT_QP_FATAL:
		conns_qp_fatal(&engine->conns, event->qp_num);
		return;
	case DEVICE_EVENT_QUEUE_FATAL:
		log_error("device", "%s: a queue is dead; all queues are made anew",
		    name);
		engine_lose(engine, "error:QUEUE_FATAL");
		return;
	case DEVICE_EVENT_FATAL:
		engine_lose(engine, "device_gone");
		return;
	case DEVICE_EVENT_PORT_UP:
		log_notice("device", "%s: port %u is active", name, event->port);
		return;
	case DEVICE_EVENT_PORT_DOWN:
		log_warning("device", "%s: port %u is down", name, event->port);
		return;
	case DEVICE_EVENT_NONE:
	case DEVICE_EVENT_OTHER:
		return;
	}
}

static void
on_async_ready(void *arg)
{
	struct engine *engine = arg;
	struct device_event event;
	unsigned int i;

	for (i = 0; i < ASYNC_EVENTS_A_TURN && !engine->is_device_lost; i++) {
		device_next_event(engine->device, &event);
		if (event.kind == DEVICE_EVENT_NONE)
			return;
		on_async_event(engine, &event);
	}
}

static int
watch_fds(struct engine *engine, struct err *err)
{
	int cm_fd = -1;
	int rc;

	/* NULL arguments alone could make this fail. */
	(void)rpma_cm_get_fd(engine->cm, &cm_fd);
	rc = loop_fd_new(engine->loop, engine->recv_cq.fd, on_recv_ready, engine,
	    &engine->recv_fd);
	if (rc == 0)
		rc = loop_fd_new(engine->loop, sender_cq(engine->sender)->fd,
		    on_send_ready, engine, &engine->send_fd);
	if (rc == 0)
		rc = loop_fd_new(engine->loop, cm_fd, on_cm_ready, engine,
		    &engine->cm_fd);
	if (rc == 0)
		rc = loop_fd_new(engine->loop, device_async_fd(engine->device),
		    on_async_ready, engine, &engine->async_fd);
	if (rc != 0)
		return err_set(err, ERR_INTERNAL_ERROR, -rc, "cannot watch the device");
	return 0;
}

/* The device by its name, or the one behind the first listen address that leads to one.
 */
static int
open_device(struct engine *engine, struct err *err)
{
	struct err later;
	size_t i;
	int rc;

	if (engine->settings->device[0])
		return device_open_by_name(engine->settings->device, &engine->device,
		    err);
	rc = device_open_by_addr(&engine->listeners.list[0].wanted, &engine->device,
	    err);
	for (i = 1; rc != 0 && i < engine->listeners.count; i++)
		if (device_open_by_addr(&engine->listeners.list[i].wanted,
			&engine->device, &later) == 0)
			rc = 0;
	return rc;
}

static int
open_all(struct engine *engine, struct err *err)
{
	int rc = open_device(engine, err);

	if (rc == 0) {
		device_close(engine->left, false);
		engine->left = NULL;
		devnode_find(DEVNODE_CLASS, device_name(engine->device), &engine->node);
		rc = srq_open(engine->srq, engine->device, err);
	}
	if (rc == 0)
		rc = cq_open(&engine->recv_cq, srq_rcq(engine->srq), err);
	if (rc == 0)
		rc = sender_open(engine->sender, engine->device, err);
	if (rc == 0) {
		rc = rpma_cm_new(&engine->cm);
		if (rc != 0)
			rc = rpma_err_set(err, rc,
			    "cannot make a channel for connections");
	}
	if (rc == 0)
		rc = conns_open(&engine->conns, engine->device, engine->cm, engine->srq,
		    engine->sender, err);
	if (rc == 0)
		rc = watch_fds(engine, err);
	if (rc == 0)
		events_add(engine->events, EVENT_DEVICE_OPEN, 0, NULL,
		    device_name(engine->device), 0);
	/* At the start an address that is taken is an error; later it is tried again. */
	if (rc == 0 && engine_listeners_up(engine, err) != 0 && !engine->is_started)
		rc = -err_info(err->code)->errnum;
	return rc;
}

/*
 * There is no device, or none that this process may open: what is known of that, behind what
 * failed. Any device could have been the one that was looked for, unless it has a name.
 */
static void
explain(const struct engine *engine, struct err *err)
{
	char path[DEVNODE_PATH_MAX];
	struct err cause = *err;
	int errnum;

	if (err->code != ERR_ADDR_NOT_RDMA && err->code != ERR_DEVICE_GONE)
		return;
	errnum = devnode_forbidden(DEVNODE_ROOT, DEVNODE_CLASS,
	    engine->settings->device, path);
	if (errnum == 0)
		return;
	(void)err_set(err, cause.code, cause.errnum,
	    "%s; device_forbidden: %s cannot be opened (%s): if its module was loaded "
	    "after the service was started, restart the service; else see its rights",
	    cause.text, path, strerror(errnum));
	err_path(err, "%s", cause.path);
}

int
engine_up(struct engine *engine, struct err *err)
{
	int rc;

	engine_watch_removal(engine);
	rc = open_all(engine, err);
	if (rc != 0) {
		/* What is tried again and again is not told each time. */
		if (!engine->is_started)
			device_hint_addrs(err);
		explain(engine, err);
		engine_down(engine, "shutdown", false);
		return rc;
	}
	engine->is_device_lost = false;
	engine->is_removed = false;
	engine->up_ns = loop_now_ns();
	log_notice("engine", "device %s is open", device_name(engine->device));
	engine_set_state(engine, ENGINE_RUNNING, "");
	engine_kick(engine);
	return 0;
}

/* Log why a listener is down, once for each reason. */
static void
tell_listener(struct engine *engine, struct listener *listener, struct err *err)
{
	if (strcmp(listener->error, err->text) == 0)
		return;
	device_hint_addrs(err);
	(void)snprintf(listener->error, sizeof(listener->error), "%s", err->text);
	events_add(engine->events, EVENT_LISTENER_DOWN, 0, &listener->wanted, err->text,
	    0);
	log_warning("listener", "%llu: %s%s%s; it is tried again",
	    (unsigned long long)listener->info.id, err->text, err->hint[0] ? "; " : "",
	    err->hint);
}

int
engine_listeners_up(struct engine *engine, struct err *err)
{
	char text[ADDR_TEXT_MAX];
	struct err one;
	int result = 0;
	size_t i;

	for (i = 0; i < engine->listeners.count; i++) {
		struct listener *listener = &engine->listeners.list[i];
		int rc;

		if (listener->ep)
			continue;
		rc = listener_up(listener, engine->cm, engine->device, &one);
		if (rc == 0) {
			listener->error[0] = '\0';
			log_notice("listener", "%llu: listening at %s",
			    (unsigned long long)listener->info.id,
			    addr_format(&listener->info.addr, text, sizeof(text)));
			events_add(engine->events, EVENT_LISTENER_UP, 0,
			    &listener->info.addr, NULL, 0);
			continue;
		}
		if (one.code != ERR_ADDR_NOT_RDMA) {
			result = rc;
			if (err)
				*err = one;
		}
		/* The start says it by itself, by failing; so does a call. */
		if (!listener->is_asked_for &&
		    (engine->is_started || one.code == ERR_ADDR_NOT_RDMA))
			tell_listener(engine, listener, &one);
	}
	return result;
}

/* Read what the queues hold: of each slot that was posted, or sent, one completion at the most. */
static void
read_all(struct engine *engine)
{
	const uint64_t end = engine->conns.polled + engine->settings->pool_slots;
	uint32_t i;

	engine->drain_clock = engine_clock();
	while (cq_drain(&engine->recv_cq, CQ_DRAIN) == CQ_MORE)
		if (engine->conns.polled >= end)
			break;
	if (!engine->sender)
		return;
	for (i = 0; i < engine->settings->send_slots; i++)
		if (cq_drain(sender_cq(engine->sender), CQ_DRAIN) != CQ_MORE)
			break;
}

/* What a dead queue held nobody knows: each receive that is posted may have been filled. */
static void
note_unread(struct engine *engine, const char *reason)
{
	struct ledger_counts counts;

	if (strcmp(reason, "error:CQ_FATAL") != 0 &&
	    strcmp(reason, "error:QUEUE_FATAL") != 0)
		return;
	ledger_counts(engine->ledger, &counts);
	if (counts.posted == 0)
		return;
	engine->maybe_lost += counts.posted;
	log_warning("engine",
	    "a queue died with %u receive%s posted: up to %u message%s whose sender saw "
	    "success may be lost",
	    counts.posted, text_plural(counts.posted), counts.posted,
	    text_plural(counts.posted));
}

void
engine_down(struct engine *engine, const char *reason, bool release)
{
	size_t l;

	if (engine->conns.device)
		conns_close_all(&engine->conns, reason);
	read_all(engine);
	note_unread(engine, reason);
	if (engine->is_init)
		conns_shut(&engine->conns, reason);
	for (l = 0; l < engine->listeners.count; l++)
		listener_down(&engine->listeners.list[l]);
	loop_fd_free(engine->recv_fd);
	loop_fd_free(engine->send_fd);
	loop_fd_free(engine->cm_fd);
	loop_fd_free(engine->async_fd);
	engine->recv_fd = engine->send_fd = engine->cm_fd = engine->async_fd = NULL;
	engine->recv_cq.rpma = NULL;
	(void)rpma_cm_delete(&engine->cm);
	if (engine->sender)
		sender_close(engine->sender);
	if (engine->srq)
		srq_close(engine->srq);
	if (engine->device && !release) {
		device_leave(engine->device);
		engine->left = engine->device;
	} else {
		device_close(engine->device, release);
	}
	engine->device = NULL;
}

void
engine_watch_removal(struct engine *engine)
{
	if ((!engine->device && !engine->left) ||
	    !devnode_is_gone(DEVNODE_CLASS, &engine->node))
		return;
	if (engine->device) {
		engine->is_removed = true;
		engine_lose(engine, "device_gone");
		return;
	}
	device_close(engine->left, true);
	engine->left = NULL;
}
