/* SPDX-License-Identifier: BSD-3-Clause */
/* Help pages: usage, options with range, unit and default, example, exit statuses. */
#include <config.h>

#include "ctl/help.h"

#include <inttypes.h>
#include <string.h>

#include "ctl/buf.h"
#include "ctl/command.h"
#include "ctl/exit.h"
#include "ctl/format.h"
#include "ctl/option.h"
#include "lib/core/num.h"

#define BIT(status) (1u << (unsigned int)(status))

/* What every command that asks the daemon may end with. */
#define EXITS_CALL                                                 \
	(BIT(EXIT_STATUS_NO_DAEMON) | BIT(EXIT_STATUS_TIMED_OUT) | \
	    BIT(EXIT_STATUS_DENIED) | BIT(EXIT_STATUS_FULL) |      \
	    BIT(EXIT_STATUS_NOT_READY) | BIT(EXIT_STATUS_PROTOCOL))

/* Times that are options in their own right are in seconds, see option.c. */
static bool
takes_seconds(const struct param_spec *spec)
{
	return spec->unit && strcmp(spec->unit, "ms") == 0 && spec->option;
}

/* A number of the row as people write it: times in seconds where options take them. */
static void
add_number(struct buf *buf, const struct param_spec *spec, uint64_t number)
{
	char time[FORMAT_TIME_MAX];

	if (takes_seconds(spec))
		buf_puts(buf, format_ms(number, time, sizeof(time)));
	else
		buf_printf(buf, "%" PRIu64, number);
}

/* " (1 to 16 slots, default 4)", as far as there is something to say. */
static void
add_range(struct buf *buf, const struct param_spec *spec)
{
	const char *unit = spec->unit ? spec->unit : "";
	uint64_t number;

	switch (spec->type) {
	case PARAM_UINT:
		buf_puts(buf, " (");
		add_number(buf, spec, spec->min);
		buf_puts(buf, " to ");
		add_number(buf, spec, spec->max);
		if (*unit != '\0' && !takes_seconds(spec))
			buf_printf(buf, " %s", unit);
		if (spec->def && num_parse_u64(spec->def, &number) == 0) {
			buf_puts(buf, ", default ");
			add_number(buf, spec, number);
		}
		buf_puts(buf, ")");
		return;
	case PARAM_STRING:
		buf_printf(buf, " (up to %" PRIu64 " bytes)", spec->max);
		return;
	case PARAM_ENUM:
		if (spec->def)
			buf_printf(buf, " (default %s)", spec->def);
		return;
	case PARAM_BOOL:
	case PARAM_STRINGS:
	case PARAM_OBJECT:
		return;
	}
}

static void
add_option(struct buf *buf, const struct option *option)
{
	const struct param_spec *spec = option->spec;
	char name[OPTION_NAME_MAX], value[64];

	buf_puts(buf, "  ");
	if (option_letter(spec) != '\0')
		buf_printf(buf, "-%c, ", option_letter(spec));
	buf_puts(buf, option_name(spec, name));
	if (!option_is_flag(spec))
		buf_printf(buf, spec->bare ? "[=%s]" : " %s",
		    option_value_name(spec, value, sizeof(value)));
	buf_printf(buf, "\n        %s", spec->doc);
	add_range(buf, spec);
	buf_puts(buf, "\n");
}

/* The options of a command that are not global, or the global ones. */
static void
add_options(struct buf *buf, const struct command *command, bool is_global)
{
	bool any = false, any_seconds = false;
	struct option option;
	size_t i;

	for (i = 0; option_at(command, i, &option); i++) {
		if ((option.owner == OPTION_GLOBAL) != is_global)
			continue;
		if (!any)
			buf_puts(buf,
			    is_global ? "\nglobal options:\n" : "\noptions:\n");
		any = true;
		any_seconds |= takes_seconds(option.spec);
		add_option(buf, &option);
	}
	if (any_seconds)
		buf_puts(buf,
		    "S stands for seconds; 250ms, 2m and 1h are understood too.\n");
}

static void
add_exits(struct buf *buf, const struct command *command)
{
	unsigned int set = BIT(EXIT_STATUS_OK) | BIT(EXIT_STATUS_FAILED) |
	    BIT(EXIT_STATUS_USAGE) | command->exits;
	const struct method_spec *method;
	unsigned int i;

	if (command->calls_any)
		set = BIT(EXIT_STATUS_NOTHING) - 1;
	if (command->method < METHOD_COUNT) {
		method = &methods[command->method];
		set |= EXITS_CALL;
		for (i = 0; i < method->error_count; i++)
			set |= BIT(err_info(method->errors[i])->exit_code);
	}
	buf_puts(buf, "\nexit status:\n");
	for (i = 0; i < EXIT_STATUS_COUNT; i++)
		if (set & BIT(i))
			buf_printf(buf, "  %2u  %s\n", i,
			    exit_status_meaning((enum exit_status)i));
}

static void
add_command(struct buf *buf, const struct command *command)
{
	buf_printf(buf, "usage: rpmactl %s%s%s\n", command->name,
	    command->usage[0] != '\0' ? " " : "", command->usage);
	buf_printf(buf, "%s\n", command->help);
	if (command->note)
		buf_printf(buf, "\n%s\n", command->note);
	add_options(buf, command, false);
	buf_puts(buf, "Global options: rpmactl help\n");
	buf_printf(buf, "\nexample:\n  %s\n", command->example);
	add_exits(buf, command);
}

static void
add_overview(struct buf *buf)
{
	size_t i;

	buf_puts(buf,
	    "usage: rpmactl [OPTION]... COMMAND [ARGUMENT]...\n"
	    "Receive messages over RDMA: ask and steer the daemon rpmad.\n\n"
	    "commands:\n");
	for (i = 0; i < command_count; i++)
		buf_printf(buf, "  %-11s %s\n", commands[i].name, commands[i].help);
	add_options(buf, NULL, true);
	buf_puts(buf, "\nrpmactl help COMMAND tells more; the manual is rpmactl(1).\n");
}

void
help_add(struct buf *buf, const struct command *command)
{
	if (command)
		add_command(buf, command);
	else
		add_overview(buf);
}
