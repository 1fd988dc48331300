/* SPDX-License-Identifier: BSD-3-Clause */
/* Base64, RFC 4648 section 4. */
#include <config.h>

#include "lib/core/base64.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* The two characters of 12 bits: half the look-ups of one for each 6. */
/* clang-format off */
#define ROW(a) \
	{ a, 'A' }, { a, 'B' }, { a, 'C' }, { a, 'D' }, { a, 'E' }, { a, 'F' }, { a, 'G' }, { a, 'H' }, \
	{ a, 'I' }, { a, 'J' }, { a, 'K' }, { a, 'L' }, { a, 'M' }, { a, 'N' }, { a, 'O' }, { a, 'P' }, \
	{ a, 'Q' }, { a, 'R' }, { a, 'S' }, { a, 'T' }, { a, 'U' }, { a, 'V' }, { a, 'W' }, { a, 'X' }, \
	{ a, 'Y' }, { a, 'Z' }, { a, 'a' }, { a, 'b' }, { a, 'c' }, { a, 'd' }, { a, 'e' }, { a, 'f' }, \
	{ a, 'g' }, { a, 'h' }, { a, 'i' }, { a, 'j' }, { a, 'k' }, { a, 'l' }, { a, 'm' }, { a, 'n' }, \
	{ a, 'o' }, { a, 'p' }, { a, 'q' }, { a, 'r' }, { a, 's' }, { a, 't' }, { a, 'u' }, { a, 'v' }, \
	{ a, 'w' }, { a, 'x' }, { a, 'y' }, { a, 'z' }, { a, '0' }, { a, '1' }, { a, '2' }, { a, '3' }, \
	{ a, '4' }, { a, '5' }, { a, '6' }, { a, '7' }, { a, '8' }, { a, '9' }, { a, '+' }, { a, '/' }
static const char pairs[64 * 64][2] = {
	ROW('A'), ROW('B'), ROW('C'), ROW('D'), ROW('E'), ROW('F'), ROW('G'), ROW('H'),
	ROW('I'), ROW('J'), ROW('K'), ROW('L'), ROW('M'), ROW('N'), ROW('O'), ROW('P'),
	ROW('Q'), ROW('R'), ROW('S'), ROW('T'), ROW('U'), ROW('V'), ROW('W'), ROW('X'),
	ROW('Y'), ROW('Z'), ROW('a'), ROW('b'), ROW('c'), ROW('d'), ROW('e'), ROW('f'),
	ROW('g'), ROW('h'), ROW('i'), ROW('j'), ROW('k'), ROW('l'), ROW('m'), ROW('n'),
	ROW('o'), ROW('p'), ROW('q'), ROW('r'), ROW('s'), ROW('t'), ROW('u'), ROW('v'),
	ROW('w'), ROW('x'), ROW('y'), ROW('z'), ROW('0'), ROW('1'), ROW('2'), ROW('3'),
	ROW('4'), ROW('5'), ROW('6'), ROW('7'), ROW('8'), ROW('9'), ROW('+'), ROW('/'),
};
/* clang-format on */

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

static void
put_pair(uint64_t bits, char *out)
{
	memcpy(out, pairs[bits & 0xfff], sizeof(pairs[0]));
}

/* Three bytes as four characters. */
static void
encode_group(uint32_t bits, char *out)
{
	put_pair(bits >> 12, out);
	put_pair(bits, out + 2);
}

void
base64_encode(const void *data, size_t n, char *out)
{
	const uint8_t *p = data;
	uint64_t bits;

	/* Six bytes of the eight that are loaded. */
	for (; n >= sizeof(bits); n -= 6, p += 6, out += 8) {
		memcpy(&bits, p, sizeof(bits));
		bits = be64toh(bits);
		put_pair(bits >> 52, out);
		put_pair(bits >> 40, out + 2);
		put_pair(bits >> 28, out + 4);
		put_pair(bits >> 16, out + 6);
	}
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
