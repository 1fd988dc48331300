/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_rpma_threads.c: what several threads may do at once with one connection and one
 * completion queue, as programs made for version 1.3.0 do.
 */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "tests/unit/rpma_fixture.h"

#define POSTERS 2
#define READERS 2
#define POSTS   200 /* of each poster */
#define ALL     (POSTERS * POSTS)

/* Written by threads; what is wrong there is asserted by the test's own thread. */
static struct shared {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	atomic_uint posters;
	atomic_uint readers; /* that still read */
	atomic_uint failures;
	atomic_uint seen[ALL + 1]; /* completions by wr_id; the last: those that end */
} shared;

/* A full queue is waited out: the readers make room. */
static void
post(uintptr_t number)
{
	int ret;

	while ((ret = rpma_send(shared.conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS,
		    (void *)number)) == RPMA_E_PROVIDER &&
	    rpma_err_last_errno() == ENOMEM)
		sched_yield();
	if (ret)
		shared.failures++;
}

static void *
post_many(void *arg)
{
	uintptr_t first = shared.posters++ * POSTS;
	uintptr_t i;

	for (i = 0; i < POSTS; i++)
		post(first + i);
	return arg;
}

/* Read until the completion that ends comes, and post the next reader's. */
static void *
read_until_end(void *arg)
{
	struct ibv_wc wc;
	int ret;

	for (;;) {
		ret = rpma_cq_get_wc(shared.cq, 1, &wc, NULL);
		if (ret == RPMA_E_NO_COMPLETION) {
			ret = rpma_cq_wait(shared.cq);
			if (ret)
				break;
			continue;
		}
		if (ret || wc.status != IBV_WC_SUCCESS || wc.wr_id > ALL)
			break;
		shared.seen[wc.wr_id]++;
		if (wc.wr_id == ALL) {
			if (--shared.readers)
				post(ALL);
			return arg;
		}
	}
	shared.failures++;
	return arg;
}

static void *
take_event(void *arg)
{
	enum rpma_conn_event *event = arg;

	if (rpma_conn_next_event(shared.conn, event))
		shared.failures++;
	return arg;
}

START_TEST(test_one_connection)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	pthread_t posters[POSTERS];
	pthread_t readers[READERS];
	pthread_t events;
	unsigned int i;

	fake_options()->block_limit_ms = 0;
	shared.conn = fixture_connect(NULL);
	shared.readers = READERS;
	ck_assert_int_eq(rpma_conn_get_cq(shared.conn, &shared.cq), 0);
	ck_assert_int_eq(pthread_create(&events, NULL, take_event, &event), 0);
	for (i = 0; i < READERS; i++)
		ck_assert_int_eq(pthread_create(&readers[i], NULL, read_until_end,
				     NULL),
		    0);
	for (i = 0; i < POSTERS; i++)
		ck_assert_int_eq(pthread_create(&posters[i], NULL, post_many, NULL), 0);
	for (i = 0; i < POSTERS; i++)
		ck_assert_int_eq(pthread_join(posters[i], NULL), 0);
	post(ALL);
	for (i = 0; i < READERS; i++)
		ck_assert_int_eq(pthread_join(readers[i], NULL), 0);
	fake_peer_disconnect(fake_peer_last());
	ck_assert_int_eq(pthread_join(events, NULL), 0);
	ck_assert_int_eq(event, RPMA_CONN_CLOSED);
	ck_assert_uint_eq(shared.failures, 0);
	for (i = 0; i < ALL; i++)
		ck_assert_uint_eq(shared.seen[i], 1);
	ck_assert_uint_eq(shared.seen[ALL], READERS);
	ck_assert_int_eq(rpma_conn_delete(&shared.conn), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_threads");
	TCase *tc = fixture_case(suite, "threads");

	tcase_add_test(tc, test_one_connection);
	return harness_run(suite);
}
