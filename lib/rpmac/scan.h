/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A walk over JSON text, in place: strings are unescaped where they stand, so that nothing
 * is allocated or copied for them. Once something is not as expected, all else fails.
 */
#ifndef RPMAC_SCAN_H
#define RPMAC_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scan {
	char *at;
	char *end; /* *end is NUL */
	bool is_bad;
};

/* Whether a character stands here; it is passed. */
bool scan_has(struct scan *scan, char c);
/* It has to. */
void scan_want(struct scan *scan, char c);

/*
 * Members and elements: while (scan_more(scan, &first, '}')) ...; first is true before.
 * It passes the commas and the closing character.
 */
bool scan_more(struct scan *scan, bool *first, char close);

/* A string, ended by NUL; "" when it is none. Zero bytes cannot be in it. */
char *scan_string(struct scan *scan);
/* The name of a member and the colon behind it. */
const char *scan_key(struct scan *scan);
/* A string, or null: NULL. */
char *scan_string_or_null(struct scan *scan);
/* An integer from 0 to max. */
uint64_t scan_number(struct scan *scan, uint64_t max);
/* A word as null; it is passed. */
bool scan_word(struct scan *scan, const char *word);
/* Any value; its text stays as it is. */
void scan_skip(struct scan *scan);

#endif
