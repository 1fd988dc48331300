/* SPDX-License-Identifier: BSD-3-Clause */
/* What control_client.c and control_client_out.c share: the client and its output. */
#ifndef RPMAD_DAEMON_CONTROL_CLIENT_IMPL_H
#define RPMAD_DAEMON_CONTROL_CLIENT_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "daemon/control_client.h"
#include "daemon/loop.h"

struct evbuffer;
struct event;
struct frame;
struct loop_timer;

/* Somebody wants to know when all bytes up to end are written. */
struct mark {
	STAILQ_ENTRY(mark) link;
	uint64_t end; /* on the scale of client.queued */
	client_written_fn fn;
	void *arg;
};

/* Descriptors on their way to the client. */
struct passing {
	int fds[CLIENT_FDS_MAX];
	size_t count;
	uint64_t at; /* the byte that they go with, on the scale of client.queued */
};

struct client {
	const struct client_config *config;
	void *user; /* of the hooks */
	int fd;
	struct event *event; /* owned */
	short armed;         /* what the event waits for; 0: nothing */
	struct frame *in;
	struct evbuffer *out;
	STAILQ_HEAD(, mark) marks;
	uint64_t queued;  /* bytes ever put into out */
	uint64_t written; /* bytes ever taken out of it */
	uint64_t replied; /* of queued, those up to the end of the last reply */
	struct loop_timer *stall_timer;
	struct loop_deferred work;    /* client_work(), again or for the first time */
	struct loop_deferred destroy; /* the memory, when nobody is inside any more */
	unsigned int holds;           /* replies that will come later */
	uint64_t last;                /* where the reply that was queued last begins */
	struct passing passing[CLIENT_PASSING_MAX]; /* in their order */
	size_t passing_count;
	pid_t pid;
	bool has_more;    /* of the last line: it is not through */
	bool is_stalling; /* stall_timer runs */
	bool is_full;     /* it had no room, which on_room() has not taken back */
	bool was_full;    /* it ever had none */
	bool is_broken;   /* it reads no more: what is written is thrown away */
	bool is_doomed;   /* to be dropped */
	bool at_eof;      /* nothing more comes from it */
	bool is_served;   /* and all that came was served */
};

/* Write what the kernel takes, and watch that it takes something. */
void client_flush(struct client *client);
/* It will read nothing more; its requests are served all the same. */
void client_break_output(struct client *client);
/* Report the replies that are written so far, or (false) all that are left. */
void client_report(struct client *client, bool written);

#endif
