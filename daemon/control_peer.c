/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is at the other end of an AF_UNIX socket. */
#include <config.h>

#include "daemon/control_peer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#define GROUPS_GUESS 64

/* SO_PEERCRED knows the primary group alone. */
static int
read_groups(int fd, struct client_peer *out)
{
	socklen_t size = GROUPS_GUESS * sizeof(gid_t);
	gid_t *grown;

	for (;;) {
		grown = realloc(out->gids, sizeof(gid_t) + size);
		if (!grown)
			return -ENOMEM;
		out->gids = grown;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, grown + 1, &size) == 0)
			break;
		if (errno != ERANGE) {
			/* A kernel before 4.13: the primary group has to do. */
			size = 0;
			break;
		}
	}
	out->gid_count = 1 + size / sizeof(gid_t);
	return 0;
}

int
control_peer_read(int fd, struct client_peer *out)
{
	struct client_peer peer = { 0 };
	struct ucred cred;
	socklen_t size = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0)
		return -errno;
	if (read_groups(fd, &peer) < 0) {
		control_peer_fini(&peer);
		return -ENOMEM;
	}
	peer.pid = cred.pid;
	peer.uid = cred.uid;
	peer.gids[0] = cred.gid;
	*out = peer;
	return 0;
}

void
control_peer_fini(struct client_peer *peer)
{
	free(peer->gids);
	peer->gids = NULL;
}
