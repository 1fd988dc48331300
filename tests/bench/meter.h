/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many messages the consumer has taken: a page of a file that it and the sender map, so
 * that the sender never has more under way than its receiver has receives for. All servers
 * that are compared are throttled in this way alone, and none runs into an empty queue.
 */
#ifndef RPMAD_TESTS_BENCH_METER_H
#define RPMAD_TESTS_BENCH_METER_H

#include <stdint.h>

struct meter;

/* Map the page of a file, which is made where it is not there; ends the process on errors. */
struct meter *meter_open(const char *path);

/* One message more was taken. */
void meter_add(struct meter *meter);
/* How many were taken since the file was made; it wraps. */
uint32_t meter_read(const struct meter *meter);
/*
 * Sleep until that many were taken.
 *
 * timeout_s   of sleeping
 * return      0; -1 it is over
 */
int meter_wait(struct meter *meter, uint32_t count, unsigned int timeout_s);

/* Say what failed, with errno where it is set, and exit. */
void die(const char *what) __attribute__((noreturn));

#endif
