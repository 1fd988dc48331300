/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket: accepts clients up to a limit, and survives a want of
 * descriptors.
 */
#ifndef RPMAD_DAEMON_CONTROL_H
#define RPMAD_DAEMON_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/control_client.h"
#include "lib/core/err.h"

struct control;
struct loop;

struct control_config {
	int listen_fd;            /* borrowed, made non-blocking; -1: none */
	unsigned int max_clients; /* at least 1 */
	size_t max_request;       /* bytes of a line */
	unsigned int stall_ms;    /* 0: CLIENT_STALL_MS */
	const char *refusal;      /* what one client too many is told; borrowed */
	struct client_hooks hooks;
};

struct control_stats {
	unsigned int clients;
	uint64_t clients_total;
	uint64_t refused; /* too many at a time */
	uint64_t dropped; /* did not read, or for want of memory */
};

/* return   0; -ENOMEM (ERR_INTERNAL_ERROR) */
RPMAD_MUST_USE int control_new(struct loop *loop, const struct control_config *config,
    struct control **out, struct err *err);
/* Ends all clients. NULL is fine. */
void control_free(struct control *control);

/* Serve a connected socket as if it had been accepted; fd is taken. For tests. */
void control_adopt(struct control *control, int fd);

/* Whether all replies are written. */
bool control_is_drained(const struct control *control);
void control_get_stats(const struct control *control, struct control_stats *out);

#endif
