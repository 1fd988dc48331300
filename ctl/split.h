/* SPDX-License-Identifier: BSD-3-Clause */
/* A line as the words that a shell would make of it. */
#ifndef RPMAD_CTL_SPLIT_H
#define RPMAD_CTL_SPLIT_H

#include "lib/core/compiler.h"
#include "lib/core/err.h"

/*
 * Split at blanks. Single quotes keep all that is between them; double quotes too, but
 * for a backslash before '"' or '\'; a backslash outside keeps the next character.
 *
 * line     changed: it holds the words then
 * words    room for one member for each two bytes of the line, and one more
 * return   number of words; -EINVAL with err: a quote is open, or nothing follows a '\'
 */
RPMAD_MUST_USE int split_words(char *line, char **words, struct err *err);

#endif
