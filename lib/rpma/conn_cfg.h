/* SPDX-License-Identifier: BSD-3-Clause */
/* conn_cfg.h: the configuration of a connection. */
#ifndef RPMAD_LIB_RPMA_CONN_CFG_H
#define RPMAD_LIB_RPMA_CONN_CFG_H

#include <stdbool.h>
#include <stdint.h>

struct rpma_cq;
struct rpma_srq;

struct rpma_conn_cfg {
	int timeout_ms;    /* of each step of address resolution */
	uint32_t cq_size;  /* completions */
	uint32_t rcq_size; /* completions; 0: no receive queue of its own */
	uint32_t sq_size;  /* work requests */
	uint32_t rq_size;  /* work requests */
	bool is_channel_shared;
	uint8_t rnr_retry;       /* 0 .. 7 */
	unsigned int native_ops; /* RPMA_NATIVE_*: what to leave to the device */
	struct rpma_srq *srq;    /* borrowed; NULL: none */
	struct rpma_cq *cq;      /* borrowed, takes the send completions; NULL: none */
};

/* cfg itself, or the defaults for NULL; borrowed. */
const struct rpma_conn_cfg *rpmai_conn_cfg_or_default(const struct rpma_conn_cfg *cfg);

#endif
