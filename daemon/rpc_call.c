/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a call: its reply, or nobody to reply to. */
#include <config.h>

#include "daemon/rpc_call.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>

#include "daemon/loop.h"
#include "daemon/rpc_impl.h"
#include "lib/core/jsonrpc.h"
#include "lib/core/text.h"

/* The envelope of a result, around the id. */
#define BEGIN  "{\"jsonrpc\":\"2.0\",\"id\":"
#define RESULT ",\"result\":"

#define MEMBER_ROOM 2048u /* kept in a batch for the reply of each later member */

struct rpc_context *
rpc_call_context(const struct rpc_call *call)
{
	return &call->rpc->context;
}

struct ledger_owner *
rpc_call_owner(const struct rpc_call *call)
{
	return &call->client->owner;
}

enum role
rpc_call_role(const struct rpc_call *call)
{
	return call->client->role;
}

int
rpc_call_check_wait(const struct rpc_call *call, uint64_t wait_ms, struct err *err)
{
	int rc;

	if (wait_ms == 0 || !call->batch)
		return 0;
	rc =
	    err_set(err, ERR_UNSUPPORTED, 0, "must be 0 in a batch, which never waits");
	err_path(err, "params.wait_ms");
	return rc;
}

size_t
rpc_call_room(const struct rpc_call *call)
{
	size_t used;

	if (!call->batch)
		return RPC_REPLY_MAX;
	used = call->batch->text.len + call->batch->left * (size_t)MEMBER_ROOM;
	return used < RPC_REPLY_MAX - MEMBER_ROOM ? RPC_REPLY_MAX - used : MEMBER_ROOM;
}

bool
rpc_call_is_read(const struct rpc_call *call)
{
	return client_has_room(call->client->client);
}

bool
rpc_call_has_map(const struct rpc_call *call)
{
	return call->client->has_map;
}

void
rpc_call_set_map(const struct rpc_call *call)
{
	call->client->has_map = true;
	call->client->owner.is_in_place = true;
}

void
rpc_call_pass_fd(struct rpc_call *call, int fd)
{
	assert(methods[call->method].passes_fd && !call->batch &&
	    call->pass_count < CLIENT_FDS_MAX);
	call->pass_fds[call->pass_count++] = fd;
}

/* ---- who wants to know that a reply was written ---- */

int
rpc_call_on_written(struct rpc_call *call, client_written_fn fn, void *arg)
{
	struct written *written = malloc(sizeof(*written));

	if (!written)
		return -ENOMEM;
	*written = (struct written){ call->written, fn, arg };
	call->written = written;
	return 0;
}

/* Tell all of a list, and free it. */
static void
report_written(void *arg, bool is_written)
{
	struct written *written = arg, *next;

	for (; written; written = next) {
		next = written->next;
		written->fn(written->arg, is_written);
		free(written);
	}
}

static void
report_lost(struct written **list)
{
	struct written *written = *list;

	*list = NULL;
	report_written(written, false);
}

void
rpc_call_on_cancel(struct rpc_call *call, void (*fn)(void *arg), void *arg)
{
	call->cancel = fn;
	call->cancel_arg = arg;
}

/* ---- replies ---- */

/*
 * Send a text, which is taken, as a line. A client that is being dropped gets nothing,
 * which is no error.
 * return   0; -ENOMEM: nothing was sent, *written is as before
 */
static int
send_line(struct rpc_client *client, struct rpc_text *text, struct written **written)
{
	int rc = rpc_text_add(text, "\n", 1);

	if (rc < 0) {
		free(text->bytes);
		return rc;
	}
	rc = client_send(client->client, text->bytes, text->len,
	    *written ? report_written : NULL, *written);
	if (rc == 0)
		*written = NULL;
	else if (rc == -EPIPE)
		report_lost(written);
	return rc == -ENOMEM ? rc : 0;
}

/* Add a reply to those of its batch: a value, or where that is NULL a text. */
static int
add_member(struct rpc_call *call, const json_t *reply, const struct rpc_text *text,
    size_t limit)
{
	struct rpc_batch *batch = call->batch;
	const size_t before = batch->text.len;
	struct written **end;
	int rc;

	rc = rpc_text_add(&batch->text, before > 0 ? "," : "[", 1);
	if (rc == 0)
		rc = reply ? rpc_text_add_json(&batch->text, reply, limit)
			   : rpc_text_add(&batch->text, text->bytes, text->len);
	if (rc < 0) {
		batch->text.len = before;
		return rc;
	}
	for (end = &batch->written; *end; end = &(*end)->next)
		continue;
	*end = call->written;
	call->written = NULL;
	return 0;
}

/*
 * Send the reply of a call.
 * return   0; -ENOMEM, -EMSGSIZE: it was not sent
 */
static int
emit(struct rpc_call *call, const json_t *reply, size_t limit)
{
	struct rpc_text text = { 0 };
	int rc;

	if (!reply)
		return -ENOMEM;
	if (call->batch)
		return add_member(call, reply, NULL, limit);
	rc = rpc_text_add_json(&text, reply, limit);
	if (rc < 0) {
		free(text.bytes);
		return rc;
	}
	return send_line(call->client, &text, &call->written);
}

/* Send an error as the reply of a call. A client that cannot even be told is dropped:
 * it would wait for ever. */
static void
emit_error(struct rpc_call *call, const struct err *err)
{
	json_t *reply = jsonrpc_error(call->id, err);
	int rc = emit(call, reply, SIZE_MAX / 2);

	json_decref(reply);
	if (rc == 0)
		return;
	if (call->batch)
		call->batch->is_broken = true;
	else
		client_drop(call->client->client);
}

void
rpc_client_error(struct rpc_client *client, const struct err *err)
{
	struct rpc_call call = { .rpc = client->rpc, .client = client };

	client->rpc->context.stats.request_errors++;
	emit_error(&call, err);
}

void
rpc_batch_end(struct rpc_client *client, struct rpc_batch *batch)
{
	bool is_lost = batch->is_broken;

	if (!is_lost && batch->text.len == 0)
		return;
	if (!is_lost && rpc_text_add(&batch->text, "]", 1) == 0)
		is_lost = send_line(client, &batch->text, &batch->written) < 0;
	else {
		is_lost = true;
		free(batch->text.bytes);
	}
	if (!is_lost)
		return;
	report_lost(&batch->written);
	client_drop(client->client);
}

/* ---- the end of a call ---- */

/* One line about calls that an administrator may ask for later. */
static void
audit(struct rpc_call *call, enum err_code code)
{
	struct rpc_client *client = call->client;
	const struct method_spec *method = &methods[call->method];
	bool is_first = method->role == ROLE_POST && !client->has_used_data;
	unsigned int suppressed = 0;

	if (code == ERR_NONE)
		client->done[call->method]++;
	if (code == ERR_DENIED) {
		if (!log_limit_pass(&call->rpc->denials, loop_now_ns() / 1000000,
			&suppressed))
			return;
		if (suppressed > 0)
			log_notice("rpc", "%u more denial%s went unlogged", suppressed,
			    text_plural(suppressed));
	} else if (is_first) {
		client->has_used_data = true;
	} else if (method->role != ROLE_ADMIN) {
		return;
	}
	log_notice("rpc", "uid=%ld pid=%ld method=%s result=%s", (long)client->uid,
	    (long)client->pid, method->name,
	    code == ERR_NONE ? "ok" : err_info(code)->name);
}

void
rpc_call_free(struct rpc_call *call)
{
	report_lost(&call->written);
	while (call->pass_count > 0)
		(void)close(call->pass_fds[--call->pass_count]);
	json_decref(call->request);
	free(call);
}

/* Take it out of the list of those that wait. */
static void
unlink_call(struct rpc_call *call)
{
	if (!call->is_waiting)
		return;
	call->is_waiting = false;
	if (!call->client) {
		TAILQ_REMOVE(&call->rpc->orphans, call, link);
		return;
	}
	TAILQ_REMOVE(&call->client->calls, call, link);
	call->client->call_count--;
	client_release(call->client->client);
}

static void
count_call(const struct rpc_call *call, enum err_code code)
{
	struct rpc_stats *stats = &call->rpc->context.stats;

	if (code == ERR_NONE)
		stats->calls_ok[call->method]++;
	else
		stats->calls_failed[call->method]++;
	if (!call->is_waiting)
		histogram_add(&stats->request_ns, loop_now_ns() - call->started_ns);
}

/* It was answered, or nobody wants an answer. */
static void
end_call(struct rpc_call *call, enum err_code code)
{
	assert(!call->is_ended); /* answered twice */
	call->is_ended = true;
	if (call->method != METHOD_COUNT)
		count_call(call, code);
	if (call->client && call->method != METHOD_COUNT)
		audit(call, code);
	unlink_call(call);
	if (!call->is_in_handler)
		rpc_call_free(call);
}

/* Nobody hears of it any more, but it goes on. */
static void
make_orphan(struct rpc_call *call)
{
	unlink_call(call);
	call->client = NULL;
	TAILQ_INSERT_TAIL(&call->rpc->orphans, call, link);
	call->is_waiting = true;
}

bool
rpc_call_is_orphan(const struct rpc_call *call)
{
	return !call->client;
}

void
rpc_call_drop(struct rpc_call *call)
{
	call->method = METHOD_COUNT;
	end_call(call, ERR_NONE);
}

/* The reply was sent, or what goes in its place. return   rc */
static int
end_reply(struct rpc_call *call, int rc)
{
	struct err err;

	if (rc == 0) {
		end_call(call, ERR_NONE);
	} else if (rc == -EMSGSIZE) {
		(void)err_set(&err, ERR_TOO_LARGE, 0,
		    "the reply would be over the limit of %u bytes", RPC_REPLY_MAX);
		rpc_fail(call, &err);
	} else {
		rpc_fail_memory(call);
	}
	return rc;
}

int
rpc_reply(struct rpc_call *call, json_t *result)
{
	json_t *reply;
	int rc;

	if (result && !call->client) {
		json_decref(result);
		end_call(call, ERR_NONE);
		return 0;
	}
	reply = result ? jsonrpc_result(call->id, result) : NULL;
	rc = emit(call, reply, rpc_call_room(call));
	json_decref(reply);
	if (rc == 0 && call->pass_count > 0) {
		client_pass_fds(call->client->client, call->pass_fds, call->pass_count);
		call->pass_count = 0;
	}
	return end_reply(call, rc);
}

int
rpc_reply_begin(const struct rpc_call *call, struct rpc_text *text)
{
	json_t *null = call->id ? NULL : json_null(); /* never freed */
	int rc;

	rc = rpc_text_add(text, BEGIN, sizeof(BEGIN) - 1);
	if (rc == 0)
		rc = rpc_text_add_json(text, call->id ? call->id : null, SIZE_MAX / 2);
	if (rc == 0)
		rc = rpc_text_add(text, RESULT, sizeof(RESULT) - 1);
	return rc == 0 ? 0 : -ENOMEM;
}

int
rpc_reply_end(struct rpc_call *call, struct rpc_text *text)
{
	bool is_wanted = call->client != NULL;
	int rc = rpc_text_add(text, "}", 1);

	if (rc == 0 && is_wanted && text->len > rpc_call_room(call))
		rc = -EMSGSIZE;
	if (rc == 0 && is_wanted && !call->batch) {
		rc = send_line(call->client, text, &call->written);
		return end_reply(call, rc);
	}
	if (rc == 0 && is_wanted)
		rc = add_member(call, NULL, text, SIZE_MAX / 2);
	rpc_text_free(text);
	return end_reply(call, rc);
}

void
rpc_fail(struct rpc_call *call, const struct err *err)
{
	call->rpc->context.stats.request_errors++;
	report_lost(&call->written);
	if (call->client && call->wants_reply)
		emit_error(call, err);
	end_call(call, err->code);
}

void
rpc_fail_memory(struct rpc_call *call)
{
	struct err err;

	(void)err_set(&err, ERR_INTERNAL_ERROR, ENOMEM, "out of memory");
	rpc_fail(call, &err);
}

void
rpc_fail_param(struct rpc_call *call, const char *path, const char *fmt, ...)
{
	struct err err;
	char text[sizeof(err.text)];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	(void)err_set(&err, ERR_INVALID_PARAMS, 0, "%s", text);
	err_path(&err, "%s", path);
	rpc_fail(call, &err);
}

void
rpc_call_abort(struct rpc_call *call, const struct err *err)
{
	if (call->cancel) {
		call->cancel(call->cancel_arg);
		rpc_fail(call, err);
		return;
	}
	call->rpc->context.stats.request_errors++;
	emit_error(call, err);
	make_orphan(call);
}

void
rpc_call_client_gone(struct rpc_client *client)
{
	struct rpc_call *call;

	while ((call = TAILQ_FIRST(&client->calls))) {
		make_orphan(call);
		if (!call->cancel)
			continue;
		call->cancel(call->cancel_arg);
		end_call(call, ERR_CANCELLED);
	}
}
