/* SPDX-License-Identifier: BSD-3-Clause */
/* The stub's names, listeners and numbers. */
#include <config.h>

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/stub_engine.h"

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
	return "?";
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
	return "?";
}

/* ---- listeners ---- */

static void
fill_listener(uint64_t id, struct listener_info *out)
{
	struct sockaddr_in *addr = (struct sockaddr_in *)&out->addr;

	memset(out, 0, sizeof(*out));
	addr->sin_family = AF_INET;
	addr->sin_addr.s_addr = htonl(0xc0a84d01);
	addr->sin_port = htons((uint16_t)(7000 + id));
	out->id = id;
	out->requests = 5;
	out->accepted = 4;
	out->is_up = true;
}

int
engine_listener_add(struct engine *engine, const struct sockaddr_storage *addr,
    struct listener_info *out, struct err *err)
{
	if (addr->ss_family != AF_INET) {
		int rc = err_set(err, ERR_ADDR_NOT_RDMA, 0, "not an RDMA address");

		err_hint(err, "192.168.77.1 is one");
		return rc;
	}
	fill_listener(++engine->listeners, out);
	return 0;
}

int
engine_listener_remove(struct engine *engine, uint64_t id, struct err *err)
{
	if (id > engine->listeners)
		return err_set(err, ERR_NO_SUCH_LISTENER, 0, "no listener %llu",
		    (unsigned long long)id);
	engine->listeners--;
	return 0;
}

void
engine_listeners(const struct engine *engine,
    void (*fn)(void *arg, const struct listener_info *info), void *arg)
{
	struct listener_info info;
	uint32_t i;

	for (i = 1; i <= engine->listeners; i++) {
		fill_listener(i, &info);
		fn(arg, &info);
	}
}

/* ---- what is shown ---- */

static void
count_one(struct engine_named_count *list, size_t *n, const char *name, uint64_t count)
{
	(void)snprintf(list[0].name, sizeof(list[0].name), "%s", name);
	list[0].count = count;
	*n = 1;
}

void
stub_engine_count(struct engine *engine)
{
	struct engine_stats *stats = &engine->stats;

	count_one(stats->recv_errors, &stats->recv_error_count, "LOC_LEN_ERR", 3);
	count_one(stats->post_errors, &stats->post_error_count, "ENOMEM", 5);
	count_one(stats->drops, &stats->drop_count, "too_long", 7);
	count_one(stats->closes, &stats->close_count, "peer", 2);
	count_one(stats->rejected, &stats->rejected_count, "limit", 4);
	stats->cm_ids = 9;
	stats->huge_page_bytes = 4194304;
}

void
engine_stats(const struct engine *engine, struct engine_stats *out)
{
	*out = engine->stats;
	out->size_bytes.scale = &histogram_bytes;
	out->queue_ns.scale = out->hold_ns.scale = &histogram_ns;
	ledger_counts(engine->ledger, &out->slots);
	out->conns = engine->conns;
	out->listeners = engine->listeners;
}

void
engine_srq_info(const struct engine *engine, struct srq_info *out)
{
	*out = (struct srq_info){ .is_active = engine->device[0] != '\0',
		.asked = engine->settings->pool_slots,
		.effective = engine->settings->pool_slots + 1,
		.cq_asked = engine->settings->pool_slots + 64,
		.huge_pages = true,
		.pool_bytes = 4194304,
		.page_size = 2097152,
		.target = engine->settings->receive_target,
		.low_watermark = engine->settings->receive_low_watermark,
		.refill = engine->settings->refill,
		.min_rnr_timer_us = engine->settings->min_rnr_timer_us,
		.min_rnr_timer_code = 12 };
}

bool
engine_device_limits(const struct engine *engine, struct device_limits *out)
{
	*out = (struct device_limits){ 1, 2, 3, 4, 5, UINT64_MAX, false };
	return engine->has_limits;
}

void
engine_warnings(const struct engine *engine,
    void (*fn)(void *arg, const char *sentence), void *arg)
{
	if (engine->warning)
		fn(arg, engine->warning);
}

void
engine_usable_addrs(void (*fn)(void *arg, const struct sockaddr_storage *addr,
			const char *device),
    void *arg)
{
	struct sockaddr_storage addr = { 0 };
	struct err err;
	int i;
	static const char *const texts[] = { "192.168.77.1", "fe80::1", "10.9.8.7" };
	static const char *const devices[] = { "fake0", "fake0", "other0" };

	for (i = 0; i < 3; i++) {
		if (addr_parse(texts[i], 0, &addr, &err) < 0)
			abort();
		fn(arg, &addr, devices[i]);
	}
}
