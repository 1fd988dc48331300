/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * poll: take messages, write them, then acknowledge. Without a lease of their own they
 * are held for this connection alone, so that whatever ends us before the
 * acknowledgement gives them back.
 */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

#include <jansson.h>

#include "ctl/args.h"
#include "ctl/client.h"
#include "ctl/columns.h"
#include "ctl/completion.h"
#include "ctl/ctl.h"
#include "ctl/field.h"
#include "ctl/interrupt.h"
#include "ctl/must.h"
#include "ctl/run.h"
#include "ctl/run_exec.h"
#include "ctl/run_in_place.h"
#include "ctl/tokens.h"
#include "ctl/view.h"

#define FOLLOW_MAX      256u /* messages asked for at once while following */
#define JOBS_MAX        256u
#define JOB_TIME_MAX_MS 86400000u

struct poll_options {
	bool is_follow;
	bool is_raw;
	bool is_length_prefix;
	bool is_in_place;
	bool is_no_ack;
	bool is_exec;
	struct exec_options exec;
	struct param_string dead_letter;
};

struct poll {
	struct ctl *ctl;
	struct poll_options options;
	json_t *params;          /* of the next request; owned */
	uint64_t left;           /* messages that are still wanted */
	struct columns *columns; /* of the text form; owned */
	bool has_titles;         /* they are still to be printed */
	json_t *written;         /* tokens to be acknowledged; owned */
};

#define AT(field) offsetof(struct poll_options, field)
/* clang-format off */
static const struct param_spec specs[] = {
	{ .name = "follow", .type = PARAM_BOOL, .def = "false",
	  .doc = "go on until interrupted, writing each message at once", .offset = AT(is_follow) },
	{ .name = "raw", .type = PARAM_BOOL, .def = "false",
	  .doc = "write the bytes of one message and nothing else", .offset = AT(is_raw) },
	{ .name = "length_prefix", .type = PARAM_BOOL, .def = "false",
	  .doc = "with --raw: write the length of each message before it (4 bytes, big-endian)", .offset = AT(is_length_prefix) },
	{ .name = "in_place", .type = PARAM_BOOL, .def = "false",
	  .doc = "with --raw: read payload in the daemon's memory, which pool.share has to allow", .offset = AT(is_in_place) },
	{ .name = "no_ack", .type = PARAM_BOOL, .def = "false",
	  .doc = "do not acknowledge: somebody else will, with the tokens, within the lease", .offset = AT(is_no_ack) },
	{ .name = "exec", .type = PARAM_BOOL, .def = "false",
	  .doc = "run COMMAND for each message, with the payload on its standard input", .offset = AT(is_exec) },
	{ .name = "jobs", .type = PARAM_UINT, .min = 1, .max = JOBS_MAX, .def = "1",
	  .doc = "with --exec: how many commands run at the same time", .offset = AT(exec.jobs) },
	{ .name = "job_timeout_ms", .type = PARAM_UINT, .min = 1, .max = JOB_TIME_MAX_MS, .unit = "ms", .option = "job-timeout",
	  .doc = "with --exec: how long a command may run (default: for ever)", .offset = AT(exec.job_timeout_ms) },
	{ .name = "dead_letter", .type = PARAM_STRING, .min = 1, .max = 4095, .unit = "bytes",
	  .doc = "with --exec: folder for messages for which the command fails again and again", .offset = AT(dead_letter) },
	{ .name = "retries", .type = PARAM_UINT, .max = 65535, .def = "3",
	  .doc = "with --dead-letter: how often a message is tried again before", .offset = AT(exec.retries) },
	{ .name = "retry_delay_ms", .type = PARAM_UINT, .max = 60000, .unit = "ms", .def = "1000", .option = "retry-delay",
	  .doc = "with --exec --follow: pause after a first failure, twice as long after each more, up to a minute", .offset = AT(exec.retry_delay_ms) },
};
/* clang-format on */

const struct param_table run_poll_options = { specs, ARRAY_LEN(specs) };

/* What does not go together with commands. return   0, or the exit status */
static int
check_exec(const struct poll *poll, const struct args *args)
{
	static const char *const only[] = { "jobs", "job_timeout_ms", "dead_letter",
		"retries", "retry_delay_ms" };
	const struct poll_options *options = &poll->options;
	struct ctl *ctl = poll->ctl;
	size_t i;

	for (i = 0; i < ARRAY_LEN(only) && !options->is_exec; i++)
		if (field_is_set(args->own, only[i]))
			return ctl_usage(ctl,
			    "--jobs, --job-timeout, --dead-letter, --retries and "
			    "--retry-delay go with --exec");
	if (!options->is_exec)
		return args->word_count == 0
		    ? 0
		    : ctl_usage(ctl,
			  "unexpected argument \"%s\": a command goes "
			  "with --exec",
			  args->words[0]);
	if (args->word_count == 0)
		return ctl_usage(ctl,
		    "--exec needs a command: --exec -- COMMAND ARGUMENT...");
	if (options->is_raw || options->is_no_ack || ctl->out.is_json ||
	    field_is_set(args->params, "encoding"))
		return ctl_usage(ctl,
		    "--exec gives messages to a command, as they are, and acknowledges "
		    "them: no --raw, --json, --encoding, --no-ack");
	if (field_is_set(args->own, "retries") && !options->dead_letter.ptr)
		return ctl_usage(ctl,
		    "--retries goes with --dead-letter DIR: without it a message is "
		    "tried for ever");
	if (field_is_set(args->own, "retry_delay_ms") && !options->is_follow)
		return ctl_usage(ctl,
		    "--retry-delay goes with --follow: without it a message is tried "
		    "once");
	return 0;
}

/* What does not go together. return   0, or the exit status */
static int
check_options(const struct poll *poll, const struct args *args)
{
	const struct poll_options *options = &poll->options;
	struct ctl *ctl = poll->ctl;
	json_int_t max = field_number(args->params, "max");
	bool one = options->is_raw && !options->is_length_prefix;

	if (options->is_no_ack && !field_is_set(args->params, "lease_ms"))
		return ctl_usage(ctl,
		    "--no-ack needs --lease S: a message without a lease of its own is "
		    "given back when this command ends");
	if (!options->is_no_ack && field_is_set(args->params, "lease_ms"))
		return ctl_usage(ctl,
		    "--lease goes with --no-ack: otherwise the messages are held until "
		    "they are acknowledged here");
	if (options->is_length_prefix && !options->is_raw)
		return ctl_usage(ctl, "--length-prefix goes with --raw");
	if (options->is_in_place &&
	    (!options->is_raw || options->is_no_ack ||
		field_is_set(args->params, "max_bytes")))
		return ctl_usage(ctl,
		    "--in-place goes with --raw, and without --no-ack and --max-bytes");
	if (options->is_raw && ctl->out.is_json)
		return ctl_usage(ctl, "--raw and --json exclude each other");
	if (options->is_raw && field_is_set(args->params, "encoding"))
		return ctl_usage(ctl, "--raw writes bytes as they are: no --encoding");
	if (one && (max > 1 || options->is_follow))
		return ctl_usage(ctl,
		    "--raw writes one message: more need --length-prefix, or --json");
	if (options->is_follow && field_is_set(args->params, "wait_ms"))
		return ctl_usage(ctl, "--follow waits for ever: no -w");
	return 0;
}

static void
set_number(json_t *object, const char *key, uint64_t number)
{
	must_0(json_object_set_new(object, key, json_integer((json_int_t)number)));
}

/* The first request, and how many messages are wanted. */
static void
prepare(struct poll *poll, const struct args *args)
{
	const struct poll_options *options = &poll->options;
	const struct method_spec *method = &methods[METHOD_RECV_POLL];
	struct recv_poll_params defaults = { .max = 1 };
	bool has_max = field_is_set(args->params, "max");

	poll->params = must(json_copy(args->params));
	poll->written = must(json_array());
	(void)param_decode(&method->params, args->params, "", false, &defaults, NULL);
	if (options->is_raw && !options->is_length_prefix)
		poll->left = 1;
	else if (options->is_follow && !has_max)
		poll->left = UINT64_MAX;
	else
		poll->left = defaults.max;
	if (options->is_raw && !options->is_length_prefix)
		set_number(poll->params, "max", 1);
	if (options->is_raw || options->is_exec || poll->ctl->out.is_json)
		return;
	if (!field_is_set(poll->params, "encoding"))
		must_0(json_object_set_new(poll->params, "encoding",
		    json_string("text")));
	poll->columns = view_messages_new(options->is_no_ack);
	poll->has_titles = poll->ctl->out.is_terminal;
}

/* Add the payload's bytes to the output. */
static int
add_raw(struct poll *poll, const json_t *completion)
{
	uint32_t prefix;
	uint8_t *bytes;
	size_t len;
	int rc = completion_bytes(completion, &bytes, &len, &poll->ctl->err);

	if (rc != 0)
		return rc;
	prefix = htonl((uint32_t)len);
	if (poll->options.is_length_prefix)
		buf_add(&poll->ctl->out.buf, &prefix, sizeof(prefix));
	buf_add(&poll->ctl->out.buf, bytes, len);
	free(bytes);
	return 0;
}

/* Add a message to the output in its form. */
static int
add_message(struct poll *poll, const json_t *completion)
{
	if (poll->options.is_raw)
		return add_raw(poll, completion);
	if (poll->ctl->out.is_json)
		out_json(&poll->ctl->out, completion);
	else
		view_message(poll->columns, poll->options.is_no_ack, completion);
	return 0;
}

/* Bring what was added to the reader. */
static int
write_out(struct poll *poll)
{
	if (poll->columns) {
		columns_print(poll->columns, &poll->ctl->out, poll->has_titles);
		poll->has_titles = false;
	}
	return out_flush(&poll->ctl->out, &poll->ctl->err);
}

static void
add_written(struct poll *poll, const json_t *completion)
{
	if (!poll->options.is_no_ack)
		must_0(json_array_append(poll->written,
		    json_object_get(completion, "token")));
}

static int
acknowledge(struct poll *poll)
{
	if (poll->ctl->unacked) {
		must_0(json_array_extend(poll->ctl->unacked, poll->written));
		return json_array_clear(poll->written);
	}
	return tokens_call(poll->ctl, METHOD_RECV_ACK, poll->written);
}

/* Ask once. return   as ctl_call(), with the completions still inside *result */
static int
ask(struct poll *poll, json_t **result)
{
	if (poll->ctl->client)
		client_renew(poll->ctl->client);
	return ctl_call(poll->ctl, METHOD_RECV_POLL, must(json_deep_copy(poll->params)),
	    result);
}

/* The messages of one reply: added, written, acknowledged. */
static int
take_reply(struct poll *poll, const json_t *completions)
{
	const json_t *completion;
	size_t i;
	int rc = 0;

	json_array_foreach(completions, i, completion) {
		rc = add_message(poll, completion);
		if (rc != 0)
			return rc;
		add_written(poll, completion);
	}
	rc = write_out(poll);
	if (rc == 0)
		rc = acknowledge(poll);
	return rc;
}

/*
 * Ask until as many messages as wanted came, or no more are ready. As JSON all of them
 * are gathered in the last reply's object, which is then one line.
 */
static int
poll_some(struct poll *poll)
{
	json_t *all = must(json_array());
	json_t *result = NULL, *completions;
	bool more = true, is_json = poll->ctl->out.is_json;
	uint64_t count = 0, n;
	int rc = 0;

	while (more && rc == 0 && poll->left > 0) {
		json_decref(result);
		result = NULL;
		rc = ask(poll, &result);
		if (rc != 0)
			break;
		completions = json_object_get(result, "completions");
		n = json_array_size(completions);
		count += n;
		poll->left -= n < poll->left ? n : poll->left;
		more = field_is_true(result, "more") && n > 0;
		if (is_json)
			must_0(json_array_extend(all, completions));
		else if (n > 0)
			rc = take_reply(poll, completions);
		set_number(poll->params, "wait_ms", 0);
		set_number(poll->params, "max", poll->left);
	}
	if (rc == 0 && is_json) {
		must_0(json_object_set(result, "completions", all));
		out_json(&poll->ctl->out, result);
		rc = write_out(poll);
		for (n = 0; n < json_array_size(all); n++)
			add_written(poll, json_array_get(all, n));
		if (rc == 0)
			rc = acknowledge(poll);
	}
	json_decref(result);
	json_decref(all);
	if (rc != 0)
		return ctl_status(poll->ctl, rc);
	return count > 0 ? EXIT_STATUS_OK : EXIT_STATUS_NOTHING;
}

/* The messages of one reply, each written by itself; those that were are noted. */
static int
follow_reply(struct poll *poll, const json_t *completions)
{
	const json_t *completion;
	size_t i;
	int rc;

	json_array_foreach(completions, i, completion) {
		rc = add_message(poll, completion);
		if (rc == 0)
			rc = write_out(poll);
		if (rc != 0)
			return rc;
		add_written(poll, completion);
		poll->left--;
	}
	return interrupt_is_pending(poll->ctl->interrupt_fd) ? -EINTR : 0;
}

/* One request, which acknowledges what the last one brought. */
static int
follow_once(struct poll *poll)
{
	json_t *result;
	int rc;

	set_number(poll->params, "max",
	    poll->left < FOLLOW_MAX ? poll->left : FOLLOW_MAX);
	if (json_array_size(poll->written) > 0)
		must_0(json_object_set(poll->params, "ack_tokens", poll->written));
	else
		(void)json_object_del(poll->params, "ack_tokens");
	rc = ask(poll, &result);
	/* A daemon that is stopping refuses polls with all that is in them, and still takes
	 * acknowledgements. Else the tokens went with the request, whatever came back. */
	if (rc == 0 || poll->ctl->err.code != ERR_SHUTTING_DOWN)
		must_0(json_array_clear(poll->written));
	if (rc != 0)
		return rc;
	rc = follow_reply(poll, json_object_get(result, "completions"));
	json_decref(result);
	return rc;
}

static int
poll_follow(struct poll *poll)
{
	struct ctl *ctl = poll->ctl;
	struct err why;
	int rc = ctl_watch(ctl);

	set_number(poll->params, "wait_ms", CTL_FOLLOW_WAIT_MS);
	if (rc == 0)
		rc = ctl_connect(ctl);
	if (rc == 0 && ctl->client)
		client_watch(ctl->client, ctl->interrupt_fd, ctl->out.fd);
	while (rc == 0 && poll->left > 0)
		rc = follow_once(poll);
	if (rc == -EPIPE)
		rc = out_reader_gone(&ctl->err);
	/* What was written is acknowledged, whatever ended the loop. */
	if (json_array_size(poll->written) > 0) {
		why = ctl->err;
		client_watch(ctl->client, -1, -1);
		if (rc == 0 || rc == -EINTR) {
			rc = acknowledge(poll);
		} else {
			(void)acknowledge(poll);
			ctl->err = why;
		}
	}
	return rc == -EINTR ? EXIT_STATUS_OK : ctl_status(ctl, rc);
}

static int
poll_exec(struct poll *poll, const struct args *args)
{
	struct exec_options *exec = &poll->options.exec;

	exec->argv = args->words;
	exec->dead_letter = poll->options.dead_letter.ptr;
	exec->is_follow = poll->options.is_follow;
	return exec_run(poll->ctl, exec, poll->params, poll->left);
}

static int
poll_in_place(const struct poll *poll)
{
	const struct in_place_options options = {
		.count = poll->left,
		.wait_ms = (uint64_t)field_number(poll->params, "wait_ms"),
		.is_follow = poll->options.is_follow,
		.is_length_prefix = poll->options.is_length_prefix,
	};

	return in_place_run(poll->ctl, &options);
}

int
run_poll(struct ctl *ctl, const struct args *args)
{
	struct poll poll = { .ctl = ctl };
	int rc;

	rc = param_decode(&run_poll_options, args->own, "", false, &poll.options,
	    &ctl->err);
	if (rc != 0)
		return ctl_status(ctl, rc);
	rc = check_options(&poll, args);
	if (rc == 0)
		rc = check_exec(&poll, args);
	if (rc != 0)
		return rc;
	prepare(&poll, args);
	if (poll.options.is_exec)
		rc = poll_exec(&poll, args);
	else if (poll.options.is_in_place)
		rc = poll_in_place(&poll);
	else
		rc = poll.options.is_follow ? poll_follow(&poll) : poll_some(&poll);
	json_decref(poll.params);
	json_decref(poll.written);
	columns_free(poll.columns);
	return rc;
}
