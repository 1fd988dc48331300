/* SPDX-License-Identifier: BSD-3-Clause */
/* Twelve bytes to and from the wire. */
#include <config.h>

#include "daemon/announce.h"

#include <arpa/inet.h>
#include <string.h>

static const uint8_t head[8] = { 'R', 'P', 'M', 'D', 1, 0, 0, 0 };

void
announce_write(uint8_t out[ANNOUNCE_BYTES], uint32_t slot_size)
{
	uint32_t wire = htonl(slot_size);

	memcpy(out, head, sizeof(head));
	memcpy(out + sizeof(head), &wire, sizeof(wire));
}

uint32_t
announce_read(const uint8_t *data, size_t len)
{
	uint32_t wire;

	if (len < ANNOUNCE_BYTES || memcmp(data, head, sizeof(head)) != 0)
		return 0;
	memcpy(&wire, data + sizeof(head), sizeof(wire));
	return ntohl(wire);
}
