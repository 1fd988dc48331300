/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket: the accept loop and the list of clients. */
#include <config.h>

#include "daemon/control.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>

#include "daemon/loop.h"
#include "lib/core/log.h"

#define ACCEPT_BUDGET    16 /* clients in a turn */
#define PAUSE_MIN_MS     100
#define PAUSE_MAX_MS     1000
#define DISCARD_SIZE     4096
#define DISCARD_COUNT    64 /* of them: as much as a socket buffer holds */
#define ERRNO_TEXT_MAX   128
#define COMPLAIN_EACH_MS 60000
#define TRIM_DELAY_MS    200 /* lets several clients that leave count as one */

struct control {
	struct loop *loop;
	struct control_config config;
	struct client_config client_config;
	struct client **clients; /* max_clients places, the first stats.clients taken */
	struct control_stats stats;
	struct event *accept_event;
	struct loop_timer *resume_timer;
	struct loop_timer *trim_timer;
	unsigned int pause_ms; /* the next one when descriptors are short */
	struct log_limit complaints;
};

static void
on_gone(void *arg, struct client *client, bool dropped)
{
	struct control *control = arg;
	unsigned int i;

	if (dropped)
		control->stats.dropped++;
	if (client_was_full(client))
		loop_timer_start(control->trim_timer, TRIM_DELAY_MS);
	for (i = 0; control->clients[i] != client; i++)
		continue;
	control->clients[i] = control->clients[--control->stats.clients];
}

/* What clients that did not read have cost goes back to the system: between what is
 * still in use the allocator would keep it. */
static void
on_trim(void *arg)
{
	(void)arg;
	(void)malloc_trim(0); /* tells whether there was any */
}

/* Tell one client too many why it is closed. */
static void
refuse(struct control *control, int fd)
{
	char discarded[DISCARD_SIZE];
	unsigned int i;

	control->stats.refused++;
	log_debug("control", "refused: %u clients are served", control->stats.clients);
	/* Bytes left unread would turn the close into a reset. */
	for (i = 0; i < DISCARD_COUNT; i++)
		if (recv(fd, discarded, sizeof(discarded), MSG_DONTWAIT) <= 0)
			break;
	/* An answer that does not fit is not given. */
	(void)send(fd, control->config.refusal, strlen(control->config.refusal),
	    MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)close(fd);
}

void
control_adopt(struct control *control, int fd)
{
	struct client *client;
	char text[ERRNO_TEXT_MAX];
	int rc;

	if (control->stats.clients >= control->config.max_clients) {
		refuse(control, fd);
		return;
	}
	rc = client_new(&control->client_config, fd, &client);
	if (rc < 0) {
		log_warning("control", "a client could not be served: %s",
		    err_errno_text(-rc, text, sizeof(text)));
		return;
	}
	control->clients[control->stats.clients++] = client;
	control->stats.clients_total++;
}

/* accept(2) would fail again at once: look away for a while. */
static void
pause_accept(struct control *control, int errnum)
{
	char text[ERRNO_TEXT_MAX];
	unsigned int suppressed;

	if (log_limit_pass(&control->complaints, loop_now_ns() / 1000000, &suppressed))
		log_warning("control", "cannot accept clients for a while: %s",
		    err_errno_text(errnum, text, sizeof(text)));
	(void)event_del(control->accept_event); /* fails for no event of ours */
	loop_timer_start(control->resume_timer, control->pause_ms);
	control->pause_ms *= 2;
	if (control->pause_ms > PAUSE_MAX_MS)
		control->pause_ms = PAUSE_MAX_MS;
}

static void
on_resume(void *arg)
{
	struct control *control = arg;

	if (event_add(control->accept_event, NULL) < 0)
		loop_timer_start(control->resume_timer, PAUSE_MAX_MS);
}

static void
on_accept(evutil_socket_t listen_fd, short what, void *arg)
{
	struct control *control = arg;
	unsigned int i;
	int fd;

	(void)what;
	loop_serving(control->loop);
	for (i = 0; i < ACCEPT_BUDGET; i++) {
		fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			control->pause_ms = PAUSE_MIN_MS;
			control_adopt(control, fd);
		} else if (errno == EAGAIN) {
			return;
		} else if (errno != EINTR && errno != ECONNABORTED) {
			pause_accept(control, errno);
			return;
		}
	}
}

static int
listen_on(struct control *control, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	control->accept_event = event_new(loop_base(control->loop), fd,
	    EV_READ | EV_PERSIST, on_accept, control);
	if (!control->accept_event || event_add(control->accept_event, NULL) < 0)
		return -ENOMEM;
	return 0;
}

int
control_new(struct loop *loop, const struct control_config *config,
    struct control **out, struct err *err)
{
	struct control *control = calloc(1, sizeof(*control));
	int rc = -ENOMEM;

	if (!control)
		goto fail;
	control->loop = loop;
	control->config = *config;
	control->pause_ms = PAUSE_MIN_MS;
	control->complaints =
	    (struct log_limit){ .burst = 1, .interval_ms = COMPLAIN_EACH_MS };
	control->client_config = (struct client_config){ .loop = loop,
		.max_request = config->max_request,
		.stall_ms = config->stall_ms ? config->stall_ms : CLIENT_STALL_MS,
		.hooks = config->hooks,
		.on_gone = on_gone,
		.gone_arg = control };
	control->clients = calloc(config->max_clients, sizeof(control->clients[0]));
	if (!control->clients)
		goto fail;
	rc = loop_timer_new(loop, on_resume, control, &control->resume_timer);
	if (rc == 0)
		rc = loop_timer_new(loop, on_trim, control, &control->trim_timer);
	if (rc < 0)
		goto fail;
	if (config->listen_fd >= 0)
		rc = listen_on(control, config->listen_fd);
	if (rc < 0)
		goto fail;
	*out = control;
	return 0;

fail:
	control_free(control);
	(void)err_set(err, ERR_INTERNAL_ERROR, -rc, "cannot serve the control socket");
	return rc;
}

void
control_free(struct control *control)
{
	if (!control)
		return;
	while (control->stats.clients > 0)
		client_close(control->clients[control->stats.clients - 1]);
	if (control->accept_event)
		event_free(control->accept_event);
	loop_timer_free(control->trim_timer);
	loop_timer_free(control->resume_timer);
	free(control->clients);
	free(control);
}

bool
control_is_drained(const struct control *control)
{
	unsigned int i;

	for (i = 0; i < control->stats.clients; i++)
		if (client_unsent(control->clients[i]) > 0)
			return false;
	return true;
}

void
control_get_stats(const struct control *control, struct control_stats *out)
{
	*out = control->stats;
}
