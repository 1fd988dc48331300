/* SPDX-License-Identifier: BSD-3-Clause */
/* Handler of pool.map. */
#include <config.h>

#include <jansson.h>

#include "daemon/engine.h"
#include "daemon/rpc_handlers.h"
#include "daemon/rpc_json.h"

int
rpc_pool_check_share(const struct rpc_call *call, struct err *err)
{
	int rc;

	if (rpc_call_context(call)->settings->pool_share)
		return 0;
	rc = err_set(err, ERR_UNSUPPORTED, 0,
	    "this daemon does not let its clients read in the pool's memory");
	err_hint(err,
	    "set pool.share to true in its configuration, then rpmactl reload");
	return rc;
}

/* Whether the client may have the memory. return   0; negative errno with err */
static int
check(const struct rpc_call *call, struct err *err)
{
	int rc = rpc_pool_check_share(call, err);

	if (rc < 0)
		return rc;
	/* Else one that reads nothing could fill the system with descriptors on their way. */
	if (rpc_call_has_map(call))
		return err_set(err, ERR_ALREADY_EXISTS, 0,
		    "this connection was given the pool's memory already");
	return 0;
}

void
rpc_pool_map(struct rpc_call *call, const void *params)
{
	const struct rpc_context *context = rpc_call_context(call);
	char instance[RPC_INSTANCE_MAX];
	struct srq_info srq;
	struct err err;
	int fd;

	(void)params;
	if (check(call, &err) < 0 ||
	    engine_open_memory(context->engine, &fd, &err) < 0) {
		rpc_fail(call, &err);
		return;
	}
	rpc_json_instance(ledger_instance(engine_ledger(context->engine)), instance);
	engine_srq_info(context->engine, &srq);
	rpc_call_pass_fd(call, fd);
	/* Where there was no memory for the reply, it may ask again. */
	if (rpc_reply(call,
		json_pack("{s:s, s:I, s:I, s:I, s:I}", "instance", instance, "slots",
		    (json_int_t)context->settings->pool_slots, "slot_size",
		    (json_int_t)context->settings->pool_slot_size, "bytes",
		    (json_int_t)srq.pool_bytes, "page_size",
		    (json_int_t)srq.page_size)) == 0)
		rpc_call_set_map(call);
}
