/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket with hooks that note what they see, and clients the test plays. */
#ifndef RPMAD_TESTS_UNIT_SOCKET_RIG_H
#define RPMAD_TESTS_UNIT_SOCKET_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "daemon/control.h"
#include "daemon/loop.h"

#define REFUSAL   "too many\n"
/* A line that is not dealt with before so many further calls. */
#define RIG_LONG  "long"
#define RIG_MORES 5

/* What the hooks saw. */
struct seen {
	struct client *client; /* the latest */
	int opened, closed, lines, too_large, rooms, mores;
	int mores_before; /* the latest line */
	size_t last_len;
	char last[64];
	uid_t uid;
	pid_t pid;
	size_t gid_count;
	bool refuses;
	bool answers;       /* each line with itself */
	size_t answer_size; /* or so many bytes */
	int written, lost;
};

/* The one rig of a test. */
struct socket_rig {
	struct loop *loop;
	struct control *control;
	struct control_config config; /* for rig_start(): two clients, no listener */
	struct seen seen;
};
extern struct socket_rig rig;

/* Fixture: the loop, and the configuration's defaults. */
void rig_setup(void);
void rig_teardown(void);
/* Make the control socket. */
void rig_start(void);

/* A connected client; its end of the socket. */
int rig_connect(void);
/* Send text from a client. */
void rig_put(int fd, const char *text);
/* Queue a reply of so many bytes. */
void rig_answer(struct client *client, size_t size);

/* Turn until nothing happens; turn for a time. */
void rig_settle(void);
void rig_run_ms(unsigned int ms);
struct control_stats rig_stats(void);

#endif
