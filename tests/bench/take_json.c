/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * take_json.c: a consumer that gets its messages as JSON, payload and all, and counts them.
 *
 *   take_json SOCKET METER   prints its pid when it is ready; until it is killed
 *
 * It parses each reply with jansson, and acknowledges with the next request.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bench/dial.h"
#include "tests/bench/meter.h"

/* Ask for more, with what was taken. */
static void
ask(int fd, json_t *tokens)
{
	json_t *request = json_pack("{s:s, s:i, s:s, s:{s:i, s:i, s:O}}", "jsonrpc",
	    "2.0", "id", 1, "method", "recv.poll", "params", "max", 256, "wait_ms",
	    600000, "ack_tokens", tokens);
	char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
	size_t len = text ? strlen(text) : 0;
	const char *at = text;
	ssize_t n;

	if (!text)
		die("no memory");
	text[len++] = '\n'; /* in place of its NUL */
	for (; len > 0; at += n, len -= (size_t)n) {
		n = send(fd, at, len, MSG_NOSIGNAL);
		if (n < 0)
			die("send");
	}
	free(text);
	json_decref(request);
	(void)json_array_clear(tokens);
}

static void
take(FILE *f, json_t *tokens, struct meter *meter)
{
	static char *line;
	static size_t size;
	json_t *reply, *list;
	size_t i;

	if (getline(&line, &size, f) < 0)
		die("the daemon is gone");
	reply = json_loads(line, 0, NULL);
	list = json_object_get(json_object_get(reply, "result"), "completions");
	if (!list) {
		fprintf(stderr, "take_json: %s", line);
		exit(1);
	}
	for (i = 0; i < json_array_size(list); i++) {
		json_t *message = json_array_get(list, i);

		if (json_string_length(json_object_get(message, "data")) == 0 ||
		    json_array_append(tokens, json_object_get(message, "token")) != 0)
			die("a message");
		meter_add(meter);
	}
	json_decref(reply);
}

int
main(int argc, char **argv)
{
	json_t *tokens = json_array();
	struct meter *meter;
	FILE *f;

	if (argc != 3) {
		fprintf(stderr, "usage: take_json SOCKET METER\n");
		return 2;
	}
	meter = meter_open(argv[2]);
	f = fdopen(dial(argv[1]), "r");
	if (!f || !tokens)
		die("no memory");
	printf("%ld\n", (long)getpid());
	(void)fflush(stdout);
	for (;;) {
		ask(fileno(f), tokens);
		take(f, tokens, meter);
	}
}
