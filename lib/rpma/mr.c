/* SPDX-License-Identifier: BSD-3-Clause */
/* mr.c: registration of the program's memory with a device. */
#include <config.h>

#include "lib/rpma/mr.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/peer.h"

#define FLUSH_USAGES \
	(RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)

#define ALL_USAGES                                                                   \
	(RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC | \
	    RPMA_MR_USAGE_WRITE_DST | FLUSH_USAGES | RPMA_MR_USAGE_SEND |            \
	    RPMA_MR_USAGE_RECV)

/* The access that the uses of a region need; what is only read from here needs none. */
static int
access_flags(const struct rpma_peer *peer, int usage)
{
	int flags = 0;

	/* a peer without a flush of its own flushes by reading */
	if (usage & (RPMA_MR_USAGE_READ_SRC | FLUSH_USAGES))
		flags |= IBV_ACCESS_REMOTE_READ;
	if (usage & RPMA_MR_USAGE_READ_DST) {
		flags |= IBV_ACCESS_LOCAL_WRITE;
		/* iWARP carries the answer to a read as a write of the other side */
		if (peer->is_iwarp)
			flags |= IBV_ACCESS_REMOTE_WRITE;
	}
	if (usage & RPMA_MR_USAGE_WRITE_DST)
		flags |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;
	if (usage & RPMA_MR_USAGE_RECV)
		flags |= IBV_ACCESS_LOCAL_WRITE;
	return flags;
}

int
rpma_mr_reg(struct rpma_peer *peer, void *ptr, size_t size, int usage,
    struct rpma_mr_local **mr_ptr)
{
	struct rpma_mr_local *mr;
	int access;

	if (!peer || !ptr || !mr_ptr || size == 0 || usage == 0 || usage & ~ALL_USAGES)
		return RPMA_E_INVAL;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return rpmai_err_nomem();
	access = access_flags(peer, usage);
	mr->ibv_mr = ibv_reg_mr(peer->pd, ptr, size, access);
	/* file-backed persistent memory cannot be pinned, but paged on demand */
	if (!mr->ibv_mr && errno == EOPNOTSUPP && peer->is_odp_capable) {
		access |= IBV_ACCESS_ON_DEMAND;
		mr->ibv_mr = ibv_reg_mr(peer->pd, ptr, size, access);
	}
	if (!mr->ibv_mr) {
		int errnum = errno;

		free(mr);
		return rpmai_err_provider(errnum,
		    "ibv_reg_mr(addr=%p, length=%zu, access=%#x)%s", ptr, size,
		    (unsigned int)access,
		    errnum == ENOMEM ? " (the limit of locked memory may be too low)"
				     : "");
	}
	mr->base = (uintptr_t)mr->ibv_mr->addr;
	mr->size = mr->ibv_mr->length;
	mr->lkey = mr->ibv_mr->lkey;
	*mr_ptr = mr;
	return 0;
}

int
rpma_mr_dereg(struct rpma_mr_local **mr_ptr)
{
	struct rpma_mr_local *mr;
	int ret = 0;
	int rc;

	if (!mr_ptr)
		return RPMA_E_INVAL;
	mr = *mr_ptr;
	if (!mr)
		return 0;
	*mr_ptr = NULL;
	rc = ibv_dereg_mr(mr->ibv_mr);
	if (rc)
		rpmai_err_note(&ret, rpmai_err_verbs(rc), "ibv_dereg_mr()");
	free(mr);
	return ret;
}

int
rpma_mr_get_ptr(const struct rpma_mr_local *mr, void **ptr)
{
	if (!mr || !ptr)
		return RPMA_E_INVAL;
	*ptr = mr->ibv_mr->addr;
	return 0;
}

int
rpma_mr_get_size(const struct rpma_mr_local *mr, size_t *size)
{
	if (!mr || !size)
		return RPMA_E_INVAL;
	*size = mr->size;
	return 0;
}
