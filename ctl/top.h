/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The picture that top shows: looks at the daemon, what two of them tell together, and
 * its lines of text. Nothing here knows of a terminal, a socket, or the time.
 */
#ifndef RPMAD_CTL_TOP_H
#define RPMAD_CTL_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/buf.h"

struct json_t;

#define TOP_HISTORY     320u /* rates that are kept for the sparklines */
#define TOP_BUCKETS_MAX 32u
#define TOP_NAME_MAX    64u
#define TOP_PEER_MAX    96u
#define TOP_REASON_MAX  512u

enum top_slots {
	TOP_READY,
	TOP_LEASED,
	TOP_POSTED,
	TOP_FREE,
	TOP_SLOTS_COUNT
};

enum top_sort {
	TOP_SORT_RATE,
	TOP_SORT_MESSAGES,
	TOP_SORT_HELD,
	TOP_SORT_AGE,
	TOP_SORT_ID,
	TOP_SORT_COUNT
};

/* What the option takes, in that order; NULL-terminated. */
extern const char *const top_sort_names[];

/* Counts up to each bound, as in stats.get. */
struct top_histogram {
	uint64_t count; /* of all values, those above the last bound included */
	size_t buckets;
	uint64_t bounds[TOP_BUCKETS_MAX];
	uint64_t counts[TOP_BUCKETS_MAX];
};

struct top_conn {
	uint64_t id;
	uint64_t messages;
	uint64_t bytes;
	uint64_t held;
	uint64_t age_ms;
	uint64_t message_rate; /* a second, see top_add() */
	uint64_t byte_rate;
	char peer[TOP_PEER_MAX]; /* as the daemon tells it, like all text here */
	char state[TOP_NAME_MAX];
};

/* One look. Zero-initialise; top_sample_clear() at the end. */
struct top_sample {
	uint64_t at_ms; /* CLOCK_MONOTONIC */
	uint64_t pid;
	uint64_t uptime_ms;
	char state[TOP_NAME_MAX];
	char reason[TOP_REASON_MAX];
	char version[TOP_NAME_MAX];
	char device[TOP_NAME_MAX]; /* "": none */
	char refill[TOP_NAME_MAX];
	struct buf warnings; /* each with its NUL */
	size_t warning_count;
	uint64_t slots[TOP_SLOTS_COUNT];
	uint64_t messages;
	uint64_t bytes;
	uint64_t times_low;
	uint64_t times_empty;
	uint64_t empty_ns;
	struct top_histogram queue;
	struct top_histogram hold;
	struct top_conn *conns; /* by id; owned */
	size_t conn_count;
};

/*
 * Read a look from the results of daemon.status, stats.get and conn.list, whatever they
 * lack. wall_us: the time, for the ages of connections.
 */
void top_sample_read(struct top_sample *out, const struct json_t *status,
    const struct json_t *stats, const struct json_t *conns, uint64_t at_ms,
    uint64_t wall_us);
void top_sample_clear(struct top_sample *sample);

/* All looks together. Zero-initialise; top_clear() at the end. */
struct top {
	bool has_look;
	bool has_rates; /* the last two looks were at the same process */
	struct top_sample now;
	uint64_t message_rate; /* a second, between the last two looks */
	uint64_t byte_rate;
	bool was_empty;             /* the queue was, between these */
	struct top_histogram queue; /* between these */
	struct top_histogram hold;
	size_t rates; /* how many are kept below, the newest last */
	uint64_t message_rates[TOP_HISTORY];
	uint64_t byte_rates[TOP_HISTORY];
};

/*
 * Take the next look (its content is taken over). Rates are of the time between it and
 * the one before; there are none when the daemon was restarted meanwhile. What came over
 * a connection that was not there before counts from 0.
 */
void top_add(struct top *top, struct top_sample *sample);
void top_clear(struct top *top);

/* Connections in the order of a column; those that are equal in it by their ids. */
void top_sort(struct top_sample *sample, enum top_sort sort);

/* How often a second, rounded down; 0 where before is more, or ms is 0. */
uint64_t top_rate(uint64_t before, uint64_t now, uint64_t ms);

/*
 * The bound of the bucket that the percentile falls in: so many percent of the values do
 * not exceed it. UINT64_MAX: it is above the last bound. Not for a count of 0.
 */
uint64_t top_percentile(const struct top_histogram *histogram, unsigned int percent);

/*
 * Share out the cells of a bar: in proportion, together all of them, and at least one for
 * each state that has a slot, where there are as many cells as that takes.
 */
void top_share(const uint64_t slots[TOP_SLOTS_COUNT], unsigned int cells,
    unsigned int out[TOP_SLOTS_COUNT]);

struct top_look {
	unsigned int width;
	unsigned int height; /* 0: as many lines as it takes */
	bool is_utf8;
	bool is_coloured;
	bool has_keys; /* tell them, where there is a last line */
	enum top_sort sort;
	size_t first; /* connections that are scrolled away */
	uint64_t interval_ms;
	const char *away; /* why the daemon does not answer; NULL: it does */
};

/*
 * Draw: at most height lines of at most width characters, each with its LF. Connections
 * stand in the order of now.conns; text of others is escaped.
 * return   the first connection that is shown: less than look->first behind the end
 */
size_t top_draw(const struct top *top, const struct top_look *look, struct buf *out);

#endif
