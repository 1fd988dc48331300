/* SPDX-License-Identifier: BSD-3-Clause */
/* Options out of parameter tables. A row that names an option of its own takes times in
 * seconds, one that goes by its name ("timeout_ms") in that unit. */
#include <config.h>

#include "ctl/option.h"

#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/settings.h"
#include "ctl/suggest.h"

/* Whether a parameter of the command's method is no option. */
static bool
is_hidden(const struct command *command, const char *name)
{
	const char *const *hidden = command->hidden;

	if (command->word_param && strcmp(command->word_param, name) == 0)
		return true;
	for (; hidden && *hidden; hidden++)
		if (strcmp(*hidden, name) == 0)
			return true;
	return false;
}

static bool
own_or_method_at(const struct command *command, size_t *i, struct option *out)
{
	const struct param_table *params = command->own;
	size_t row;

	if (params && *i < params->count) {
		out->spec = &params->specs[*i];
		out->owner = OPTION_OWN;
		return true;
	}
	if (params)
		*i -= params->count;
	if (command->method == METHOD_COUNT)
		return false;
	params = &methods[command->method].params;
	for (row = 0; row < params->count; row++) {
		if (is_hidden(command, params->specs[row].name))
			continue;
		if (*i == 0) {
			out->spec = &params->specs[row];
			out->owner = OPTION_METHOD;
			return true;
		}
		(*i)--;
	}
	return false;
}

bool
option_at(const struct command *command, size_t i, struct option *out)
{
	if (command && own_or_method_at(command, &i, out))
		return true;
	if (i >= settings_table.count)
		return false;
	out->spec = &settings_table.specs[i];
	out->owner = OPTION_GLOBAL;
	return true;
}

char
option_letter(const struct param_spec *spec)
{
	return spec->option && spec->option[0] != '\0' && spec->option[1] == '\0'
	    ? spec->option[0]
	    : '\0';
}

const char *
option_name(const struct param_spec *spec, char buf[OPTION_NAME_MAX])
{
	bool is_named = spec->option && option_letter(spec) == '\0';
	char *at;
	size_t len;

	(void)snprintf(buf, OPTION_NAME_MAX, "--%s",
	    is_named ? spec->option : spec->name);
	for (at = buf; *at != '\0'; at++)
		if (*at == '_')
			*at = '-';
	len = strlen(buf);
	/* Where there is a letter the value is in seconds, and no name may say ms. */
	if (option_letter(spec) != '\0' && len > 3 && strcmp(buf + len - 3, "-ms") == 0)
		buf[len - 3] = '\0';
	return buf;
}

static bool
is_called(const struct param_spec *spec, const char *name, size_t len)
{
	char buf[OPTION_NAME_MAX];

	if (len == 2)
		return option_letter(spec) == name[1];
	(void)option_name(spec, buf);
	return strlen(buf) == len && memcmp(buf, name, len) == 0;
}

bool
option_find(const struct command *command, const char *name, size_t len,
    struct option *out)
{
	size_t i;

	for (i = 0; option_at(command, i, out); i++)
		if (is_called(out->spec, name, len))
			return true;
	return false;
}

const char *
option_suggest(const struct command *command, const char *name, size_t len,
    char buf[OPTION_NAME_MAX])
{
	char word[OPTION_NAME_MAX], offered[OPTION_NAME_MAX];
	struct suggest suggest = { .word = word };
	struct option option;
	size_t i;

	if (len >= sizeof(word))
		return NULL;
	memcpy(word, name, len);
	word[len] = '\0';
	for (i = 0; option_at(command, i, &option); i++) {
		suggest_offer(&suggest, option_name(option.spec, offered));
		if (suggest.best == offered) {
			memcpy(buf, offered, sizeof(offered));
			suggest.best = buf;
		}
	}
	return suggest.best;
}

bool
option_is_flag(const struct param_spec *spec)
{
	return spec->type == PARAM_BOOL;
}

bool
option_needs_value(const struct param_spec *spec)
{
	return !option_is_flag(spec) && !spec->bare;
}

static bool
has_unit(const struct param_spec *spec, const char *unit)
{
	return spec->unit && strcmp(spec->unit, unit) == 0;
}

const char *
option_value_name(const struct param_spec *spec, char *buf, size_t size)
{
	const char *const *word;
	size_t len = 0;

	switch (spec->type) {
	case PARAM_UINT:
		if (has_unit(spec, "ms"))
			return spec->option ? "S" : "MS";
		return has_unit(spec, "bytes") ? "BYTES" : "N";
	case PARAM_ENUM:
		for (word = spec->words; *word && len < size; word++)
			len += (size_t)snprintf(buf + len, size - len, "%s%s",
			    len ? "|" : "", *word);
		return buf;
	case PARAM_OBJECT:
		return "JSON";
	case PARAM_BOOL:
	case PARAM_STRING:
	case PARAM_STRINGS:
		break;
	}
	return "TEXT";
}
