/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion of command lines in shells, from the tables. */
#ifndef RPMAD_CTL_COMPLETE_H
#define RPMAD_CTL_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

#define COMPLETE_SHELLS "bash zsh fish"

/* Add the script of a shell; false: there is none for it. */
bool complete_script(struct buf *buf, const char *shell);

/*
 * Add what may stand behind the words of a command line (without the program's name),
 * one a line; nothing where a file or a value is to come.
 */
void complete_words(struct buf *buf, char *const *words, size_t count);

#endif
