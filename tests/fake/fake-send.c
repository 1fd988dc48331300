/* SPDX-License-Identifier: BSD-3-Clause */
/* fake-send.c: a sender for programs that run over the doubles in wire mode. */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/fake/fake-send.h"

enum conn_state {
	CONN_OPEN,
	CONN_LEAVING, /* said goodbye */
	CONN_CLOSED,
};

struct conn {
	int fd;
	enum conn_state state;
	unsigned sent;
	unsigned acked;
	unsigned failed;
	unsigned char *in;
	size_t in_len;
	size_t in_size;
};

struct sender {
	struct send_options options;
	struct conn *conns;
	int64_t deadline_ms;
	bool bad; /* something did not go as asked */
};

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
die(const char *what)
{
	fprintf(stderr, "fake-send: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- frames ------------------------------------------------------------------- */

static int
write_all(int fd, const void *data, size_t len)
{
	const char *at = data;
	ssize_t n;

	while (len > 0) {
		n = send(fd, at, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int
write_frame(struct conn *conn, const struct wire_head *head, const void *data)
{
	unsigned char packed[WIRE_HEAD];

	wire_pack(head, packed);
	if (write_all(conn->fd, packed, WIRE_HEAD) != 0)
		return -1;
	return head->len ? write_all(conn->fd, data, head->len) : 0;
}

static int
write_word(struct conn *conn, enum wire_type type, uint32_t value)
{
	struct wire_head head = { .type = (uint8_t)type, .value = value };

	return write_frame(conn, &head, NULL);
}

/* Read what is there. False: the connection ended. */
static bool
fill(struct conn *conn)
{
	ssize_t n;

	if (conn->in_size - conn->in_len < 65536) {
		conn->in_size = conn->in_size * 2 + 65536;
		conn->in = realloc(conn->in, conn->in_size);
		if (!conn->in)
			die("memory");
	}
	n = recv(conn->fd, conn->in + conn->in_len, conn->in_size - conn->in_len, 0);
	if (n <= 0)
		return n < 0 && errno == EINTR;
	conn->in_len += (size_t)n;
	return true;
}

/* Whether a whole frame is there; its data begin at conn->in + WIRE_HEAD. */
static bool
have_frame(const struct conn *conn, struct wire_head *head)
{
	if (conn->in_len < WIRE_HEAD)
		return false;
	if (!wire_unpack(conn->in, head)) {
		errno = EPROTO;
		die("frame");
	}
	return conn->in_len >= WIRE_HEAD + (size_t)head->len;
}

static void
eat_frame(struct conn *conn, const struct wire_head *head)
{
	size_t len = WIRE_HEAD + (size_t)head->len;

	memmove(conn->in, conn->in + len, conn->in_len - len);
	conn->in_len -= len;
}

/* ---- one connection ----------------------------------------------------------- */

static int
dial(const struct send_options *options)
{
	struct addrinfo want = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV };
	struct addrinfo *list;
	int fd;

	if (getaddrinfo(options->host, options->port, &want, &list) != 0) {
		errno = EINVAL;
		die("address");
	}
	fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, list->ai_addr, list->ai_addrlen) != 0)
		die("connect");
	freeaddrinfo(list);
	return fd;
}

static void
print_hex(const char *what, unsigned index, const unsigned char *data, size_t len)
{
	size_t i;

	printf("%s %u ", what, index);
	for (i = 0; i < len; i++)
		printf("%02x", data[i]);
	printf("\n");
	fflush(stdout);
}

static void
open_conn(struct sender *sender, unsigned index)
{
	const struct send_options *options = &sender->options;
	struct conn *conn = &sender->conns[index];
	struct wire_head head = { .type = WIRE_REQUEST };

	conn->fd = dial(options);
	head.len = options->private_data ? (uint32_t)strlen(options->private_data) : 0;
	if (write_frame(conn, &head, options->private_data) != 0)
		die("request");
	while (!have_frame(conn, &head)) {
		if (!fill(conn)) {
			errno = ECONNRESET;
			die("request");
		}
	}
	if (head.type != WIRE_REPLY) {
		printf("rejected %u %u\n", index, head.value);
		exit(1);
	}
	if (options->show_private)
		print_hex("private", index, conn->in + WIRE_HEAD, head.len);
	eat_frame(conn, &head);
	if (write_word(conn, WIRE_READY, 0) != 0)
		die("ready");
}

static void
close_conn(struct sender *sender, struct conn *conn)
{
	if (conn->state == CONN_OPEN &&
	    conn->acked + conn->failed < sender->options.count)
		sender->bad = true;
	conn->state = CONN_CLOSED;
	close(conn->fd);
	conn->fd = -1;
}

static void
on_ack(struct sender *sender, unsigned index, uint32_t status)
{
	struct conn *conn = &sender->conns[index];
	bool want_failure = sender->options.too_long;

	if (status == 0)
		conn->acked++;
	else
		conn->failed++;
	if (want_failure ? status != WC_REM_INV_REQ_ERR : status != 0)
		sender->bad = true;
	if (sender->options.verbose)
		printf("%s %u %u %zu\n", status ? "failed" : "sent", index,
		    conn->acked + conn->failed - 1,
		    message_size(&sender->options, index,
			conn->acked + conn->failed - 1));
	fflush(stdout);
}

static void
on_frame(struct sender *sender, unsigned index, const struct wire_head *head)
{
	struct conn *conn = &sender->conns[index];

	switch (head->type) {
	case WIRE_ACK:
		on_ack(sender, index, head->value);
		break;
	case WIRE_MESSAGE:
		if (sender->options.show_received) {
			if (head->has_imm)
				printf("imm %u %u\n", index, head->value);
			print_hex("received", index, conn->in + WIRE_HEAD, head->len);
		}
		write_word(conn, WIRE_ACK, 0);
		break;
	case WIRE_BYE:
		printf("bye %u\n", index);
		fflush(stdout);
		write_word(conn, WIRE_BYE_ACK, 0);
		close_conn(sender, conn);
		break;
	case WIRE_BYE_ACK:
		close_conn(sender, conn);
		break;
	default:
		errno = EPROTO;
		die("frame");
	}
}

static void
read_conn(struct sender *sender, unsigned index)
{
	struct conn *conn = &sender->conns[index];
	bool alive = fill(conn);
	struct wire_head head;

	while (conn->fd >= 0 && have_frame(conn, &head)) {
		on_frame(sender, index, &head);
		eat_frame(conn, &head);
	}
	if (!alive && conn->fd >= 0) {
		printf("lost %u\n", index);
		fflush(stdout);
		close_conn(sender, conn);
	}
}

/* Fill the window. */
static void
push(struct sender *sender, unsigned index)
{
	const struct send_options *options = &sender->options;
	struct conn *conn = &sender->conns[index];
	struct wire_head head = {
		.type = WIRE_MESSAGE,
		.has_imm = options->imm >= 0,
		.value = options->imm >= 0 ? (uint32_t)options->imm : 0,
	};
	unsigned char *data;

	while (conn->state == CONN_OPEN && conn->sent < options->count &&
	    !conn->failed && conn->sent - conn->acked < options->window) {
		head.len = (uint32_t)message_size(options, index, conn->sent);
		data = message_make(options, index, conn->sent);
		if (!data || write_frame(conn, &head, data) != 0)
			die("message");
		free(data);
		conn->sent++;
	}
}

/* ---- all connections ---------------------------------------------------------- */

/* Wait for frames up to a time; the number of connections that are not closed. */
static unsigned
turn(struct sender *sender, int64_t until_ms)
{
	unsigned n = sender->options.conns;
	struct pollfd *fds = calloc(n, sizeof(*fds));
	int64_t left_ms = until_ms - now_ms();
	unsigned open = 0;
	unsigned i;

	if (!fds)
		die("memory");
	for (i = 0; i < n; i++) {
		fds[i] = (struct pollfd){ .fd = sender->conns[i].fd, .events = POLLIN };
		open += sender->conns[i].state != CONN_CLOSED;
	}
	if (open && poll(fds, n, left_ms > 0 ? (int)left_ms : 0) > 0) {
		for (i = 0; i < n; i++) {
			if (fds[i].revents)
				read_conn(sender, i);
		}
	}
	free(fds);
	return open;
}

static bool
all_done(const struct sender *sender)
{
	const struct conn *conn;
	unsigned i;

	for (i = 0; i < sender->options.conns; i++) {
		conn = &sender->conns[i];
		if (conn->state == CONN_OPEN && !conn->failed &&
		    conn->acked < sender->options.count)
			return false;
	}
	return true;
}

static void
send_all(struct sender *sender)
{
	unsigned i;

	while (!all_done(sender)) {
		for (i = 0; i < sender->options.conns; i++)
			push(sender, i);
		if (now_ms() > sender->deadline_ms) {
			errno = ETIMEDOUT;
			die("acknowledgement");
		}
		turn(sender, sender->deadline_ms);
	}
}

static void
leave_all(struct sender *sender)
{
	int64_t until_ms = now_ms() + 5000;
	struct conn *conn;
	unsigned i;

	for (i = 0; i < sender->options.conns; i++) {
		conn = &sender->conns[i];
		if (conn->state != CONN_OPEN)
			continue;
		conn->state = CONN_LEAVING;
		write_word(conn, WIRE_BYE, 0);
	}
	while (now_ms() < until_ms && turn(sender, until_ms))
		;
}

int
main(int argc, char **argv)
{
	struct sender sender = { 0 };
	int64_t until_ms;
	unsigned i;
	int rc = options_parse(argc, argv, &sender.options);

	if (rc >= 0)
		return rc;
	sender.conns = calloc(sender.options.conns, sizeof(sender.conns[0]));
	if (!sender.conns)
		die("memory");
	sender.deadline_ms = now_ms() + (int64_t)sender.options.timeout_s * 1000;
	for (i = 0; i < sender.options.conns; i++)
		open_conn(&sender, i);
	send_all(&sender);
	until_ms = now_ms() + (int64_t)sender.options.hold_s * 1000;
	while (now_ms() < until_ms && turn(&sender, until_ms))
		;
	if (!sender.options.die)
		leave_all(&sender);
	for (i = 0; i < sender.options.conns; i++)
		free(sender.conns[i].in);
	free(sender.conns);
	options_free(&sender.options);
	return sender.bad ? 1 : 0;
}
