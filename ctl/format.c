/* SPDX-License-Identifier: BSD-3-Clause */
/* Times and numbers for people, exact and rough. */
#include <config.h>

#include "ctl/format.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/core/compiler.h"

const char *
format_ms(uint64_t ms, char *buf, size_t size)
{
	if (ms % 1000 == 0)
		(void)snprintf(buf, size, "%" PRIu64 " s", ms / 1000);
	else
		(void)snprintf(buf, size, "%" PRIu64 " ms", ms);
	return buf;
}

const char *
format_age(uint64_t ms, char *buf, size_t size)
{
	uint64_t s = ms / 1000;

	if (s < 10)
		(void)snprintf(buf, size, "%" PRIu64 ".%us", s,
		    (unsigned int)(ms % 1000 / 100));
	else if (s < 60)
		(void)snprintf(buf, size, "%" PRIu64 "s", s);
	else if (s < 3600)
		(void)snprintf(buf, size, "%" PRIu64 "m %" PRIu64 "s", s / 60, s % 60);
	else if (s < 86400)
		(void)snprintf(buf, size, "%" PRIu64 "h %" PRIu64 "m", s / 3600,
		    s % 3600 / 60);
	else
		(void)snprintf(buf, size, "%" PRIu64 "d %" PRIu64 "h", s / 86400,
		    s % 86400 / 3600);
	return buf;
}

/* A number in the first of the units that makes it less than the step to the next. */
static const char *
in_units(uint64_t number, const char *const *units, size_t count, double step,
    char *buf, size_t size)
{
	double value = (double)number;
	size_t unit = 0;

	/* What would be rounded up to a whole step belongs to the next unit. */
	for (; unit + 1 < count && value >= step - 0.05; unit++)
		value /= step;
	(void)snprintf(buf, size, "%.1f%s", value, units[unit]);
	return buf;
}

const char *
format_count(uint64_t count, char *buf, size_t size)
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P", "E" };

	if (count >= 100000)
		return in_units(count, units, ARRAY_LEN(units), 1000, buf, size);
	(void)snprintf(buf, size, "%" PRIu64, count);
	return buf;
}

const char *
format_bytes(uint64_t bytes, char *buf, size_t size)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB",
		"EiB" };

	if (bytes >= 1024)
		return in_units(bytes, units, ARRAY_LEN(units), 1024, buf, size);
	(void)snprintf(buf, size, "%" PRIu64 "B", bytes);
	return buf;
}

const char *
format_ns(uint64_t ns, char *buf, size_t size)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };

	if (ns >= 1000)
		return in_units(ns, units, ARRAY_LEN(units), 1000, buf, size);
	(void)snprintf(buf, size, "%" PRIu64 "ns", ns);
	return buf;
}
