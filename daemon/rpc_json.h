/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that many results have in common. */
#ifndef RPMAD_DAEMON_RPC_JSON_H
#define RPMAD_DAEMON_RPC_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "daemon/ledger.h"

struct histogram;
struct json_t;

#define RPC_TIME_MAX     32u /* characters of a time with its NUL */
#define RPC_INSTANCE_MAX 17u /* of an instance */

/* "2026-01-02T03:04:05.123456Z" of nanoseconds since 1970; buf is returned. */
const char *rpc_json_time(uint64_t wall_ns, char buf[RPC_TIME_MAX]);
/* 16 hex digits; buf is returned. */
const char *rpc_json_instance(uint64_t instance, char buf[RPC_INSTANCE_MAX]);

/* New references; NULL: no memory. */

/* The integer, or null where it is 0. */
struct json_t *rpc_json_positive(uint64_t value);
/* The text, or null where it is empty. */
struct json_t *rpc_json_text(const char *text);
/* "IP:port", or null where it is of no family: it is not known. */
struct json_t *rpc_json_addr(const struct sockaddr_storage *addr);
/* {"count", "sum", "buckets": [{"le", "count"}, ...]}: each bucket counts the values up to
 * its bound, those of the buckets before it too. */
struct json_t *rpc_json_histogram(const struct histogram *histogram);
/* {"free", "posted", "ready", "leased", "total"}. */
struct json_t *rpc_json_slots(const struct ledger_counts *counts);

#endif
