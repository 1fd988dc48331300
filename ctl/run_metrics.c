/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics: the numbers for Prometheus; with --http as the answer to one request. */
#include <config.h>

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "ctl/args.h"
#include "ctl/ctl.h"
#include "ctl/field.h"
#include "ctl/run.h"
#include "ctl/view.h"
#include "lib/core/usock.h"

#define REQUEST_MAX  8192u /* bytes of a request with its headers */
#define REQUEST_MS   5000u /* for all of it to come */
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define TEXT_TYPE    "text/plain; charset=utf-8"

struct metrics_options {
	bool is_http;
};

static const struct param_spec specs[] = {
	{ .name = "http",
	    .type = PARAM_BOOL,
	    .def = "false",
	    .doc = "answer one HTTP request, read from standard input",
	    .offset = offsetof(struct metrics_options, is_http) },
};
const struct param_table run_metrics_options = { specs, ARRAY_LEN(specs) };

/*
 * Read up to the empty line that ends the headers, or to the end of input.
 * return   0; -EMSGSIZE, -ETIMEDOUT, or another negative errno
 */
static int
read_request(struct buf *request)
{
	const uint64_t end_ms = usock_now_ms() + REQUEST_MS;
	char bytes[1024];

	while (!strstr(buf_text(request), "\r\n\r\n") &&
	    !strstr(buf_text(request), "\n\n")) {
		struct pollfd pfd = { .fd = STDIN_FILENO, .events = POLLIN };
		const uint64_t now_ms = usock_now_ms();
		ssize_t n;

		if (request->len > REQUEST_MAX)
			return -EMSGSIZE;
		if (now_ms >= end_ms)
			return -ETIMEDOUT;
		if (poll(&pfd, 1, (int)(end_ms - now_ms)) < 0 && errno != EINTR)
			return -errno;
		if (!pfd.revents)
			continue;
		n = read(STDIN_FILENO, bytes, sizeof(bytes));
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n == 0)
			return 0;
		if (n > 0)
			buf_add(request, bytes, (size_t)n);
	}
	return 0;
}

static void
respond(struct out *out, const char *status, const char *type, const char *body,
    bool has_body)
{
	buf_printf(&out->buf,
	    "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
	    "Connection: close\r\n\r\n%s",
	    status, type, strlen(body), has_body ? body : "");
}

/* The metrics, or why there are none, which the reader of the answer has to know. */
static void
respond_metrics(struct ctl *ctl, bool has_body)
{
	json_t *result;
	struct buf why = { 0 };

	if (ctl_call(ctl, METHOD_STATS_METRICS, NULL, &result) == 0) {
		respond(&ctl->out, "200 OK", METRICS_TYPE, field_text(result, "text"),
		    has_body);
		json_decref(result);
		return;
	}
	buf_printf(&why, "%s\n", ctl->err.text);
	if (ctl->err.hint[0] != '\0')
		buf_printf(&why, "%s\n", ctl->err.hint);
	respond(&ctl->out, "503 Service Unavailable", TEXT_TYPE, buf_text(&why),
	    has_body);
	buf_free(&why);
	ctl->err = (struct err){ 0 };
}

/* Whether it begins with a method, a target and a version, with a space between. */
static bool
has_request_line(const char *request)
{
	static const char token[] =
	    "!#$%&'*+-.^_`|~0123456789"
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char version[] = "HTTP/";
	static const char digits[] = "0123456789";
	const char *at = request + strspn(request, token);
	size_t len;

	if (at == request || *at++ != ' ')
		return false;
	len = strcspn(at, " \t\r\n");
	if (len == 0 || at[len] != ' ')
		return false;
	at += len + 1;
	if (strncmp(at, version, strlen(version)) != 0)
		return false;
	at += strlen(version);
	if (strspn(at, digits) != 1 || at[1] != '.' || strspn(at + 2, digits) != 1)
		return false;
	at += 3;
	return *at == '\0' || *at == '\n' || strncmp(at, "\r\n", 2) == 0;
}

/* Whether the target, which ends at a space or at its query, is this path. */
static bool
is_path(const char *target, const char *path)
{
	const size_t len = strcspn(target, " ?\r\n");

	return len == strlen(path) && strncmp(target, path, len) == 0;
}

/*
 * One request, one answer, as a service of systemd with Accept=yes does it.
 * source   RFC 9110 sections 5.6.2, 9.3, 15; RFC 9112 sections 2.3, 3
 */
static int
serve(struct ctl *ctl)
{
	struct buf request = { 0 };
	const char *target = NULL;
	bool has_body = true;
	int rc = read_request(&request);

	if (strncmp(buf_text(&request), "GET ", 4) == 0) {
		target = buf_text(&request) + 4;
	} else if (strncmp(buf_text(&request), "HEAD ", 5) == 0) {
		target = buf_text(&request) + 5;
		has_body = false;
	}
	if (rc == -EMSGSIZE)
		respond(&ctl->out, "431 Request Header Fields Too Large", TEXT_TYPE,
		    "the request is too long\n", true);
	else if (rc < 0)
		respond(&ctl->out, "408 Request Timeout", TEXT_TYPE,
		    "the request did not come in time\n", true);
	else if (!has_request_line(buf_text(&request)))
		respond(&ctl->out, "400 Bad Request", TEXT_TYPE,
		    "this is no request of HTTP\n", true);
	else if (!target)
		respond(&ctl->out, "405 Method Not Allowed\r\nAllow: GET, HEAD",
		    TEXT_TYPE, "only GET and HEAD are served\n", true);
	else if (is_path(target, "/metrics"))
		respond_metrics(ctl, has_body);
	else if (is_path(target, "/"))
		respond(&ctl->out, "200 OK", TEXT_TYPE,
		    "rpmad: the metrics are at /metrics\n", has_body);
	else
		respond(&ctl->out, "404 Not Found", TEXT_TYPE,
		    "the metrics are at /metrics\n", has_body);
	buf_free(&request);
	return ctl_flush(ctl);
}

int
run_metrics(struct ctl *ctl, const struct args *args)
{
	struct metrics_options options;
	json_t *result;
	int rc;

	rc = param_decode(&run_metrics_options, args->own, "", false, &options,
	    &ctl->err);
	if (rc != 0)
		return ctl_status(ctl, rc);
	if (options.is_http && ctl->settings.is_dry_run)
		return ctl_usage(ctl,
		    "what --http does depends on what it reads: there is no request "
		    "to show");
	if (options.is_http)
		return serve(ctl);
	rc = ctl_call(ctl, METHOD_STATS_METRICS, NULL, &result);
	if (rc != 0)
		return ctl_status(ctl, rc);
	rc = ctl_show(ctl, view_metrics, result);
	json_decref(result);
	return rc;
}
