/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line taken apart: command, options checked by their rows, words. */
#ifndef RPMAD_CTL_ARGS_H
#define RPMAD_CTL_ARGS_H

#include <stddef.h>

#include "lib/core/compiler.h"
#include "lib/core/err.h"

struct command;
struct json_t;
struct param_spec;

struct args {
	const struct command *command; /* NULL: none was given */
	struct json_t *params;         /* of the method; owned */
	struct json_t *own;            /* the command's own options; owned */
	struct json_t *global;         /* the global options; owned */
	char **words;                  /* what follows the command; array owned */
	size_t word_count;
};

/*
 * Take argv (with the program's name) apart. Options may stand before and after the
 * command and between its words; "--" ends them.
 *
 * out      to be freed with args_free(), also on failure; words point into argv
 * return   0; -EINVAL with err (path: the option), and out->command as far as known
 */
RPMAD_MUST_USE int args_parse(int argc, char **argv, struct args *out, struct err *err);
void args_free(struct args *args);

/*
 * Check the number of words, and make a parameter of those that are one: after the
 * options, so that --help needs no words.
 */
RPMAD_MUST_USE int args_finish(struct args *args, struct err *err);

/* The row of the parameter that a command's words give; NULL: it reads them itself. */
const struct param_spec *args_word_spec(const struct command *command);

#endif
