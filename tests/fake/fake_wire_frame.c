/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_wire_frame.c: frames in and out of non-blocking sockets. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fake/fake_wire_impl.h"

/* Room for n bytes at the end. */
unsigned char *
wire_bytes_room(struct wire_bytes *bytes, size_t n)
{
	size_t used = bytes->end - bytes->start;
	unsigned char *data;
	size_t size;

	if (bytes->end + n <= bytes->size)
		return bytes->data + bytes->end;
	size = 2 * (used + n);
	data = fake_alloc(size);
	if (used)
		memcpy(data, bytes->data + bytes->start, used);
	free(bytes->data);
	*bytes = (struct wire_bytes){ data, 0, used, size };
	return data + used;
}

void
wire_bytes_free(struct wire_bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct wire_bytes){ 0 };
}

void
wire_flush(struct wire_conn *conn)
{
	struct wire_bytes *out = &conn->out;
	ssize_t n;

	/* The thread polls for what is left, and sees what changed. */
	fake_signal_set(&fake_wire()->wake, true);
	if (conn->fd < 0 || conn->connecting)
		return;
	while (out->start < out->end) {
		n = send(conn->fd, out->data + out->start, out->end - out->start,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0)
			break; /* a dead socket shows when it is read */
		out->start += (size_t)n;
	}
	if (out->start == out->end) {
		out->start = 0;
		out->end = 0;
		if (conn->finish && !conn->finished) {
			conn->finished = true;
			shutdown(conn->fd, SHUT_WR);
		}
	}
}

void
wire_send(struct wire_conn *conn, const struct wire_head *head, const void *data)
{
	unsigned char *room;

	if (conn->fd < 0 || conn->finish)
		return;
	room = wire_bytes_room(&conn->out, WIRE_HEAD + head->len);
	wire_pack(head, room);
	if (head->len)
		memcpy(room + WIRE_HEAD, data, head->len);
	conn->out.end += WIRE_HEAD + head->len;
	wire_flush(conn);
}

int
wire_read(struct wire_conn *conn)
{
	unsigned char *room = wire_bytes_room(&conn->in, 65536);
	ssize_t n = recv(conn->fd, room, 65536, MSG_DONTWAIT);

	if (n == 0)
		return ECONNRESET;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : errno;
	conn->in.end += (size_t)n;
	return 0;
}

/*
 * The next complete frame; its data live until the next wire_read(). NULL: none yet. A
 * stream that makes no sense has a frame of type 0.
 */
const unsigned char *
wire_next(struct wire_conn *conn, struct wire_head *head)
{
	struct wire_bytes *in = &conn->in;
	const unsigned char *at = in->data + in->start;
	size_t have = in->end - in->start;

	if (have < WIRE_HEAD)
		return NULL;
	if (!wire_unpack(at, head)) {
		*head = (struct wire_head){ 0 };
		return at;
	}
	if (have < WIRE_HEAD + (size_t)head->len)
		return NULL;
	in->start += WIRE_HEAD + head->len;
	return at + WIRE_HEAD;
}
