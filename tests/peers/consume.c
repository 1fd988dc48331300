/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * consume SOCKET FILE SEED STEPS
 *
 * A consumer that dies: it polls up to 8 messages at a time, deals with one after the other and
 * acknowledges them. It dies after about STEPS messages, in the midst of some, or when it has
 * asked for the acknowledgement and not heard of it, by SIGKILL; STEPS 0: it goes on until nothing
 * comes for 2 s. It keeps a record at the end of FILE, whole whenever it dies:
 *
 *   polled SEED COMPLETION    of each message, the completion as a line of JSON
 *   asked SEED NUMBER...      to acknowledge these
 *   acked SEED NUMBER...      the daemon says that they are
 *
 * It speaks the protocol by itself, not by our code.
 *
 * status   0: nothing came any more; 1: something is wrong
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

#define POLL                                                                 \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"recv.poll\",\"params\":" \
	"{\"max\":8,\"wait_ms\":2000}}\n"

struct consumer {
	FILE *daemon;
	FILE *record;
	const char *seed;
	unsigned long steps_left; /* 0: it lives */
};

static void
die(const char *what)
{
	fprintf(stderr, "consume: %s\n", what);
	exit(1);
}

/* One step is done: this may have been the last. */
static void
step(struct consumer *c)
{
	if (c->steps_left > 0 && --c->steps_left == 0)
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

static void
tell(const struct consumer *c, const char *line)
{
	const size_t len = strlen(line);

	if (send(fileno(c->daemon), line, len, MSG_NOSIGNAL) != (ssize_t)len)
		die("the daemon is gone");
}

/* The result of the next reply. */
static json_t *
hear(const struct consumer *c)
{
	static char *reply;
	static size_t size;
	json_t *value, *result;

	if (getline(&reply, &size, c->daemon) < 0)
		die("the daemon is gone");
	value = json_loads(reply, 0, NULL);
	result = json_object_get(value, "result");
	if (!result)
		die(reply);
	json_incref(result);
	json_decref(value);
	return result;
}

/* What is in the file survives a death. */
static void
keep(const struct consumer *c)
{
	if (fflush(c->record) != 0)
		die("cannot write");
}

static void
record_polled(const struct consumer *c, const json_t *completions)
{
	const json_t *completion;
	size_t i;

	json_array_foreach(completions, i, completion) {
		char *text = json_dumps(completion, JSON_COMPACT);

		if (!text)
			die("no memory");
		(void)fprintf(c->record, "polled %s %s\n", c->seed, text);
		free(text);
	}
	keep(c);
}

static void
record_numbers(const struct consumer *c, const char *what, const json_t *completions)
{
	const json_t *completion;
	size_t i;

	(void)fprintf(c->record, "%s %s", what, c->seed);
	json_array_foreach(completions, i, completion)
		(void)fprintf(c->record, " %lld",
		    (long long)json_integer_value(json_object_get(completion, "seq")));
	(void)fputc('\n', c->record);
	keep(c);
}

static void
acknowledge(struct consumer *c, const json_t *completions)
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
	record_numbers(c, "asked", completions);
	tell(c, line);
	step(c);
	json_decref(hear(c));
	record_numbers(c, "acked", completions);
}

/* False: nothing came. */
static bool
take_some(struct consumer *c)
{
	json_t *result, *completions;
	size_t count;

	tell(c, POLL);
	result = hear(c);
	completions = json_object_get(result, "completions");
	count = json_array_size(completions);
	if (count > 0) {
		record_polled(c, completions);
		for (size_t i = 0; i < count; i++)
			step(c);
		acknowledge(c, completions);
	}
	json_decref(result);
	return count > 0;
}

int
main(int argc, char **argv)
{
	struct consumer c = { .daemon = NULL };

	if (argc != 5)
		die("usage: consume SOCKET FILE SEED STEPS");
	c.seed = argv[3];
	srandom((unsigned int)strtoul(c.seed, NULL, 10));
	c.steps_left = strtoul(argv[4], NULL, 10);
	if (c.steps_left > 0)
		c.steps_left = 1 + (unsigned long)random() % (2 * c.steps_left);
	c.record = fopen(argv[2], "ae");
	if (!c.record)
		die("cannot open the file");
	c.daemon = fdopen(dial(argv[1]), "r");
	if (!c.daemon)
		die("no memory");
	while (take_some(&c))
		;
	return 0;
}
