/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon over the doubles as a process of its own, and clients of its socket. */
#include <config.h>

#include "tests/unit/daemon_rig.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <check.h>
#include <jansson.h>

#define PATIENCE_MS 20000u
#define READ_SIZE   65536u

#define FIRST_HANDED 3 /* SD_LISTEN_FDS_START */

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif

uint64_t
daemon_rig_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t
daemon_rig_slack_kb(void)
{
#ifdef HAS_ASAN
	return 131072; /* its shadow, and what it keeps of freed memory */
#else
	return 0;
#endif
}

/* ---- the process ---- */

void
daemon_rig_configure(const struct daemon_rig *rig, const char *members,
    const char *control)
{
	FILE *f = fopen(rig->config, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_gt(fprintf(f, "{%s%s\"control\": {\"socket\": \"%s\"%s%s}}\n",
			     members ? members : "", members ? ", " : "", rig->socket,
			     control ? ", " : "", control ? control : ""),
	    0);
	ck_assert_int_eq(fclose(f), 0);
}

/* As sd_listen_fds(3) tells, in the process that is to be it. */
static void
hand_over(const struct daemon_rig *rig)
{
	char text[16];
	unsigned int i;

	if (rig->kept_count == 0)
		return;
	/* Where none is in the way of another. */
	for (i = 0; i < rig->kept_count; i++)
		(void)dup2(rig->kept[i], (int)(FIRST_HANDED + 100 + i));
	for (i = 0; i < rig->kept_count; i++)
		(void)dup2((int)(FIRST_HANDED + 100 + i), (int)(FIRST_HANDED + i));
	(void)snprintf(text, sizeof(text), "%ld", (long)getpid());
	(void)setenv("LISTEN_PID", text, 1);
	(void)snprintf(text, sizeof(text), "%u", rig->kept_count);
	(void)setenv("LISTEN_FDS", text, 1);
	(void)setenv("LISTEN_FDNAMES", rig->kept_names, 1);
}

static void
run(const struct daemon_rig *rig, const char *program)
{
	const struct rlimit limit = { rig->max_fds, rig->max_fds };
	int fd = open(rig->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	(void)dup2(fd, 1);
	(void)dup2(fd, 2);
	(void)close(fd);
	hand_over(rig);
	if (rig->max_fds > 0 && setrlimit(RLIMIT_NOFILE, &limit) < 0)
		_exit(126);
#ifdef HAS_ASAN
	/* What was freed is to count as free, or nearly so. */
	(void)setenv("ASAN_OPTIONS",
	    "quarantine_size_mb=1:thread_local_quarantine_size_kb=64:detect_leaks=1",
	    1);
#endif
	(void)execl(program, program, "-c", rig->config, (char *)NULL);
	_exit(127);
}

static int
dial(const struct daemon_rig *rig)
{
	const struct timeval patience = { .tv_sec = PATIENCE_MS / 1000 };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", rig->socket);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0) {
		(void)close(fd);
		return -1;
	}
	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
			     sizeof(patience)),
	    0);
	return fd;
}

void
daemon_rig_start_again(struct daemon_rig *rig)
{
	const uint64_t end_ms = daemon_rig_now_ms() + PATIENCE_MS;
	const char *top = getenv("top_builddir");
	char program[512];
	int fd;

	(void)snprintf(program, sizeof(program), "%s/tests/fake/rpmad-fake",
	    top ? top : ".");
	ck_assert_msg(access(program, X_OK) == 0, "there is no %s", program);
	rig->pid = fork();
	ck_assert_int_ge(rig->pid, 0);
	if (rig->pid == 0)
		run(rig, program);
	while ((fd = dial(rig)) < 0) {
		ck_assert_msg(daemon_rig_now_ms() < end_ms &&
			waitpid(rig->pid, NULL, WNOHANG) == 0,
		    "no daemon, see %s", rig->log);
		(void)usleep(5000);
	}
	(void)close(fd);
}

void
daemon_rig_start(struct daemon_rig *rig, const char *members, const char *control)
{
	(void)snprintf(rig->dir, sizeof(rig->dir), "/tmp/daemon_rig.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rig->dir));
	(void)snprintf(rig->socket, sizeof(rig->socket), "%s/sock", rig->dir);
	(void)snprintf(rig->config, sizeof(rig->config), "%s/rpmad.json", rig->dir);
	(void)snprintf(rig->log, sizeof(rig->log), "%s/log", rig->dir);
	daemon_rig_configure(rig, members, control);
	daemon_rig_start_again(rig);
}

void
daemon_rig_end(struct daemon_rig *rig)
{
	char command[128];
	int status;

	ck_assert_int_eq(kill(rig->pid, SIGTERM), 0);
	ck_assert_int_eq(waitpid(rig->pid, &status, 0), rig->pid);
	(void)snprintf(command, sizeof(command), "cat %s >&2", rig->log);
	if (status != 0)
		(void)system(command);
	ck_assert_int_eq(status, 0);
	(void)snprintf(command, sizeof(command), "rm -rf %s", rig->dir);
	ck_assert_int_eq(system(command), 0);
}

uint64_t
daemon_rig_rss_kb(const struct daemon_rig *rig)
{
	unsigned long long kb = 0;
	char path[64], line[256];
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%ld/status", (long)rig->pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %llu kB", &kb) == 1)
			break;
	(void)fclose(f);
	ck_assert_uint_gt(kb, 0);
	return kb;
}

unsigned int
daemon_rig_fds(const struct daemon_rig *rig)
{
	unsigned int count = 0;
	char path[64];
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%ld/fd", (long)rig->pid);
	dir = opendir(path);
	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		count++;
	(void)closedir(dir);
	return count;
}

uint64_t
daemon_rig_cpu_ns(const struct daemon_rig *rig)
{
	struct timespec used;
	clockid_t clock;

	ck_assert_int_eq(clock_getcpuclockid(rig->pid, &clock), 0);
	ck_assert_int_eq(clock_gettime(clock, &used), 0);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

bool
daemon_rig_has_logged(const struct daemon_rig *rig, const char *text)
{
	FILE *f = fopen(rig->log, "re");
	bool found = false;
	char line[2048];

	ck_assert_ptr_nonnull(f);
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, text) != NULL;
	(void)fclose(f);
	return found;
}

/* ---- a client ---- */

void
daemon_client_open(const struct daemon_rig *rig, struct daemon_client *client)
{
	*client = (struct daemon_client){ .fd = dial(rig) };
	ck_assert_msg(client->fd >= 0, "connect: %s", strerror(errno));
}

void
daemon_client_close(struct daemon_client *client)
{
	if (client->fd >= 0)
		(void)close(client->fd);
	free(client->buf);
	*client = (struct daemon_client){ .fd = -1 };
}

void
daemon_client_send(struct daemon_client *client, const void *bytes, size_t len)
{
	const char *next = bytes;
	ssize_t n;

	for (; len > 0; next += n, len -= (size_t)n) {
		n = send(client->fd, next, len, MSG_NOSIGNAL);
		ck_assert_msg(n > 0, "send: %s", strerror(errno));
	}
}

void
daemon_client_puts(struct daemon_client *client, const char *text)
{
	daemon_client_send(client, text, strlen(text));
}

void
daemon_client_sync(struct daemon_client *client)
{
	const uint64_t end_ms = daemon_rig_now_ms() + PATIENCE_MS;
	int unread;

	for (;;) {
		ck_assert_int_eq(ioctl(client->fd, SIOCOUTQ, &unread), 0);
		if (unread == 0)
			return;
		ck_assert_msg(daemon_rig_now_ms() < end_ms, "it does not read");
		(void)usleep(100);
	}
}

const char *
daemon_client_line(struct daemon_client *client)
{
	char *lf;
	ssize_t n;

	client->len -= client->used;
	if (client->len > 0)
		memmove(client->buf, client->buf + client->used, client->len);
	client->used = 0;
	for (;;) {
		lf = client->len > 0 ? memchr(client->buf, '\n', client->len) : NULL;
		if (lf) {
			*lf = '\0';
			client->used = (size_t)(lf - client->buf) + 1;
			return client->buf;
		}
		if (client->size - client->len < READ_SIZE) {
			client->size = client->size * 2 + READ_SIZE;
			client->buf = realloc(client->buf, client->size);
			ck_assert_ptr_nonnull(client->buf);
		}
		n = recv(client->fd, client->buf + client->len, READ_SIZE, 0);
		ck_assert_msg(n >= 0 || errno == ECONNRESET, "recv: %s",
		    strerror(errno));
		if (n <= 0)
			return NULL;
		client->len += (size_t)n;
	}
}

json_t *
daemon_client_json(struct daemon_client *client)
{
	const char *line = daemon_client_line(client);
	json_t *json;

	ck_assert_msg(line != NULL, "the connection has ended");
	json = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	ck_assert_msg(json != NULL, "no JSON: %.400s", line);
	return json;
}

json_t *
daemon_client_call(struct daemon_client *client, const char *method, const char *params)
{
	char line[1024];
	json_t *reply, *result;

	(void)snprintf(line, sizeof(line),
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"%s\",\"params\":%s}\n", method,
	    params ? params : "{}");
	daemon_client_puts(client, line);
	reply = daemon_client_json(client);
	result = json_incref(json_object_get(reply, "result"));
	if (!result) {
		char *text = json_dumps(reply, 0);

		ck_abort_msg("%s: %.400s", method, text);
	}
	json_decref(reply);
	return result;
}
