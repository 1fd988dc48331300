/* SPDX-License-Identifier: BSD-3-Clause */
/* The event loop: descriptors, timers, signals and calls put off to the next turn. */
#ifndef RPMAD_DAEMON_LOOP_H
#define RPMAD_DAEMON_LOOP_H

#include <stdint.h>

#include "lib/core/compiler.h"
#include "lib/core/err.h"
#include "lib/core/histogram.h"

struct event_base;
struct loop;
struct loop_fd;
struct loop_timer;

typedef void (*loop_fn)(void *arg);

/* return   0; -ENOMEM (ERR_INTERNAL_ERROR) */
RPMAD_MUST_USE int loop_new(struct loop **out, struct err *err);
/* NULL is fine. Calls that were put off run first. */
void loop_free(struct loop *loop);

/* Run until loop_stop(). return 0; -EIO the back end failed */
RPMAD_MUST_USE int loop_run(struct loop *loop);
void loop_stop(struct loop *loop);
/* One turn: wait at most timeout_ms for something to happen and serve it. For tests. */
RPMAD_MUST_USE int loop_turn(struct loop *loop, unsigned int timeout_ms);

/*
 * Call fn whenever fd is readable, until loop_fd_free(); the fd stays the caller's and
 * is closed after it. return 0; -ENOMEM; another negative errno: it cannot be waited for
 */
RPMAD_MUST_USE int loop_fd_new(struct loop *loop, int fd, loop_fn fn, void *arg,
    struct loop_fd **out);
/* NULL is fine; allowed within its own callback. */
void loop_fd_free(struct loop_fd *fd);

/* A timer that is not running. return 0; -ENOMEM */
RPMAD_MUST_USE int loop_timer_new(struct loop *loop, loop_fn fn, void *arg,
    struct loop_timer **out);
/* Run once, delay_ms from now (again: the new time counts). */
void loop_timer_start(struct loop_timer *timer, uint64_t delay_ms);
void loop_timer_stop(struct loop_timer *timer);
/* NULL is fine; allowed within its own callback. */
void loop_timer_free(struct loop_timer *timer);

/* Call fn on a signal, within the loop, for the life of the loop. return 0; -ENOMEM */
RPMAD_MUST_USE int loop_on_signal(struct loop *loop, int signo, loop_fn fn, void *arg);

/*
 * Call fn(arg) once on the next turn: for objects that die inside their own callback,
 * and for work that exceeded its budget. Never fails: node is the caller's memory and
 * stays so until the call; deferring one that waits already does nothing.
 */
struct loop_deferred {
	loop_fn fn;
	void *arg;
	struct loop_deferred *next;
	int is_queued;
};
void loop_defer(struct loop *loop, struct loop_deferred *node);
/* Take one back that has not run. */
void loop_defer_cancel(struct loop *loop, struct loop_deferred *node);

/* Monotonic and wall-clock time, nanoseconds. */
uint64_t loop_now_ns(void);
uint64_t loop_wall_ns(void);

struct loop_stats {
	uint64_t turns;
	uint64_t stalls; /* turns that served for more than 10 ms */
	struct histogram
	    turn_ns; /* how long the turns served that had something to do */
};
void loop_get_stats(const struct loop *loop, struct loop_stats *out);

/* libevent's base, for control*.c alone; its callbacks begin with loop_serving(). */
struct event_base *loop_base(struct loop *loop);
/* Work of this turn begins: what the count of stalls is measured from. */
void loop_serving(struct loop *loop);

#endif
