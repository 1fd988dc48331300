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
	uint64_t bound = 10;
	unsigned int len = 1;
	char *end;

	/* Most are short. The longest has 20 digits, more than bound can count. */
	for (; number >= bound && len < 20; len++)
		bound *= 10;
	end = at + len;
	for (at = end; len > 0; len--, number /= 10)
		*--at = (char)('0' + number % 10);
	return end;
}

/* As ledger_token_format() writes it: the instance, which all have in common, slot and
 * generation, with dots between. */
static char *
put_token(char *at, const struct ledger *ledger, const struct ledger_message *message,
    struct rpc_message_cache *cache)
{
	char token[LEDGER_TOKEN_MAX];

	if (cache->instance[0] == '\0') {
		ledger_token_format(ledger, 0, 0, token);
		memcpy(cache->instance, token, RPC_MESSAGE_NAME_LEN);
	}
	at = put(at, cache->instance, RPC_MESSAGE_NAME_LEN);
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
		memcpy(cache->time, text, RPC_MESSAGE_TIME_LEN);
		cache->second = wall_ns / NS_PER_S;
	}
	at = put(at, cache->time, RPC_MESSAGE_TIME_LEN);
	*at++ = '.';
	for (i = 5; i >= 0; i--, us /= 10)
		at[i] = (char)('0' + us % 10);
	at[6] = 'Z';
	return at + 7;
}

/* The members that name a peer; what stands in the quotes of its address is jansson's to
 * escape. NULL: no memory */
static const struct rpc_message_peer *
load_peer(struct rpc_message_cache *cache, const struct ledger_arrival *arrival)
{
	struct rpc_message_peer *peer =
	    &cache->peers[arrival->conn % RPC_MESSAGE_PEERS];
	struct sockaddr_storage addr = { 0 };
	struct rpc_text text = { 0 };
	json_t *json;
	char *at;
	int rc;

	if (peer->len > 0 && peer->conn == arrival->conn &&
	    peer->qp_num == arrival->qp_num &&
	    memcmp(&peer->addr, &arrival->peer, sizeof(peer->addr)) == 0)
		return peer;
	memcpy(&addr, &arrival->peer, sizeof(arrival->peer));
	json = rpc_json_addr(&addr);
	if (!json)
		return NULL;
	rc = rpc_text_add_json(&text, json, RPC_MESSAGE_ADDR_MAX);
	json_decref(json);
	if (rc == 0) {
		at = PUT(peer->text, ",\"conn\":");
		at = put_number(at, arrival->conn);
		at = PUT(at, ",\"peer\":");
		at = put(at, text.bytes, text.len);
		at = PUT(at, ",\"qp_num\":");
		at = put_number(at, arrival->qp_num);
		peer->len = (size_t)(at - peer->text);
		peer->conn = arrival->conn;
		peer->addr = arrival->peer;
		peer->qp_num = arrival->qp_num;
	}
	rpc_text_free(&text);
	return rc == 0 ? peer : NULL;
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

/* ---- the members in their order, each of which finds its room ---- */

static char *
put_head(char *at, const struct ledger *ledger, const struct ledger_message *message,
    const struct rpc_message_peer *peer, struct rpc_message_cache *cache)
{
	const struct ledger_arrival *arrival = &message->arrival;

	at = PUT(at, "{\"token\":\"");
	at = put_token(at, ledger, message, cache);
	at = PUT(at, "\",\"seq\":");
	at = put_number(at, message->seq);
	at = PUT(at, ",\"status\":\"SUCCESS\",\"opcode\":");
	at = arrival->is_rdma_write ? PUT(at, "\"RECV_RDMA_WITH_IMM\"")
				    : PUT(at, "\"RECV\"");
	at = put(at, peer->text, peer->len);
	at = PUT(at, ",\"slot\":");
	at = put_number(at, message->slot);
	at = PUT(at, ",\"len\":");
	at = put_number(at, arrival->len);
	at = PUT(at, ",\"imm\":");
	at = arrival->has_imm ? put_number(at, arrival->imm) : PUT(at, "null");
	return PUT(at, ",\"context\":");
}

static char *
put_middle(char *at, const struct ledger_message *message, enum data_encoding encoding,
    struct rpc_message_cache *cache)
{
	at = PUT(at, ",\"received_at\":\"");
	at = put_time(at, message->arrival.received_ns, cache);
	at = PUT(at, "\",\"deliveries\":");
	at = put_number(at, message->deliveries);
	switch (encoding) {
	case DATA_BASE64:
		return PUT(at, ",\"encoding\":\"base64\",\"data\":");
	case DATA_TEXT:
		return PUT(at, ",\"encoding\":\"text\",\"data\":");
	case DATA_NONE:
		break;
	}
	return PUT(at, ",\"encoding\":\"none\",\"data\":");
}

static char *
put_base64(char *at, const void *data, size_t len)
{
	*at++ = '"';
	base64_encode(data, len, at);
	return PUT(at + base64_encoded_len(len), "\"");
}

/* A string between two parts that found their room. NULL: no memory */
static char *
add_string(struct rpc_text *text, char *at, const void *data, size_t len, size_t room)
{
	rpc_text_take(text, at);
	return rpc_text_add_string(text, data, len) == 0 ? rpc_text_reserve(text, room)
							 : NULL;
}

int
rpc_message_add(struct rpc_text *text, const struct ledger *ledger,
    const struct ledger_message *message, const void *data, enum data_encoding encoding,
    size_t room, struct rpc_message_cache *cache)
{
	const struct rpc_message_peer *peer = load_peer(cache, &message->arrival);
	const size_t len = message->arrival.len;
	size_t own_room;
	char *at;

	if (encoding == DATA_TEXT &&
	    (!text_is_utf8(data, len) ||
		rpc_text_escaped_len(data, len) > room - room_without_data(message)))
		encoding = DATA_BASE64;
	own_room = FIXED_ROOM + (encoding == DATA_BASE64 ? base64_encoded_len(len) : 0);
	at = rpc_text_reserve(text, own_room);
	if (!at || !peer)
		return -ENOMEM;
	at = put_head(at, ledger, message, peer, cache);
	if (message->context)
		at = add_string(text, at, message->context, message->context_len,
		    own_room);
	else
		at = PUT(at, "null");
	if (!at)
		return -ENOMEM;
	at = put_middle(at, message, encoding, cache);
	if (encoding == DATA_BASE64)
		at = put_base64(at, data, len);
	else if (encoding == DATA_TEXT)
		at = add_string(text, at, data, len, 1);
	else
		at = PUT(at, "null");
	if (!at)
		return -ENOMEM;
	rpc_text_take(text, PUT(at, "}"));
	return 0;
}
