/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of events, and their names, which scripts rely on. */
#ifndef RPMAD_LIB_CORE_EVENT_TYPE_H
#define RPMAD_LIB_CORE_EVENT_TYPE_H

enum event_type {
	EVENT_DAEMON_STARTED,
	EVENT_DAEMON_STOPPING,
	EVENT_DEVICE_OPEN,
	EVENT_DEVICE_LOST,
	EVENT_LISTENER_UP,
	EVENT_LISTENER_DOWN,
	EVENT_CONN_ESTABLISHED,
	EVENT_CONN_CLOSED,
	EVENT_CONN_REJECTED,
	EVENT_SRQ_LOW,
	EVENT_SRQ_EMPTY,
	EVENT_SRQ_REFILLED,
	EVENT_LEDGER_FAULT,
	EVENT_TYPE_COUNT
};

/* "conn.closed". */
const char *event_type_name(enum event_type type);
/* One line for the manual and for help. */
const char *event_type_help(enum event_type type);
/* EVENT_TYPE_COUNT: there is none of that name. */
enum event_type event_type_by_name(const char *name);

#endif
