/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary min-heap of slots by a 64-bit key, each slot in it at most once. */
#ifndef RPMAD_DAEMON_SLOT_HEAP_H
#define RPMAD_DAEMON_SLOT_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/core/compiler.h"

struct slot_heap_item {
	uint64_t key;
	uint32_t slot;
};

struct slot_heap {
	struct slot_heap_item *items;
	uint32_t *places; /* by slot: index + 1, 0: not in the heap */
	uint32_t count;
};

/* For slots 0 .. slots - 1. return 0; -ENOMEM (nothing to be freed) */
RPMAD_MUST_USE int slot_heap_init(struct slot_heap *heap, uint32_t slots);
void slot_heap_fini(struct slot_heap *heap);

/* slot is not in the heap; O(log count), O(1) for the largest key. */
void slot_heap_push(struct slot_heap *heap, uint32_t slot, uint64_t key);
/* The least one; false: the heap is empty. */
bool slot_heap_min(const struct slot_heap *heap, struct slot_heap_item *out);
bool slot_heap_has(const struct slot_heap *heap, uint32_t slot);
/* Take a slot out; nothing happens when it is not in. */
void slot_heap_remove(struct slot_heap *heap, uint32_t slot);

#endif
