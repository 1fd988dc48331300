/* SPDX-License-Identifier: BSD-3-Clause */
/* The control plane over a stub of the engine. */
#include <config.h>

#include "tests/unit/crig.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "lib/core/log.h"

#define PATIENCE_NS 20000000000u

static void
on_log(void *arg, enum log_level level, const char *tag, const char *text)
{
	struct crig *rig = arg;
	size_t len = strlen(rig->log);

	(void)snprintf(rig->log + len, sizeof(rig->log) - len, "%s %s: %s\n",
	    log_level_name(level), tag, text);
}

void
crig_start(struct crig *rig, const char *config)
{
	struct err err;

	log_set_sink(on_log, rig);
	log_set_level(LOG_LEVEL_DEBUG);
	ck_assert_msg(crig_build(rig, config, &err) == 0, "%s", err.text);
}

void
crig_end(struct crig *rig)
{
	crig_tear_down(rig);
	log_set_sink(NULL, NULL);
}

void
crig_open(struct crig *rig, struct crig_client *client)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			     0, fds),
	    0);
	*client = (struct crig_client){ .rig = rig, .fd = fds[0] };
	control_adopt(rig->control, fds[1]);
}

void
crig_close(struct crig_client *client)
{
	if (client->fd >= 0)
		(void)close(client->fd);
	client->fd = -1;
	free(client->buf);
	client->buf = NULL;
	client->len = client->size = 0;
}

void
crig_start_two(struct crig *rig, const char *config, struct crig_client *a,
    struct crig_client *b)
{
	memset(rig, 0, sizeof(*rig));
	crig_start(rig, config);
	crig_open(rig, a);
	crig_open(rig, b);
}

void
crig_end_two(struct crig *rig, struct crig_client *a, struct crig_client *b)
{
	crig_close(a);
	crig_close(b);
	crig_end(rig);
}

void
crig_send(struct crig_client *client, const void *bytes, size_t len)
{
	const uint64_t end = loop_now_ns() + PATIENCE_NS;
	const char *next = bytes;
	ssize_t n;

	while (len > 0) {
		n = send(client->fd, next, len, MSG_NOSIGNAL);
		if (n > 0) {
			next += n;
			len -= (size_t)n;
			continue;
		}
		ck_assert_int_eq(errno, EAGAIN);
		ck_assert_uint_lt(loop_now_ns(), end);
		ck_assert_int_eq(loop_turn(client->rig->loop, 10), 0);
	}
}

void
crig_puts(struct crig_client *client, const char *text)
{
	crig_send(client, text, strlen(text));
}

/* Read what is there. */
static void
read_all(struct crig_client *client)
{
	ssize_t n;

	while (!client->at_eof) {
		if (client->size - client->len < 65536) {
			client->size = client->size * 2 + 65536;
			client->buf = realloc(client->buf, client->size);
			ck_assert_ptr_nonnull(client->buf);
		}
		n = recv(client->fd, client->buf + client->len,
		    client->size - client->len, 0);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			client->at_eof = true;
		else
			client->len += (size_t)n;
	}
}

/* Forget a line that was returned. */
static void
drop_line(struct crig_client *client)
{
	char *nul = memchr(client->buf, '\0', client->len);
	size_t n;

	if (!nul)
		return;
	n = (size_t)(nul - client->buf) + 1;
	client->len -= n;
	memmove(client->buf, nul + 1, client->len);
}

const char *
crig_line(struct crig_client *client)
{
	uint64_t end = loop_now_ns() + PATIENCE_NS;
	size_t seen = 0;
	char *lf;

	if (client->buf)
		drop_line(client);
	for (;;) {
		read_all(client);
		lf = memchr(client->buf + seen, '\n', client->len - seen);
		if (lf) {
			*lf = '\0';
			return client->buf;
		}
		if (client->len > seen)
			end = loop_now_ns() + PATIENCE_NS;
		seen = client->len;
		if (client->at_eof) {
			ck_assert_uint_eq(client->len, 0);
			return NULL;
		}
		ck_assert_msg(loop_now_ns() < end, "no line came");
		ck_assert_int_eq(loop_turn(client->rig->loop, 10), 0);
	}
}

json_t *
crig_reply(struct crig_client *client)
{
	const char *line = crig_line(client), *c;
	json_t *reply;

	ck_assert_msg(line != NULL, "the connection ended");
	/* One assertion for all: Check writes a note to a file for each. */
	for (c = line; *c >= ' ' && *c <= '~'; c++)
		continue;
	ck_assert_msg(*c == '\0', "not ASCII: %.400s", line);
	reply = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	ck_assert_msg(reply != NULL, "no JSON: %.400s", line);
	return reply;
}

static json_t *
exchange(struct crig_client *client, const char *method, const char *params)
{
	json_t *reply;

	crig_puts(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"");
	crig_puts(client, method);
	crig_puts(client, "\"");
	if (params) {
		crig_puts(client, ",\"params\":");
		crig_puts(client, params);
	}
	crig_puts(client, "}\n");
	reply = crig_reply(client);
	ck_assert_int_eq(json_integer_value(json_object_get(reply, "id")), 1);
	ck_assert_str_eq(json_string_value(json_object_get(reply, "jsonrpc")), "2.0");
	ck_assert_uint_eq(json_object_size(reply), 3);
	return reply;
}

json_t *
crig_call(struct crig_client *client, const char *method, const char *params)
{
	json_t *reply = exchange(client, method, params);
	json_t *result = json_incref(json_object_get(reply, "result"));
	const struct method_spec *spec;
	const json_t *member;
	char *text = json_dumps(reply, 0);

	ck_assert_msg(result != NULL, "%s: %.400s", method, text);
	/* What rpmactl takes it by. */
	spec = &methods[method_by_name(method)];
	member = json_object_get(result, spec->result);
	ck_assert_msg(spec->has_list ? json_is_array(member) : member != NULL,
	    "%s: %.400s", method, text);
	free(text);
	json_decref(reply);
	return result;
}

json_t *
crig_fail(struct crig_client *client, const char *method, const char *params,
    const char *name)
{
	json_t *reply = exchange(client, method, params);
	json_t *error = json_incref(json_object_get(reply, "error"));
	char *text = json_dumps(reply, 0);

	ck_assert_msg(error != NULL, "%s: %.400s", method, text);
	ck_assert_str_eq(json_string_value(json_object_get(json_object_get(error,
							       "data"),
			     "name")),
	    name);
	free(text);
	json_decref(reply);
	return error;
}

void
crig_settle(struct crig *rig)
{
	int i;

	for (i = 0; i < 8; i++)
		ck_assert_int_eq(loop_turn(rig->loop, 0), 0);
}

void
crig_run_ms(struct crig *rig, unsigned int ms)
{
	const uint64_t end = loop_now_ns() + (uint64_t)ms * 1000000;

	while (loop_now_ns() < end)
		ck_assert_int_eq(loop_turn(rig->loop, 2), 0);
}

bool
crig_is_silent(struct crig_client *client)
{
	struct pollfd pfd = { .fd = client->fd, .events = POLLIN };

	crig_settle(client->rig);
	if (client->buf)
		drop_line(client);
	return client->len == 0 && poll(&pfd, 1, 0) == 0;
}

long long
crig_integer(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	ck_assert_msg(json_is_integer(value), "%s", key);
	return json_integer_value(value);
}

const char *
crig_text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	ck_assert_msg(value != NULL, "%s", key);
	return value;
}

json_t *
crig_completion(const json_t *result, size_t i)
{
	json_t *value = json_array_get(json_object_get(result, "completions"), i);

	ck_assert_msg(value != NULL, "no completion %zu", i);
	return value;
}

size_t
crig_count(const json_t *result)
{
	return json_array_size(json_object_get(result, "completions"));
}

void
crig_post(struct crig *rig, unsigned int n)
{
	uint32_t accepted;
	struct err err;

	ck_assert_int_eq(engine_post(rig->engine, n, &accepted, &err), 0);
	ck_assert_uint_eq(accepted, n);
}

void
crig_arrive(struct crig *rig, const char *text)
{
	crig_post(rig, 1);
	stub_engine_arrive(rig->engine, text, strlen(text));
}
