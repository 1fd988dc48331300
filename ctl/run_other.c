/* SPDX-License-Identifier: BSD-3-Clause */
/* call, help and completion. */
#include <config.h>

#include <jansson.h>

#include "ctl/args.h"
#include "ctl/complete.h"
#include "ctl/ctl.h"
#include "ctl/help.h"
#include "ctl/run.h"
#include "ctl/view.h"

struct completion_options {
	bool is_words;
};

static const struct param_spec completion_specs[] = {
	{ .name = "words",
	    .type = PARAM_BOOL,
	    .def = "false",
	    .doc = "print what may follow the words given, one a line (for scripts)",
	    .offset = offsetof(struct completion_options, is_words) },
};
const struct param_table run_completion_options = { completion_specs,
	ARRAY_LEN(completion_specs) };

int
run_call(struct ctl *ctl, const struct args *args)
{
	json_t *params = NULL, *result;
	json_error_t error;
	int rc;

	if (args->word_count > 1) {
		params = json_loads(args->words[1], JSON_REJECT_DUPLICATES, &error);
		if (!params)
			return ctl_usage(ctl, "invalid JSON at byte %d: %s",
			    error.position, error.text);
		if (!json_is_object(params)) {
			json_decref(params);
			return ctl_usage(ctl, "parameters are a JSON object");
		}
	}
	rc = ctl_call_name(ctl, args->words[0], params, &result);
	if (rc != 0)
		return ctl_status(ctl, rc);
	rc = ctl_show(ctl, view_any, result);
	json_decref(result);
	return rc;
}

int
run_help(struct ctl *ctl, const struct args *args)
{
	const struct command *command = NULL;
	const char *near;

	if (args->word_count > 0) {
		command = command_by_name(args->words[0]);
		if (!command) {
			near = command_suggest(args->words[0]);
			(void)ctl_usage(ctl, "unknown command \"%s\"", args->words[0]);
			err_hint(&ctl->err, near ? "did you mean %s?" : "%s",
			    near ? near : "rpmactl help lists them");
			return EXIT_STATUS_USAGE;
		}
	}
	help_add(&ctl->out.buf, command);
	return ctl_flush(ctl);
}

int
run_completion(struct ctl *ctl, const struct args *args)
{
	struct completion_options options;
	int rc;

	rc = param_decode(&run_completion_options, args->own, "", false, &options,
	    &ctl->err);
	if (rc != 0)
		return ctl_status(ctl, rc);
	if (options.is_words)
		complete_words(&ctl->out.buf, args->words, args->word_count);
	else if (args->word_count != 1 ||
	    !complete_script(&ctl->out.buf, args->words[0]))
		return ctl_usage(ctl, "the shell is one of: %s", COMPLETE_SHELLS);
	return ctl_flush(ctl);
}
