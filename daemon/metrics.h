/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers of stats.get as metrics in the text format of Prometheus, version 0.0.4.
 * One table says which number is which metric.
 */
#ifndef RPMAD_DAEMON_METRICS_H
#define RPMAD_DAEMON_METRICS_H

#include <stddef.h>

#include "lib/core/compiler.h"

struct json_t;
struct rpc_text;

enum metric_kind {
	METRIC_COUNTER,
	METRIC_GAUGE,
	METRIC_HISTOGRAM,
	METRIC_INFO, /* a gauge of 1 whose labels tell */
};

enum metric_unit {
	METRIC_PLAIN,
	METRIC_NS, /* shown in seconds */
};

/*
 * A metric, or the samples of one that have one fixed label. Rows of the same name follow
 * each other.
 *
 * path     where the number is in the result of stats.get: members joined by dots; "[]"
 *          behind one goes through the elements of an array, "{}" through the members of
 *          an object
 * fixed    a label as it is written, NULL: none
 * labels   members of the array's elements that are labels, NULL-terminated
 * key      the label that "{}" makes of a member's name
 */
struct metric {
	const char *path;
	const char *name;
	enum metric_kind kind;
	enum metric_unit unit;
	const char *fixed;
	const char *labels[5];
	const char *key;
	const char *help;
};

extern const struct metric metrics[];
extern const size_t metric_count;

/*
 * Add all metrics of which stats, the result of stats.get, has the number.
 * return   0; -ENOMEM, -EMSGSIZE (the labels of one are too long): text is of no use
 * source   Prometheus, Exposition formats, Text-based format
 */
RPMAD_MUST_USE int metrics_add(struct rpc_text *text, const struct json_t *stats);

#endif
