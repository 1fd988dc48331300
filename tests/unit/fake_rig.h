/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_rig.h: a small program over the doubles, for the tests of the doubles
 * themselves. */
#ifndef RPMAD_TESTS_UNIT_FAKE_RIG_H
#define RPMAD_TESTS_UNIT_FAKE_RIG_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "tests/fake/fake.h"

#define RIG_SLOTS    64
#define RIG_SLOT     64
#define RIG_QP_RECVS 3
#define RIG_WAIT_MS  10000

struct rig {
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_comp_channel *comp;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	uint16_t port;
	char buf[RIG_SLOTS][RIG_SLOT];
	char out[RIG_SLOT];
	struct ibv_mr *out_mr;
};

/* Make everything of rig on device 0; the CM channel does not block. */
void rig_open(struct rig *rig, uint32_t depth);

/* Destroy it again, and demand that nothing is left and no rule was broken. */
void rig_close(struct rig *rig);

/* Post slot i with wr_id i; what the call returned. */
int rig_post(struct rig *rig, unsigned i);

/* The same to the receive queue of a queue pair without SRQ, RIG_QP_RECVS deep. */
int rig_post_qp(struct rig *rig, struct rdma_cm_id *id, unsigned i);

/* Completions now, up to n; all n of them, waiting for up to RIG_WAIT_MS. */
int rig_poll(struct rig *rig, int n, struct ibv_wc *wc);
void rig_wait(struct rig *rig, int n, struct ibv_wc *wc);

/*
 * Fetch and acknowledge one CM event, which must come within RIG_WAIT_MS and be of a
 * type; the id of the event.
 */
struct rdma_cm_id *rig_event(struct rig *rig, enum rdma_cm_event_type type);

/* No CM event waits. */
void rig_no_event(struct rig *rig);

/* Queue pair on an id, with the SRQ, one CQ for all. */
int rig_qp(struct rig *rig, struct rdma_cm_id *id, uint32_t sq_size);

/* A peer dials and is accepted: the near id, and *peer. */
struct rdma_cm_id *rig_accept(struct rig *rig, struct fake_peer **peer);

/* Dial an address up to the request: resolved, routed, queue pair, connect called. */
struct rdma_cm_id *rig_dial(struct rig *rig, const char *addr, uint16_t port);

/* Send text signaled with a wr_id; what the call returned. */
int rig_send(struct rig *rig, struct rdma_cm_id *id, const char *text, uint64_t wr_id);

/* Destroy queue pair and id. */
void rig_drop(struct rdma_cm_id *id);

#endif
