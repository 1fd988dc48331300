/* SPDX-License-Identifier: BSD-3-Clause */
/* Connection, deadline, and the exchange of one request and its reply. */
#include <config.h>

#include "ctl/client.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "ctl/format.h"
#include "ctl/interrupt.h"
#include "ctl/must.h"
#include "lib/core/frame.h"
#include "lib/core/jsonrpc.h"
#include "lib/core/method.h"
#include "lib/core/usock.h"

#define RECEIVE_SIZE 65536u
#define RETRY_MS     50 /* between attempts while waiting for the daemon */

struct client {
	int fd;
	struct frame *frame;
	struct client_config config; /* its path is borrowed, and used while opening */
	uint64_t allowed_ms;  /* from the start of the deadline's time to its end */
	uint64_t deadline_ms; /* CLOCK_MONOTONIC */
	json_int_t last_id;
	json_int_t begun_id; /* of the request whose reply is taken later; 0: none */
	json_t *begun_reply; /* it came while another was waited for; owned */
	uint64_t begun_deadline_ms;
	size_t request_max;
};

static int
timed_out(const struct client *client, struct err *err)
{
	char time[FORMAT_TIME_MAX];

	(void)err_set(err, ERR_TIMEOUT, 0, "no answer from the daemon within %s",
	    format_ms(client->allowed_ms, time, sizeof(time)));
	err_hint(err, "-t gives it longer; `systemctl status rpmad` tells how it is");
	return -ETIMEDOUT;
}

static int
connection_lost(int errnum, struct err *err)
{
	(void)err_set(err, ERR_CONN_LOST, errnum,
	    "the daemon ended the connection without an answer");
	err_hint(err, "`journalctl -u rpmad` tells why");
	return -ENOTCONN;
}

static int
not_understood(struct err *err, const char *what)
{
	(void)err_set(err, ERR_INTERNAL_ERROR, EPROTO, "%s", what);
	err_hint(err, "is it rpmad that listens there, of the same version?");
	return -EPROTO;
}

/*
 * Wait until the socket is ready. Only a wait for a reply may be interrupted: a request
 * that was begun is sent to its end.
 */
static int
wait_ready(const struct client *client, short events, struct err *err)
{
	bool may_end = (events & POLLIN) != 0;
	struct pollfd fds[] = {
		{ .fd = client->fd, .events = events },
		{ .fd = may_end ? client->config.interrupt_fd : -1, .events = POLLIN },
		{ .fd = may_end ? client->config.output_fd : -1 },
	};
	uint64_t now, left;

	for (;;) {
		now = usock_now_ms();
		if (now >= client->deadline_ms)
			return timed_out(client, err);
		left = client->deadline_ms - now;
		if (poll(fds, ARRAY_LEN(fds), left > INT_MAX ? INT_MAX : (int)left) < 0)
			continue; /* EINTR; the time decides */
		if (fds[0].revents)
			return 0;
		if (fds[1].revents)
			return -EINTR;
		if (fds[2].revents)
			return -EPIPE;
	}
}

/*
 * Send a line. That the daemon has closed the connection is no failure yet: it may have
 * said why, which is then still to be received.
 */
static int
send_line(const struct client *client, const char *line, size_t len, struct err *err)
{
	ssize_t n;
	int rc;

	while (len > 0) {
		n = send(client->fd, line, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0) {
			line += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			rc = wait_ready(client, POLLOUT, err);
			if (rc != 0)
				return rc;
		} else if (errno != EINTR) {
			return 0;
		}
	}
	return 0;
}

/* The next line of what has come. return   0; -EAGAIN there is none yet; others with err
 */
static int
next_line(const struct client *client, char **line, size_t *len, struct err *err)
{
	enum frame_result result;
	char piece[RECEIVE_SIZE];
	ssize_t n;

	for (;;) {
		result = frame_next(client->frame, line, len);
		if (result == FRAME_LINE)
			return 0;
		if (result == FRAME_TOO_LARGE)
			return not_understood(err, "the daemon's answer has no end");
		n = recv(client->fd, piece, sizeof(piece), MSG_DONTWAIT);
		if (n > 0)
			must_0(frame_append(client->frame, piece, (size_t)n));
		else if (n < 0 && errno == EAGAIN)
			return -EAGAIN;
		else if (n == 0 || errno != EINTR)
			return connection_lost(n == 0 ? 0 : errno, err);
	}
}

/*
 * What to do with a line: 0 it answers the call (id null: an error that concerns the
 * connection); -EAGAIN it is a notification, or the late answer to an earlier call.
 */
static int
classify(const struct client *client, const json_t *reply, struct err *err)
{
	const json_t *id = json_object_get(reply, "id");
	json_int_t number = json_integer_value(id);

	if (!json_is_object(reply))
		return not_understood(err, "the daemon's answer is not JSON-RPC");
	if (!id && json_object_get(reply, "method"))
		return -EAGAIN;
	if (json_is_null(id) && json_object_get(reply, "error"))
		return 0;
	if (!json_is_integer(id) || number < 1 || number > client->last_id)
		return not_understood(err, "the daemon answered what was not asked");
	return number == client->last_id ? 0 : -EAGAIN;
}

/*
 * Read a line. return   0 and *reply (a new reference), which answers the last call;
 * -EAGAIN it does not, and was kept if it answers what was begun; others with err
 */
static int
sort_line(struct client *client, const char *line, size_t len, json_t **reply,
    struct err *err)
{
	json_t *value = json_loadb(line, len, JSON_ALLOW_NUL, NULL);
	json_int_t id = json_integer_value(json_object_get(value, "id"));
	int rc = classify(client, value, err);

	if (rc == 0 || rc == -EAGAIN) {
		if (id != 0 && id == client->begun_id) {
			client->begun_reply = value;
			return -EAGAIN;
		}
		if (rc == 0) {
			*reply = value;
			return 0;
		}
	}
	json_decref(value);
	return rc;
}

/* What a reply says. The reference is taken. */
static int
read_result(json_t *reply, json_t **result, struct err *err)
{
	const json_t *found;
	int rc = jsonrpc_read_reply(reply, &found, err);

	if (rc == -EBADMSG)
		rc = not_understood(err, "the daemon's answer is malformed");
	if (rc == 0)
		*result = json_incref(json_object_get(reply, "result"));
	json_decref(reply);
	return rc;
}

/* Receive the answer to the last request. */
static int
receive_reply(struct client *client, json_t **result, struct err *err)
{
	json_t *reply;
	char *line;
	size_t len;
	int rc;

	for (;;) {
		rc = next_line(client, &line, &len, err);
		if (rc == -EAGAIN) {
			rc = wait_ready(client, POLLIN, err);
			if (rc == 0)
				continue;
		} else if (rc == 0) {
			rc = sort_line(client, line, len, &reply, err);
			if (rc == -EAGAIN)
				continue;
		}
		return rc == 0 ? read_result(reply, result, err) : rc;
	}
}

char *
client_format_request(const char *method, struct json_t *params, long long id)
{
	json_t *number = must(json_integer(id));
	json_t *request = must(jsonrpc_make_request(method, params, number));
	char *text = must(json_dumps(request, JSON_COMPACT | JSON_ENSURE_ASCII));

	json_decref(request);
	json_decref(number);
	return text;
}

/* Send a request under the next id. */
static int
send_request(struct client *client, const char *method, json_t *params, struct err *err)
{
	char *text = client_format_request(method, params, ++client->last_id);
	size_t len = strlen(text);
	int rc;

	if (len > client->request_max) {
		(void)err_set(err, ERR_TOO_LARGE, 0,
		    "the request has %zu bytes, over the daemon's limit of %zu", len,
		    client->request_max);
		rc = -EMSGSIZE;
	} else {
		text[len] = '\n'; /* in place of the NUL */
		rc = send_line(client, text, len + 1, err);
	}
	free(text);
	return rc;
}

int
client_call(struct client *client, const char *method, struct json_t *params,
    uint64_t wait_ms, struct json_t **result, struct err *err)
{
	int rc;

	client->deadline_ms += wait_ms;
	client->allowed_ms += wait_ms;
	rc = send_request(client, method, params, err);
	return rc == 0 ? receive_reply(client, result, err) : rc;
}

int
client_begin(struct client *client, const char *method, struct json_t *params,
    uint64_t wait_ms, struct err *err)
{
	int rc;

	client_renew(client);
	rc = send_request(client, method, params, err);
	if (rc == 0) {
		client->begun_id = client->last_id;
		client->begun_deadline_ms = client->deadline_ms + wait_ms;
	}
	return rc;
}

int
client_take(struct client *client, struct json_t **result, struct err *err)
{
	json_t *reply = NULL;
	char *line;
	size_t len;
	int rc;

	while (!client->begun_reply && !reply) {
		rc = next_line(client, &line, &len, err);
		if (rc == -EAGAIN && usock_now_ms() >= client->begun_deadline_ms) {
			client->allowed_ms = client->config.timeout_ms;
			return timed_out(client, err);
		}
		if (rc != 0)
			return rc;
		rc = sort_line(client, line, len, &reply, err);
		if (rc != 0 && rc != -EAGAIN)
			return rc;
	}
	/* A reply to no request in particular concerns this one too. */
	if (!reply)
		reply = client->begun_reply;
	client->begun_reply = NULL;
	client->begun_id = 0;
	return read_result(reply, result, err);
}

int
client_fd(const struct client *client)
{
	return client->fd;
}

uint64_t
client_take_deadline_ms(const struct client *client)
{
	return client->begun_deadline_ms;
}

void
client_tell(struct client *client, const char *method, struct json_t *params)
{
	char *text = client_format_request(method, params, ++client->last_id);
	size_t len = strlen(text);

	text[len] = '\n';
	(void)send(client->fd, text, len + 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	free(text);
}

void
client_renew(struct client *client)
{
	client->allowed_ms = client->config.timeout_ms;
	client->deadline_ms = usock_now_ms() + client->allowed_ms;
}

void
client_watch(struct client *client, int interrupt_fd, int output_fd)
{
	client->config.interrupt_fd = interrupt_fd;
	client->config.output_fd = output_fd;
}

size_t
client_request_max(const struct client *client)
{
	return client->request_max;
}

/* Connect; while nobody listens, try again for as long as was asked. */
static int
connect_daemon(struct client *client, struct err *err)
{
	uint64_t give_up_ms = usock_now_ms() + client->config.wait_daemon_ms;
	int rc;

	for (;;) {
		client_renew(client);
		rc = usock_connect(client->config.path, client->deadline_ms, err);
		if ((rc != -ENOENT && rc != -ECONNREFUSED) ||
		    usock_now_ms() >= give_up_ms)
			break;
		if (interrupt_pause(client->config.interrupt_fd, -1, RETRY_MS) != 0)
			return -EINTR;
	}
	if (rc >= 0) {
		client->fd = rc;
		return 0;
	}
	return rc == -EACCES || rc == -ETIMEDOUT ? rc : -ENOTCONN;
}

/* The first exchange: who is it, and what does it take. */
static int
say_hello(struct client *client, struct err *err)
{
	json_int_t protocol, request_max;
	json_t *hello;
	int rc;

	rc = client_call(client, methods[METHOD_RPC_HELLO].name, NULL, 0, &hello, err);
	if (rc != 0)
		return rc;
	protocol = json_integer_value(json_object_get(hello, "protocol"));
	request_max =
	    json_integer_value(json_object_get(json_object_get(hello, "limits"),
		"max_request"));
	json_decref(hello);
	if (protocol != CLIENT_PROTOCOL) {
		(void)err_set(err, ERR_INTERNAL_ERROR, EPROTO,
		    "the daemon speaks version %lld of the protocol, this rpmactl "
		    "version %d",
		    (long long)protocol, CLIENT_PROTOCOL);
		err_hint(err, "use the rpmactl that came with the daemon");
		return -EPROTO;
	}
	if (request_max > 0)
		client->request_max = (size_t)request_max;
	return 0;
}

int
client_open(const struct client_config *config, struct client **out, struct err *err)
{
	struct client *client = must(calloc(1, sizeof(*client)));
	int rc;

	client->config = *config;
	client->fd = -1;
	client->request_max = CLIENT_REQUEST_MAX;
	must_0(frame_new(CLIENT_REPLY_MAX, &client->frame));
	rc = connect_daemon(client, err);
	if (rc == 0)
		rc = say_hello(client, err);
	if (rc != 0) {
		client_close(client);
		return rc;
	}
	*out = client;
	return 0;
}

void
client_close(struct client *client)
{
	if (!client)
		return;
	if (client->fd >= 0)
		(void)close(client->fd);
	frame_free(client->frame);
	json_decref(client->begun_reply);
	free(client);
}
