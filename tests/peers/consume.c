/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * consume SOCKET FILE SEED STEPS
 *
 * A consumer that dies: it polls up to 8 messages at a time, appends each to FILE as a line of
 * JSON, acknowledges them and appends a line "acked NUMBER" for each. After about STEPS of its steps
 * (poll, write, acknowledge, note) it kills itself between two of them, as SIGKILL would; STEPS 0:
 * it goes on until nothing comes for 2 s. It speaks the protocol by itself, not by our code.
 *
 * status   0: nothing came any more; 1: something is wrong
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define POLL                                                                 \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"recv.poll\",\"params\":" \
	"{\"max\":8,\"wait_ms\":2000}}\n"

static unsigned long steps_left; /* 0: it lives */

static void
die(const char *what)
{
	fprintf(stderr, "consume: %s\n", what);
	exit(1);
}

/* One step is done: this may have been the last. */
static void
step(void)
{
	if (steps_left > 0 && --steps_left == 0)
		(void)kill(getpid(), SIGKILL);
}

static int
dial(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof(addr.sun_path))
		die("no socket");
	memcpy(addr.sun_path, path, strlen(path));
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0)
		die(strerror(errno));
	return fd;
}

/* Send a line and read the result of its reply. */
static json_t *
ask(FILE *f, const char *line)
{
	const size_t len = strlen(line);
	static char *reply;
	static size_t size;
	json_t *value, *result;

	if (send(fileno(f), line, len, MSG_NOSIGNAL) != (ssize_t)len ||
	    getline(&reply, &size, f) < 0)
		die("the daemon is gone");
	value = json_loads(reply, 0, NULL);
	result = json_object_get(value, "result");
	if (!result)
		die(reply);
	json_incref(result);
	json_decref(value);
	return result;
}

/* Append one line by one write(2), so that a death leaves it whole or absent. */
static void
append(int fd, const char *text, size_t len)
{
	if (write(fd, text, len) != (ssize_t)len)
		die("cannot write");
}

static void
write_delivered(int fd, const json_t *completions)
{
	const json_t *completion;
	size_t i;

	json_array_foreach(completions, i, completion) {
		char *text = json_dumps(completion, JSON_COMPACT);
		size_t len = text ? strlen(text) : 0;

		if (!text)
			die("no memory");
		text[len] = '\n'; /* in place of its NUL */
		append(fd, text, len + 1);
		free(text);
		step();
	}
}

static void
acknowledge(FILE *f, const json_t *completions)
{
	const json_t *completion;
	char line[1024];
	size_t i;
	int n;

	n = snprintf(line, sizeof(line),
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"recv.ack\",\"params\":{\"tokens\":[");
	json_array_foreach(completions, i, completion)
		n += snprintf(line + n, sizeof(line) - (size_t)n, "%s\"%s\"",
		    i ? "," : "",
		    json_string_value(json_object_get(completion, "token")));
	(void)snprintf(line + n, sizeof(line) - (size_t)n, "]}}\n");
	json_decref(ask(f, line));
	step();
}

static void
note_acked(int fd, const json_t *completions)
{
	const json_t *completion;
	char line[40];
	size_t i;
	int n;

	json_array_foreach(completions, i, completion) {
		n = snprintf(line, sizeof(line), "acked %lld\n",
		    (long long)json_integer_value(json_object_get(completion, "seq")));
		append(fd, line, (size_t)n);
	}
	step();
}

int
main(int argc, char **argv)
{
	FILE *f;
	int fd;

	if (argc != 5)
		die("usage: consume SOCKET FILE SEED STEPS");
	srandom((unsigned int)strtoul(argv[3], NULL, 10));
	steps_left = strtoul(argv[4], NULL, 10);
	if (steps_left > 0)
		steps_left = 1 + (unsigned long)random() % (2 * steps_left);
	fd = open(argv[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		die("cannot open the file");
	f = fdopen(dial(argv[1]), "r");
	if (!f)
		die("no memory");
	for (;;) {
		json_t *result = ask(f, POLL);
		json_t *completions = json_object_get(result, "completions");

		step();
		if (json_array_size(completions) == 0)
			return 0;
		write_delivered(fd, completions);
		acknowledge(f, completions);
		note_acked(fd, completions);
		json_decref(result);
	}
}
