/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Something at the other end of librpmac's socket that is no daemon of ours, or a broken
 * one, and the daemon's side of a ring in the hands of the test.
 */
#ifndef RPMAD_TESTS_UNIT_HOSTILE_RIG_H
#define RPMAD_TESTS_UNIT_HOSTILE_RIG_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/core/ring.h"
#include "lib/rpmac/librpmac.h"

#define HOSTILE_POOL_BYTES 4096 /* of 4 slots of 1024 bytes */
#define HOSTILE_ENTRIES    8u
#define HOSTILE_ANSWERS    4u
#define HOSTILE_ANSWER_MS  20000

#define MAP(slots, slot_size, bytes)                                                         \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"instance\":\"c0ffee\",\"slots\":" slots \
	",\"slot_size\":" slot_size ",\"bytes\":" bytes ",\"page_size\":4096}}\n"
#define GOOD_MAP MAP("4", "1024", "4096")
#define RING(entries, bytes)                                                           \
	"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"version\":1,\"entries\":" entries \
	",\"bytes\":" bytes "}}\n"
#define GOOD_RING          RING("8", "8192")
#define HOSTILE_RING_BYTES 8192 /* 4096 + 8 * 256 + 4 * 16, in whole pages */

/* What goes beside a reply. */
enum gift {
	GIFT_NONE,
	GIFT_RING,      /* memory and bell */
	GIFT_RING_ONLY, /* memory without a bell */
	GIFT_RING_POOL, /* another memory, and the bell */
	GIFT_POOL,      /* memory as the daemon's */
	GIFT_MANY,      /* and two more */
	GIFT_UNSEALED,  /* that may become shorter */
	GIFT_PIPE,
	GIFT_ZERO, /* /dev/zero */
};

struct step {
	const char *reply; /* "": none, NULL: the connection ends */
	enum gift gift;
};

/* A pool and a ring as the daemon's, and then nothing. */
extern const struct step hostile_good[];

struct hostile {
	char dir[64], path[80];
	struct rpmac *rpmac;
	pid_t server;
	int ring_fd, bells[2]; /* the daemon's bell, and the reader's */
	struct ring_header *ring;
	struct ring_entry *entries;
	struct ring_answer *answers;
};

void hostile_start(struct hostile *hostile);
void hostile_end(struct hostile *hostile);
/* Another ring, which may become shorter where it is not sealed. */
void hostile_new_ring(struct hostile *hostile, bool is_sealed);

/* Have a server answer each line with the next step; then it reads until the end. */
void hostile_serve(struct hostile *hostile, const struct step *steps);
/* The handle is closed, and the server ends as it should. */
void hostile_stop(struct hostile *hostile);

#endif
