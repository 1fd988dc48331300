/* SPDX-License-Identifier: BSD-3-Clause */
/* peer_cfg.h: what a node tells its peers about itself. */
#ifndef RPMAD_LIB_RPMA_PEER_CFG_H
#define RPMAD_LIB_RPMA_PEER_CFG_H

#include <stdbool.h>

struct rpma_peer_cfg {
	bool has_direct_write_to_pmem;
};

#endif
