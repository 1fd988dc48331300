/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers from text and back, in exact integer arithmetic. */
#include <config.h>

#include "lib/core/num.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/core/compiler.h"

struct unit {
	const char *suffix;
	uint64_t factor;
};

static const struct unit byte_units[] = {
	{ "", 1 },
	{ "K", UINT64_C(1) << 10 },
	{ "KiB", UINT64_C(1) << 10 },
	{ "M", UINT64_C(1) << 20 },
	{ "MiB", UINT64_C(1) << 20 },
	{ "G", UINT64_C(1) << 30 },
	{ "GiB", UINT64_C(1) << 30 },
};

static const struct unit time_units[] = {
	{ "", 1000 },
	{ "ms", 1 },
	{ "s", 1000 },
	{ "m", 60000 },
	{ "h", 3600000 },
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* a * b + c, or false when that exceeds 64 bits. */
static bool
mul_add(uint64_t a, uint64_t b, uint64_t c, uint64_t *out)
{
	return !__builtin_mul_overflow(a, b, out) &&
	    !__builtin_add_overflow(*out, c, out);
}

/*
 * The digits that *text begins with; *text is moved behind them all, also when their
 * number is too large, so that a wrong form is told before a wrong range.
 * return   false: no digit
 */
static bool
take_digits(const char **text, uint64_t *out, bool *too_large)
{
	const char *p = *text;
	uint64_t value = 0;

	if (!is_digit(*p))
		return false;
	for (; is_digit(*p); p++)
		if (!*too_large)
			*too_large = !mul_add(value, 10, (uint64_t)(*p - '0'), &value);
	*text = p;
	*out = value;
	return true;
}

int
num_parse_u64(const char *text, uint64_t *out)
{
	bool too_large = false;
	uint64_t value;

	if (!take_digits(&text, &value, &too_large) || *text != '\0')
		return -EINVAL;
	if (too_large)
		return -ERANGE;
	*out = value;
	return 0;
}

/* An integer with one of the suffixes. */
static int
parse_with_unit(const char *text, const struct unit *units, size_t n, uint64_t *out)
{
	bool too_large = false;
	uint64_t value;
	size_t i;

	if (!take_digits(&text, &value, &too_large))
		return -EINVAL;
	for (i = 0; i < n; i++)
		if (strcmp(text, units[i].suffix) == 0)
			break;
	if (i == n)
		return -EINVAL;
	if (too_large || !mul_add(value, units[i].factor, 0, &value))
		return -ERANGE;
	*out = value;
	return 0;
}

int
num_parse_bytes(const char *text, uint64_t *out)
{
	return parse_with_unit(text, byte_units, ARRAY_LEN(byte_units), out);
}

/* Seconds with a fraction, "1.25". */
static int
parse_seconds(const char *text, uint64_t *out)
{
	bool too_large = false;
	unsigned int scale = 100, fraction = 0;
	uint64_t seconds, value;

	if (!take_digits(&text, &seconds, &too_large) || *text++ != '.' ||
	    !is_digit(*text))
		return -EINVAL;
	for (; is_digit(*text); text++) {
		if (scale == 0 && *text != '0')
			return -EINVAL;
		fraction += (unsigned int)(*text - '0') * scale;
		scale /= 10;
	}
	if (*text != '\0')
		return -EINVAL;
	if (too_large || !mul_add(seconds, 1000, fraction, &value))
		return -ERANGE;
	*out = value;
	return 0;
}

int
num_parse_ms(const char *text, uint64_t *out)
{
	if (strchr(text, '.'))
		return parse_seconds(text, out);
	return parse_with_unit(text, time_units, ARRAY_LEN(time_units), out);
}

const char *
num_format_bytes(uint64_t bytes, char *buf, size_t size)
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB",
		"EiB" };
	unsigned int i = 0, shift, tenths;
	uint64_t whole, rest;

	while (i + 1 < ARRAY_LEN(names) && bytes >> (10 * (i + 1)) != 0)
		i++;
	shift = 10 * i;
	whole = bytes >> shift;
	rest = bytes - (whole << shift);
	tenths = (unsigned int)((rest * 10 + ((UINT64_C(1) << shift) >> 1)) >> shift);
	if (tenths == 10) {
		whole++;
		tenths = 0;
	}
	if (whole == 1024 && i + 1 < ARRAY_LEN(names)) {
		whole = 1;
		i++;
	}
	if (tenths == 0)
		(void)snprintf(buf, size, "%" PRIu64 " %s", whole, names[i]);
	else
		(void)snprintf(buf, size, "%" PRIu64 ".%u %s", whole, tenths, names[i]);
	return buf;
}

static int
hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int
num_parse_hex(const char *text, uint8_t *out, size_t size)
{
	size_t len = strlen(text), i;
	int high, low;

	if (len % 2 != 0 || strspn(text, "0123456789abcdefABCDEF") != len)
		return -EINVAL;
	if (len / 2 > size || len / 2 > INT_MAX)
		return -ENOSPC;
	for (i = 0; i < len / 2; i++) {
		high = hex_digit(text[2 * i]);
		low = hex_digit(text[2 * i + 1]);
		out[i] = (uint8_t)(high * 16 + low);
	}
	return (int)(len / 2);
}
