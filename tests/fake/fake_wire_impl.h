/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_wire_impl.h: what fake_wire.c and fake_wire_conn.c share; all under the lock. */
#ifndef RPMAD_TESTS_FAKE_FAKE_WIRE_IMPL_H
#define RPMAD_TESTS_FAKE_FAKE_WIRE_IMPL_H

#include <poll.h>
#include <pthread.h>

#include "tests/fake/fake_impl.h"
#include "tests/fake/fake_wire.h"

struct wire_bytes {
	unsigned char *data;
	size_t start;
	size_t end;
	size_t size;
};

/* The socket of a bound or listening id. Freed by the thread alone, closed by anybody.
 */
struct wire_listener {
	TAILQ_ENTRY(wire_listener) entry;
	int fd; /* -1: closed */
	bool listening;
};

/* One TCP connection: the far end of an id. The id may come later or go earlier. */
struct wire_conn {
	struct fake_far far;
	TAILQ_ENTRY(wire_conn) entry;
	int fd; /* -1: closed */
	bool connecting;
	bool requested; /* a passive one got its request */
	bool bye_got;
	bool finish; /* close for writing when all is written */
	bool finished;
	unsigned unacked; /* messages handed over */
	struct wire_bytes in;
	struct wire_bytes out;
};

struct fake_wire {
	pthread_t thread;
	bool stop;
	struct fake_signal wake;
	int control_fd; /* -1: none */
	char line[256]; /* of control, incomplete */
	size_t line_len;
	TAILQ_HEAD(, wire_listener) listeners;
	TAILQ_HEAD(, wire_conn) conns;
};

/* The running wire; NULL: it does not run. */
struct fake_wire *fake_wire(void);

/* fake_wire_conn.c */
struct wire_conn *wire_conn_new(struct fake_wire *wire, int fd);
void wire_conn_free(struct fake_wire *wire, struct wire_conn *conn);
short wire_conn_events(const struct wire_conn *conn); /* what to poll for */
void wire_conn_ready(struct wire_conn *conn, short events);
void wire_conn_lost(struct wire_conn *conn, int error);
bool wire_conn_done(const struct wire_conn *conn); /* may be freed */

/* fake_wire_frame.c */
void wire_send(struct wire_conn *conn, const struct wire_head *head, const void *data);
void wire_flush(struct wire_conn *conn);
unsigned char *wire_bytes_room(struct wire_bytes *bytes, size_t n);
int wire_read(struct wire_conn *conn); /* 0, or an errno; ECONNRESET at the end */
const unsigned char *wire_next(struct wire_conn *conn, struct wire_head *head);
void wire_bytes_free(struct wire_bytes *bytes);

/* fake_wire_control.c */
int wire_control_open(struct fake_wire *wire, const char *path);
void wire_control_read(struct fake_wire *wire);

#endif
