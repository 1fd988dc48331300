/* SPDX-License-Identifier: BSD-3-Clause */
/* librpmac and a daemon over the doubles, with messages for it. Failures fail the test. */
#ifndef RPMAD_TESTS_UNIT_RPMAC_RIG_H
#define RPMAD_TESTS_UNIT_RPMAC_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/rpmac/librpmac.h"
#include "tests/unit/daemon_rig.h"

#define RPMAC_RIG_ANSWER_MS 20000

/* Start it with that pool: JSON of its members. The rig is zero-initialised. */
void rpmac_rig_start(struct daemon_rig *rig, const char *pool);
/* Its configuration with another pool, for the next process. */
void rpmac_rig_configure(const struct daemon_rig *rig, const char *pool);
/* Have a sender send messages "0 INDEX ..." of so many bytes; its pid. */
pid_t rpmac_rig_send(const struct daemon_rig *rig, unsigned int count,
    unsigned int size);
/* It has ended and all was acknowledged to it. */
void rpmac_rig_sent(pid_t pid);
/* A number of stats.get, by its path: "slots.free". */
long long rpmac_rig_stat(const struct daemon_rig *rig, const char *path);
/* How many calls of a method ended well. */
long long rpmac_rig_calls(const struct daemon_rig *rig, const char *method);
/* Wait until a number is at least that. */
void rpmac_rig_wait(const struct daemon_rig *rig, const char *path, long long at_least);

/* An open handle. */
struct rpmac *rpmac_rig_open(const struct daemon_rig *rig);
/* The next message, which has to come. */
const struct rpmac_msg *rpmac_rig_next(struct rpmac *rpmac);
/* Whether its payload is that of the index-th message of a sender. */
bool rpmac_rig_is(const struct rpmac_msg *msg, unsigned int index, unsigned int size);

#endif
