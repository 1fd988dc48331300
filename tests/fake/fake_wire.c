/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_wire.c: the thread that joins doubles in different processes. */
#include <config.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/fake/fake_wire_impl.h"

struct fake_wire *
fake_wire(void)
{
	return fake_get()->wire;
}

/* ---- listeners ---------------------------------------------------------------- */

static int
open_socket(const struct sockaddr *addr)
{
	int fd = socket(addr->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int one = 1;
	int error;

	if (fd < 0)
		return -1;
	if (addr->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
	    bind(fd, addr, fake_addr_len(addr)) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

int
fake_wire_bind(struct fake_id *id, struct sockaddr *addr)
{
	struct fake_wire *wire = fake_wire();
	struct wire_listener *listener;
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);
	int fd;

	if (!wire)
		return 0;
	fd = open_socket(addr);
	if (fd < 0)
		return errno;
	if (getsockname(fd, (struct sockaddr *)&name, &len) == 0)
		fake_addr_set_port(addr, fake_addr_port((struct sockaddr *)&name));
	listener = fake_alloc(sizeof(*listener));
	listener->fd = fd;
	TAILQ_INSERT_TAIL(&wire->listeners, listener, entry);
	id->wire = listener;
	return 0;
}

int
fake_wire_listen(struct fake_id *id)
{
	struct wire_listener *listener = id->wire;

	if (!fake_wire() || !listener)
		return 0;
	if (listen(listener->fd, SOMAXCONN) != 0)
		return errno;
	listener->listening = true;
	fake_signal_set(&fake_wire()->wake, true);
	return 0;
}

/* Shut down first: a poll of the thread keeps a closed socket, and with it the port. */
void
fake_wire_close(struct fake_id *id)
{
	struct wire_listener *listener = id->wire;

	id->wire = NULL;
	if (!fake_wire() || !listener)
		return;
	shutdown(listener->fd, SHUT_RDWR);
	close(listener->fd);
	listener->fd = -1;
	listener->listening = false;
	fake_signal_set(&fake_wire()->wake, true);
}

/* ---- the thread --------------------------------------------------------------- */

/* Who is behind each polled descriptor: at most one of the two. */
struct polled {
	struct wire_listener *listener;
	struct wire_conn *conn;
};

static void
reap(struct fake_wire *wire)
{
	struct wire_listener *listener = TAILQ_FIRST(&wire->listeners);
	struct wire_conn *conn = TAILQ_FIRST(&wire->conns);

	while (listener) {
		struct wire_listener *next = TAILQ_NEXT(listener, entry);

		if (listener->fd < 0) {
			TAILQ_REMOVE(&wire->listeners, listener, entry);
			free(listener);
		}
		listener = next;
	}
	while (conn) {
		struct wire_conn *next = TAILQ_NEXT(conn, entry);

		if (wire_conn_done(conn))
			wire_conn_free(wire, conn);
		conn = next;
	}
}

static size_t
count_all(const struct fake_wire *wire)
{
	const struct wire_listener *listener;
	const struct wire_conn *conn;
	size_t n = 2;

	TAILQ_FOREACH(listener, &wire->listeners, entry)
		n++;
	TAILQ_FOREACH(conn, &wire->conns, entry)
		n++;
	return n;
}

/* Fill both arrays; the first two entries are the wake-up and the commands. */
static size_t
gather(const struct fake_wire *wire, struct pollfd *fds, struct polled *who)
{
	struct wire_listener *listener;
	struct wire_conn *conn;
	size_t n = 2;

	fds[0] = (struct pollfd){ .fd = wire->wake.fd, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = wire->control_fd, .events = POLLIN };
	TAILQ_FOREACH(listener, &wire->listeners, entry) {
		if (!listener->listening)
			continue;
		who[n].listener = listener;
		fds[n++] = (struct pollfd){ .fd = listener->fd, .events = POLLIN };
	}
	TAILQ_FOREACH(conn, &wire->conns, entry) {
		if (conn->fd < 0)
			continue;
		who[n].conn = conn;
		fds[n++] = (struct pollfd){
			.fd = conn->fd,
			.events = wire_conn_events(conn),
		};
	}
	return n;
}

static void
accept_all(struct fake_wire *wire, const struct wire_listener *listener)
{
	int fd;

	while (listener->fd >= 0 &&
	    (fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		wire_conn_new(wire, fd);
}

/* A socket that was polled may have been closed meanwhile, and its number used again.
 */
static void
serve(struct fake_wire *wire, const struct pollfd *fds, const struct polled *who,
    size_t n)
{
	size_t i;

	fake_signal_set(&wire->wake, false);
	if (fds[1].revents)
		wire_control_read(wire);
	for (i = 2; i < n; i++) {
		if (!fds[i].revents)
			continue;
		if (who[i].listener && who[i].listener->fd == fds[i].fd)
			accept_all(wire, who[i].listener);
		if (who[i].conn && who[i].conn->fd == fds[i].fd)
			wire_conn_ready(who[i].conn, fds[i].revents);
	}
}

static void *
run(void *arg)
{
	struct fake_wire *wire = arg;
	struct pollfd *fds;
	struct polled *who;
	size_t n;

	fake_lock();
	while (!wire->stop) {
		reap(wire);
		n = count_all(wire);
		fds = fake_alloc(n * sizeof(fds[0]));
		who = fake_alloc(n * sizeof(who[0]));
		n = gather(wire, fds, who);
		fake_unlock();
		poll(fds, (nfds_t)n, -1);
		fake_lock();
		serve(wire, fds, who, n);
		free(fds);
		free(who);
	}
	fake_unlock();
	return NULL;
}

/* ---- start and stop ----------------------------------------------------------- */

/* Signals are for the program's own threads. */
static int
start_thread(struct fake_wire *wire)
{
	sigset_t all;
	sigset_t old;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&wire->thread, NULL, run, wire);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

static void
wire_free(struct fake_wire *wire)
{
	fake_signal_close(&wire->wake);
	if (wire->control_fd >= 0)
		close(wire->control_fd);
	free(wire);
}

int
fake_wire_start(const char *control)
{
	struct fake_wire *wire = fake_alloc(sizeof(*wire));
	int error = 0;

	TAILQ_INIT(&wire->listeners);
	TAILQ_INIT(&wire->conns);
	fake_signal_init(&wire->wake);
	fake_lock();
	if (fake_get()->wire)
		error = EALREADY;
	else if (wire_control_open(wire, control) != 0)
		error = errno;
	else
		fake_get()->wire = wire;
	if (!error)
		error = start_thread(wire);
	if (error) {
		if (fake_get()->wire == wire)
			fake_get()->wire = NULL;
		wire_free(wire);
	}
	fake_unlock();
	if (error)
		errno = error;
	return error ? -1 : 0;
}

void
fake_wire_stop(void)
{
	struct fake_wire *wire = fake_wire();
	struct wire_conn *conn;
	struct fake_id *id;

	if (!wire)
		return;
	fake_lock();
	wire->stop = true;
	fake_signal_set(&wire->wake, true);
	fake_unlock();
	pthread_join(wire->thread, NULL);
	fake_lock();
	TAILQ_FOREACH(id, &fake_get()->ids, entry)
		fake_wire_close(id);
	while ((conn = TAILQ_FIRST(&wire->conns))) {
		wire_conn_lost(conn, ECONNRESET);
		if (conn->far.id)
			conn->far.id->far = NULL;
		wire_conn_free(wire, conn);
	}
	reap(wire);
	fake_get()->wire = NULL;
	wire_free(wire);
	fake_unlock();
}
