/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers from text, strictly: nothing else in the tree parses numbers. */
#ifndef RPMAD_LIB_CORE_NUM_H
#define RPMAD_LIB_CORE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An unsigned decimal integer: digits only, no sign, no blanks, at most UINT64_MAX.
 * return   0 and *out; -EINVAL not of that form; -ERANGE too large
 */
int num_parse_u64(const char *text, uint64_t *out);

/*
 * A size in bytes: an integer, or one followed by KiB, MiB or GiB (also K, M, G, of the
 * same meaning). return   as num_parse_u64()
 */
int num_parse_bytes(const char *text, uint64_t *out);

/*
 * A duration in milliseconds: a decimal number of seconds ("2", "0.25"), or an integer
 * with ms, s, m or h. Finer than a millisecond is -EINVAL. return   as num_parse_u64()
 */
int num_parse_ms(const char *text, uint64_t *out);

/* 1536 -> "1.5 KiB"; buf of at least 32 bytes, returned. */
const char *num_format_bytes(uint64_t bytes, char *buf, size_t size);

/* "cf3a" -> bytes; return the count of bytes, or -EINVAL / -ENOSPC. out holds size
 * bytes. */
int num_parse_hex(const char *text, uint8_t *out, size_t size);

#endif
