/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_wire_conn.c: far ends in other processes. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/fake/fake_wire_impl.h"

static void
send_frame(struct wire_conn *conn, enum wire_type type, uint32_t value,
    const void *data, size_t len)
{
	struct wire_head head = {
		.type = (uint8_t)type,
		.len = (uint32_t)len,
		.value = value,
	};

	wire_send(conn, &head, data);
}

static struct fake_qp *
near_qp(const struct wire_conn *conn)
{
	return conn->far.id ? (struct fake_qp *)conn->far.id->pub.qp : NULL;
}

/* ---- what the near end does --------------------------------------------------- */

static size_t
param_len(const struct rdma_conn_param *param)
{
	return param->private_data ? param->private_data_len : 0;
}

static void
on_connect(struct fake_far *far, const struct rdma_conn_param *param)
{
	struct wire_conn *conn = (struct wire_conn *)far;

	send_frame(conn, WIRE_REQUEST, 0, param->private_data, param_len(param));
}

static void
on_accepted(struct fake_far *far, const struct rdma_conn_param *param)
{
	struct wire_conn *conn = (struct wire_conn *)far;

	send_frame(conn, WIRE_REPLY, 0, param->private_data, param_len(param));
}

static void
on_rejected(struct fake_far *far, int reason, const void *pdata, size_t len)
{
	struct wire_conn *conn = (struct wire_conn *)far;

	send_frame(conn, WIRE_REJECT, (uint32_t)reason, pdata, len);
	conn->finish = true;
	wire_flush(conn);
}

static void
on_confirmed(struct fake_far *far)
{
	send_frame((struct wire_conn *)far, WIRE_READY, 0, NULL, 0);
}

static void
on_hangup(struct fake_far *far)
{
	struct wire_conn *conn = (struct wire_conn *)far;

	send_frame(conn, conn->bye_got ? WIRE_BYE_ACK : WIRE_BYE, 0, NULL, 0);
	/* Nobody is left who could answer: the id has what it waits for. */
	if (conn->fd < 0 && far->id)
		fake_hangup(far->id);
}

static void
on_gone(struct fake_far *far)
{
	struct wire_conn *conn = (struct wire_conn *)far;

	conn->finish = true;
	wire_flush(conn);
}

static enum fake_take
on_take(struct fake_far *far, struct fake_send *send)
{
	struct wire_conn *conn = (struct wire_conn *)far;
	struct wire_head head = {
		.type = WIRE_MESSAGE,
		.has_imm = send->with_imm,
		.len = (uint32_t)send->len,
		.value = send->imm,
	};
	unsigned char *data;

	if (conn->fd < 0 || conn->bye_got)
		return FAKE_TAKE_DEAD;
	/* the wire knows messages alone */
	if (send->opcode != IBV_WR_SEND && send->opcode != IBV_WR_SEND_WITH_IMM)
		return FAKE_TAKE_LONG;
	if (conn->unacked >= WIRE_WINDOW)
		return FAKE_TAKE_BLOCKED;
	data = fake_alloc(send->len + 1);
	fake_send_gather(send, data);
	conn->unacked++;
	wire_send(conn, &head, data);
	free(data);
	return FAKE_TAKE_LATER;
}

static void
on_done(struct fake_far *far, struct fake_msg *msg, int status, bool lost)
{
	(void)msg;
	(void)lost;
	if (status != FAKE_MSG_DROPPED)
		send_frame((struct wire_conn *)far, WIRE_ACK, (uint32_t)status, NULL,
		    0);
}

static const struct fake_far_ops wire_ops = {
	.connect = on_connect,
	.accepted = on_accepted,
	.rejected = on_rejected,
	.confirmed = on_confirmed,
	.hangup = on_hangup,
	.gone = on_gone,
	.take = on_take,
	.done = on_done,
};

/* ---- connections -------------------------------------------------------------- */

struct wire_conn *
wire_conn_new(struct fake_wire *wire, int fd)
{
	struct wire_conn *conn = fake_alloc(sizeof(*conn));

	conn->far.ops = &wire_ops;
	conn->fd = fd;
	TAILQ_INSERT_TAIL(&wire->conns, conn, entry);
	return conn;
}

void
wire_conn_free(struct fake_wire *wire, struct wire_conn *conn)
{
	TAILQ_REMOVE(&wire->conns, conn, entry);
	if (conn->fd >= 0)
		close(conn->fd);
	wire_bytes_free(&conn->in);
	wire_bytes_free(&conn->out);
	free(conn);
}

bool
wire_conn_done(const struct wire_conn *conn)
{
	return conn->fd < 0 && !conn->far.id;
}

/* Both sides shall see the same port: the id takes that of the socket. */
static void
adopt_port(struct fake_id *id, int fd)
{
	struct sockaddr *src = &id->pub.route.addr.src_addr;
	struct sockaddr_storage name;
	socklen_t len = sizeof(name);

	memcpy(&name, src, fake_addr_len(src));
	fake_addr_set_port((struct sockaddr *)&name, 0);
	if (bind(fd, (struct sockaddr *)&name, fake_addr_len(src)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&name, &len) == 0)
		fake_addr_set_port(src, fake_addr_port((struct sockaddr *)&name));
}

bool
fake_wire_dial(struct fake_id *id)
{
	const struct sockaddr *dst = &id->pub.route.addr.dst_addr;
	struct fake_wire *wire = fake_wire();
	struct wire_conn *conn;
	int fd;

	if (!wire)
		return false;
	fd = socket(dst->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	adopt_port(id, fd);
	conn = wire_conn_new(wire, fd);
	conn->far.id = id;
	id->far = &conn->far;
	if (connect(fd, dst, fake_addr_len(dst)) == 0)
		return true;
	conn->connecting = errno == EINPROGRESS;
	if (!conn->connecting)
		wire_conn_lost(conn, errno);
	return true;
}

/* The TCP connection ends without a word: the process behind it died, or never was. */
void
wire_conn_lost(struct wire_conn *conn, int error)
{
	struct fake_id *id = conn->far.id;
	struct fake_qp *qp = near_qp(conn);

	if (conn->fd >= 0)
		close(conn->fd);
	conn->fd = -1;
	if (!id || id->state == ID_FAILED)
		return;
	if (qp)
		fake_qp_drop_in(qp);
	if (id->state == ID_CONNECTING && error == ECONNREFUSED)
		fake_refuse(id, RDMA_CM_EVENT_REJECTED, FAKE_REJ_NO_LISTENER, NULL, 0);
	else if (id->state == ID_CONNECTING && conn->connecting)
		fake_refuse(id, RDMA_CM_EVENT_UNREACHABLE, -error, NULL, 0);
	else if (id->state == ID_CONNECTING || id->state == ID_REQUEST ||
	    id->state == ID_ACCEPTED)
		fake_refuse(id, RDMA_CM_EVENT_REJECTED, FAKE_REJ_CONSUMER, NULL, 0);
	else if (id->state == ID_CONNECTED || id->state == ID_CLOSING)
		fake_hangup(id);
}

/* ---- frames ------------------------------------------------------------------- */

static void
on_request(struct wire_conn *conn, const unsigned char *data, size_t len)
{
	struct sockaddr_storage src = { 0 };
	struct sockaddr_storage dst = { 0 };
	socklen_t src_len = sizeof(src);
	socklen_t dst_len = sizeof(dst);
	struct fake_id *listener = NULL;

	if (getpeername(conn->fd, (struct sockaddr *)&src, &src_len) == 0 &&
	    getsockname(conn->fd, (struct sockaddr *)&dst, &dst_len) == 0)
		listener = fake_listener_find((struct sockaddr *)&dst);
	conn->requested = true;
	conn->far.id = NULL;
	if (!listener || len > FAKE_PDATA_MAX ||
	    !fake_request(listener, &conn->far, (struct sockaddr *)&src,
		(struct sockaddr *)&dst, data, len))
		on_rejected(&conn->far, FAKE_REJ_NO_LISTENER, NULL, 0);
}

static void
on_message(struct wire_conn *conn, const struct wire_head *head,
    const unsigned char *data)
{
	struct fake_qp *qp = near_qp(conn);
	struct fake_msg *msg;

	if (!qp)
		return;
	msg = fake_alloc(sizeof(*msg) + head->len);
	msg->with_imm = head->has_imm;
	msg->imm = head->value;
	msg->len = head->len;
	if (head->len)
		memcpy(msg->data, data, head->len);
	fake_qp_receive(qp, msg);
}

static void
on_ack(struct wire_conn *conn, int status)
{
	struct fake_qp *qp = near_qp(conn);

	if (conn->unacked)
		conn->unacked--;
	if (qp) {
		fake_qp_sent(qp, status);
		fake_qp_push(qp);
	}
}

static void
on_bye(struct wire_conn *conn)
{
	struct fake_id *id = conn->far.id;

	conn->bye_got = true;
	if (!id) {
		send_frame(conn, WIRE_BYE_ACK, 0, NULL, 0);
		return;
	}
	if (near_qp(conn))
		fake_qp_drop_in(near_qp(conn));
	if (id->state == ID_REQUEST || id->state == ID_ACCEPTED)
		fake_refuse(id, RDMA_CM_EVENT_REJECTED, FAKE_REJ_CONSUMER, NULL, 0);
	else
		fake_hangup(id);
}

/* A frame for an id that is gone is of no interest. False: the stream makes no sense.
 */
static bool
on_frame(struct wire_conn *conn, const struct wire_head *head,
    const unsigned char *data)
{
	struct fake_id *id = conn->far.id;

	switch (head->type) {
	case WIRE_REQUEST:
		if (id || conn->requested)
			return false;
		on_request(conn, data, head->len);
		return true;
	case WIRE_REPLY:
		if (id)
			fake_answer(id, data, head->len);
		return true;
	case WIRE_REJECT:
		if (id && id->state == ID_CONNECTING)
			fake_refuse(id, RDMA_CM_EVENT_REJECTED, (int)head->value, data,
			    head->len);
		return true;
	case WIRE_READY:
		if (id)
			fake_confirm(id);
		return true;
	case WIRE_MESSAGE:
		on_message(conn, head, data);
		return true;
	case WIRE_ACK:
		on_ack(conn, (int)head->value);
		return true;
	case WIRE_BYE:
		on_bye(conn);
		return true;
	case WIRE_BYE_ACK:
		if (id)
			fake_hangup(id);
		return true;
	default:
		return false;
	}
}

/* ---- polling ------------------------------------------------------------------ */

/* A sender that does not keep to the window is not read until there is room. */
static bool
flooded(const struct wire_conn *conn)
{
	const struct fake_qp *qp = near_qp(conn);
	const struct fake_msg *msg;
	unsigned n = 0;

	if (!qp)
		return false;
	TAILQ_FOREACH(msg, &qp->in, entry)
		n++;
	return n > 2 * WIRE_WINDOW;
}

short
wire_conn_events(const struct wire_conn *conn)
{
	short events = 0;

	if (conn->connecting || conn->out.start < conn->out.end)
		events |= POLLOUT;
	if (!conn->connecting && !flooded(conn))
		events |= POLLIN;
	return events;
}

static void
on_connected(struct wire_conn *conn)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		error = errno;
	if (error) {
		wire_conn_lost(conn, error);
		return;
	}
	conn->connecting = false;
	wire_flush(conn);
}

void
wire_conn_ready(struct wire_conn *conn, short events)
{
	const unsigned char *data;
	struct wire_head head;
	int error;

	if (conn->connecting) {
		on_connected(conn);
		return;
	}
	if (events & POLLOUT)
		wire_flush(conn);
	if (!(events & (POLLIN | POLLHUP | POLLERR)))
		return;
	error = wire_read(conn);
	while (conn->fd >= 0 && (data = wire_next(conn, &head))) {
		if (!on_frame(conn, &head, data)) {
			error = EPROTO;
			break;
		}
	}
	if (error && conn->fd >= 0)
		wire_conn_lost(conn, error);
}
