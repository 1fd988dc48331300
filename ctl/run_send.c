/* SPDX-License-Identifier: BSD-3-Clause */
/* send: one message, or a stream of pieces, to a connection that is there or made. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "ctl/args.h"
#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/dial.h"
#include "ctl/field.h"
#include "ctl/must.h"
#include "ctl/progress.h"
#include "ctl/run.h"
#include "ctl/source.h"
#include "ctl/view.h"
#include "lib/core/addr.h"
#include "lib/core/base64.h"
#include "lib/core/num.h"
#include "lib/core/text.h"

#define MESSAGE_MAX  3145728u /* bytes that are read of one message, at the most */
#define CHUNK_MAX    2097152u
#define HOST_MAX     256u
#define ENVELOPE_MAX 512u /* bytes of a request apart from its data */

struct send_options {
	struct param_string text;
	uint64_t chunk; /* bytes; PARAM_UNSET: all in one message */
};

struct send {
	struct ctl *ctl;
	struct send_options options;
	const struct args *args;
	struct source source;
	char *piece; /* what was read and is to be sent next; owned */
	size_t piece_max;
	size_t piece_len;
	json_int_t conn; /* 0: not opened yet */
	json_t *opened;  /* what conn.open gave: conn is ours to close; owned */
	size_t messages; /* sent */
	uint64_t bytes;  /* in them */
};

#define AT(field) offsetof(struct send_options, field)
/* clang-format off */
static const struct param_spec specs[] = {
	{ .name = "text", .type = PARAM_STRING, .max = MESSAGE_MAX, .unit = "bytes",
	  .doc = "the message itself", .offset = AT(text) },
	{ .name = "chunk", .type = PARAM_UINT, .min = 1, .max = CHUNK_MAX, .unit = "bytes",
	  .doc = "send as many messages of this size as it takes", .offset = AT(chunk) },
};
/* clang-format on */

const struct param_table run_send_options = { specs, ARRAY_LEN(specs) };

/* The next piece of the message. */
static int
read_piece(struct send *send)
{
	return source_read(&send->source, send->ctl->interrupt_fd, send->piece,
	    send->piece_max, &send->piece_len, &send->ctl->err);
}

/* Whether the daemon takes what is to be sent in one request. */
static int
check_size(struct send *send)
{
	size_t request_max = send->ctl->client ? client_request_max(send->ctl->client)
					       : CLIENT_REQUEST_MAX;
	size_t max =
	    request_max > ENVELOPE_MAX ? (request_max - ENVELOPE_MAX) / 4 * 3 : 0;
	struct err *err = &send->ctl->err;

	if (send->options.chunk != PARAM_UNSET) {
		if (send->options.chunk <= max)
			return 0;
		(void)err_set(err, ERR_INVALID_PARAMS, 0,
		    "--chunk: the daemon takes at most %zu bytes in one request", max);
		return -EINVAL;
	}
	if (send->piece_len <= max)
		return 0;
	(void)err_set(err, ERR_TOO_LARGE, 0,
	    "the message has %s%zu bytes, and the daemon takes at most %zu in one "
	    "request",
	    send->piece_len == send->piece_max ? "at least " : "", send->piece_len,
	    max);
	err_hint(err, "--chunk BYTES sends it as several messages");
	return -EMSGSIZE;
}

/* "12" is a connection, all else the address of a peer, looked up later. */
static int
check_target(struct send *send)
{
	const char *target = send->args->words[0];
	char host[HOST_MAX];
	uint16_t port;
	uint64_t conn;

	if (strspn(target, "0123456789") != strlen(target))
		return addr_split(target, host, sizeof(host), &port, &send->ctl->err);
	if (num_parse_u64(target, &conn) != 0 || conn == 0 || conn > INT64_MAX) {
		(void)ctl_usage(send->ctl, "\"%s\" is no connection", target);
		return -EINVAL;
	}
	send->conn = (json_int_t)conn;
	return 0;
}

/* Open a connection, unless one was named; for as long as each message may take. */
static int
open_conn(struct send *send)
{
	json_t *timeout = json_object_get(send->args->params, "timeout_ms"), *params;
	int rc;

	if (send->conn != 0)
		return 0;
	rc = ctl_watch(send->ctl);
	if (rc != 0)
		return rc;
	params = must(json_pack("{s:O*}", "timeout_ms", timeout));
	rc = dial_call(send->ctl, METHOD_CONN_OPEN, send->args->words[0], params,
	    &send->opened);
	json_decref(params);
	if (rc == 0)
		send->conn = field_number(send->opened, "conn");
	return rc;
}

static int
send_piece(struct send *send)
{
	json_t *params = must(json_copy(send->args->params));
	size_t len = base64_encoded_len(send->piece_len);
	char *text = must(malloc(len + 1));
	json_t *result;
	int rc;

	base64_encode(send->piece, send->piece_len, text);
	must_0(json_object_set_new(params, "conn", json_integer(send->conn)));
	must_0(json_object_set_new(params, "data", json_stringn(text, len)));
	free(text);
	if (send->ctl->client)
		client_renew(send->ctl->client);
	rc = ctl_call(send->ctl, METHOD_CONN_SEND, params, &result);
	if (rc != 0)
		return rc;
	json_decref(result);
	send->messages++;
	send->bytes += send->piece_len;
	return 0;
}

/* The first piece is there already. */
static int
send_all(struct send *send)
{
	struct progress progress;
	int rc = 0;

	if (send->options.chunk == PARAM_UNSET)
		return send_piece(send);
	progress_begin(&progress, source_size(&send->source));
	while (rc == 0 && send->piece_len > 0) {
		rc = send_piece(send);
		if (rc == 0) {
			progress_show(&progress, send->bytes, send->messages);
			rc = read_piece(send);
		}
	}
	progress_end(&progress);
	return rc;
}

/* Close what was opened. A failure to send is told rather than one to close. */
static int
close_conn(struct send *send, int rc)
{
	json_t *params, *result;
	struct err why = send->ctl->err;
	int closed;

	if (!send->opened)
		return rc;
	params = must(json_pack("{s:I}", "conn", send->conn));
	if (rc != 0 && rc != -EREMOTEIO && rc != -EIO) {
		client_tell(send->ctl->client, methods[METHOD_CONN_CLOSE].name, params);
		return rc;
	}
	client_renew(send->ctl->client);
	closed = ctl_call(send->ctl, METHOD_CONN_CLOSE, params, &result);
	if (closed == 0)
		json_decref(result);
	if (rc == 0)
		return closed;
	send->ctl->err = why;
	return rc;
}

/* What the person who waits for it should know about a failure. */
static void
explain(const struct send *send, int rc)
{
	struct err *err = &send->ctl->err;

	if (rc == -EINTR)
		(void)err_set(err, ERR_CANCELLED, 0, "interrupted");
	if (send->messages > 0)
		err_hint(err, "sent before: %zu message%s with %llu byte%s",
		    send->messages, text_plural(send->messages),
		    (unsigned long long)send->bytes, text_plural(send->bytes));
	else if (err->code == ERR_TOO_LARGE && err->hint[0] == '\0')
		err_hint(err, "--chunk BYTES sends it as several messages");
}

static int
show_sent(const struct send *send)
{
	json_t *result = must(json_pack("{s:I, s:I, s:I}", "conn", send->conn,
	    "messages", (json_int_t)send->messages, "bytes", (json_int_t)send->bytes));
	int status;

	if (send->opened && !send->ctl->out.is_json)
		must_0(json_object_set(result, "peer",
		    json_object_get(send->opened, "peer")));
	status = ctl_show(send->ctl, view_sent, result);
	json_decref(result);
	return status;
}

static int
send_run(struct send *send)
{
	int rc;

	rc = read_piece(send);
	if (rc == 0)
		rc = ctl_connect(send->ctl);
	if (rc == 0)
		rc = check_size(send);
	if (rc == 0)
		rc = open_conn(send);
	if (rc == 0) {
		rc = send_all(send);
		rc = close_conn(send, rc);
	}
	if (rc == 0)
		return show_sent(send);
	explain(send, rc);
	return ctl_status(send->ctl, rc);
}

int
run_send(struct ctl *ctl, const struct args *args)
{
	const char *file = args->word_count > 1 ? args->words[1] : NULL;
	struct send send = { .ctl = ctl, .args = args };
	int rc;

	rc = param_decode(&run_send_options, args->own, "", false, &send.options,
	    &ctl->err);
	if (rc != 0)
		return ctl_status(ctl, rc);
	if (send.options.text.ptr && file)
		return ctl_usage(ctl, "a file and --text exclude each other");
	if (ctl->unacked && !send.options.text.ptr && (!file || strcmp(file, "-") == 0))
		return ctl_usage(ctl,
		    "standard input has the batch: the message is --text, or in a file");
	rc = check_target(&send);
	if (rc != 0)
		return ctl_status(ctl, rc);
	rc = source_open(&send.source, send.options.text.ptr, send.options.text.len,
	    file, &ctl->err);
	if (rc != 0)
		return ctl_status(ctl, rc);
	send.piece_max = send.options.chunk != PARAM_UNSET ? (size_t)send.options.chunk
							   : MESSAGE_MAX;
	send.piece = must(malloc(send.piece_max));
	rc = send_run(&send);
	free(send.piece);
	json_decref(send.opened);
	source_close(&send.source);
	return rc;
}
