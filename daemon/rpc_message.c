/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One received message as recv.poll shows it. It is written as text at once: as values
 * of jansson a small message was some twenty allocations and as many walks over them.
 */
#include <config.h>

#include "daemon/rpc_message.h"

#include <errno.h>
#include <string.h>

#include <jansson.h>

#include "daemon/rpc_json.h"
#include "daemon/rpc_text.h"
#include "lib/core/base64.h"
#include "lib/core/text.h"

/* All keys, and the longest values apart from context and data: below 512 bytes. */
#define FIXED_ROOM 640u
#define NS_PER_S   1000000000u

/* Add a literal. */
#define PUT(at, literal) put((at), (literal), sizeof(literal) - 1)

static char *
put(char *at, const char *bytes, size_t len)
{
	memcpy(at, bytes, len);
	return at + len;
}

static char *
put_number(char *at, uint64_t number)
{
	char digits[20];
	size_t first = sizeof(digits);

	do {
		digits[--first] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	return put(at, digits + first, sizeof(digits) - first);
}

/* As ledger_token_format() writes it: the instance, which all have in common, slot and
 * generation, with dots between. */
static char *
put_token(char *at, const struct ledger *ledger, const struct ledger_message *message,
    struct rpc_message_cache *cache)
{
	if (cache->instance_len == 0) {
		ledger_token_format(ledger, 0, 0, cache->instance);
		cache->instance_len = strcspn(cache->instance, ".") + 1;
	}
	at = put(at, cache->instance, cache->instance_len);
	at = put_number(at, message->slot);
	*at++ = '.';
	return put_number(at, message->generation);
}

/* "2026-01-02T03:04:05.123456Z": all but the last part is often that of the last one. */
static char *
put_time(char *at, uint64_t wall_ns, struct rpc_message_cache *cache)
{
	uint32_t us = (uint32_t)(wall_ns % NS_PER_S / 1000);
	char text[RPC_TIME_MAX];
	int i;

	if (cache->time[0] == '\0' || cache->second != wall_ns / NS_PER_S) {
		(void)rpc_json_time(wall_ns, text);
		memcpy(cache->time, text, sizeof(cache->time) - 1);
		cache->second = wall_ns / NS_PER_S;
	}
	at = put(at, cache->time, sizeof(cache->time) - 1);
	*at++ = '.';
	for (i = 5; i >= 0; i--, us /= 10)
		at[i] = (char)('0' + us % 10);
	at[6] = 'Z';
	return at + 7;
}

/* The address in its quotes; what stands in them is jansson's to escape. */
static int
load_peer(struct rpc_message_cache *cache, const struct sockaddr_storage *peer)
{
	struct rpc_text text = { 0 };
	json_t *json;
	int rc;

	if (cache->peer_len > 0 && memcmp(&cache->peer, peer, sizeof(*peer)) == 0)
		return 0;
	json = rpc_json_addr(peer);
	if (!json)
		return -ENOMEM;
	rc = rpc_text_add_json(&text, json, sizeof(cache->peer_text));
	json_decref(json);
	if (rc == 0) {
		memcpy(cache->peer_text, text.bytes, text.len);
		cache->peer_len = text.len;
		cache->peer = *peer;
	}
	rpc_text_free(&text);
	return rc == 0 ? 0 : -ENOMEM;
}

static size_t
room_without_data(const struct ledger_message *message)
{
	return FIXED_ROOM +
	    rpc_text_escaped_len(message->context, message->context_len);
}

size_t
rpc_message_room(const struct ledger_message *message, enum data_encoding encoding)
{
	const size_t len = message->arrival.len;

	return room_without_data(message) +
	    (encoding == DATA_NONE ? 0 : base64_encoded_len(len));
}

/* ---- the members in their order ---- */

static int
add_head(struct rpc_text *text, const struct ledger *ledger,
    const struct ledger_message *message, struct rpc_message_cache *cache)
{
	const struct ledger_arrival *arrival = &message->arrival;
	char *at = rpc_text_reserve(text, FIXED_ROOM);

	if (!at || load_peer(cache, &arrival->peer) < 0)
		return -ENOMEM;
	at = PUT(at, "{\"token\":\"");
	at = put_token(at, ledger, message, cache);
	at = PUT(at, "\",\"seq\":");
	at = put_number(at, message->seq);
	at = PUT(at, ",\"status\":\"SUCCESS\",\"opcode\":");
	at = arrival->is_rdma_write ? PUT(at, "\"RECV_RDMA_WITH_IMM\"")
				    : PUT(at, "\"RECV\"");
	at = PUT(at, ",\"conn\":");
	at = put_number(at, arrival->conn);
	at = PUT(at, ",\"peer\":");
	at = put(at, cache->peer_text, cache->peer_len);
	at = PUT(at, ",\"qp_num\":");
	at = put_number(at, arrival->qp_num);
	at = PUT(at, ",\"slot\":");
	at = put_number(at, message->slot);
	at = PUT(at, ",\"len\":");
	at = put_number(at, arrival->len);
	at = PUT(at, ",\"imm\":");
	at = arrival->has_imm ? put_number(at, arrival->imm) : PUT(at, "null");
	at = PUT(at, ",\"context\":");
	rpc_text_take(text, at);
	return 0;
}

static int
add_context(struct rpc_text *text, const struct ledger_message *message)
{
	if (!message->context)
		return rpc_text_add(text, "null", 4);
	return rpc_text_add_string(text, message->context, message->context_len);
}

static int
add_middle(struct rpc_text *text, const struct ledger_message *message,
    const char *encoding, struct rpc_message_cache *cache)
{
	char *at = rpc_text_reserve(text, FIXED_ROOM);

	if (!at)
		return -ENOMEM;
	at = PUT(at, ",\"received_at\":\"");
	at = put_time(at, message->arrival.received_ns, cache);
	at = PUT(at, "\",\"deliveries\":");
	at = put_number(at, message->deliveries);
	at = PUT(at, ",\"encoding\":\"");
	at = put(at, encoding, strlen(encoding));
	at = PUT(at, "\",\"data\":");
	rpc_text_take(text, at);
	return 0;
}

static int
add_base64(struct rpc_text *text, const void *data, size_t len)
{
	const size_t encoded_len = base64_encoded_len(len);
	char *at = rpc_text_reserve(text, encoded_len + 3);

	if (!at)
		return -ENOMEM;
	*at++ = '"';
	base64_encode(data, len, at);
	at = PUT(at + encoded_len, "\"");
	rpc_text_take(text, at);
	return 0;
}

int
rpc_message_add(struct rpc_text *text, const struct ledger *ledger,
    const struct ledger_message *message, const void *data, enum data_encoding encoding,
    size_t room, struct rpc_message_cache *cache)
{
	static const char *const names[] = {
		[DATA_BASE64] = "base64", [DATA_TEXT] = "text", [DATA_NONE] = "none"
	};
	const size_t len = message->arrival.len;
	int rc;

	if (encoding == DATA_TEXT &&
	    (!text_is_utf8(data, len) ||
		rpc_text_escaped_len(data, len) > room - room_without_data(message)))
		encoding = DATA_BASE64;
	rc = add_head(text, ledger, message, cache);
	if (rc == 0)
		rc = add_context(text, message);
	if (rc == 0)
		rc = add_middle(text, message, names[encoding], cache);
	if (rc != 0)
		return -ENOMEM;
	if (encoding == DATA_BASE64)
		rc = add_base64(text, data, len);
	else if (encoding == DATA_TEXT)
		rc = rpc_text_add_string(text, data, len);
	else
		rc = rpc_text_add(text, "null", 4);
	if (rc == 0)
		rc = rpc_text_add(text, "}", 1);
	return rc == 0 ? 0 : -ENOMEM;
}
