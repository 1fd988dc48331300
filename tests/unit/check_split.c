/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of a line, as a shell would make them; wanted values are those of dash. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "ctl/split.h"
#include "lib/core/compiler.h"
#include "tests/unit/harness.h"

/* The words with a '|' behind each. */
static const struct {
	const char *line, *words;
} lines[] = {
	{ "", "" },
	{ " \t ", "" },
	{ "a", "a|" },
	{ "  a\tb  ", "a|b|" },
	{ "a b c d e f", "a|b|c|d|e|f|" },
	{ "''", "|" },
	{ "\"\" ''", "||" },
	{ "'a b' c", "a b|c|" },
	{ "a'b c'd\"e f\"g", "ab cde fg|" },
	{ "'\"'\"'\"", "\"'|" },
	{ "'a\\b'", "a\\b|" },
	{ "\"a\\\"b\\\\c\\d\"", "a\"b\\c\\d|" },
	{ "a\\ b \\' \\\\", "a b|'|\\|" },
	{ "call x '{\"a\": \"b\\u00e4\"}'", "call|x|{\"a\": \"b\\u00e4\"}|" },
};

START_TEST(words_of_a_line)
{
	char *line = strdup(lines[_i].line), found[128] = "";
	char **words = calloc(strlen(line) / 2 + 2, sizeof(*words));
	struct err err;
	int i, count;

	count = split_words(line, words, &err);
	ck_assert_int_ge(count, 0);
	for (i = 0; i < count; i++) {
		strcat(found, words[i]);
		strcat(found, "|");
	}
	ck_assert_str_eq(found, lines[_i].words);
	free(words);
	free(line);
}
END_TEST

START_TEST(what_is_not_closed)
{
	static const char *const wrong[] = { "'", "\"", "a 'b", "a \"b\\\"", "a\\",
		"'\"" };
	char *words[8], line[16];
	struct err err;
	size_t i;

	for (i = 0; i < ARRAY_LEN(wrong); i++) {
		strcpy(line, wrong[i]);
		ck_assert_int_eq(split_words(line, words, &err), -EINVAL);
		ck_assert_int_eq(err.code, ERR_INVALID_PARAMS);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("split");
	TCase *tcase = tcase_create("split");

	tcase_add_loop_test(tcase, words_of_a_line, 0, ARRAY_LEN(lines));
	tcase_add_test(tcase, what_is_not_closed);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
