/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "tests/peers/must.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/rpma/librpma.h"

void
must(int result, const char *what)
{
	if (result == 0)
		return;
	(void)fprintf(stderr, "%s: %s: %s (errno %d)\n", program_invocation_short_name,
	    what, rpma_err_2str(result), rpma_err_last_errno());
	exit(1);
}
