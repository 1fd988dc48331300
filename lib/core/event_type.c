/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the kinds of events. */
#include <config.h>

#include "lib/core/event_type.h"

#include <string.h>

/* clang-format off */
static const struct {
	const char *name;
	const char *help;
} types[EVENT_TYPE_COUNT] = {
	[EVENT_DAEMON_STARTED]   = { "daemon.started", "the daemon began to serve" },
	[EVENT_DAEMON_STOPPING]  = { "daemon.stopping", "it drains its connections and ends" },
	[EVENT_DEVICE_OPEN]      = { "device.open", "the device serves; reason: its name" },
	[EVENT_DEVICE_LOST]      = { "device.lost", "the device is gone, or failed; reason: which and why" },
	[EVENT_LISTENER_UP]      = { "listener.up", "connections can come to an address" },
	[EVENT_LISTENER_DOWN]    = { "listener.down", "they cannot; reason: why" },
	[EVENT_CONN_ESTABLISHED] = { "conn.established", "a connection was made, either way" },
	[EVENT_CONN_CLOSED]      = { "conn.closed", "it is gone, with all that it had sent received; reason: why" },
	[EVENT_CONN_REJECTED]    = { "conn.rejected", "a peer was refused; reason: why" },
	[EVENT_SRQ_LOW]          = { "srq.low", "fewer receives are posted than receive.low_watermark" },
	[EVENT_SRQ_EMPTY]        = { "srq.empty", "none is posted: senders wait; on iWARP connections end" },
	[EVENT_SRQ_REFILLED]     = { "srq.refilled", "some are again; duration_ns: how long none was" },
	[EVENT_LEDGER_FAULT]     = { "ledger.fault", "counts and records of the pool disagree, a defect, told once; reason: both" },
};
/* clang-format on */

const char *
event_type_name(enum event_type type)
{
	return types[type].name;
}

const char *
event_type_help(enum event_type type)
{
	return types[type].help;
}

enum event_type
event_type_by_name(const char *name)
{
	unsigned int type;

	for (type = 0; type < EVENT_TYPE_COUNT; type++)
		if (strcmp(types[type].name, name) == 0)
			break;
	return (enum event_type)type;
}
