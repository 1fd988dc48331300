/* SPDX-License-Identifier: BSD-3-Clause */
/* serve_verbs_fake.c: the bare loop over the doubles, as rpmad-fake is the daemon. */
#include <config.h>

#include <stdio.h>

#include "tests/bench/serve_verbs.h"
#include "tests/fake/fake.h"

int
main(int argc, char **argv)
{
	int rc;

	if (fake_wire_start(NULL) != 0) {
		perror("serve_verbs_fake: wire");
		return 70;
	}
	rc = serve_verbs(argc, argv);
	fake_wire_stop();
	return rc;
}
