/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's life: its parts, its states, and the work of a turn. */
#include <config.h>

#include "daemon/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/engine_impl.h"
#include "daemon/events.h"
#include "lib/core/log.h"
#include "lib/core/text.h"

#define SECOND_NS       1000000000u
#define STOP_NS         3000000000u /* an orderly stop ends after this in any case */
#define RETRY_FIRST_NS  250000000u
#define RETRY_MAX_NS    (SECOND_NS / 2)
#define FLAP_NS         (60ull * SECOND_NS) /* a device lost so soon after its opening */
#define FLAP_RETRY_NS   (16ull * SECOND_NS) /* is tried again ever more seldom */
#define TICK_DRAIN_MS   10u
#define TICK_PENDING_MS 20u
#define TICK_IDLE_MS    1000u
#define REFILL_BATCHES  16u /* in a turn */

const char *
engine_state_name(enum engine_state state)
{
	switch (state) {
	case ENGINE_WAITING_FOR_LISTENER:
		return "waiting_for_listener";
	case ENGINE_WAITING_FOR_DEVICE:
		return "waiting_for_device";
	case ENGINE_RUNNING:
		return "running";
	case ENGINE_STOPPING:
		return "stopping";
	case ENGINE_STOPPED:
		return "stopped";
	}
	return "unknown";
}

void
engine_set_state(struct engine *engine, enum engine_state state, const char *reason)
{
	bool is_new = engine->state != state || strcmp(engine->reason, reason) != 0;

	engine->state = state;
	if (engine->reason != reason)
		(void)snprintf(engine->reason, sizeof(engine->reason), "%s", reason);
	if (!is_new)
		return;
	if (reason[0])
		log_notice("engine", "%s: %s", engine_state_name(state), reason);
	if (engine->hooks.state)
		engine->hooks.state(engine->hooks.arg);
}

enum engine_state
engine_state(const struct engine *engine)
{
	return engine->state;
}

const char *
engine_reason(const struct engine *engine)
{
	return engine->reason;
}

const char *
engine_device(const struct engine *engine)
{
	return engine->device ? device_name(engine->device) : "";
}

/* Keep the queue filled; a provider that refuses is asked again a second later. */
static void
refill(struct engine *engine)
{
	unsigned int batch;
	struct err err;
	int rc = 1;

	if (engine->state != ENGINE_RUNNING || engine->is_refill_failing)
		return;
	for (batch = 0; batch < REFILL_BATCHES && rc > 0; batch++)
		rc = srq_refill(engine->srq, &err);
	if (rc > 0)
		engine_kick(engine);
	if (rc >= 0)
		return;
	engine->is_refill_failing = true;
	log_error("srq", "cannot be refilled: %s", err.text);
}

static void
tick_start(struct engine *engine)
{
	uint64_t delay_ms = TICK_IDLE_MS, deadline_ns, due_ns, now_ns = loop_now_ns();

	if (engine->conns.draining > 0)
		delay_ms = TICK_DRAIN_MS;
	else if (engine->conns.connecting > 0 || sender_is_waiting(engine->sender) ||
	    engine->state == ENGINE_STOPPING)
		delay_ms = TICK_PENDING_MS;
	if (ledger_next_deadline(engine->ledger, &deadline_ns)) {
		uint64_t left_ms =
		    deadline_ns > now_ns ? (deadline_ns - now_ns) / 1000000 + 1 : 0;

		if (left_ms < delay_ms)
			delay_ms = left_ms;
	}
	if (engine->state == ENGINE_WAITING_FOR_DEVICE && engine->retry_ns > now_ns &&
	    (engine->retry_ns - now_ns) / 1000000 + 1 < delay_ms)
		delay_ms = (engine->retry_ns - now_ns) / 1000000 + 1;
	/* Work must not put off a tick that is due. */
	due_ns = now_ns + delay_ms * 1000000;
	if (engine->tick_due_ns != 0 && engine->tick_due_ns <= due_ns)
		return;
	engine->tick_due_ns = due_ns;
	loop_timer_start(engine->tick, delay_ms);
}

/* A device that is lost again and again is tried ever more seldom. */
static uint64_t
next_retry(const struct engine *engine, uint64_t now_ns)
{
	if (engine->is_removed || engine->retry_delay_ns == 0 ||
	    now_ns - engine->up_ns > FLAP_NS)
		return RETRY_FIRST_NS;
	return engine->retry_delay_ns * 2 < FLAP_RETRY_NS ? engine->retry_delay_ns * 2
							  : FLAP_RETRY_NS;
}

static void
lose_device(struct engine *engine)
{
	bool is_gone = strcmp(engine->lost_reason, "device_gone") == 0;
	uint64_t now_ns = loop_now_ns();
	char reason[160];

	/* A fatal error may be the first sign of a removal. */
	if (is_gone && !engine->is_removed)
		engine_read_cm(engine);
	(void)snprintf(reason, sizeof(reason), "device %s: %s", engine_device(engine),
	    engine->is_removed ? "it was removed"
		: is_gone      ? "it reported a fatal error"
			       : engine->lost_reason);
	log_error("engine", "%s; messages that have arrived are kept", reason);
	events_add(engine->events, EVENT_DEVICE_LOST, 0, NULL, reason, 0);
	engine->is_device_lost = false;
	/*
	 * The context of a device that is still there serves again. One that removes itself
	 * behind a fatal error alone waits for nobody.
	 */
	engine_down(engine, engine->lost_reason, engine->is_removed);
	if (engine->state == ENGINE_STOPPING)
		return;
	engine->retry_delay_ns = next_retry(engine, now_ns);
	engine->retry_ns = now_ns + engine->retry_delay_ns;
	engine_set_state(engine, ENGINE_WAITING_FOR_DEVICE, reason);
}

static void
tell_stopped(struct engine *engine)
{
	if (engine->is_stopped_told)
		return;
	engine->is_stopped_told = true;
	engine_set_state(engine, ENGINE_STOPPED, "");
	if (engine->hooks.stopped)
		engine->hooks.stopped(engine->hooks.arg);
}

/* What one turn leaves to be done once, whatever its events were. */
static void
do_work(void *arg)
{
	struct engine *engine = arg;
	bool empty = false;
	uint64_t now_ns;

	if (engine->is_device_lost && engine->device)
		lose_device(engine);
	if (engine->wants_drain) {
		engine->wants_drain = false;
		empty = engine_drain(engine, &engine->recv_cq, CQ_DRAIN);
		(void)engine_drain(engine, sender_cq(engine->sender), CQ_DRAIN);
	}
	now_ns = loop_now_ns();
	/* Before the refill hides that it ran low, and after it. */
	engine_watch_srq(engine);
	refill(engine);
	engine_watch_srq(engine);
	if (engine->conns.draining > 0)
		conns_settle(&engine->conns, now_ns, empty);
	if (engine->wants_ready) {
		engine->wants_ready = false;
		if (engine->hooks.ready)
			engine->hooks.ready(engine->hooks.arg);
	}
	if (engine->state == ENGINE_STOPPING && engine->conns.table.count == 0)
		tell_stopped(engine);
	tick_start(engine);
}

void
engine_kick(struct engine *engine)
{
	loop_defer(engine->loop, &engine->work);
}

void
engine_slots_freed(struct engine *engine)
{
	engine_kick(engine);
}

static void
retry_device(struct engine *engine, uint64_t now_ns)
{
	struct err err;

	if (engine->state != ENGINE_WAITING_FOR_DEVICE || now_ns < engine->retry_ns)
		return;
	if (engine_up(engine, &err) == 0)
		return;
	if (engine->retry_delay_ns < RETRY_MAX_NS)
		engine->retry_delay_ns *= 2;
	engine->retry_ns = now_ns + engine->retry_delay_ns;
	engine_set_state(engine, ENGINE_WAITING_FOR_DEVICE, err.text);
}

/* The ledger's balance: a defect is told of once, and counted while it lasts. */
static void
check_ledger(struct engine *engine)
{
	struct ledger_counts counts, records;
	char text[160];

	if (ledger_check(engine->ledger) || engine->ledger_faults++ > 0)
		return;
	ledger_counts(engine->ledger, &counts);
	ledger_recount(engine->ledger, &records);
	(void)snprintf(text, sizeof(text),
	    "counts %u free %u posted %u ready %u leased of %u, "
	    "records %u free %u posted %u ready %u leased of %u",
	    counts.free, counts.posted, counts.ready, counts.leased, counts.total,
	    records.free, records.posted, records.ready, records.leased, records.total);
	log_error("ledger",
	    "its counts and its records disagree (%s): this is a defect of rpmad, please "
	    "report it",
	    text);
	events_add(engine->events, EVENT_LEDGER_FAULT, 0, NULL, text, 0);
}

/* Whether there is, or was since the last look, somebody who could have waited. */
static bool
has_had_peers(const struct engine *engine)
{
	return engine->stalls.was_connected || engine->conns.established > 0 ||
	    engine->conns.established_total != engine->stalls.established;
}

uint64_t
engine_stalled_ns(const struct engine *engine, uint64_t empty_ns)
{
	return engine->stalls.ns +
	    (has_had_peers(engine) ? empty_ns - engine->stalls.empty_ns : 0);
}

static void
note_stalls(struct engine *engine, uint64_t empty_ns)
{
	struct stalls *stalls = &engine->stalls;

	stalls->ns = engine_stalled_ns(engine, empty_ns);
	stalls->empty_ns = empty_ns;
	stalls->established = engine->conns.established_total;
	stalls->was_connected = engine->conns.established > 0;
	stalls->samples[stalls->sample++ % EMPTY_WINDOW_S] = stalls->ns;
}

/* Once a second: the safety poll, the ledger's balance, listeners that are down. */
static void
each_second(struct engine *engine, uint64_t now_ns)
{
	struct srq_stats stats;

	if (now_ns < engine->second_ns)
		return;
	engine->second_ns = now_ns + SECOND_NS;
	if (engine->device) {
		(void)engine_drain(engine, &engine->recv_cq, CQ_SAFETY);
		(void)engine_drain(engine, sender_cq(engine->sender), CQ_SAFETY);
	}
	engine_watch_removal(engine);
	check_ledger(engine);
	if (engine->state == ENGINE_RUNNING)
		(void)engine_listeners_up(engine, NULL);
	engine->is_refill_failing = false;
	srq_get_stats(engine->srq, now_ns, &stats);
	note_stalls(engine, stats.empty_ns);
}

static void
on_tick(void *arg)
{
	struct engine *engine = arg;
	uint64_t now_ns = loop_now_ns();
	uint32_t expired = ledger_expire(engine->ledger, now_ns);

	engine->tick_due_ns = 0;
	events_tick(engine->events);
	engine->expired += expired;
	if (expired > 0)
		engine->wants_ready = true;
	if (engine->device)
		conns_tick(&engine->conns, now_ns);
	sender_expire(engine->sender, now_ns);
	each_second(engine, now_ns);
	retry_device(engine, now_ns);
	if (engine->conns.draining > 0)
		engine->wants_drain = true;
	if (engine->state == ENGINE_STOPPING && now_ns >= engine->stop_deadline_ns) {
		log_warning("engine", "%u connection%s not drained in time",
		    engine->conns.table.count, text_plural(engine->conns.table.count));
		engine_down(engine, "shutdown", false);
	}
	engine_kick(engine);
}

static void
on_wants_drain(void *arg)
{
	struct engine *engine = arg;

	engine->wants_drain = true;
	engine_kick(engine);
}

static void
on_send_failed(void *arg, struct conn *conn, int status)
{
	struct engine *engine = arg;

	conns_send_failed(&engine->conns, conn, status);
}

static int
make_parts(struct engine *engine, const struct engine_hooks *hooks, struct err *err)
{
	/* Pool and ledger outlive every device. */
	int rc = pool_open(engine->settings, hooks->store, &engine->pool, err);

	if (rc != 0)
		return rc;
	engine->ledger = engine->pool.ledger;
	rc = region_populate(&engine->pool.memory, "the pool", hooks->busy, hooks->arg,
	    err);
	if (rc != 0)
		return rc;
	engine->leased_ns = calloc(engine->settings->pool_slots, sizeof(uint64_t));
	if (!engine->leased_ns)
		return err_set(err, ERR_INTERNAL_ERROR, ENOMEM,
		    "engine: out of memory");
	engine->size_bytes.scale = &histogram_bytes;
	engine->queue_ns.scale = engine->hold_ns.scale = &histogram_ns;
	rc = srq_new(engine->ledger, &engine->pool.memory, engine->settings,
	    &engine->srq);
	if (rc == 0)
		rc = conns_init(&engine->conns, engine->settings,
		    ledger_last_conn(engine->ledger), on_wants_drain, engine);
	engine->is_init = rc == 0;
	engine->conns.events = engine->events;
	if (rc == 0)
		rc = loop_timer_new(engine->loop, on_tick, engine, &engine->tick);
	if (rc != 0)
		return err_set(err, ERR_INTERNAL_ERROR, -rc, "engine: out of memory");
	return sender_new(engine->settings, on_send_failed, engine,
	    &engine->conns.table, &engine->sender, err);
}

/* Want the configured listeners and open the device, if it is there. */
static int
begin(struct engine *engine, struct err *err)
{
	const struct settings *settings = engine->settings;
	struct listener *listener;
	size_t i;
	int rc;

	for (i = 0; i < settings->listen_count; i++) {
		rc = listeners_add(&engine->listeners, &settings->listen[i], &listener,
		    err);
		if (rc != 0)
			return rc;
	}
	if (settings->listen_count == 0 && !settings->device[0]) {
		engine_set_state(engine, ENGINE_WAITING_FOR_LISTENER,
		    ENGINE_NO_LISTENER);
		return 0;
	}
	rc = engine_up(engine, err);
	if (rc == 0)
		return 0;
	if (err->code != ERR_ADDR_NOT_RDMA && err->code != ERR_DEVICE_GONE)
		return rc;
	if (err->hint[0])
		log_notice("engine", "%s", err->hint);
	engine->retry_delay_ns = RETRY_FIRST_NS;
	engine->retry_ns = loop_now_ns() + engine->retry_delay_ns;
	engine_set_state(engine, ENGINE_WAITING_FOR_DEVICE, err->text);
	return 0;
}

int
engine_new(struct loop *loop, const struct settings *settings,
    const struct engine_hooks *hooks, struct engine **out, struct err *err)
{
	struct engine *engine = calloc(1, sizeof(*engine));
	int rc;

	if (!engine)
		return err_set(err, ERR_INTERNAL_ERROR, ENOMEM,
		    "engine: out of memory");
	engine->loop = loop;
	engine->settings = settings;
	engine->pool.memory = (struct region)REGION_NONE;
	engine->pool.ledger_memory = (struct region)REGION_NONE;
	engine->recv_cq.on_wcs = engine_on_recv_wcs;
	engine->recv_cq.arg = engine;
	engine->work.fn = do_work;
	engine->work.arg = engine;
	engine->lost_reason = "device_gone";
	engine->events = hooks->events;
	rc = make_parts(engine, hooks, err);
	if (rc == 0)
		rc = begin(engine, err);
	if (rc != 0) {
		engine_free(engine);
		return rc;
	}
	/* From here on: the owner learns the first state from the return. */
	engine->is_started = true;
	engine->hooks = *hooks;
	tick_start(engine);
	*out = engine;
	return 0;
}

void
engine_free(struct engine *engine)
{
	if (!engine)
		return;
	engine_down(engine, "shutdown", false);
	device_close(engine->left, false);
	if (engine->is_started)
		pool_tell_end(&engine->pool);
	loop_defer_cancel(engine->loop, &engine->work);
	loop_timer_free(engine->tick);
	if (engine->is_init)
		conns_fini(&engine->conns);
	sender_free(engine->sender);
	srq_free(engine->srq);
	free(engine->leased_ns);
	pool_close(&engine->pool);
	free(engine);
}

void
engine_stop(struct engine *engine)
{
	size_t i;

	if (engine->state == ENGINE_STOPPING || engine->state == ENGINE_STOPPED)
		return;
	engine->conns.is_stopping = true;
	engine->stop_deadline_ns = loop_now_ns() + STOP_NS;
	engine_set_state(engine, ENGINE_STOPPING, "");
	for (i = 0; i < engine->listeners.count; i++)
		listener_down(&engine->listeners.list[i]);
	if (engine->device)
		conns_close_all(&engine->conns, "shutdown");
	engine_kick(engine);
}
