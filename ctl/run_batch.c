/* SPDX-License-Identifier: BSD-3-Clause */
/* batch: commands from standard input over one connection, a line of JSON for each. */
#include <config.h>

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "ctl/args.h"
#include "ctl/buf.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/field.h"
#include "ctl/interrupt.h"
#include "ctl/must.h"
#include "ctl/run.h"
#include "ctl/split.h"
#include "ctl/tokens.h"

#define READ_SIZE 65536u

struct batch {
	struct ctl *ctl;
	struct buf in; /* what was read */
	size_t taken;  /* bytes of it that were served */
	size_t line;   /* number of the last one */
	bool at_end;
	bool has_nul; /* the last line had a NUL in it */
	bool has_failed;
};

/* ---- lines in ---- */

/* Read more. return   0; -EINTR; -EIO with ctl->err */
static int
read_more(struct batch *batch)
{
	struct ctl *ctl = batch->ctl;
	char piece[READ_SIZE], why[128];
	ssize_t n;

	if (interrupt_wait(ctl->interrupt_fd, STDIN_FILENO, POLLIN) != 0)
		return -EINTR;
	n = read(STDIN_FILENO, piece, sizeof(piece));
	if (n > 0)
		buf_add(&batch->in, piece, (size_t)n);
	else if (n == 0)
		batch->at_end = true;
	else if (errno != EINTR && errno != EAGAIN) {
		(void)err_set(&ctl->err, ERR_INTERNAL_ERROR, errno,
		    "cannot read standard input: %s",
		    err_errno_text(errno, why, sizeof(why)));
		return -EIO;
	}
	return 0;
}

/* Forget what was served. */
static void
drop_taken(struct batch *batch)
{
	struct buf *in = &batch->in;

	if (batch->taken == 0)
		return;
	in->len -= batch->taken;
	memmove(in->data, in->data + batch->taken, in->len);
	batch->taken = 0;
}

/*
 * The next line, without its end; a last one may have none. Owned.
 * return   0 and *line, NULL: there is none; -EINTR; -EIO with ctl->err
 */
static int
next_line(struct batch *batch, char **line)
{
	const char *text, *end;
	size_t len;
	int rc;

	*line = NULL;
	for (;;) {
		text = buf_text(&batch->in) + batch->taken;
		len = batch->in.len - batch->taken;
		end = memchr(text, '\n', len);
		if (end || batch->at_end)
			break;
		drop_taken(batch);
		rc = read_more(batch);
		if (rc != 0)
			return rc;
	}
	if (!end && len == 0)
		return 0;
	batch->taken += end ? (size_t)(end - text) + 1 : len;
	if (end)
		len = (size_t)(end - text);
	if (len > 0 && text[len - 1] == '\r')
		len--;
	*line = must(malloc(len + 1));
	memcpy(*line, text, len);
	(*line)[len] = '\0';
	batch->has_nul = strlen(*line) < len;
	return 0;
}

/* ---- one command ---- */

/* What has no place among others: it would print no line, many, read the rest, or ask
 * others than the daemon. */
static int
check_command(struct ctl *ctl, const struct args *args)
{
	static const struct {
		const char *name;
		const char *option;
	} options[] = {
		{ "follow", "--follow" },
		{ "raw", "--raw" },
		{ "exec", "--exec" },
		{ "http", "--http" },
		{ "watch_ms", "--watch" },
	};
	size_t i;

	if (json_object_size(args->global) > 0)
		return ctl_usage(ctl,
		    "global options are for the whole batch: put them before it");
	if (!args->command)
		return ctl_usage(ctl, "no command was given");
	if (args->command->method == METHOD_COUNT && !args->command->calls_any)
		return ctl_usage(ctl, "%s has no place in a batch",
		    args->command->name);
	for (i = 0; i < ARRAY_LEN(options); i++)
		if (field_is_set(args->own, options[i].name))
			return ctl_usage(ctl, "%s has no place in a batch",
			    options[i].option);
	return 0;
}

static int
run_words(struct ctl *ctl, int count, char **words)
{
	struct args args;
	int status;

	if (args_parse(count, words, &args, &ctl->err) != 0)
		status = EXIT_STATUS_USAGE;
	else
		status = check_command(ctl, &args);
	if (status == 0)
		status = ctl_command(ctl, &args);
	args_free(&args);
	return status;
}

/* Run a line. return   the exit status that it would have by itself */
static int
run_line(struct ctl *ctl, char *line)
{
	char **words = must(calloc(strlen(line) / 2 + 4, sizeof(*words)));
	char name[] = "rpmactl";
	int count, status;

	words[0] = name;
	if (line[strspn(line, " \t")] == '#')
		line[0] = '\0';
	count = split_words(line, words + 1, &ctl->err);
	if (count < 0)
		status = EXIT_STATUS_USAGE;
	else
		status = count == 0 ? EXIT_STATUS_OK : run_words(ctl, count + 1, words);
	free(words);
	return status;
}

/* ---- lines out ---- */

static json_t *
error_of(const struct err *err)
{
	if (err->text[0] == '\0')
		return must(json_null());
	return must(json_pack("{s:s, s:s, s:s*, s:s*}", "name",
	    err_info(err->code)->name, "message", err->text, "path",
	    err->path[0] ? err->path : NULL, "hint", err->hint[0] ? err->hint : NULL));
}

/* Write what a command left, as a line. return   0; a negative errno with ctl->err */
static int
answer(struct batch *batch, int status)
{
	struct ctl *ctl = batch->ctl;
	struct buf result = ctl->out.buf;
	json_t *error =
	    error_of(status == EXIT_STATUS_OK ? &(struct err){ 0 } : &ctl->err);
	char *text =
	    must(json_dumps(error, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY));
	int rc;

	memset(&ctl->out.buf, 0, sizeof(ctl->out.buf));
	if (result.len > 0)
		result.data[--result.len] = '\0'; /* the end of its line */
	buf_printf(&ctl->out.buf,
	    "{\"line\":%zu,\"status\":%d,\"result\":%s,\"error\":%s}\n", batch->line,
	    status, result.len > 0 ? result.data : "null", text);
	free(text);
	json_decref(error);
	buf_free(&result);
	ctl->out.is_held = false;
	rc = out_flush(&ctl->out, &ctl->err);
	ctl->out.is_held = true;
	return rc;
}

/* A connection on which something is left open is of no use for what follows. */
static bool
is_broken(int status)
{
	return status == EXIT_STATUS_NO_DAEMON || status == EXIT_STATUS_TIMED_OUT ||
	    status == EXIT_STATUS_PROTOCOL;
}

static int
serve(struct batch *batch, char *line)
{
	struct ctl *ctl = batch->ctl;
	int status, rc;

	memset(&ctl->err, 0, sizeof(ctl->err));
	if (ctl->client)
		client_renew(ctl->client);
	batch->line++;
	if (batch->has_nul)
		status = ctl_usage(ctl, "the line has a NUL in it");
	else
		status = run_line(ctl, line);
	if (status != EXIT_STATUS_OK && status != EXIT_STATUS_NOTHING)
		batch->has_failed = true;
	if (status != EXIT_STATUS_OK && ctl->err.text[0] == '\0' &&
	    interrupt_is_pending(ctl->interrupt_fd))
		(void)err_set(&ctl->err, ERR_CANCELLED, 0, "interrupted");
	if (is_broken(status)) {
		client_close(ctl->client);
		ctl->client = NULL;
	}
	rc = answer(batch, status);
	return rc == 0 ? tokens_call(ctl, METHOD_RECV_ACK, ctl->unacked) : rc;
}

int
run_batch(struct ctl *ctl, const struct args *args)
{
	struct batch batch = { .ctl = ctl };
	char *line;
	int rc = ctl_watch(ctl);

	(void)args;
	ctl->out.is_json = true;
	ctl->out.is_held = true;
	ctl->unacked = must(json_array());
	while (rc == 0) {
		rc = next_line(&batch, &line);
		if (rc != 0 || !line)
			break;
		rc = serve(&batch, line);
		free(line);
		if (rc == 0 && interrupt_is_pending(ctl->interrupt_fd))
			rc = -EINTR;
	}
	buf_free(&batch.in);
	json_decref(ctl->unacked);
	ctl->unacked = NULL;
	ctl->out.is_held = false;
	if (rc != 0 && rc != -EINTR)
		return ctl_status(ctl, rc);
	memset(&ctl->err, 0, sizeof(ctl->err));
	return batch.has_failed ? EXIT_STATUS_FAILED : EXIT_STATUS_OK;
}
