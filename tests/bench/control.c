/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control.c: measures the control socket beside something that is known. All pairs are
 * taken in turn, and medians are printed, "NAME OURS THEIRS RATIO" on a line.
 *
 *   control run TIMES OURS... -- THEIRS...     microseconds of two whole processes
 *   control poll TIMES SOCKET REDIS MESSAGES   MB/s of payload, recv.poll and LRANGE
 *   control ping TIMES SOCKET REDIS            microseconds of listener.list and PING
 *   control echo TIMES SOCKET                  and of a line that a process sends back at once
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/dial.h"

#define MESSAGE_SIZE 64
#define BUFFER_SIZE  (8u << 20)
#define TIMES_MAX    10000

extern char **environ;

static void
die(const char *what)
{
	fprintf(stderr, "control: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double
now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int
compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double
median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return values[count / 2];
}

/* ---- whole processes ---- */

static double
run(char *const *argv)
{
	posix_spawn_file_actions_t actions;
	double begin;
	int status, rc;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY,
	    0);
	begin = now_us();
	rc = posix_spawn(&pid, argv[0], &actions, NULL, argv, environ);
	if (rc != 0) {
		errno = rc;
		die(argv[0]);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0) {
		fprintf(stderr, "control: %s ended with status %d\n", argv[0], status);
		exit(1);
	}
	posix_spawn_file_actions_destroy(&actions);
	return now_us() - begin;
}

static void
run_both(int times, char **argv)
{
	static double ours[TIMES_MAX], theirs[TIMES_MAX];
	char **other = argv;
	int i;

	while (*other && strcmp(*other, "--") != 0)
		other++;
	if (!*other) {
		fprintf(stderr, "control: a second command is missing\n");
		exit(2);
	}
	*other++ = NULL;
	for (i = 0; i < times; i++) {
		ours[i] = run(argv);
		theirs[i] = run(other);
	}
	printf("run %.0f %.0f %.2f\n", median(ours, times), median(theirs, times),
	    median(ours, times) / median(theirs, times));
}

/* ---- requests ---- */

static void
ask(int fd, const char *request, size_t len)
{
	ssize_t n;

	for (; len > 0; request += n, len -= (size_t)n) {
		n = send(fd, request, len, MSG_NOSIGNAL);
		if (n < 0)
			die("send");
	}
}

/* Read until len bytes are there, or with len 0 until a line is. return   bytes */
static size_t
answer(int fd, char *buffer, size_t len)
{
	size_t have = 0;
	ssize_t n;

	do {
		n = recv(fd, buffer + have, BUFFER_SIZE - have - 1, 0);
		if (n <= 0)
			die("the other end");
		have += (size_t)n;
	} while (len > 0 ? have < len : buffer[have - 1] != '\n');
	buffer[have] = '\0';
	return have;
}

static double
exchange(int fd, const char *request, char *buffer, size_t len)
{
	double begin = now_us();

	ask(fd, request, strlen(request));
	answer(fd, buffer, len);
	return now_us() - begin;
}

/* ---- messages ---- */

/* Give back what a reply holds, so that the next one finds it. return   messages */
static int
give_back(int fd, char *buffer, char *request)
{
	static const char key[] = "\"token\":\"";
	const char *at = buffer;
	size_t len;
	int count = 0;

	len = (size_t)sprintf(request,
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"recv.nack\",\"params\":{\"tokens\":[");
	while ((at = strstr(at, key))) {
		at += sizeof(key) - 1;
		len += (size_t)sprintf(request + len, "%s\"%.*s\"", count ? "," : "",
		    (int)strcspn(at, "\""), at);
		count++;
	}
	len += (size_t)sprintf(request + len, "]}}\n");
	ask(fd, request, len);
	answer(fd, buffer, 0);
	return count;
}

/* A list of as many messages of that size. */
static void
fill(int fd, int messages, char *buffer)
{
	char request[256];
	int i;

	for (i = 0; i < messages; i++) {
		sprintf(request, "*3\r\n$5\r\nRPUSH\r\n$4\r\nlist\r\n$%d\r\n%0*d\r\n",
		    MESSAGE_SIZE, MESSAGE_SIZE, 7);
		exchange(fd, request, buffer, 0);
	}
}

static void
poll_both(int times, const char *path, const char *redis_path, int messages)
{
	static double ours[TIMES_MAX], theirs[TIMES_MAX];
	int fd = dial(path), redis = dial(redis_path), i, count;
	char *buffer = malloc(BUFFER_SIZE), *request = malloc(BUFFER_SIZE);
	double bytes = (double)messages * MESSAGE_SIZE;
	char poll[256], range[128];
	size_t len;

	fill(redis, messages, buffer);
	sprintf(poll,
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"recv.poll\",\"params\":{\"max\":%d}}\n",
	    messages);
	sprintf(range, "*4\r\n$6\r\nLRANGE\r\n$4\r\nlist\r\n$1\r\n0\r\n$2\r\n-1\r\n");
	len = (size_t)sprintf(request, "*%d\r\n", messages) +
	    (size_t)messages * (MESSAGE_SIZE + 7);
	for (i = 0; i < times; i++) {
		ours[i] = bytes / exchange(fd, poll, buffer, 0);
		count = give_back(fd, buffer, request);
		if (count != messages) {
			fprintf(stderr, "control: %d messages, not %d\n", count,
			    messages);
			exit(1);
		}
		theirs[i] = bytes / exchange(redis, range, buffer, len);
	}
	printf("poll %.1f %.1f %.2f\n", median(ours, times), median(theirs, times),
	    median(ours, times) / median(theirs, times));
}

static void
ping_both(int times, const char *path, const char *redis_path)
{
	static const char list[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"listener.list\"}\n";
	static double ours[TIMES_MAX], theirs[TIMES_MAX];
	int fd = dial(path), redis = dial(redis_path), i;
	char *buffer = malloc(BUFFER_SIZE);

	for (i = 0; i < times; i++) {
		ours[i] = exchange(fd, list, buffer, 0);
		theirs[i] = exchange(redis, "PING\r\n", buffer, 0);
	}
	printf("ping %.1f %.1f %.2f\n", median(ours, times), median(theirs, times),
	    median(ours, times) / median(theirs, times));
}

/* A process that sends back each line, as long as the other end is there. */
static int
start_echo(void)
{
	char buffer[4096];
	ssize_t n;
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		die("socketpair");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid > 0) {
		(void)close(fds[1]);
		return fds[0];
	}
	(void)close(fds[0]);
	while ((n = recv(fds[1], buffer, sizeof(buffer), 0)) > 0)
		if (send(fds[1], buffer, (size_t)n, MSG_NOSIGNAL) != n)
			break;
	_exit(0);
}

static void
echo_both(int times, const char *path)
{
	static const char list[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"listener.list\"}\n";
	static double ours[TIMES_MAX], theirs[TIMES_MAX];
	int fd = dial(path), echo = start_echo(), i;
	char *buffer = malloc(BUFFER_SIZE);

	for (i = 0; i < times; i++) {
		ours[i] = exchange(fd, list, buffer, 0);
		theirs[i] = exchange(echo, list, buffer, 0);
	}
	printf("%.1f %.1f %.2f\n", median(ours, times), median(theirs, times),
	    median(ours, times) / median(theirs, times));
}

int
main(int argc, char **argv)
{
	int times = argc > 2 ? atoi(argv[2]) : 0;

	if (times < 1 || times > TIMES_MAX) {
		fprintf(stderr, "control: 1 to %d times\n", TIMES_MAX);
		return 2;
	}
	if (argc > 5 && strcmp(argv[1], "run") == 0)
		run_both(times, argv + 3);
	else if (argc == 6 && strcmp(argv[1], "poll") == 0)
		poll_both(times, argv[3], argv[4], atoi(argv[5]));
	else if (argc == 5 && strcmp(argv[1], "ping") == 0)
		ping_both(times, argv[3], argv[4]);
	else if (argc == 4 && strcmp(argv[1], "echo") == 0)
		echo_both(times, argv[3]);
	else
		return 2;
	return 0;
}
