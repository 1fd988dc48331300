/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_event.c: CM event channels and events. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_impl.h"

/* ---- channels ----------------------------------------------------------------- */

struct fake_channel *
fake_channel_new(void)
{
	struct fake_channel *channel = fake_alloc(sizeof(*channel));

	fake_signal_init(&channel->signal);
	channel->pub.fd = channel->signal.fd;
	TAILQ_INIT(&channel->events);
	TAILQ_INSERT_TAIL(&fake_get()->channels, channel, entry);
	return channel;
}

void
fake_channel_free(struct fake_channel *channel)
{
	struct fake_event *event;

	while ((event = TAILQ_FIRST(&channel->events))) {
		TAILQ_REMOVE(&channel->events, event, entry);
		free(event);
	}
	TAILQ_REMOVE(&fake_get()->channels, channel, entry);
	fake_signal_close(&channel->signal);
	free(channel);
}

struct rdma_event_channel *
rdma_create_event_channel(void)
{
	int error = fake_begin("rdma_create_event_channel", "%s", "");
	struct fake_channel *channel = NULL;

	if (!error) {
		channel = fake_channel_new();
		fake_count(FAKE_EVENT_CHANNEL, 1);
	}
	return fake_end_ptr(error, channel);
}

void
rdma_destroy_event_channel(struct rdma_event_channel *pub)
{
	struct fake_channel *channel = fake_channel_of(pub);
	struct fake_id *id;

	fake_begin_void("rdma_destroy_event_channel", "%s", "");
	TAILQ_FOREACH(id, &fake_get()->ids, entry) {
		if (id->pub.channel == pub)
			break;
	}
	if (id) {
		fake_blame("rdma_destroy_event_channel: ids use it");
	} else {
		fake_channel_free(channel);
		fake_count(FAKE_EVENT_CHANNEL, -1);
	}
	fake_unlock();
}

/* ---- making events ------------------------------------------------------------ */

struct fake_event *
fake_event_new(struct fake_id *id, enum rdma_cm_event_type type, int status)
{
	struct fake_event *event = fake_alloc(sizeof(*event));

	event->id = id;
	event->owner = id;
	event->pub.id = &id->pub;
	event->pub.event = type;
	event->pub.status = status;
	return event;
}

/* InfiniBand shows the whole field of pad bytes, whatever was sent; iWARP what was
 * sent. */
void
fake_event_pdata(struct fake_event *event, const void *pdata, size_t len, size_t pad)
{
	if (len > FAKE_PDATA_MAX)
		len = FAKE_PDATA_MAX;
	if (len)
		memcpy(event->pdata, pdata, len);
	if (fake_options()->kind != FAKE_IWARP)
		len = pad;
	if (len > UINT8_MAX)
		len = UINT8_MAX;
	event->pub.param.conn.private_data = len ? event->pdata : NULL;
	event->pub.param.conn.private_data_len = (uint8_t)len;
}

static void
show(struct fake_event *event)
{
	const struct fake_id *id = event->id;
	struct fake_channel *channel = fake_channel_of(id->pub.channel);

	if (id->hidden && id->listener)
		channel = fake_channel_of(id->listener->pub.channel);
	TAILQ_INSERT_TAIL(&channel->events, event, entry);
	fake_signal_set(&channel->signal, true);
}

void
fake_event_queue(struct fake_event *event)
{
	struct fake *fake = fake_get();

	if (fake->hold)
		TAILQ_INSERT_TAIL(&fake->held, event, entry);
	else
		show(event);
}

void
fake_event_add(struct fake_id *id, enum rdma_cm_event_type type, int status)
{
	fake_event_queue(fake_event_new(id, type, status));
}

void
fake_cm_event(struct rdma_cm_id *id, int event_type, int status)
{
	fake_lock();
	fake_event_add((struct fake_id *)id, (enum rdma_cm_event_type)event_type,
	    status);
	fake_unlock();
}

void
fake_cm_hold(bool hold)
{
	fake_lock();
	fake_get()->hold = hold;
	fake_unlock();
}

void
fake_cm_release(unsigned n)
{
	struct fake *fake = fake_get();
	struct fake_event *event;

	fake_lock();
	if (n == 0)
		n = UINT32_MAX;
	while (n-- > 0 && (event = TAILQ_FIRST(&fake->held))) {
		TAILQ_REMOVE(&fake->held, event, entry);
		show(event);
	}
	fake_unlock();
}

unsigned
fake_cm_held(void)
{
	const struct fake_event *event;
	unsigned n = 0;

	fake_lock();
	TAILQ_FOREACH(event, &fake_get()->held, entry)
		n++;
	fake_unlock();
	return n;
}

/* ---- moving and dropping ------------------------------------------------------ */

static void
drop_from(struct fake_events *events, const struct fake_id *id)
{
	struct fake_event *event = TAILQ_FIRST(events);

	while (event) {
		struct fake_event *next = TAILQ_NEXT(event, entry);

		if (event->id == id) {
			TAILQ_REMOVE(events, event, entry);
			free(event);
		}
		event = next;
	}
}

void
fake_event_forget(struct fake_id *id)
{
	struct fake_channel *channel;

	drop_from(&fake_get()->held, id);
	TAILQ_FOREACH(channel, &fake_get()->channels, entry) {
		drop_from(&channel->events, id);
		fake_signal_set(&channel->signal, !TAILQ_EMPTY(&channel->events));
	}
}

/* Those of a listener's requests go with it. */
void
fake_event_move(struct fake_id *id, struct fake_channel *to)
{
	struct fake_channel *from = fake_channel_of(id->pub.channel);
	struct fake_event *event = TAILQ_FIRST(&from->events);

	while (event) {
		struct fake_event *next = TAILQ_NEXT(event, entry);

		if (event->id == id || event->owner == id) {
			TAILQ_REMOVE(&from->events, event, entry);
			TAILQ_INSERT_TAIL(&to->events, event, entry);
		}
		event = next;
	}
	fake_signal_set(&from->signal, !TAILQ_EMPTY(&from->events));
	fake_signal_set(&to->signal, !TAILQ_EMPTY(&to->events));
}

void
fake_event_reset(void)
{
	struct fake *fake = fake_get();
	struct fake_event *event;

	while ((event = TAILQ_FIRST(&fake->fetched))) {
		TAILQ_REMOVE(&fake->fetched, event, entry);
		free(event);
	}
	while ((event = TAILQ_FIRST(&fake->held))) {
		TAILQ_REMOVE(&fake->held, event, entry);
		free(event);
	}
	fake_id_reset();
	while (!TAILQ_EMPTY(&fake->channels))
		fake_channel_free(TAILQ_FIRST(&fake->channels));
}

/* ---- fetching and acknowledging ----------------------------------------------- */

static void
on_request(struct fake_event *event)
{
	struct fake_id *id = event->id;
	struct fake_id *listener = id->listener;

	id->hidden = false;
	id->pub.channel = listener->pub.channel;
	id->pub.context = listener->pub.context;
	id->pub.ps = listener->pub.ps;
	listener->pending--;
	event->owner = listener;
	event->pub.listen_id = &listener->pub;
	fake_count(FAKE_ID, 1);
}

/* The active side becomes ready to send in here, not before. */
static void
on_established(struct fake_event *event)
{
	struct fake_id *id = event->id;

	if (id->state != ID_CONNECTING)
		return;
	if (!id->pub.qp) {
		event->pub.event = RDMA_CM_EVENT_CONNECT_RESPONSE;
		return;
	}
	id->pub.qp->state = IBV_QPS_RTS;
	id->state = ID_CONNECTED;
	if (id->far && id->far->ops->confirmed)
		id->far->ops->confirmed(id->far);
}

static void
on_addr_resolved(struct fake_event *event)
{
	struct fake_id *id = event->id;

	if (!id->ctx || id->ctx->gone) {
		event->pub.event = RDMA_CM_EVENT_ADDR_ERROR;
		event->pub.status = -ENODEV;
		return;
	}
	id->pub.verbs = &id->ctx->v.context;
	id->pub.port_num = 1;
	id->state = ID_RESOLVED;
}

/* What librdmacm does while it hands an event to the program. */
static void
on_fetch(struct fake_event *event)
{
	struct fake_id *id = event->id;
	struct fake_qp *qp = (struct fake_qp *)id->pub.qp;

	switch ((int)event->pub.event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		on_addr_resolved(event);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		id->state = ID_ROUTED;
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		on_request(event);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		on_established(event);
		break;
	case RDMA_CM_EVENT_REJECTED:
		if (qp)
			fake_qp_error(qp);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		if (qp)
			fake_qp_ends(qp);
		break;
	default:
		break;
	}
}

int
fake_event_take(struct fake_channel *channel, struct rdma_cm_event **out)
{
	struct fake_event *event;
	int error = 0;

	while (!(event = TAILQ_FIRST(&channel->events))) {
		error = fake_signal_wait(&channel->signal, "rdma_get_cm_event");
		if (error)
			return error;
	}
	TAILQ_REMOVE(&channel->events, event, entry);
	fake_signal_set(&channel->signal, !TAILQ_EMPTY(&channel->events));
	on_fetch(event);
	event->owner->unacked++;
	TAILQ_INSERT_TAIL(&fake_get()->fetched, event, entry);
	fake_count(FAKE_CM_EVENT, 1);
	*out = &event->pub;
	return 0;
}

void
fake_event_ack(struct fake_event *event)
{
	event->owner->unacked--;
	TAILQ_REMOVE(&fake_get()->fetched, event, entry);
	fake_count(FAKE_CM_EVENT, -1);
	free(event);
}

static const char *
short_name(enum rdma_cm_event_type type)
{
	const char *name = rdma_event_str(type);
	size_t prefix = strlen("RDMA_CM_EVENT_");

	return strncmp(name, "RDMA_CM_EVENT_", prefix) == 0 ? name + prefix : name;
}

int
rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	int error = fake_begin_quiet("rdma_get_cm_event");

	if (!error)
		error = fake_event_take(fake_channel_of(channel), event);
	if (!error)
		fake_trace_add("rdma_get_cm_event", "event=%s,status=%d",
		    short_name((*event)->event), (*event)->status);
	return fake_end_rdma(error);
}

/* Acknowledging happens in any case: a failure is only reported. */
int
rdma_ack_cm_event(struct rdma_cm_event *event)
{
	int error = fake_begin("rdma_ack_cm_event", "%s", "");

	if (event)
		fake_event_ack((struct fake_event *)event);
	else
		error = EINVAL;
	return fake_end_rdma(error);
}

int
fake_sync_complete(struct fake_id *id)
{
	int error;

	if (!id->sync)
		return 0;
	if (id->pub.event)
		fake_event_ack((struct fake_event *)id->pub.event);
	id->pub.event = NULL;
	error = fake_event_take(fake_channel_of(id->pub.channel), &id->pub.event);
	if (error || !id->pub.event->status)
		return error;
	if (id->pub.event->event == RDMA_CM_EVENT_REJECTED)
		return ECONNREFUSED;
	return abs(id->pub.event->status);
}
