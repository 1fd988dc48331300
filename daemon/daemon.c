/* SPDX-License-Identifier: BSD-3-Clause */
/* The composition root: build, run, drain, tear down in the reverse order. */
#include <config.h>

#include "daemon/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/access.h"
#include "daemon/control.h"
#include "daemon/engine.h"
#include "daemon/events.h"
#include "daemon/loop.h"
#include "daemon/notify.h"
#include "daemon/pool.h"
#include "daemon/reload.h"
#include "daemon/rpc.h"
#include "daemon/store.h"
#include "lib/core/log.h"
#include "lib/core/usock.h"

#define STOP_MAX_MS    4000u /* from the wish to stop to the end */
#define LINGER_STEP_MS 10    /* between looks at whether all replies were read */
#define LINGER_STEPS   30

struct daemon {
	struct settings *settings;
	const char *file;
	struct loop *loop;
	struct loop_timer *deadline;
	struct loop_timer *linger;
	struct usock_listener listener; /* fd -1: none yet */
	struct store *store;
	struct access *access;
	struct rpc *rpc;
	struct engine *engine;
	struct control *control;
	struct notify *notify;
	struct events *events;
	struct loop_deferred stop;   /* begin_stop(), from within a call */
	struct loop_deferred finish; /* finish(), likewise */
	unsigned int linger_steps;
	bool is_stopping;
};

/* ---- the end ---- */

static void
begin_stop(void *arg)
{
	struct daemon *daemon = arg;

	if (daemon->is_stopping)
		return;
	daemon->is_stopping = true;
	log_notice("daemon", "stopping");
	events_add(daemon->events, EVENT_DAEMON_STOPPING, 0, NULL, NULL, 0);
	notify_stopping();
	notify_status("stopping");
	rpc_begin_stop(daemon->rpc);
	loop_timer_start(daemon->deadline, STOP_MAX_MS);
	engine_stop(daemon->engine);
}

/* Nothing happens any more: see that the last replies are read, and leave. */
static void
on_linger(void *arg)
{
	struct daemon *daemon = arg;

	if (control_is_drained(daemon->control) ||
	    ++daemon->linger_steps > LINGER_STEPS)
		loop_stop(daemon->loop);
	else
		loop_timer_start(daemon->linger, LINGER_STEP_MS);
}

static void
finish(void *arg)
{
	struct daemon *daemon = arg;

	rpc_end_calls(daemon->rpc);
	loop_timer_start(daemon->linger, 0);
}

static void
on_deadline(void *arg)
{
	struct daemon *daemon = arg;

	log_warning("daemon", "not drained after %u ms: leaving all the same",
	    STOP_MAX_MS);
	loop_stop(daemon->loop);
}

static void
stop_by_signal(struct daemon *daemon)
{
	if (daemon->is_stopping) {
		log_notice("daemon", "second signal: leaving at once");
		loop_stop(daemon->loop);
	} else {
		begin_stop(daemon);
	}
}

/* The service manager keeps the pool for the next start of a restart alone. */
static void
on_term(void *arg)
{
	struct daemon *daemon = arg;

	store_end(daemon->store);
	stop_by_signal(daemon);
}

static void
on_interrupt(void *arg)
{
	stop_by_signal(arg);
}

static void
on_stop_call(void *arg)
{
	struct daemon *daemon = arg;

	store_end(daemon->store);
	loop_defer(daemon->loop, &daemon->stop);
}

/* ---- a new configuration ---- */

/* The group of the socket's file, be it ours or handed over. */
static gid_t
socket_group(int fd)
{
	struct sockaddr_un addr = { 0 };
	socklen_t len = sizeof(addr) - 1; /* leaves a NUL after the path */
	struct stat st;

	if (getsockname(fd, (struct sockaddr *)&addr, &len) < 0 ||
	    addr.sun_path[0] == '\0' || stat(addr.sun_path, &st) < 0)
		return ACCESS_NO_GROUP;
	return st.st_gid;
}

static int
on_reload_call(void *arg, struct settings_diff *diff, struct err *err)
{
	struct daemon *daemon = arg;
	const struct reload reload = { .file = daemon->file,
		.settings = daemon->settings,
		.access = daemon->access,
		.socket_group = socket_group(daemon->listener.fd),
		.rpc = daemon->rpc };

	int rc = reload_run(&reload, diff, err);

	/* One that was read once is not done without later. */
	if (rc == 0)
		daemon->file = settings_file(daemon->file);
	return rc;
}

static void
on_reload_signal(void *arg)
{
	struct settings_diff diff;
	struct err err;

	if (on_reload_call(arg, &diff, &err) < 0)
		log_error("reload", "%s%s%s%s", err.text,
		    err.hint[0] != '\0' ? " (" : "", err.hint,
		    err.hint[0] != '\0' ? ")" : "");
}

/* ---- what the engine says ---- */

static void
on_ready(void *arg)
{
	struct daemon *daemon = arg;

	rpc_messages_ready(daemon->rpc);
}

static void
on_stopped(void *arg)
{
	struct daemon *daemon = arg;

	loop_defer(daemon->loop, &daemon->finish);
}

/* Tell the service manager where the engine stands; the engine's log says it too. */
static void
on_state(void *arg)
{
	struct daemon *daemon = arg;
	const char *reason;

	if (!daemon->engine || daemon->is_stopping)
		return; /* being made, or "stopping" was told */
	reason = engine_reason(daemon->engine);
	notify_status("%s%s%s", engine_state_name(engine_state(daemon->engine)),
	    reason[0] != '\0' ? ": " : "", reason);
}

/* ---- the beginning, in order ---- */

static int
make_loop(struct daemon *daemon, struct err *err)
{
	int rc = loop_new(&daemon->loop, err);

	if (rc < 0)
		return rc;
	if (loop_timer_new(daemon->loop, on_deadline, daemon, &daemon->deadline) < 0 ||
	    loop_timer_new(daemon->loop, on_linger, daemon, &daemon->linger) < 0 ||
	    loop_on_signal(daemon->loop, SIGTERM, on_term, daemon) < 0 ||
	    loop_on_signal(daemon->loop, SIGINT, on_interrupt, daemon) < 0 ||
	    loop_on_signal(daemon->loop, SIGHUP, on_reload_signal, daemon) < 0 ||
	    events_new(&daemon->events) < 0)
		return err_set(err, ERR_INTERNAL_ERROR, ENOMEM, "out of memory");
	events_add(daemon->events, EVENT_DAEMON_STARTED, 0, NULL, PACKAGE_VERSION, 0);
	return 0;
}

/* The control socket comes early: it tells whether another daemon runs. */
static int
make_listener(struct daemon *daemon, struct err *err)
{
	const struct settings *settings = daemon->settings;
	struct notify_fds fds;
	pid_t owner = 0;
	int rc;

	rc = notify_take_fds(&fds, err);
	if (rc < 0)
		return rc;
	if (store_new(&fds, &daemon->store) < 0)
		return err_set(err, ERR_INTERNAL_ERROR, ENOMEM, "out of memory");
	if (fds.socket >= 0) {
		daemon->listener =
		    (struct usock_listener){ .fd = fds.socket, .lock_fd = -1 };
		return 0;
	}
	rc = usock_listen(settings->control_socket, (mode_t)settings->control_mode,
	    &daemon->listener, &owner, err);
	if (rc < 0) {
		daemon->listener.fd = -1;
		if (rc == -EEXIST && owner > 0)
			rc = err_set(err, ERR_ALREADY_EXISTS, 0,
			    "already running, pid %ld", (long)owner);
	}
	return rc;
}

static int
make_access(struct daemon *daemon, struct err *err)
{
	struct err cause;
	int rc = access_new(daemon->settings, socket_group(daemon->listener.fd),
	    &daemon->access, &cause);

	if (rc < 0)
		settings_name_error(daemon->file, &cause, err);
	return rc;
}

static int
make_rpc(struct daemon *daemon, struct err *err)
{
	const struct rpc_config config = { .loop = daemon->loop,
		.settings = daemon->settings,
		.access = daemon->access,
		.events = daemon->events,
		.stop = on_stop_call,
		.reload = on_reload_call,
		.arg = daemon };

	return rpc_new(&config, &daemon->rpc, err);
}

static void
on_busy(void *arg)
{
	(void)arg;
	notify_busy();
}

static int
make_engine(struct daemon *daemon, struct err *err)
{
	const struct engine_hooks hooks = { .arg = daemon,
		.ready = on_ready,
		.state = on_state,
		.stopped = on_stopped,
		.busy = on_busy,
		.events = daemon->events,
		.store = daemon->store };

	return engine_new(daemon->loop, daemon->settings, &hooks, &daemon->engine, err);
}

static int
make_control(struct daemon *daemon, struct err *err)
{
	const struct settings *settings = daemon->settings;
	const struct control_config config = { .listen_fd = daemon->listener.fd,
		.max_clients = settings->control_max_clients,
		.max_request = settings->control_max_request,
		.refusal = rpc_refusal(daemon->rpc),
		.hooks = rpc_hooks(daemon->rpc) };
	int rc = control_new(daemon->loop, &config, &daemon->control, err);

	if (rc == 0)
		rpc_attach(daemon->rpc, daemon->engine, daemon->control);
	return rc;
}

static int
build(struct daemon *daemon, struct err *err)
{
	int rc;

	rc = make_loop(daemon, err);
	if (rc == 0)
		rc = make_listener(daemon, err);
	if (rc == 0)
		rc = make_access(daemon, err);
	if (rc == 0)
		rc = make_rpc(daemon, err);
	if (rc == 0)
		rc = make_engine(daemon, err);
	if (rc == 0)
		rc = make_control(daemon, err);
	if (rc == 0 && notify_new(daemon->loop, &daemon->notify) < 0)
		rc = err_set(err, ERR_INTERNAL_ERROR, ENOMEM, "out of memory");
	return rc;
}

int
daemon_new(struct settings *settings, const char *file, struct daemon **out,
    struct err *err)
{
	struct daemon *daemon = calloc(1, sizeof(*daemon));
	int rc;

	if (!daemon)
		return err_set(err, ERR_INTERNAL_ERROR, ENOMEM, "out of memory");
	daemon->settings = settings;
	daemon->file = file;
	daemon->listener.fd = -1;
	daemon->stop = (struct loop_deferred){ .fn = begin_stop, .arg = daemon };
	daemon->finish = (struct loop_deferred){ .fn = finish, .arg = daemon };
	rc = build(daemon, err);
	if (rc < 0) {
		if (daemon->store)
			pool_tell_unused(daemon->store);
		daemon_free(daemon);
		return rc;
	}
	*out = daemon;
	return 0;
}

int
daemon_run(struct daemon *daemon)
{
	const char *device = engine_device(daemon->engine);

	log_notice("daemon", "version=%s socket=%s state=%s device=%s", PACKAGE_VERSION,
	    daemon->listener.path[0] != '\0' ? daemon->listener.path : "handed-over",
	    engine_state_name(engine_state(daemon->engine)),
	    device[0] != '\0' ? device : "none");
	on_state(daemon);
	notify_ready();
	return loop_run(daemon->loop);
}

void
daemon_not_started(void)
{
	struct store *store = NULL;
	struct notify_fds fds;
	struct err err;

	if (notify_take_fds(&fds, &err) < 0 || store_new(&fds, &store) < 0)
		return;
	pool_tell_unused(store);
	store_free(store);
}

void
daemon_free(struct daemon *daemon)
{
	if (!daemon)
		return;
	if (daemon->loop) {
		loop_defer_cancel(daemon->loop, &daemon->stop);
		loop_defer_cancel(daemon->loop, &daemon->finish);
	}
	notify_free(daemon->notify);
	control_free(daemon->control);
	engine_free(daemon->engine);
	store_free(daemon->store);
	rpc_free(daemon->rpc);
	events_free(daemon->events);
	access_free(daemon->access);
	if (daemon->listener.fd >= 0)
		usock_listener_close(&daemon->listener);
	loop_timer_free(daemon->linger);
	loop_timer_free(daemon->deadline);
	loop_free(daemon->loop);
	free(daemon);
}
