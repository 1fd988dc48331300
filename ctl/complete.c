/* SPDX-License-Identifier: BSD-3-Clause */
/* The script asks for words, and the words come from the tables. */
#include <config.h>

#include "ctl/complete.h"

#include <string.h>

#include "ctl/args.h"
#include "ctl/buf.h"
#include "ctl/command.h"
#include "ctl/option.h"
#include "lib/core/event_type.h"

/* clang-format off */
/* The same as the file rpmactl.bash. */
static const char bash_script[] =
    "# SPDX-License-Identifier: BSD-3-Clause\n"
    "# Completion of rpmactl in bash; the words come from rpmactl itself.\n"
    "_rpmactl() {\n"
    "  local IFS=$'\\n'\n"
    "  # shellcheck disable=SC2207\n"
    "  COMPREPLY=($(compgen -W \"$(\"${COMP_WORDS[0]}\" completion --words -- \\\n"
    "    \"${COMP_WORDS[@]:1:COMP_CWORD-1}\" 2>/dev/null)\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
    "}\n"
    "complete -o default -F _rpmactl rpmactl\n";

/* The same as the file _rpmactl. */
static const char zsh_script[] =
    "#compdef rpmactl\n"
    "# SPDX-License-Identifier: BSD-3-Clause\n"
    "# Completion of rpmactl in zsh; the words come from rpmactl itself.\n"
    "local -a found\n"
    "found=(\"${(@f)$(\"${(Q)words[1]}\" completion --words -- \"${(@Q)words[2,CURRENT-1]}\" 2>/dev/null)}\")\n"
    "found=(${found:#})\n"
    "(( $#found )) && compadd -a found && return\n"
    "_files\n";

/* The same as the file rpmactl.fish. */
static const char fish_script[] =
    "# SPDX-License-Identifier: BSD-3-Clause\n"
    "# Completion of rpmactl in fish; the words come from rpmactl itself.\n"
    "function __rpmactl_words\n"
    "    set -l words (commandline -opc)\n"
    "    $words[1] completion --words -- $words[2..-1] 2>/dev/null\n"
    "end\n"
    "# Where nothing but options may follow, it may be a file as well.\n"
    "function __rpmactl_no_file\n"
    "    __rpmactl_words | string match -qv -- '-*'\n"
    "end\n"
    "complete -c rpmactl -f -n __rpmactl_no_file -a '(__rpmactl_words)'\n"
    "complete -c rpmactl -F -n 'not __rpmactl_no_file' -a '(__rpmactl_words)'\n";
/* clang-format on */

static const struct {
	const char *shell;
	const char *script;
} scripts[] = {
	{ "bash", bash_script },
	{ "zsh", zsh_script },
	{ "fish", fish_script },
};

bool
complete_script(struct buf *buf, const char *shell)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(scripts); i++) {
		if (strcmp(shell, scripts[i].shell) == 0) {
			buf_puts(buf, scripts[i].script);
			return true;
		}
	}
	return false;
}

static void
add_line(struct buf *buf, const char *word)
{
	buf_puts(buf, word);
	buf_puts(buf, "\n");
}

static void
add_commands(struct buf *buf)
{
	size_t i;

	for (i = 0; i < command_count; i++)
		add_line(buf, commands[i].name);
}

static void
add_options(struct buf *buf, const struct command *command)
{
	char name[OPTION_NAME_MAX];
	struct option option;
	size_t i;

	for (i = 0; option_at(command, i, &option); i++)
		add_line(buf, option_name(option.spec, name));
}

static void
add_values(struct buf *buf, const struct param_spec *spec)
{
	const char *const *word;

	for (word = spec->type == PARAM_ENUM ? spec->words : NULL; word && *word;
	     word++)
		add_line(buf, *word);
}

/* What may be the next word of a command that has so many. */
static void
add_arguments(struct buf *buf, const struct command *command, size_t count)
{
	const struct param_spec *spec = args_word_spec(command);
	unsigned int i;

	if (count >= command->max_words)
		return;
	if (spec)
		add_values(buf, spec);
	if (command->method == METHOD_EVENT_GET)
		for (i = 0; i < EVENT_TYPE_COUNT; i++)
			add_line(buf, event_type_name((enum event_type)i));
	else if (strcmp(command->name, "help") == 0)
		add_commands(buf);
	else if (strcmp(command->name, "completion") == 0)
		for (i = 0; i < ARRAY_LEN(scripts); i++)
			add_line(buf, scripts[i].shell);
	else if (command->calls_any && count == 0)
		for (i = 0; i < METHOD_COUNT; i++)
			add_line(buf, methods[i].name);
}

void
complete_words(struct buf *buf, char *const *words, size_t count)
{
	const struct command *command = NULL;
	const struct param_spec *pending = NULL; /* the option whose value comes next */
	struct option option;
	size_t taken = 0; /* words of the command */
	size_t i;

	for (i = 0; i < count; i++) {
		if (pending)
			pending = NULL;
		else if (words[i][0] != '-' && command)
			taken++;
		else if (words[i][0] != '-')
			command = command_by_name(words[i]);
		else if (option_find(command, words[i], strlen(words[i]), &option) &&
		    option_needs_value(option.spec))
			pending = option.spec;
	}
	if (pending) {
		add_values(buf, pending);
		return;
	}
	if (command)
		add_arguments(buf, command, taken);
	else
		add_commands(buf);
	add_options(buf, command);
}
