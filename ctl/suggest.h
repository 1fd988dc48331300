/* SPDX-License-Identifier: BSD-3-Clause */
/* The name that somebody probably meant. */
#ifndef RPMAD_CTL_SUGGEST_H
#define RPMAD_CTL_SUGGEST_H

#define SUGGEST_NAME_MAX 32u /* longer names are not compared */

/* Set word, leave the rest zero, offer every name; best is then NULL or borrowed. */
struct suggest {
	const char *word;
	const char *best;
	unsigned int distance;
};

/* Keep name if it is the nearest so far, and near enough to be meant at all. */
void suggest_offer(struct suggest *suggest, const char *name);

#endif
