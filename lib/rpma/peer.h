/* SPDX-License-Identifier: BSD-3-Clause */
/* peer.h: what the rest of the library needs to know of a device. */
#ifndef RPMAD_LIB_RPMA_PEER_H
#define RPMAD_LIB_RPMA_PEER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/rpma/ref.h"

struct ibv_context;
struct ibv_mr;
struct ibv_pd;

struct rpma_peer {
	struct rpmai_ref ref;        /* by its regions, SRQs and connections, too */
	struct ibv_context *ibv_ctx; /* borrowed */
	struct ibv_pd *pd;           /* owned */
	uint32_t max_cqe;
	bool is_iwarp;
	bool is_odp_capable;
	unsigned int native_ops; /* RPMA_NATIVE_*: what the device does by itself */
	int flush_access;        /* IBV_ACCESS_FLUSH_* that it understands */
	/* owned; where flushes that read put what they read; NULL before the first */
	_Atomic(struct ibv_mr *) flush_mr;
};

/* Give back a reference. ret: see rpmai_err_note(). */
void rpmai_peer_release(struct rpma_peer *peer, int *ret);

/*
 * Whether an id of the connection manager leads through the peer's device.
 *
 * verbs    the id's context; NULL: the connection manager found no device
 * return   0; RPMA_E_PROVIDER with ENODEV for NULL, with EXDEV for another device
 */
int rpmai_peer_check_device(const struct rpma_peer *peer,
    const struct ibv_context *verbs);

#endif
