/* SPDX-License-Identifier: BSD-3-Clause */
/* ep.h: a listening endpoint. */
#ifndef RPMAD_LIB_RPMA_EP_H
#define RPMAD_LIB_RPMA_EP_H

#include "lib/rpma/node.h"

struct rdma_cm_id;
struct rdma_event_channel;
struct rpma_ep;
struct rpma_peer;
struct sockaddr;

struct rpma_ep {
	struct rpmai_node node; /* what the id's context points to */
	struct rpma_peer *peer; /* borrowed */
	struct rdma_cm_id *id;  /* owned; NULL: not listening yet */
	/* owned; NULL: that of a struct rpma_cm is used */
	struct rdma_event_channel *channel;
};

/* Allocate an endpoint that does not listen yet. NULL: out of memory. */
struct rpma_ep *rpmai_ep_new(struct rpma_peer *peer);

/* Destroy an endpoint; half-built ones are allowed. ret: see rpmai_err_note(). */
void rpmai_ep_free(struct rpma_ep *ep, int *ret);

/*
 * Let an endpoint listen at an address of its peer's device.
 *
 * channel  borrowed, where its requests will come in
 * addr     a wildcard address is allowed
 * backlog  0: the kernel's maximum
 * return   0; RPMA_E_PROVIDER, with EXDEV when another device has the address
 * source   rdma_bind_addr(3), rdma_listen(3)
 */
int rpmai_ep_start(struct rpma_ep *ep, struct rdma_event_channel *channel,
    struct sockaddr *addr, int backlog);

#endif
