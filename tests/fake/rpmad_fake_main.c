/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpmad_fake_main.c: rpmad over the doubles. Environment:
 *   RPMAD_FAKE_OPTIONS  options as fake_options_parse() takes them
 *   RPMAD_FAKE_ADDRS    addresses of device 0 besides 127.0.0.1 and ::1, separated by
 * blanks RPMAD_FAKE_GONE     the device is out at the start RPMAD_FAKE_CONTROL  FIFO of
 * commands, see fake_wire_start() The exit status is the daemon's, or 70 when it left
 * objects behind or misused a call, which is told on stderr.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/rpmad.h"
#include "tests/fake/fake.h"

static void
add_addresses(const char *list)
{
	char *copy = strdup(list);
	char *save = NULL;
	char *addr;

	for (addr = copy ? strtok_r(copy, " ", &save) : NULL; addr;
	     addr = strtok_r(NULL, " ", &save))
		fake_addr_add(addr, 0);
	free(copy);
}

static int
prepare(void)
{
	const char *options = getenv("RPMAD_FAKE_OPTIONS");
	const char *addrs = getenv("RPMAD_FAKE_ADDRS");

	if (options && fake_options_parse(options) != 0) {
		fprintf(stderr, "rpmad-fake: RPMAD_FAKE_OPTIONS is not understood\n");
		return -1;
	}
	if (addrs)
		add_addresses(addrs);
	if (getenv("RPMAD_FAKE_GONE"))
		fake_device_remove(0);
	if (fake_wire_start(getenv("RPMAD_FAKE_CONTROL")) != 0) {
		perror("rpmad-fake: wire");
		return -1;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	int rc;

	if (prepare() != 0)
		return 70;
	rc = rpmad_main(argc, argv);
	fake_wire_stop();
	if (*fake_leaks() || *fake_misuse()) {
		fprintf(stderr, "rpmad-fake: left: %s; misuse: %s\n", fake_leaks(),
		    fake_misuse());
		rc = 70;
	}
	fake_reset();
	return rc;
}
