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

#define RPC_MESSAGE_ADDR_MAX 96u  /* of an address in its quotes */
#define RPC_MESSAGE_PEER_MAX 192u /* of the members that name a peer */
#define RPC_MESSAGE_PEERS    64u  /* that are remembered */
#define RPC_MESSAGE_TIME_LEN 19u  /* of a time up to its seconds */
#define RPC_MESSAGE_NAME_LEN 17u  /* of a token up to its first dot, that included */

/* What messages of one connection have in common, as text. */
struct rpc_message_peer {
	uint64_t conn;
	union ledger_peer addr;
	uint32_t qp_num;
	char text[RPC_MESSAGE_PEER_MAX];
	size_t len; /* 0: none yet */
};

/*
 * What messages have in common, and is written once: they mostly come within a second, and
 * from few peers. Those of one ledger alone; zero-initialised.
 */
struct rpc_message_cache {
	char instance[RPC_MESSAGE_NAME_LEN + 1];          /* "": none yet */
	struct rpc_message_peer peers[RPC_MESSAGE_PEERS]; /* by their connection's id */
	uint64_t second;                                  /* since 1970 */
	char time[RPC_MESSAGE_TIME_LEN + 1];              /* "": none yet */
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
