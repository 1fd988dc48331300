/* SPDX-License-Identifier: BSD-3-Clause */
/* A scripted daemon in a process of its own, captured runs, golden files. */
#include <config.h>

#include "tests/unit/ctl_harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <check.h>

#include "ctl/ctl.h"

#define LINE_SIZE        (4u << 20)
#define STUFF_SIZE       (4u << 20)
#define ARGV_MAX         64
/* Check takes no longer messages. */
#define GOLDEN_SHOWN_MAX 4000u

static const struct step proper_hello = {
	"\"method\":\"rpc.hello\"",
	STEP_RESULT,
	"{\"name\":\"rpmad\",\"version\":\"1.4.0\",\"protocol\":1,"
	"\"instance\":\"0123456789abcdef\",\"pid\":1,\"role\":\"admin\","
	"\"limits\":{\"max_request\":1048576,\"max_reply\":3145728,\"max_batch\":256,"
	"\"max_depth\":32,\"max_values\":8192,\"max_clients\":64}}",
};

/* Read a line; false: the end. */
static bool
read_line(FILE *in, char *line)
{
	size_t len;

	if (!fgets(line, LINE_SIZE, in))
		return false;
	len = strlen(line);
	if (len > 0 && line[len - 1] == '\n')
		line[len - 1] = '\0';
	return true;
}

static void
write_all(int fd, const char *text, size_t len, size_t piece)
{
	ssize_t n;

	while (len > 0) {
		n = write(fd, text, len < piece ? len : piece);
		if (n <= 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

/* Write {"jsonrpc":"2.0","id":ID,"key":TEXT}; half of it, or all. */
static void
reply(int fd, long id, const char *key, const char *text, size_t piece, bool half)
{
	size_t size = strlen(text) + 128, len;
	char *line = malloc(size);

	len = (size_t)snprintf(line, size,
	    "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"%s\":%s}\n", id, key, text);
	write_all(fd, line, half ? len / 2 : len, piece);
	free(line);
}

static void
reply_stuff(int fd, long id)
{
	char *text = malloc(STUFF_SIZE + 32);

	memcpy(text, "{\"stuff\":\"", 10);
	memset(text + 10, 'x', STUFF_SIZE);
	memcpy(text + 10 + STUFF_SIZE, "\"}", 3);
	reply(fd, id, "result", text, LINE_SIZE, false);
	free(text);
}

/* Take a step. return   whether the connection goes on */
static bool
take_step(int fd, const struct step *step, long id)
{
	switch (step->action) {
	case STEP_RESULT:
		reply(fd, id, "result", step->text, LINE_SIZE, false);
		return true;
	case STEP_ERROR:
		reply(fd, id, "error", step->text, LINE_SIZE, false);
		return true;
	case STEP_RAW:
		write_all(fd, step->text, strlen(step->text), LINE_SIZE);
		return true;
	case STEP_BYTEWISE:
		reply(fd, id, "result", step->text, 1, false);
		return true;
	case STEP_HALF:
		reply(fd, id, "result", step->text, LINE_SIZE, true);
		return false;
	case STEP_STUFF:
		reply_stuff(fd, id);
		return true;
	case STEP_SIGNAL:
		(void)kill(getppid(), SIGTERM);
		return true;
	case STEP_CLOSE:
	case STEP_UNREAD:
		return false;
	case STEP_SILENT:
		return true;
	}
	return false;
}

/* Compare a request with what the step expects; its id goes to *id. */
static bool
is_expected(const struct step *step, const char *line, long *id)
{
	static const char start[] = "{\"jsonrpc\":\"2.0\",\"id\":";
	char *rest;

	if (strncmp(line, start, sizeof(start) - 1) != 0)
		return false;
	*id = strtol(line + sizeof(start) - 1, &rest, 10);
	if (*rest != ',')
		return false;
	return !step->expect ||
	    strncmp(rest + 1, step->expect, strlen(step->expect)) == 0;
}

/* Serve connections until the other end of end_fd is closed; then say how it went. */
static int
serve(int listener, int end_fd, const struct step *hello, const struct step *steps)
{
	struct pollfd fds[] = {
		{ .fd = listener, .events = POLLIN },
		{ .fd = end_fd, .events = POLLIN },
	};
	char *line = malloc(LINE_SIZE);
	const struct step *step;
	bool said_hello;
	FILE *in;
	long id;
	int fd;

	while (poll(fds, 2, -1) > 0 && fds[0].revents) {
		fd = accept(listener, NULL, NULL);
		in = fdopen(fd, "r");
		said_hello = false;
		if (hello->action == STEP_UNREAD)
			write_all(fd, hello->text, strlen(hello->text), LINE_SIZE);
		while (hello->action != STEP_UNREAD && read_line(in, line)) {
			step = said_hello ? steps : hello;
			if (said_hello && step->action == STEP_RESULT && !step->text) {
				(void)fprintf(stderr, "not expected: %s\n", line);
				_exit(2);
			}
			if (!is_expected(step, line, &id)) {
				(void)fprintf(stderr, "expected: %s\nread: %s\n",
				    step->expect, line);
				_exit(3);
			}
			steps += said_hello;
			said_hello = true;
			if (!take_step(fd, step, id))
				break;
		}
		(void)fclose(in);
	}
	free(line);
	return steps->action == STEP_RESULT && !steps->text ? 0 : 4;
}

void
scratch_make(char *dir, size_t size)
{
	const char *base = getenv("TMPDIR");

	(void)snprintf(dir, size, "%.32s/rpmactl.XXXXXX", base ? base : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

void
scratch_remove(const char *dir)
{
	char path[512];
	struct dirent *entry;
	DIR *stream = opendir(dir);

	while (stream && (entry = readdir(stream))) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		(void)unlink(path);
	}
	if (stream)
		(void)closedir(stream);
	(void)rmdir(dir);
}

void
server_start(struct server *server, const struct step *hello, const struct step *steps)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int end[2];

	scratch_make(server->dir, sizeof(server->dir));
	(void)snprintf(server->path, sizeof(server->path), "%s/sock", server->dir);
	memcpy(address.sun_path, server->path, strlen(server->path) + 1);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)),
	    0);
	ck_assert_int_eq(listen(fd, 8), 0);
	ck_assert_int_eq(pipe2(end, O_CLOEXEC), 0);
	(void)fflush(NULL);
	server->pid = fork();
	ck_assert_int_ge(server->pid, 0);
	if (server->pid == 0) {
		(void)signal(SIGPIPE, SIG_IGN);
		(void)close(end[1]);
		_exit(serve(fd, end[0], hello ? hello : &proper_hello, steps));
	}
	(void)close(fd);
	(void)close(end[0]);
	server->end_fd = end[1];
}

int
server_stop(struct server *server)
{
	int status = -1;

	(void)close(server->end_fd);
	(void)waitpid(server->pid, &status, 0);
	scratch_remove(server->dir);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Put a descriptor in the place of a standard one; return a copy of that. */
static int
redirect(int to, int fd)
{
	int saved = dup(to);

	ck_assert_int_eq(dup2(fd, to), to);
	return saved;
}

static size_t
read_back(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);

	ck_assert_int_ge(n, 0);
	text[n] = '\0';
	return (size_t)n;
}

void
ctl_run_into(struct capture *capture, int out_fd, const char *path,
    const char *const *argv)
{
	int err = memfd_create("err", MFD_CLOEXEC);
	char *full[ARGV_MAX] = { NULL };
	int argc = 0, saved_out, saved_err, i;

	full[argc++] = strdup("rpmactl");
	if (path) {
		full[argc++] = strdup("--socket");
		full[argc++] = strdup(path);
	}
	while (*argv && argc + 1 < ARGV_MAX)
		full[argc++] = strdup(*argv++);
	(void)fflush(NULL);
	saved_out = redirect(STDOUT_FILENO, out_fd);
	saved_err = redirect(STDERR_FILENO, err);
	capture->status = ctl_main(argc, full);
	(void)fflush(stderr);
	(void)close(redirect(STDOUT_FILENO, saved_out));
	(void)close(redirect(STDERR_FILENO, saved_err));
	(void)read_back(err, capture->err, sizeof(capture->err));
	(void)close(saved_out);
	(void)close(saved_err);
	(void)close(err);
	for (i = 0; i < argc; i++)
		free(full[i]);
}

void
ctl_run(struct capture *capture, const char *path, const char *const *argv)
{
	int out = memfd_create("out", MFD_CLOEXEC);

	ctl_run_into(capture, out, path, argv);
	capture->out_len = read_back(out, capture->out, sizeof(capture->out));
	(void)close(out);
}

void
golden_check(const char *name, const char *text, size_t len)
{
	const char *top = getenv("top_srcdir");
	char path[512], *wanted;
	size_t n;
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/tests/cli/golden/%s.out",
	    top ? top : ".", name);
	if (getenv("UPDATE")) {
		file = fopen(path, "w");
		ck_assert_msg(file != NULL, "cannot write %s", path);
		ck_assert_uint_eq(fwrite(text, 1, len, file), len);
		ck_assert_int_eq(fclose(file), 0);
		return;
	}
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "cannot read %s: UPDATE=1 makes it", path);
	wanted = calloc(1, len + 2);
	n = fread(wanted, 1, len + 1, file);
	(void)fclose(file);
	ck_assert_msg(n == len && memcmp(wanted, text, len) == 0,
	    "differs from %s (UPDATE=1 rewrites it):\n%.*s", path,
	    (int)(len < GOLDEN_SHOWN_MAX ? len : GOLDEN_SHOWN_MAX), text);
	free(wanted);
}
