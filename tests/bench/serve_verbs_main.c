/* SPDX-License-Identifier: BSD-3-Clause */
/* serve_verbs_main.c: the bare loop over the device that there is. */
#include "tests/bench/serve_verbs.h"

int
main(int argc, char **argv)
{
	return serve_verbs(argc, argv);
}
