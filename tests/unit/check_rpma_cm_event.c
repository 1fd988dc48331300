/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_cm_event.c: what the events of a shared channel mean, state by state. */
#include <config.h>

#include <errno.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "tests/unit/rpma_cm_fixture.h"

enum stage {
	ACCEPTED, /* incoming, not confirmed by the client */
	INCOMING, /* incoming, established */
	ASKING,   /* outgoing, not answered */
	OUTGOING, /* outgoing, established */
	OVER,     /* closed, and that was reported */
};

#define SKIPPED ((enum rpma_cm_event_kind)(-1))

/* clang-format off */
static const struct {
	enum stage stage;
	enum rdma_cm_event_type type;
	int status;
	enum rpma_cm_event_kind kind;
	int status_seen;
} rows[] = {
	{ ACCEPTED, RDMA_CM_EVENT_ESTABLISHED, 0, RPMA_CM_ESTABLISHED, 0 },
	{ ACCEPTED, RDMA_CM_EVENT_DISCONNECTED, 0, RPMA_CM_CLOSED, 0 },
	{ ACCEPTED, RDMA_CM_EVENT_REJECTED, 28, RPMA_CM_LOST, 28 },
	{ ACCEPTED, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, RPMA_CM_LOST, -ETIMEDOUT },
	{ ACCEPTED, RDMA_CM_EVENT_CONNECT_ERROR, -EINVAL, RPMA_CM_LOST, -EINVAL },
	{ ACCEPTED, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, RPMA_CM_DEVICE_REMOVED, 0 },
	{ ACCEPTED, RDMA_CM_EVENT_ADDR_CHANGE, 0, RPMA_CM_OTHER, RDMA_CM_EVENT_ADDR_CHANGE },
	{ ACCEPTED, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, SKIPPED, 0 },

	{ INCOMING, RDMA_CM_EVENT_DISCONNECTED, 0, RPMA_CM_CLOSED, 0 },
	{ INCOMING, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, RPMA_CM_PATH_CHANGED,
	    -ETIMEDOUT },
	{ INCOMING, RDMA_CM_EVENT_CONNECT_ERROR, -EINVAL, RPMA_CM_LOST, -EINVAL },
	{ INCOMING, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, RPMA_CM_DEVICE_REMOVED, 0 },
	{ INCOMING, RDMA_CM_EVENT_ADDR_CHANGE, 0, RPMA_CM_OTHER, RDMA_CM_EVENT_ADDR_CHANGE },
	{ INCOMING, RDMA_CM_EVENT_MULTICAST_ERROR, 0, RPMA_CM_OTHER,
	  RDMA_CM_EVENT_MULTICAST_ERROR },
	{ INCOMING, RDMA_CM_EVENT_ROUTE_ERROR, 0, RPMA_CM_OTHER, RDMA_CM_EVENT_ROUTE_ERROR },
	{ INCOMING, (enum rdma_cm_event_type)99, 0, RPMA_CM_OTHER, 99 },
	{ INCOMING, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, SKIPPED, 0 },

	{ ASKING, RDMA_CM_EVENT_REJECTED, 28, RPMA_CM_REJECTED, 28 },
	{ ASKING, RDMA_CM_EVENT_REJECTED, -ECONNREFUSED, RPMA_CM_REJECTED, -ECONNREFUSED },
	{ ASKING, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, RPMA_CM_UNREACHABLE, -ETIMEDOUT },
	{ ASKING, RDMA_CM_EVENT_CONNECT_ERROR, -EINVAL, RPMA_CM_LOST, -EINVAL },
	{ ASKING, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, RPMA_CM_DEVICE_REMOVED, 0 },
	{ ASKING, RDMA_CM_EVENT_ADDR_CHANGE, 0, RPMA_CM_OTHER, RDMA_CM_EVENT_ADDR_CHANGE },

	{ OUTGOING, RDMA_CM_EVENT_DISCONNECTED, 0, RPMA_CM_CLOSED, 0 },
	{ OUTGOING, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, RPMA_CM_PATH_CHANGED,
	    -ETIMEDOUT },
	{ OUTGOING, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, RPMA_CM_DEVICE_REMOVED, 0 },
	{ OUTGOING, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, SKIPPED, 0 },

	/* one end is enough, but a removal wants the connection to be deleted */
	{ OVER, RDMA_CM_EVENT_DISCONNECTED, 0, SKIPPED, 0 },
	{ OVER, RDMA_CM_EVENT_ESTABLISHED, 0, SKIPPED, 0 },
	{ OVER, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, SKIPPED, 0 },
	{ OVER, RDMA_CM_EVENT_CONNECT_ERROR, -EINVAL, SKIPPED, 0 },
	{ OVER, RDMA_CM_EVENT_REJECTED, 28, SKIPPED, 0 },
	{ OVER, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, SKIPPED, 0 },
	{ OVER, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, RPMA_CM_DEVICE_REMOVED, 0 },
};
/* clang-format on */

/* A connection in a stage; nothing waits on the channel. */
static struct rpma_conn *
conn_in(enum stage stage)
{
	struct fake_peer *client;
	struct rpma_conn *conn;

	switch (stage) {
	case ACCEPTED:
		fake_options()->auto_rtu = false;
		return cm_fixture_accept(&client);
	case INCOMING:
		return cm_fixture_accept(&client);
	case ASKING:
		conn = cm_fixture_dial(FAKE_DIAL_HOLD, 0);
		cm_fixture_expect_none();
		return conn;
	case OUTGOING:
		conn = cm_fixture_dial(FAKE_DIAL_ACCEPT, 0);
		(void)cm_fixture_expect(RPMA_CM_ESTABLISHED);
		return conn;
	case OVER:
	default:
		conn = cm_fixture_accept(&client);
		fake_peer_disconnect(client);
		(void)cm_fixture_expect(RPMA_CM_CLOSED);
		return conn;
	}
}

START_TEST(test_event)
{
	struct rpma_conn *conn = conn_in(rows[_i].stage);
	struct rpma_cm_event event;

	fake_cm_event(fake_id_of_qp(fixture_qp_num(conn)), (int)rows[_i].type,
	    rows[_i].status);
	if (rows[_i].kind != SKIPPED) {
		event = cm_fixture_expect(rows[_i].kind);
		ck_assert_ptr_eq(event.conn, conn);
		ck_assert_ptr_null(event.ep);
		ck_assert_ptr_null(event.req);
		ck_assert_int_eq(event.status, rows[_i].status_seen);
		ck_assert_uint_eq(event.private_data_len, 0);
	}
	cm_fixture_expect_none();
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}
END_TEST

/* A connection whose way has changed may still be closed in good order. */
START_TEST(test_lost_then_closed)
{
	struct rpma_conn *conn = conn_in(INCOMING);
	struct rdma_cm_id *id = fake_id_of_qp(fixture_qp_num(conn));

	fake_cm_event(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	(void)cm_fixture_expect(RPMA_CM_PATH_CHANGED);
	ck_assert_int_eq(rpma_conn_disconnect(conn), 0);
	(void)cm_fixture_expect(RPMA_CM_CLOSED);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}
END_TEST

/* The end is told once, although the device tells it twice. */
START_TEST(test_closed_once)
{
	struct fake_peer *client;
	struct rpma_conn *conn;

	fake_options()->timewait_exit = true;
	conn = cm_fixture_accept(&client);
	fake_peer_disconnect(client);
	ck_assert_ptr_eq(cm_fixture_expect(RPMA_CM_CLOSED).conn, conn);
	ck_assert_int_eq(rpma_conn_disconnect(conn), 0);
	cm_fixture_expect_none();
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}
END_TEST

/* Events of an endpoint name the endpoint. */
START_TEST(test_endpoint)
{
	struct rpma_cm_event event;

	fake_cm_event(fake_id(0), RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	event = cm_fixture_expect(RPMA_CM_DEVICE_REMOVED);
	ck_assert_ptr_eq(event.ep, cm_fixture_ep());
	ck_assert_ptr_null(event.conn);
	fake_cm_event(fake_id(0), RDMA_CM_EVENT_ADDR_CHANGE, 0);
	event = cm_fixture_expect(RPMA_CM_OTHER);
	ck_assert_ptr_eq(event.ep, cm_fixture_ep());
	ck_assert_int_eq(event.status, RDMA_CM_EVENT_ADDR_CHANGE);
}
END_TEST

/* A device goes: everything that hangs on it is told, and can be taken down. */
START_TEST(test_device_removed)
{
	struct ibv_context *context = fake_context(0);
	struct rpma_conn *conn = conn_in(INCOMING);
	bool seen_ep = false;
	bool seen_conn = false;

	fake_device_remove(0);
	for (int i = 0; i < 2; i++) {
		struct rpma_cm_event event = cm_fixture_expect(RPMA_CM_DEVICE_REMOVED);

		seen_ep = seen_ep || event.ep == cm_fixture_ep();
		seen_conn = seen_conn || event.conn == conn;
	}
	ck_assert(seen_ep && seen_conn);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	ck_assert_int_eq(rpma_utils_ibv_context_release(context), 0);
	ck_assert(fake_device_released(context));
}
END_TEST

/* clang-format off */
static const struct {
	enum fake_kind kind;
	enum fake_dial outcome;
	enum rpma_cm_event_kind event;
	uint8_t len;
} pdatas[] = {
	{ FAKE_IB, FAKE_DIAL_ACCEPT, RPMA_CM_ESTABLISHED, 196 },
	{ FAKE_IWARP, FAKE_DIAL_ACCEPT, RPMA_CM_ESTABLISHED, 5 },
	{ FAKE_IB, FAKE_DIAL_REJECT, RPMA_CM_REJECTED, 148 },
	{ FAKE_IWARP, FAKE_DIAL_REJECT, RPMA_CM_REJECTED, 5 },
	{ FAKE_IWARP, FAKE_DIAL_UNREACHABLE, RPMA_CM_UNREACHABLE, 0 },
};
/* clang-format on */

/* The private data of an answer is in the event, that of an acceptance also kept. */
START_TEST(test_private_data)
{
	bool is_kept = pdatas[_i].outcome == FAKE_DIAL_ACCEPT;
	struct rpma_conn_private_data pdata;
	struct rpma_cm_event event;
	struct rpma_conn *conn;

	fake_set_kind(pdatas[_i].kind);
	conn = cm_fixture_dial(pdatas[_i].outcome, 0);
	event = cm_fixture_expect(pdatas[_i].event);
	ck_assert_uint_eq(event.private_data_len, pdatas[_i].len);
	if (pdatas[_i].len)
		ck_assert_mem_eq(event.private_data, "there", 5);
	ck_assert_int_eq(rpma_conn_get_private_data(conn, &pdata), 0);
	ck_assert_uint_eq(pdata.len, is_kept ? pdatas[_i].len : 0);
	if (is_kept)
		ck_assert_mem_eq(pdata.ptr, "there", 5);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_cm_event");
	TCase *tc = fixture_case(suite, "events");

	tcase_add_checked_fixture(tc, cm_fixture_set_up, cm_fixture_tear_down);
	tcase_add_loop_test(tc, test_event, 0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(tc, test_lost_then_closed);
	tcase_add_test(tc, test_closed_once);
	tcase_add_test(tc, test_endpoint);
	tcase_add_test(tc, test_device_removed);
	tcase_add_loop_test(tc, test_private_data, 0,
	    sizeof(pdatas) / sizeof(pdatas[0]));
	return harness_run(suite);
}
