/* SPDX-License-Identifier: BSD-3-Clause */
/* A walk over JSON text in place. Source: RFC 8259. */
#include <config.h>

#include "lib/rpmac/scan.h"

#include <string.h>

#define DEPTH_MAX 32u

/* What ends the text is no space. */
static void
skip_space(struct scan *scan)
{
	while (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r' ||
	    *scan->at == '\n')
		scan->at++;
}

bool
scan_has(struct scan *scan, char c)
{
	skip_space(scan);
	if (scan->is_bad || scan->at == scan->end || *scan->at != c)
		return false;
	scan->at++;
	return true;
}

void
scan_want(struct scan *scan, char c)
{
	if (!scan_has(scan, c))
		scan->is_bad = true;
}

bool
scan_more(struct scan *scan, bool *first, char close)
{
	bool is_first = *first;

	*first = false;
	if (scan_has(scan, close))
		return false;
	if (!is_first)
		scan_want(scan, ',');
	return !scan->is_bad;
}

/* Four hexadecimal digits; a negative number: they are none. */
static long
hex4(struct scan *scan)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	long value = 0;
	int i;

	if (scan->end - scan->at < 4)
		return -1;
	for (i = 0; i < 4; i++) {
		const char *digit = scan->at[i] ? strchr(digits, scan->at[i]) : NULL;

		if (!digit)
			return -1;
		value = value * 16 + (digit - digits) % 16;
	}
	scan->at += 4;
	return value;
}

/* The character behind \u as UTF-8. return   where it ends; NULL: it is none */
static char *
put_unicode(struct scan *scan, char *to)
{
	long c = hex4(scan), low;

	if (c >= 0xd800 && c < 0xdc00) {
		if (scan->end - scan->at < 2 || scan->at[0] != '\\' ||
		    scan->at[1] != 'u')
			return NULL;
		scan->at += 2;
		low = hex4(scan);
		if (low < 0xdc00 || low > 0xdfff)
			return NULL;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	if (c <= 0 || (c >= 0xdc00 && c < 0xe000))
		return NULL;
	if (c < 0x80) {
		*to++ = (char)c;
		return to;
	}
	if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*to++ = (char)(0xe0 | c >> 12);
		} else {
			*to++ = (char)(0xf0 | c >> 18);
			*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		}
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (c & 0x3f));
	return to;
}

/* What stands behind a backslash. return   where it ends; NULL: no escape */
static char *
put_escape(struct scan *scan, char *to)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	const char *name;
	char c;

	if (scan->at == scan->end)
		return NULL;
	c = *scan->at++;
	if (c == 'u')
		return put_unicode(scan, to);
	name = c ? strchr(names, c) : NULL;
	if (!name)
		return NULL;
	*to = values[name - names];
	return to + 1;
}

/* Whether a character of a string stands for itself; what ends the text does not. */
static bool
is_plain(char c)
{
	return (unsigned char)c >= ' ' && c != '"' && c != '\\';
}

char *
scan_string(struct scan *scan)
{
	char *start, *to;

	scan_want(scan, '"');
	if (scan->is_bad)
		return scan->end;
	start = to = scan->at;
	/* Mostly there is nothing to be unescaped. */
	while (is_plain(*to))
		to++;
	scan->at = to;
	while (to && scan->at < scan->end && *scan->at != '"') {
		if ((unsigned char)*scan->at < ' ') {
			to = NULL;
		} else if (*scan->at == '\\') {
			scan->at++;
			to = put_escape(scan, to);
		} else {
			*to++ = *scan->at++;
		}
	}
	if (!to || scan->at == scan->end) {
		scan->is_bad = true;
		return scan->end;
	}
	scan->at++;
	*to = '\0';
	return start;
}

const char *
scan_key(struct scan *scan)
{
	const char *key = scan_string(scan);

	scan_want(scan, ':');
	return key;
}

bool
scan_word(struct scan *scan, const char *word)
{
	size_t len = strlen(word);

	skip_space(scan);
	if (scan->is_bad || (size_t)(scan->end - scan->at) < len ||
	    memcmp(scan->at, word, len) != 0)
		return false;
	scan->at += len;
	return true;
}

char *
scan_string_or_null(struct scan *scan)
{
	return scan_word(scan, "null") ? NULL : scan_string(scan);
}

uint64_t
scan_number(struct scan *scan, uint64_t max)
{
	uint64_t value = 0;
	char *start;

	skip_space(scan);
	start = scan->at;
	for (; scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9';
	     scan->at++) {
		unsigned int digit = (unsigned int)(*scan->at - '0');

		if (digit > max || value > (max - digit) / 10)
			scan->is_bad = true;
		value = value * 10 + digit;
	}
	if (scan->at == start)
		scan->is_bad = true;
	return scan->is_bad ? 0 : value;
}

/* A string, left as it is. */
static void
skip_string(struct scan *scan)
{
	scan_want(scan, '"');
	while (scan->at < scan->end && *scan->at != '"')
		scan->at += *scan->at == '\\' && scan->end - scan->at > 1 ? 2 : 1;
	scan_want(scan, '"');
}

/* A number of any kind, or a word. */
static void
skip_plain(struct scan *scan)
{
	char *start = scan->at;

	while (scan->at < scan->end && *scan->at &&
	    strchr("+-.0123456789Eaeflnrstu", *scan->at))
		scan->at++;
	if (scan->at == start)
		scan->is_bad = true;
}

void
scan_skip(struct scan *scan)
{
	char closes[DEPTH_MAX];
	bool firsts[DEPTH_MAX];
	unsigned int depth = 0;

	do {
		/* Behind a value, the next of the innermost list or object, or its end. */
		if (depth > 0) {
			if (!scan_more(scan, &firsts[depth - 1], closes[depth - 1])) {
				depth--;
				continue;
			}
			if (closes[depth - 1] == '}') {
				skip_string(scan);
				scan_want(scan, ':');
			}
		}
		if (scan_has(scan, '{') || scan_has(scan, '[')) {
			if (depth == DEPTH_MAX) {
				scan->is_bad = true;
				return;
			}
			closes[depth] = scan->at[-1] == '{' ? '}' : ']';
			firsts[depth++] = true;
		} else if (scan->at < scan->end && *scan->at == '"') {
			skip_string(scan);
		} else {
			skip_plain(scan);
		}
	} while (depth > 0 && !scan->is_bad);
}
