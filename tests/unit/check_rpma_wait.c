/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_wait.c: a completion channel shared by both queues of a connection. */
#include <config.h>

#include <errno.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "tests/unit/rpma_fixture.h"

static struct rpma_conn *conn;
static struct rpma_cq *cq;
static struct rpma_cq *rcq;

static void
connect_shared(void)
{
	struct rpma_conn_cfg *cfg = NULL;
	int fd;

	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_compl_channel(cfg, true), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_rcq_size(cfg, 10), 0);
	conn = fixture_connect(cfg);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
	ck_assert_int_eq(rpma_conn_get_cq(conn, &cq), 0);
	ck_assert_int_eq(rpma_conn_get_rcq(conn, &rcq), 0);
	ck_assert_int_eq(rpma_conn_get_compl_fd(conn, &fd), 0);
	fixture_nonblock(fd);
	(void)fixture_mr();
	fake_trace_clear();
}

static void
delete_conn(void)
{
	fake_trace_clear();
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	ck_assert_str_eq(fake_trace(),
	    "rdma_destroy_qp ibv_destroy_cq ibv_destroy_cq ibv_destroy_comp_channel "
	    "rdma_destroy_id rdma_destroy_event_channel");
}

static void
complete_send(void)
{
	ck_assert_int_eq(rpma_send(conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, NULL),
	    0);
}

static void
complete_recv(void)
{
	ck_assert_int_eq(rpma_recv(conn, fixture_mr(), 0, 64, NULL), 0);
	ck_assert_int_ge(fake_peer_send(fake_peer_last(), "x", 1, FAKE_NO_IMM), 0);
}

START_TEST(test_invalid)
{
	struct rpma_cq *found = UNTOUCHED(struct rpma_cq);
	struct rpma_conn *other;
	bool is_rcq = true;

	ck_assert_int_eq(rpma_conn_wait(NULL, 0, &found, &is_rcq), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_wait(conn, 0, NULL, &is_rcq), RPMA_E_INVAL);
	other = fixture_connect(NULL);
	ck_assert_int_eq(rpma_conn_wait(other, 0, &found, &is_rcq),
	    RPMA_E_NOT_SHARED_CHNL);
	ck_assert_int_eq(rpma_conn_delete(&other), 0);
	ck_assert_ptr_eq(found, UNTOUCHED(struct rpma_cq));
}
END_TEST

START_TEST(test_both)
{
	struct rpma_cq *found = UNTOUCHED(struct rpma_cq);
	bool is_rcq = false;

	ck_assert_int_eq(rpma_conn_wait(conn, 0, &found, &is_rcq),
	    RPMA_E_NO_COMPLETION);
	ck_assert_ptr_eq(found, UNTOUCHED(struct rpma_cq));
	complete_recv();
	fake_trace_clear();
	ck_assert_int_eq(rpma_conn_wait(conn, RPMA_W_WAIT_FOR_COMPLETION, &found,
			     &is_rcq),
	    0);
	ck_assert_str_eq(fake_trace_args(),
	    "ibv_get_cq_event ibv_ack_cq_events(n=1) ibv_req_notify_cq(solicited=0)");
	ck_assert_ptr_eq(found, rcq);
	ck_assert(is_rcq);
	complete_send();
	ck_assert_int_eq(rpma_conn_wait(conn, 77, &found, &is_rcq), 0);
	ck_assert_ptr_eq(found, cq);
	ck_assert(!is_rcq);
	complete_send();
	ck_assert_int_eq(rpma_conn_wait(conn, 0, &found, NULL), 0);
	ck_assert_uint_eq(fixture_logs(), 0);
}
END_TEST

START_TEST(test_no_arm)
{
	struct rpma_cq *found = UNTOUCHED(struct rpma_cq);
	bool is_rcq = true;

	complete_send();
	fake_trace_clear();
	ck_assert_int_eq(rpma_conn_wait(conn, RPMA_W_NO_ARM, &found, &is_rcq), 0);
	ck_assert_str_eq(fake_trace_args(), "ibv_get_cq_event ibv_ack_cq_events(n=1)");
	ck_assert_ptr_eq(found, cq);
	ck_assert(!is_rcq);
	complete_send();
	ck_assert_int_eq(rpma_conn_wait(conn, 0, &found, &is_rcq),
	    RPMA_E_NO_COMPLETION);
	ck_assert_int_eq(rpma_cq_arm(found), 0);
	complete_send();
	ck_assert_int_eq(rpma_conn_wait(conn, 0, &found, &is_rcq), 0);
}
END_TEST

/* Each queue counts its own events, although they come over one channel. */
START_TEST(test_ack_batch)
{
	struct rpma_cq *found;

	ck_assert_int_eq(rpma_cq_set_ack_batch(rcq, 2), 0);
	complete_recv();
	ck_assert_int_eq(rpma_conn_wait(conn, 0, &found, NULL), 0);
	ck_assert_uint_eq(fake_live(FAKE_COMP_EVENT), 1);
	complete_send();
	ck_assert_int_eq(rpma_conn_wait(conn, 0, &found, NULL), 0);
	ck_assert_uint_eq(fake_live(FAKE_COMP_EVENT), 1);
	complete_recv();
	ck_assert_int_eq(rpma_conn_wait(conn, 0, &found, NULL), 0);
	ck_assert_uint_eq(fake_live(FAKE_COMP_EVENT), 0);
}
END_TEST

START_TEST(test_fails)
{
	struct rpma_cq *found = UNTOUCHED(struct rpma_cq);
	bool is_rcq = true;

	complete_send();
	fake_fail_call("ibv_get_cq_event", 1, EIO);
	assert_provider(rpma_conn_wait(conn, 0, &found, &is_rcq), EIO);
	fake_fail_call("ibv_get_cq_event", 1, EINTR);
	fake_fail_call("ibv_req_notify_cq", 1, ENXIO);
	assert_provider(rpma_conn_wait(conn, 0, &found, &is_rcq), ENXIO);
	ck_assert_ptr_eq(found, UNTOUCHED(struct rpma_cq));
	ck_assert(is_rcq);
	ck_assert_uint_eq(fake_live(FAKE_COMP_EVENT), 0);
}
END_TEST

/* The event of a queue that is not the connection's is acknowledged all the same. */
START_TEST(test_foreign_queue)
{
	struct rpma_cq *found = UNTOUCHED(struct rpma_cq);
	struct ibv_comp_channel *channel;
	struct ibv_cq *foreign;
	struct ibv_cq *send_cq;
	struct ibv_qp *qp = fake_id_of_qp(fixture_qp_num(conn))->qp;
	bool is_rcq = true;

	channel = qp->send_cq->channel;
	foreign = ibv_create_cq(fake_context(0), 4, NULL, channel, 0);
	ck_assert_ptr_nonnull(foreign);
	ck_assert_int_eq(ibv_req_notify_cq(foreign, 0), 0);
	send_cq = qp->send_cq;
	qp->send_cq = foreign;
	complete_send();
	ck_assert_int_eq(rpma_conn_wait(conn, 0, &found, &is_rcq), RPMA_E_UNKNOWN);
	ck_assert_ptr_eq(found, UNTOUCHED(struct rpma_cq));
	ck_assert_uint_eq(fake_live(FAKE_COMP_EVENT), 0);
	qp->send_cq = send_cq;
	ck_assert_int_eq(ibv_destroy_cq(foreign), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_wait");
	TCase *tc = fixture_case(suite, "wait");

	tcase_add_checked_fixture(tc, connect_shared, delete_conn);
	tcase_add_test(tc, test_invalid);
	tcase_add_test(tc, test_both);
	tcase_add_test(tc, test_no_arm);
	tcase_add_test(tc, test_ack_batch);
	tcase_add_test(tc, test_fails);
	tcase_add_test(tc, test_foreign_queue);
	return harness_run(suite);
}
