/* SPDX-License-Identifier: BSD-3-Clause */
/* srq_cfg.h: the configuration of a shared receive queue. */
#ifndef RPMAD_LIB_RPMA_SRQ_CFG_H
#define RPMAD_LIB_RPMA_SRQ_CFG_H

#include <stdint.h>

struct rpma_srq_cfg {
	uint32_t rq_size;  /* receives */
	uint32_t rcq_size; /* completions; 0: no completion queue of its own */
};

/* cfg itself, or the defaults for NULL; borrowed. */
const struct rpma_srq_cfg *rpmai_srq_cfg_or_default(const struct rpma_srq_cfg *cfg);

#endif
