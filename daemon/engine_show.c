/* SPDX-License-Identifier: BSD-3-Clause */
/* What the engine shows: counters, sizes, and sentences for a person. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "daemon/engine_impl.h"
#include "lib/core/text.h"

static void
show_named(const struct named_counts *counts,
    struct engine_named_count list[ENGINE_NAMED_MAX], size_t *n)
{
	memcpy(list, counts->list, sizeof(counts->list));
	*n = counts->count;
}

static void
show_srq_and_sends(const struct engine *engine, struct engine_stats *out)
{
	struct sender_stats sends;
	struct srq_stats srq;

	srq_get_stats(engine->srq, loop_now_ns(), &srq);
	out->posted = srq.posted;
	out->refills = srq.refills;
	out->post_failures = srq.post_failures;
	out->times_low = srq.times_low;
	out->times_empty = srq.times_empty;
	out->empty_ns = srq.empty_ns;
	out->is_empty = srq.is_empty;
	show_named(srq_failures(engine->srq), out->post_errors, &out->post_error_count);
	sender_get_stats(engine->sender, &sends);
	out->send_free = sends.free;
	out->send_total = sends.total;
	out->sent = sends.messages;
	out->sent_bytes = sends.bytes;
	out->send_failures = sends.failures;
	out->registered_bytes =
	    srq_registered_bytes(engine->srq) + sends.registered_bytes;
	out->memlock_limit_bytes = memory_lock_limit();
}

static void
show_conns(const struct conns *conns, struct engine_stats *out)
{
	out->late = conns->late;
	out->requests = conns->requests;
	out->accepted = conns->accepted;
	out->established = conns->established_total;
	out->opened = conns->opened;
	out->closed = conns->table.closed_total;
	out->conns = conns->table.count;
	show_named(&conns->rejected, out->rejected, &out->rejected_count);
	show_named(&conns->closes, out->closes, &out->close_count);
}

/* Each listener that is up has one, and each connection from its start to its end. */
static uint32_t
cm_ids(const struct engine *engine)
{
	uint32_t n = engine->conns.table.count;
	size_t i;

	for (i = 0; i < engine->listeners.count; i++)
		n += engine->listeners.list[i].ep != NULL;
	return n;
}

void
engine_stats(const struct engine *engine, struct engine_stats *out)
{
	const struct cq_stats *cq = &engine->recv_cq.stats;
	struct srq_info info;

	memset(out, 0, sizeof(*out));
	ledger_counts(engine->ledger, &out->slots);
	show_srq_and_sends(engine, out);
	show_conns(&engine->conns, out);
	srq_get_info(engine->srq, &info);
	out->messages = engine->messages;
	out->bytes = engine->size_bytes.sum;
	out->imms = engine->imms;
	out->polled = engine->polled;
	out->redelivered = engine->redelivered;
	out->acked = engine->acked;
	out->nacked = engine->nacked;
	out->expired = engine->expired;
	out->auto_acked = engine->auto_acked;
	out->flushed = engine->flushed;
	out->dropped = engine->dropped;
	out->ledger_faults = engine->ledger_faults;
	out->restored = engine->pool.restored;
	out->maybe_lost = engine->pool.maybe_lost + engine->maybe_lost;
	out->is_kept = engine->pool.is_kept;
	out->size_bytes = engine->size_bytes;
	out->queue_ns = engine->queue_ns;
	out->hold_ns = engine->hold_ns;
	show_named(&engine->recv_errors, out->recv_errors, &out->recv_error_count);
	show_named(&engine->drops, out->drops, &out->drop_count);
	out->cq_size = info.cq_asked;
	out->cq_events = cq->events;
	out->cq_empty_wakeups = cq->empty_wakeups;
	out->cq_late = cq->late;
	out->cq_batch_max = cq->batch_max;
	out->unknown_events = engine->unknown_events;
	out->listeners = (uint32_t)engine->listeners.count;
	out->cm_ids = cm_ids(engine);
	out->huge_page_bytes = info.huge_pages ? info.pool_bytes : 0;
}

void
engine_srq_info(const struct engine *engine, struct srq_info *out)
{
	srq_get_info(engine->srq, out);
}

bool
engine_device_limits(const struct engine *engine, struct device_limits *out)
{
	if (!engine->device)
		return false;
	device_get_limits(engine->device, out);
	return true;
}

/* How long peers met an empty queue within the last minute, be they gone or not. */
static uint64_t
stalled_lately_ns(const struct engine *engine, const struct srq_stats *stats)
{
	const struct stalls *stalls = &engine->stalls;
	uint64_t then = 0;

	if (stalls->sample >= EMPTY_WINDOW_S)
		then = stalls->samples[stalls->sample % EMPTY_WINDOW_S];
	return engine_stalled_ns(engine, stats->empty_ns) - then;
}

static void
warn_empty(const struct engine *engine, void (*fn)(void *arg, const char *sentence),
    void *arg)
{
	bool is_manual = engine->settings->refill == REFILL_MANUAL;
	struct ledger_counts counts;
	struct srq_stats stats;
	char text[256];
	uint64_t ns;

	srq_get_stats(engine->srq, loop_now_ns(), &stats);
	ledger_counts(engine->ledger, &counts);
	ns = stalled_lately_ns(engine, &stats);
	if (engine->state != ENGINE_RUNNING || ns < 100000000u)
		return;
	(void)snprintf(text, sizeof(text),
	    "SRQ %sempty %llu.%llu s in the last minute, senders wait meanwhile: %s",
	    stats.is_empty ? "is empty now, was " : "",
	    (unsigned long long)(ns / 1000000000),
	    (unsigned long long)(ns / 100000000 % 10),
	    is_manual && counts.free > 0 ? "post more (rpmactl post)"
					 : "raise pool.slots or acknowledge faster");
	fn(arg, text);
}

/*
 * With iWARP nobody waits: a message that meets an empty queue ends its connection, and an
 * end that the sender did not wait for loses what it had sent and the peer not received.
 */
static void
warn_ended(const struct engine *engine, void (*fn)(void *arg, const char *sentence),
    void *arg)
{
	static const struct {
		const char *reason, *why, *remedy;
	} lossy[] = {
		{ "srq_empty", "because the SRQ was empty", "raise pool.slots" },
		{ "over_quota", "for holding too many slots",
		    "raise connections.quota_slots and pool.slots" },
	};
	const struct named_counts *closes = &engine->conns.closes;
	char text[256];
	size_t i, k;

	for (k = 0; k < sizeof(lossy) / sizeof(lossy[0]); k++) {
		for (i = 0; i < closes->count; i++)
			if (strcmp(closes->list[i].name, lossy[k].reason) == 0)
				break;
		if (i == closes->count)
			continue;
		(void)snprintf(text, sizeof(text),
		    "%llu connection%s ended %s, which with iWARP loses what was on its "
		    "way: %s or acknowledge faster",
		    (unsigned long long)closes->list[i].count,
		    text_plural(closes->list[i].count), lossy[k].why, lossy[k].remedy);
		fn(arg, text);
	}
}

void
engine_warnings(const struct engine *engine,
    void (*fn)(void *arg, const char *sentence), void *arg)
{
	char text[640];
	size_t i;

	pool_warnings(&engine->pool, fn, arg);
	if (engine->maybe_lost > 0) {
		(void)snprintf(text, sizeof(text),
		    "a queue of the device had died: up to %llu message%s whose sender saw "
		    "success may be lost",
		    (unsigned long long)engine->maybe_lost,
		    text_plural(engine->maybe_lost));
		fn(arg, text);
	}
	if (engine->conns.is_iwarp)
		warn_ended(engine, fn, arg);
	else
		warn_empty(engine, fn, arg);
	if (engine->is_refill_failing)
		fn(arg, "the provider refuses to take receives: see the log");
	for (i = 0; engine->device && i < engine->listeners.count; i++) {
		const struct listener *listener = &engine->listeners.list[i];

		if (listener->info.is_up || engine->state != ENGINE_RUNNING)
			continue;
		(void)snprintf(text, sizeof(text), "listener %llu is down: %s",
		    (unsigned long long)listener->info.id, listener->error);
		fn(arg, text);
	}
	if (engine->conns.rnr_failures > 0) {
		(void)snprintf(text, sizeof(text),
		    "the RNR timer of %llu connection%s could not be set: after an empty "
		    "queue senders wait there in steps of 655 ms",
		    (unsigned long long)engine->conns.rnr_failures,
		    text_plural(engine->conns.rnr_failures));
		fn(arg, text);
	}
	if (engine->ledger_faults > 0)
		fn(arg,
		    "the ledger's counts and records disagree: this is a defect of "
		    "rpmad, please report it");
	if (engine->dropped > 0) {
		(void)snprintf(text, sizeof(text),
		    "dropped %llu completion%s that named no posted slot, or said more "
		    "than it holds: this is a defect of rpmad or of the driver",
		    (unsigned long long)engine->dropped, text_plural(engine->dropped));
		fn(arg, text);
	}
}
