/* SPDX-License-Identifier: BSD-3-Clause */
/* Base64, RFC 4648 section 4. */
#include <config.h>

#include "lib/core/base64.h"

#include <errno.h>

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The value of a character, plus one; 0: not in the alphabet. */
/* clang-format off */
static const uint8_t values[256] = {
	['A'] = 1, ['B'] = 2, ['C'] = 3, ['D'] = 4, ['E'] = 5, ['F'] = 6, ['G'] = 7,
	['H'] = 8, ['I'] = 9, ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14,
	['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21,
	['V'] = 22, ['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26,
	['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33,
	['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
	['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47,
	['v'] = 48, ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52,
	['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56, ['4'] = 57, ['5'] = 58, ['6'] = 59,
	['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};
/* clang-format on */

size_t
base64_encoded_len(size_t n)
{
	return n / 3 * 4 + (n % 3 != 0 ? 4 : 0);
}

/* Three bytes as four characters. */
static void
encode_group(uint32_t bits, char *out)
{
	out[0] = alphabet[bits >> 18 & 63u];
	out[1] = alphabet[bits >> 12 & 63u];
	out[2] = alphabet[bits >> 6 & 63u];
	out[3] = alphabet[bits & 63u];
}

void
base64_encode(const void *data, size_t n, char *out)
{
	const uint8_t *p = data;

	for (; n >= 3; n -= 3, p += 3, out += 4)
		encode_group((uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2], out);
	if (n == 2) {
		encode_group((uint32_t)p[0] << 16 | (uint32_t)p[1] << 8, out);
		out[3] = '=';
	} else if (n == 1) {
		encode_group((uint32_t)p[0] << 16, out);
		out[2] = '=';
		out[3] = '=';
	}
}

size_t
base64_decoded_max(size_t n)
{
	return n / 4 * 3;
}

/*
 * Four characters, the last pad of them '='.
 * return   their bits; -1: a character that does not belong there, or unused bits set
 */
static int32_t
decode_group(const char *text, unsigned int pad)
{
	uint32_t bits = 0, value;
	unsigned int i;

	for (i = 0; i < 4 - pad; i++) {
		value = values[(uint8_t)text[i]];
		if (value == 0)
			return -1;
		bits |= (value - 1) << (18 - 6 * i);
	}
	if (pad > 0 && (bits & ((1u << 8 * pad) - 1)) != 0)
		return -1;
	return (int32_t)bits;
}

int
base64_decode(const char *text, size_t n, uint8_t *out, size_t *out_len)
{
	unsigned int pad = 0, i;
	uint8_t *p = out;
	int32_t bits;

	if (n % 4 != 0)
		return -EINVAL;
	for (; n > 0; n -= 4, text += 4) {
		if (n == 4 && text[3] == '=')
			pad = text[2] == '=' ? 2 : 1;
		bits = decode_group(text, pad);
		if (bits < 0)
			return -EINVAL;
		for (i = 0; i < 3 - pad; i++)
			*p++ = (uint8_t)((uint32_t)bits >> (16 - 8 * i));
	}
	*out_len = (size_t)(p - out);
	return 0;
}
