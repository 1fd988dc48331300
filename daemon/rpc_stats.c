/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of stats.get and stats.metrics. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include <jansson.h>

#include "daemon/control.h"
#include "daemon/engine.h"
#include "daemon/loop.h"
#include "daemon/metrics.h"
#include "daemon/rpc_handlers.h"
#include "daemon/rpc_json.h"
#include "daemon/rpc_text.h"

/* Each function makes one object of the result; NULL: no memory. */

/* [{key: name, "count"}, ...] */
static json_t *
named_counts(const struct engine_named_count *counts, size_t n, const char *key)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < n; i++) {
		if (json_array_append_new(list,
			json_pack("{s:s, s:I}", key, counts[i].name, "count",
			    (json_int_t)counts[i].count)) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *
srq_stats(const struct engine_stats *stats)
{
	return json_pack("{s:I, s:I, s:I, s:o, s:I, s:I, s:I}", "posted_total",
	    (json_int_t)stats->posted, "refills_total", (json_int_t)stats->refills,
	    "post_failures_total", (json_int_t)stats->post_failures, "post_failures",
	    named_counts(stats->post_errors, stats->post_error_count, "name"),
	    "times_low_total", (json_int_t)stats->times_low, "times_empty_total",
	    (json_int_t)stats->times_empty, "empty_ns_total",
	    (json_int_t)stats->empty_ns);
}

static json_t *
recv_stats(const struct engine_stats *stats)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, "
			 "s:I, s:o, s:I, s:I, s:I, s:o, s:o, s:o}",
	    "messages_total", (json_int_t)stats->messages, "bytes_total",
	    (json_int_t)stats->bytes, "imm_total", (json_int_t)stats->imms,
	    "polled_total", (json_int_t)stats->polled, "redelivered_total",
	    (json_int_t)stats->redelivered, "acked_total", (json_int_t)stats->acked,
	    "nacked_total", (json_int_t)stats->nacked, "expired_total",
	    (json_int_t)stats->expired, "auto_acked_total",
	    (json_int_t)stats->auto_acked, "flushed_total", (json_int_t)stats->flushed,
	    "late_total", (json_int_t)stats->late, "errors",
	    named_counts(stats->recv_errors, stats->recv_error_count, "status"),
	    "dropped_total", (json_int_t)stats->dropped, "dropped",
	    named_counts(stats->drops, stats->drop_count, "reason"),
	    "ledger_faults_total", (json_int_t)stats->ledger_faults, "restored_total",
	    (json_int_t)stats->restored, "maybe_lost_total",
	    (json_int_t)stats->maybe_lost, "size_bytes",
	    rpc_json_histogram(&stats->size_bytes), "queue_ns",
	    rpc_json_histogram(&stats->queue_ns), "hold_ns",
	    rpc_json_histogram(&stats->hold_ns));
}

static json_t *
send_stats(const struct engine_stats *stats)
{
	return json_pack("{s:{s:I, s:I}, s:I, s:I, s:I}", "slots", "free",
	    (json_int_t)stats->send_free, "total", (json_int_t)stats->send_total,
	    "messages_total", (json_int_t)stats->sent, "bytes_total",
	    (json_int_t)stats->sent_bytes, "failures_total",
	    (json_int_t)stats->send_failures);
}

static json_t *
cq_stats(const struct engine_stats *stats)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "size",
	    (json_int_t)stats->cq_size, "events_total", (json_int_t)stats->cq_events,
	    "empty_wakeups_total", (json_int_t)stats->cq_empty_wakeups,
	    "late_completions_total", (json_int_t)stats->cq_late, "batch_max",
	    (json_int_t)stats->cq_batch_max);
}

static json_t *
cm_stats(const struct engine_stats *stats)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}",
	    "requests_total", (json_int_t)stats->requests, "accepted_total",
	    (json_int_t)stats->accepted, "established_total",
	    (json_int_t)stats->established, "opened_total", (json_int_t)stats->opened,
	    "closed_total", (json_int_t)stats->closed, "conns",
	    (json_int_t)stats->conns, "ids", (json_int_t)stats->cm_ids,
	    "unknown_events_total", (json_int_t)stats->unknown_events, "rejected",
	    named_counts(stats->rejected, stats->rejected_count, "reason"), "closes",
	    named_counts(stats->closes, stats->close_count, "reason"));
}

static json_t *
memory_stats(const struct engine_stats *stats)
{
	const uint64_t limit = stats->memlock_limit_bytes;

	return json_pack("{s:I, s:o, s:I}", "registered_bytes",
	    (json_int_t)stats->registered_bytes, "memlock_limit_bytes",
	    limit > INT64_MAX ? json_null() : json_integer((json_int_t)limit),
	    "huge_page_bytes", (json_int_t)stats->huge_page_bytes);
}

/* [{"method", "result", "count"}, ...] of those that were called. */
static json_t *
calls(const struct rpc_stats *stats)
{
	json_t *list = json_array();
	unsigned int i;
	int rc = 0;

	for (i = 0; i < METHOD_COUNT; i++) {
		if (rc == 0 && stats->calls_ok[i] > 0)
			rc = json_array_append_new(list,
			    json_pack("{s:s, s:s, s:I}", "method", methods[i].name,
				"result", "ok", "count",
				(json_int_t)stats->calls_ok[i]));
		if (rc == 0 && stats->calls_failed[i] > 0)
			rc = json_array_append_new(list,
			    json_pack("{s:s, s:s, s:I}", "method", methods[i].name,
				"result", "error", "count",
				(json_int_t)stats->calls_failed[i]));
	}
	if (rc == 0)
		return list;
	json_decref(list);
	return NULL;
}

static json_t *
control_stats(const struct rpc_context *context)
{
	const struct rpc_stats *stats = &context->stats;
	struct control_stats control;

	control_get_stats(context->control, &control);
	return json_pack(
	    "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}",
	    "clients", (json_int_t)control.clients, "clients_total",
	    (json_int_t)control.clients_total, "clients_refused_total",
	    (json_int_t)control.refused, "clients_dropped_total",
	    (json_int_t)control.dropped, "requests_total", (json_int_t)stats->requests,
	    "request_errors_total", (json_int_t)stats->request_errors,
	    "parse_errors_total", (json_int_t)stats->parse_errors,
	    "notifications_refused_total", (json_int_t)stats->notifications_refused,
	    "subscribers", (json_int_t)stats->subscribers, "events_missed_total",
	    (json_int_t)stats->events_missed, "rings",
	    (json_int_t)rpc_rings_count(context->rings), "calls", calls(stats),
	    "request_ns", rpc_json_histogram(&stats->request_ns));
}

static json_t *
loop_stats(const struct rpc_context *context)
{
	struct loop_stats stats;

	loop_get_stats(context->loop, &stats);
	return json_pack("{s:I, s:I, s:o}", "turns_total", (json_int_t)stats.turns,
	    "stalls_total", (json_int_t)stats.stalls, "turn_ns",
	    rpc_json_histogram(&stats.turn_ns));
}

json_t *
rpc_stats_to_json(struct rpc_context *context)
{
	struct engine_stats stats;

	engine_stats(context->engine, &stats);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "slots",
	    rpc_json_slots(&stats.slots), "srq", srq_stats(&stats), "recv",
	    recv_stats(&stats), "send", send_stats(&stats), "cq", cq_stats(&stats),
	    "cm", cm_stats(&stats), "memory", memory_stats(&stats), "control",
	    control_stats(context), "loop", loop_stats(context), "ports",
	    rpc_ports_to_json(context));
}

void
rpc_stats_get(struct rpc_call *call, const void *params)
{
	(void)params;
	(void)rpc_reply(call, rpc_stats_to_json(rpc_call_context(call)));
}

void
rpc_stats_metrics(struct rpc_call *call, const void *params)
{
	json_t *stats = rpc_stats_to_json(rpc_call_context(call));
	struct rpc_text text = { 0 };
	int rc = stats ? metrics_add(&text, stats) : -ENOMEM;
	struct err err;

	(void)params;
	if (rc == -EMSGSIZE) {
		(void)err_set(&err, ERR_INTERNAL_ERROR, EMSGSIZE,
		    "the labels of a metric are too long");
		rpc_fail(call, &err);
	} else if (rc < 0) {
		rpc_fail_memory(call);
	} else {
		(void)rpc_reply(call,
		    json_pack("{s:s%}", "text", text.bytes, text.len));
	}
	json_decref(stats);
	free(text.bytes);
}
