/* SPDX-License-Identifier: BSD-3-Clause */
/* One received message as recv.poll shows it. */
#include <config.h>

#include "daemon/rpc_message.h"

#include <stdlib.h>

#include <jansson.h>

#include "daemon/rpc_json.h"
#include "daemon/rpc_text.h"
#include "lib/core/base64.h"
#include "lib/core/text.h"

/* All keys, and the longest values apart from context and data: below 512 bytes. */
#define FIXED_ROOM 640u

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

static json_t *
to_base64(const void *data, size_t len)
{
	const size_t encoded_len = base64_encoded_len(len);
	char *encoded = malloc(encoded_len + 1);
	json_t *json;

	if (!encoded)
		return NULL;
	base64_encode(data, len, encoded);
	json = json_stringn_nocheck(encoded, encoded_len);
	free(encoded);
	return json;
}

/* The payload, in *encoding or in base64, which *encoding becomes then. */
static json_t *
data_to_json(const void *data, size_t len, size_t room, enum data_encoding *encoding,
    size_t *used)
{
	if (*encoding == DATA_NONE) {
		*used = 0;
		return json_null();
	}
	if (*encoding == DATA_TEXT && text_is_utf8(data, len)) {
		*used = rpc_text_escaped_len(data, len);
		if (*used <= room)
			return json_stringn_nocheck(data, len);
	}
	*encoding = DATA_BASE64;
	*used = base64_encoded_len(len);
	return to_base64(data, len);
}

static const char *
encoding_name(enum data_encoding encoding)
{
	switch (encoding) {
	case DATA_BASE64:
		return "base64";
	case DATA_TEXT:
		return "text";
	case DATA_NONE:
		return "none";
	}
	return "none";
}

json_t *
rpc_message_to_json(const struct ledger *ledger, const struct ledger_message *message,
    const void *data, enum data_encoding encoding, size_t room, size_t *used)
{
	const struct ledger_arrival *arrival = &message->arrival;
	const size_t fixed = room_without_data(message);
	char token[LEDGER_TOKEN_MAX], time[RPC_TIME_MAX];
	json_t *payload;

	payload = data_to_json(data, arrival->len, room - fixed, &encoding, used);
	*used += fixed;
	ledger_token_format(ledger, message->slot, message->generation, token);
	return json_pack("{s:s, s:I, s:s, s:s, s:I, s:o, s:I, s:I, s:I, s:o, s:o, s:s, "
			 "s:I, s:s, s:o}",
	    "token", token, "seq", (json_int_t)message->seq, "status", "SUCCESS",
	    "opcode", arrival->is_rdma_write ? "RECV_RDMA_WITH_IMM" : "RECV", "conn",
	    (json_int_t)arrival->conn, "peer", rpc_json_addr(&arrival->peer), "qp_num",
	    (json_int_t)arrival->qp_num, "slot", (json_int_t)message->slot, "len",
	    (json_int_t)arrival->len, "imm",
	    arrival->has_imm ? json_integer((json_int_t)arrival->imm) : json_null(),
	    "context",
	    message->context ? json_stringn(message->context, message->context_len)
			     : json_null(),
	    "received_at", rpc_json_time(arrival->received_ns, time), "deliveries",
	    (json_int_t)message->deliveries, "encoding", encoding_name(encoding),
	    "data", payload);
}
