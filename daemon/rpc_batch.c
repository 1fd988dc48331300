/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches: hundreds of requests in one line, and others are served between them. */
#include <config.h>

#include <jansson.h>

#include "daemon/loop.h"
#include "daemon/rpc_impl.h"
#include "lib/core/jsonrpc.h"

#define STEP_NS 2000000u /* of one client in a turn, the last request apart */

bool
rpc_batch_step(struct rpc_client *client)
{
	struct rpc_batch *batch = &client->batch;
	const size_t count = json_array_size(batch->list);
	const uint64_t end_ns = loop_now_ns() + STEP_NS;

	do {
		batch->left = (unsigned int)(count - batch->next - 1);
		rpc_call_run(client, json_array_get(batch->list, batch->next), batch);
	} while (++batch->next < count && loop_now_ns() <= end_ns);
	if (batch->next < count)
		return true;
	rpc_batch_end(client, batch);
	json_decref(batch->list);
	*batch = (struct rpc_batch){ .list = NULL };
	return false;
}

bool
rpc_batch_run(struct rpc_client *client, json_t *list)
{
	const size_t count = json_array_size(list);
	struct err err;

	if (count == 0) {
		(void)err_set(&err, ERR_INVALID_REQUEST, 0, "the batch is empty");
		rpc_client_error(client, &err);
		return false;
	}
	if (count > JSONRPC_BATCH_MAX) {
		(void)err_set(&err, ERR_LIMIT, 0,
		    "a batch of %zu requests is over the limit of %u", count,
		    JSONRPC_BATCH_MAX);
		rpc_client_error(client, &err);
		return false;
	}
	client->batch.list = json_incref(list);
	return rpc_batch_step(client);
}

void
rpc_batch_client_gone(struct rpc_client *client)
{
	struct rpc_batch *batch = &client->batch;

	if (!batch->list)
		return;
	batch->is_broken = true;
	rpc_batch_end(client, batch);
	json_decref(batch->list);
	batch->list = NULL;
}
