/* SPDX-License-Identifier: BSD-3-Clause */
/* batch.c: many receives for a shared receive queue by one call. */
#include <config.h>

#include "lib/rpma/batch.h"

#include <stdlib.h>

#include "lib/rpma/librpma.h"
#include "lib/rpma/mr.h"
#include "lib/rpma/post.h"
#include "lib/rpma/srq.h"

/* A receive and its memory. */
struct slot {
	struct ibv_recv_wr wr;
	struct ibv_sge sge;
};

/*
 * Between calls each receive points to the next one and to its own memory, of which it
 * has one piece with this key.
 */
struct rpmai_batch {
	struct slot slots[RPMA_SRQ_BATCH_MAX];
	uint32_t lkey;
};

struct rpmai_batch *
rpmai_batch_new(void)
{
	struct rpmai_batch *batch = calloc(1, sizeof(*batch));

	if (!batch)
		return NULL;
	for (size_t i = 0; i < RPMA_SRQ_BATCH_MAX; i++) {
		struct slot *slot = &batch->slots[i];

		if (i + 1 < RPMA_SRQ_BATCH_MAX)
			slot->wr.next = &batch->slots[i + 1].wr;
		slot->wr.sg_list = &slot->sge;
		slot->wr.num_sge = 1;
	}
	return batch;
}

static void __attribute__((noinline)) set_lkey(struct rpmai_batch *batch, uint32_t lkey)
{
	batch->lkey = lkey;
	for (size_t i = 0; i < RPMA_SRQ_BATCH_MAX; i++)
		batch->slots[i].sge.lkey = lkey;
}

/*
 * Fill in one receive. The result has a bit over the 32nd if the buffer is empty or not
 * within the region; last is the region's size less 1, below 2^32.
 */
static inline uint64_t
fill_one(struct slot *slot, const struct rpma_srq_buf *buf, uintptr_t base,
    uint64_t last)
{
	uint64_t offset = buf->offset;
	uint64_t rest = (uint64_t)buf->len - 1;

	slot->wr.wr_id = (uintptr_t)buf->op_context;
	slot->sge.addr = base + offset;
	slot->sge.length = (uint32_t)buf->len;
	return offset | rest | (last - offset - rest);
}

/* Fill in n receives; false: something is unusual, and nothing of it is to be posted. */
static inline bool
fill(struct rpmai_batch *batch, const struct rpma_mr_local *dst,
    const struct rpma_srq_buf *bufs, size_t n)
{
	const struct rpma_srq_buf *end = bufs + n;
	struct slot *slot = batch->slots;
	uintptr_t base = dst->base;
	uint64_t last = dst->size - 1;
	uint64_t found = last;

	for (; n & 3; n--)
		found |= fill_one(slot++, bufs++, base, last);
	for (; bufs != end; slot += 4, bufs += 4) {
		found |= fill_one(slot, bufs, base, last);
		found |= fill_one(slot + 1, bufs + 1, base, last);
		found |= fill_one(slot + 2, bufs + 2, base, last);
		found |= fill_one(slot + 3, bufs + 3, base, last);
	}
	return found >> 32 == 0 && last != UINT32_MAX;
}

/* The same one by one, for regions of any size and for empty buffers. */
static int __attribute__((noinline)) fill_with_care(struct rpmai_batch *batch,
    const struct rpma_mr_local *dst, const struct rpma_srq_buf *bufs, size_t n)
{
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		struct slot *slot = &batch->slots[i];

		slot->wr.wr_id = (uintptr_t)bufs[i].op_context;
		ret = rpmai_mr_range(dst, bufs[i].offset, bufs[i].len, &slot->sge,
		    &slot->wr.num_sge);
	}
	return ret;
}

/* The provider refused a receive: how many it took before that. */
static int __attribute__((cold, noinline)) refused(const struct rpmai_batch *batch,
    const struct ibv_recv_wr *bad, int rc, size_t *posted)
{
	size_t n = 0;

	while (n < RPMA_SRQ_BATCH_MAX && bad != &batch->slots[n].wr)
		n++;
	*posted = n < RPMA_SRQ_BATCH_MAX ? n : 0;
	return rpmai_post_failed(rc, "ibv_post_srq_recv()");
}

/* Post the first n of a batch, which is left as it was. */
static inline int
post(struct rpma_srq *srq, size_t n, size_t *posted)
{
	struct rpmai_batch *batch = srq->batch;
	struct ibv_recv_wr *last = &batch->slots[n - 1].wr;
	struct ibv_recv_wr *next = last->next;
	struct ibv_recv_wr *bad = NULL;
	int rc;

	last->next = NULL;
	rc = ibv_post_srq_recv(srq->ibv_srq, &batch->slots[0].wr, &bad);
	last->next = next;
	if (rc)
		return refused(batch, bad, rc, posted);
	*posted = n;
	return 0;
}

int
rpma_srq_recv_batch(struct rpma_srq *srq, struct rpma_mr_local *dst,
    const struct rpma_srq_buf *bufs, size_t n, size_t *posted)
{
	int ret;

	if (!srq || !dst || !bufs || !posted || n == 0 || n > RPMA_SRQ_BATCH_MAX)
		return RPMA_E_INVAL;
	if (srq->batch->lkey != dst->lkey)
		set_lkey(srq->batch, dst->lkey);
	if (fill(srq->batch, dst, bufs, n))
		return post(srq, n, posted);
	ret = fill_with_care(srq->batch, dst, bufs, n);
	if (!ret)
		ret = post(srq, n, posted);
	for (size_t i = 0; i < n; i++)
		srq->batch->slots[i].wr.num_sge = 1;
	return ret;
}
