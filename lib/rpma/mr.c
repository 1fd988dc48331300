/* SPDX-License-Identifier: BSD-3-Clause */
/* mr.c: registration of the program's memory with a device. */
#include <config.h>

#include "lib/rpma/mr.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/native.h"
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

	/*
	 * A peer without a flush of its own flushes by reading, whatever this device
	 * can do besides.
	 */
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

/*
 * Try several kinds of access, what is best first. Devices may refuse a flush to memory
 * that is not persistent; and file-backed persistent memory cannot be pinned, but be
 * paged on demand.
 */
static struct ibv_mr *
reg_mr(const struct rpma_peer *peer, void *ptr, size_t size, int usage, int *access)
{
	int flush = rpmai_native_usage_access(usage) & peer->flush_access;
	struct ibv_mr *ibv_mr;

	*access = access_flags(peer, usage);
	if (flush) {
		ibv_mr = ibv_reg_mr(peer->pd, ptr, size, *access | flush);
		if (ibv_mr)
			return ibv_mr;
	}
	ibv_mr = ibv_reg_mr(peer->pd, ptr, size, *access);
	if (!ibv_mr && errno == EOPNOTSUPP && peer->is_odp_capable) {
		*access |= IBV_ACCESS_ON_DEMAND;
		ibv_mr = ibv_reg_mr(peer->pd, ptr, size, *access);
	}
	return ibv_mr;
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
	mr->ibv_mr = reg_mr(peer, ptr, size, usage, &access);
	if (!mr->ibv_mr) {
		int errnum = errno;

		free(mr);
		return rpmai_err_provider(errnum,
		    "ibv_reg_mr(addr=%p, length=%zu, access=%#x)%s", ptr, size,
		    (unsigned int)access,
		    errnum == ENOMEM ? " (the limit of locked memory may be too low)"
				     : "");
	}
	mr->peer = peer;
	rpmai_ref_take(&peer->ref);
	mr->base = (uintptr_t)mr->ibv_mr->addr;
	mr->size = mr->ibv_mr->length;
	mr->lkey = mr->ibv_mr->lkey;
	mr->usage = (uint8_t)usage;
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
	rpmai_peer_release(mr->peer, &ret);
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

int
rpma_mr_advise(struct rpma_mr_local *mr, size_t offset, size_t len, int advice,
    uint32_t flags)
{
	struct ibv_sge sge;
	int num_sge;
	int errnum;
	int rc;

	if (!mr || rpmai_mr_range(mr, offset, len, &sge, &num_sge))
		return RPMA_E_INVAL;
	/* numbers that the header does not name are for the device to judge */
	rc = ibv_advise_mr(mr->ibv_mr->pd, (enum ibv_advise_mr_advice)advice, flags,
	    &sge, 1);
	if (!rc)
		return 0;
	errnum = rpmai_err_verbs(rc);
	if (errnum == EOPNOTSUPP)
		return rpmai_err_set(RPMA_E_NOSUPP, errnum);
	(void)rpmai_err_provider(errnum, "ibv_advise_mr(advice=%d, flags=%#x)", advice,
	    (unsigned int)flags);
	return errnum == EFAULT || errnum == EINVAL ? RPMA_E_INVAL : RPMA_E_PROVIDER;
}
