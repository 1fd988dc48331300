/* SPDX-License-Identifier: BSD-3-Clause */
/* fake-send.h: options and messages of fake-send. */
#ifndef RPMAD_TESTS_FAKE_FAKE_SEND_H
#define RPMAD_TESTS_FAKE_FAKE_SEND_H

#include <stddef.h>

#include "tests/fake/fake_wire.h"

#define WC_REM_INV_REQ_ERR 9 /* of enum ibv_wc_status; this program has no verbs */

struct send_options {
	char *host;
	char *port;
	unsigned count; /* messages on each connection */
	unsigned conns;
	unsigned window; /* messages in flight, 1 .. WIRE_WINDOW */
	unsigned hold_s;
	unsigned timeout_s;
	int64_t imm; /* -1: none */
	size_t size;
	size_t random_max; /* 0: not random */
	uint32_t seed;
	const char *text;         /* NULL: none */
	unsigned char *file;      /* contents, of size bytes; NULL: none */
	const char *private_data; /* of the request; NULL: none */
	const char *dump;         /* folder for a copy of each message; NULL: none */
	bool too_long;
	bool die;
	bool verbose;
	bool show_private;
	bool show_received;
};

/* return   -1: go on; else the exit status */
int options_parse(int argc, char **argv, struct send_options *options);
void options_free(struct send_options *options);

/* Length and bytes of the message of an index on a connection; the bytes are
 * malloc()ed. */
size_t message_size(const struct send_options *options, unsigned conn, unsigned index);
unsigned char *message_make(const struct send_options *options, unsigned conn,
    unsigned index);

#endif
