/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_peer_msg.c: the messages of scripted far ends, and questions about them. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_peer.h"

/* Room for one more in an array that doubles. */
static void *
grow(void *array, unsigned n, size_t size)
{
	void *bigger;

	if (n & (n - 1) || (n < 8 && n > 0))
		return array;
	bigger = fake_alloc((n ? 2 * (size_t)n : 8) * size);
	if (n)
		memcpy(bigger, array, n * size);
	free(array);
	return bigger;
}

/* ---- to the near end ---------------------------------------------------------- */

int
fake_peer_send(struct fake_peer *peer, const void *data, size_t len, int64_t imm)
{
	struct fake_msg *msg;
	int index = -1;

	fake_lock();
	if (peer->state == FAKE_PEER_ESTABLISHED && peer->far.id &&
	    peer->far.id->pub.qp) {
		peer->sent = grow(peer->sent, peer->n_sent, sizeof(peer->sent[0]));
		peer->sent[peer->n_sent] = FAKE_SENT_WAITING;
		index = (int)peer->n_sent++;
		msg = fake_alloc(sizeof(*msg) + len);
		msg->index = index;
		msg->with_imm = imm != FAKE_NO_IMM;
		msg->imm = (uint32_t)imm;
		msg->len = len;
		if (len)
			memcpy(msg->data, data, len);
		fake_qp_receive((struct fake_qp *)peer->far.id->pub.qp, msg);
	}
	fake_unlock();
	return index;
}

void
fake_peer_done(struct fake_far *far, struct fake_msg *msg, int status, bool lost)
{
	struct fake_peer *peer = (struct fake_peer *)far;
	enum fake_sent *sent = &peer->sent[msg->index];

	if (lost)
		*sent = FAKE_SENT_LOST;
	else
		*sent = status == IBV_WC_SUCCESS ? FAKE_SENT_OK : FAKE_SENT_ERROR;
	if (status == IBV_WC_SUCCESS) {
		if (lost)
			peer->state = FAKE_PEER_LEAVING;
	} else if (status != FAKE_MSG_DROPPED && peer->state == FAKE_PEER_ESTABLISHED) {
		peer->state = FAKE_PEER_LEAVING;
		fake_hangup(far->id);
	}
}

void
fake_peer_waits(struct fake_far *far, struct fake_msg *msg)
{
	(void)msg;
	((struct fake_peer *)far)->rnr_waits++;
}

/* What the near end did not take yet is withdrawn, or was lost with it. */
void
fake_peer_recall(struct fake_peer *peer)
{
	struct fake_id *id = peer->far.id;
	unsigned i;

	if (id && id->pub.qp)
		fake_qp_drop_in((struct fake_qp *)id->pub.qp);
	for (i = 0; i < peer->n_sent; i++) {
		if (peer->sent[i] == FAKE_SENT_WAITING)
			peer->sent[i] = FAKE_SENT_ERROR;
	}
}

/* ---- from the near end -------------------------------------------------------- */

enum fake_take
fake_peer_take(struct fake_far *far, struct fake_send *send)
{
	struct fake_peer *peer = (struct fake_peer *)far;
	struct fake_got *got;

	if (peer->state != FAKE_PEER_ESTABLISHED)
		return peer->state == FAKE_PEER_WAITING ? FAKE_TAKE_BLOCKED
							: FAKE_TAKE_DEAD;
	if (!peer->ready)
		return FAKE_TAKE_BLOCKED;
	if (fake_rma_is_one_sided(send->opcode))
		return FAKE_TAKE_OK;
	if (peer->max_len && send->len > peer->max_len) {
		peer->broken = true;
		return FAKE_TAKE_LONG;
	}
	peer->got = grow(peer->got, peer->n_got, sizeof(peer->got[0]));
	got = &peer->got[peer->n_got++];
	got->data = fake_alloc(send->len + 1);
	got->len = fake_send_gather(send, got->data);
	got->imm = send->with_imm ? (int64_t)send->imm : FAKE_NO_IMM;
	return FAKE_TAKE_OK;
}

void
fake_peer_set_ready(struct fake_peer *peer, bool ready)
{
	fake_lock();
	peer->ready = ready;
	if (ready && peer->far.id && peer->far.id->pub.qp)
		fake_qp_push((struct fake_qp *)peer->far.id->pub.qp);
	fake_unlock();
}

void
fake_peer_set_max_len(struct fake_peer *peer, size_t max_len)
{
	fake_lock();
	peer->max_len = max_len;
	fake_unlock();
}

void
fake_peer_free(struct fake_peer *peer)
{
	while (peer->n_got > 0)
		free(peer->got[--peer->n_got].data);
	free(peer->got);
	free(peer->sent);
	free(peer);
}

/* ---- questions ---------------------------------------------------------------- */

struct fake_peer *
fake_peer(unsigned n)
{
	struct fake_peer *peer;

	fake_lock();
	TAILQ_FOREACH(peer, &fake_get()->peers, entry) {
		if (n-- == 0)
			break;
	}
	fake_unlock();
	return peer;
}

unsigned
fake_peers(void)
{
	return fake_get()->n_peers;
}

struct fake_peer *
fake_peer_last(void)
{
	unsigned n = fake_peers();

	return n ? fake_peer(n - 1) : NULL;
}

enum fake_peer_state
fake_peer_state(const struct fake_peer *peer)
{
	return peer->state;
}

int
fake_peer_reason(const struct fake_peer *peer)
{
	return peer->reason;
}

const void *
fake_peer_pdata(const struct fake_peer *peer, size_t *len)
{
	*len = peer->pdata_len;
	return peer->pdata;
}

int
fake_peer_rnr_retry(const struct fake_peer *peer)
{
	return peer->rnr_retry;
}

int
fake_peer_retry(const struct fake_peer *peer)
{
	return peer->retry;
}

uint32_t
fake_peer_qp_num(const struct fake_peer *peer)
{
	uint32_t qp_num;

	fake_lock();
	qp_num =
	    peer->far.id && peer->far.id->pub.qp ? peer->far.id->pub.qp->qp_num : 0;
	fake_unlock();
	return qp_num;
}

enum fake_sent
fake_peer_sent(const struct fake_peer *peer, int index)
{
	if (index < 0 || (unsigned)index >= peer->n_sent)
		return FAKE_SENT_ERROR;
	return peer->sent[index];
}

unsigned
fake_peer_sent_count(const struct fake_peer *peer, enum fake_sent state)
{
	unsigned n = 0;
	unsigned i;

	fake_lock();
	for (i = 0; i < peer->n_sent; i++)
		n += peer->sent[i] == state;
	fake_unlock();
	return n;
}

unsigned
fake_peer_rnr_waits(const struct fake_peer *peer)
{
	return peer->rnr_waits;
}

unsigned
fake_peer_received(const struct fake_peer *peer)
{
	return peer->n_got;
}

const void *
fake_peer_message(const struct fake_peer *peer, unsigned n, size_t *len, int64_t *imm)
{
	if (n >= peer->n_got)
		return NULL;
	if (len)
		*len = peer->got[n].len;
	if (imm)
		*imm = peer->got[n].imm;
	return peer->got[n].data;
}
