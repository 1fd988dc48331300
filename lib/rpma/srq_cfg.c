/* SPDX-License-Identifier: BSD-3-Clause */
/* srq_cfg.c: the configuration of a shared receive queue and its defaults. */
#include <config.h>

#include "lib/rpma/srq_cfg.h"

#include <stdlib.h>

#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"

static const struct rpma_srq_cfg defaults = {
	.rq_size = 20,
	.rcq_size = 20,
};

const struct rpma_srq_cfg *
rpmai_srq_cfg_or_default(const struct rpma_srq_cfg *cfg)
{
	return cfg ? cfg : &defaults;
}

int
rpma_srq_cfg_new(struct rpma_srq_cfg **cfg_ptr)
{
	struct rpma_srq_cfg *cfg;

	if (!cfg_ptr)
		return RPMA_E_INVAL;
	cfg = malloc(sizeof(*cfg));
	if (!cfg)
		return rpmai_err_nomem();
	*cfg = defaults;
	*cfg_ptr = cfg;
	return 0;
}

int
rpma_srq_cfg_delete(struct rpma_srq_cfg **cfg_ptr)
{
	if (!cfg_ptr)
		return RPMA_E_INVAL;
	free(*cfg_ptr);
	*cfg_ptr = NULL;
	return 0;
}

int
rpma_srq_cfg_set_rq_size(struct rpma_srq_cfg *cfg, uint32_t rq_size)
{
	if (!cfg)
		return RPMA_E_INVAL;
	cfg->rq_size = rq_size;
	return 0;
}

int
rpma_srq_cfg_get_rq_size(const struct rpma_srq_cfg *cfg, uint32_t *rq_size)
{
	if (!cfg || !rq_size)
		return RPMA_E_INVAL;
	*rq_size = cfg->rq_size;
	return 0;
}

int
rpma_srq_cfg_set_rcq_size(struct rpma_srq_cfg *cfg, uint32_t rcq_size)
{
	if (!cfg)
		return RPMA_E_INVAL;
	cfg->rcq_size = rcq_size;
	return 0;
}

int
rpma_srq_cfg_get_rcq_size(const struct rpma_srq_cfg *cfg, uint32_t *rcq_size)
{
	if (!cfg || !rcq_size)
		return RPMA_E_INVAL;
	*rcq_size = cfg->rcq_size;
	return 0;
}
