/* SPDX-License-Identifier: BSD-3-Clause */
/* rpmactl: everything is in libctl.a, so that tests link it too. */
#include <config.h>

#include "ctl/ctl.h"

int
main(int argc, char **argv)
{
	return ctl_main(argc, argv);
}
