/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket with hooks that note what they see. */
#include <config.h>

#include "tests/unit/socket_rig.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/core/log.h"

struct socket_rig rig;

static void *
on_open(void *arg, struct client *client, const struct client_peer *peer)
{
	(void)arg;
	if (rig.seen.refuses)
		return NULL;
	rig.seen.opened++;
	rig.seen.client = client;
	rig.seen.uid = peer->uid;
	rig.seen.pid = peer->pid;
	rig.seen.gid_count = peer->gid_count;
	return client;
}

static void
on_written(void *arg, bool written)
{
	ck_assert_ptr_eq(arg, &rig.seen);
	if (written)
		rig.seen.written++;
	else
		rig.seen.lost++;
}

void
rig_answer(struct client *client, size_t size)
{
	char *bytes = malloc(size);

	ck_assert_ptr_nonnull(bytes);
	memset(bytes, 'x', size);
	bytes[size - 1] = '\n';
	if (client_send(client, bytes, size, on_written, &rig.seen) < 0)
		rig.seen.lost++;
}

static bool
on_line(void *user, char *line, size_t len)
{
	rig.seen.lines++;
	rig.seen.mores_before = rig.seen.mores;
	rig.seen.last_len = len;
	(void)snprintf(rig.seen.last, sizeof(rig.seen.last), "%s", line);
	if (rig.seen.answers)
		rig_answer(user, rig.seen.answer_size ? rig.seen.answer_size : len + 1);
	return strcmp(line, RIG_LONG) == 0;
}

/* Each time it takes longer than a turn has for a client. */
static bool
on_more(void *user)
{
	(void)user;
	(void)usleep(3000);
	return ++rig.seen.mores % RIG_MORES != 0;
}

static void
on_too_large(void *user, size_t len)
{
	(void)user;
	(void)len;
	rig.seen.too_large++;
}

static void
on_room(void *user)
{
	(void)user;
	rig.seen.rooms++;
}

static void
on_close(void *user)
{
	(void)user;
	rig.seen.closed++;
}

void
rig_start(void)
{
	struct err err;

	ck_assert_int_eq(control_new(rig.loop, &rig.config, &rig.control, &err), 0);
}

void
rig_setup(void)
{
	struct err err;

	log_set_level(LOG_LEVEL_ERROR);
	memset(&rig.seen, 0, sizeof(rig.seen));
	rig.config = (struct control_config){ .listen_fd = -1,
		.max_clients = 2,
		.max_request = 4096,
		.refusal = REFUSAL,
		.hooks = { .on_open = on_open,
		    .on_line = on_line,
		    .on_more = on_more,
		    .on_too_large = on_too_large,
		    .on_room = on_room,
		    .on_close = on_close } };
	ck_assert_int_eq(loop_new(&rig.loop, &err), 0);
}

void
rig_teardown(void)
{
	control_free(rig.control);
	loop_free(rig.loop);
	rig.control = NULL;
}

int
rig_connect(void)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			     0, fds),
	    0);
	control_adopt(rig.control, fds[1]);
	return fds[0];
}

void
rig_settle(void)
{
	int i;

	for (i = 0; i < 8; i++)
		ck_assert_int_eq(loop_turn(rig.loop, 0), 0);
}

void
rig_run_ms(unsigned int ms)
{
	const uint64_t end = loop_now_ns() + (uint64_t)ms * 1000000;

	while (loop_now_ns() < end)
		ck_assert_int_eq(loop_turn(rig.loop, 2), 0);
}

void
rig_put(int fd, const char *text)
{
	ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL),
	    (ssize_t)strlen(text));
}

struct control_stats
rig_stats(void)
{
	struct control_stats out;

	control_get_stats(rig.control, &out);
	return out;
}
