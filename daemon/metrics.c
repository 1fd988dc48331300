/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of stats.get as metrics in the text format of Prometheus. */
#include <config.h>

#include "daemon/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "daemon/rpc_text.h"

#define LABELS_MAX 512u
#define NUMBER_MAX 32u
#define NS_PER_S   1000000000u

/* A row on its way into a text. */
struct writer {
	struct rpc_text *text;
	const struct metric *metric;
	bool has_header;
	char
	    labels[LABELS_MAX]; /* a="1",b="2"; names and values are short everywhere */
	size_t len;
};

static int __attribute__((format(printf, 2, 3)))
add(struct writer *writer, const char *format, ...)
{
	char line[LABELS_MAX + 256];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= sizeof(line))
		return -EMSGSIZE;
	return rpc_text_add(writer->text, line, (size_t)len);
}

static int
add_header(struct writer *writer)
{
	static const char *const types[] = { [METRIC_COUNTER] = "counter",
		[METRIC_GAUGE] = "gauge",
		[METRIC_HISTOGRAM] = "histogram",
		[METRIC_INFO] = "gauge" };
	const struct metric *metric = writer->metric;

	if (writer->has_header)
		return 0;
	writer->has_header = true;
	return add(writer, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help,
	    metric->name, types[metric->kind]);
}

static const char *
number(const struct metric *metric, uint64_t value, char buf[NUMBER_MAX])
{
	if (metric->unit == METRIC_NS)
		(void)snprintf(buf, NUMBER_MAX, "%" PRIu64 ".%09" PRIu64,
		    value / NS_PER_S, value % NS_PER_S);
	else
		(void)snprintf(buf, NUMBER_MAX, "%" PRIu64, value);
	return buf;
}

/* ---- labels ---- */

static int
put(struct writer *writer, const char *bytes, size_t len)
{
	if (len >= sizeof(writer->labels) - writer->len)
		return -EMSGSIZE;
	memcpy(writer->labels + writer->len, bytes, len);
	writer->len += len;
	writer->labels[writer->len] = '\0';
	return 0;
}

/* Add name="value", the value escaped. */
static int
put_label(struct writer *writer, const char *name, const char *value)
{
	int rc = writer->len > 0 ? put(writer, ",", 1) : 0;

	if (rc == 0)
		rc = put(writer, name, strlen(name));
	if (rc == 0)
		rc = put(writer, "=\"", 2);
	for (; *value && rc == 0; value++) {
		if (*value == '\n')
			rc = put(writer, "\\n", 2);
		else if (*value == '"' || *value == '\\')
			rc = put(writer, (const char[]){ '\\', *value }, 2);
		else
			rc = put(writer, value, 1);
	}
	return rc == 0 ? put(writer, "\"", 1) : rc;
}

/* Those members of an element that are labels of the metric. */
static int
put_labels(struct writer *writer, const json_t *element)
{
	const char *const *name;
	char buf[NUMBER_MAX];
	int rc = 0;

	for (name = writer->metric->labels; *name && rc == 0; name++) {
		const json_t *value = json_object_get(element, *name);

		if (json_is_integer(value)) {
			(void)snprintf(buf, sizeof(buf), "%" JSON_INTEGER_FORMAT,
			    json_integer_value(value));
			rc = put_label(writer, *name, buf);
		} else if (json_is_string(value)) {
			rc = put_label(writer, *name, json_string_value(value));
		}
	}
	return rc;
}

/* ---- samples ---- */

/* NAME SUFFIX{labels, EXTRA} VALUE; extra "" for none. */
static int
add_sample(struct writer *writer, const char *suffix, const char *extra,
    const char *value)
{
	const bool has_labels = writer->len > 0 || *extra;

	return add(writer, "%s%s%s%s%s%s%s %s\n", writer->metric->name, suffix,
	    has_labels ? "{" : "", writer->labels, writer->len > 0 && *extra ? "," : "",
	    extra, has_labels ? "}" : "", value);
}

static int
add_histogram(struct writer *writer, const json_t *value)
{
	const json_t *buckets = json_object_get(value, "buckets"), *bucket;
	const struct metric *metric = writer->metric;
	char text[NUMBER_MAX], bound[NUMBER_MAX], extra[NUMBER_MAX + sizeof("le=\"\"")];
	uint64_t count;
	size_t i;
	int rc = 0;

	json_array_foreach(buckets, i, bucket) {
		count = (uint64_t)json_integer_value(json_object_get(bucket, "count"));
		(void)snprintf(extra, sizeof(extra), "le=\"%s\"",
		    number(metric,
			(uint64_t)json_integer_value(json_object_get(bucket, "le")),
			bound));
		(void)snprintf(text, sizeof(text), "%" PRIu64, count);
		if (rc == 0)
			rc = add_sample(writer, "_bucket", extra, text);
	}
	count = (uint64_t)json_integer_value(json_object_get(value, "count"));
	(void)snprintf(text, sizeof(text), "%" PRIu64, count);
	if (rc == 0)
		rc = add_sample(writer, "_bucket", "le=\"+Inf\"", text);
	if (rc == 0)
		rc = add_sample(writer, "_count", "", text);
	count = (uint64_t)json_integer_value(json_object_get(value, "sum"));
	return rc == 0 ? add_sample(writer, "_sum", "", number(metric, count, text))
		       : rc;
}

static int
add_value(struct writer *writer, const json_t *value)
{
	const struct metric *metric = writer->metric;
	char text[NUMBER_MAX];
	uint64_t n = 1;
	int rc;

	if (metric->kind == METRIC_HISTOGRAM ? !json_is_object(value)
					     : metric->kind != METRIC_INFO &&
		    !json_is_integer(value) && !json_is_boolean(value))
		return 0; /* null: it is not known, or there is none */
	rc = add_header(writer);
	if (rc < 0)
		return rc;
	if (metric->kind == METRIC_HISTOGRAM)
		return add_histogram(writer, value);
	if (json_is_integer(value))
		n = (uint64_t)json_integer_value(value);
	else if (metric->kind != METRIC_INFO)
		n = json_is_true(value);
	return add_sample(writer, "", "", number(metric, n, text));
}

/* ---- where the numbers are ---- */

static int add_at(struct writer *writer, const json_t *value, const char *path);

/* Each element of an array, with its labels. */
static int
add_elements(struct writer *writer, const json_t *array, const char *path)
{
	const size_t len = writer->len;
	const json_t *element;
	size_t i;
	int rc = 0;

	json_array_foreach(array, i, element) {
		if (rc == 0)
			rc = put_labels(writer, element);
		if (rc == 0)
			rc = add_at(writer, element, path);
		writer->len = len;
		writer->labels[len] = '\0';
	}
	return rc;
}

/* Each member of an object, with its name as a label. */
static int
add_members(struct writer *writer, json_t *object, const char *path)
{
	const size_t len = writer->len;
	const char *key;
	json_t *member;
	int rc = 0;

	json_object_foreach(object, key, member) {
		if (rc == 0)
			rc = put_label(writer, writer->metric->key, key);
		if (rc == 0)
			rc = add_at(writer, member, path);
		writer->len = len;
		writer->labels[len] = '\0';
	}
	return rc;
}

/* What the rest of a path leads to. */
static int
add_at(struct writer *writer, const json_t *value, const char *path)
{
	if (*path == '.')
		path++;
	if (!value || *path == '\0')
		return value ? add_value(writer, value) : 0;
	if (strncmp(path, "[]", 2) == 0)
		return add_elements(writer, value, path + 2);
	if (strncmp(path, "{}", 2) == 0)
		return add_members(writer, (json_t *)(uintptr_t)value, path + 2);
	{
		const size_t len = strcspn(path, ".[{");
		char key[64];

		if (len >= sizeof(key))
			return -EMSGSIZE;
		memcpy(key, path, len);
		key[len] = '\0';
		return add_at(writer, json_object_get(value, key), path + len);
	}
}

int
metrics_add(struct rpc_text *text, const json_t *stats)
{
	struct writer writer = { .text = text };
	size_t i;
	int rc = 0;

	for (i = 0; i < metric_count && rc == 0; i++) {
		const struct metric *metric = &metrics[i];

		if (!writer.metric || strcmp(writer.metric->name, metric->name) != 0)
			writer.has_header = false;
		writer.metric = metric;
		writer.len = 0;
		writer.labels[0] = '\0';
		if (metric->fixed)
			rc = put(&writer, metric->fixed, strlen(metric->fixed));
		if (rc == 0)
			rc = add_at(&writer, stats, metric->path);
	}
	return rc;
}
