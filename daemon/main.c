/* SPDX-License-Identifier: BSD-3-Clause */
/* The program rpmad. */
#include <config.h>

#include "daemon/rpmad.h"

int
main(int argc, char **argv)
{
	return rpmad_main(argc, argv);
}
