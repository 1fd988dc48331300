/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * echo SOCKET
 *
 * A consumer that answers: what begins with "ping " goes back over its connection and is
 * acknowledged. So is everything else, until SIGUSR1: from then on it is kept, as by a program
 * that takes messages and is never through with them. SIGUSR2 ends that, and what was kept is
 * acknowledged. At SIGTERM it says how much of each it met. It speaks the protocol by itself,
 * not by our code.
 *
 * status   0; 1: something is wrong, an answer that could not be sent among it
 */
#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define POLL_MAX 64
#define ACK_MAX  256 /* tokens in one request */
#define POLL_ID  0   /* of requests; sends count from 1 */

static volatile sig_atomic_t is_over, is_holding;

struct echo {
	FILE *f;
	json_t *tokens; /* to be acknowledged by the next poll */
	json_t *kept;   /* those not to be acknowledged yet */
	json_int_t sends, answered;
	unsigned long pings, others;
};

static void __attribute__((noreturn)) die(const char *what)
{
	(void)fprintf(stderr, "echo: %s\n", what);
	exit(1);
}

static void
on_signal(int sig)
{
	if (sig == SIGTERM)
		is_over = 1;
	else
		is_holding = sig == SIGUSR1;
}

static FILE *
dial(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FILE *f;

	if (fd < 0 || strlen(path) >= sizeof(addr.sun_path))
		die("no socket");
	memcpy(addr.sun_path, path, strlen(path));
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0)
		die(strerror(errno));
	f = fdopen(fd, "r");
	if (!f)
		die("no memory");
	return f;
}

/* Send one request; params are given away. */
static void
request(struct echo *echo, json_int_t id, const char *method, json_t *params)
{
	json_t *value = json_pack("{s:s, s:I, s:s, s:o}", "jsonrpc", "2.0", "id", id,
	    "method", method, "params", params);
	char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
	size_t len = text ? strlen(text) : 0;

	if (!text)
		die("no memory");
	text[len] = '\n'; /* in place of its NUL */
	if (send(fileno(echo->f), text, len + 1, MSG_NOSIGNAL) != (ssize_t)len + 1)
		die("the daemon is gone");
	free(text);
	json_decref(value);
}

/* Read replies until the one to a poll, or, with no poll under way, to the last send. */
static json_t *
replies(struct echo *echo, bool is_polling)
{
	static char *line;
	static size_t size;

	while (is_polling || echo->answered < echo->sends) {
		json_t *value, *result;

		if (getline(&line, &size, echo->f) < 0)
			die("the daemon is gone");
		value = json_loads(line, 0, NULL);
		result = json_object_get(value, "result");
		if (!result)
			die(line);
		if (json_integer_value(json_object_get(value, "id")) == POLL_ID) {
			json_incref(result);
			json_decref(value);
			return result;
		}
		echo->answered++;
		json_decref(value);
	}
	return NULL;
}

static void
serve(struct echo *echo, const json_t *completion)
{
	const char *data = json_string_value(json_object_get(completion, "data"));
	json_t *token = json_object_get(completion, "token");
	bool is_ping = data && strncmp(data, "ping ", 5) == 0;

	if (is_ping) {
		echo->pings++;
		request(echo, ++echo->sends, "conn.send",
		    json_pack("{s:O, s:s, s:s}", "conn",
			json_object_get(completion, "conn"), "data", data, "encoding",
			"text"));
	} else {
		echo->others++;
	}
	(void)json_array_append(is_ping || !is_holding ? echo->tokens : echo->kept,
	    token);
}

/* Acknowledge what was kept, as many at a time as a request may name. */
static void
release(struct echo *echo)
{
	size_t left = json_array_size(echo->kept);

	while (left > 0) {
		json_t *some = json_array();

		for (size_t n = 0; n < ACK_MAX && left > 0; n++)
			(void)json_array_append(some,
			    json_array_get(echo->kept, --left));
		request(echo, ++echo->sends, "recv.ack",
		    json_pack("{s:o}", "tokens", some));
	}
	(void)json_array_clear(echo->kept);
}

static void
turn(struct echo *echo)
{
	const json_t *completions, *completion;
	json_t *result;
	size_t i;

	if (!is_holding && json_array_size(echo->kept) > 0)
		release(echo);
	request(echo, POLL_ID, "recv.poll",
	    json_pack("{s:i, s:i, s:s, s:o}", "max", POLL_MAX, "wait_ms", 200,
		"encoding", "text", "ack_tokens", echo->tokens));
	echo->tokens = json_array();
	result = replies(echo, true);
	completions = json_object_get(result, "completions");
	json_array_foreach(completions, i, completion)
		serve(echo, completion);
	json_decref(result);
}

int
main(int argc, char **argv)
{
	struct echo echo = { .tokens = json_array(), .kept = json_array() };

	if (argc != 2)
		die("usage: echo SOCKET");
	(void)signal(SIGTERM, on_signal);
	(void)signal(SIGUSR1, on_signal);
	(void)signal(SIGUSR2, on_signal);
	echo.f = dial(argv[1]);
	while (!is_over)
		turn(&echo);
	(void)json_array_extend(echo.kept, echo.tokens);
	release(&echo);
	(void)replies(&echo, false);
	(void)printf("pings=%lu others=%lu\n", echo.pings, echo.others);
	return 0;
}
