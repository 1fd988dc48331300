/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine in memory over the real ledger. */
#include <config.h>

#include "tests/unit/stub_engine.h"

#include <check.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/param.h"

bool stub_engine_stops_at_once;

static struct engine *last;

struct engine *
stub_engine_last(void)
{
	return last;
}

static void
on_ready(void *arg)
{
	struct engine *engine = arg;

	if (engine->hooks.ready)
		engine->hooks.ready(engine->hooks.arg);
}

static void
on_lease_timer(void *arg)
{
	struct engine *engine = arg;
	uint64_t deadline_ns;

	if (ledger_expire(engine->ledger, loop_now_ns()) > 0)
		loop_defer(engine->loop, &engine->ready);
	if (ledger_next_deadline(engine->ledger, &deadline_ns))
		loop_timer_start(engine->lease_timer, 1);
}

int
engine_new(struct loop *loop, const struct settings *settings,
    const struct engine_hooks *hooks, struct engine **out, struct err *err)
{
	struct engine *engine = calloc(1, sizeof(*engine));

	ck_assert_ptr_nonnull(engine);
	engine->loop = loop;
	engine->settings = settings;
	engine->hooks = *hooks;
	engine->state = ENGINE_RUNNING;
	engine->reason = "";
	engine->device = "fake0";
	engine->stops_at_once = stub_engine_stops_at_once;
	if (hooks->busy)
		hooks->busy(hooks->arg);
	engine->memory = calloc(1, ledger_memory_size(settings->pool_slots));
	ck_assert_ptr_nonnull(engine->memory);
	ck_assert_int_eq(region_open("stub-pool",
			     (size_t)settings->pool_slots * settings->pool_slot_size,
			     &engine->pool, err),
	    0);
	engine->data = engine->pool.base;
	ck_assert_int_eq(ledger_new(engine->memory, settings->pool_slots,
			     settings->pool_slot_size, STUB_INSTANCE, &engine->ledger),
	    0);
	engine->ready = (struct loop_deferred){ .fn = on_ready, .arg = engine };
	ck_assert_int_eq(loop_timer_new(loop, on_lease_timer, engine,
			     &engine->lease_timer),
	    0);
	last = engine;
	*out = engine;
	return 0;
}

void
engine_free(struct engine *engine)
{
	if (!engine)
		return;
	engine->hooks = (struct engine_hooks){ 0 };
	while (engine->op_count > 0)
		stub_engine_finish(engine, ERR_SHUTTING_DOWN);
	loop_defer_cancel(engine->loop, &engine->ready);
	loop_timer_free(engine->lease_timer);
	ck_assert(ledger_check(engine->ledger));
	ledger_free(engine->ledger);
	free(engine->memory);
	region_close(&engine->pool);
	free(engine);
	last = NULL;
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
	return engine->device;
}

void
engine_stop(struct engine *engine)
{
	engine->stops++;
	engine->state = ENGINE_STOPPING;
	if (engine->hooks.state)
		engine->hooks.state(engine->hooks.arg);
	if (engine->stops_at_once)
		stub_engine_stopped(engine);
}

void
stub_engine_stopped(struct engine *engine)
{
	engine->state = ENGINE_STOPPED;
	engine->hooks.stopped(engine->hooks.arg);
}

/* ---- receiving ---- */

struct ledger *
engine_ledger(struct engine *engine)
{
	return engine->ledger;
}

struct ledger_counts
stub_engine_counts(struct engine *engine)
{
	struct ledger_counts counts;

	ck_assert(ledger_check(engine->ledger));
	ledger_counts(engine->ledger, &counts);
	return counts;
}

int
engine_open_memory(const struct engine *engine, int *fd, struct err *err)
{
	return region_open_readonly(&engine->pool, fd, err);
}

const void *
engine_slot_data(const struct engine *engine, uint32_t slot)
{
	return engine->data + (size_t)slot * engine->settings->pool_slot_size;
}

int
engine_post(struct engine *engine, uint32_t count, uint32_t *accepted, struct err *err)
{
	uint32_t slot, done;

	if (engine->post_fails != ERR_NONE) {
		enum err_code code = engine->post_fails;

		engine->post_fails = ERR_NONE;
		return err_set(err, code, 0, "made to fail");
	}
	for (done = 0; done < count; done++)
		if (!ledger_post_any(engine->ledger, &slot))
			break;
	if (done == 0)
		return err_set(err, ERR_SRQ_FULL, 0, "no slot is free");
	*accepted = done;
	return 0;
}

int
engine_post_slot(struct engine *engine, uint32_t slot, uint32_t len,
    const char *context, size_t context_len, struct err *err)
{
	(void)len;
	if (ledger_post_slot(engine->ledger, slot, context, context_len) < 0)
		return err_set(err, ERR_SLOT_BUSY, 0, "slot %u is %s", slot,
		    slot_state_name(ledger_state(engine->ledger, slot)));
	return 0;
}

static void
arrive(struct engine *engine, const void *data, size_t len, struct ledger_arrival *how)
{
	struct sockaddr_in *peer = (struct sockaddr_in *)&how->peer;
	uint32_t slot;

	ck_assert_uint_le(len, engine->settings->pool_slot_size);
	for (slot = 0; slot < engine->settings->pool_slots; slot++)
		if (ledger_state(engine->ledger, slot) == SLOT_POSTED)
			break;
	ck_assert_uint_lt(slot, engine->settings->pool_slots);
	memcpy(engine->data + (size_t)slot * engine->settings->pool_slot_size, data,
	    len);
	peer->sin_family = AF_INET;
	peer->sin_addr.s_addr = htonl(0x0a000001);
	peer->sin_port = htons(4711);
	how->conn = 7;
	how->qp_num = 42;
	how->len = (uint32_t)len;
	how->received_ns = 1767323045123456789u;
	ck_assert(ledger_arrive(engine->ledger, slot, how));
	engine->stats.messages++;
	loop_defer(engine->loop, &engine->ready);
}

void
stub_engine_arrive(struct engine *engine, const void *data, size_t len)
{
	struct ledger_arrival how = { 0 };

	arrive(engine, data, len, &how);
}

void
stub_engine_arrive_imm(struct engine *engine, const void *data, size_t len,
    uint32_t imm)
{
	struct ledger_arrival how = {
		.imm = imm, .has_imm = true, .is_rdma_write = true
	};

	arrive(engine, data, len, &how);
}

bool
engine_lease(struct engine *engine, struct ledger_owner *owner, uint64_t lease_ms,
    struct ledger_message *out)
{
	bool by_time = lease_ms != PARAM_UNSET;

	if (by_time)
		loop_timer_start(engine->lease_timer, lease_ms);
	return ledger_lease(engine->ledger, by_time ? NULL : owner,
	    by_time ? loop_now_ns() + lease_ms * 1000000 : 0, out);
}

struct engine_clock
engine_clock(void)
{
	return (struct engine_clock){ .now_ns = loop_now_ns(),
		.wall_ns = loop_wall_ns() };
}

bool
engine_is_low(const struct engine *engine)
{
	return engine->is_low;
}

bool
engine_peek(struct engine *engine, struct ledger_message *out)
{
	return ledger_peek(engine->ledger, out);
}

enum ledger_result
engine_ack(struct engine *engine, const struct ledger_owner *owner, const char *token)
{
	uint32_t slot, generation;

	if (!ledger_token_parse(engine->ledger, token, &slot, &generation) ||
	    ledger_is_read(engine->ledger, owner, slot, generation))
		return LEDGER_UNKNOWN;
	return ledger_ack(engine->ledger, slot, generation, NULL);
}

uint32_t
engine_ack_held(struct engine *engine, struct ledger_owner *owner)
{
	uint32_t slot, generation, count = 0;

	while (ledger_owner_first(engine->ledger, owner, &slot, &generation) &&
	    ledger_ack(engine->ledger, slot, generation, NULL) == LEDGER_DONE)
		count++;
	return count;
}

enum ledger_result
engine_nack(struct engine *engine, const struct ledger_owner *owner, const char *token)
{
	uint32_t slot, generation;
	enum ledger_result result;

	if (!ledger_token_parse(engine->ledger, token, &slot, &generation) ||
	    ledger_is_read(engine->ledger, owner, slot, generation))
		return LEDGER_UNKNOWN;
	result = ledger_nack(engine->ledger, slot, generation);
	if (result == LEDGER_DONE)
		loop_defer(engine->loop, &engine->ready);
	return result;
}

void
engine_undeliver(struct engine *engine, uint32_t slot, uint32_t generation,
    uint32_t deliveries)
{
	if (ledger_undeliver(engine->ledger, slot, generation, deliveries))
		loop_defer(engine->loop, &engine->ready);
}

void
engine_auto_ack(struct engine *engine, uint32_t slot, uint32_t generation)
{
	if (!ledger_is_read(engine->ledger, NULL, slot, generation) &&
	    ledger_ack(engine->ledger, slot, generation, NULL) == LEDGER_DONE)
		engine->stats.auto_acked++;
}

void
engine_owner_gone(struct engine *engine, struct ledger_owner *owner)
{
	if (ledger_owner_gone(engine->ledger, owner) > 0)
		loop_defer(engine->loop, &engine->ready);
}

/* ---- connections ---- */

static void
fill_conn(uint64_t id, struct conn_info *out)
{
	struct sockaddr_in *peer = (struct sockaddr_in *)&out->peer;
	struct sockaddr_in *local = (struct sockaddr_in *)&out->local;

	memset(out, 0, sizeof(*out));
	out->id = id;
	out->state = CONN_ESTABLISHED;
	peer->sin_family = AF_INET;
	peer->sin_addr.s_addr = htonl(0x0a000001);
	peer->sin_port = htons(4711);
	*local = *peer;
	local->sin_port = htons(7001);
	out->qp_num = 42;
	out->listener = 1;
	out->since_ns = 1767323045123456789u;
	out->last_recv_ns = loop_now_ns();
	out->peer_slot_size = 4096;
}

void
engine_conns(const struct engine *engine, bool closed,
    void (*fn)(void *arg, const struct conn_info *info), void *arg)
{
	struct conn_info info;
	uint32_t i;

	if (closed && engine->has_closed) {
		fill_conn(1, &info);
		info.state = CONN_CLOSED;
		info.is_outgoing = true;
		info.listener = 0;
		info.qp_num = 0;
		info.last_recv_ns = 0;
		info.peer_slot_size = 0;
		memset(&info.local, 0, sizeof(info.local));
		info.closed_ns = 1767323046000000000u;
		(void)snprintf(info.reason, sizeof(info.reason), "peer");
		fn(arg, &info);
	}
	for (i = 0; i < engine->conns; i++) {
		fill_conn(i + 7, &info);
		fn(arg, &info);
	}
}

int
engine_conn_info(const struct engine *engine, uint64_t id, struct conn_info *out,
    struct err *err)
{
	if (id < 7 || id >= 7 + engine->conns)
		return err_set(err, ERR_NO_SUCH_CONN, 0, "no connection %llu",
		    (unsigned long long)id);
	fill_conn(id, out);
	return 0;
}

static struct stub_op *
start(struct engine *engine, uint64_t conn, engine_done_fn done, void *arg)
{
	struct stub_op *op = &engine->ops[engine->op_count];

	/* No assertion of the framework: it allocates, which may be what fails. */
	if (engine->op_count == STUB_OPS_MAX)
		abort();
	memset(op, 0, sizeof(*op));
	op->done = done;
	op->arg = arg;
	op->conn = conn;
	engine->op_count++;
	return op;
}

void
stub_engine_finish(struct engine *engine, enum err_code code)
{
	struct stub_op op = engine->ops[0];
	struct conn_info info;
	struct err err;

	if (engine->op_count == 0)
		abort();
	engine->op_count--;
	memmove(engine->ops, engine->ops + 1, engine->op_count * sizeof(op));
	fill_conn(op.conn, &info);
	if (code == ERR_NONE) {
		op.done(op.arg, NULL, &info);
		return;
	}
	(void)err_set(&err, code, 0, "made to fail");
	op.done(op.arg, &err, &info);
}

void
engine_conn_open(struct engine *engine, const struct sockaddr_storage *peer,
    uint64_t timeout_ms, engine_done_fn done, void *arg)
{
	(void)peer;
	start(engine, 9, done, arg)->timeout_ms = timeout_ms;
	if (engine->finishes_at_once)
		stub_engine_finish(engine, ERR_NONE);
}

void
engine_conn_close(struct engine *engine, uint64_t id, engine_done_fn done, void *arg)
{
	(void)start(engine, id, done, arg);
	if (engine->finishes_at_once)
		stub_engine_finish(engine, ERR_NONE);
}

void
engine_conn_send(struct engine *engine, uint64_t id, const void *data, size_t len,
    uint64_t imm, uint64_t timeout_ms, engine_done_fn done, void *arg)
{
	struct stub_op *op = start(engine, id, done, arg);

	op->len = len;
	op->imm = imm;
	op->timeout_ms = timeout_ms;
	memcpy(op->data, data, len < sizeof(op->data) ? len : sizeof(op->data));
	if (engine->finishes_at_once)
		stub_engine_finish(engine, ERR_NONE);
}
