/* SPDX-License-Identifier: BSD-3-Clause */
/* What the senders send: a pure function of seed, connection and sequence number. */
#ifndef RPMAD_TESTS_PEERS_MESSAGE_H
#define RPMAD_TESTS_PEERS_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "sha256.h"

#define MESSAGE_MAGIC  0x52504d54u /* "RPMT" */
#define MESSAGE_HEADER 16u         /* bytes; shorter messages have none */

/* What is kept of a message until its completion. */
struct message {
	uint32_t conn;
	uint32_t seq;
	uint32_t len;
	char sha256[SHA256_HEX]; /* only with a manifest or a list of what is posted */
};

/*
 * Write message seq of connection conn to buf, which holds max_len bytes (the texts of
 * the options included).
 */
void message_make(const struct options *options, uint32_t conn, uint32_t seq,
    uint8_t *buf, struct message *message);

/* The message is about to be posted. */
void message_posted(const struct options *options, const struct message *message);

/* The message has arrived, as far as its sender can tell. */
void message_sent(const struct options *options, const struct message *message);

#endif
