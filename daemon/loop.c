/* SPDX-License-Identifier: BSD-3-Clause */
/* The event loop over libevent's core; the only place that knows how waiting works. */
#include <config.h>

#include "daemon/loop.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include <event2/event.h>

#include "lib/core/log.h"

#define STALL_NS     10000000u
#define NS_PER_S     1000000000u
#define NS_PER_MS    1000000u
#define FLUSH_ROUNDS 64      /* of calls put off that put off others, at the end */
#define IDLE_S       2592000 /* when a timer that is not running looks again */
#define TIMER_MAX_MS 315360000000u

struct signal_watch {
	struct signal_watch *next;
	struct loop *loop;
	struct event *event;
	loop_fn fn;
	void *arg;
};

struct loop {
	struct event_base *base;
	struct event *turn_timer; /* bounds loop_turn() */
	struct signal_watch *signals;
	struct loop_deferred *queued; /* for the next turn */
	struct loop_deferred **queued_end;
	struct loop_deferred *running; /* what is left of this turn's */
	struct loop_stats stats;
	uint64_t serving_since_ns; /* 0: nothing was served yet in this turn */
	bool is_stopping;
};

struct loop_fd {
	struct loop *loop;
	struct event *event;
	loop_fn fn;
	void *arg;
};

struct loop_timer {
	struct loop *loop;
	struct event *event; /* always pending, so that starting needs no memory */
	loop_fn fn;
	void *arg;
	uint64_t deadline_ns; /* 0: not running */
};

static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec ts;

	/* These clocks always exist: the call has no way to fail. */
	(void)clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t
loop_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t
loop_wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

static void
on_libevent_log(int severity, const char *text)
{
	if (severity >= EVENT_LOG_WARN)
		log_warning("loop", "libevent: %s", text);
}

static void
on_turn_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

static struct event_base *
base_new(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base = NULL;

	if (!config)
		return NULL;
	/* The control socket watches for hang-ups edge-triggered. */
	if (event_config_require_features(config, EV_FEATURE_ET) == 0)
		base = event_base_new_with_config(config);
	event_config_free(config);
	return base;
}

int
loop_new(struct loop **out, struct err *err)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	if (!loop)
		goto fail;
	loop->queued_end = &loop->queued;
	loop->stats.turn_ns.scale = &histogram_ns;
	event_set_log_callback(on_libevent_log);
	loop->base = base_new();
	if (!loop->base)
		goto fail;
	loop->turn_timer = evtimer_new(loop->base, on_turn_timer, NULL);
	if (!loop->turn_timer)
		goto fail;
	*out = loop;
	return 0;

fail:
	loop_free(loop);
	(void)err_set(err, ERR_INTERNAL_ERROR, ENOMEM, "no memory for the event loop");
	return -ENOMEM;
}

static void
run_deferred(struct loop *loop)
{
	struct loop_deferred *node;

	loop->running = loop->queued;
	loop->queued = NULL;
	loop->queued_end = &loop->queued;
	while ((node = loop->running)) {
		loop->running = node->next;
		node->next = NULL;
		node->is_queued = 0;
		node->fn(node->arg);
	}
}

void
loop_free(struct loop *loop)
{
	struct signal_watch *watch;
	unsigned int round;

	if (!loop)
		return;
	for (round = 0; loop->queued && round < FLUSH_ROUNDS; round++)
		run_deferred(loop);
	while ((watch = loop->signals)) {
		loop->signals = watch->next;
		event_free(watch->event);
		free(watch);
	}
	if (loop->turn_timer)
		event_free(loop->turn_timer);
	if (loop->base)
		event_base_free(loop->base);
	free(loop);
}

void
loop_serving(struct loop *loop)
{
	if (!loop->serving_since_ns)
		loop->serving_since_ns = loop_now_ns();
}

/* One turn; flags of event_base_loop(). A turn that ran deferred calls does not wait.
 */
static int
turn(struct loop *loop, int flags)
{
	loop->stats.turns++;
	loop->serving_since_ns = 0;
	if (loop->queued) {
		loop_serving(loop);
		run_deferred(loop);
		flags |= EVLOOP_NONBLOCK;
	}
	if (event_base_loop(loop->base, flags | EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY) <
	    0)
		return -EIO;
	if (loop->serving_since_ns) {
		const uint64_t served_ns = loop_now_ns() - loop->serving_since_ns;

		histogram_add(&loop->stats.turn_ns, served_ns);
		if (served_ns > STALL_NS)
			loop->stats.stalls++;
	}
	return 0;
}

int
loop_run(struct loop *loop)
{
	int rc = 0;

	while (rc == 0 && !loop->is_stopping)
		rc = turn(loop, 0);
	loop->is_stopping = false;
	return rc;
}

void
loop_stop(struct loop *loop)
{
	loop->is_stopping = true;
}

int
loop_turn(struct loop *loop, unsigned int timeout_ms)
{
	const struct timeval tv = { .tv_sec = timeout_ms / 1000,
		.tv_usec = (suseconds_t)(timeout_ms % 1000) * 1000 };
	int rc;

	if (event_add(loop->turn_timer, &tv) < 0)
		return -EIO;
	rc = turn(loop, timeout_ms == 0 ? EVLOOP_NONBLOCK : 0);
	(void)event_del(loop->turn_timer); /* fails for no event of ours */
	return rc;
}

static void
on_fd(evutil_socket_t unused, short what, void *arg)
{
	struct loop_fd *fd = arg;

	(void)unused;
	(void)what;
	loop_serving(fd->loop);
	fd->fn(fd->arg);
}

int
loop_fd_new(struct loop *loop, int fd, loop_fn fn, void *arg, struct loop_fd **out)
{
	struct loop_fd *self = calloc(1, sizeof(*self));
	int rc;

	if (!self)
		return -ENOMEM;
	*self = (struct loop_fd){ .loop = loop, .fn = fn, .arg = arg };
	self->event = event_new(loop->base, fd, EV_READ | EV_PERSIST, on_fd, self);
	errno = ENOMEM;
	if (!self->event || event_add(self->event, NULL) < 0) {
		rc = errno > 0 ? -errno : -ENOMEM;
		loop_fd_free(self);
		return rc;
	}
	*out = self;
	return 0;
}

void
loop_fd_free(struct loop_fd *fd)
{
	if (!fd)
		return;
	if (fd->event)
		event_free(fd->event);
	free(fd);
}

/*
 * Make the event match deadline_ns. The event is pending whenever this is called or was
 * so until its callback began, so its place in libevent's heap exists: this cannot
 * fail once the first call succeeded.
 */
static int
timer_arm(struct loop_timer *timer)
{
	struct timeval tv = { .tv_sec = IDLE_S };
	uint64_t now_ns, left_us;

	if (timer->deadline_ns) {
		now_ns = loop_now_ns();
		left_us = timer->deadline_ns > now_ns
		    ? (timer->deadline_ns - now_ns + 999) / 1000
		    : 0;
		tv.tv_sec = (time_t)(left_us / 1000000);
		tv.tv_usec = (suseconds_t)(left_us % 1000000);
	}
	return event_add(timer->event, &tv);
}

static void
on_timer(evutil_socket_t unused, short what, void *arg)
{
	struct loop_timer *timer = arg;
	bool is_due;

	(void)unused;
	(void)what;
	/* libevent's clock is coarse: a timer may come some milliseconds early. */
	is_due = timer->deadline_ns && loop_now_ns() >= timer->deadline_ns;
	if (is_due)
		timer->deadline_ns = 0;
	(void)timer_arm(timer); /* see there */
	if (!is_due)
		return;
	loop_serving(timer->loop);
	timer->fn(timer->arg);
}

int
loop_timer_new(struct loop *loop, loop_fn fn, void *arg, struct loop_timer **out)
{
	struct loop_timer *timer = calloc(1, sizeof(*timer));

	if (!timer)
		return -ENOMEM;
	*timer = (struct loop_timer){ .loop = loop, .fn = fn, .arg = arg };
	timer->event = evtimer_new(loop->base, on_timer, timer);
	if (!timer->event || timer_arm(timer) < 0) {
		loop_timer_free(timer);
		return -ENOMEM;
	}
	*out = timer;
	return 0;
}

void
loop_timer_start(struct loop_timer *timer, uint64_t delay_ms)
{
	if (delay_ms > TIMER_MAX_MS)
		delay_ms = TIMER_MAX_MS;
	timer->deadline_ns = loop_now_ns() + delay_ms * NS_PER_MS;
	(void)timer_arm(timer); /* see there */
}

void
loop_timer_stop(struct loop_timer *timer)
{
	/* The event stays; it finds nothing due when it comes. */
	timer->deadline_ns = 0;
}

void
loop_timer_free(struct loop_timer *timer)
{
	if (!timer)
		return;
	if (timer->event)
		event_free(timer->event);
	free(timer);
}

static void
on_signal(evutil_socket_t unused, short what, void *arg)
{
	struct signal_watch *watch = arg;

	(void)unused;
	(void)what;
	loop_serving(watch->loop);
	watch->fn(watch->arg);
}

int
loop_on_signal(struct loop *loop, int signo, loop_fn fn, void *arg)
{
	struct signal_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return -ENOMEM;
	*watch = (struct signal_watch){ .loop = loop, .fn = fn, .arg = arg };
	watch->event = evsignal_new(loop->base, signo, on_signal, watch);
	if (!watch->event || event_add(watch->event, NULL) < 0) {
		if (watch->event)
			event_free(watch->event);
		free(watch);
		return -ENOMEM;
	}
	watch->next = loop->signals;
	loop->signals = watch;
	return 0;
}

void
loop_defer(struct loop *loop, struct loop_deferred *node)
{
	if (node->is_queued)
		return;
	node->is_queued = 1;
	node->next = NULL;
	*loop->queued_end = node;
	loop->queued_end = &node->next;
}

void
loop_defer_cancel(struct loop *loop, struct loop_deferred *node)
{
	struct loop_deferred **link;

	if (!node->is_queued)
		return;
	for (link = &loop->running; *link && *link != node; link = &(*link)->next)
		continue;
	if (!*link)
		for (link = &loop->queued; *link != node; link = &(*link)->next)
			continue;
	*link = node->next;
	if (loop->queued_end == &node->next)
		loop->queued_end = link;
	node->next = NULL;
	node->is_queued = 0;
}

void
loop_get_stats(const struct loop *loop, struct loop_stats *out)
{
	*out = loop->stats;
}

struct event_base *
loop_base(struct loop *loop)
{
	return loop->base;
}
