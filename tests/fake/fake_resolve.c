/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_resolve.c: the two steps of address resolution. */
#include <config.h>

#include <errno.h>
#include <string.h>

#include "tests/fake/fake_impl.h"

static int
status_or(const struct fake_script *script, int otherwise)
{
	return script->status ? script->status : otherwise;
}

/* Which device leads to a destination; NULL: none. */
static struct fake_ctx *
route_to(const struct sockaddr *dst, const struct fake_script *script)
{
	const struct fake_addr *row = fake_addr_find(dst);

	if (script)
		return fake_get()->ctx[script->device % 2];
	if (row && row->device >= 0)
		return fake_get()->ctx[row->device];
	return NULL;
}

/* Give the id a source address on the device, unless it was bound to one. */
static void
choose_source(struct fake_id *id, const struct sockaddr *dst)
{
	struct rdma_addr *addr = &id->pub.route.addr;
	const struct fake_addr *own =
	    fake_addr_of_device(id->ctx->device, dst->sa_family);
	uint16_t port = 0;

	if (id->state == ID_BOUND) {
		port = fake_addr_port(&addr->src_addr);
		if (!fake_addr_is_any(&addr->src_addr))
			return;
	}
	memset(&addr->src_storage, 0, sizeof(addr->src_storage));
	addr->src_storage.ss_family = dst->sa_family;
	if (own)
		memcpy(&addr->src_storage, &own->addr, sizeof(own->addr));
	fake_addr_set_port(&addr->src_addr, port);
	while (port == 0 ||
	    (id->state == ID_IDLE && fake_port_taken(&addr->src_addr))) {
		port = fake_port_choose();
		fake_addr_set_port(&addr->src_addr, port);
	}
}

static int
resolve(struct fake_id *id, const struct sockaddr *src, const struct sockaddr *dst)
{
	struct fake_script *script = fake_script_find(dst);
	struct fake_ctx *ctx = route_to(dst, script);

	if (!fake_addr_len(dst) || (src && !fake_addr_len(src)))
		return EINVAL;
	if (id->state != ID_IDLE && id->state != ID_BOUND)
		return EINVAL;
	memset(&id->pub.route.addr.dst_storage, 0,
	    sizeof(id->pub.route.addr.dst_storage));
	memcpy(&id->pub.route.addr.dst_storage, dst, fake_addr_len(dst));
	id->script = script;
	if (script && script->outcome == FAKE_DIAL_ADDR_SILENT) {
		id->state = ID_RESOLVING;
		return id->sync ? ETIMEDOUT : 0;
	}
	if (script && script->outcome == FAKE_DIAL_ADDR_ERROR) {
		fake_event_add(id, RDMA_CM_EVENT_ADDR_ERROR,
		    status_or(script, -ETIMEDOUT));
	} else if (!ctx) {
		fake_event_add(id, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV);
	} else {
		id->ctx = ctx;
		fake_context(ctx->device);
		choose_source(id, dst);
		id->state = ID_RESOLVING;
		fake_event_add(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	}
	return fake_sync_complete(id);
}

int
rdma_resolve_addr(struct rdma_cm_id *pub, struct sockaddr *src, struct sockaddr *dst,
    int timeout_ms)
{
	char text[80];
	int error;

	fake_addr_format(dst, text, sizeof(text));
	error =
	    fake_begin("rdma_resolve_addr", "dst=%s,timeout_ms=%d", text, timeout_ms);
	if (!error)
		error = resolve((struct fake_id *)pub, src, dst);
	return fake_end_rdma(error);
}

static int
resolve_route(struct fake_id *id)
{
	const struct fake_script *script = id->script;

	if (id->state != ID_RESOLVED)
		return EINVAL;
	if (id->ctx->gone)
		return ENODEV;
	id->state = ID_ROUTING;
	if (script && script->outcome == FAKE_DIAL_ROUTE_SILENT)
		return id->sync ? ETIMEDOUT : 0;
	if (script && script->outcome == FAKE_DIAL_ROUTE_ERROR) {
		id->state = ID_RESOLVED;
		fake_event_add(id, RDMA_CM_EVENT_ROUTE_ERROR,
		    status_or(script, -ETIMEDOUT));
	} else {
		fake_event_add(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	}
	return fake_sync_complete(id);
}

int
rdma_resolve_route(struct rdma_cm_id *pub, int timeout_ms)
{
	int error = fake_begin("rdma_resolve_route", "timeout_ms=%d", timeout_ms);

	if (!error)
		error = resolve_route((struct fake_id *)pub);
	return fake_end_rdma(error);
}
