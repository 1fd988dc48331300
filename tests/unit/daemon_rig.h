/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon over the doubles as a process of its own, and clients of its socket: what a
 * stranger's program sees, and what the system says of the process. Failures fail the
 * test.
 */
#ifndef RPMAD_TESTS_UNIT_DAEMON_RIG_H
#define RPMAD_TESTS_UNIT_DAEMON_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct json_t;

struct daemon_rig {
	pid_t pid;
	char dir[64];
	char socket[80];
	char config[80];
	char log[80];
	unsigned int max_fds; /* for daemon_rig_start(); 0: as they are */
	/* What the service manager kept, and its names: NAME:NAME, for the next process. */
	const int *kept;
	unsigned int kept_count;
	const char *kept_names;
};

/* Start it; members is JSON of the configuration, as "\"pool\": {\"slots\": 8}", or NULL;
 * control is more members of that key, or NULL. Zero-initialise the rig first. */
void daemon_rig_start(struct daemon_rig *rig, const char *members, const char *control);
/* Start the next process of the same socket and configuration. */
void daemon_rig_start_again(struct daemon_rig *rig);
/* Write its configuration anew, for a reload or the next process. */
void daemon_rig_configure(const struct daemon_rig *rig, const char *members,
    const char *control);
/* End it in an orderly way. It has failed where its status is not 0. */
void daemon_rig_end(struct daemon_rig *rig);

/* What the system says of it. */
uint64_t daemon_rig_rss_kb(const struct daemon_rig *rig);
unsigned int daemon_rig_fds(const struct daemon_rig *rig);
uint64_t daemon_rig_cpu_ns(const struct daemon_rig *rig);
/* Whether its log has a text. */
bool daemon_rig_has_logged(const struct daemon_rig *rig, const char *text);
/* Kibibytes that a build with sanitizers may take for itself. */
uint64_t daemon_rig_slack_kb(void);

/* A client; what it reads waits 20 s at the most. */
struct daemon_client {
	int fd;
	char *buf;
	size_t len, size, used;
};

void daemon_client_open(const struct daemon_rig *rig, struct daemon_client *client);
void daemon_client_close(struct daemon_client *client);
void daemon_client_send(struct daemon_client *client, const void *bytes, size_t len);
void daemon_client_puts(struct daemon_client *client, const char *text);
/* The daemon has taken from the socket all that was sent. */
void daemon_client_sync(struct daemon_client *client);
/* The next line without its LF, until the next call. NULL: the connection has ended. */
const char *daemon_client_line(struct daemon_client *client);
/* It as JSON: a new reference. */
struct json_t *daemon_client_json(struct daemon_client *client);
/* The result of a call with id 0: a new reference. */
struct json_t *daemon_client_call(struct daemon_client *client, const char *method,
    const char *params);

uint64_t daemon_rig_now_ms(void);

#endif
