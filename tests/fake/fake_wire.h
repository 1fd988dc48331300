/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_wire.h: how doubles in different processes talk, over one TCP connection each.
 *
 * A frame is a head of WIRE_HEAD bytes and len bytes of data. The dialling side sends
 * WIRE_REQUEST; the answer is WIRE_REPLY or WIRE_REJECT; a reply is confirmed by
 * WIRE_READY. Then both send WIRE_MESSAGE, at most WIRE_WINDOW without WIRE_ACK. An
 * acknowledgement comes when the message lies in a buffer of the receiver, in order.
 * WIRE_BYE ends the connection and is answered by WIRE_BYE_ACK; a connection that just
 * closes has died.
 *
 *   byte 0  type                     byte 4..7   len, little endian
 *   byte 1  WIRE_HAS_IMM             byte 8..11  value, little endian: immediate, enum
 *   byte 2  0, byte 3  WIRE_VERSION              ibv_wc_status, or the reason of a
 * reject
 */
#ifndef RPMAD_TESTS_FAKE_FAKE_WIRE_H
#define RPMAD_TESTS_FAKE_FAKE_WIRE_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define WIRE_HEAD    12
#define WIRE_VERSION 1
#define WIRE_WINDOW  32
#define WIRE_LEN_MAX (64u << 20)
#define WIRE_HAS_IMM 1

enum wire_type {
	WIRE_REQUEST = 1,
	WIRE_REPLY = 2,
	WIRE_REJECT = 3,
	WIRE_READY = 4,
	WIRE_MESSAGE = 5,
	WIRE_ACK = 6,
	WIRE_BYE = 7,
	WIRE_BYE_ACK = 8,
};

struct wire_head {
	uint8_t type;
	bool has_imm;
	uint32_t len;
	uint32_t value;
};

static inline void
wire_pack(const struct wire_head *head, unsigned char out[WIRE_HEAD])
{
	uint32_t len = htole32(head->len);
	uint32_t value = htole32(head->value);

	out[0] = head->type;
	out[1] = head->has_imm ? WIRE_HAS_IMM : 0;
	out[2] = 0;
	out[3] = WIRE_VERSION;
	memcpy(out + 4, &len, 4);
	memcpy(out + 8, &value, 4);
}

/* False: this is no head. */
static inline bool
wire_unpack(const unsigned char in[WIRE_HEAD], struct wire_head *head)
{
	uint32_t len;
	uint32_t value;

	memcpy(&len, in + 4, 4);
	memcpy(&value, in + 8, 4);
	head->type = in[0];
	head->has_imm = in[1] & WIRE_HAS_IMM;
	head->len = le32toh(len);
	head->value = le32toh(value);
	return in[3] == WIRE_VERSION && head->len <= WIRE_LEN_MAX;
}

#endif
