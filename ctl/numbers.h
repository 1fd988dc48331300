/* SPDX-License-Identifier: BSD-3-Clause */
/* What is in an object of objects, by dotted names: "slots.ready". */
#ifndef RPMAD_CTL_NUMBERS_H
#define RPMAD_CTL_NUMBERS_H

#include <stdbool.h>

struct json_t;

typedef void (*numbers_fn)(void *arg, const char *name, const struct json_t *value);

/*
 * Tell every member that is no object, but for those that are in a name. One of a list of named counts, [{"reason":
 * "peer", "count": 3}], goes by its name behind the list's: "closes.peer"; a bucket of a
 * histogram by its bound: "loop.turn_ns.buckets.le_1024".
 */
void numbers_each(struct json_t *object, numbers_fn fn, void *arg);

/* Whether a name stands below a list, which has only what was counted so far. */
bool numbers_is_in_list(struct json_t *object, const char *name);

#endif
