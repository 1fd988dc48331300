/* SPDX-License-Identifier: BSD-3-Clause */
/* The private data of an acceptance: how long a message may be. */
#ifndef RPMAD_DAEMON_ANNOUNCE_H
#define RPMAD_DAEMON_ANNOUNCE_H

#include <stddef.h>
#include <stdint.h>

/* "RPMD", version 1, three zero bytes, slot size as 32 bits in network order. */
#define ANNOUNCE_BYTES 12u

void announce_write(uint8_t out[ANNOUNCE_BYTES], uint32_t slot_size);
/* The slot size; 0: the data is not an announcement. len may be longer: fields are
 * padded. */
uint32_t announce_read(const uint8_t *data, size_t len);

#endif
