/* SPDX-License-Identifier: BSD-3-Clause */
/* mr.h: registered memory as work requests see it; inline for the sake of speed. */
#ifndef RPMAD_LIB_RPMA_MR_H
#define RPMAD_LIB_RPMA_MR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/rpma/librpma.h"

struct rpma_mr_local {
	struct rpma_peer *peer; /* referred to */
	struct ibv_mr *ibv_mr;  /* owned */
	uintptr_t base;
	size_t size; /* bytes */
	uint32_t lkey;
	uint8_t usage; /* RPMA_MR_USAGE_* */
};

struct rpma_mr_remote {
	uint64_t base; /* address at its owner */
	uint64_t size; /* bytes */
	uint32_t rkey;
	uint8_t usage; /* RPMA_MR_USAGE_* */
};

/*
 * One range of a region as the scatter-gather list of a work request.
 *
 * mr           NULL: no memory at all, for an empty message
 * offset, len  bytes; within the region, or both 0 when mr is NULL
 * sge          one element, written when *num_sge becomes 1
 * num_sge      0 or 1; an empty range has no element, since some devices take one of
 *              length 0 for one of 2 GiB
 * return       0; RPMA_E_INVAL the range is not within the region, or len is over
 *              4 GiB - 1
 * context      any thread; a few instructions
 */
static inline int
rpmai_mr_range(const struct rpma_mr_local *mr, size_t offset, size_t len,
    struct ibv_sge *sge, int *num_sge)
{
	size_t end;

	*num_sge = 0;
	if (!mr)
		return offset || len ? RPMA_E_INVAL : 0;
	if (len > UINT32_MAX || __builtin_add_overflow(offset, len, &end) ||
	    end > mr->size)
		return RPMA_E_INVAL;
	sge->lkey = mr->lkey;
	sge->addr = mr->base + offset;
	sge->length = (uint32_t)len;
	if (__builtin_expect(len != 0, 1))
		*num_sge = 1;
	return 0;
}

/* Whether a range, in bytes, is within a remote region. */
static inline bool
rpmai_mr_remote_has(const struct rpma_mr_remote *mr, uint64_t offset, uint64_t len)
{
	return offset <= mr->size && len <= mr->size - offset;
}

#endif
