/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_id.c: CM ids, the addresses they are bound to, and listeners. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_impl.h"

#define BACKLOG_MAX 1024

struct fake_id *
fake_id_new(struct fake_channel *channel, void *context)
{
	struct fake_id *id = fake_alloc(sizeof(*id));

	id->pub.channel = channel ? &channel->pub : NULL;
	id->pub.context = context;
	id->pub.ps = RDMA_PS_TCP;
	id->pub.qp_type = IBV_QPT_RC;
	TAILQ_INSERT_TAIL(&fake_get()->ids, id, entry);
	return id;
}

int
rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **out,
    void *context, enum rdma_port_space ps)
{
	int error = fake_begin("rdma_create_id", "sync=%d", channel == NULL);
	struct fake_channel *own = fake_channel_of(channel);
	struct fake_id *id;

	if (!error && ps != RDMA_PS_TCP)
		error = EPROTONOSUPPORT;
	if (!error) {
		if (!own) {
			own = fake_channel_new();
			own->is_private = true;
		}
		id = fake_id_new(own, context);
		id->sync = own->is_private;
		fake_count(FAKE_ID, 1);
		*out = &id->pub;
	}
	return fake_end_rdma(error);
}

/* Requests that nobody fetched die with their listener; accepted ones do not. */
static void
orphan(struct fake_id *listener)
{
	struct fake_id *id = TAILQ_FIRST(&fake_get()->ids);

	while (id) {
		struct fake_id *next = TAILQ_NEXT(id, entry);

		if (id->listener == listener) {
			if (id->hidden)
				fake_id_free(id);
			else
				id->listener = NULL;
		}
		id = next;
	}
}

void
fake_id_free(struct fake_id *id)
{
	struct fake_channel *own = fake_channel_of(id->pub.channel);

	if (id->pub.event)
		fake_event_ack((struct fake_event *)id->pub.event);
	fake_abandon(id);
	fake_wire_close(id);
	if (id->state == ID_LISTENING)
		orphan(id);
	fake_event_forget(id);
	TAILQ_REMOVE(&fake_get()->ids, id, entry);
	if (!id->hidden)
		fake_count(FAKE_ID, -1);
	if (id->sync)
		fake_channel_free(own);
	free(id);
}

int
rdma_destroy_id(struct rdma_cm_id *pub)
{
	int error = fake_begin("rdma_destroy_id", "%s", "");
	struct fake_id *id = (struct fake_id *)pub;
	unsigned own = id->pub.event != NULL;

	if (pub->qp)
		fake_blame("rdma_destroy_id: its queue pair lives");
	if (id->unacked > own) {
		fake_blame("rdma_destroy_id: %u events are not acknowledged",
		    id->unacked);
		error = EBUSY;
	} else if (pub->qp) {
		error = EBUSY;
	} else if (!error || !fake_options()->fail_keeps) {
		fake_id_free(id);
	}
	return fake_end_rdma(error);
}

/* Queue pairs first, then ids: listeners free requests of theirs, so start anew each
 * time. */
void
fake_id_reset(void)
{
	struct fake *fake = fake_get();
	struct fake_qp *qp;
	struct fake_id *id;

	while ((qp = TAILQ_FIRST(&fake->qps))) {
		qp->id->pub.qp = NULL;
		fake_qp_destroy(qp);
	}
	while ((id = TAILQ_FIRST(&fake->ids))) {
		id->pub.event = NULL;
		fake_id_free(id);
	}
}

int
rdma_migrate_id(struct rdma_cm_id *pub, struct rdma_event_channel *channel)
{
	int error = fake_begin("rdma_migrate_id", "sync=%d", channel == NULL);
	struct fake_id *id = (struct fake_id *)pub;
	struct fake_channel *from = fake_channel_of(pub->channel);
	struct fake_channel *to = fake_channel_of(channel);
	bool was_sync = id->sync;

	if (!error && was_sync && !channel)
		error = EINVAL;
	if (error)
		return fake_end_rdma(error);
	if (pub->event)
		fake_event_ack((struct fake_event *)pub->event);
	pub->event = NULL;
	if (id->unacked) {
		fake_blame("rdma_migrate_id: %u events are not acknowledged",
		    id->unacked);
		return fake_end_rdma(EBUSY);
	}
	if (!to) {
		to = fake_channel_new();
		to->is_private = true;
	}
	fake_event_move(id, to);
	pub->channel = &to->pub;
	id->sync = to->is_private;
	if (was_sync)
		fake_channel_free(from);
	return fake_end_rdma(0);
}

/* ---- addresses ---------------------------------------------------------------- */

static bool
conflict(const struct sockaddr *a, const struct sockaddr *b)
{
	return fake_addr_port(a) == fake_addr_port(b) &&
	    (fake_addr_same(a, b) || fake_addr_is_any(a) || fake_addr_is_any(b));
}

bool
fake_port_taken(const struct sockaddr *addr)
{
	const struct fake_id *id;

	TAILQ_FOREACH(id, &fake_get()->ids, entry) {
		const struct sockaddr *src = &id->pub.route.addr.src_addr;

		if (!id->passive && id->state != ID_IDLE && conflict(src, addr))
			return true;
	}
	return false;
}

uint16_t
fake_port_choose(void)
{
	struct fake *fake = fake_get();

	if (fake->next_port < 40000)
		fake->next_port = 40000;
	return fake->next_port++;
}

/* The context of the device that has an address; for a wildcard: 0 and NULL. */
static int
find_ctx(const struct sockaddr *addr, struct fake_ctx **ctx)
{
	const struct fake_addr *row = fake_addr_find(addr);

	*ctx = NULL;
	if (fake_addr_is_any(addr))
		return 0;
	if (!row)
		return EADDRNOTAVAIL;
	if (row->device >= 0)
		*ctx = fake_get()->ctx[row->device];
	return *ctx ? 0 : ENODEV;
}

static int
bind_id(struct fake_id *id, const struct sockaddr *addr)
{
	struct sockaddr_storage copy = { 0 };
	struct sockaddr *src = (struct sockaddr *)&copy;
	struct fake_ctx *ctx;
	int error;

	if (!fake_addr_len(addr) || id->state != ID_IDLE)
		return EINVAL;
	memcpy(&copy, addr, fake_addr_len(addr));
	error = find_ctx(src, &ctx);
	if (error)
		return error;
	error = fake_wire_bind(id, src);
	if (error)
		return error;
	while (fake_addr_port(src) == 0 ||
	    (fake_addr_port(addr) == 0 && fake_port_taken(src)))
		fake_addr_set_port(src, fake_port_choose());
	if (fake_port_taken(src))
		return EADDRINUSE;
	id->ctx = ctx;
	id->pub.verbs = ctx ? fake_context(ctx->device) : NULL;
	id->pub.port_num = ctx ? 1 : 0;
	memcpy(&id->pub.route.addr.src_storage, &copy, sizeof(copy));
	id->state = ID_BOUND;
	return 0;
}

int
rdma_bind_addr(struct rdma_cm_id *pub, struct sockaddr *addr)
{
	char text[80];
	int error;

	fake_addr_format(addr, text, sizeof(text));
	error = fake_begin("rdma_bind_addr", "addr=%s", text);
	if (!error)
		error = bind_id((struct fake_id *)pub, addr);
	return fake_end_rdma(error);
}

int
rdma_listen(struct rdma_cm_id *pub, int backlog)
{
	int error = fake_begin("rdma_listen", "backlog=%d", backlog);
	struct fake_id *id = (struct fake_id *)pub;
	struct sockaddr_in any = { .sin_family = AF_INET };

	if (!error && id->state == ID_IDLE)
		error = bind_id(id, (struct sockaddr *)&any);
	if (!error && id->state != ID_BOUND)
		error = EINVAL;
	if (!error && id->ctx && id->ctx->gone)
		error = ENODEV;
	if (!error)
		error = fake_wire_listen(id);
	if (!error) {
		id->state = ID_LISTENING;
		id->backlog = backlog;
	}
	return fake_end_rdma(error);
}

struct fake_id *
fake_listener_find(const struct sockaddr *addr)
{
	struct fake_id *id;

	TAILQ_FOREACH(id, &fake_get()->ids, entry) {
		const struct sockaddr *src = &id->pub.route.addr.src_addr;

		if (id->state == ID_LISTENING && conflict(src, addr))
			return id;
	}
	return NULL;
}

static const struct fake_id *
nth_listener(unsigned n)
{
	const struct fake_id *id;

	TAILQ_FOREACH(id, &fake_get()->ids, entry) {
		if (id->state == ID_LISTENING && n-- == 0)
			return id;
	}
	return NULL;
}

uint16_t
fake_listen_port(unsigned n)
{
	const struct fake_id *id;
	uint16_t port;

	fake_lock();
	id = nth_listener(n);
	port = id ? fake_addr_port(&id->pub.route.addr.src_addr) : 0;
	fake_unlock();
	return port;
}

int
fake_listen_backlog(unsigned n)
{
	const struct fake_id *id;
	int backlog;

	fake_lock();
	id = nth_listener(n);
	backlog = id ? id->backlog : -1;
	fake_unlock();
	return backlog;
}

struct rdma_cm_id *
fake_id(unsigned n)
{
	struct fake_id *id;

	fake_lock();
	TAILQ_FOREACH(id, &fake_get()->ids, entry) {
		if (!id->hidden && n-- == 0)
			break;
	}
	fake_unlock();
	return id ? &id->pub : NULL;
}

/* ---- backlog ------------------------------------------------------------------ */

bool
fake_backlog_full(const struct fake_id *listener)
{
	unsigned limit = BACKLOG_MAX;

	if (listener->backlog > 0 && listener->backlog < BACKLOG_MAX)
		limit = (unsigned)listener->backlog;
	return listener->pending >= limit;
}
