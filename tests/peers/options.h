/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line that the senders of this folder share. */
#ifndef RPMAD_TESTS_PEERS_OPTIONS_H
#define RPMAD_TESTS_PEERS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define OPTIONS_TEXTS_MAX 64u

struct options {
	const char *addr; /* numeric */
	const char *port;
	uint32_t conns;   /* at once */
	uint32_t rounds;  /* times that they are opened and closed */
	uint32_t first;   /* number of the first one */
	uint32_t count;   /* messages of one connection; UINT32_MAX with --flood */
	uint32_t min_len; /* bytes */
	uint32_t max_len; /* bytes */
	uint32_t window;  /* sends of one connection under way */
	uint64_t seed;
	bool imm;
	bool flood;
	bool disconnect_at_once;
	bool verbose;
	uint32_t hold_s; /* before the connections are closed; of a flood, its length */
	uint32_t stall_s;    /* without a completion after which the sender gives up */
	uint32_t too_long;   /* bytes; 0: no such message */
	uint32_t kill_after; /* completions; 0: never */
	uint8_t retries;     /* of what is not answered */
	uint8_t rnr_retries; /* that the sender asks for; 7: without end */
	const char *texts[OPTIONS_TEXTS_MAX];
	uint32_t text_count;
	FILE *manifest; /* of what was completed; or NULL */
	FILE *posted;   /* of what was posted; or NULL */
};

/* Exits with 2 on wrong usage, with 0 after --help. */
void options_parse(struct options *options, int argc, char *argv[]);

/* Wait for hold_s before the connections are closed, or until SIGUSR1 comes. */
void options_hold(const struct options *options);

#endif
