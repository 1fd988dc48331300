/* SPDX-License-Identifier: BSD-3-Clause */
/* UTF-8: tell it from other bytes, and make foreign text fit to be shown on one line.
 */
#ifndef RPMAD_LIB_CORE_TEXT_H
#define RPMAD_LIB_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether n bytes are well-formed UTF-8 (RFC 3629) without a NUL. */
bool text_is_utf8(const void *data, size_t n);

/* What makes an English noun with that number before it right: "" for 1, else "s". */
const char *text_plural(uint64_t n);

/* In place: control characters and bytes that are no UTF-8 become '?'. */
void text_clean(char *text);

#endif
