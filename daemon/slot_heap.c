/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap behind "oldest ready message" and "next lease to end". */
#include <config.h>

#include "daemon/slot_heap.h"

#include <errno.h>
#include <stdlib.h>

int
slot_heap_init(struct slot_heap *heap, uint32_t slots)
{
	heap->count = 0;
	heap->items = calloc(slots, sizeof(*heap->items));
	heap->places = calloc(slots, sizeof(*heap->places));
	if (heap->items && heap->places)
		return 0;
	slot_heap_fini(heap);
	return -ENOMEM;
}

void
slot_heap_fini(struct slot_heap *heap)
{
	free(heap->items);
	free(heap->places);
	heap->items = NULL;
	heap->places = NULL;
	heap->count = 0;
}

static void
place(struct slot_heap *heap, uint32_t index, struct slot_heap_item item)
{
	heap->items[index] = item;
	heap->places[item.slot] = index + 1;
}

static void
sift_up(struct slot_heap *heap, uint32_t index, struct slot_heap_item item)
{
	while (index > 0) {
		uint32_t parent = (index - 1) / 2;

		if (heap->items[parent].key <= item.key)
			break;
		place(heap, index, heap->items[parent]);
		index = parent;
	}
	place(heap, index, item);
}

static void
sift_down(struct slot_heap *heap, uint32_t index, struct slot_heap_item item)
{
	for (;;) {
		uint32_t child = 2 * index + 1;

		if (child >= heap->count)
			break;
		if (child + 1 < heap->count &&
		    heap->items[child + 1].key < heap->items[child].key)
			child++;
		if (heap->items[child].key >= item.key)
			break;
		place(heap, index, heap->items[child]);
		index = child;
	}
	place(heap, index, item);
}

void
slot_heap_push(struct slot_heap *heap, uint32_t slot, uint64_t key)
{
	struct slot_heap_item item = { .key = key, .slot = slot };

	sift_up(heap, heap->count++, item);
}

bool
slot_heap_min(const struct slot_heap *heap, struct slot_heap_item *out)
{
	if (heap->count == 0)
		return false;
	*out = heap->items[0];
	return true;
}

bool
slot_heap_has(const struct slot_heap *heap, uint32_t slot)
{
	return heap->places[slot] != 0;
}

void
slot_heap_remove(struct slot_heap *heap, uint32_t slot)
{
	uint32_t index = heap->places[slot];
	struct slot_heap_item last;

	if (index == 0)
		return;
	index--;
	heap->places[slot] = 0;
	last = heap->items[--heap->count];
	if (index == heap->count)
		return;
	if (index > 0 && heap->items[(index - 1) / 2].key > last.key)
		sift_up(heap, index, last);
	else
		sift_down(heap, index, last);
}
