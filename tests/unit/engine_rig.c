/* SPDX-License-Identifier: BSD-3-Clause */
/* The rig of the engine's tests. */
#include <config.h>

#include "tests/unit/engine_rig.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "lib/core/addr.h"

#define PATIENCE_NS 20000000000u

static void
on_ready(void *arg)
{
	struct rig *rig = arg;

	rig->ready++;
}

static void
on_state(void *arg)
{
	struct rig *rig = arg;

	rig->states++;
}

static void
on_busy(void *arg)
{
	struct rig *rig = arg;

	rig->busy++;
}

static void
on_stopped(void *arg)
{
	struct rig *rig = arg;

	rig->is_stopped = true;
}

unsigned int rig_looks;

/* In place of what sysfs says, in which the double is not. */
void
engine_usable_addrs(void (*fn)(void *arg, const struct sockaddr_storage *addr,
			const char *device),
    void *arg)
{
	struct sockaddr_storage addr;
	struct err err;

	rig_looks++;
	ck_assert_int_eq(addr_parse("127.0.0.1", 0, &addr, &err), 0);
	fn(arg, &addr, "fake0");
}

void
rig_settings(struct rig *rig)
{
	struct settings *settings = &rig->settings;

	memset(rig, 0, sizeof(*rig));
	ck_assert_int_eq(addr_parse("127.0.0.1", 0, &settings->listen[0], &rig->err),
	    0);
	settings->listen_count = 1;
	settings->pool_slots = 32;
	settings->pool_slot_size = 64;
	settings->refill = REFILL_AUTO;
	settings->receive_target = 16;
	settings->receive_low_watermark = 4;
	settings->min_rnr_timer_us = 640;
	settings->send_slots = 4;
	settings->conns_max = 8;
	settings->conns_announce = true;
}

int
rig_start(struct rig *rig)
{
	struct engine_hooks hooks = { .arg = rig,
		.ready = on_ready,
		.state = on_state,
		.stopped = on_stopped,
		.busy = on_busy,
		.events = rig->events,
		.store = rig->store };
	int rc;

	if (!rig->loop)
		ck_assert_int_eq(loop_new(&rig->loop, &rig->err), 0);
	rc = engine_new(rig->loop, &rig->settings, &hooks, &rig->engine, &rig->err);
	if (rc == 0)
		rig_settle(rig);
	return rc;
}

void
rig_end(struct rig *rig)
{
	struct ledger_counts counts;

	if (rig->engine) {
		counts = rig_counts(rig);
		ck_assert_uint_eq(counts.free + counts.posted + counts.ready +
			counts.leased,
		    counts.total);
		ck_assert(ledger_check(engine_ledger(rig->engine)));
	}
	engine_free(rig->engine);
	loop_free(rig->loop);
	rig->engine = NULL;
	rig->loop = NULL;
	ck_assert_str_eq(fake_leaks(), "");
	ck_assert_str_eq(fake_misuse(), "");
	fake_reset();
}

bool
rig_no_conns(struct rig *rig, void *arg)
{
	(void)arg;
	return rig_stats(rig).conns == 0;
}

bool
rig_one_conn(struct rig *rig, void *arg)
{
	(void)arg;
	return rig_stats(rig).conns == 1;
}

bool
rig_is_filled(struct rig *rig, void *arg)
{
	(void)arg;
	return rig_counts(rig).posted == rig->settings.receive_target;
}

bool
rig_has_expired(struct rig *rig, void *arg)
{
	(void)arg;
	return rig_stats(rig).expired > 0;
}

bool
rig_has_looked(struct rig *rig, void *arg)
{
	(void)arg;
	return rig_stats(rig).cq_late > 0;
}

bool
rig_until(struct rig *rig, bool (*condition)(struct rig *rig, void *arg), void *arg)
{
	uint64_t end_ns = loop_now_ns() + PATIENCE_NS;

	while (!condition(rig, arg)) {
		if (loop_now_ns() > end_ns)
			return false;
		ck_assert_int_eq(loop_turn(rig->loop, 5), 0);
	}
	return true;
}

void
rig_settle(struct rig *rig)
{
	unsigned int i;

	for (i = 0; i < 20; i++)
		ck_assert_int_eq(loop_turn(rig->loop, 0), 0);
}

void
rig_turn_ms(struct rig *rig, unsigned int ms)
{
	uint64_t end_ns = loop_now_ns() + ms * 1000000u;

	while (loop_now_ns() < end_ns)
		ck_assert_int_eq(loop_turn(rig->loop, 5), 0);
}

static void
take_port(void *arg, const struct listener_info *info)
{
	uint16_t *port = arg;

	*port = addr_port(&info->addr);
}

uint16_t
rig_port(struct rig *rig)
{
	uint16_t port = 0;

	engine_listeners(rig->engine, take_port, &port);
	return port;
}

struct fake_peer *
rig_peer(struct rig *rig)
{
	struct fake_peer *peer = fake_peer_connect(rig_port(rig), NULL, 0);

	ck_assert_ptr_nonnull(peer);
	rig_settle(rig);
	ck_assert_int_eq(fake_peer_state(peer), FAKE_PEER_ESTABLISHED);
	return peer;
}

int
rig_send(struct fake_peer *peer, const char *text)
{
	return fake_peer_send(peer, text, strlen(text), FAKE_NO_IMM);
}

struct ledger_message
rig_expect(struct rig *rig, const char *text)
{
	struct ledger_message message;

	ck_assert_msg(engine_lease(rig->engine, NULL, 60000, &message),
	    "no message, expected \"%s\"", text);
	ck_assert_uint_eq(message.arrival.len, strlen(text));
	ck_assert_mem_eq(engine_slot_data(rig->engine, message.slot), text,
	    strlen(text));
	return message;
}

void
rig_ack(struct rig *rig, const struct ledger_message *message)
{
	char token[LEDGER_TOKEN_MAX];

	ledger_token_format(engine_ledger(rig->engine), message->slot,
	    message->generation, token);
	ck_assert_int_eq(engine_ack(rig->engine, NULL, token), LEDGER_DONE);
}

struct ledger_counts
rig_counts(struct rig *rig)
{
	struct ledger_counts counts;

	ledger_counts(engine_ledger(rig->engine), &counts);
	return counts;
}

struct engine_stats
rig_stats(struct rig *rig)
{
	struct engine_stats stats;

	engine_stats(rig->engine, &stats);
	return stats;
}

uint64_t
rig_named(const struct engine_named_count *list, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(list[i].name, name) == 0)
			return list[i].count;
	return 0;
}

struct conn_info
rig_conn(struct rig *rig, uint64_t id)
{
	struct conn_info info;

	ck_assert_int_eq(engine_conn_info(rig->engine, id, &info, &rig->err), 0);
	return info;
}

void
rig_done(void *arg, const struct err *err, const struct conn_info *info)
{
	struct rig_done *done = arg;

	done->calls++;
	done->failed = err != NULL;
	done->has_info = info != NULL;
	if (err)
		done->err = *err;
	if (info)
		done->info = *info;
}

static bool
is_done(struct rig *rig, void *arg)
{
	struct rig_done *done = arg;

	(void)rig;
	return done->calls > 0;
}

bool
rig_wait(struct rig *rig, struct rig_done *done)
{
	return rig_until(rig, is_done, done) && done->calls == 1;
}
