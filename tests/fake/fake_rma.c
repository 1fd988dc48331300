/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_rma.c: operations of remote memory, and queue pairs that build requests. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_impl.h"

/* Numbers that older headers lack. Source: rdma-core 45, verbs.h; rdma/ib_user_verbs.h. */
enum {
	WR_FLUSH = 14,
	WR_ATOMIC_WRITE = 15,
	WC_FLUSH = 8,
	WC_ATOMIC_WRITE = 9,
	ACCESS_FLUSH_GLOBAL = 1 << 8,
	ACCESS_FLUSH_PERSISTENT = 1 << 9,
	EX_WITH_FLUSH = 1 << 11,
	EX_WITH_ATOMIC_WRITE = 1 << 12,
	FLUSH_GLOBAL = 1 << 0,
	FLUSH_PERSISTENT = 1 << 1,
	FLUSH_MR = 1,
	ATOMIC_SIZE = 8,
};

uint64_t
fake_rma_device_caps(void)
{
	uint64_t caps = (uint64_t)fake_options()->native_flush << 38;

	if (fake_options()->native_atomic_write)
		caps |= UINT64_C(1) << 40;
	return caps;
}

/* The two kinds of flush have the same order as access, as ability and as request. */
bool
fake_rma_has_access(unsigned access)
{
	unsigned flushes = access & (ACCESS_FLUSH_GLOBAL | ACCESS_FLUSH_PERSISTENT);

	return !(flushes & ~(fake_options()->native_flush * ACCESS_FLUSH_GLOBAL));
}

bool
fake_rma_has_ops(uint64_t send_ops)
{
	uint64_t known = 0;

	if (fake_options()->native_flush)
		known |= EX_WITH_FLUSH;
	if (fake_options()->native_atomic_write)
		known |= EX_WITH_ATOMIC_WRITE;
	return !(send_ops & ~known);
}

bool
fake_rma_is_known(enum ibv_wr_opcode opcode)
{
	switch ((int)opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_RDMA_READ:
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return true;
	default:
		return false;
	}
}

bool
fake_rma_is_one_sided(enum ibv_wr_opcode opcode)
{
	switch ((int)opcode) {
	case IBV_WR_RDMA_READ:
	case IBV_WR_RDMA_WRITE:
	case WR_FLUSH:
	case WR_ATOMIC_WRITE:
		return true;
	default:
		return false;
	}
}

enum ibv_wc_opcode
fake_rma_wc(enum ibv_wr_opcode opcode)
{
	switch ((int)opcode) {
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case WR_FLUSH:
		return (enum ibv_wc_opcode)WC_FLUSH;
	case WR_ATOMIC_WRITE:
		return (enum ibv_wc_opcode)WC_ATOMIC_WRITE;
	default:
		return IBV_WC_SEND;
	}
}

/* What the owner of the memory must have allowed. */
static unsigned
needed_access(const struct fake_send *send)
{
	unsigned access = 0;

	switch ((int)send->opcode) {
	case IBV_WR_RDMA_READ:
		return IBV_ACCESS_REMOTE_READ;
	case WR_FLUSH: /* imm is its type */
		if (send->imm & FLUSH_GLOBAL)
			access |= ACCESS_FLUSH_GLOBAL;
		if (send->imm & FLUSH_PERSISTENT)
			access |= ACCESS_FLUSH_PERSISTENT;
		return access;
	default:
		return IBV_ACCESS_REMOTE_WRITE;
	}
}

int
fake_rma_do(const struct fake_qp *qp, const struct fake_send *send)
{
	const struct fake_mr *mr;
	unsigned char *at;
	size_t done = 0;
	int i;

	(void)qp;
	/* an operation of no bytes looks at no key */
	if (send->len == 0)
		return IBV_WC_SUCCESS;
	mr = fake_mr_find_remote(send->rkey, send->raddr, send->len);
	if (!mr || (mr->access & needed_access(send)) != needed_access(send))
		return IBV_WC_REM_ACCESS_ERR;
	at = (unsigned char *)(uintptr_t)send->raddr;
	if ((int)send->opcode == WR_FLUSH)
		return IBV_WC_SUCCESS;
	if (send->opcode != IBV_WR_RDMA_READ) {
		fake_send_gather(send, at);
		return IBV_WC_SUCCESS;
	}
	for (i = 0; i < send->num_sge; i++) {
		memcpy((void *)(uintptr_t)send->sge[i].addr, at + done,
		    send->sge[i].length);
		done += send->sge[i].length;
	}
	return IBV_WC_SUCCESS;
}

/* ---- the builder interface ---------------------------------------------------- */

static void
wr_start(struct ibv_qp_ex *ex)
{
	struct fake_qp *qp = (struct fake_qp *)ex;

	fake_lock();
	if (qp->built)
		fake_blame("ibv_wr_start: the one before was not completed");
	else
		qp->built = fake_alloc(sizeof(*qp->built));
	fake_unlock();
}

#if HAVE_DECL_IBV_WR_ATOMIC_WRITE
/* Fill in the request that is being built. */
static void
build(struct ibv_qp_ex *ex, int opcode, uint32_t rkey, uint64_t raddr, size_t len)
{
	struct fake_qp *qp = (struct fake_qp *)ex;
	struct fake_send *send = qp->built;

	send->opcode = (enum ibv_wr_opcode)opcode;
	send->rkey = rkey;
	send->raddr = raddr;
	send->len = len;
	send->wr_id = ex->wr_id;
	send->signaled = qp->sig_all || ex->wr_flags & IBV_SEND_SIGNALED;
	fake_get()->last_wr = (struct fake_wr){
		.wr_id = ex->wr_id,
		.opcode = opcode,
		.send_flags = ex->wr_flags,
		.raddr = raddr,
		.rkey = rkey,
		.is_built = true,
	};
}

static void
wr_atomic_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr, const void *data)
{
	struct fake_send *send = ((struct fake_qp *)ex)->built;

	fake_lock();
	if (send) {
		build(ex, WR_ATOMIC_WRITE, rkey, raddr, ATOMIC_SIZE);
		send->copy = fake_alloc(ATOMIC_SIZE);
		memcpy(send->copy, data, ATOMIC_SIZE);
	} else {
		fake_blame("ibv_wr_atomic_write: nothing was started");
	}
	fake_unlock();
}
#endif

#if HAVE_DECL_IBV_WR_FLUSH
static void
wr_flush(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t raddr, size_t len, uint8_t type,
    uint8_t level)
{
	struct fake_send *send = ((struct fake_qp *)ex)->built;

	fake_lock();
	if (send) {
		build(ex, WR_FLUSH, rkey, raddr, level == FLUSH_MR ? 1 : len);
		send->imm = type;
		fake_get()->last_wr.flush_len = len;
		fake_get()->last_wr.flush_type = type;
		fake_get()->last_wr.flush_level = level;
	} else {
		fake_blame("ibv_wr_flush: nothing was started");
	}
	fake_unlock();
}
#endif

static int
wr_complete(struct ibv_qp_ex *ex)
{
	struct fake_qp *qp = (struct fake_qp *)ex;
	struct fake_send *send = qp->built;
	int error =
	    fake_begin("ibv_wr_complete", "opcode=%d", send ? (int)send->opcode : -1);

	qp->built = NULL;
	if (!send) {
		fake_blame("ibv_wr_complete: nothing was started");
		return fake_end_verbs(EINVAL);
	}
	if (!error && qp->pub.state != IBV_QPS_RTS)
		error = EINVAL;
	if (!error)
		error = fake_send_queue(qp, send);
	if (error)
		fake_send_free(send);
	else
		fake_qp_push(qp);
	return fake_end_verbs(error);
}

void
fake_rma_equip(struct fake_qp *qp, uint64_t send_ops)
{
	qp->is_ex = true;
	qp->ex.wr_start = wr_start;
	qp->ex.wr_complete = wr_complete;
	if (fake_options()->no_builders)
		send_ops = 0;
	(void)send_ops;
#if HAVE_DECL_IBV_WR_ATOMIC_WRITE
	if (send_ops & EX_WITH_ATOMIC_WRITE)
		qp->ex.wr_atomic_write = wr_atomic_write;
#endif
#if HAVE_DECL_IBV_WR_FLUSH
	if (send_ops & EX_WITH_FLUSH)
		qp->ex.wr_flush = wr_flush;
#endif
}

struct ibv_qp_ex *
ibv_qp_to_qp_ex(struct ibv_qp *pub)
{
	struct fake_qp *qp = (struct fake_qp *)pub;

	return qp->is_ex ? &qp->ex : NULL;
}
