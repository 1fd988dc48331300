/* SPDX-License-Identifier: BSD-3-Clause */
/* One received message as recv.poll shows it. */
#ifndef RPMAD_DAEMON_RPC_MESSAGE_H
#define RPMAD_DAEMON_RPC_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "daemon/ledger.h"
#include "lib/core/compiler.h"
#include "lib/core/method.h"

struct rpc_text;

#define RPC_MESSAGE_PEER_MAX 96u /* of an address in its quotes */
#define RPC_MESSAGE_TIME_MAX 20u /* of a time up to its seconds, with the NUL */

/*
 * What the messages of a reply have in common, and is written once: they mostly follow
 * each other from one peer within a second. Zero-initialised.
 */
struct rpc_message_cache {
	char instance[LEDGER_TOKEN_MAX]; /* a token up to its first dot */
	size_t instance_len;             /* 0: none yet */
	struct sockaddr_storage peer;
	char peer_text[RPC_MESSAGE_PEER_MAX];
	size_t peer_len;                 /* 0: none yet */
	uint64_t second;                 /* since 1970 */
	char time[RPC_MESSAGE_TIME_MAX]; /* "": none yet */
};

/* The most bytes that a message takes in a reply. Text may take fewer, never more. */
size_t rpc_message_room(const struct ledger_message *message,
    enum data_encoding encoding);

/*
 * Add a message as JSON. One that is no text (UTF-8 without NUL), or grows too long as
 * such, comes in base64 all the same.
 *
 * data     its arrival.len bytes
 * room     the most bytes it may take; at least rpc_message_room()
 * return   0; -ENOMEM: what was added is to be thrown away
 */
RPMAD_MUST_USE int rpc_message_add(struct rpc_text *text, const struct ledger *ledger,
    const struct ledger_message *message, const void *data, enum data_encoding encoding,
    size_t room, struct rpc_message_cache *cache);

#endif
