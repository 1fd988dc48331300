/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that many results have in common. */
#include <config.h>

#include "daemon/rpc_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include <jansson.h>

#include "lib/core/addr.h"
#include "lib/core/histogram.h"

#define NS_PER_S 1000000000u

const char *
rpc_json_time(uint64_t wall_ns, char buf[RPC_TIME_MAX])
{
	const time_t seconds = (time_t)(wall_ns / NS_PER_S);
	const unsigned int us = (unsigned int)(wall_ns % NS_PER_S / 1000);
	struct tm tm;
	size_t len;

	/* 64 bits of nanoseconds end in the year 2554: always four digits. */
	(void)gmtime_r(&seconds, &tm);
	len = strftime(buf, RPC_TIME_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(buf + len, RPC_TIME_MAX - len, ".%06uZ", us);
	return buf;
}

const char *
rpc_json_instance(uint64_t instance, char buf[RPC_INSTANCE_MAX])
{
	(void)snprintf(buf, RPC_INSTANCE_MAX, "%016" PRIx64, instance);
	return buf;
}

json_t *
rpc_json_positive(uint64_t value)
{
	return value ? json_integer((json_int_t)value) : json_null();
}

json_t *
rpc_json_text(const char *text)
{
	return text[0] != '\0' ? json_string(text) : json_null();
}

json_t *
rpc_json_addr(const struct sockaddr_storage *addr)
{
	char text[ADDR_TEXT_MAX];

	if (addr_len(addr) == 0)
		return json_null();
	return json_string(addr_format(addr, text, sizeof(text)));
}

json_t *
rpc_json_histogram(const struct histogram *histogram)
{
	json_t *buckets = json_array();
	uint64_t count = 0;
	unsigned int i;

	for (i = 0; i < histogram->scale->buckets; i++) {
		count += histogram_bucket(histogram, i);
		if (json_array_append_new(buckets,
			json_pack("{s:I, s:I}", "le",
			    (json_int_t)histogram_bound(histogram, i), "count",
			    (json_int_t)count)) < 0) {
			json_decref(buckets);
			return NULL;
		}
	}
	return json_pack("{s:I, s:I, s:o}", "count",
	    (json_int_t)histogram_count(histogram), "sum", (json_int_t)histogram->sum,
	    "buckets", buckets);
}

json_t *
rpc_json_slots(const struct ledger_counts *counts)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "free", (json_int_t)counts->free,
	    "posted", (json_int_t)counts->posted, "ready", (json_int_t)counts->ready,
	    "leased", (json_int_t)counts->leased, "total", (json_int_t)counts->total);
}
