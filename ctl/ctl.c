/* SPDX-License-Identifier: BSD-3-Clause */
/* From the command line to the exit status: parse, run, tell what went wrong. */
#include <config.h>

#include "ctl/ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "ctl/args.h"
#include "ctl/client.h"
#include "ctl/help.h"
#include "ctl/interrupt.h"
#include "ctl/must.h"
#include "lib/core/num.h"

int
ctl_connect(struct ctl *ctl)
{
	struct client_config config = {
		.path = ctl->settings.path,
		.timeout_ms = ctl->settings.timeout_ms,
		.wait_daemon_ms = ctl->settings.wait_daemon_ms,
		.interrupt_fd = ctl->interrupt_fd,
		.output_fd = -1,
	};

	if (ctl->client || ctl->settings.is_dry_run)
		return 0;
	return client_open(&config, &ctl->client, &ctl->err);
}

/* How long a call may wait by itself: what its parameter says, or that one's default.
 */
static uint64_t
own_wait_ms(const struct method_spec *method, const json_t *params)
{
	static const char *const names[] = { "wait_ms", "timeout_ms" };
	const struct param_spec *spec;
	const json_t *value;
	uint64_t ms = 0;
	size_t i, k;

	for (i = 0; i < method->params.count; i++) {
		spec = &method->params.specs[i];
		for (k = 0; k < ARRAY_LEN(names); k++) {
			if (strcmp(spec->name, names[k]) != 0)
				continue;
			value = json_object_get(params, spec->name);
			if (json_is_integer(value) && json_integer_value(value) >= 0)
				ms = (uint64_t)json_integer_value(value);
			else if (spec->def)
				(void)num_parse_u64(spec->def, &ms);
			return ms < spec->max ? ms : spec->max;
		}
	}
	return 0;
}

static int
print_request(struct ctl *ctl, const char *method, json_t *params)
{
	char *text = client_format_request(method, params, 1);
	int rc;

	buf_puts(&ctl->out.buf, text);
	buf_puts(&ctl->out.buf, "\n");
	free(text);
	rc = out_flush(&ctl->out, &ctl->err);
	return rc == 0 ? -ECANCELED : rc;
}

int
ctl_call_name(struct ctl *ctl, const char *method, struct json_t *params,
    struct json_t **result)
{
	enum method_id id = method_by_name(method);
	uint64_t wait_ms = id < METHOD_COUNT ? own_wait_ms(&methods[id], params) : 0;
	int rc;

	if (ctl->settings.is_dry_run)
		return print_request(ctl, method, params);
	rc = ctl_connect(ctl);
	if (rc != 0) {
		json_decref(params);
		return rc;
	}
	return client_call(ctl->client, method, params, wait_ms, result, &ctl->err);
}

/*
 * Whether a result is that of its method, before anything is made of it; *to takes it.
 * return   0; -EPROTO with err, and the result is freed
 */
static int
take_result(enum method_id method, json_t *result, json_t **to, struct err *err)
{
	const struct method_spec *spec = &methods[method];
	const json_t *member = json_object_get(result, spec->result);

	if (spec->has_list ? json_is_array(member) : member != NULL) {
		*to = result;
		return 0;
	}
	json_decref(result);
	(void)err_set(err, ERR_INTERNAL_ERROR, EPROTO,
	    "the daemon's answer to %s has no %s\"%s\"", spec->name,
	    spec->has_list ? "list " : "", spec->result);
	err_hint(err, "is it rpmad that listens there, of the same version?");
	return -EPROTO;
}

int
ctl_call(struct ctl *ctl, enum method_id method, struct json_t *params,
    struct json_t **result)
{
	json_t *taken;
	int rc = ctl_call_name(ctl, methods[method].name, params, &taken);

	return rc == 0 ? take_result(method, taken, result, &ctl->err) : rc;
}

int
ctl_take(struct ctl *ctl, enum method_id method, struct json_t **result,
    struct err *err)
{
	json_t *taken;
	int rc = client_take(ctl->client, &taken, err);

	return rc == 0 ? take_result(method, taken, result, err) : rc;
}

int
ctl_status(const struct ctl *ctl, int rc)
{
	return (int)exit_status_of(rc, &ctl->err);
}

int
ctl_status_of_watch(struct ctl *ctl, int rc)
{
	if (rc == -EPIPE)
		(void)out_reader_gone(&ctl->err);
	return rc == -EINTR ? EXIT_STATUS_OK : ctl_status(ctl, rc);
}

int
ctl_flush(struct ctl *ctl)
{
	return ctl_status(ctl, out_flush(&ctl->out, &ctl->err));
}

int
ctl_show(struct ctl *ctl, command_view_fn view, const struct json_t *result)
{
	if (ctl->out.is_json)
		out_json(&ctl->out, result);
	else
		view(&ctl->out, result);
	return ctl_flush(ctl);
}

int
ctl_usage(struct ctl *ctl, const char *fmt, ...)
{
	char text[sizeof(ctl->err.text)];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	(void)err_set(&ctl->err, ERR_INVALID_PARAMS, 0, "%s", text);
	return EXIT_STATUS_USAGE;
}

int
ctl_watch(struct ctl *ctl)
{
	int fd;

	if (ctl->interrupt_fd >= 0)
		return 0;
	fd = interrupt_open(&ctl->err);
	if (fd < 0)
		return fd;
	ctl->interrupt_fd = fd;
	ctl->out.interrupt_fd = fd;
	if (ctl->client)
		client_watch(ctl->client, fd, -1);
	return 0;
}

/* A command without a function of its own: parameters, call, view. */
static int
run_plain(struct ctl *ctl, const struct args *args)
{
	const struct command *command = args->command;
	json_t *result;
	int rc;

	rc = ctl_call(ctl, command->method, json_incref(args->params), &result);
	if (rc != 0)
		return ctl_status(ctl, rc);
	rc = ctl_show(ctl, command->view, result);
	json_decref(result);
	return rc;
}

/* The one line about what went wrong, for people. */
static void
tell(const struct ctl *ctl, const struct command *command)
{
	const struct err *err = &ctl->err;

	(void)fprintf(stderr, "rpmactl: %s%s%s%s%s", command ? command->name : "",
	    command ? ": " : "", err->path, err->path[0] != '\0' ? ": " : "",
	    err->text);
	if (err->hint[0] != '\0')
		(void)fprintf(stderr, " (%s)", err->hint);
	(void)fputc('\n', stderr);
}

int
ctl_command(struct ctl *ctl, struct args *args)
{
	int rc = args_finish(args, &ctl->err);

	if (rc != 0)
		return ctl_status(ctl, rc);
	return args->command->run ? args->command->run(ctl, args)
				  : run_plain(ctl, args);
}

static int
run(struct ctl *ctl, struct args *args)
{
	const struct command *command = args->command;
	int rc = settings_read(args->global, &ctl->settings, &ctl->err);

	if (rc != 0)
		return ctl_status(ctl, rc);
	ctl->out.is_json = ctl->settings.is_json;
	if (ctl->settings.is_version || ctl->settings.is_help) {
		if (ctl->settings.is_version)
			buf_puts(&ctl->out.buf, "rpmactl " PACKAGE_VERSION "\n");
		else
			help_add(&ctl->out.buf, command);
		return ctl_flush(ctl);
	}
	if (!command) {
		(void)ctl_usage(ctl, "no command was given");
		err_hint(&ctl->err, "rpmactl help lists them");
		return EXIT_STATUS_USAGE;
	}
	return ctl_command(ctl, args);
}

/*
 * A standard descriptor that is closed must not become the socket's: give its place to
 * one on which the use that it is for fails.
 */
static void
fill_standard_fds(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)open("/dev/null",
			    fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int
ctl_main(int argc, char **argv)
{
	struct ctl ctl = { .interrupt_fd = -1 };
	struct args args;
	int rc, status;

	fill_standard_fds();
	(void)signal(SIGPIPE, SIG_IGN);
	out_init(&ctl.out);
	rc = args_parse(argc, argv, &args, &ctl.err);
	status = rc == 0 ? run(&ctl, &args) : ctl_status(&ctl, rc);
	if (status != EXIT_STATUS_OK && ctl.err.text[0] != '\0')
		tell(&ctl, args.command);
	client_close(ctl.client);
	if (ctl.interrupt_fd >= 0)
		(void)close(ctl.interrupt_fd);
	args_free(&args);
	out_fini(&ctl.out);
	return status;
}
