/* SPDX-License-Identifier: BSD-3-Clause */
/* UTF-8 checks by the table of RFC 3629, section 4. */
#include <config.h>

#include "lib/core/text.h"

#include <string.h>

static bool
is_tail(unsigned char byte)
{
	return (byte & 0xc0u) == 0x80u;
}

/* Whether the second byte fits the first: neither overlong, a surrogate nor over
 * 10FFFF.
 */
static bool
second_fits(unsigned char first, unsigned char second)
{
	switch (first) {
	case 0xe0:
		return second >= 0xa0;
	case 0xed:
		return second <= 0x9f;
	case 0xf0:
		return second >= 0x90;
	case 0xf4:
		return second <= 0x8f;
	default:
		return true;
	}
}

/* Bytes of the character that begins at p, n of them at hand; 0: malformed, or NUL. */
static size_t
char_len(const unsigned char *p, size_t n)
{
	size_t len, i;

	if (p[0] == 0)
		return 0;
	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (len > n || !second_fits(p[0], p[1]))
		return 0;
	for (i = 1; i < len; i++)
		if (!is_tail(p[i]))
			return 0;
	return len;
}

bool
text_is_utf8(const void *data, size_t n)
{
	const unsigned char *p = data;
	size_t len;

	while (n > 0) {
		/* Mostly it is plain ASCII. */
		len = *p > 0 && *p < 0x80 ? 1 : char_len(p, n);
		if (len == 0)
			return false;
		p += len;
		n -= len;
	}
	return true;
}

void
text_clean(char *text)
{
	unsigned char *p = (unsigned char *)text;
	size_t n = strlen(text), len;

	while (n > 0) {
		len = char_len(p, n);
		if (len == 0 || *p < 0x20 || *p == 0x7f) {
			*p = '?';
			len = 1;
		}
		p += len;
		n -= len;
	}
}

const char *
text_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}
