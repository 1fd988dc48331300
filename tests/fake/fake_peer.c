/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_peer.c: far ends that a test plays: their connections. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_peer.h"

static void
keep_param(struct fake_peer *peer, const struct rdma_conn_param *param)
{
	peer->rnr_retry = param->rnr_retry_count;
	peer->retry = param->retry_count;
	fake_peer_keep_pdata(peer, param->private_data,
	    param->private_data ? param->private_data_len : 0);
}

void
fake_peer_keep_pdata(struct fake_peer *peer, const void *pdata, size_t len)
{
	peer->pdata_len = len;
	if (len)
		memcpy(peer->pdata, pdata, len);
}

/* ---- what the near end does --------------------------------------------------- */

static void
on_connect(struct fake_far *far, const struct rdma_conn_param *param)
{
	struct fake_peer *peer = (struct fake_peer *)far;
	const struct fake_script *script = peer->script;

	keep_param(peer, param);
	if (script->outcome == FAKE_DIAL_ACCEPT)
		fake_answer(far->id, script->pdata, script->len);
	else if (script->outcome == FAKE_DIAL_REJECT)
		fake_peer_reject(peer, script->status, script->pdata, script->len);
}

static void
on_accepted(struct fake_far *far, const struct rdma_conn_param *param)
{
	struct fake_peer *peer = (struct fake_peer *)far;

	keep_param(peer, param);
	peer->state = FAKE_PEER_ACCEPTED;
	if (fake_options()->auto_rtu)
		fake_peer_confirm(peer);
}

static void
on_rejected(struct fake_far *far, int reason, const void *pdata, size_t len)
{
	struct fake_peer *peer = (struct fake_peer *)far;

	peer->state = FAKE_PEER_REJECTED;
	peer->reason = reason;
	fake_peer_keep_pdata(peer, pdata, len);
}

static void
on_confirmed(struct fake_far *far)
{
	struct fake_peer *peer = (struct fake_peer *)far;

	peer->state = FAKE_PEER_ESTABLISHED;
}

static void
on_hangup(struct fake_far *far)
{
	struct fake_peer *peer = (struct fake_peer *)far;
	bool first = peer->state != FAKE_PEER_LEAVING;

	if (peer->state == FAKE_PEER_DEAD)
		return;
	peer->state = FAKE_PEER_DISCONNECTED;
	fake_peer_recall(peer);
	if (first && far->id && fake_options()->auto_drep)
		fake_hangup(far->id);
}

static void
on_gone(struct fake_far *far)
{
	struct fake_peer *peer = (struct fake_peer *)far;

	if (peer->state == FAKE_PEER_LEAVING)
		peer->state = FAKE_PEER_DISCONNECTED;
	fake_peer_recall(peer);
}

/* A queue pair in error after a too long message: the peer cannot go on either. */
static void
on_aborted(struct fake_far *far)
{
	struct fake_peer *peer = (struct fake_peer *)far;

	if (!peer->broken)
		return;
	peer->broken = false;
	peer->state = FAKE_PEER_LEAVING;
	fake_hangup(far->id);
}

static const struct fake_far_ops peer_ops = {
	.connect = on_connect,
	.accepted = on_accepted,
	.rejected = on_rejected,
	.confirmed = on_confirmed,
	.hangup = on_hangup,
	.gone = on_gone,
	.aborted = on_aborted,
	.take = fake_peer_take,
	.done = fake_peer_done,
	.waits = fake_peer_waits,
};

/* ---- connecting --------------------------------------------------------------- */

static struct fake_peer *
peer_new(void)
{
	struct fake_peer *peer = fake_alloc(sizeof(*peer));

	peer->far.ops = &peer_ops;
	peer->ready = true;
	peer->rnr_retry = -1;
	peer->retry = -1;
	TAILQ_INSERT_TAIL(&fake_get()->peers, peer, entry);
	fake_get()->n_peers++;
	return peer;
}

void
fake_peer_dial(struct fake_id *id, const struct fake_script *script)
{
	struct fake_peer *peer;

	switch (script->outcome) {
	case FAKE_DIAL_UNREACHABLE:
		fake_refuse(id, RDMA_CM_EVENT_UNREACHABLE,
		    script->status ? script->status : -ETIMEDOUT, NULL, 0);
		return;
	case FAKE_DIAL_CONNECT_ERROR:
		fake_refuse(id, RDMA_CM_EVENT_CONNECT_ERROR,
		    script->status ? script->status : -EINVAL, NULL, 0);
		return;
	case FAKE_DIAL_ACCEPT:
	case FAKE_DIAL_REJECT:
	case FAKE_DIAL_HOLD:
	case FAKE_DIAL_ADDR_ERROR:
	case FAKE_DIAL_ADDR_SILENT:
	case FAKE_DIAL_ROUTE_ERROR:
	case FAKE_DIAL_ROUTE_SILENT:
		break;
	}
	peer = peer_new();
	peer->script = script;
	peer->far.id = id;
	id->far = &peer->far;
}

void
fake_peer_accept(struct fake_peer *peer, const void *pdata, size_t len)
{
	fake_lock();
	if (peer->far.id && peer->state == FAKE_PEER_WAITING)
		fake_answer(peer->far.id, pdata, len);
	fake_unlock();
}

void
fake_peer_reject(struct fake_peer *peer, int status, const void *pdata, size_t len)
{
	fake_lock();
	if (peer->far.id && peer->state == FAKE_PEER_WAITING) {
		peer->state = FAKE_PEER_REJECTED;
		peer->reason = status ? status : FAKE_REJ_CONSUMER;
		fake_refuse(peer->far.id, RDMA_CM_EVENT_REJECTED, peer->reason, pdata,
		    len);
	}
	fake_unlock();
}

/* The listener at a port, and the address to reach it at. */
static struct fake_id *
find_listener(uint16_t port, struct sockaddr_storage *dst)
{
	const struct fake_addr *row;
	struct fake_id *id;

	TAILQ_FOREACH(id, &fake_get()->ids, entry) {
		const struct sockaddr *src = &id->pub.route.addr.src_addr;

		if (id->state != ID_LISTENING || fake_addr_port(src) != port)
			continue;
		row = fake_addr_of_device(0, src->sa_family);
		if (fake_addr_is_any(src) && row)
			*dst = row->addr;
		else
			memcpy(dst, &id->pub.route.addr.src_storage, sizeof(*dst));
		fake_addr_set_port((struct sockaddr *)dst, port);
		return id;
	}
	return NULL;
}

struct fake_peer *
fake_peer_connect_from(const char *addr, uint16_t port, const void *pdata, size_t len)
{
	struct sockaddr_storage src;
	struct sockaddr_storage dst;
	struct fake_peer *peer = NULL;
	struct fake_id *listener;

	fake_lock();
	listener = find_listener(port, &dst);
	if (listener && fake_addr_parse(addr, fake_port_choose(), &src) == 0) {
		peer = peer_new();
		peer->far.id = fake_request(listener, &peer->far,
		    (struct sockaddr *)&src, (struct sockaddr *)&dst, pdata, len);
		if (!peer->far.id) {
			TAILQ_REMOVE(&fake_get()->peers, peer, entry);
			fake_get()->n_peers--;
			free(peer);
			peer = NULL;
		}
	}
	fake_unlock();
	return peer;
}

struct fake_peer *
fake_peer_connect(uint16_t port, const void *pdata, size_t len)
{
	return fake_peer_connect_from("127.0.0.1", port, pdata, len);
}

void
fake_peer_confirm(struct fake_peer *peer)
{
	fake_lock();
	if (peer->far.id && peer->state == FAKE_PEER_ACCEPTED) {
		peer->state = FAKE_PEER_ESTABLISHED;
		fake_confirm(peer->far.id);
	}
	fake_unlock();
}

/* ---- ending ------------------------------------------------------------------- */

static void
leave(struct fake_peer *peer, enum fake_peer_state next)
{
	enum fake_peer_state was = peer->state;
	struct fake_id *id = peer->far.id;

	if (was != FAKE_PEER_WAITING && was != FAKE_PEER_ACCEPTED &&
	    was != FAKE_PEER_ESTABLISHED)
		return;
	peer->state = next;
	fake_peer_recall(peer);
	if (!id)
		return;
	if (was == FAKE_PEER_ESTABLISHED)
		fake_hangup(id);
	else
		fake_refuse(id, RDMA_CM_EVENT_REJECTED, FAKE_REJ_CONSUMER, NULL, 0);
}

void
fake_peer_disconnect(struct fake_peer *peer)
{
	fake_lock();
	leave(peer, FAKE_PEER_LEAVING);
	fake_unlock();
}

void
fake_peer_kill(struct fake_peer *peer)
{
	fake_lock();
	leave(peer, FAKE_PEER_DEAD);
	fake_unlock();
}

void
fake_peer_answer(struct fake_peer *peer)
{
	fake_lock();
	if (peer->far.id && peer->state == FAKE_PEER_DISCONNECTED)
		fake_hangup(peer->far.id);
	fake_unlock();
}

void
fake_peer_vanish(struct fake_peer *peer)
{
	fake_lock();
	peer->state = FAKE_PEER_DEAD;
	fake_peer_recall(peer);
	if (peer->far.id && peer->far.id->pub.qp)
		fake_qp_push((struct fake_qp *)peer->far.id->pub.qp);
	fake_unlock();
}

/* Ids are gone by now. */
void
fake_peer_reset(void)
{
	struct fake *fake = fake_get();
	struct fake_peer *peer;

	while ((peer = TAILQ_FIRST(&fake->peers))) {
		TAILQ_REMOVE(&fake->peers, peer, entry);
		fake_peer_free(peer);
	}
}
