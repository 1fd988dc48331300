/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * take.c: a consumer on librpmac, which looks at messages where they are and counts them.
 *
 *   take SOCKET METER [BATCH]   prints its pid when it is ready; until it is killed
 *
 * A message that begins with "A" is answered, by conn.send over a connection of its own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/rpmac/librpmac.h"
#include "tests/bench/dial.h"
#include "tests/bench/handover.h"
#include "tests/bench/meter.h"

#define ANSWER_MS 30000
#define TRIES_MAX 5000

static void __attribute__((noreturn)) fail(const struct rpmac *rpmac)
{
	fprintf(stderr, "take: %s\n", rpmac_error(rpmac));
	exit(1);
}

/* A request and its reply. */
static void
ask(int fd, char *line, size_t size, size_t len)
{
	ssize_t n;

	if (send(fd, line, len, MSG_NOSIGNAL) != (ssize_t)len)
		die("conn.send");
	do
		n = recv(fd, line, size - 1, 0);
	while (n > 0 && line[n - 1] != '\n');
	line[n > 0 ? n : 0] = '\0';
}

/*
 * Send the message back where it came from; its text needs no escapes. The first one may be
 * here before the daemon knows that its connection stands.
 */
static void
answer(int fd, const struct rpmac_msg *msg)
{
	char request[512], line[512];
	size_t len;
	int tries;

	len = (size_t)snprintf(request, sizeof(request),
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"conn.send\",\"params\":{\"conn\":%" PRIu64
	    ",\"encoding\":\"text\",\"data\":\"%.*s\"}}\n",
	    msg->conn, (int)msg->len, (const char *)msg->data);
	if (len >= sizeof(request)) {
		fprintf(stderr, "take: an answer of %zu bytes\n", msg->len);
		exit(1);
	}
	for (tries = 0; tries < TRIES_MAX; tries++) {
		memcpy(line, request, len);
		ask(fd, line, sizeof(line), len);
		if (strstr(line, "\"result\""))
			return;
		if (!strstr(line, "NOT_READY"))
			break;
		(void)usleep(1000);
	}
	fprintf(stderr, "take: conn.send: %s\n", line);
	exit(1);
}

int
main(int argc, char **argv)
{
	struct rpmac *rpmac = rpmac_new();
	const struct rpmac_msg *msg;
	struct meter *meter;
	bool wants_answer;
	int fd;

	if (argc != 3 && argc != 4) {
		fprintf(stderr, "usage: take SOCKET METER [BATCH]\n");
		return 2;
	}
	meter = meter_open(argv[2]);
	fd = dial(argv[1]);
	if (!rpmac || rpmac_open(rpmac, argv[1], ANSWER_MS) != 0 ||
	    (argc == 4 && rpmac_set_batch(rpmac, (unsigned int)atoi(argv[3])) != 0))
		fail(rpmac);
	printf("%ld\n", (long)getpid());
	(void)fflush(stdout);
	for (;;) {
		if (rpmac_next(rpmac, RPMAC_FOREVER, &msg) != 0)
			fail(rpmac);
		wants_answer = handover_look(msg->data, (uint32_t)msg->len);
		if (wants_answer)
			answer(fd, msg);
		if (rpmac_ack(rpmac, msg) != 0)
			fail(rpmac);
		meter_add(meter);
	}
}
