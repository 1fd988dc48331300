/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_dial.c: outgoing connections on a shared channel, step by step. */
#include <config.h>

#include <errno.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "tests/fake/fake_alloc.h"
#include "tests/unit/rpma_cm_fixture.h"

START_TEST(test_steps)
{
	static char hello[] = "hello";
	struct rpma_conn_private_data pdata = { hello, 5 };
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn *conn = NULL;
	struct sockaddr_storage addr;
	size_t len = 0;

	fake_dial_script(FIXTURE_ADDR, 0, 0, FAKE_DIAL_ACCEPT, 0, NULL, 0);
	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_rnr_retry(cfg, 2), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_sq_size(cfg, 4), 0);
	ck_assert_int_eq(rpma_cm_dial(cm_fixture_cm(), fixture_peer(),
			     fixture_sockaddr(FIXTURE_ADDR, 1234), cfg, 321, &pdata,
			     &conn),
	    0);
	/* neither of the two is needed any more */
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
	memset(hello, 'x', sizeof(hello));
	ck_assert_str_eq(fake_trace_args(),
	    "rdma_create_id(sync=0) "
	    "rdma_resolve_addr(dst=127.0.0.1:1234,timeout_ms=321)");
	fake_trace_clear();
	ck_assert_ptr_eq(cm_fixture_expect(RPMA_CM_ESTABLISHED).conn, conn);
	ck_assert_str_eq(fake_trace(),
	    "rdma_get_cm_event rdma_ack_cm_event rdma_resolve_route "
	    "rdma_get_cm_event rdma_ack_cm_event ibv_create_comp_channel ibv_create_cq "
	    "ibv_req_notify_cq rdma_create_qp_ex rdma_connect "
	    "rdma_get_cm_event rdma_ack_cm_event");
	ck_assert_ptr_nonnull(strstr(fake_trace_args(),
	    "rdma_resolve_route(timeout_ms=321)"));
	ck_assert_ptr_nonnull(strstr(fake_trace_args(), "send_wr=4,recv_wr=10,"));
	ck_assert_ptr_nonnull(strstr(fake_trace_args(),
	    "rdma_connect(pdata=5,resp=255,init=255,flow=1,retry=7,rnr=2)"));
	ck_assert_mem_eq(fake_peer_pdata(fake_peer_last(), &len), "hello", 5);
	ck_assert_int_eq(rpma_conn_get_peer_addr(conn, &addr), 0);
	ck_assert(fixture_is_addr(&addr, FIXTURE_ADDR, 1234));
	ck_assert_int_eq(rpma_send(conn, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, NULL),
	    0);
	fake_trace_clear();
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	ck_assert_str_eq(fake_trace(),
	    "rdma_destroy_qp ibv_destroy_cq ibv_destroy_comp_channel rdma_destroy_id");
}
END_TEST

/* Both ends of a connection may share one channel. */
START_TEST(test_both_ends)
{
	struct rpma_conn *ends[2] = { NULL, NULL };
	struct rpma_cm_event event;

	ck_assert_int_eq(rpma_cm_dial(cm_fixture_cm(), fixture_peer(),
			     fixture_sockaddr(FIXTURE_ADDR, FIXTURE_PORT), NULL, 500,
			     NULL, &ends[0]),
	    0);
	event = cm_fixture_expect(RPMA_CM_REQUEST);
	ck_assert_int_eq(rpma_cm_accept(&event.req, NULL, NULL, &ends[1]), 0);
	(void)cm_fixture_expect(RPMA_CM_ESTABLISHED);
	(void)cm_fixture_expect(RPMA_CM_ESTABLISHED);
	ck_assert_int_eq(rpma_conn_disconnect(ends[0]), 0);
	ck_assert_ptr_eq(cm_fixture_expect(RPMA_CM_CLOSED).conn, ends[1]);
	ck_assert_int_eq(rpma_conn_disconnect(ends[1]), 0);
	ck_assert_ptr_eq(cm_fixture_expect(RPMA_CM_CLOSED).conn, ends[0]);
	ck_assert_int_eq(rpma_conn_delete(&ends[0]), 0);
	ck_assert_int_eq(rpma_conn_delete(&ends[1]), 0);
}
END_TEST

START_TEST(test_invalid)
{
	struct sockaddr *dst = fixture_sockaddr(FIXTURE_ADDR, 1);
	const struct sockaddr other = { .sa_family = AF_UNIX };
	const struct rpma_conn_private_data bad = { NULL, 1 };
	struct rpma_conn *conn = UNTOUCHED(struct rpma_conn);
	struct rpma_peer *peer = fixture_peer();
	struct rpma_cm *cm = cm_fixture_cm();
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_cq *cq = NULL;

	ck_assert_int_eq(rpma_cq_new(peer, 20, &cq), 0);
	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_cq(cfg, cq), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_compl_channel(cfg, true), 0);
	fake_trace_clear();
	ck_assert_int_eq(rpma_cm_dial(NULL, peer, dst, NULL, 1, NULL, &conn),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_dial(cm, NULL, dst, NULL, 1, NULL, &conn),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_dial(cm, peer, NULL, NULL, 1, NULL, &conn),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_dial(cm, peer, &other, NULL, 1, NULL, &conn),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_dial(cm, peer, dst, cfg, 1, NULL, &conn),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_dial(cm, peer, dst, NULL, 0, NULL, &conn),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_dial(cm, peer, dst, NULL, 1, &bad, &conn),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_dial(cm, peer, dst, NULL, 1, NULL, NULL),
	    RPMA_E_INVAL);
	ck_assert_ptr_eq(conn, UNTOUCHED(struct rpma_conn));
	ck_assert_str_eq(fake_trace(), "");
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
	ck_assert_int_eq(rpma_cq_delete(&cq), 0);
}
END_TEST

static const char *const first_steps[] = { "rdma_create_id", "rdma_resolve_addr" };

START_TEST(test_first_step_fails)
{
	struct rpma_conn *conn = UNTOUCHED(struct rpma_conn);

	fake_fail_call(first_steps[_i], 1, EADDRNOTAVAIL);
	assert_provider(rpma_cm_dial(cm_fixture_cm(), fixture_peer(),
			    fixture_sockaddr(FIXTURE_ADDR, 1), NULL, 1, NULL, &conn),
	    EADDRNOTAVAIL);
	ck_assert_ptr_eq(conn, UNTOUCHED(struct rpma_conn));
	ck_assert_uint_eq(fake_live(FAKE_ID), 1);
}
END_TEST

START_TEST(test_memory)
{
	struct rpma_conn *conn = UNTOUCHED(struct rpma_conn);
	unsigned int n = 0;

	for (;;) {
		fake_alloc_fail_nth(++n);
		if (!rpma_cm_dial(cm_fixture_cm(), fixture_peer(),
			fixture_sockaddr(FIXTURE_ADDR, 1), NULL, 1, NULL, &conn))
			break;
		ck_assert(fake_alloc_fired());
		ck_assert_int_eq(rpma_err_last_errno(), ENOMEM);
		ck_assert_ptr_eq(conn, UNTOUCHED(struct rpma_conn));
		ck_assert_uint_eq(fake_live(FAKE_ID), 1);
	}
	fake_alloc_fail_nth(0);
	ck_assert_uint_gt(n, 2);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}
END_TEST

/* clang-format off */
static const struct {
	enum fake_dial outcome;
	int status;
	const char *call; /* that fails; NULL: none */
	int errnum;
	enum rpma_cm_event_kind kind;
	int status_seen;
} ends[] = {
	{ FAKE_DIAL_ADDR_ERROR, -ETIMEDOUT, NULL, 0, RPMA_CM_UNRESOLVED, -ETIMEDOUT },
	{ FAKE_DIAL_ADDR_ERROR, -ENODEV, NULL, 0, RPMA_CM_UNRESOLVED, -ENODEV },
	{ FAKE_DIAL_ROUTE_ERROR, -EHOSTUNREACH, NULL, 0, RPMA_CM_UNREACHABLE, -EHOSTUNREACH },
	{ FAKE_DIAL_REJECT, 8, NULL, 0, RPMA_CM_REJECTED, 8 },
	{ FAKE_DIAL_UNREACHABLE, -ETIMEDOUT, NULL, 0, RPMA_CM_UNREACHABLE, -ETIMEDOUT },
	{ FAKE_DIAL_CONNECT_ERROR, -EINVAL, NULL, 0, RPMA_CM_LOST, -EINVAL },
	{ FAKE_DIAL_ACCEPT, 0, "rdma_resolve_route", ENOSPC, RPMA_CM_UNREACHABLE, -ENOSPC },
	{ FAKE_DIAL_ACCEPT, 0, "ibv_create_comp_channel", ENOSPC, RPMA_CM_LOST, -ENOSPC },
	{ FAKE_DIAL_ACCEPT, 0, "ibv_create_cq", ENOSPC, RPMA_CM_LOST, -ENOSPC },
	{ FAKE_DIAL_ACCEPT, 0, "ibv_req_notify_cq", ENOSPC, RPMA_CM_LOST, -ENOSPC },
	{ FAKE_DIAL_ACCEPT, 0, "rdma_create_qp_ex", ENOSPC, RPMA_CM_LOST, -ENOSPC },
	{ FAKE_DIAL_ACCEPT, 0, "rdma_connect", ENOSPC, RPMA_CM_LOST, -ENOSPC },
	{ FAKE_DIAL_ACCEPT, 0, "rdma_resolve_route", ENODEV, RPMA_CM_UNRESOLVED, -ENODEV },
	{ FAKE_DIAL_ACCEPT, 0, "rdma_create_qp_ex", ECONNREFUSED, RPMA_CM_LOST, -ECONNREFUSED },
	{ FAKE_DIAL_ACCEPT, 0, "rdma_connect", ECONNREFUSED, RPMA_CM_REJECTED, -ECONNREFUSED },
	{ FAKE_DIAL_ACCEPT, 0, "rdma_connect", ETIMEDOUT, RPMA_CM_UNREACHABLE, -ETIMEDOUT },
	{ FAKE_DIAL_ACCEPT, 0, "rdma_connect", EHOSTUNREACH, RPMA_CM_UNREACHABLE,
	  -EHOSTUNREACH },
	{ FAKE_DIAL_ACCEPT, 0, "rdma_connect", ENETUNREACH, RPMA_CM_UNREACHABLE,
	  -ENETUNREACH },
};
/* clang-format on */

/* Each failure on the way is an event; the connection can only be deleted then. */
START_TEST(test_end)
{
	struct rpma_conn *conn = cm_fixture_dial(ends[_i].outcome, ends[_i].status);
	struct rpma_cm_event event;

	if (ends[_i].call)
		fake_fail_call(ends[_i].call, 1, ends[_i].errnum);
	event = cm_fixture_expect(ends[_i].kind);
	ck_assert_ptr_eq(event.conn, conn);
	ck_assert_int_eq(event.status, ends[_i].status_seen);
	cm_fixture_expect_none();
	ck_assert_uint_eq(fixture_logs(), ends[_i].call != NULL);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}
END_TEST

/* Memory may run out when the queues are made. */
START_TEST(test_end_memory)
{
	struct rpma_conn *conn = cm_fixture_dial(FAKE_DIAL_ACCEPT, 0);
	struct rpma_cm_event event;

	fake_alloc_fail_nth(1);
	event = cm_fixture_expect(RPMA_CM_LOST);
	ck_assert(fake_alloc_fired());
	ck_assert_int_eq(event.status, -ENOMEM);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}
END_TEST

START_TEST(test_end_device)
{
	struct rpma_conn *conn = NULL;
	struct rpma_cm_event event;

	fake_dial_script("192.0.2.1", 0, 1, FAKE_DIAL_ACCEPT, 0, NULL, 0);
	ck_assert_int_eq(rpma_cm_dial(cm_fixture_cm(), fixture_peer(),
			     fixture_sockaddr("192.0.2.1", 1), NULL, 1, NULL, &conn),
	    0);
	event = cm_fixture_expect(RPMA_CM_UNRESOLVED);
	ck_assert_int_eq(event.status, -EXDEV);
	ck_assert_uint_eq(fake_called("rdma_resolve_route"), 0);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	ck_assert_int_eq(rpma_cm_dial(cm_fixture_cm(), fixture_peer(),
			     fixture_sockaddr("192.0.2.2", 1), NULL, 1, NULL, &conn),
	    0);
	event = cm_fixture_expect(RPMA_CM_UNRESOLVED);
	ck_assert_int_eq(event.status, -ENODEV);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}
END_TEST

int __real_rdma_get_cm_event(struct rdma_event_channel *channel,
    struct rdma_cm_event **event);
int __wrap_rdma_get_cm_event(struct rdma_event_channel *channel,
    struct rdma_cm_event **event);

/* What becomes of the events that librdmacm hands out. */
static enum {
	HONEST,
	HALF_DONE, /* a step of its own failed: status -1, and errno */
	NO_DEVICE, /* the id has no device */
} mood;

int
__wrap_rdma_get_cm_event(struct rdma_event_channel *channel,
    struct rdma_cm_event **event)
{
	int rc = __real_rdma_get_cm_event(channel, event);

	if (!rc && mood == HALF_DONE) {
		(*event)->event = RDMA_CM_EVENT_ADDR_ERROR;
		(*event)->status = -1;
		errno = ENODEV;
	} else if (!rc && mood == NO_DEVICE) {
		(*event)->id->verbs = NULL;
	}
	return rc;
}

START_TEST(test_end_by_librdmacm)
{
	struct rpma_conn *conn = cm_fixture_dial(FAKE_DIAL_ACCEPT, 0);

	mood = _i ? NO_DEVICE : HALF_DONE;
	ck_assert_int_eq(cm_fixture_expect(RPMA_CM_UNRESOLVED).status, -ENODEV);
	mood = HONEST;
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}
END_TEST

/* A dial without queues yet: what needs them says so, and nothing breaks. */
START_TEST(test_before_queues)
{
	struct rpma_conn *conn = cm_fixture_dial(FAKE_DIAL_ADDR_SILENT, 0);
	struct rpma_cq *cq = UNTOUCHED(struct rpma_cq);
	int fd = -77;

	ck_assert_uint_eq(fixture_qp_num(conn), 0);
	ck_assert_int_eq(rpma_conn_get_cq(conn, &cq), 0);
	ck_assert_ptr_null(cq);
	ck_assert_int_eq(rpma_conn_get_rcq(conn, &cq), 0);
	ck_assert_ptr_null(cq);
	ck_assert_int_eq(rpma_conn_get_compl_fd(conn, &fd), RPMA_E_NOT_SHARED_CHNL);
	ck_assert_int_eq(rpma_conn_wait(conn, 0, &cq, NULL), RPMA_E_NOT_SHARED_CHNL);
	assert_provider(rpma_send(conn, NULL, 0, 0, 3, NULL), ENOTCONN);
	assert_provider(rpma_recv(conn, NULL, 0, 0, NULL), ENOTCONN);
	assert_provider(rpma_conn_set_min_rnr_timer(conn, 1), ENOTCONN);
	ck_assert_int_eq(rpma_conn_drain(conn), 0);
	ck_assert_int_eq(rpma_conn_disconnect(conn), RPMA_E_PROVIDER);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}
END_TEST

/* May be deleted after any number of its events, and with some of them unread. */
START_TEST(test_delete_any_time)
{
	struct rpma_conn *conn;

	fake_cm_hold(true);
	conn = cm_fixture_dial(FAKE_DIAL_ACCEPT, 0);
	for (int i = 0; i < _i; i++) {
		fake_cm_release(1);
		if (i < 2)
			cm_fixture_expect_none();
	}
	if (_i == 4)
		(void)cm_fixture_expect(RPMA_CM_ESTABLISHED);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	fake_cm_hold(false);
	fake_cm_release(0);
	cm_fixture_expect_none();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_dial");
	TCase *tc = fixture_case(suite, "dial");

	tcase_add_checked_fixture(tc, cm_fixture_set_up, cm_fixture_tear_down);
	tcase_add_test(tc, test_steps);
	tcase_add_test(tc, test_both_ends);
	tcase_add_test(tc, test_invalid);
	tcase_add_loop_test(tc, test_first_step_fails, 0, 2);
	tcase_add_test(tc, test_memory);
	tcase_add_loop_test(tc, test_end, 0, sizeof(ends) / sizeof(ends[0]));
	tcase_add_test(tc, test_end_memory);
	tcase_add_test(tc, test_end_device);
	tcase_add_loop_test(tc, test_end_by_librdmacm, 0, 2);
	tcase_add_test(tc, test_before_queues);
	tcase_add_loop_test(tc, test_delete_any_time, 0, 5);
	return harness_run(suite);
}
