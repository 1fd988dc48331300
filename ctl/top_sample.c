/* SPDX-License-Identifier: BSD-3-Clause */
/* One look at the daemon, out of the results of three calls. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "ctl/field.h"
#include "ctl/must.h"
#include "ctl/top.h"

/* A counter; what is no number of its kind counts as 0. */
static uint64_t
counter(const json_t *object, const char *key)
{
	const long long number = field_number(object, key);

	return number > 0 ? (uint64_t)number : 0;
}

static void
copy_text(const json_t *object, const char *key, char *out, size_t size)
{
	(void)snprintf(out, size, "%s", field_text(object, key));
}

/* How long ago "2026-01-02T03:04:05.123456Z" was; what is to come is now. */
static uint64_t
age_ms(const char *since, uint64_t wall_us)
{
	struct tm tm = { 0 };
	const char *rest = strptime(since, "%Y-%m-%dT%H:%M:%S", &tm);
	uint64_t then_us;

	if (!rest)
		return 0;
	then_us = (uint64_t)timegm(&tm) * 1000000;
	if (*rest == '.')
		then_us += (uint64_t)(strtod(rest, NULL) * 1e6);
	return then_us < wall_us ? (wall_us - then_us) / 1000 : 0;
}

static void
read_histogram(struct top_histogram *out, const json_t *json)
{
	const json_t *bucket;
	size_t i;

	out->count = counter(json, "count");
	json_array_foreach(json_object_get(json, "buckets"), i, bucket) {
		if (i == TOP_BUCKETS_MAX)
			break;
		out->bounds[i] = counter(bucket, "le");
		out->counts[i] = counter(bucket, "count");
		out->buckets = i + 1;
	}
}

static int
compare_ids(const void *a, const void *b)
{
	const struct top_conn *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static void
read_conns(struct top_sample *out, const json_t *conns, uint64_t wall_us)
{
	const size_t count = json_array_size(conns);
	const json_t *conn;
	size_t i;

	if (count == 0)
		return;
	out->conns = must(calloc(count, sizeof(*out->conns)));
	out->conn_count = count;
	json_array_foreach(conns, i, conn) {
		struct top_conn *to = &out->conns[i];

		to->id = counter(conn, "conn");
		to->messages = counter(conn, "messages");
		to->bytes = counter(conn, "bytes");
		to->held = counter(conn, "held");
		to->age_ms = age_ms(field_text(conn, "since"), wall_us);
		copy_text(conn, "peer", to->peer, sizeof(to->peer));
		copy_text(conn, "state", to->state, sizeof(to->state));
	}
	qsort(out->conns, count, sizeof(*out->conns), compare_ids);
}

static void
read_status(struct top_sample *out, const json_t *status)
{
	const json_t *warning;
	size_t i;

	out->pid = counter(status, "pid");
	out->uptime_ms = counter(status, "uptime_ms");
	copy_text(status, "state", out->state, sizeof(out->state));
	copy_text(status, "reason", out->reason, sizeof(out->reason));
	copy_text(status, "version", out->version, sizeof(out->version));
	copy_text(status, "device", out->device, sizeof(out->device));
	copy_text(status, "refill", out->refill, sizeof(out->refill));
	json_array_foreach(json_object_get(status, "warnings"), i, warning) {
		const char *text = json_string_value(warning);

		if (!text)
			continue;
		buf_add(&out->warnings, text, strlen(text) + 1);
		out->warning_count++;
	}
}

void
top_sample_read(struct top_sample *out, const struct json_t *status,
    const struct json_t *stats, const struct json_t *conns, uint64_t at_ms,
    uint64_t wall_us)
{
	static const char *const names[TOP_SLOTS_COUNT] = { [TOP_READY] = "ready",
		[TOP_LEASED] = "leased",
		[TOP_POSTED] = "posted",
		[TOP_FREE] = "free" };
	const json_t *recv = json_object_get(stats, "recv");
	const json_t *srq = json_object_get(stats, "srq");
	size_t i;

	*out = (struct top_sample){ .at_ms = at_ms };
	read_status(out, status);
	for (i = 0; i < TOP_SLOTS_COUNT; i++)
		out->slots[i] = counter(json_object_get(stats, "slots"), names[i]);
	out->messages = counter(recv, "messages_total");
	out->bytes = counter(recv, "bytes_total");
	out->times_low = counter(srq, "times_low_total");
	out->times_empty = counter(srq, "times_empty_total");
	out->empty_ns = counter(srq, "empty_ns_total");
	read_histogram(&out->queue, json_object_get(recv, "queue_ns"));
	read_histogram(&out->hold, json_object_get(recv, "hold_ns"));
	read_conns(out, json_object_get(conns, "conns"), wall_us);
}

void
top_sample_clear(struct top_sample *sample)
{
	buf_free(&sample->warnings);
	free(sample->conns);
	*sample = (struct top_sample){ 0 };
}
