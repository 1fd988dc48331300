/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of the program when memory is out. */
#include <config.h>

#include "ctl/must.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctl/exit.h"

void *
must(void *allocated)
{
	if (!allocated) {
		(void)fputs("rpmactl: out of memory\n", stderr);
		exit(EXIT_STATUS_FAILED);
	}
	return allocated;
}

void
must_0(int rc)
{
	if (rc != 0)
		(void)must(NULL);
}
