/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of result objects as text, tolerant of what is missing; and records of them.
 */
#ifndef RPMAD_CTL_FIELD_H
#define RPMAD_CTL_FIELD_H

#include <stdbool.h>

#include "lib/core/compiler.h"

struct buf;
struct columns;
struct json_t;
struct out;

/* A string member, or "" where there is none. */
const char *field_text(const struct json_t *object, const char *key);
/* An integer member, or 0. */
long long field_number(const struct json_t *object, const char *key);
bool field_is_true(const struct json_t *object, const char *key);
/* Whether the member is there and not null. */
bool field_is_set(const struct json_t *object, const char *key);

/* A value as a cell: "-" where it is null or missing, yes or no for a bool. */
void field_value(struct columns *columns, const struct json_t *value);
/* A member as a cell. */
void field_cell(struct columns *columns, const struct json_t *object, const char *key);

/* "192.0.2.7:7471" or "[2001:db8::1]:7471" from the members addr and port. */
void field_add_endpoint(struct buf *buf, const struct json_t *object);

/* A record: labels and values, one pair a line. */
struct columns *record_new(void);
void record_field(struct columns *record, const char *label,
    const struct json_t *object, const char *key);
void record_printf(struct columns *record, const char *label, const char *fmt, ...)
    RPMAD_PRINTF(3, 4);
/* Print and free it. */
void record_print(struct columns *record, struct out *out);

#endif
