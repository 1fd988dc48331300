/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One client of the control socket: lines in, replies out, and what keeps a client that
 * does not read, or hangs up halfway, from costing more than itself.
 */
#ifndef RPMAD_DAEMON_CONTROL_CLIENT_H
#define RPMAD_DAEMON_CONTROL_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/control_peer.h"
#include "lib/core/compiler.h"

struct client;
struct loop;

/* Unsent bytes above which no more requests of a client are served. */
#define CLIENT_PAUSE_BYTES 262144u
/* Unsent bytes above which a client that is to get yet another reply is dropped. */
#define CLIENT_DROP_BYTES  4194304u
/* How long a client may leave its replies unread, without any progress, in ms. */
#define CLIENT_STALL_MS    10000u

/* What the user of clients is told. None may be NULL. */
struct client_hooks {
	void *arg;
	/*
	 * A client came. *peer holds during the call.
	 * return   what the other hooks get for it; NULL: it is closed, without
	 * on_close
	 */
	void *(*on_open)(void *arg, struct client *client,
	    const struct client_peer *peer);
	/*
	 * line[len] is NUL; it holds during the call and may be changed.
	 * return   true: there is more to do for it, by on_more(), before the next line
	 */
	bool (*on_line)(void *user, char *line, size_t len);
	/* Go on with the last line; the same result. */
	bool (*on_more)(void *user);
	/* A line is longer than the limit; seen: its bytes so far. Its rest is skipped.
	 */
	void (*on_too_large)(void *user, size_t seen);
	/* It has read so much that client_has_room() again. */
	void (*on_room)(void *user);
	/* The last call about a client. Replies on their way were reported before. */
	void (*on_close)(void *user);
};

/* What all clients of a socket have in common; borrowed for their lives. */
struct client_config {
	struct loop *loop;
	size_t max_request;    /* bytes of a line */
	unsigned int stall_ms; /* CLIENT_STALL_MS, tests apart */
	struct client_hooks hooks;
	/* A client has ended; dropped: for not reading, or for want of memory. */
	void (*on_gone)(void *arg, struct client *client, bool dropped);
	void *gone_arg;
};

/*
 * Serve a connected stream socket.
 *
 * fd       non-blocking; taken in any case
 * return   0; -ENOMEM; -ECONNREFUSED on_open() did not want it; another negative errno:
 *          its credentials cannot be read
 */
RPMAD_MUST_USE int client_new(const struct client_config *config, int fd,
    struct client **out);

/* End it now, after one last attempt to write what is left. Calls on_gone(). */
void client_close(struct client *client);

/* Whether the last byte of a reply went to the kernel, or never will. */
typedef void (*client_written_fn)(void *arg, bool written);

/*
 * Queue a reply; it is written soon, never within this call.
 *
 * bytes    from malloc(3), taken in any case
 * fn       called once, later; NULL: nobody wants to know
 * return   0; -ENOMEM, -EPIPE the client is being dropped or reads no more: fn is not
 *          called
 */
RPMAD_MUST_USE int client_send(struct client *client, char *bytes, size_t len,
    client_written_fn fn, void *arg);

/*
 * The same for what it did not ask for. A client may leave that unread for as long as it
 * likes, so the caller sees to it that little waits, by client_has_room() and fn.
 */
RPMAD_MUST_USE int client_notify(struct client *client, char *bytes, size_t len,
    client_written_fn fn, void *arg);

/*
 * Have descriptors go with the first byte of what was queued last, which is not written
 * yet. One that has CLIENT_PASSING_MAX replies with descriptors unread, and is to be given
 * more, is dropped.
 *
 * fds      count of them, 1 .. CLIENT_FDS_MAX; taken in any case
 * source   unix(7) SCM_RIGHTS
 */
void client_pass_fds(struct client *client, const int *fds, size_t count);
#define CLIENT_FDS_MAX     2u
#define CLIENT_PASSING_MAX 2u /* the pool's memory and a ring, each once */

/* The client cannot be served any more (no memory): drop it, soon. */
void client_drop(struct client *client);

/*
 * A reply will come later, or has come: a client that has ended its requests is kept
 * until all of them have.
 */
void client_hold(struct client *client);
void client_release(struct client *client);

/* Whether it reads no more: replies to it are thrown away. */
bool client_is_broken(const struct client *client);

/* Bytes that wait to be written. */
size_t client_unsent(const struct client *client);
/* Whether it ever had no room, which has cost memory. */
bool client_was_full(const struct client *client);
/* Whether a large reply may be added: at most CLIENT_PAUSE_BYTES wait to be written. */
bool client_has_room(const struct client *client);

#endif
