/* SPDX-License-Identifier: BSD-3-Clause */
/* What is in an object of objects, by dotted names: "slots.ready". */
#ifndef RPMAD_CTL_NUMBERS_H
#define RPMAD_CTL_NUMBERS_H

struct json_t;

typedef void (*numbers_fn)(void *arg, const char *name, const struct json_t *value);

/*
 * Tell every member that is no object. One of a list of named counts, [{"reason":
 * "peer", "count": 3}], goes by its name behind the list's: "closed.peer".
 */
void numbers_each(struct json_t *object, numbers_fn fn, void *arg);

#endif
