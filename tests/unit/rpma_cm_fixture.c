/* SPDX-License-Identifier: BSD-3-Clause */
/* rpma_cm_fixture.c: the set-up of tests of struct rpma_cm. */
#include <config.h>

#include "tests/unit/rpma_cm_fixture.h"

static struct rpma_cm *the_cm;
static struct rpma_ep *the_ep;

void
cm_fixture_set_up(void)
{
	ck_assert_int_eq(rpma_cm_new(&the_cm), 0);
	ck_assert_int_eq(rpma_cm_listen(the_cm, fixture_peer(),
			     fixture_sockaddr(FIXTURE_ADDR, FIXTURE_PORT), 0, &the_ep),
	    0);
	fake_trace_clear();
}

void
cm_fixture_tear_down(void)
{
	cm_fixture_expect_none();
	ck_assert_int_eq(rpma_ep_shutdown(&the_ep), 0);
	ck_assert_int_eq(rpma_cm_delete(&the_cm), 0);
}

struct rpma_cm *
cm_fixture_cm(void)
{
	return the_cm;
}

struct rpma_ep *
cm_fixture_ep(void)
{
	return the_ep;
}

struct rpma_cm_event
cm_fixture_expect(enum rpma_cm_event_kind kind)
{
	struct rpma_cm_event event = { .status = 77 };

	ck_assert_int_eq(rpma_cm_next_event(the_cm, &event), 0);
	ck_assert_int_eq(event.kind, kind);
	ck_assert_uint_eq(fake_live(FAKE_CM_EVENT), 0);
	return event;
}

void
cm_fixture_expect_none(void)
{
	struct rpma_cm_event event = { .status = 77 };

	ck_assert_int_eq(rpma_cm_next_event(the_cm, &event), RPMA_E_NO_EVENT);
	ck_assert_int_eq(event.status, 77);
}

struct rpma_conn_req *
cm_fixture_request(struct fake_peer **client)
{
	struct rpma_cm_event event;

	*client = fake_peer_connect(FIXTURE_PORT, NULL, 0);
	ck_assert_ptr_nonnull(*client);
	event = cm_fixture_expect(RPMA_CM_REQUEST);
	ck_assert_ptr_eq(event.ep, the_ep);
	ck_assert_ptr_null(event.conn);
	ck_assert_ptr_nonnull(event.req);
	return event.req;
}

struct rpma_conn *
cm_fixture_accept(struct fake_peer **client)
{
	struct rpma_conn_req *req = cm_fixture_request(client);
	struct rpma_conn *conn = NULL;
	struct rpma_cm_event event;

	ck_assert_int_eq(rpma_cm_accept(&req, NULL, NULL, &conn), 0);
	ck_assert_ptr_null(req);
	if (fake_options()->auto_rtu) {
		event = cm_fixture_expect(RPMA_CM_ESTABLISHED);
		ck_assert_ptr_eq(event.conn, conn);
		ck_assert_ptr_null(event.ep);
		ck_assert_ptr_null(event.req);
		ck_assert_int_eq(event.status, 0);
	}
	return conn;
}

struct rpma_conn *
cm_fixture_dial(enum fake_dial outcome, int status)
{
	struct rpma_conn *conn = NULL;

	fake_dial_script(FIXTURE_ADDR, FIXTURE_PORT, 0, outcome, status, "there", 5);
	ck_assert_int_eq(rpma_cm_dial(the_cm, fixture_peer(),
			     fixture_sockaddr(FIXTURE_ADDR, FIXTURE_PORT), NULL, 500,
			     NULL, &conn),
	    0);
	ck_assert_ptr_nonnull(conn);
	return conn;
}
