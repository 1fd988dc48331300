/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is at the other end of an AF_UNIX socket. */
#ifndef RPMAD_DAEMON_CONTROL_PEER_H
#define RPMAD_DAEMON_CONTROL_PEER_H

#include <stddef.h>
#include <sys/types.h>

#include "lib/core/compiler.h"

struct client_peer {
	pid_t pid;
	uid_t uid;
	gid_t *gids; /* all its groups, the primary one first; owned */
	size_t gid_count;
};

/*
 * Read the credentials that the peer had when it connected.
 *
 * return   0; -ENOMEM; another negative errno: the kernel does not tell
 * source   unix(7), SO_PEERCRED; socket(7), SO_PEERGROUPS
 */
RPMAD_MUST_USE int control_peer_read(int fd, struct client_peer *out);
void control_peer_fini(struct client_peer *peer);

#endif
