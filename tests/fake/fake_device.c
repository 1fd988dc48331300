/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_device.c: device contexts, their removal and return, asynchronous events. */
#include <config.h>

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fake/fake_impl.h"

struct fake_ctx *
fake_ctx_new(unsigned device)
{
	struct fake_ctx *ctx = fake_alloc(sizeof(*ctx));

	ctx->device = device;
	TAILQ_INIT(&ctx->events);
	fake_signal_init(&ctx->async);
	/* Extended, so that the inline wrappers look for the few calls below. */
	ctx->v.sz = sizeof(ctx->v);
	ctx->v.query_device_ex = fake_query_device_ex;
	ctx->v.advise_mr = fake_advise_mr;
	ctx->v.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	ctx->v.context.device = &ctx->dev;
	ctx->v.context.ops.poll_cq = fake_poll_cq;
	ctx->v.context.ops.req_notify_cq = fake_req_notify_cq;
	ctx->v.context.ops.post_srq_recv = fake_post_srq_recv;
	ctx->v.context.ops.post_recv = fake_post_recv;
	ctx->v.context.ops.post_send = fake_post_send;
	ctx->v.context.cmd_fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
	ctx->v.context.async_fd = ctx->async.fd;
	ctx->v.context.num_comp_vectors = 1;
	snprintf(ctx->dev.name, sizeof(ctx->dev.name), "fake%u", device);
	snprintf(ctx->dev.dev_name, sizeof(ctx->dev.dev_name), "uverbs%u", device);
	ctx->dev.node_type = IBV_NODE_CA;
	ctx->dev.transport_type = IBV_TRANSPORT_IB;
	TAILQ_INSERT_TAIL(&fake_get()->ctxs, ctx, entry);
	return ctx;
}

struct fake_ctx *
fake_ctx_of(struct ibv_context *context)
{
	return (struct fake_ctx *)verbs_get_ctx(context);
}

void
fake_ctx_free(struct fake_ctx *ctx)
{
	struct fake_async *async;

	while ((async = TAILQ_FIRST(&ctx->events))) {
		TAILQ_REMOVE(&ctx->events, async, entry);
		free(async);
	}
	TAILQ_REMOVE(&fake_get()->ctxs, ctx, entry);
	fake_signal_close(&ctx->async);
	close(ctx->v.context.cmd_fd);
	free(ctx);
}

/* The transport follows the options, which may change after the context was made. */
static void
refresh(struct fake_ctx *ctx)
{
	bool iwarp = fake_get()->options.kind == FAKE_IWARP;

	ctx->dev.node_type = iwarp ? IBV_NODE_RNIC : IBV_NODE_CA;
	ctx->dev.transport_type = iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
}

struct ibv_context *
fake_context(unsigned device)
{
	struct fake_ctx *ctx;

	fake_lock();
	ctx = device < 2 ? fake_get()->ctx[device] : NULL;
	if (ctx)
		refresh(ctx);
	fake_unlock();
	return ctx ? &ctx->v.context : NULL;
}

bool
fake_ctx_gone(const struct ibv_context *context)
{
	const struct fake_ctx *ctx;

	TAILQ_FOREACH(ctx, &fake_get()->ctxs, entry) {
		if (&ctx->v.context == context)
			return ctx->gone;
	}
	return true;
}

/* ---- asynchronous events ------------------------------------------------------ */

void
fake_ctx_async(struct fake_ctx *ctx, const struct ibv_async_event *event)
{
	struct fake_async *async = fake_alloc(sizeof(*async));

	async->event = *event;
	TAILQ_INSERT_TAIL(&ctx->events, async, entry);
	fake_signal_set(&ctx->async, true);
}

void
fake_ctx_forget(struct fake_ctx *ctx, const void *element)
{
	struct fake_async *async = TAILQ_FIRST(&ctx->events);

	while (async) {
		struct fake_async *next = TAILQ_NEXT(async, entry);

		if (async->event.element.qp == element) {
			TAILQ_REMOVE(&ctx->events, async, entry);
			free(async);
		}
		async = next;
	}
	fake_signal_set(&ctx->async, !TAILQ_EMPTY(&ctx->events));
}

void
fake_async_event(unsigned device, int event_type, uint32_t qp_num, int port)
{
	struct ibv_async_event event = { .event_type =
					     (enum ibv_event_type)event_type };
	struct fake_qp *qp;

	fake_lock();
	qp = qp_num ? fake_qp_find(qp_num) : NULL;
	if (qp)
		event.element.qp = &qp->pub;
	else
		event.element.port_num = port;
	if (device < 2 && fake_get()->ctx[device])
		fake_ctx_async(fake_get()->ctx[device], &event);
	fake_unlock();
}

int
ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	struct fake_ctx *ctx = fake_ctx_of(context);
	int error = fake_begin_quiet("ibv_get_async_event");
	struct fake_async *async;

	while (!error && !(async = TAILQ_FIRST(&ctx->events)))
		error = fake_signal_wait(&ctx->async, "ibv_get_async_event");
	if (!error) {
		TAILQ_REMOVE(&ctx->events, async, entry);
		*event = async->event;
		free(async);
		fake_signal_set(&ctx->async, !TAILQ_EMPTY(&ctx->events));
		fake_count(FAKE_ASYNC_EVENT, 1);
		fake_trace_add("ibv_get_async_event", "type=%d",
		    (int)event->event_type);
	}
	return fake_end_rdma(error);
}

void
ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
	fake_begin_void("ibv_ack_async_event", "%s", "");
	if (fake_get()->live[FAKE_ASYNC_EVENT] == 0)
		fake_blame("ibv_ack_async_event: no event was fetched");
	else
		fake_count(FAKE_ASYNC_EVENT, -1);
	fake_unlock();
}

/* ---- removal and return ------------------------------------------------------- */

static void
remove_ctx(struct fake_ctx *ctx)
{
	struct ibv_async_event event = { .event_type = IBV_EVENT_DEVICE_FATAL };
	struct fake_id *id;
	struct fake_qp *qp;

	fake_get()->ctx[ctx->device] = NULL;
	ctx->gone = true;
	TAILQ_FOREACH(qp, &fake_get()->qps, entry) {
		if (qp->pub.context == &ctx->v.context)
			fake_qp_error(qp);
	}
	TAILQ_FOREACH(id, &fake_get()->ids, entry) {
		if (id->ctx == ctx)
			fake_event_add(id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	}
	fake_ctx_async(ctx, &event);
}

void
fake_device_remove(unsigned device)
{
	fake_lock();
	if (device < 2 && fake_get()->ctx[device])
		remove_ctx(fake_get()->ctx[device]);
	fake_unlock();
}

void
fake_device_return(unsigned device)
{
	fake_lock();
	if (device < 2 && !fake_get()->ctx[device])
		fake_get()->ctx[device] = fake_ctx_new(device);
	fake_unlock();
}

static bool
is_device_fd(int fd)
{
	struct stat st;
	struct stat null;

	if (fstat(fd, &st) != 0 || stat("/dev/null", &null) != 0)
		return false;
	return !S_ISCHR(st.st_mode) || st.st_rdev != null.st_rdev;
}

bool
fake_device_released(const struct ibv_context *context)
{
	return !is_device_fd(context->cmd_fd) && !is_device_fd(context->async_fd);
}

struct ibv_context **
rdma_get_devices(int *num_devices)
{
	int error = fake_begin("rdma_get_devices", "%s", "");
	struct fake *fake = fake_get();
	struct ibv_context **list = NULL;
	unsigned i;
	int n = 0;

	if (!error) {
		list = fake_alloc(3 * sizeof(list[0]));
		for (i = 0; i < 2 && i < fake->options.devices; i++) {
			if (fake->ctx[i])
				list[n++] = fake_context(i);
		}
		fake_count(FAKE_DEVICE_LIST, 1);
		if (num_devices)
			*num_devices = n;
	}
	return fake_end_ptr(error, list);
}

void
rdma_free_devices(struct ibv_context **list)
{
	fake_begin_void("rdma_free_devices", "%s", "");
	fake_count(FAKE_DEVICE_LIST, -1);
	free(list);
	fake_unlock();
}

const char *
ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}
