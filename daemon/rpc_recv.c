/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of recv.post, recv.ack and recv.nack. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "daemon/engine.h"
#include "daemon/rpc_handlers.h"
#include "daemon/rpc_json.h"
#include "lib/core/text.h"

/* Answer a post that was done. */
static void
reply_posted(struct rpc_call *call, uint32_t accepted)
{
	struct ledger_counts counts;

	ledger_counts(engine_ledger(rpc_call_context(call)->engine), &counts);
	(void)rpc_reply(call,
	    json_pack("{s:I, s:I, s:I}", "accepted", (json_int_t)accepted, "posted",
		(json_int_t)counts.posted, "free", (json_int_t)counts.free));
}

static void
post_slot(struct rpc_call *call, const struct recv_post_params *params)
{
	const struct rpc_context *context = rpc_call_context(call);
	const uint32_t slots = context->settings->pool_slots;
	const uint32_t slot_size = context->settings->pool_slot_size;
	uint64_t len = params->len == PARAM_UNSET ? slot_size : params->len;
	struct err err;
	int rc;

	if (len > slot_size) {
		rpc_fail_param(call, "params.len", "%u is over the %u bytes of a slot",
		    (unsigned int)len, slot_size);
		return;
	}
	if (params->slot >= slots) {
		(void)err_set(&err, ERR_SLOT_RANGE, 0,
		    "there is no slot %u: the pool has 0 .. %u",
		    (unsigned int)params->slot, slots - 1);
		err_path(&err, "params.slot");
		rpc_fail(call, &err);
		return;
	}
	rc = engine_post_slot(context->engine, (uint32_t)params->slot, (uint32_t)len,
	    params->context.ptr, params->context.len, &err);
	if (rc < 0)
		rpc_fail(call, &err);
	else
		reply_posted(call, 1);
}

void
rpc_recv_post(struct rpc_call *call, const void *arg)
{
	const struct recv_post_params *params = arg;
	uint64_t count = params->count == PARAM_UNSET ? 1 : params->count;
	uint32_t accepted;
	struct err err;
	int rc;

	if (params->slot != PARAM_UNSET) {
		if (params->count != PARAM_UNSET)
			rpc_fail_param(call, "params.count",
			    "cannot be given together with slot");
		else
			post_slot(call, params);
		return;
	}
	if (params->len != PARAM_UNSET || params->context.ptr) {
		rpc_fail_param(call,
		    params->context.ptr ? "params.context" : "params.len",
		    "can be given only together with slot");
		return;
	}
	rc = engine_post(rpc_call_context(call)->engine, (uint32_t)count, &accepted,
	    &err);
	if (rc < 0)
		rpc_fail(call, &err);
	else
		reply_posted(call, accepted);
}

/*
 * What may be echoed as an unknown token: short, and no character of it grows in JSON,
 * so that thousands of them fit into a reply.
 */
static bool
may_be_token(const char *text)
{
	size_t i;

	for (i = 0; text[i] != '\0'; i++)
		if (i >= LEDGER_TOKEN_MAX - 1 || text[i] <= ' ' || text[i] > '~' ||
		    text[i] == '"' || text[i] == '\\')
			return false;
	return i > 0;
}

int
rpc_recv_apply(const struct rpc_call *call,
    enum ledger_result (*fn)(struct engine *engine, const struct ledger_owner *owner,
	const char *token),
    const struct param_list *tokens, const char *path, uint64_t *done, json_t *unknown,
    struct err *err)
{
	struct engine *engine = rpc_call_context(call)->engine;
	const struct ledger_owner *owner = rpc_call_owner(call);
	const char *token;
	size_t i;
	int rc;

	for (i = 0; i < tokens->count; i++) {
		if (may_be_token(param_list_at(tokens, i)))
			continue;
		rc = err_set(err, ERR_INVALID_PARAMS, 0, "is not a token");
		err_path(err, "%s[%zu]", path, i);
		return rc;
	}
	*done = 0;
	for (i = 0; i < tokens->count; i++) {
		token = param_list_at(tokens, i);
		if (fn(engine, owner, token) != LEDGER_UNKNOWN)
			++*done;
		else if (json_array_append_new(unknown, json_string(token)) < 0)
			return err_set(err, ERR_INTERNAL_ERROR, ENOMEM,
			    "out of memory");
	}
	return 0;
}

/* recv.ack and recv.nack: key says what was done with the known ones. */
static void
apply(struct rpc_call *call, const struct param_list *tokens, const char *key,
    enum ledger_result (*fn)(struct engine *engine, const struct ledger_owner *owner,
	const char *token))
{
	struct engine *engine = rpc_call_context(call)->engine;
	json_t *unknown = json_array();
	char instance[RPC_INSTANCE_MAX];
	uint64_t done = 0;
	struct err err;
	int rc;

	rc = rpc_recv_apply(call, fn, tokens, "params.tokens", &done, unknown, &err);
	if (rc == 0 && done == 0) {
		rpc_json_instance(ledger_instance(engine_ledger(engine)), instance);
		rc = err_set(&err, ERR_NO_SUCH_TOKEN, 0,
		    "%zu token%s, of which none names a message of instance %s",
		    tokens->count, text_plural(tokens->count), instance);
		err_path(&err, "params.tokens");
	}
	if (rc < 0) {
		json_decref(unknown);
		rpc_fail(call, &err);
		return;
	}
	(void)rpc_reply(call,
	    json_pack("{s:I, s:o}", key, (json_int_t)done, "unknown", unknown));
}

void
rpc_recv_ack(struct rpc_call *call, const void *arg)
{
	const struct recv_tokens_params *params = arg;

	apply(call, &params->tokens, "acked", engine_ack);
}

void
rpc_recv_nack(struct rpc_call *call, const void *arg)
{
	const struct recv_tokens_params *params = arg;

	apply(call, &params->tokens, "nacked", engine_nack);
}
