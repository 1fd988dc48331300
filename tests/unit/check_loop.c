/* SPDX-License-Identifier: BSD-3-Clause */
/* The event loop. */
#include <config.h>

#include <signal.h>
#include <unistd.h>

#include "daemon/loop.h"
#include "tests/unit/harness.h"

#define MS 1000000u

static struct loop *loop;

static void
setup(void)
{
	struct err err;

	ck_assert_int_eq(loop_new(&loop, &err), 0);
}

static void
teardown(void)
{
	loop_free(loop);
}

static void
count(void *arg)
{
	++*(int *)arg;
}

static void
turn_until(const int *counter, int wanted)
{
	const uint64_t end = loop_now_ns() + 20000u * (uint64_t)MS;

	while (*counter < wanted && loop_now_ns() < end)
		ck_assert_int_eq(loop_turn(loop, 50), 0);
	ck_assert_int_eq(*counter, wanted);
}

START_TEST(test_fd)
{
	struct loop_fd *fd;
	int fds[2], calls = 0;

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(loop_fd_new(loop, fds[0], count, &calls, &fd), 0);
	ck_assert_int_eq(loop_turn(loop, 0), 0);
	ck_assert_int_eq(calls, 0);
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	turn_until(&calls, 1);
	/* It stays readable: called again. */
	turn_until(&calls, 2);
	loop_fd_free(fd);
	ck_assert_int_eq(loop_turn(loop, 0), 0);
	ck_assert_int_eq(calls, 2);
	loop_fd_free(NULL);
	(void)close(fds[0]);
	(void)close(fds[1]);
}
END_TEST

struct suicide {
	struct loop_fd *fd;
	struct loop_fd *other;
	struct loop_timer *timer;
	int calls;
};

static void
free_both(void *arg)
{
	struct suicide *suicide = arg;

	suicide->calls++;
	loop_fd_free(suicide->fd);
	loop_fd_free(suicide->other);
}

START_TEST(test_fd_free_in_callback)
{
	struct suicide suicide = { 0 };
	int a[2], b[2];

	ck_assert_int_eq(pipe(a), 0);
	ck_assert_int_eq(pipe(b), 0);
	ck_assert_int_eq(loop_fd_new(loop, a[0], free_both, &suicide, &suicide.fd), 0);
	ck_assert_int_eq(loop_fd_new(loop, b[0], free_both, &suicide, &suicide.other),
	    0);
	ck_assert_int_eq(write(a[1], "x", 1), 1);
	ck_assert_int_eq(write(b[1], "x", 1), 1);
	ck_assert_int_eq(loop_turn(loop, 50), 0);
	ck_assert_int_eq(loop_turn(loop, 0), 0);
	ck_assert_int_eq(suicide.calls, 1);
	(void)close(a[0]);
	(void)close(a[1]);
	(void)close(b[0]);
	(void)close(b[1]);
}
END_TEST

START_TEST(test_timer)
{
	struct loop_timer *timer;
	uint64_t start_ns;
	int calls = 0;

	ck_assert_int_eq(loop_timer_new(loop, count, &calls, &timer), 0);
	ck_assert_int_eq(loop_turn(loop, 5), 0);
	ck_assert_int_eq(calls, 0);
	start_ns = loop_now_ns();
	loop_timer_start(timer, 30);
	turn_until(&calls, 1);
	ck_assert_uint_ge(loop_now_ns() - start_ns, 30 * MS);
	/* Once. */
	ck_assert_int_eq(loop_turn(loop, 40), 0);
	ck_assert_int_eq(calls, 1);
	/* The new time counts, earlier and later. */
	loop_timer_start(timer, 100000);
	loop_timer_start(timer, 0);
	turn_until(&calls, 2);
	loop_timer_start(timer, 0);
	loop_timer_start(timer, 100000);
	ck_assert_int_eq(loop_turn(loop, 20), 0);
	ck_assert_int_eq(calls, 2);
	loop_timer_start(timer, 60);
	loop_timer_stop(timer);
	ck_assert_int_eq(loop_turn(loop, 80), 0);
	ck_assert_int_eq(calls, 2);
	loop_timer_start(timer, UINT64_MAX);
	ck_assert_int_eq(loop_turn(loop, 5), 0);
	ck_assert_int_eq(calls, 2);
	loop_timer_free(timer);
	loop_timer_free(NULL);
}
END_TEST

static void
restart(void *arg)
{
	struct suicide *suicide = arg;

	if (++suicide->calls < 3)
		loop_timer_start(suicide->timer, 1);
	else
		loop_timer_free(suicide->timer);
}

START_TEST(test_timer_in_callback)
{
	struct suicide suicide = { 0 };

	ck_assert_int_eq(loop_timer_new(loop, restart, &suicide, &suicide.timer), 0);
	loop_timer_start(suicide.timer, 1);
	turn_until(&suicide.calls, 3);
	ck_assert_int_eq(loop_turn(loop, 10), 0);
	ck_assert_int_eq(suicide.calls, 3);
}
END_TEST

START_TEST(test_many_timers_in_order)
{
	struct loop_timer *timers[200];
	int calls = 0, i;

	for (i = 0; i < 200; i++) {
		ck_assert_int_eq(loop_timer_new(loop, count, &calls, &timers[i]), 0);
		loop_timer_start(timers[i], (uint64_t)(200 - i) / 10);
	}
	turn_until(&calls, 200);
	for (i = 0; i < 200; i++)
		loop_timer_free(timers[i]);
}
END_TEST

struct chain {
	struct loop_deferred node;
	struct loop_deferred other;
	int calls, other_calls;
	int again; /* how often to go on */
};

static void
on_chain(void *arg)
{
	struct chain *chain = arg;

	chain->calls++;
	if (chain->again-- > 0)
		loop_defer(loop, &chain->node);
}

START_TEST(test_defer)
{
	struct chain chain = { .again = 2 };

	chain.node = (struct loop_deferred){ .fn = on_chain, .arg = &chain };
	loop_defer(loop, &chain.node);
	loop_defer(loop, &chain.node); /* waits already */
	ck_assert_int_eq(chain.calls, 0);
	/* One call a turn, and a turn with work does not wait. */
	ck_assert_int_eq(loop_turn(loop, 100000), 0);
	ck_assert_int_eq(chain.calls, 1);
	ck_assert_int_eq(loop_turn(loop, 100000), 0);
	ck_assert_int_eq(loop_turn(loop, 100000), 0);
	ck_assert_int_eq(chain.calls, 3);
	ck_assert_int_eq(loop_turn(loop, 0), 0);
	ck_assert_int_eq(chain.calls, 3);
}
END_TEST

static void
cancel_other(void *arg)
{
	struct chain *chain = arg;

	chain->calls++;
	loop_defer_cancel(loop, &chain->other);
}

static void
count_other(void *arg)
{
	struct chain *chain = arg;

	chain->other_calls++;
}

START_TEST(test_defer_cancel)
{
	struct chain chain = { 0 };

	chain.node = (struct loop_deferred){ .fn = cancel_other, .arg = &chain };
	chain.other = (struct loop_deferred){ .fn = count_other, .arg = &chain };
	loop_defer_cancel(loop, &chain.other); /* never queued */
	/* The last one, the first one, and one that waits in this very turn. */
	loop_defer(loop, &chain.node);
	loop_defer(loop, &chain.other);
	loop_defer_cancel(loop, &chain.other);
	loop_defer(loop, &chain.other);
	loop_defer_cancel(loop, &chain.node);
	loop_defer(loop, &chain.node);
	ck_assert_int_eq(loop_turn(loop, 0), 0);
	ck_assert_int_eq(chain.other_calls, 1);
	ck_assert_int_eq(chain.calls, 1);
	loop_defer(loop, &chain.node);
	loop_defer(loop, &chain.other);
	ck_assert_int_eq(loop_turn(loop, 0), 0);
	ck_assert_int_eq(loop_turn(loop, 0), 0);
	ck_assert_int_eq(chain.other_calls, 1);
	ck_assert_int_eq(chain.calls, 2);
}
END_TEST

START_TEST(test_free_runs_deferred)
{
	struct chain chain = { .again = 3 };
	struct loop *own;
	struct err err;

	ck_assert_int_eq(loop_new(&own, &err), 0);
	chain.node = (struct loop_deferred){ .fn = count_other, .arg = &chain };
	loop_defer(own, &chain.node);
	loop_free(own);
	ck_assert_int_eq(chain.other_calls, 1);
	loop_free(NULL);
}
END_TEST

static void
stop(void *arg)
{
	count(arg);
	loop_stop(loop);
}

START_TEST(test_run_and_signal)
{
	struct loop_timer *timer;
	int calls = 0;

	ck_assert_int_eq(loop_timer_new(loop, stop, &calls, &timer), 0);
	loop_timer_start(timer, 5);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 1);
	loop_stop(loop); /* counts for the next run */
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(loop_on_signal(loop, SIGUSR1, stop, &calls), 0);
	ck_assert_int_eq(raise(SIGUSR1), 0);
	ck_assert_int_eq(loop_run(loop), 0);
	ck_assert_int_eq(calls, 2);
	loop_timer_free(timer);
}
END_TEST

static void
dawdle(void *arg)
{
	const uint64_t end = loop_now_ns() + 15 * MS;

	count(arg);
	while (loop_now_ns() < end)
		continue;
}

START_TEST(test_stats)
{
	struct loop_timer *timer;
	struct loop_stats before, after;
	int calls = 0;

	ck_assert_int_eq(loop_timer_new(loop, dawdle, &calls, &timer), 0);
	loop_get_stats(loop, &before);
	/* Waiting is no stall. */
	ck_assert_int_eq(loop_turn(loop, 20), 0);
	loop_get_stats(loop, &after);
	ck_assert_uint_eq(after.turns, before.turns + 1);
	ck_assert_uint_eq(after.stalls, before.stalls);
	loop_timer_start(timer, 0);
	turn_until(&calls, 1);
	loop_get_stats(loop, &after);
	ck_assert_uint_eq(after.stalls, before.stalls + 1);
	loop_timer_free(timer);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("loop");
	TCase *tc = tcase_create("loop");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_fd);
	tcase_add_test(tc, test_fd_free_in_callback);
	tcase_add_test(tc, test_timer);
	tcase_add_test(tc, test_timer_in_callback);
	tcase_add_test(tc, test_many_timers_in_order);
	tcase_add_test(tc, test_defer);
	tcase_add_test(tc, test_defer_cancel);
	tcase_add_test(tc, test_free_runs_deferred);
	tcase_add_test(tc, test_run_and_signal);
	tcase_add_test(tc, test_stats);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
