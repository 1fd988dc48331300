/* SPDX-License-Identifier: BSD-3-Clause */
/* conn_cfg.c: the configuration of a connection and its defaults. */
#include <config.h>

#include "lib/rpma/conn_cfg.h"

#include <stdlib.h>

#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"

/* The largest number of retries, which stands for ever; three bits on the wire. */
#define RNR_RETRY_FOR_EVER 7

static const struct rpma_conn_cfg defaults = {
	.timeout_ms = RPMA_DEFAULT_TIMEOUT_MS,
	.cq_size = 10,
	.rcq_size = 0,
	.sq_size = 10,
	.rq_size = 10,
	.rnr_retry = RNR_RETRY_FOR_EVER,
};

const struct rpma_conn_cfg *
rpmai_conn_cfg_or_default(const struct rpma_conn_cfg *cfg)
{
	return cfg ? cfg : &defaults;
}

int
rpma_conn_cfg_new(struct rpma_conn_cfg **cfg_ptr)
{
	struct rpma_conn_cfg *cfg;

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
rpma_conn_cfg_delete(struct rpma_conn_cfg **cfg_ptr)
{
	if (!cfg_ptr)
		return RPMA_E_INVAL;
	free(*cfg_ptr);
	*cfg_ptr = NULL;
	return 0;
}

int
rpma_conn_cfg_set_timeout(struct rpma_conn_cfg *cfg, int timeout_ms)
{
	if (!cfg || timeout_ms < 0)
		return RPMA_E_INVAL;
	cfg->timeout_ms = timeout_ms;
	return 0;
}

int
rpma_conn_cfg_get_timeout(const struct rpma_conn_cfg *cfg, int *timeout_ms)
{
	if (!cfg || !timeout_ms)
		return RPMA_E_INVAL;
	*timeout_ms = cfg->timeout_ms;
	return 0;
}

int
rpma_conn_cfg_set_cq_size(struct rpma_conn_cfg *cfg, uint32_t cq_size)
{
	if (!cfg)
		return RPMA_E_INVAL;
	cfg->cq_size = cq_size;
	return 0;
}

int
rpma_conn_cfg_get_cq_size(const struct rpma_conn_cfg *cfg, uint32_t *cq_size)
{
	if (!cfg || !cq_size)
		return RPMA_E_INVAL;
	*cq_size = cfg->cq_size;
	return 0;
}

int
rpma_conn_cfg_set_rcq_size(struct rpma_conn_cfg *cfg, uint32_t rcq_size)
{
	if (!cfg)
		return RPMA_E_INVAL;
	cfg->rcq_size = rcq_size;
	return 0;
}

int
rpma_conn_cfg_get_rcq_size(const struct rpma_conn_cfg *cfg, uint32_t *rcq_size)
{
	if (!cfg || !rcq_size)
		return RPMA_E_INVAL;
	*rcq_size = cfg->rcq_size;
	return 0;
}

int
rpma_conn_cfg_set_sq_size(struct rpma_conn_cfg *cfg, uint32_t sq_size)
{
	if (!cfg)
		return RPMA_E_INVAL;
	cfg->sq_size = sq_size;
	return 0;
}

int
rpma_conn_cfg_get_sq_size(const struct rpma_conn_cfg *cfg, uint32_t *sq_size)
{
	if (!cfg || !sq_size)
		return RPMA_E_INVAL;
	*sq_size = cfg->sq_size;
	return 0;
}

int
rpma_conn_cfg_set_rq_size(struct rpma_conn_cfg *cfg, uint32_t rq_size)
{
	if (!cfg)
		return RPMA_E_INVAL;
	cfg->rq_size = rq_size;
	return 0;
}

int
rpma_conn_cfg_get_rq_size(const struct rpma_conn_cfg *cfg, uint32_t *rq_size)
{
	if (!cfg || !rq_size)
		return RPMA_E_INVAL;
	*rq_size = cfg->rq_size;
	return 0;
}

int
rpma_conn_cfg_set_compl_channel(struct rpma_conn_cfg *cfg, bool shared)
{
	if (!cfg)
		return RPMA_E_INVAL;
	cfg->is_channel_shared = shared;
	return 0;
}

int
rpma_conn_cfg_get_compl_channel(const struct rpma_conn_cfg *cfg, bool *shared)
{
	if (!cfg || !shared)
		return RPMA_E_INVAL;
	*shared = cfg->is_channel_shared;
	return 0;
}

int
rpma_conn_cfg_set_srq(struct rpma_conn_cfg *cfg, struct rpma_srq *srq)
{
	if (!cfg)
		return RPMA_E_INVAL;
	cfg->srq = srq;
	return 0;
}

int
rpma_conn_cfg_get_srq(const struct rpma_conn_cfg *cfg, struct rpma_srq **srq_ptr)
{
	if (!cfg || !srq_ptr)
		return RPMA_E_INVAL;
	*srq_ptr = cfg->srq;
	return 0;
}

int
rpma_conn_cfg_set_cq(struct rpma_conn_cfg *cfg, struct rpma_cq *cq)
{
	if (!cfg)
		return RPMA_E_INVAL;
	cfg->cq = cq;
	return 0;
}

int
rpma_conn_cfg_get_cq(const struct rpma_conn_cfg *cfg, struct rpma_cq **cq_ptr)
{
	if (!cfg || !cq_ptr)
		return RPMA_E_INVAL;
	*cq_ptr = cfg->cq;
	return 0;
}

int
rpma_conn_cfg_set_rnr_retry(struct rpma_conn_cfg *cfg, unsigned int rnr_retry)
{
	if (!cfg || rnr_retry > RNR_RETRY_FOR_EVER)
		return RPMA_E_INVAL;
	cfg->rnr_retry = (uint8_t)rnr_retry;
	return 0;
}

int
rpma_conn_cfg_get_rnr_retry(const struct rpma_conn_cfg *cfg, unsigned int *rnr_retry)
{
	if (!cfg || !rnr_retry)
		return RPMA_E_INVAL;
	*rnr_retry = cfg->rnr_retry;
	return 0;
}

int
rpma_conn_cfg_set_native_ops(struct rpma_conn_cfg *cfg, unsigned int ops)
{
	if (!cfg || ops & ~(RPMA_NATIVE_FLUSH | RPMA_NATIVE_ATOMIC_WRITE))
		return RPMA_E_INVAL;
	cfg->native_ops = ops;
	return 0;
}

int
rpma_conn_cfg_get_native_ops(const struct rpma_conn_cfg *cfg, unsigned int *ops)
{
	if (!cfg || !ops)
		return RPMA_E_INVAL;
	*ops = cfg->native_ops;
	return 0;
}
