/* SPDX-License-Identifier: BSD-3-Clause */
/* cq.h: completion queues of connections, of SRQs, and free-standing ones. */
#ifndef RPMAD_LIB_RPMA_CQ_H
#define RPMAD_LIB_RPMA_CQ_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/rpma/ref.h"

struct ibv_comp_channel;
struct ibv_context;
struct ibv_cq;
struct rpma_cq;

struct rpma_cq {
	struct rpmai_ref ref;             /* by connections, too, when standalone */
	struct ibv_cq *ibv_cq;            /* owned */
	struct ibv_comp_channel *channel; /* owned unless is_channel_shared */
	bool is_channel_shared; /* the channel is a connection's, for both its queues */
	bool is_standalone;     /* made by rpma_cq_new() */
	unsigned int ack_batch; /* events that are acknowledged at once, at least 1 */
	unsigned int unacked;   /* events taken and not acknowledged, below ack_batch */
};

/*
 * Make an armed completion queue.
 *
 * size     completions; what is over INT_MAX counts as INT_MAX
 * shared   borrowed, the channel to use; NULL: the queue gets one of its own
 * return   0; RPMA_E_NOMEM; RPMA_E_PROVIDER
 * source   ibv_create_comp_channel(3), ibv_create_cq(3), ibv_req_notify_cq(3)
 */
int rpmai_cq_new(struct ibv_context *ibv_ctx, uint32_t size,
    struct ibv_comp_channel *shared, struct rpma_cq **cq_ptr);

/*
 * Destroy a queue; NULL and half-built ones are allowed.
 * ret      see rpmai_err_note()
 */
void rpmai_cq_free(struct rpma_cq *cq, int *ret);

/* Give back a reference to a queue of rpma_cq_new(). ret: see rpmai_err_note(). */
void rpmai_cq_release(struct rpma_cq *cq, int *ret);

/*
 * Take one event of a completion channel; it is to be acknowledged.
 *
 * source_cq  the queue that the event is of
 * return     0; RPMA_E_NO_COMPLETION none waits; RPMA_E_PROVIDER
 * source     ibv_get_cq_event(3)
 */
int rpmai_cq_take_event(struct ibv_comp_channel *channel, struct ibv_cq **source_cq);

/* Acknowledge one event, now or together with later ones. */
void rpmai_cq_ack(struct rpma_cq *cq);

/* Ask for an event at the next completion. 0, RPMA_E_PROVIDER. */
int rpmai_cq_arm(struct rpma_cq *cq);

#endif
