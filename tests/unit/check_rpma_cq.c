/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_cq.c: completion queues, their events and their completions. */
#include <config.h>

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "tests/unit/rpma_fixture.h"

START_TEST(test_new)
{
	struct rpma_cq *cq = NULL;
	int fd = -77;

	ck_assert_int_eq(rpma_cq_new(fixture_peer(), 33, &cq), 0);
	ck_assert_str_eq(fake_trace_args(),
	    "ibv_create_comp_channel ibv_create_cq(cqe=33) "
	    "ibv_req_notify_cq(solicited=0)");
	ck_assert_int_eq(rpma_cq_get_fd(NULL, &fd), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cq_get_fd(cq, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(fd, -77);
	ck_assert_int_eq(rpma_cq_get_fd(cq, &fd), 0);
	ck_assert_int_ge(fd, 0);
	fake_trace_clear();
	ck_assert_int_eq(rpma_cq_delete(&cq), 0);
	ck_assert_ptr_null(cq);
	ck_assert_str_eq(fake_trace(), "ibv_destroy_cq ibv_destroy_comp_channel");
	ck_assert_int_eq(rpma_cq_delete(&cq), 0);
}
END_TEST

START_TEST(test_invalid)
{
	struct rpma_cq *cq = UNTOUCHED(struct rpma_cq);

	ck_assert_int_eq(rpma_cq_new(NULL, 1, &cq), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cq_new(fixture_peer(), 0, &cq), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cq_new(fixture_peer(), (uint32_t)INT_MAX + 1, &cq),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cq_new(fixture_peer(), 1, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cq_delete(NULL), RPMA_E_INVAL);
	ck_assert_ptr_eq(cq, UNTOUCHED(struct rpma_cq));
	ck_assert_str_eq(fake_trace(), "");
}
END_TEST

/* A queue that belongs to something else is not to be deleted on its own. */
START_TEST(test_delete_owned)
{
	struct rpma_conn *conn = fixture_connect(NULL);
	struct rpma_srq *srq = NULL;
	struct rpma_cq *cq = NULL;
	struct rpma_cq *same;

	ck_assert_int_eq(rpma_conn_get_cq(conn, &cq), 0);
	same = cq;
	ck_assert_int_eq(rpma_cq_delete(&cq), RPMA_E_INVAL);
	ck_assert_ptr_eq(cq, same);
	ck_assert_int_eq(rpma_srq_new(fixture_peer(), NULL, &srq), 0);
	ck_assert_int_eq(rpma_srq_get_rcq(srq, &cq), 0);
	same = cq;
	ck_assert_int_eq(rpma_cq_delete(&cq), RPMA_E_INVAL);
	ck_assert_ptr_eq(cq, same);
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}
END_TEST

static const char *const steps[] = {
	"ibv_create_comp_channel",
	"ibv_create_cq",
	"ibv_req_notify_cq",
};

START_TEST(test_new_fails)
{
	struct rpma_cq *cq = UNTOUCHED(struct rpma_cq);

	fake_fail_call(steps[_i], 1, EMFILE);
	assert_provider(rpma_cq_new(fixture_peer(), 1, &cq), EMFILE);
	ck_assert_ptr_eq(cq, UNTOUCHED(struct rpma_cq));
	ck_assert_str_eq(fake_leaks(), "pd 1");
}
END_TEST

static const char *const delete_steps[] = {
	"ibv_destroy_cq",
	"ibv_destroy_comp_channel",
};

START_TEST(test_delete_fails)
{
	struct rpma_cq *cq = NULL;

	ck_assert_int_eq(rpma_cq_new(fixture_peer(), 1, &cq), 0);
	fake_fail_call(delete_steps[_i], 1, EBUSY);
	assert_provider(rpma_cq_delete(&cq), EBUSY);
	ck_assert_ptr_null(cq);
}
END_TEST

static struct rpma_conn *conn;
static struct rpma_cq *cq;

/* An established connection whose main queue is cq. */
static void
connect_with_cq(void)
{
	int fd;

	conn = fixture_connect(NULL);
	ck_assert_int_eq(rpma_conn_get_cq(conn, &cq), 0);
	ck_assert_int_eq(rpma_cq_get_fd(cq, &fd), 0);
	fixture_nonblock(fd);
	(void)fixture_mr();
	fake_trace_clear();
}

static void
disconnect(void)
{
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}

/* Let n sends complete; wr_id is 100, 101, ... */
static void
complete(uintptr_t n)
{
	for (uintptr_t i = 0; i < n; i++)
		ck_assert_int_eq(rpma_send(conn, fixture_mr(), 0, 8,
				     RPMA_F_COMPLETION_ALWAYS, (void *)(100 + i)),
		    0);
}

START_TEST(test_wait)
{
	ck_assert_int_eq(rpma_cq_wait(NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cq_wait(cq), RPMA_E_NO_COMPLETION);
	complete(2);
	fake_trace_clear();
	ck_assert_int_eq(rpma_cq_wait(cq), 0);
	ck_assert_str_eq(fake_trace_args(),
	    "ibv_get_cq_event ibv_ack_cq_events(n=1) ibv_req_notify_cq(solicited=0)");
	ck_assert_int_eq(rpma_cq_wait(cq), RPMA_E_NO_COMPLETION);
	ck_assert_uint_eq(fake_live(FAKE_COMP_EVENT), 0);
	ck_assert_uint_eq(fixture_logs(), 0);
}
END_TEST

START_TEST(test_wait_fails)
{
	complete(1);
	fake_fail_call("ibv_get_cq_event", 1, EIO);
	assert_provider(rpma_cq_wait(cq), EIO);
	/* an interruption is no result */
	fake_fail_call("ibv_get_cq_event", 1, EINTR);
	fake_fail_call("ibv_req_notify_cq", 1, ENXIO);
	assert_provider(rpma_cq_wait(cq), ENXIO);
	ck_assert_uint_eq(fake_live(FAKE_COMP_EVENT), 0);
	ck_assert_int_eq(rpma_cq_wait(cq), RPMA_E_NO_COMPLETION);
}
END_TEST

/* An event without arming: what completes meanwhile raises no other. */
START_TEST(test_wait_no_arm)
{
	ck_assert_int_eq(rpma_cq_wait_flags(NULL, 0), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cq_wait_flags(cq, 2), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cq_arm(NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cq_wait_flags(cq, RPMA_W_NO_ARM), RPMA_E_NO_COMPLETION);
	complete(1);
	fake_trace_clear();
	ck_assert_int_eq(rpma_cq_wait_flags(cq, RPMA_W_NO_ARM), 0);
	ck_assert_str_eq(fake_trace_args(), "ibv_get_cq_event ibv_ack_cq_events(n=1)");
	complete(1);
	ck_assert_int_eq(rpma_cq_wait_flags(cq, RPMA_W_NO_ARM), RPMA_E_NO_COMPLETION);
	fake_trace_clear();
	ck_assert_int_eq(rpma_cq_arm(cq), 0);
	ck_assert_str_eq(fake_trace_args(), "ibv_req_notify_cq(solicited=0)");
	complete(1);
	fake_trace_clear();
	ck_assert_int_eq(rpma_cq_wait_flags(cq, RPMA_W_WAIT_FOR_COMPLETION), 0);
	ck_assert_str_eq(fake_trace_args(),
	    "ibv_get_cq_event ibv_ack_cq_events(n=1) ibv_req_notify_cq(solicited=0)");
	fake_fail_call("ibv_req_notify_cq", 1, ENXIO);
	assert_provider(rpma_cq_arm(cq), ENXIO);
}
END_TEST

/* Take n events, each of one completion. */
static void
take_events(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct ibv_wc wc;

		complete(1);
		ck_assert_int_eq(rpma_cq_wait(cq), 0);
		ck_assert_int_eq(rpma_cq_get_wc(cq, 1, &wc, NULL), 0);
	}
}

/* Events are acknowledged many at a time, and the rest when the queue goes. */
START_TEST(test_ack_batch)
{
	ck_assert_int_eq(rpma_cq_set_ack_batch(NULL, 1), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cq_set_ack_batch(cq, 0), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cq_set_ack_batch(cq, 4), 0);
	take_events(3);
	ck_assert_uint_eq(fake_called("ibv_ack_cq_events"), 0);
	ck_assert_uint_eq(fake_live(FAKE_COMP_EVENT), 3);
	take_events(1);
	ck_assert_ptr_nonnull(strstr(fake_trace_args(), "ibv_ack_cq_events(n=4)"));
	ck_assert_uint_eq(fake_live(FAKE_COMP_EVENT), 0);
	/* a smaller batch does not wait for the larger */
	take_events(2);
	fake_trace_clear();
	ck_assert_int_eq(rpma_cq_set_ack_batch(cq, 3), 0);
	ck_assert_str_eq(fake_trace_args(), "");
	ck_assert_int_eq(rpma_cq_set_ack_batch(cq, 2), 0);
	ck_assert_str_eq(fake_trace_args(), "ibv_ack_cq_events(n=2)");
	take_events(1);
	fake_trace_clear();
	disconnect();
	ck_assert_ptr_nonnull(strstr(fake_trace_args(),
	    "ibv_ack_cq_events(n=1) ibv_destroy_cq"));
}
END_TEST

START_TEST(test_get_wc_invalid)
{
	struct ibv_wc wc[2];
	int got = 77;

	complete(1);
	ck_assert_int_eq(rpma_cq_get_wc(NULL, 1, wc, &got), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cq_get_wc(cq, 1, NULL, &got), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cq_get_wc(cq, 0, wc, &got), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cq_get_wc(cq, -1, wc, &got), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cq_get_wc(cq, 2, wc, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(got, 77);
	ck_assert_uint_eq(fake_called("ibv_poll_cq"), 0);
}
END_TEST

START_TEST(test_get_wc)
{
	struct ibv_wc wc[4] = { 0 };
	int got = 77;

	ck_assert_int_eq(rpma_cq_get_wc(cq, 1, wc, NULL), RPMA_E_NO_COMPLETION);
	ck_assert_int_eq(rpma_cq_get_wc(cq, 4, wc, &got), RPMA_E_NO_COMPLETION);
	ck_assert_int_eq(got, 77);
	complete(4);
	ck_assert_int_eq(rpma_cq_get_wc(cq, 1, wc, NULL), 0);
	ck_assert_uint_eq(wc[0].wr_id, 100);
	ck_assert_int_eq(wc[0].status, IBV_WC_SUCCESS);
	ck_assert_int_eq(wc[0].opcode, IBV_WC_SEND);
	ck_assert_uint_eq(wc[0].qp_num, fixture_qp_num(conn));
	ck_assert_int_eq(rpma_cq_get_wc(cq, 4, wc, &got), 0);
	ck_assert_int_eq(got, 3);
	ck_assert_uint_eq(wc[2].wr_id, 103);
	ck_assert_uint_eq(fixture_logs(), 0);
}
END_TEST

START_TEST(test_get_wc_fails)
{
	struct ibv_wc wc;
	int got = 77;

	fake_fail_call("ibv_poll_cq", 1, EIO);
	ck_assert_int_eq(rpma_cq_get_wc(cq, 1, &wc, &got), RPMA_E_PROVIDER);
	ck_assert_int_eq(got, 77);
	ck_assert_uint_eq(fixture_logs(), 1);
}
END_TEST

static int
answer_too_many(struct ibv_cq *ibv_cq, int num_entries, struct ibv_wc *wc)
{
	(void)ibv_cq;
	(void)wc;
	return num_entries + 1;
}

START_TEST(test_get_wc_unknown)
{
	struct ibv_wc wc;
	int got = 77;

	fake_context(0)->ops.poll_cq = answer_too_many;
	ck_assert_int_eq(rpma_cq_get_wc(cq, 1, &wc, &got), RPMA_E_UNKNOWN);
	ck_assert_int_eq(got, 77);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_cq");
	TCase *tc = fixture_case(suite, "life");

	tcase_add_test(tc, test_new);
	tcase_add_test(tc, test_invalid);
	tcase_add_test(tc, test_delete_owned);
	tcase_add_loop_test(tc, test_new_fails, 0, sizeof(steps) / sizeof(steps[0]));
	tcase_add_loop_test(tc, test_delete_fails, 0,
	    sizeof(delete_steps) / sizeof(delete_steps[0]));
	tc = fixture_case(suite, "completions");
	tcase_add_checked_fixture(tc, connect_with_cq, disconnect);
	tcase_add_test(tc, test_wait);
	tcase_add_test(tc, test_wait_fails);
	tcase_add_test(tc, test_wait_no_arm);
	tcase_add_test(tc, test_ack_batch);
	tcase_add_test(tc, test_get_wc_invalid);
	tcase_add_test(tc, test_get_wc);
	tcase_add_test(tc, test_get_wc_fails);
	tcase_add_test(tc, test_get_wc_unknown);
	return harness_run(suite);
}
