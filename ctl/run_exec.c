/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * poll --exec. No more messages are asked for than there are free places for commands, so
 * each delivery is an attempt, and a command that fails keeps its place until its message
 * is given back: what fails all the time is slow, and never spins.
 */
#include <config.h>

#include "ctl/run_exec.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>

#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/dead_letter.h"
#include "ctl/field.h"
#include "ctl/format.h"
#include "ctl/interrupt.h"
#include "ctl/job.h"
#include "ctl/must.h"
#include "ctl/tokens.h"
#include "lib/core/text.h"
#include "lib/core/usock.h"

#define KILL_AFTER_MS 2000u  /* from SIGTERM to SIGKILL */
#define DELAY_MAX_MS  60000u /* between two attempts */

struct exec {
	struct ctl *ctl;
	const struct exec_options *options;
	json_t *params; /* borrowed */
	struct job *jobs;
	size_t busy;   /* places that are not free */
	uint64_t left; /* messages that are still wanted, those in places included */
	int child_fd;
	int dead_fd;      /* of the folder; -1: none */
	bool is_asking;   /* a request waits for messages */
	bool is_ending;   /* no more are taken */
	bool is_stopping; /* nor are commands waited for */
	int rc;           /* why it is ending: 0, or a negative errno with ctl->err */
	json_t *done;     /* tokens to be acknowledged; owned */
	json_t *failed;   /* tokens to be given back; owned */
	size_t taken, failures, dead;
};

/* A line for people about one message. */
static void RPMAD_PRINTF(1, 2) note(const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	(void)fprintf(stderr, "rpmactl: poll: %s\n", text);
}

static void
end(struct exec *exec, int rc)
{
	exec->is_ending = true;
	if (exec->rc == 0)
		exec->rc = rc;
}

/* The first failure is the one to tell. */
static void
fail(struct exec *exec, int rc, const struct err *err)
{
	if (exec->rc == 0)
		exec->ctl->err = *err;
	end(exec, rc);
}

/* What commands print goes nowhere any more: they are not to blame, nor are messages. */
static bool
is_reader_gone(struct exec *exec)
{
	struct pollfd output = { .fd = exec->ctl->out.fd };
	struct err err;

	if (poll(&output, 1, 0) <= 0)
		return false;
	fail(exec, out_reader_gone(&err), &err);
	return true;
}

/* ---- what becomes of a message ---- */

static void
add_token(json_t *list, const json_t *completion)
{
	must_0(json_array_append(list, json_object_get(completion, "token")));
}

/* The message is dealt with, or nobody can. */
static void
settle(struct exec *exec, struct job *job)
{
	add_token(exec->done, job->completion);
	exec->left--;
	exec->busy--;
	job_clear(job);
}

static void
give_back(struct exec *exec, struct job *job)
{
	add_token(exec->failed, job->completion);
	exec->busy--;
	job_clear(job);
}

static uint64_t
delay_after(const struct exec *exec, long long deliveries)
{
	uint64_t delay = exec->options->retry_delay_ms;

	while (--deliveries > 0 && delay < DELAY_MAX_MS)
		delay *= 2;
	return delay < DELAY_MAX_MS ? delay : DELAY_MAX_MS;
}

/* It was tried as often as it may be. */
static void
bury(struct exec *exec, struct job *job, const char *why)
{
	struct err err;
	int rc;

	rc = dead_letter_write(exec->dead_fd, exec->options->dead_letter,
	    job->completion, why, &err);
	if (rc != 0) {
		fail(exec, rc, &err);
		give_back(exec, job);
		return;
	}
	note("message %lld: %s; it is in %s", field_number(job->completion, "seq"), why,
	    exec->options->dead_letter);
	exec->dead++;
	settle(exec, job);
}

static void
on_failure(struct exec *exec, struct job *job, const char *why)
{
	long long deliveries = field_number(job->completion, "deliveries");
	long long seq = field_number(job->completion, "seq");
	char time[FORMAT_TIME_MAX];
	uint64_t delay;

	exec->failures++;
	if (is_reader_gone(exec)) {
		give_back(exec, job);
		return;
	}
	if (exec->dead_fd >= 0 && (uint64_t)deliveries > exec->options->retries) {
		bury(exec, job, why);
		return;
	}
	if (exec->is_ending || !exec->options->is_follow) {
		note("message %lld: %s; it is given back", seq, why);
		/* Else it would be the next one to come. */
		exec->left -= exec->options->is_follow ? 0 : 1;
		give_back(exec, job);
		return;
	}
	delay = delay_after(exec, deliveries);
	note("message %lld: %s; attempt %lld, the next in %s", seq, why, deliveries,
	    format_ms(delay, time, sizeof(time)));
	job->state = JOB_PAUSED;
	job->until_ms = usock_now_ms() + delay;
}

static void
on_end(struct exec *exec, struct job *job, int status)
{
	char why[JOB_WHY_MAX], time[FORMAT_TIME_MAX];
	bool is_late = job->state == JOB_ENDING;

	if (status == 0) {
		settle(exec, job);
	} else if (is_late && exec->is_stopping) {
		note("message %lld: interrupted; it is given back",
		    field_number(job->completion, "seq"));
		exec->failures++;
		give_back(exec, job);
	} else if (is_late) {
		(void)snprintf(why, sizeof(why), "not ended within %s",
		    format_ms(exec->options->job_timeout_ms, time, sizeof(time)));
		on_failure(exec, job, why);
	} else {
		on_failure(exec, job, job_failure(status, why));
	}
}

/* ---- commands ---- */

static void
start(struct exec *exec, json_t *completion)
{
	struct job *job = exec->jobs;
	uint64_t timeout = exec->options->job_timeout_ms;
	int rc = -ECANCELED;
	struct err err;

	while (job->state != JOB_NONE)
		job++;
	if (!exec->is_ending)
		rc = job_start(job, exec->options->argv, completion,
		    exec->ctl->settings.path, &err);
	if (rc == 0) {
		if (timeout != PARAM_UNSET)
			job->until_ms = usock_now_ms() + timeout;
		exec->busy++;
		exec->taken++;
		return;
	}
	add_token(exec->failed, completion);
	if (rc != -ECANCELED)
		fail(exec, rc, &err);
}

/* Tell it to end, and kill it if it does not. */
static void
hasten(struct job *job)
{
	job_kill(job, job->state == JOB_RUNNING ? SIGTERM : SIGKILL);
	job->until_ms =
	    job->state == JOB_RUNNING ? usock_now_ms() + KILL_AFTER_MS : UINT64_MAX;
	job->state = JOB_ENDING;
}

/* Those that have ended, and those whose time is over. */
static void
look_after_jobs(struct exec *exec)
{
	struct job *job;
	int status;

	while (interrupt_take(exec->child_fd))
		continue;
	for (job = exec->jobs; job < exec->jobs + exec->options->jobs; job++) {
		if (job->state == JOB_NONE)
			continue;
		if (job->state != JOB_PAUSED && job_reap(job, &status))
			on_end(exec, job, status);
		else if (job->state == JOB_PAUSED &&
		    (exec->is_ending || usock_now_ms() >= job->until_ms))
			give_back(exec, job);
		else if (usock_now_ms() >= job->until_ms)
			hasten(job);
	}
}

/* A first interrupt lets commands end, a second one ends them. */
static void
look_for_interrupts(struct exec *exec)
{
	struct job *job;

	while (interrupt_take(exec->ctl->interrupt_fd)) {
		if (!exec->is_ending) {
			end(exec, -EINTR);
			continue;
		}
		exec->is_stopping = true;
		for (job = exec->jobs; job < exec->jobs + exec->options->jobs; job++)
			if (job->state == JOB_RUNNING)
				hasten(job);
	}
}

/* ---- the daemon ---- */

/* The next request is for as many messages as there are places. return   how long it
 * may wait */
static uint64_t
prepare(struct exec *exec)
{
	size_t places = exec->options->jobs - exec->busy;
	uint64_t wanted = exec->left - exec->busy, wait_ms;

	if (wanted > places)
		wanted = places;
	must_0(json_object_set_new(exec->params, "max",
	    json_integer((json_int_t)wanted)));
	if (exec->options->is_follow)
		wait_ms = CTL_FOLLOW_WAIT_MS;
	else if (exec->taken > 0)
		wait_ms = 0;
	else
		wait_ms = (uint64_t)field_number(exec->params, "wait_ms");
	must_0(json_object_set_new(exec->params, "wait_ms",
	    json_integer((json_int_t)wait_ms)));
	return wait_ms;
}

static void
ask(struct exec *exec)
{
	uint64_t wait_ms = prepare(exec);
	struct err err;
	int rc;

	rc = client_begin(exec->ctl->client, methods[METHOD_RECV_POLL].name,
	    must(json_deep_copy(exec->params)), wait_ms, &err);
	exec->is_asking = rc == 0;
	if (rc != 0)
		fail(exec, rc, &err);
}

/* What the request brought, if it is there. */
static void
take_reply(struct exec *exec)
{
	json_t *result, *completions, *completion;
	struct err err;
	size_t i;
	int rc = ctl_take(exec->ctl, METHOD_RECV_POLL, &result, &err);

	if (rc == -EAGAIN)
		return;
	exec->is_asking = false;
	if (rc != 0) {
		fail(exec, rc, &err);
		return;
	}
	completions = json_object_get(result, "completions");
	json_array_foreach(completions, i, completion)
		start(exec, completion);
	if (i == 0 && !exec->options->is_follow)
		end(exec, 0);
	json_decref(result);
}

/* Tell the daemon what became of messages. Without following, what failed is kept to
 * the end, else it would be the next to come. */
static void
report(struct exec *exec, bool is_last)
{
	struct err why = exec->ctl->err;
	int rc = tokens_call(exec->ctl, METHOD_RECV_ACK, exec->done);

	if (rc == 0 && (is_last || exec->options->is_follow))
		rc = tokens_call(exec->ctl, METHOD_RECV_NACK, exec->failed);
	if (exec->rc != 0)
		exec->ctl->err = why;
	else if (rc != 0)
		end(exec, rc);
}

/* ---- the whole ---- */

/* How long nothing has to be done unless something happens, for poll(2). */
static int
pause_ms(const struct exec *exec)
{
	uint64_t until =
	    exec->is_asking ? client_take_deadline_ms(exec->ctl->client) : UINT64_MAX;
	uint64_t now = usock_now_ms();
	size_t i;

	for (i = 0; i < exec->options->jobs; i++)
		if (exec->jobs[i].state != JOB_NONE && exec->jobs[i].until_ms < until)
			until = exec->jobs[i].until_ms;
	if (until == UINT64_MAX)
		return -1;
	return until > now ? (int)(until - now) : 0;
}

static void
wait_for_something(struct exec *exec)
{
	struct pollfd fds[] = {
		{ .fd = exec->ctl->interrupt_fd, .events = POLLIN },
		{ .fd = exec->child_fd, .events = POLLIN },
		{ .fd = exec->is_asking ? client_fd(exec->ctl->client) : -1,
		    .events = POLLIN },
		{ .fd = exec->is_ending ? -1 : exec->ctl->out.fd },
	};

	(void)poll(fds, ARRAY_LEN(fds), pause_ms(exec));
	if (fds[3].revents)
		(void)is_reader_gone(exec);
}

static bool
may_ask(const struct exec *exec)
{
	return !exec->is_ending && !exec->is_asking && exec->left > exec->busy &&
	    exec->busy < exec->options->jobs;
}

static void
loop(struct exec *exec)
{
	while (exec->busy > 0 || (exec->left > 0 && !exec->is_ending)) {
		if (may_ask(exec))
			ask(exec);
		wait_for_something(exec);
		look_for_interrupts(exec);
		if (exec->is_asking)
			take_reply(exec);
		look_after_jobs(exec);
		report(exec, false);
	}
	report(exec, true);
}

/* In a dry run there is a request, and no more. */
static int
show_request(struct exec *exec)
{
	json_t *result;

	(void)prepare(exec);
	return ctl_call(exec->ctl, METHOD_RECV_POLL, json_incref(exec->params),
	    &result);
}

static int
status_of(struct exec *exec)
{
	struct ctl *ctl = exec->ctl;

	if (exec->rc != 0 && exec->rc != -EINTR)
		return ctl_status(ctl, exec->rc);
	if (exec->options->is_follow || (exec->failures == 0 && exec->taken > 0))
		return EXIT_STATUS_OK;
	if (exec->taken == 0)
		return exec->rc == -EINTR ? EXIT_STATUS_OK : EXIT_STATUS_NOTHING;
	(void)err_set(&ctl->err, ERR_INTERNAL_ERROR, 0,
	    "the command failed for %zu of %zu message%s: %zu given back, %zu dead "
	    "letter%s",
	    exec->failures, exec->taken, text_plural(exec->taken),
	    exec->failures - exec->dead, exec->dead, text_plural(exec->dead));
	return EXIT_STATUS_FAILED;
}

int
exec_run(struct ctl *ctl, const struct exec_options *options, struct json_t *params,
    uint64_t count)
{
	struct exec exec = { .ctl = ctl,
		.options = options,
		.params = params,
		.left = count,
		.child_fd = -1,
		.dead_fd = -1 };
	int rc = 0;

	exec.jobs = must(calloc(options->jobs, sizeof(*exec.jobs)));
	exec.done = must(json_array());
	exec.failed = must(json_array());
	if (options->dead_letter)
		rc = exec.dead_fd = dead_letter_open(options->dead_letter, &ctl->err);
	if (rc >= 0)
		rc = exec.child_fd = interrupt_open_children(&ctl->err);
	if (rc >= 0)
		rc = ctl_watch(ctl);
	if (rc == 0)
		rc = ctl->settings.is_dry_run ? show_request(&exec) : ctl_connect(ctl);
	if (rc == 0) {
		client_watch(ctl->client, -1, -1);
		loop(&exec);
		rc = status_of(&exec);
	} else {
		rc = rc == -EINTR ? EXIT_STATUS_OK : ctl_status(ctl, rc);
	}
	if (exec.child_fd >= 0)
		(void)close(exec.child_fd);
	if (exec.dead_fd >= 0)
		(void)close(exec.dead_fd);
	json_decref(exec.done);
	json_decref(exec.failed);
	free(exec.jobs);
	return rc;
}
