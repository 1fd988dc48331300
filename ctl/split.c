/* SPDX-License-Identifier: BSD-3-Clause */
/* Words, in place: they are never longer than what they are written as. */
#include <config.h>

#include "ctl/split.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Take one word from *at to *to. return   0; -EINVAL with err */
static int
take_word(const char **at, char **to, struct err *err)
{
	char quote = '\0';

	for (; **at != '\0' && (quote != '\0' || !is_blank(**at)); (*at)++) {
		if (quote == '\0' && (**at == '\'' || **at == '"')) {
			quote = **at;
		} else if (**at == quote) {
			quote = '\0';
		} else if (**at == '\\' &&
		    (quote == '\0' ||
			(quote == '"' && ((*at)[1] == '"' || (*at)[1] == '\\')))) {
			if (*++*at == '\0') {
				(void)err_set(err, ERR_INVALID_PARAMS, 0,
				    "the line ends with a backslash");
				return -EINVAL;
			}
			*(*to)++ = **at;
		} else {
			*(*to)++ = **at;
		}
	}
	if (quote == '\0')
		return 0;
	(void)err_set(err, ERR_INVALID_PARAMS, 0, "a quote (%c) is not closed", quote);
	return -EINVAL;
}

int
split_words(char *line, char **words, struct err *err)
{
	const char *at = line;
	char *to = line;
	int count = 0;
	bool is_last;

	for (;;) {
		while (is_blank(*at))
			at++;
		if (*at == '\0')
			return count;
		words[count++] = to;
		if (take_word(&at, &to, err) != 0)
			return -EINVAL;
		/* The NUL may take the place of the blank behind the word. */
		is_last = *at == '\0';
		*to++ = '\0';
		if (is_last)
			return count;
		at++;
	}
}
