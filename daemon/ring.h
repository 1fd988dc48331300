/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon's side of a ring that it shares with a reader in place: pure memory, no I/O
 * beyond making it. What the reader wrote is looked at once, and believed only as far as it
 * harms nobody else.
 */
#ifndef RPMAD_DAEMON_RING_H
#define RPMAD_DAEMON_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "daemon/region.h"
#include "lib/core/compiler.h"
#include "lib/core/err.h"
#include "lib/core/ring.h"

struct ring {
	struct region memory;
	struct ring_header *header;
	struct ring_entry *entries;
	const struct ring_answer *answers;
	uint32_t entries_mask, answers_mask;
	/* Ours; what the memory says of them is for the reader alone. */
	uint32_t delivered, settled, served, unknown;
	/* Of these, what the reader was shown. */
	uint32_t shown_delivered, shown_settled, shown_served;
	/* The reader's, at the last look. */
	uint32_t granted, answered, request;
	bool is_waiting;
};

/*
 * Make one, open, with nothing in it.
 *
 * entries  RING_ENTRIES_MIN .. RING_ENTRIES_MAX; rounded up to a power of two
 * slots    of the pool: so many answers can be under way
 * return   0; negative errno with err
 */
RPMAD_MUST_USE int ring_new(uint32_t entries, uint32_t slots, struct ring **out,
    struct err *err);
/* NULL is fine. The reader keeps the memory as long as it likes. */
void ring_free(struct ring *ring);

/* Another descriptor of its memory, for the reader. return   0; negative errno with err */
RPMAD_MUST_USE int ring_open_memory(const struct ring *ring, int *fd, struct err *err);
size_t ring_bytes(const struct ring *ring);
uint32_t ring_entries(const struct ring *ring);

/*
 * Look at the reader's counters: for this turn.
 * return   false: they cannot be; text says why
 */
bool ring_look(struct ring *ring, const char **text);
/* What the reader wants at the time of the last look: so many more messages. */
uint32_t ring_room(const struct ring *ring);
/* How many answers named no message that the reader holds. */
uint32_t ring_unknown(const struct ring *ring);

/* That answer named none. */
static inline void
ring_count_unknown(struct ring *ring)
{
	ring->unknown++;
}

/* How many answers there were at the last look that were not taken yet. */
static inline uint32_t
ring_answers(const struct ring *ring)
{
	return ring->answered - ring->settled;
}

/* The next one of them, of which there is one. */
static inline struct ring_answer
ring_next_answer(struct ring *ring)
{
	struct ring_answer answer;

	/* The reader may write there even now. */
	memcpy(&answer, &ring->answers[ring->settled++ & ring->answers_mask],
	    sizeof(answer));
	return answer;
}

/* Where the next message is to be written, of which there is room for one. */
static inline struct ring_entry *
ring_next_entry(struct ring *ring)
{
	return &ring->entries[ring->delivered++ & ring->entries_mask];
}

/*
 * Let the reader see what was written and dealt with in this turn.
 *
 * is_served      its request is: nothing that was ready is left for it
 * wants_answers  tell it to ring for what it has to say: slots, or room
 * return         true: it sleeps, and is to be woken, for there is something new
 */
bool ring_publish(struct ring *ring, bool is_served, bool wants_answers);
/* The end, or the beginning of it. return   true: it sleeps, and is to be woken */
bool ring_set_state(struct ring *ring, enum ring_state state);

#endif
