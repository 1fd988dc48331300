/* SPDX-License-Identifier: BSD-3-Clause */
/* One client of the control socket: its buffers, its pace and its end. */
#include <config.h>

#include "daemon/control_client_impl.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/event.h>

#include "lib/core/frame.h"
#include "lib/core/log.h"

#define READ_SIZE   16384    /* bytes of one recv(2) */
#define READ_BUDGET 16       /* of them in a turn */
#define LINE_BUDGET 32       /* lines served in a turn */
#define TIME_BUDGET 2000000u /* ns of serving in a turn, the last line apart */

/* ---- input ---- */

/* Read once. false: there is nothing more to read for now. */
static bool
read_some(struct client *client)
{
	char bytes[READ_SIZE];
	ssize_t n;

	do
		n = recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		/* What it had asked before it was gone is served all the same. */
		if (n < 0)
			client_break_output(client);
		client->at_eof = true;
		return true;
	}
	if (frame_append(client->in, bytes, (size_t)n) < 0) {
		log_warning("control", "pid=%ld dropped: no memory for its request",
		    (long)client->pid);
		client->is_doomed = true;
		return false;
	}
	return true;
}

/* Serve what has come, as far as the budgets go. */
static void
serve(struct client *client)
{
	const struct client_hooks *hooks = &client->config->hooks;
	unsigned int lines = LINE_BUDGET, reads = READ_BUDGET;
	const uint64_t end_ns = loop_now_ns() + TIME_BUDGET;
	size_t len;
	char *line;

	while (!client->is_served && !client->is_doomed && client_has_room(client)) {
		enum frame_result result;

		if (lines == 0 || reads == 0 || loop_now_ns() > end_ns) {
			loop_defer(client->config->loop, &client->work);
			return;
		}
		if (client->has_more) {
			client->has_more = hooks->on_more(client->user);
			continue;
		}
		result = client->at_eof ? frame_finish(client->in, &line, &len)
					: frame_next(client->in, &line, &len);
		switch (result) {
		case FRAME_LINE:
			lines--;
			client->has_more = hooks->on_line(client->user, line, len);
			break;
		case FRAME_TOO_LARGE:
			lines--;
			hooks->on_too_large(client->user, len);
			break;
		case FRAME_MORE:
			reads--;
			if (client->at_eof)
				client->is_served = true;
			else if (!read_some(client))
				return;
			break;
		}
	}
}

/* ---- the whole ---- */

/* Whether both directions are closed at the other end. */
static bool
is_hung_up(const struct client *client)
{
	struct pollfd pfd = { .fd = client->fd };

	return poll(&pfd, 1, 0) > 0 && pfd.revents & (POLLHUP | POLLERR);
}

static void
free_memory(void *arg)
{
	struct client *client = arg;

	frame_free(client->in);
	if (client->out)
		evbuffer_free(client->out);
	loop_timer_free(client->stall_timer);
	free(client->event);
	free(client);
}

static void
end(struct client *client, bool dropped)
{
	loop_defer_cancel(client->config->loop, &client->work);
	loop_timer_stop(client->stall_timer);
	if (client->armed)
		(void)event_del(client->event); /* fails for no event of ours */
	client->armed = 0;
	client_break_output(client);
	client->config->hooks.on_close(client->user);
	(void)close(client->fd);
	client->config->on_gone(client->config->gone_arg, client, dropped);
	/* on_close() may have asked for more work. */
	loop_defer_cancel(client->config->loop, &client->work);
	loop_defer(client->config->loop, &client->destroy);
}

static void client_work(void *arg);

static void
on_event(evutil_socket_t fd, short what, void *arg)
{
	struct client *client = arg;

	(void)fd;
	(void)what;
	loop_serving(client->config->loop);
	client_work(client);
}

/*
 * Wait for what can go on. After the end of its requests the descriptor would stay
 * readable for ever; then only edges count, by which its complete end shows as well.
 */
static int
arm(struct client *client)
{
	short wanted = EV_PERSIST;

	if (client->at_eof) {
		wanted |= EV_WRITE | EV_ET;
	} else {
		if (client_has_room(client))
			wanted |= EV_READ;
		if (client_unsent(client) > 0)
			wanted |= EV_WRITE;
	}
	if (wanted == client->armed)
		return 0;
	if (client->armed)
		(void)event_del(client->event); /* fails for no event of ours */
	client->armed = 0;
	if (event_assign(client->event, loop_base(client->config->loop), client->fd,
		wanted, on_event, client) < 0 ||
	    event_add(client->event, NULL) < 0)
		return -ENOMEM;
	client->armed = wanted;
	return 0;
}

/* Everything there is to do for a client at the moment. */
static void
client_work(void *arg)
{
	struct client *client = arg;

	client_flush(client);
	serve(client);
	client_flush(client);
	if (client->is_doomed)
		end(client, true);
	else if (client->is_served && client_unsent(client) == 0 &&
	    (client->holds == 0 || client->is_broken))
		end(client, false);
	else if (client->is_served && is_hung_up(client))
		end(client, false);
	else if (arm(client) < 0)
		end(client, true);
}

/*
 * Nothing was written for long. A socket becomes writable only when most of it was
 * read, so a slow reader shows by trying.
 */
static void
on_stall(void *arg)
{
	struct client *client = arg;
	const uint64_t before = client->written;

	client_flush(client);
	if (client->written != before || client_unsent(client) == 0) {
		client_work(client);
		return;
	}
	log_notice("control", "pid=%ld dropped: it read nothing for %u ms",
	    (long)client->pid, client->config->stall_ms);
	end(client, true);
}

/* Tell the user of clients that one came. */
static int
introduce(struct client *client)
{
	const struct client_hooks *hooks = &client->config->hooks;
	struct client_peer peer;
	int rc = control_peer_read(client->fd, &peer);

	if (rc < 0)
		return rc;
	client->pid = peer.pid;
	client->user = hooks->on_open(hooks->arg, client, &peer);
	control_peer_fini(&peer);
	return client->user ? 0 : -ECONNREFUSED;
}

int
client_new(const struct client_config *config, int fd, struct client **out)
{
	struct client *client = calloc(1, sizeof(*client));
	int rc = -ENOMEM;

	if (!client) {
		(void)close(fd);
		return rc;
	}
	client->config = config;
	client->fd = fd;
	client->work = (struct loop_deferred){ .fn = client_work, .arg = client };
	client->destroy = (struct loop_deferred){ .fn = free_memory, .arg = client };
	STAILQ_INIT(&client->marks);
	client->out = evbuffer_new();
	client->event = calloc(1, event_get_struct_event_size());
	if (!client->out || !client->event ||
	    frame_new(config->max_request, &client->in) < 0 ||
	    loop_timer_new(config->loop, on_stall, client, &client->stall_timer) < 0)
		goto fail;
	rc = arm(client);
	if (rc < 0)
		goto fail;
	rc = introduce(client);
	if (rc < 0)
		goto fail;
	*out = client;
	return 0;

fail:
	loop_defer_cancel(config->loop, &client->work);
	if (client->armed)
		(void)event_del(client->event); /* fails for no event of ours */
	client_report(client, false);
	(void)close(fd);
	free_memory(client);
	return rc;
}

void
client_close(struct client *client)
{
	client_flush(client);
	end(client, false);
}
