/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses that are listened at: what is wanted, and what is up while a device is
 * open. */
#ifndef RPMAD_DAEMON_LISTENERS_H
#define RPMAD_DAEMON_LISTENERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "daemon/device.h"
#include "daemon/engine.h"
#include "lib/core/err.h"

struct rpma_cm;
struct rpma_ep;

struct listener {
	struct listener_info info;
	struct sockaddr_storage
	    wanted;         /* as asked for: port 0 stays 0 until it is up */
	struct rpma_ep *ep; /* NULL: down */
	bool is_asked_for;  /* a call waits for it: who called is told what is wrong */
	char
	    error[sizeof(((struct err *)0)
			     ->text)]; /* why it is down, "" before the first attempt */
};

struct listeners {
	struct listener list[SETTINGS_LISTEN_MAX];
	size_t count;
	uint64_t next_id;
};

/*
 * Want to listen there; it is down at first.
 * return   0; ERR_ALREADY_EXISTS, ERR_LIMIT
 */
RPMAD_MUST_USE int listeners_add(struct listeners *listeners,
    const struct sockaddr_storage *addr, struct listener **out, struct err *err);
/* NULL: no listener has that id, or that endpoint. */
struct listener *listener_by_id(struct listeners *listeners, uint64_t id);
struct listener *listener_by_ep(struct listeners *listeners, const struct rpma_ep *ep);
/* Take it down and forget it. */
void listeners_remove(struct listeners *listeners, struct listener *listener);

/*
 * Begin to listen. A port that was chosen by an earlier call is asked for again.
 * return   0, also when it is up; ERR_ADDR_NOT_RDMA, ERR_ADDR_IN_USE, ERR_WRONG_DEVICE,
 *          ERR_PROVIDER
 */
RPMAD_MUST_USE int listener_up(struct listener *listener, struct rpma_cm *cm,
    struct device *device, struct err *err);
void listener_down(struct listener *listener);

#endif
