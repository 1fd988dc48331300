/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * consume_in_place SOCKET FILE KILLS SEED
 *
 * Consumers that read in the daemon's memory, one after the other, of which the first KILLS are
 * killed by SIGKILL at some moment after they had a few messages; the last one lives until nothing
 * comes for 3 s. FILE has, in their order,
 *
 *   got SEQ DELIVERIES LEN SHA256    for a message, before it is acknowledged
 *   acked SEQ...                     when the daemon has said that these are done with
 *
 * and the program prints how many were killed. Lines are kept in memory that outlives a
 * consumer, for SIGKILL can leave half of what a write(2) was to append. Built on our
 * librpmac.
 *
 * status   0; 1: something is wrong, or a consumer met no message for 20 s
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/rpmac/librpmac.h"
#include "sha256.h"

#define ROUND_MAX   40u /* messages that are acknowledged at once */
#define LIFE_MAX    80u /* messages of a consumer before it is killed */
#define BATCH       48u
#define ANSWER_MS   10000
#define IDLE_MS     3000
#define PATIENCE_MS 20000u
/*
 * Messages behind those that a consumer may have, which it takes until it is killed. On a
 * machine where that takes long it waits then, for there are just so many in all.
 */
#define LATE_MAX    16u
/* Of all lines; what of it is not used costs nothing. */
#define LINES_BYTES (64u << 20)

/* What all consumers have done. They share this memory. */
struct deeds {
	atomic_uint got;   /* messages */
	atomic_size_t len; /* of the whole lines */
	char lines[LINES_BYTES];
};

struct consumer {
	const char *socket;
	unsigned int seed;
	struct deeds *deeds;
	unsigned int last; /* with so many messages of all, this one takes no more */
};

static void __attribute__((noreturn)) die(const char *what, const char *why)
{
	(void)fprintf(stderr, "consume_in_place: %s: %s\n", what, why);
	exit(1);
}

static uint64_t
now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* 0 .. below - 1. Source: the example of rand() in ISO C, with its higher bits. */
static unsigned int
draw(unsigned int *seed, unsigned int below)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 16) % below;
}

/* A death leaves a line whole or absent: one that is not counted is written over. */
static void
append(const struct consumer *self, const char *line, size_t len)
{
	const size_t before = atomic_load(&self->deeds->len);

	if (len > LINES_BYTES - before)
		die("the log", "has no room for more lines");
	memcpy(self->deeds->lines + before, line, len);
	atomic_store(&self->deeds->len, before + len);
}

static void
write_file(const struct deeds *deeds, const char *path)
{
	const size_t len = atomic_load(&deeds->len);
	FILE *file = fopen(path, "we");

	if (!file || fwrite(deeds->lines, 1, len, file) != len || fclose(file) != 0)
		die(path, strerror(errno));
}

static void
note_got(const struct consumer *self, const struct rpmac_msg *msg)
{
	char line[160], hex[SHA256_HEX];
	int len;

	sha256_hex(msg->data, msg->len, hex);
	len = snprintf(line, sizeof(line), "got %llu %u %zu %s\n",
	    (unsigned long long)msg->seq, msg->deliveries, msg->len, hex);
	append(self, line, (size_t)len);
	atomic_fetch_add(&self->deeds->got, 1);
}

static void
note_acked(const struct consumer *self, const uint64_t *seqs, unsigned int count)
{
	char line[24 * ROUND_MAX + 16] = "acked";
	size_t len = strlen(line);
	unsigned int i;

	for (i = 0; i < count; i++)
		len += (size_t)snprintf(line + len, sizeof(line) - len, " %llu",
		    (unsigned long long)seqs[i]);
	line[len++] = '\n';
	append(self, line, len);
}

/* Take messages in rounds. return   when none came for idle_ms; -1: it never does */
static void
consume(struct consumer *self, int idle_ms)
{
	struct rpmac *rpmac = rpmac_new();
	const struct rpmac_msg *msg;
	uint64_t seqs[ROUND_MAX];
	unsigned int count, round;
	int rc = 0;

	if (!rpmac || rpmac_open(rpmac, self->socket, ANSWER_MS) < 0 ||
	    rpmac_set_batch(rpmac, BATCH) < 0)
		die("open", rpmac_error(rpmac));
	while (rc == 0) {
		round = 1 + draw(&self->seed, ROUND_MAX);
		for (count = 0; count < round; count++) {
			rc = rpmac_next(rpmac, count == 0 ? idle_ms : 0, &msg);
			if (rc < 0)
				break;
			note_got(self, msg);
			while (atomic_load(&self->deeds->got) >= self->last)
				(void)pause();
			if (rpmac_check(rpmac) < 0 || rpmac_ack(rpmac, msg) < 0)
				die("acknowledge", rpmac_error(rpmac));
			seqs[count] = msg->seq;
		}
		if (rc < 0 && rc != -EAGAIN)
			die("next", rpmac_error(rpmac));
		if (count == 0)
			break;
		rc = rpmac_flush(rpmac);
		if (rc < 0)
			die("flush", rpmac_error(rpmac));
		note_acked(self, seqs, count);
	}
	rpmac_close(&rpmac);
}

/* One that is killed some messages later, wherever it is then. */
static void
live_and_die(struct consumer *self)
{
	const unsigned int until =
	    atomic_load(&self->deeds->got) + 1 + draw(&self->seed, LIFE_MAX);
	const uint64_t end_ms = now_ms() + PATIENCE_MS;
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		self->last = until + LATE_MAX;
		consume(self, RPMAC_FOREVER);
		_exit(2);
	}
	while (atomic_load(&self->deeds->got) < until && now_ms() < end_ms)
		(void)usleep(50);
	(void)usleep(draw(&self->seed, 2000));
	if (pid < 0 || kill(pid, SIGKILL) != 0 || waitpid(pid, &status, 0) != pid ||
	    !WIFSIGNALED(status))
		die("a consumer", "has ended by itself");
	if (atomic_load(&self->deeds->got) < until)
		die("a consumer", "met too few messages");
}

int
main(int argc, char *argv[])
{
	struct consumer self = { .last = UINT_MAX };
	unsigned long kills, killed;

	if (argc != 5) {
		(void)fprintf(stderr,
		    "usage: consume_in_place SOCKET FILE KILLS SEED\n");
		return 2;
	}
	self.socket = argv[1];
	self.seed = (unsigned int)strtoul(argv[4], NULL, 10);
	self.deeds = mmap(NULL, sizeof(*self.deeds), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (self.deeds == MAP_FAILED)
		die("shared memory", strerror(errno));
	kills = strtoul(argv[3], NULL, 10);
	for (killed = 0; killed < kills; killed++) {
		/* Each child begins with what the parent has drawn. */
		(void)draw(&self.seed, 2);
		live_and_die(&self);
	}
	consume(&self, IDLE_MS);
	write_file(self.deeds, argv[2]);
	(void)printf("killed=%lu got=%u\n", killed, atomic_load(&self.deeds->got));
	return 0;
}
