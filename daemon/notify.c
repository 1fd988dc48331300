/* SPDX-License-Identifier: BSD-3-Clause */
/* The service manager: readiness, watchdog, and what is handed over and kept. */
#include <config.h>

#include "daemon/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef HAVE_LIBSYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include "daemon/loop.h"
#include "lib/core/log.h"
#include "lib/core/num.h"

#define FIRST_FD   3 /* where handed-over descriptors begin, sd_listen_fds(3) */
#define STATUS_MAX 256

struct notify {
	struct loop_timer *timer; /* NULL: no watchdog */
	uint64_t interval_ms;
};

static void
tell(const char *state)
{
#ifdef HAVE_LIBSYSTEMD
	/* Nobody listens, or the manager is away: the service goes on all the same. */
	(void)sd_notify(0, state);
#else
	(void)state;
#endif
}

/* How often the watchdog wants to be fed; 0: not at all. */
static uint64_t
watchdog_interval_ms(void)
{
#ifdef HAVE_LIBSYSTEMD
	uint64_t limit_us;

	if (sd_watchdog_enabled(0, &limit_us) > 0)
		return limit_us / 3000 + 1;
#endif
	return 0;
}

const char *
notify_lack(void)
{
#ifdef HAVE_LIBSYSTEMD
	return NULL;
#else
	return "built without libsystemd: a service manager is told nothing and keeps no "
	       "messages over a restart; a unit needs Type=exec and no WatchdogSec=";
#endif
}

static void
on_timer(void *arg)
{
	struct notify *notify = arg;

	tell("WATCHDOG=1");
	loop_timer_start(notify->timer, notify->interval_ms);
}

int
notify_new(struct loop *loop, struct notify **out)
{
	struct notify *notify = calloc(1, sizeof(*notify));

	if (!notify)
		return -ENOMEM;
	if (notify_lack() && getenv("NOTIFY_SOCKET"))
		log_warning("notify", "%s", notify_lack());
	notify->interval_ms = watchdog_interval_ms();
	if (notify->interval_ms > 0) {
		if (loop_timer_new(loop, on_timer, notify, &notify->timer) < 0) {
			free(notify);
			return -ENOMEM;
		}
		on_timer(notify);
	}
	*out = notify;
	return 0;
}

void
notify_free(struct notify *notify)
{
	if (!notify)
		return;
	loop_timer_free(notify->timer);
	free(notify);
}

void
notify_busy(void)
{
	char state[64];

	(void)snprintf(state, sizeof(state), "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=%llu",
	    NOTIFY_BUSY_S * 1000000ull);
	tell(state);
}

void
notify_ready(void)
{
	tell("READY=1");
}

void
notify_stopping(void)
{
	tell("STOPPING=1");
}

void
notify_status(const char *fmt, ...)
{
	char text[STATUS_MAX] = "STATUS=";
	const size_t used = sizeof("STATUS=") - 1;
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text + used, sizeof(text) - used, fmt, args);
	va_end(args);
	tell(text);
}

/* Whether an environment variable is a number; *out is written then. */
static bool
env_number(const char *name, uint64_t *out)
{
	const char *text = getenv(name);

	return text && num_parse_u64(text, out) == 0;
}

/* An option of a socket, -1 when it has none. */
static int
socket_option(int fd, int option)
{
	socklen_t size = sizeof(int);
	int value;

	return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

int
notify_keep(const char *name, const int *fds, unsigned int count)
{
#ifdef HAVE_LIBSYSTEMD
	char state[sizeof("FDSTORE=1\nFDNAME=") + NOTIFY_NAME_MAX];
	uint64_t room;
	int rc;

	if (env_number("FDSTORE", &room) && room < count)
		return 0;
	(void)snprintf(state, sizeof(state), "FDSTORE=1\nFDNAME=%s", name);
	rc = sd_pid_notify_with_fds(0, 0, state, fds, count);
	return rc > 0 ? 1 : rc;
#else
	(void)name;
	(void)fds;
	(void)count;
	return 0;
#endif
}

void
notify_unkeep(const char *name)
{
	char state[sizeof("FDSTOREREMOVE=1\nFDNAME=") + NOTIFY_NAME_MAX];

	(void)snprintf(state, sizeof(state), "FDSTOREREMOVE=1\nFDNAME=%s", name);
	tell(state);
}

/* One descriptor that was handed over. */
static int
take_fd(struct notify_fds *out, int fd, const char *name, size_t name_len,
    struct err *err)
{
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (fcntl(fd, F_GET_SEALS) >= 0) {
		if (out->kept_count == NOTIFY_KEPT_MAX)
			return err_set(err, ERR_INVALID_PARAMS, 0,
			    "the service manager keeps more than %u descriptors",
			    NOTIFY_KEPT_MAX);
		out->kept[out->kept_count].fd = fd;
		(void)snprintf(out->kept[out->kept_count].name, NOTIFY_NAME_MAX, "%.*s",
		    (int)name_len, name);
		out->kept_count++;
		return 0;
	}
	if (socket_option(fd, SO_DOMAIN) != AF_UNIX ||
	    socket_option(fd, SO_TYPE) != SOCK_STREAM ||
	    socket_option(fd, SO_ACCEPTCONN) != 1)
		return err_set(err, ERR_INVALID_PARAMS, 0,
		    "the socket that the service manager handed over is no listening "
		    "AF_UNIX stream socket");
	if (out->socket >= 0)
		return err_set(err, ERR_INVALID_PARAMS, 0,
		    "the service manager handed over more than one socket");
	out->socket = fd;
	return 0;
}

static int
take_fds(struct notify_fds *out, struct err *err)
{
	const char *names = getenv("LISTEN_FDNAMES");
	uint64_t pid = 0, count = 0, i;
	int rc = 0;

	if (!env_number("LISTEN_PID", &pid) || pid != (uint64_t)getpid() ||
	    !env_number("LISTEN_FDS", &count))
		return 0;
	for (i = 0; rc == 0 && i < count; i++) {
		size_t len = names ? strcspn(names, ":") : 0;

		rc = take_fd(out, FIRST_FD + (int)i, names ? names : "", len, err);
		if (names)
			names += len + (names[len] == ':');
	}
	return rc;
}

int
notify_take_fds(struct notify_fds *out, struct err *err)
{
	struct notify_fds fds = { .socket = -1 };
	int rc = take_fds(&fds, err);

	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
	if (rc == 0)
		*out = fds;
	return rc;
}
