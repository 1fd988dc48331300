/* SPDX-License-Identifier: BSD-3-Clause */
/* Parsing of the command line by the tables of commands and parameters. */
#include <config.h>

#include "ctl/args.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "ctl/command.h"
#include "ctl/must.h"
#include "ctl/option.h"

static int
usage(struct err *err, const struct command *command)
{
	if (command)
		err_hint(err, "rpmactl help %s", command->name);
	else
		err_hint(err, "rpmactl help");
	return -EINVAL;
}

static int
unknown_option(const struct args *args, const char *name, size_t len, struct err *err)
{
	char near[OPTION_NAME_MAX];

	(void)err_set(err, ERR_INVALID_PARAMS, 0, "unknown option %.*s", (int)len,
	    name);
	if (!option_suggest(args->command, name, len, near))
		return usage(err, args->command);
	err_hint(err, "did you mean %s?", near);
	return -EINVAL;
}

static int
unknown_command(const char *word, struct err *err)
{
	const char *near = command_suggest(word);

	(void)err_set(err, ERR_INVALID_PARAMS, 0, "unknown command \"%s\"", word);
	if (!near)
		return usage(err, NULL);
	err_hint(err, "did you mean %s?", near);
	return -EINVAL;
}

static json_t *
target_of(const struct args *args, enum option_owner owner)
{
	switch (owner) {
	case OPTION_OWN:
		return args->own;
	case OPTION_METHOD:
		return args->params;
	case OPTION_GLOBAL:
		break;
	}
	return args->global;
}

/* Check a value by its row and set it, or add it to the list that it belongs to. */
static int
set_value(json_t *target, const struct param_spec *spec, const char *name,
    const char *text, struct err *err)
{
	json_t *list = json_object_get(target, spec->name);
	json_t *value = NULL;

	if (param_from_text(spec, text, &value, err) != 0) {
		err_path(err, "%s", name);
		return -EINVAL;
	}
	if (spec->type == PARAM_STRINGS && list) {
		must_0(json_array_extend(list, value));
		json_decref(value);
		if (json_array_size(list) <= spec->max)
			return 0;
		(void)err_set(err, ERR_INVALID_PARAMS, 0,
		    "more than %llu at once are not possible",
		    (unsigned long long)spec->max);
		err_path(err, "%s", name);
		return -EINVAL;
	}
	must_0(json_object_set_new(target, spec->name, value));
	return 0;
}

/*
 * Take the option at argv[*i], and its value, which may be the next argument: *i is
 * moved to the last one taken.
 */
static int
take_option(struct args *args, int argc, char **argv, int *i, struct err *err)
{
	const char *name = argv[*i];
	bool is_long = name[1] == '-';
	size_t len = is_long ? strcspn(name, "=") : 2;
	const char *value = name[len] == '\0' ? NULL : name + len + is_long;
	struct option option;
	char shown[OPTION_NAME_MAX];

	if (!option_find(args->command, name, len, &option))
		return unknown_option(args, name, is_long ? len : strlen(name), err);
	(void)snprintf(shown, sizeof(shown), "%.*s", (int)len, name);
	if (option_is_flag(option.spec)) {
		if (value && !is_long)
			return unknown_option(args, name, strlen(name), err);
		if (value) {
			(void)err_set(err, ERR_INVALID_PARAMS, 0, "%s takes no value",
			    shown);
			return usage(err, args->command);
		}
		value = "true";
	}
	if (!value)
		value = option.spec->bare;
	if (!value && *i + 1 == argc) {
		(void)err_set(err, ERR_INVALID_PARAMS, 0, "%s needs a value", shown);
		return usage(err, args->command);
	}
	if (!value)
		value = argv[++*i];
	return set_value(target_of(args, option.owner), option.spec, shown, value, err);
}

/* A word: the command, if there is none yet. */
static int
take_word(struct args *args, char *word, struct err *err)
{
	if (args->command) {
		args->words[args->word_count++] = word;
		return 0;
	}
	args->command = command_by_name(word);
	return args->command ? 0 : unknown_command(word, err);
}

int
args_parse(int argc, char **argv, struct args *out, struct err *err)
{
	bool only_words = false;
	int i, rc = 0;

	memset(out, 0, sizeof(*out));
	out->params = must(json_object());
	out->own = must(json_object());
	out->global = must(json_object());
	out->words = must(calloc((size_t)argc + 1, sizeof(*out->words)));
	for (i = 1; i < argc && rc == 0; i++) {
		if (!only_words && strcmp(argv[i], "--") == 0)
			only_words = true;
		else if (!only_words && argv[i][0] == '-' && argv[i][1] != '\0')
			rc = take_option(out, argc, argv, &i, err);
		else
			rc = take_word(out, argv[i], err);
	}
	return rc;
}

void
args_free(struct args *args)
{
	json_decref(args->params);
	json_decref(args->own);
	json_decref(args->global);
	free(args->words);
}

const struct param_spec *
args_word_spec(const struct command *command)
{
	const struct param_table *table;
	size_t i;

	/* Commands without a method have none of its parameters. */
	if (!command->word_param)
		return NULL;
	table = &methods[command->method].params;
	for (i = 0; i + 1 < table->count; i++)
		if (strcmp(table->specs[i].name, command->word_param) == 0)
			break;
	return &table->specs[i];
}

/*
 * What a word is called where it is refused: "TOKEN..." is TOKEN, and so is "[TOKEN...]".
 * Where the usage has the values themselves, "on|off", it is the parameter's name.
 */
static void
word_name(const struct command *command, char name[OPTION_NAME_MAX])
{
	const char *word = command->usage + (command->usage[0] == '[');
	size_t len = strcspn(word, ". ]");

	if (command->word_param && memchr(word, '|', len)) {
		word = command->word_param;
		len = strlen(word);
	}
	(void)snprintf(name, OPTION_NAME_MAX, "%.*s", (int)len, word);
}

int
args_finish(struct args *args, struct err *err)
{
	const struct command *command = args->command;
	char name[OPTION_NAME_MAX];
	size_t i;

	if (args->word_count < command->min_words) {
		(void)err_set(err, ERR_INVALID_PARAMS, 0,
		    "an argument is missing: %s %s", command->name, command->usage);
		return usage(err, command);
	}
	if (args->word_count > command->max_words) {
		(void)err_set(err, ERR_INVALID_PARAMS, 0,
		    "unexpected argument \"%s\": %s%s%s",
		    args->words[command->max_words], command->name,
		    command->usage[0] != '\0' ? " " : "", command->usage);
		return usage(err, command);
	}
	word_name(command, name);
	for (i = 0; command->word_param && i < args->word_count; i++)
		if (set_value(args->params, args_word_spec(command), name,
			args->words[i], err) != 0)
			return -EINVAL;
	return 0;
}
