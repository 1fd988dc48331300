/* SPDX-License-Identifier: BSD-3-Clause */
/* One received message as recv.poll shows it. */
#ifndef RPMAD_DAEMON_RPC_MESSAGE_H
#define RPMAD_DAEMON_RPC_MESSAGE_H

#include <stddef.h>

#include "daemon/ledger.h"
#include "lib/core/method.h"

struct json_t;

/* The most bytes that a message takes in a reply. Text may take fewer, never more. */
size_t rpc_message_room(const struct ledger_message *message,
    enum data_encoding encoding);

/*
 * A message as JSON. One that is no text (UTF-8 without NUL), or grows too long as
 * such, comes in base64 all the same.
 *
 * data     its arrival.len bytes
 * room     the most bytes it may take; at least rpc_message_room()
 * used     the most it takes
 * return   a new reference; NULL: no memory
 */
struct json_t *rpc_message_to_json(const struct ledger *ledger,
    const struct ledger_message *message, const void *data, enum data_encoding encoding,
    size_t room, size_t *used);

#endif
