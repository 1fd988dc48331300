/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ref.h: how many need an object: its handle, and what was made from it. So an object
 * that is deleted too early lives until the last of them is gone, instead of being lost.
 */
#ifndef RPMAD_LIB_RPMA_REF_H
#define RPMAD_LIB_RPMA_REF_H

#include <stdatomic.h>
#include <stdbool.h>

struct rpmai_ref {
	atomic_uint count;
};

/* Begin with one, the handle. */
static inline void
rpmai_ref_init(struct rpmai_ref *ref)
{
	atomic_init(&ref->count, 1);
}

static inline void
rpmai_ref_take(struct rpmai_ref *ref)
{
	(void)atomic_fetch_add_explicit(&ref->count, 1, memory_order_relaxed);
}

/* Whether there is more than the handle. */
static inline bool
rpmai_ref_is_shared(struct rpmai_ref *ref)
{
	return atomic_load_explicit(&ref->count, memory_order_relaxed) > 1;
}

/* Returns whether it was the last, so that the object is to be freed. */
static inline bool
rpmai_ref_give(struct rpmai_ref *ref)
{
	return atomic_fetch_sub_explicit(&ref->count, 1, memory_order_acq_rel) == 1;
}

#endif
