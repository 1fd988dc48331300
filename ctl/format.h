/* SPDX-License-Identifier: BSD-3-Clause */
/* Times and numbers for people. */
#ifndef RPMAD_CTL_FORMAT_H
#define RPMAD_CTL_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/* Long enough for what these functions write, and the NUL. */
#define FORMAT_TIME_MAX 40

/* Exactly: "10 s", "250 ms"; buf is returned. */
const char *format_ms(uint64_t ms, char *buf, size_t size);

/* Roughly, in the two largest units: "3d 4h", "2m 5s", "0.8s"; buf is returned. */
const char *format_age(uint64_t ms, char *buf, size_t size);

/*
 * Roughly, with one digit behind the point: "99999", "1.2M"; "512B", "1.5KiB"; "512ns",
 * "4.1us", "1099.5s". buf is returned.
 */
const char *format_count(uint64_t count, char *buf, size_t size);
const char *format_bytes(uint64_t bytes, char *buf, size_t size);
const char *format_ns(uint64_t ns, char *buf, size_t size);

#endif
