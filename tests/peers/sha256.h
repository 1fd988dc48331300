/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 (FIPS 180-4), so that what was sent and what arrived compare as in sha256sum.
 */
#ifndef RPMAD_TESTS_PEERS_SHA256_H
#define RPMAD_TESTS_PEERS_SHA256_H

#include <stddef.h>

#define SHA256_HEX 65 /* with the NUL */

/* The digest of len bytes in lower-case hexadecimal. data may be NULL when len is 0. */
void sha256_hex(const void *data, size_t len, char hex[SHA256_HEX]);

#endif
