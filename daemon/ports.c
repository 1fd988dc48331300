/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of a device with its hardware counters, as sysfs shows them. */
#include <config.h>

#include "daemon/ports.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/num.h"

/*
 * The names that Linux' drivers give: rxe, mlx5, mlx4, bnxt_re and mana, in this order where they have one. mlx5's out_of_buffer counts
 * messages that found no receive, each of which is answered by such a NAK.
 */
static const char *const names[][6] = {
	[PORT_RNR_SENT] = { "send_rnr_err", "out_of_buffer", "rq_num_rnr",
	    "responder_rnr_nak" },
	[PORT_RNR_RECEIVED] = { "rcvd_rnr_err", "rnr_nak_retry_err", "sq_num_rnr",
	    "rnr_naks_rcvd", "requester_rnr_nak" },
	[PORT_RETRIES_EXCEEDED] = { "retry_exceeded_err",
	    "req_transport_retries_exceeded", "sq_num_tree", "max_retry_exceeded" },
};

static int
add_counter(int dir, const char *name, void *arg)
{
	struct port *port = arg;
	struct port_counter *counters;
	char text[SYSFS_TEXT_MAX];
	uint64_t value;

	/* The kernel's own knob, in milliseconds, lies among them. */
	if (strcmp(name, "lifespan") == 0 || strlen(name) >= SYSFS_TEXT_MAX ||
	    port->counter_count == PORT_COUNTERS_MAX)
		return 0;
	sysfs_text(dir, name, text);
	if (num_parse_u64(text, &value) < 0)
		return 0;
	counters = sysfs_grow(port->counters, port->counter_count, sizeof(*counters));
	if (!counters)
		return -ENOMEM;
	port->counters = counters;
	counters += port->counter_count++;
	(void)snprintf(counters->name, sizeof(counters->name), "%s", name);
	counters->value = value;
	return 0;
}

static int
add_port(int dir, const char *name, void *arg)
{
	struct ports *ports = arg;
	struct port *port;
	uint32_t number;

	if (!sysfs_index(name, &number))
		return 0;
	port = sysfs_grow(ports->list, ports->count, sizeof(*port));
	if (!port)
		return -ENOMEM;
	ports->list = port;
	port += ports->count++;
	port->port = number;
	sysfs_word(dir, "state", port->state);
	sysfs_text(dir, "rate", port->rate);
	return sysfs_each(dir, "hw_counters", add_counter, port);
}

int
ports_read(const char *root, const char *device, struct ports *out)
{
	struct ports ports = { 0 };
	char *path;
	int rc = 0;

	/* A name is one component of a path. */
	if (device[0] != '\0' && device[0] != '.' && !strchr(device, '/')) {
		if (asprintf(&path, "%s/%s/ports", root, device) < 0)
			return -ENOMEM;
		rc = sysfs_each_folder(AT_FDCWD, path, add_port, &ports);
		free(path);
	}
	if (rc < 0) {
		ports_fini(&ports);
		return rc;
	}
	*out = ports;
	return 0;
}

void
ports_fini(struct ports *ports)
{
	size_t i;

	for (i = 0; i < ports->count; i++)
		free(ports->list[i].counters);
	free(ports->list);
	*ports = (struct ports){ 0 };
}

bool
port_counter_by_meaning(const struct port *port, enum port_meaning meaning,
    uint64_t *out)
{
	const char *const *name;
	size_t i;

	for (name = names[meaning]; *name; name++)
		for (i = 0; i < port->counter_count; i++)
			if (strcmp(port->counters[i].name, *name) == 0) {
				*out = port->counters[i].value;
				return true;
			}
	return false;
}
