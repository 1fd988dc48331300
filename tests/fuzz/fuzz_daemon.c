/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole daemon in this process, over the doubles of its device, fed with what several
 * clients send: whatever comes, every line that goes out is JSON, the ledger balances,
 * nothing of a client stays behind, and no object of the device either.
 *
 * The input is what the current client sends, but for the byte 0xff, which UTF-8 does not
 * have: the next one is a command, see command(). Nothing waits: time stands nearly still.
 */
#include <config.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>

#include "daemon/engine.h"
#include "lib/core/log.h"
#include "tests/fake/fake.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/crig_build.h"

#define CLIENTS    4u
#define COMMAND    0xff
#define TURNS_MAX  20000u
#define READ_SIZE  65536u
#define LINE_MAX_B 4194304u
#define CONFIG                                                                   \
	"{\"listen\":[\"127.0.0.1:0\"],\"pool\":{\"slots\":8,\"slot_size\":64}," \
	"\"send\":{\"slots\":2},\"connections\":{\"max\":4},"                    \
	"\"control\":{\"max_clients\":3,\"max_request\":65536}}"
#define RELOADED                                                                 \
	"{\"listen\":[\"127.0.0.1:0\"],\"pool\":{\"slots\":8,\"slot_size\":64}," \
	"\"connections\":{\"allow\":[\"192.0.2.0/24\"]},\"receive\":"            \
	"{\"refill\":\"manual\"}}"

/* What one client has read, of the line that is not complete yet. */
struct far {
	int fd; /* -1: none */
	char *line;
	size_t len;
};

struct rig {
	struct crig plane;
	struct far clients[CLIENTS];
	struct far *current;
	struct fake_peer *peer; /* NULL: none connected */
	int reload_fd;          /* a file in memory */
	char reload_path[64];
};

static void
ignore_log(void *arg, enum log_level level, const char *tag, const char *text)
{
	(void)arg;
	(void)level;
	(void)tag;
	(void)text;
}

static void
make_reload_file(struct rig *rig)
{
	const char text[] = RELOADED;

	rig->reload_fd = memfd_create("rpmad.json", MFD_CLOEXEC);
	FUZZ_CHECK(rig->reload_fd >= 0);
	FUZZ_CHECK(write(rig->reload_fd, text, sizeof(text) - 1) ==
	    (ssize_t)sizeof(text) - 1);
	(void)snprintf(rig->reload_path, sizeof(rig->reload_path), "/proc/self/fd/%d",
	    rig->reload_fd);
}

/* ---- the daemon ---- */

static void
build(struct rig *rig)
{
	struct err err;

	fake_reset();
	log_set_sink(ignore_log, NULL);
	make_reload_file(rig);
	rig->plane.file = rig->reload_path;
	rig->plane.devices_root = "/nowhere";
	FUZZ_CHECK(crig_build(&rig->plane, CONFIG, &err) == 0);
}

static void
check_ledger(const struct rig *rig)
{
	FUZZ_CHECK(ledger_check(engine_ledger(rig->plane.engine)));
}

static void
tear_down(struct rig *rig)
{
	check_ledger(rig);
	rpc_begin_stop(rig->plane.rpc);
	rpc_end_calls(rig->plane.rpc);
	crig_tear_down(&rig->plane);
	(void)close(rig->reload_fd);
	FUZZ_CHECK(fake_leaks()[0] == '\0');
	FUZZ_CHECK(fake_misuse()[0] == '\0');
	fake_reset();
}

/* ---- its clients ---- */

static void
check_line(const char *line, size_t len)
{
	json_t *value = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	size_t i;

	FUZZ_CHECK(value);
	json_decref(value);
	for (i = 0; i < len; i++)
		FUZZ_CHECK(line[i] >= ' ' && line[i] <= '~');
}

static void
hang_up(struct far *far)
{
	if (far->fd >= 0)
		(void)close(far->fd);
	free(far->line);
	*far = (struct far){ .fd = -1 };
}

/* Read what is there, and look at every line that is complete. */
static void
read_lines(struct far *far)
{
	char *lf, *start;
	ssize_t n;

	while (far->fd >= 0) {
		far->line = realloc(far->line, far->len + READ_SIZE);
		FUZZ_CHECK(far->line);
		n = recv(far->fd, far->line + far->len, READ_SIZE, MSG_DONTWAIT);
		if (n == 0)
			hang_up(far);
		if (n <= 0)
			return;
		far->len += (size_t)n;
		start = far->line;
		while ((lf = memchr(start, '\n',
			    far->len - (size_t)(start - far->line)))) {
			check_line(start, (size_t)(lf - start));
			start = lf + 1;
		}
		far->len -= (size_t)(start - far->line);
		memmove(far->line, start, far->len);
		FUZZ_CHECK(far->len < LINE_MAX_B);
	}
}

static void
dial(struct rig *rig)
{
	int fds[2];

	if (rig->current->fd >= 0)
		return;
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
		       fds) == 0);
	rig->current->fd = fds[0];
	control_adopt(rig->plane.control, fds[1]);
}

static void
turn(struct rig *rig, unsigned int turns)
{
	for (; turns > 0; turns--)
		FUZZ_CHECK(loop_turn(rig->plane.loop, 0) == 0);
}

/* Send; what a client that was closed, or has ended its requests, has to say is lost. */
static void
feed(struct rig *rig, const uint8_t *data, size_t size)
{
	struct far *far = rig->current;
	unsigned int tries = 0;
	ssize_t n;

	if (size > 0)
		dial(rig);
	while (size > 0 && far->fd >= 0) {
		n = send(far->fd, data, size, MSG_NOSIGNAL);
		if (n > 0) {
			data += n;
			size -= (size_t)n;
			tries = 0;
			continue;
		}
		if (errno != EAGAIN)
			break;
		/* One that reads is served again. */
		FUZZ_CHECK(tries++ < TURNS_MAX);
		turn(rig, 1);
		read_lines(far);
	}
	turn(rig, 1);
}

/* ---- the input ---- */

static void
command(struct rig *rig, uint8_t what)
{
	struct far *far = rig->current;

	switch (what) {
	case 'a':
	case 'b':
	case 'c':
	case 'd': /* one more than are served */
		rig->current = &rig->clients[what - 'a'];
		break;
	case 'h':
		if (far->fd >= 0)
			(void)shutdown(far->fd, SHUT_WR);
		break;
	case 'x':
		hang_up(far);
		break;
	case 'r':
		read_lines(far);
		break;
	case 't':
		turn(rig, 3);
		break;
	case 'p':
		rig->peer = fake_peer_connect(fake_listen_port(0), NULL, 0);
		break;
	case 'm':
		if (rig->peer)
			(void)fake_peer_send(rig->peer, "message", 7, 7);
		break;
	case 'q':
		if (rig->peer)
			fake_peer_disconnect(rig->peer);
		rig->peer = NULL;
		break;
	case 'g':
		fake_device_remove(0);
		rig->peer = NULL;
		break;
	case 'G':
		if (!fake_context(0))
			fake_device_return(0);
		break;
	default:
		break;
	}
	turn(rig, 1);
	check_ledger(rig);
}

/* All clients leave, and nothing of them stays. */
static void
leave(struct rig *rig)
{
	struct control_stats stats = { 0 };
	unsigned int i;

	for (i = 0; i < CLIENTS; i++) {
		read_lines(&rig->clients[i]);
		hang_up(&rig->clients[i]);
	}
	for (i = 0; i < TURNS_MAX; i++) {
		control_get_stats(rig->plane.control, &stats);
		if (stats.clients == 0)
			break;
		turn(rig, 1);
	}
	FUZZ_CHECK(stats.clients == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rig rig = { 0 };
	const uint8_t *at;
	unsigned int i;

	for (i = 0; i < CLIENTS; i++)
		rig.clients[i].fd = -1;
	rig.current = &rig.clients[0];
	build(&rig);
	while (size > 0) {
		at = memchr(data, COMMAND, size);
		feed(&rig, data, at ? (size_t)(at - data) : size);
		if (!at || at + 1 == data + size)
			break;
		command(&rig, at[1]);
		size -= (size_t)(at + 2 - data);
		data = at + 2;
	}
	turn(&rig, 2);
	leave(&rig);
	tear_down(&rig);
	return 0;
}
