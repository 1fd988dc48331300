/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_conn.c: connections with a channel of their own. */
#include <config.h>

#include <errno.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "tests/fake/fake_alloc.h"
#include "tests/unit/rpma_fixture.h"

static struct rpma_conn *conn;

/* An established connection whose events do not block. */
static void
connect_default(void)
{
	int fd;

	conn = fixture_connect(NULL);
	ck_assert_int_eq(rpma_conn_get_event_fd(conn, &fd), 0);
	fixture_nonblock(fd);
}

static void
delete_conn(void)
{
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}

static struct rdma_cm_id *
id_of_conn(void)
{
	return fake_id_of_qp(fixture_qp_num(conn));
}

#define NONE RPMA_CONN_UNDEFINED

/* clang-format off */
static const struct {
	enum rdma_cm_event_type type;
	int ret;
	enum rpma_conn_event event;
} events[] = {
	{ RDMA_CM_EVENT_ADDR_RESOLVED, RPMA_E_UNKNOWN, NONE },
	{ RDMA_CM_EVENT_ADDR_ERROR, RPMA_E_UNKNOWN, NONE },
	{ RDMA_CM_EVENT_ROUTE_RESOLVED, RPMA_E_UNKNOWN, NONE },
	{ RDMA_CM_EVENT_ROUTE_ERROR, RPMA_E_UNKNOWN, NONE },
	{ RDMA_CM_EVENT_CONNECT_RESPONSE, RPMA_E_UNKNOWN, NONE },
	{ RDMA_CM_EVENT_CONNECT_ERROR, 0, RPMA_CONN_LOST },
	{ RDMA_CM_EVENT_UNREACHABLE, 0, RPMA_CONN_UNREACHABLE },
	{ RDMA_CM_EVENT_REJECTED, 0, RPMA_CONN_REJECTED },
	{ RDMA_CM_EVENT_ESTABLISHED, 0, RPMA_CONN_ESTABLISHED },
	{ RDMA_CM_EVENT_DISCONNECTED, 0, RPMA_CONN_CLOSED },
	{ RDMA_CM_EVENT_DEVICE_REMOVAL, 0, RPMA_CONN_LOST },
	{ RDMA_CM_EVENT_MULTICAST_JOIN, RPMA_E_UNKNOWN, NONE },
	{ RDMA_CM_EVENT_MULTICAST_ERROR, RPMA_E_UNKNOWN, NONE },
	{ RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, RPMA_CONN_CLOSED },
	{ (enum rdma_cm_event_type)99, RPMA_E_UNKNOWN, NONE },
};
/* clang-format on */

START_TEST(test_event)
{
	enum rpma_conn_event event = (enum rpma_conn_event)77;

	fake_cm_event(id_of_conn(), RDMA_CM_EVENT_ADDR_CHANGE, 0); /* skipped */
	fake_cm_event(id_of_conn(), (int)events[_i].type, 0);
	ck_assert_int_eq(rpma_conn_next_event(conn, &event), events[_i].ret);
	ck_assert_int_eq(event, events[_i].event);
	ck_assert_uint_eq(fixture_logs(), events[_i].ret ? 1 : 0);
	ck_assert_uint_eq(fake_live(FAKE_CM_EVENT), 0);
	ck_assert_int_eq(rpma_conn_next_event(conn, &event), RPMA_E_NO_EVENT);
}
END_TEST

/* clang-format off */
static const struct {
	int errnum;
	int ret;
} failures[] = {
	{ EAGAIN, RPMA_E_NO_EVENT },
	{ ENODATA, RPMA_E_NO_EVENT },
	{ EIO, RPMA_E_PROVIDER },
	{ EBADF, RPMA_E_PROVIDER },
	{ EINTR, 0 }, /* tried again */
};
/* clang-format on */

START_TEST(test_event_fails)
{
	enum rpma_conn_event event = (enum rpma_conn_event)77;

	fake_cm_event(id_of_conn(), RDMA_CM_EVENT_DISCONNECTED, 0);
	fake_fail_call("rdma_get_cm_event", 1, failures[_i].errnum);
	ck_assert_int_eq(rpma_conn_next_event(conn, &event), failures[_i].ret);
	ck_assert_int_eq(event, failures[_i].ret ? 77 : RPMA_CONN_CLOSED);
	ck_assert_uint_eq(fixture_logs(), failures[_i].ret == RPMA_E_PROVIDER);
}
END_TEST

START_TEST(test_event_ack_fails)
{
	enum rpma_conn_event event = (enum rpma_conn_event)77;

	fake_cm_event(id_of_conn(), RDMA_CM_EVENT_DISCONNECTED, 0);
	fake_fail_call("rdma_ack_cm_event", 1, EINVAL);
	assert_provider(rpma_conn_next_event(conn, &event), EINVAL);
	ck_assert_int_eq(event, 77);
}
END_TEST

/* Calls that give something about a connection refuse NULL and leave their output. */
START_TEST(test_invalid)
{
	enum rpma_conn_event event = (enum rpma_conn_event)77;
	struct rpma_conn_private_data pdata;
	struct sockaddr_storage addr;
	struct rpma_cq *cq;
	uint32_t qp_num;
	void *context;
	int fd = -77;

	ck_assert_int_eq(rpma_conn_next_event(NULL, &event), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_next_event(conn, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(event, 77);
	ck_assert_int_eq(rpma_conn_get_event_fd(NULL, &fd), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_event_fd(conn, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_compl_fd(NULL, &fd), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_compl_fd(conn, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(fd, -77);
	ck_assert_int_eq(rpma_conn_get_private_data(NULL, &pdata), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_private_data(conn, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_qp_num(NULL, &qp_num), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_qp_num(conn, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_cq(NULL, &cq), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_cq(conn, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_rcq(NULL, &cq), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_rcq(conn, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_peer_addr(NULL, &addr), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_peer_addr(conn, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_local_addr(NULL, &addr), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_local_addr(conn, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_set_context(NULL, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_context(NULL, &context), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_context(conn, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_disconnect(NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_drain(NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_delete(NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_set_min_rnr_timer(NULL, 1), RPMA_E_INVAL);
}
END_TEST

START_TEST(test_tells)
{
	struct sockaddr_storage addr;
	void *context = &addr;

	ck_assert_int_eq(rpma_conn_get_peer_addr(conn, &addr), 0);
	ck_assert(fixture_is_addr(&addr, FIXTURE_ADDR, FIXTURE_PORT));
	ck_assert_int_eq(rpma_conn_get_local_addr(conn, &addr), 0);
	ck_assert(fixture_is_addr(&addr, FIXTURE_ADDR, 0));
	ck_assert_uint_ne(fixture_port(&addr), 0);
	ck_assert_int_eq(rpma_conn_get_context(conn, &context), 0);
	ck_assert_ptr_null(context);
	ck_assert_int_eq(rpma_conn_set_context(conn, &addr), 0);
	ck_assert_int_eq(rpma_conn_get_context(conn, &context), 0);
	ck_assert_ptr_eq(context, &addr);
	ck_assert_uint_eq(fixture_qp_num(conn), fake_peer_qp_num(fake_peer_last()));
}
END_TEST

START_TEST(test_disconnect)
{
	enum rpma_conn_event event = (enum rpma_conn_event)77;

	fake_fail_call("rdma_disconnect", 1, EINVAL);
	assert_provider(rpma_conn_disconnect(conn), EINVAL);
	ck_assert_int_eq(rpma_conn_disconnect(conn), 0);
	ck_assert_int_eq(fake_peer_state(fake_peer_last()), FAKE_PEER_DISCONNECTED);
	ck_assert_int_eq(rpma_conn_next_event(conn, &event), 0);
	ck_assert_int_eq(event, RPMA_CONN_CLOSED);
}
END_TEST

START_TEST(test_drain)
{
	struct rpma_cq *cq;
	struct ibv_wc wc;

	ck_assert_int_eq(rpma_conn_get_cq(conn, &cq), 0);
	ck_assert_int_eq(rpma_recv(conn, fixture_mr(), 0, 8, (void *)5), 0);
	fake_trace_clear();
	fake_fail_call("ibv_modify_qp", 1, EIO);
	assert_provider(rpma_conn_drain(conn), EIO);
	ck_assert_int_eq(rpma_conn_drain(conn), 0);
	ck_assert_int_eq(fake_qp_state(fixture_qp_num(conn)), IBV_QPS_ERR);
	ck_assert_int_eq(rpma_cq_get_wc(cq, 1, &wc, NULL), 0);
	ck_assert_int_eq(wc.status, IBV_WC_WR_FLUSH_ERR);
	ck_assert_uint_eq(wc.wr_id, 5);
	ck_assert_int_eq(rpma_conn_drain(conn), 0);
}
END_TEST

START_TEST(test_rnr_timer)
{
	uint32_t qp_num = fixture_qp_num(conn);

	ck_assert_int_eq(rpma_conn_set_min_rnr_timer(conn, 32), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_set_min_rnr_timer(conn, 256), RPMA_E_INVAL);
	ck_assert_int_eq(fake_qp_min_rnr_timer(qp_num), -1);
	ck_assert_int_eq(rpma_conn_set_min_rnr_timer(conn, 31), 0);
	ck_assert_int_eq(fake_qp_min_rnr_timer(qp_num), 31);
	ck_assert_int_eq(rpma_conn_set_min_rnr_timer(conn, 0), 0);
	ck_assert_int_eq(fake_qp_min_rnr_timer(qp_num), 0);
	ck_assert_int_eq(fake_qp_state(qp_num), IBV_QPS_RTS);
	fake_fail_call("ibv_modify_qp", 1, EIO);
	assert_provider(rpma_conn_set_min_rnr_timer(conn, 1), EIO);
}
END_TEST

START_TEST(test_rnr_timer_iwarp)
{
	struct rpma_peer *peer = NULL;
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *other = NULL;

	fake_set_kind(FAKE_IWARP);
	ck_assert_int_eq(rpma_peer_new(fake_context(0), &peer), 0);
	ck_assert_int_eq(rpma_conn_req_new(peer, FIXTURE_ADDR, FIXTURE_PORT_STR, NULL,
			     &req),
	    0);
	ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, &other), 0);
	ck_assert_int_eq(rpma_conn_set_min_rnr_timer(other, 1), RPMA_E_NOSUPP);
	ck_assert_int_eq(rpma_conn_delete(&other), 0);
	ck_assert_int_eq(rpma_peer_delete(&peer), 0);
}
END_TEST

START_TEST(test_delete)
{
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	ck_assert_ptr_null(conn);
	ck_assert_str_eq(fake_trace(),
	    "rdma_destroy_qp ibv_destroy_cq ibv_destroy_comp_channel rdma_destroy_id "
	    "rdma_destroy_event_channel");
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}
END_TEST

START_TEST(test_delete_fails)
{
	static const char *const steps[] = { "ibv_destroy_cq",
		"ibv_destroy_comp_channel", "rdma_destroy_id" };

	fake_fail_call(steps[_i], 1, EIO);
	assert_provider(rpma_conn_delete(&conn), EIO);
	ck_assert_ptr_null(conn);
}
END_TEST

/* clang-format off */
static const struct {
	enum fake_kind kind;
	size_t sent;
	uint8_t seen;
} pdatas[] = {
	{ FAKE_IB, 5, 196 }, /* the whole field of a reply */
	{ FAKE_IB, 0, 196 },
	{ FAKE_IWARP, 5, 5 },
	{ FAKE_IWARP, 255, 255 },
	{ FAKE_IWARP, 0, 0 },
};
/* clang-format on */

START_TEST(test_private_data)
{
	static const char bytes[255] = "hello";
	struct rpma_conn_private_data pdata = { &conn, 77 };
	struct rpma_conn_req *req = NULL;
	enum rpma_conn_event event;

	fake_set_kind(pdatas[_i].kind);
	fake_dial_script(FIXTURE_ADDR, 0, 0, FAKE_DIAL_ACCEPT, 0, bytes,
	    pdatas[_i].sent);
	ck_assert_int_eq(rpma_conn_req_new(fixture_peer(), FIXTURE_ADDR,
			     FIXTURE_PORT_STR, NULL, &req),
	    0);
	ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, &conn), 0);
	ck_assert_int_eq(rpma_conn_get_private_data(conn, &pdata), 0);
	ck_assert_ptr_null(pdata.ptr);
	ck_assert_uint_eq(pdata.len, 0);
	ck_assert_int_eq(rpma_conn_next_event(conn, &event), 0);
	ck_assert_int_eq(rpma_conn_get_private_data(conn, &pdata), 0);
	ck_assert_uint_eq(pdata.len, pdatas[_i].seen);
	if (pdatas[_i].seen)
		ck_assert_mem_eq(pdata.ptr, bytes, pdatas[_i].sent);
	else
		ck_assert_ptr_null(pdata.ptr);
	delete_conn();
}
END_TEST

/* The event used to be lost when there was no memory for what came with it. */
START_TEST(test_private_data_needs_no_memory)
{
	struct rpma_conn_private_data pdata = { &conn, 77 };
	struct rpma_conn_req *req = NULL;
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	bool fired;
	int ret;

	fake_set_kind(FAKE_IWARP);
	fake_dial_script(FIXTURE_ADDR, 0, 0, FAKE_DIAL_ACCEPT, 0, "hello", 5);
	ck_assert_int_eq(rpma_conn_req_new(fixture_peer(), FIXTURE_ADDR,
			     FIXTURE_PORT_STR, NULL, &req),
	    0);
	ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, &conn), 0);
	fake_alloc_fail_nth(1);
	ret = rpma_conn_next_event(conn, &event);
	fired = fake_alloc_fired(); /* assertions allocate, too */
	fake_alloc_fail_nth(0);
	ck_assert_int_eq(ret, 0);
	ck_assert(!fired);
	ck_assert_int_eq(event, RPMA_CONN_ESTABLISHED);
	ck_assert_int_eq(rpma_conn_get_private_data(conn, &pdata), 0);
	ck_assert_uint_eq(pdata.len, 5);
	ck_assert_mem_eq(pdata.ptr, "hello", 5);
	delete_conn();
}
END_TEST

/*
 * Why a connection did not come about, and what the peer said to that, used to be
 * thrown away.
 */
START_TEST(test_reject)
{
	struct rpma_conn_private_data pdata = { &conn, 77 };
	struct rpma_conn_req *req = NULL;
	enum rpma_conn_event event;
	int status = 77;

	fake_set_kind(FAKE_IWARP);
	fake_dial_script(FIXTURE_ADDR, 0, 0, FAKE_DIAL_REJECT, 28, "go away", 7);
	ck_assert_int_eq(rpma_conn_req_new(fixture_peer(), FIXTURE_ADDR,
			     FIXTURE_PORT_STR, NULL, &req),
	    0);
	ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, &conn), 0);
	ck_assert_int_eq(rpma_conn_get_event_status(NULL, &status), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_event_status(conn, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_reject_data(NULL, &pdata), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_get_reject_data(conn, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(status, 77);
	ck_assert_uint_eq(pdata.len, 77);
	ck_assert_int_eq(rpma_conn_get_event_status(conn, &status), 0);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(rpma_conn_next_event(conn, &event), 0);
	ck_assert_int_eq(event, RPMA_CONN_REJECTED);
	ck_assert_int_eq(rpma_conn_get_event_status(conn, &status), 0);
	ck_assert_int_eq(status, 28);
	ck_assert_int_eq(rpma_conn_get_reject_data(conn, &pdata), 0);
	ck_assert_uint_eq(pdata.len, 7);
	ck_assert_mem_eq(pdata.ptr, "go away", 7);
	/* it is not what comes with a connection */
	ck_assert_int_eq(rpma_conn_get_private_data(conn, &pdata), 0);
	ck_assert_ptr_null(pdata.ptr);
	ck_assert_uint_eq(pdata.len, 0);
	delete_conn();
}
END_TEST

/* And the other way round: what came with a connection is no refusal. */
START_TEST(test_event_status)
{
	struct rpma_conn_private_data pdata = { &conn, 77 };
	enum rpma_conn_event event;
	int status = 77;

	ck_assert_int_eq(rpma_conn_get_reject_data(conn, &pdata), 0);
	ck_assert_ptr_null(pdata.ptr);
	ck_assert_uint_eq(pdata.len, 0);
	fake_cm_event(id_of_conn(), RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	ck_assert_int_eq(rpma_conn_next_event(conn, &event), 0);
	ck_assert_int_eq(rpma_conn_get_event_status(conn, &status), 0);
	ck_assert_int_eq(status, -ETIMEDOUT);
	/* no event, no change */
	ck_assert_int_eq(rpma_conn_next_event(conn, &event), RPMA_E_NO_EVENT);
	ck_assert_int_eq(rpma_conn_get_event_status(conn, &status), 0);
	ck_assert_int_eq(status, -ETIMEDOUT);
}
END_TEST

/* How a connection that was refused, or met nobody, says so. */
static const struct {
	enum fake_dial outcome;
	enum rpma_conn_event event;
} ends[] = {
	{ FAKE_DIAL_REJECT, RPMA_CONN_REJECTED },
	{ FAKE_DIAL_UNREACHABLE, RPMA_CONN_UNREACHABLE },
	{ FAKE_DIAL_CONNECT_ERROR, RPMA_CONN_LOST },
};

START_TEST(test_not_established)
{
	struct rpma_conn_req *req = NULL;
	enum rpma_conn_event event = (enum rpma_conn_event)77;

	fake_dial_script(FIXTURE_ADDR, 0, 0, ends[_i].outcome, 0, NULL, 0);
	ck_assert_int_eq(rpma_conn_req_new(fixture_peer(), FIXTURE_ADDR,
			     FIXTURE_PORT_STR, NULL, &req),
	    0);
	ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, &conn), 0);
	ck_assert_int_eq(rpma_conn_next_event(conn, &event), 0);
	ck_assert_int_eq(event, ends[_i].event);
	(void)rpma_conn_disconnect(conn); /* of no use, and of no harm */
	delete_conn();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_conn");
	TCase *tc = fixture_case(suite, "established");

	tcase_add_checked_fixture(tc, connect_default, delete_conn);
	tcase_add_loop_test(tc, test_event, 0, sizeof(events) / sizeof(events[0]));
	tcase_add_loop_test(tc, test_event_fails, 0,
	    sizeof(failures) / sizeof(failures[0]));
	tcase_add_test(tc, test_event_ack_fails);
	tcase_add_test(tc, test_invalid);
	tcase_add_test(tc, test_tells);
	tcase_add_test(tc, test_disconnect);
	tcase_add_test(tc, test_drain);
	tcase_add_test(tc, test_rnr_timer);
	tcase_add_test(tc, test_rnr_timer_iwarp);
	tcase_add_test(tc, test_delete);
	tcase_add_loop_test(tc, test_delete_fails, 0, 3);
	tcase_add_test(tc, test_event_status);
	tc = fixture_case(suite, "beginnings");
	tcase_add_loop_test(tc, test_private_data, 0,
	    sizeof(pdatas) / sizeof(pdatas[0]));
	tcase_add_test(tc, test_private_data_needs_no_memory);
	tcase_add_test(tc, test_reject);
	tcase_add_loop_test(tc, test_not_established, 0,
	    sizeof(ends) / sizeof(ends[0]));
	return harness_run(suite);
}
