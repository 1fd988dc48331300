/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of commands, from which parsing, help and completion are made. */
#ifndef RPMAD_CTL_COMMAND_H
#define RPMAD_CTL_COMMAND_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/core/method.h"

struct args;
struct ctl;
struct json_t;
struct out;

#define COMMAND_WORDS_ANY UINT_MAX

/* Show a result as text. */
typedef void (*command_view_fn)(struct out *out, const struct json_t *result);

/* Do it. return   the exit status; 0 or with ctl->err set where there is one to tell */
typedef int (*command_run_fn)(struct ctl *ctl, const struct args *args);

struct command {
	const char *name;
	const char *help; /* one line */
	const char
	    *usage; /* words and options behind the name; "" when there are none */
	const char *example;
	const char *note; /* more lines for its help page; NULL: none */

	enum method_id method;         /* METHOD_COUNT: none, or any */
	const char *const *hidden;     /* its parameters that are no options;
					  NULL-terminated, NULL: none */
	const struct param_table *own; /* options of the command itself; NULL: none */

	/* What follows the name, its options apart: min_words .. max_words words. */
	const char *word_param; /* the parameter they give, or its members; NULL: run
				   reads them */
	unsigned int min_words;
	unsigned int max_words;

	command_view_fn view; /* NULL: run shows what there is */
	command_run_fn run;   /* NULL: parameters, call, view */
	unsigned int exits;   /* bit set of further exit statuses it may give */
	bool calls_any;       /* any method: all exit statuses are possible */
};

extern const struct command commands[];
extern const size_t command_count;

/* The command of that name, or NULL. */
const struct command *command_by_name(const char *name);

/* The nearest name to a wrong one, or NULL. */
const char *command_suggest(const char *word);

#endif
