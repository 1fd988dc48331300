/* SPDX-License-Identifier: BSD-3-Clause */
/* UTF-8 by RFC 3629: what is well-formed, and what becomes of the rest. */
#include <config.h>

#include "lib/core/text.h"

#include <stdio.h>
#include <string.h>

#include "lib/core/compiler.h"
#include "tests/unit/harness.h"

static const struct {
	const char *text;
	size_t len;
	bool valid;
	const char *clean;
} cases[] = {
	{ "", 0, true, "" },
	{ "plain", 5, true, "plain" },
	{ "a\0b", 3, false, "a" },
	{ "\xc3\xa9", 2, true, "\xc3\xa9" },
	{ "\xe2\x82\xac", 3, true, "\xe2\x82\xac" },
	{ "\xf0\x9f\x98\x80", 4, true, "\xf0\x9f\x98\x80" },
	{ "\xf4\x8f\xbf\xbf", 4, true, "\xf4\x8f\xbf\xbf" },
	/* cut short */
	{ "\xc3", 1, false, "?" },
	{ "x\xe2\x82", 3, false, "x??" },
	{ "\xf0\x9f\x98", 3, false, "???" },
	/* a tail without a head, a head without a tail */
	{ "\x80", 1, false, "?" },
	{ "\xc3\x28", 2, false, "?(" },
	{ "\xf0\x9f\x98z", 4, false, "???z" },
	/* overlong: NUL, slash, U+07FF, U+FFFF */
	{ "\xc0\x80", 2, false, "??" },
	{ "\xc1\xaf", 2, false, "??" },
	{ "\xe0\x9f\xbf", 3, false, "???" },
	{ "\xf0\x8f\xbf\xbf", 4, false, "????" },
	/* a surrogate, and past the last code point */
	{ "\xed\xa0\x80", 3, false, "???" },
	{ "\xf4\x90\x80\x80", 4, false, "????" },
	{ "\xf5\x80\x80\x80", 4, false, "????" },
	{ "\xff", 1, false, "?" },
	/* control characters are UTF-8, but not for show */
	{ "a\nb\tc\x7f", 6, true, "a?b?c?" },
};

START_TEST(utf8_is_told)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++)
		ck_assert_msg(text_is_utf8(cases[i].text, cases[i].len) ==
			cases[i].valid,
		    "case %zu", i);
}
END_TEST

START_TEST(text_is_cleaned)
{
	char buf[32];
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		(void)snprintf(buf, sizeof(buf), "%s", cases[i].text);
		text_clean(buf);
		ck_assert_msg(strcmp(buf, cases[i].clean) == 0, "case %zu: %s", i, buf);
		ck_assert_msg(text_is_utf8(buf, strlen(buf)), "case %zu", i);
	}
}
END_TEST

START_TEST(one_is_singular)
{
	ck_assert_str_eq(text_plural(0), "s");
	ck_assert_str_eq(text_plural(1), "");
	ck_assert_str_eq(text_plural(2), "s");
	ck_assert_str_eq(text_plural(UINT64_MAX), "s");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("text");
	TCase *tcase = tcase_create("text");

	tcase_add_test(tcase, utf8_is_told);
	tcase_add_test(tcase, text_is_cleaned);
	tcase_add_test(tcase, one_is_singular);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
