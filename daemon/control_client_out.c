/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client is sent: queued, written as far as it reads, and reported. */
#include <config.h>

#include "daemon/control_client_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <event2/buffer.h>

#include "lib/core/log.h"

_Static_assert(CMSG_SPACE(sizeof(int)) == CMSG_SPACE(CLIENT_FDS_MAX * sizeof(int)),
    "what is behind one descriptor is no header of another");

#define WRITE_PIECES 16 /* of one sendmsg(2) */

void
client_report(struct client *client, bool written)
{
	struct mark *mark;

	while ((mark = STAILQ_FIRST(&client->marks))) {
		if (written && mark->end > client->written)
			return;
		STAILQ_REMOVE_HEAD(&client->marks, link);
		mark->fn(mark->arg, written);
		free(mark);
	}
}

static void
close_fds(const int *fds, size_t count)
{
	while (count > 0)
		(void)close(fds[--count]);
}

/* Those that are the next to go are the client's, or nobody's. */
static void
drop_next_fds(struct client *client)
{
	close_fds(client->passing[0].fds, client->passing[0].count);
	client->passing_count--;
	memmove(client->passing, client->passing + 1,
	    client->passing_count * sizeof(client->passing[0]));
}

void
client_break_output(struct client *client)
{
	client->is_broken = true;
	(void)evbuffer_drain(client->out, evbuffer_get_length(client->out));
	while (client->passing_count > 0)
		drop_next_fds(client);
	client_report(client, false);
}

/* How many bytes may be written at once: descriptors go with their own bytes alone. */
static size_t
sendable(const struct client *client)
{
	size_t i;

	for (i = 0; i < client->passing_count; i++)
		if (client->passing[i].at > client->written)
			return (size_t)(client->passing[i].at - client->written);
	return SIZE_MAX;
}

/* Put descriptors beside the bytes of a message. */
static void
add_fds(struct msghdr *msg, void *control, const struct passing *passing)
{
	const size_t bytes = passing->count * sizeof(passing->fds[0]);
	struct cmsghdr *cmsg;

	msg->msg_control = control;
	/* As much for one as for two. */
	msg->msg_controllen = CMSG_SPACE(sizeof(passing->fds));
	cmsg = CMSG_FIRSTHDR(msg);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(cmsg), passing->fds, bytes);
}

/* One sendmsg(2). return   bytes, or a negative errno */
static ssize_t
write_some(struct client *client)
{
	_Alignas(struct cmsghdr) char
	    control[CMSG_SPACE(CLIENT_FDS_MAX * sizeof(int))] = { 0 };
	struct evbuffer_iovec pieces[WRITE_PIECES];
	struct iovec iov[WRITE_PIECES];
	struct msghdr msg = { .msg_iov = iov };
	size_t left = sendable(client);
	ssize_t n;
	int i, count;

	count = evbuffer_peek(client->out, -1, NULL, pieces, WRITE_PIECES);
	for (i = 0; i < count && i < WRITE_PIECES && left > 0; i++) {
		iov[i].iov_base = pieces[i].iov_base;
		iov[i].iov_len = pieces[i].iov_len < left ? pieces[i].iov_len : left;
		left -= iov[i].iov_len;
	}
	msg.msg_iovlen = (size_t)i;
	if (client->passing_count > 0 && client->written == client->passing[0].at)
		add_fds(&msg, control, client->passing);
	do
		n = sendmsg(client->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (msg.msg_control)
		drop_next_fds(client);
	return n;
}

void
client_flush(struct client *client)
{
	bool has_progressed = false;
	ssize_t n = 0;

	while (evbuffer_get_length(client->out) > 0) {
		n = write_some(client);
		if (n < 0)
			break;
		has_progressed = true;
		(void)evbuffer_drain(client->out, (size_t)n);
		client->written += (uint64_t)n;
	}
	if (n == -ETOOMANYREFS) {
		log_warning("control",
		    "pid=%ld dropped: too many descriptors are on their way to clients",
		    (long)client->pid);
		client->is_doomed = true;
	} else if (n < 0 && n != -EAGAIN) {
		client_break_output(client);
	}
	client_report(client, true);
	if (client->is_full && client_has_room(client)) {
		client->is_full = false;
		client->config->hooks.on_room(client->user);
	}
	if (evbuffer_get_length(client->out) == 0 ||
	    client->written >= client->replied) {
		loop_timer_stop(client->stall_timer);
		client->is_stalling = false;
	} else if (has_progressed || !client->is_stalling) {
		loop_timer_start(client->stall_timer, client->config->stall_ms);
		client->is_stalling = true;
	}
}

static void
free_bytes(const void *data, size_t len, void *bytes)
{
	(void)data;
	(void)len;
	free(bytes);
}

int
client_notify(struct client *client, char *bytes, size_t len, client_written_fn fn,
    void *arg)
{
	struct mark *mark = NULL;
	int rc = -EPIPE;

	if (client->is_broken || client->is_doomed)
		goto fail;
	rc = -ENOMEM;
	if (fn) {
		mark = malloc(sizeof(*mark));
		if (!mark)
			goto fail;
		*mark =
		    (struct mark){ .end = client->queued + len, .fn = fn, .arg = arg };
	}
	if (evbuffer_add_reference(client->out, bytes, len, free_bytes, bytes) < 0)
		goto fail;
	client->last = client->queued;
	client->queued += len;
	client->is_full = !client_has_room(client);
	client->was_full |= client->is_full;
	if (mark)
		STAILQ_INSERT_TAIL(&client->marks, mark, link);
	loop_defer(client->config->loop, &client->work);
	return 0;

fail:
	free(mark);
	free(bytes);
	return rc;
}

int
client_send(struct client *client, char *bytes, size_t len, client_written_fn fn,
    void *arg)
{
	int rc;

	if (!client->is_doomed &&
	    evbuffer_get_length(client->out) > CLIENT_DROP_BYTES) {
		log_notice("control", "pid=%ld dropped: it leaves its replies unread",
		    (long)client->pid);
		client_drop(client);
	}
	rc = client_notify(client, bytes, len, fn, arg);
	if (rc == 0)
		client->replied = client->queued;
	return rc;
}

void
client_pass_fds(struct client *client, const int *fds, size_t count)
{
	struct passing *passing;

	if (client->passing_count == CLIENT_PASSING_MAX) {
		log_notice("control",
		    "pid=%ld dropped: it leaves replies with descriptors unread",
		    (long)client->pid);
		client_drop(client);
	}
	if (client->is_broken || client->is_doomed) {
		close_fds(fds, count);
		return;
	}
	passing = &client->passing[client->passing_count++];
	memcpy(passing->fds, fds, count * sizeof(*fds));
	passing->count = count;
	passing->at = client->last;
}

void
client_drop(struct client *client)
{
	client->is_doomed = true;
	loop_defer(client->config->loop, &client->work);
}

void
client_hold(struct client *client)
{
	client->holds++;
}

void
client_release(struct client *client)
{
	client->holds--;
	loop_defer(client->config->loop, &client->work);
}

bool
client_is_broken(const struct client *client)
{
	return client->is_broken;
}

size_t
client_unsent(const struct client *client)
{
	return evbuffer_get_length(client->out);
}

bool
client_was_full(const struct client *client)
{
	return client->was_full;
}

bool
client_has_room(const struct client *client)
{
	return client_unsent(client) <= CLIENT_PAUSE_BYTES;
}
