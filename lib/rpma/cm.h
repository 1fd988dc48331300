/* SPDX-License-Identifier: BSD-3-Clause */
/* cm.h: a channel that many endpoints and connections share. */
#ifndef RPMAD_LIB_RPMA_CM_H
#define RPMAD_LIB_RPMA_CM_H

struct rdma_event_channel;

struct rpma_cm {
	struct rdma_event_channel *channel; /* owned, non-blocking */
};

#endif
