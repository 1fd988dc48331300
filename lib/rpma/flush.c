/* SPDX-License-Identifier: BSD-3-Clause */
/* flush.c: flushing remote memory, by the device or by reading it. */
#include <config.h>

#include "lib/rpma/flush.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/rpma/conn.h"
#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/log.h"
#include "lib/rpma/native.h"
#include "lib/rpma/peer.h"
#include "lib/rpma/post.h"

/* A read this long, or shorter, makes the writes before it visible. */
#define READ_SIZE 8

/* Free a buffer and its registration. ret: see rpmai_err_note(). */
static void
buffer_free(struct ibv_mr *ibv_mr, int *ret)
{
	void *page = ibv_mr->addr;
	int rc = ibv_dereg_mr(ibv_mr);

	if (rc)
		rpmai_err_note(ret, rpmai_err_verbs(rc), "ibv_dereg_mr()");
	free(page); /* no queue pair is left that could read into it */
}

void
rpmai_flush_buffer_free(struct rpma_peer *peer, int *ret)
{
	struct ibv_mr *ibv_mr = atomic_exchange(&peer->flush_mr, NULL);

	if (ibv_mr)
		buffer_free(ibv_mr, ret);
}

/*
 * Register a buffer. It has a page of its own, because after a fork(2) the child may not
 * see a page that is registered.
 */
static int
buffer_new(struct rpma_peer *peer, struct ibv_mr **mr_ptr)
{
	long page_size = sysconf(_SC_PAGESIZE);
	int access = IBV_ACCESS_LOCAL_WRITE;
	void *page;

	if (page_size < READ_SIZE)
		return rpmai_err_provider(errno, "sysconf(_SC_PAGESIZE)");
	page = aligned_alloc((size_t)page_size, (size_t)page_size);
	if (!page)
		return rpmai_err_nomem();
	/* iWARP carries the answer to a read as a write of the other side */
	if (peer->is_iwarp)
		access |= IBV_ACCESS_REMOTE_WRITE;
	*mr_ptr = ibv_reg_mr(peer->pd, page, READ_SIZE, access);
	if (!*mr_ptr) {
		int errnum = errno;

		free(page);
		return rpmai_err_provider(errnum, "ibv_reg_mr(length=%d, access=%#x)",
		    READ_SIZE, (unsigned int)access);
	}
	return 0;
}

/*
 * The buffer of a peer, made when it is needed first. Threads may need it at once, one of
 * them then wins. All connections share it: nobody looks at what is read.
 */
static int
buffer_of(struct rpma_peer *peer, struct ibv_mr **mr_ptr)
{
	struct ibv_mr *found =
	    atomic_load_explicit(&peer->flush_mr, memory_order_acquire);
	struct ibv_mr *made = NULL;
	int ret;

	if (found) {
		*mr_ptr = found;
		return 0;
	}
	ret = buffer_new(peer, &made);
	if (ret)
		return ret;
	if (atomic_compare_exchange_strong(&peer->flush_mr, &found, made)) {
		*mr_ptr = made;
		return 0;
	}
	buffer_free(made, &ret);
	*mr_ptr = found;
	return ret;
}

/*
 * Read from the range: the answer comes after what was written before. It stays within
 * the region and within the range, unless that is empty, which stands for its place.
 */
static int
flush_by_reading(struct rpma_conn *conn, const struct rpma_mr_remote *mr,
    uint64_t offset, size_t len, struct ibv_send_wr *wr)
{
	uint64_t size = len && len < READ_SIZE ? len : READ_SIZE;
	struct ibv_mr *buffer;
	struct ibv_sge sge;
	int ret = buffer_of(conn->peer, &buffer);

	if (ret)
		return ret;
	if (size > mr->size)
		size = mr->size;
	if (offset > mr->size - size)
		offset = mr->size - size;
	sge = (struct ibv_sge){
		.addr = (uintptr_t)buffer->addr,
		.length = (uint32_t)size,
		.lkey = buffer->lkey,
	};
	wr->sg_list = &sge;
	wr->num_sge = size ? 1 : 0;
	wr->opcode = IBV_WR_RDMA_READ;
	wr->wr.rdma.remote_addr = mr->base + offset;
	wr->wr.rdma.rkey = mr->rkey;
	return rpmai_post_wr(conn->queues.qp, wr);
}

/* Whether the region, and for persistence the peer, is made for this kind of flush. */
static bool
is_supported(const struct rpma_conn *conn, const struct rpma_mr_remote *mr,
    enum rpma_flush_type type)
{
	if (type == RPMA_FLUSH_TYPE_VISIBILITY) {
		if (mr->usage & RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY)
			return true;
		RPMAI_ERROR("the region was not registered to be made visible");
		return false;
	}
	if (!conn->can_flush_to_pmem) {
		RPMAI_ERROR("the peer has not said that it takes direct writes to "
			    "persistent memory");
		return false;
	}
	if (mr->usage & RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT)
		return true;
	RPMAI_ERROR("the region was not registered to be made persistent");
	return false;
}

int
rpma_flush(struct rpma_conn *conn, struct rpma_mr_remote *dst, size_t dst_offset,
    size_t len, enum rpma_flush_type type, int flags, const void *op_context)
{
	struct ibv_send_wr wr = {
		.wr_id = (uintptr_t)op_context,
		.send_flags = rpmai_send_flags(flags),
	};
	int rc;

	if (!conn || !dst || flags == 0 || !rpmai_mr_remote_has(dst, dst_offset, len) ||
	    (type != RPMA_FLUSH_TYPE_PERSISTENT && type != RPMA_FLUSH_TYPE_VISIBILITY))
		return RPMA_E_INVAL;
	if (!is_supported(conn, dst, type))
		return rpmai_err_set(RPMA_E_NOSUPP, 0);
	if (!conn->queues.qp)
		return rpmai_no_queue_pair();
	if (!(conn->queues.native_ops & RPMA_NATIVE_FLUSH))
		return flush_by_reading(conn, dst, dst_offset, len, &wr);
	rc = rpmai_native_flush(conn->queues.qp, dst, dst_offset, len, (int)type, flags,
	    wr.wr_id);
	return rc ? rpmai_post_failed(rc, "ibv_wr_flush()") : 0;
}
