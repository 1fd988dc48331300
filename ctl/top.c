/* SPDX-License-Identifier: BSD-3-Clause */
/* What two looks at the daemon tell together. */
#include <config.h>

#include "ctl/top.h"

#include <stdlib.h>
#include <string.h>

const char *const top_sort_names[] = { "rate", "messages", "held", "age", "id", NULL };

uint64_t
top_rate(uint64_t before, uint64_t now, uint64_t ms)
{
	const uint64_t more = now - before;

	if (now < before || ms == 0)
		return 0;
	/* In two parts, so that counts of bytes do not overflow. */
	return more / ms * 1000 + more % ms * 1000 / ms;
}

uint64_t
top_percentile(const struct top_histogram *histogram, unsigned int percent)
{
	/* The first of the values that have so many percent up to themselves. */
	const uint64_t rank = histogram->count / 100 * percent +
	    (histogram->count % 100 * percent + 99) / 100;
	size_t i;

	for (i = 0; i < histogram->buckets; i++)
		if (histogram->counts[i] >= rank)
			return histogram->bounds[i];
	return UINT64_MAX;
}

void
top_share(const uint64_t slots[TOP_SLOTS_COUNT], unsigned int cells,
    unsigned int out[TOP_SLOTS_COUNT])
{
	uint64_t total = 0;
	unsigned int given = 0;
	size_t i, best;

	for (i = 0; i < TOP_SLOTS_COUNT; i++)
		total += slots[i];
	memset(out, 0, TOP_SLOTS_COUNT * sizeof(*out));
	if (total == 0)
		return;
	for (i = 0; i < TOP_SLOTS_COUNT; i++) {
		out[i] = (unsigned int)(slots[i] * cells / total);
		if (out[i] == 0 && slots[i] > 0)
			out[i] = 1;
		given += out[i];
	}
	for (; given > cells; given--) {
		/* From the longest, which loses least of its look. */
		best = 0;
		for (i = 1; i < TOP_SLOTS_COUNT; i++)
			if (out[i] > out[best])
				best = i;
		out[best]--;
	}
	for (; given < cells; given++) {
		/* To the one that lacks most. */
		uint64_t most = 0;

		best = TOP_SLOTS_COUNT;
		for (i = 0; i < TOP_SLOTS_COUNT; i++) {
			const uint64_t due = slots[i] * cells, has = out[i] * total;

			if (due > has && due - has > most) {
				most = due - has;
				best = i;
			}
		}
		if (best == TOP_SLOTS_COUNT)
			break;
		out[best]++;
	}
}

/* Values that came between two looks. */
static void
histogram_between(const struct top_histogram *before, const struct top_histogram *now,
    struct top_histogram *out)
{
	size_t i;

	*out = (struct top_histogram){ 0 };
	if (now->buckets != before->buckets || now->count < before->count)
		return;
	out->count = now->count - before->count;
	out->buckets = now->buckets;
	for (i = 0; i < now->buckets; i++) {
		out->bounds[i] = now->bounds[i];
		if (now->counts[i] > before->counts[i])
			out->counts[i] = now->counts[i] - before->counts[i];
	}
}

static int
compare_id(const void *key, const void *element)
{
	const uint64_t id = *(const uint64_t *)key;
	const struct top_conn *conn = element;

	return (id > conn->id) - (id < conn->id);
}

static void
rate_conns(const struct top_sample *before, struct top_sample *now, uint64_t ms)
{
	static const struct top_conn none = { 0 };
	size_t i;

	for (i = 0; i < now->conn_count; i++) {
		struct top_conn *conn = &now->conns[i];
		const struct top_conn *was = before->conn_count == 0
		    ? NULL
		    : bsearch(&conn->id, before->conns, before->conn_count,
			  sizeof(*before->conns), compare_id);

		if (!was)
			was = &none;
		conn->message_rate = top_rate(was->messages, conn->messages, ms);
		conn->byte_rate = top_rate(was->bytes, conn->bytes, ms);
	}
}

static void
keep_rates(struct top *top)
{
	if (top->rates == TOP_HISTORY) {
		top->rates--;
		memmove(top->message_rates, top->message_rates + 1,
		    top->rates * sizeof(*top->message_rates));
		memmove(top->byte_rates, top->byte_rates + 1,
		    top->rates * sizeof(*top->byte_rates));
	}
	top->message_rates[top->rates] = top->message_rate;
	top->byte_rates[top->rates] = top->byte_rate;
	top->rates++;
}

void
top_add(struct top *top, struct top_sample *sample)
{
	struct top_sample *before = &top->now;
	const uint64_t ms = sample->at_ms - before->at_ms;

	top_sort(before, TOP_SORT_ID);
	top->has_rates = top->has_look && sample->at_ms > before->at_ms &&
	    sample->pid == before->pid && sample->uptime_ms >= before->uptime_ms;
	top->has_look = true;
	top->message_rate = top->byte_rate = 0;
	top->was_empty = false;
	top->queue = top->hold = (struct top_histogram){ 0 };
	if (top->has_rates) {
		top->message_rate = top_rate(before->messages, sample->messages, ms);
		top->byte_rate = top_rate(before->bytes, sample->bytes, ms);
		top->was_empty = sample->empty_ns > before->empty_ns;
		histogram_between(&before->queue, &sample->queue, &top->queue);
		histogram_between(&before->hold, &sample->hold, &top->hold);
		rate_conns(before, sample, ms);
		keep_rates(top);
	}
	top_sample_clear(before);
	*before = *sample;
	*sample = (struct top_sample){ 0 };
}

void
top_clear(struct top *top)
{
	top_sample_clear(&top->now);
	*top = (struct top){ 0 };
}

/* ---- the order of connections ---- */

/* The larger first. */
static int
falling(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int
by_id(const void *a, const void *b)
{
	return falling(((const struct top_conn *)b)->id,
	    ((const struct top_conn *)a)->id);
}

static int
by_rate(const void *a, const void *b)
{
	const struct top_conn *x = a, *y = b;
	int order = falling(x->message_rate, y->message_rate);

	if (order == 0)
		order = falling(x->byte_rate, y->byte_rate);
	return order != 0 ? order : by_id(a, b);
}

static int
by_messages(const void *a, const void *b)
{
	const struct top_conn *x = a, *y = b;
	const int order = falling(x->messages, y->messages);

	return order != 0 ? order : by_id(a, b);
}

static int
by_held(const void *a, const void *b)
{
	const struct top_conn *x = a, *y = b;
	const int order = falling(x->held, y->held);

	return order != 0 ? order : by_id(a, b);
}

static int
by_age(const void *a, const void *b)
{
	const struct top_conn *x = a, *y = b;
	const int order = falling(x->age_ms, y->age_ms);

	return order != 0 ? order : by_id(a, b);
}

void
top_sort(struct top_sample *sample, enum top_sort sort)
{
	static int (*const orders[TOP_SORT_COUNT])(const void *, const void *) = {
		[TOP_SORT_RATE] = by_rate,
		[TOP_SORT_MESSAGES] = by_messages,
		[TOP_SORT_HELD] = by_held,
		[TOP_SORT_AGE] = by_age,
		[TOP_SORT_ID] = by_id,
	};

	if (sample->conn_count > 1)
		qsort(sample->conns, sample->conn_count, sizeof(*sample->conns),
		    orders[sort]);
}
