/* SPDX-License-Identifier: BSD-3-Clause */
/* Base64 as RFC 4648 section 4 has it: with padding, no line breaks. */
#ifndef RPMAD_LIB_CORE_BASE64_H
#define RPMAD_LIB_CORE_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* Characters for n bytes, without a NUL. */
size_t base64_encoded_len(size_t n);

/* Encode n bytes; out holds base64_encoded_len(n) characters, no NUL is written. */
void base64_encode(const void *data, size_t n, char *out);

/* Bytes that a text of n characters decodes to at the most. */
size_t base64_decoded_max(size_t n);

/*
 * Decode n characters strictly: padded, no blanks, unused bits zero.
 * out      holds base64_decoded_max(n) bytes
 * return   0 and *out_len; -EINVAL not such a text
 */
int base64_decode(const char *text, size_t n, uint8_t *out, size_t *out_len);

#endif
