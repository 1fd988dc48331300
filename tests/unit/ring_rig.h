/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader's end of a ring, over the control plane of crig.h. Failures fail the test. */
#ifndef RPMAD_TESTS_UNIT_RING_RIG_H
#define RPMAD_TESTS_UNIT_RING_RIG_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/core/ring.h"
#include "tests/unit/crig.h"

#define RING_RIG_SLOTS   16u /* of the pool */
#define RING_RIG_ENTRIES 8u

struct reader {
	struct crig_client client;
	struct ring_header *ring;
	size_t bytes;
	const struct ring_entry *entries;
	struct ring_answer *answers;
	int bell;
};

/* A rig with two clients, of which the first one has a ring; and their end. */
void ring_rig_start(struct crig *rig, struct reader *a, struct reader *b);
/* The slots are in these states. */
void ring_rig_expect(const struct crig *rig, unsigned int free, unsigned int posted,
    unsigned int ready, unsigned int leased);
void ring_rig_end(struct crig *rig, struct reader *a, struct reader *b);

/* Ask for a ring, and map it. */
void reader_open(struct reader *reader);
/* Let go of it, if there is one; the client stays. */
void reader_drop(struct reader *reader);

/* Send a byte, and let the daemon hear it. */
void reader_ring(const struct reader *reader);
/* Whether the daemon has. */
bool reader_has_heard(const struct reader *reader);
/* Whether the daemon has closed its end of the bell. */
bool reader_is_over(const struct reader *reader);
/* Let it bring so many more, as they come. */
void reader_grant(struct reader *reader, uint32_t count);
/* Answer for a message; the daemon is not told. */
void reader_answer(struct reader *reader, const struct ring_entry *entry,
    enum ring_verb verb);
/* A message arrives, and is dealt with. */
void reader_arrive(const struct reader *reader, const char *text);

#endif
