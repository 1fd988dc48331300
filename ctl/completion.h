/* SPDX-License-Identifier: BSD-3-Clause */
/* A message as recv.poll gives it. */
#ifndef RPMAD_CTL_COMPLETION_H
#define RPMAD_CTL_COMPLETION_H

#include <stddef.h>
#include <stdint.h>

#include "lib/core/compiler.h"
#include "lib/core/err.h"

struct json_t;

/*
 * The payload, which is there in base64.
 *
 * bytes    to be freed; never NULL on success
 * return   0; -EPROTO with err: it is in no such form
 */
RPMAD_MUST_USE int completion_bytes(const struct json_t *completion, uint8_t **bytes,
    size_t *len, struct err *err);

#endif
