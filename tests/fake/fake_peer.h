/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_peer.h: the scripted far end, shared by fake_peer.c and fake_peer_msg.c. */
#ifndef RPMAD_TESTS_FAKE_FAKE_PEER_H
#define RPMAD_TESTS_FAKE_FAKE_PEER_H

#include "tests/fake/fake_impl.h"

struct fake_got {
	int64_t imm;
	size_t len;
	unsigned char *data; /* one NUL more than len */
};

struct fake_peer {
	struct fake_far far;
	TAILQ_ENTRY(fake_peer) entry;
	enum fake_peer_state state;
	const struct fake_script *script; /* of a dial; NULL: it dialled */
	int reason;
	int rnr_retry;
	int retry;
	size_t pdata_len;
	unsigned char pdata[FAKE_PDATA_MAX];
	bool ready;
	bool broken; /* got a message longer than max_len */
	size_t max_len;
	unsigned rnr_waits;
	enum fake_sent *sent;
	unsigned n_sent;
	struct fake_got *got;
	unsigned n_got;
};

void fake_peer_keep_pdata(struct fake_peer *peer, const void *pdata, size_t len);
void fake_peer_recall(struct fake_peer *peer); /* its messages that still wait end */
void fake_peer_free(struct fake_peer *peer);

/* Members of struct fake_far_ops. */
enum fake_take fake_peer_take(struct fake_far *far, struct fake_send *send);
void fake_peer_done(struct fake_far *far, struct fake_msg *msg, int status, bool lost);
void fake_peer_waits(struct fake_far *far, struct fake_msg *msg);

#endif
