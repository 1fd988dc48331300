/* SPDX-License-Identifier: BSD-3-Clause */
/* Times for people, exact and rough. */
#include <config.h>

#include "ctl/format.h"

#include <inttypes.h>
#include <stdio.h>

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
