/* SPDX-License-Identifier: BSD-3-Clause */
/* native.c: flushes and atomic writes by the device, behind the builder interface. */
#include <config.h>

#include "lib/rpma/native.h"

#include <errno.h>

#include "lib/rpma/librpma.h"
#include "lib/rpma/mr.h"
#include "lib/rpma/post.h"

/*
 * Bits of device_cap_flags_ex that not every verbs.h names. Source: enum
 * ib_uverbs_device_cap_flags of the kernel's rdma/ib_user_verbs.h.
 */
#define CAP_FLUSH_GLOBAL     (UINT64_C(1) << 38)
#define CAP_FLUSH_PERSISTENT (UINT64_C(1) << 39)
#define CAP_ATOMIC_WRITE     (UINT64_C(1) << 40)

unsigned int
rpmai_native_of_device(const struct ibv_device_attr_ex *attr)
{
	const uint64_t flush = CAP_FLUSH_GLOBAL | CAP_FLUSH_PERSISTENT;
	unsigned int ops = 0;

	if (HAVE_DECL_IBV_WR_FLUSH && (attr->device_cap_flags_ex & flush) == flush)
		ops |= RPMA_NATIVE_FLUSH;
	if (HAVE_DECL_IBV_WR_ATOMIC_WRITE &&
	    attr->device_cap_flags_ex & CAP_ATOMIC_WRITE)
		ops |= RPMA_NATIVE_ATOMIC_WRITE;
	return ops;
}

#if HAVE_DECL_IBV_WR_FLUSH

int
rpmai_native_flush_access(const struct ibv_device_attr_ex *attr)
{
	int access = 0;

	if (attr->device_cap_flags_ex & CAP_FLUSH_GLOBAL)
		access |= IBV_ACCESS_FLUSH_GLOBAL;
	if (attr->device_cap_flags_ex & CAP_FLUSH_PERSISTENT)
		access |= IBV_ACCESS_FLUSH_PERSISTENT;
	return access;
}

int
rpmai_native_usage_access(int usage)
{
	int access = 0;

	if (usage & RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY)
		access |= IBV_ACCESS_FLUSH_GLOBAL;
	if (usage & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)
		access |= IBV_ACCESS_FLUSH_PERSISTENT;
	return access;
}

int
rpmai_native_flush(struct ibv_qp *qp, const struct rpma_mr_remote *mr, uint64_t offset,
    size_t len, int type, int flags, uint64_t wr_id)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	uint8_t kind = type == RPMA_FLUSH_TYPE_VISIBILITY ? IBV_FLUSH_GLOBAL
							  : IBV_FLUSH_PERSISTENT;

	ibv_wr_start(qpx);
	qpx->wr_id = wr_id;
	qpx->wr_flags = rpmai_send_flags(flags);
	/* the wire has 32 bits for a length: of more than that the whole is flushed */
	if (len > UINT32_MAX)
		ibv_wr_flush(qpx, mr->rkey, mr->base, 0, kind, IBV_FLUSH_MR);
	else
		ibv_wr_flush(qpx, mr->rkey, mr->base + offset, len, kind,
		    IBV_FLUSH_RANGE);
	return ibv_wr_complete(qpx);
}

#else

int
rpmai_native_flush_access(const struct ibv_device_attr_ex *attr)
{
	(void)attr;
	return 0;
}

int
rpmai_native_usage_access(int usage)
{
	(void)usage;
	return 0;
}

int
rpmai_native_flush(struct ibv_qp *qp, const struct rpma_mr_remote *mr, uint64_t offset,
    size_t len, int type, int flags, uint64_t wr_id)
{
	(void)qp;
	(void)mr;
	(void)offset;
	(void)len;
	(void)type;
	(void)flags;
	(void)wr_id;
	return EOPNOTSUPP;
}

#endif

#if HAVE_DECL_IBV_WR_ATOMIC_WRITE

int
rpmai_native_atomic_write(struct ibv_qp *qp, const struct rpma_mr_remote *mr,
    uint64_t offset, const char src[8], int flags, uint64_t wr_id)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(qpx);
	qpx->wr_id = wr_id;
	/* behind the fence, as the other way: after what is being flushed by reading */
	qpx->wr_flags = rpmai_send_flags(flags) | IBV_SEND_FENCE;
	ibv_wr_atomic_write(qpx, mr->rkey, mr->base + offset, src);
	return ibv_wr_complete(qpx);
}

#else

int
rpmai_native_atomic_write(struct ibv_qp *qp, const struct rpma_mr_remote *mr,
    uint64_t offset, const char src[8], int flags, uint64_t wr_id)
{
	(void)qp;
	(void)mr;
	(void)offset;
	(void)src;
	(void)flags;
	(void)wr_id;
	return EOPNOTSUPP;
}

#endif

void
rpmai_native_ask(struct ibv_qp_init_attr_ex *attr, unsigned int ops)
{
	uint64_t send_ops = 0;

	(void)ops;
#if HAVE_DECL_IBV_WR_ATOMIC_WRITE
	if (ops & RPMA_NATIVE_ATOMIC_WRITE)
		send_ops |= IBV_QP_EX_WITH_ATOMIC_WRITE;
#endif
#if HAVE_DECL_IBV_WR_FLUSH
	if (ops & RPMA_NATIVE_FLUSH)
		send_ops |= IBV_QP_EX_WITH_FLUSH;
#endif
	if (!send_ops)
		return;
	attr->comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr->send_ops_flags = send_ops;
}

unsigned int
rpmai_native_of_qp(struct ibv_qp *qp, unsigned int asked)
{
	struct ibv_qp_ex *qpx = asked ? ibv_qp_to_qp_ex(qp) : NULL;
	unsigned int ops = 0;

	if (!qpx)
		return 0;
#if HAVE_DECL_IBV_WR_ATOMIC_WRITE
	if (asked & RPMA_NATIVE_ATOMIC_WRITE && qpx->wr_atomic_write)
		ops |= RPMA_NATIVE_ATOMIC_WRITE;
#endif
#if HAVE_DECL_IBV_WR_FLUSH
	if (asked & RPMA_NATIVE_FLUSH && qpx->wr_flush)
		ops |= RPMA_NATIVE_FLUSH;
#endif
	return ops;
}
