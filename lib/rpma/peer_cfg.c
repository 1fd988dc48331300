/* SPDX-License-Identifier: BSD-3-Clause */
/* peer_cfg.c: the configuration of a node and its descriptor, one byte. */
#include <config.h>

#include "lib/rpma/peer_cfg.h"

#include <stdint.h>
#include <stdlib.h>

#include "lib/rpma/conn.h"
#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/log.h"

/* Bytes of a descriptor: 0 is no direct write to persistent memory, 1 is yes. */
#define DESCRIPTOR_SIZE 1

int
rpma_peer_cfg_new(struct rpma_peer_cfg **pcfg_ptr)
{
	struct rpma_peer_cfg *pcfg;

	if (!pcfg_ptr)
		return RPMA_E_INVAL;
	pcfg = calloc(1, sizeof(*pcfg));
	if (!pcfg)
		return rpmai_err_nomem();
	*pcfg_ptr = pcfg;
	return 0;
}

int
rpma_peer_cfg_delete(struct rpma_peer_cfg **pcfg_ptr)
{
	if (!pcfg_ptr)
		return RPMA_E_INVAL;
	free(*pcfg_ptr);
	*pcfg_ptr = NULL;
	return 0;
}

int
rpma_peer_cfg_set_direct_write_to_pmem(struct rpma_peer_cfg *pcfg, bool supported)
{
	if (!pcfg)
		return RPMA_E_INVAL;
	pcfg->has_direct_write_to_pmem = supported;
	return 0;
}

int
rpma_peer_cfg_get_direct_write_to_pmem(const struct rpma_peer_cfg *pcfg,
    bool *supported)
{
	if (!pcfg || !supported)
		return RPMA_E_INVAL;
	*supported = pcfg->has_direct_write_to_pmem;
	return 0;
}

int
rpma_peer_cfg_get_descriptor(const struct rpma_peer_cfg *pcfg, void *desc)
{
	if (!pcfg || !desc)
		return RPMA_E_INVAL;
	*(uint8_t *)desc = pcfg->has_direct_write_to_pmem;
	return 0;
}

int
rpma_peer_cfg_get_descriptor_size(const struct rpma_peer_cfg *pcfg, size_t *desc_size)
{
	if (!pcfg || !desc_size)
		return RPMA_E_INVAL;
	*desc_size = DESCRIPTOR_SIZE;
	return 0;
}

int
rpma_peer_cfg_from_descriptor(const void *desc, size_t desc_size,
    struct rpma_peer_cfg **pcfg_ptr)
{
	struct rpma_peer_cfg *pcfg;

	if (!desc || !pcfg_ptr)
		return RPMA_E_INVAL;
	if (desc_size < DESCRIPTOR_SIZE) {
		RPMAI_ERROR("a descriptor of a peer has %d byte, not %zu",
		    DESCRIPTOR_SIZE, desc_size);
		return RPMA_E_INVAL;
	}
	pcfg = calloc(1, sizeof(*pcfg));
	if (!pcfg)
		return rpmai_err_nomem();
	pcfg->has_direct_write_to_pmem = *(const uint8_t *)desc != 0;
	*pcfg_ptr = pcfg;
	return 0;
}

int
rpma_conn_apply_remote_peer_cfg(struct rpma_conn *conn,
    const struct rpma_peer_cfg *pcfg)
{
	if (!conn || !pcfg)
		return RPMA_E_INVAL;
	conn->can_flush_to_pmem = pcfg->has_direct_write_to_pmem;
	return 0;
}
