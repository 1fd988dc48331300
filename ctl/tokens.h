/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of tokens, as long as they may be. */
#ifndef RPMAD_CTL_TOKENS_H
#define RPMAD_CTL_TOKENS_H

#include "lib/core/compiler.h"
#include "lib/core/method.h"

struct ctl;
struct json_t;

/*
 * Acknowledge messages or give them back (METHOD_RECV_ACK, METHOD_RECV_NACK), as many
 * at once as a request takes.
 *
 * tokens   emptied, also on failure
 * return   as ctl_call()
 */
RPMAD_MUST_USE int tokens_call(struct ctl *ctl, enum method_id method,
    struct json_t *tokens);

#endif
