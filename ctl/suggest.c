/* SPDX-License-Identifier: BSD-3-Clause */
/* The nearest name by edit distance; neighbours that changed places cost one. */
#include <config.h>

#include "ctl/suggest.h"

#include <string.h>

static unsigned int
least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, changes and swaps that lead from a to b. */
static unsigned int
distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned int rows[SUGGEST_NAME_MAX + 1][SUGGEST_NAME_MAX + 1];
	unsigned int i, j, best;

	for (i = 0; i <= a_len; i++)
		rows[i][0] = i;
	for (j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (i = 1; i <= a_len; i++) {
		for (j = 1; j <= b_len; j++) {
			best = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			best = least(best, rows[i - 1][j] + 1);
			best = least(best, rows[i][j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				best = least(best, rows[i - 2][j - 2] + 1);
			rows[i][j] = best;
		}
	}
	return rows[a_len][b_len];
}

void
suggest_offer(struct suggest *suggest, const char *name)
{
	size_t word_len = strlen(suggest->word), len = strlen(name);
	unsigned int found;

	if (word_len > SUGGEST_NAME_MAX || len > SUGGEST_NAME_MAX)
		return;
	found = distance(suggest->word, word_len, name, len);
	if (found > 2 || found >= len || found >= word_len ||
	    (suggest->best && found >= suggest->distance))
		return;
	suggest->best = name;
	suggest->distance = found;
}
