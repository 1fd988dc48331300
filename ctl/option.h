/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a command: its own, its method's parameters, and the global ones. */
#ifndef RPMAD_CTL_OPTION_H
#define RPMAD_CTL_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/core/err.h"
#include "lib/core/param.h"

struct command;
struct json_t;

#define OPTION_NAME_MAX 32u /* with its dashes and the NUL */

enum option_owner {
	OPTION_OWN,
	OPTION_METHOD,
	OPTION_GLOBAL
};

struct option {
	const struct param_spec *spec;
	enum option_owner owner;
};

/* The i-th option of a command (NULL: global ones alone); false behind the last. */
bool option_at(const struct command *command, size_t i, struct option *out);

/* Find "-n" or "--name", of which len bytes count; false: there is none. */
bool option_find(const struct command *command, const char *name, size_t len,
    struct option *out);

/* The nearest option to a wrong one, with its dashes, in buf; NULL: none is near. */
const char *option_suggest(const struct command *command, const char *name, size_t len,
    char buf[OPTION_NAME_MAX]);

/* The letter, or 0. */
char option_letter(const struct param_spec *spec);
/* "--name" in buf, which is returned. */
const char *option_name(const struct param_spec *spec, char buf[OPTION_NAME_MAX]);
/* Whether it stands alone, without a value. */
bool option_is_flag(const struct param_spec *spec);
/* Whether the next argument is its value, if none stands behind "=". */
bool option_needs_value(const struct param_spec *spec);
/* How its value is called in a usage line: "N", "S", "BYTES", "TEXT", "a|b". */
const char *option_value_name(const struct param_spec *spec, char *buf, size_t size);

#endif
