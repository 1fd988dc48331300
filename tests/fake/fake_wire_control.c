/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_wire_control.c: commands to a running fake, from a FIFO. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fake/fake_wire_impl.h"

int
wire_control_open(struct fake_wire *wire, const char *path)
{
	wire->control_fd = -1;
	if (!path)
		return 0;
	if (mkfifo(path, 0600) != 0 && errno != EEXIST)
		return -1;
	/* Open for writing too, so that it never ends. */
	wire->control_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return wire->control_fd < 0 ? -1 : 0;
}

static void
obey(const char *line)
{
	unsigned device = 0;
	unsigned n = 0;
	unsigned qp_num = 0;
	int number = 0;
	char text[64];

	if (strncmp(line, "set ", 4) == 0 && fake_options_parse(line + 4) == 0)
		return;
	if (sscanf(line, "remove %u", &device) == 1)
		fake_device_remove(device);
	else if (sscanf(line, "return %u", &device) == 1)
		fake_device_return(device);
	else if (sscanf(line, "add %63s %u", text, &device) == 2)
		fake_addr_add(text, device);
	else if (sscanf(line, "local %63s", text) == 1)
		fake_addr_local(text);
	else if (sscanf(line, "fail %63s %u %d", text, &n, &number) == 3)
		fake_fail_call(text, n, number);
	else if (sscanf(line, "async %u %d", &device, &number) == 2)
		fake_async_event(device, number, 0, 1);
	else if (sscanf(line, "complete %u %u %d", &qp_num, &n, &number) == 3)
		fake_inject_wc(qp_num, n, number);
	else if (strcmp(line, "hold") == 0)
		fake_cm_hold(true);
	else if (strcmp(line, "release") == 0) {
		fake_cm_hold(false);
		fake_cm_release(0);
	} else
		fprintf(stderr, "fake: command \"%s\" is not understood\n", line);
}

void
wire_control_read(struct fake_wire *wire)
{
	char chunk[256];
	ssize_t n = read(wire->control_fd, chunk, sizeof(chunk));
	ssize_t i;

	for (i = 0; i < n; i++) {
		if (chunk[i] != '\n') {
			if (wire->line_len < sizeof(wire->line) - 1)
				wire->line[wire->line_len++] = chunk[i];
			continue;
		}
		wire->line[wire->line_len] = '\0';
		wire->line_len = 0;
		obey(wire->line);
	}
}
