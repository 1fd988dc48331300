/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unframe
 *
 * Reads what "rpmactl poll --raw --length-prefix" wrote from standard input and prints a line "LEN
 * SHA256" for each message, and "cut" for one whose end is missing.
 *
 * status   0; 1: a message was cut
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sha256.h"

#define PREFIX  4u
#define LEN_MAX 2097152u /* of any slot */

int
main(void)
{
	static uint8_t buf[LEN_MAX];
	uint8_t prefix[PREFIX];
	char hex[SHA256_HEX];
	size_t n, len;

	while ((n = fread(prefix, 1, PREFIX, stdin)) == PREFIX) {
		len = (size_t)prefix[0] << 24 | (size_t)prefix[1] << 16 |
		    (size_t)prefix[2] << 8 | prefix[3];
		if (len > LEN_MAX || fread(buf, 1, len, stdin) != len)
			break;
		sha256_hex(buf, len, hex);
		(void)printf("%zu %s\n", len, hex);
	}
	/* Nothing is left only between two messages. */
	if (n > 0 || ferror(stdin)) {
		(void)puts("cut");
		return 1;
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
