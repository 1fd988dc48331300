/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_rpma_order.c: objects deleted before what was made from them. The provider's
 * object used to be lost: now it goes with the last that needs it.
 */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/rpma_fixture.h"

static struct rpma_peer *peer;

static void
start(void)
{
	peer = NULL;
	ck_assert_int_eq(rpma_peer_new(fake_context(0), &peer), 0);
}

static void
stop(void)
{
	ck_assert_int_eq(rpma_peer_delete(&peer), 0);
}

/* A connection of the peer, with a configuration or without. */
static struct rpma_conn *
connect_peer(const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;

	fake_dial_script(FIXTURE_ADDR, 0, 0, FAKE_DIAL_ACCEPT, 0, NULL, 0);
	ck_assert_int_eq(rpma_conn_req_new(peer, FIXTURE_ADDR, FIXTURE_PORT_STR, cfg,
			     &req),
	    0);
	ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, &conn), 0);
	return conn;
}

/* The peer is deleted too early, which is said and logged once. */
static void
delete_peer_early(void)
{
	unsigned int logs = fixture_logs();

	fake_trace_clear();
	assert_provider(rpma_peer_delete(&peer), EBUSY);
	ck_assert_ptr_null(peer);
	ck_assert_uint_eq(fixture_logs(), logs + 1);
	ck_assert_str_eq(fake_trace(), "");
	ck_assert_uint_eq(fake_live(FAKE_PD), 2); /* one: the fixture's */
}

START_TEST(test_peer_before_mr)
{
	struct rpma_mr_local *mrs[2] = { NULL, NULL };

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(rpma_mr_reg(peer, fixture_memory(), 64,
				     RPMA_MR_USAGE_RECV, &mrs[i]),
		    0);
	delete_peer_early();
	ck_assert_int_eq(rpma_mr_dereg(&mrs[0]), 0);
	ck_assert_uint_eq(fake_live(FAKE_PD), 2);
	ck_assert_int_eq(rpma_mr_dereg(&mrs[1]), 0);
	ck_assert_uint_eq(fake_live(FAKE_PD), 1);
}
END_TEST

START_TEST(test_peer_before_srq)
{
	struct rpma_srq *srq = NULL;

	ck_assert_int_eq(rpma_srq_new(peer, NULL, &srq), 0);
	delete_peer_early();
	ck_assert_int_eq(rpma_srq_recv(srq, NULL, 0, 0, NULL), 0);
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
	ck_assert_uint_eq(fake_live(FAKE_PD), 1);
}
END_TEST

START_TEST(test_peer_before_conn)
{
	struct rpma_conn *conn = connect_peer(NULL);

	delete_peer_early();
	ck_assert_int_eq(rpma_conn_disconnect(conn), 0);
	/* what the end of the peer meets is part of the end of the last of its own */
	fake_fail_call("ibv_dealloc_pd", 1, EIO);
	assert_provider(rpma_conn_delete(&conn), EIO);
	ck_assert_uint_eq(fake_live(FAKE_PD), 1);
}
END_TEST

/* All that exists, in the wrong order: peer, SRQ, connection. */
START_TEST(test_srq_before_conn)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn *conns[2];
	struct rpma_srq *srq = NULL;
	struct rpma_srq *same;

	ck_assert_int_eq(rpma_srq_new(peer, NULL, &srq), 0);
	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_srq(cfg, srq), 0);
	conns[0] = connect_peer(cfg);
	conns[1] = connect_peer(cfg);
	delete_peer_early();
	same = srq;
	fake_trace_clear();
	assert_provider(rpma_srq_delete(&srq), EBUSY);
	ck_assert_ptr_null(srq);
	ck_assert_str_eq(fake_trace(), "");
	ck_assert_int_eq(rpma_conn_delete(&conns[0]), 0);
	/* it still works for the other */
	ck_assert_int_eq(rpma_srq_recv(same, NULL, 0, 0, NULL), 0);
	ck_assert_uint_eq(fake_live(FAKE_SRQ), 1);
	ck_assert_int_eq(rpma_conn_delete(&conns[1]), 0);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
	ck_assert_str_eq(fake_leaks(), "pd 1");
}
END_TEST

START_TEST(test_cq_before_conn)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn *conn;
	struct rpma_cq *cq = NULL;

	ck_assert_int_eq(rpma_cq_new(peer, 20, &cq), 0);
	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_cq(cfg, cq), 0);
	conn = connect_peer(cfg);
	fake_trace_clear();
	assert_provider(rpma_cq_delete(&cq), EBUSY);
	ck_assert_ptr_null(cq);
	ck_assert_str_eq(fake_trace(), "");
	ck_assert_uint_eq(fake_live(FAKE_CQ), 1);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	ck_assert_uint_eq(fake_live(FAKE_CQ), 0);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
}
END_TEST

/* A dial that has no queue pair yet needs the queues that it is to have. */
START_TEST(test_queues_before_dial)
{
	const struct sockaddr_in dst = { .sin_family = AF_INET,
		.sin_addr.s_addr = inet_addr(FIXTURE_ADDR),
		.sin_port = htons(FIXTURE_PORT) };
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn *conn = NULL;
	struct rpma_cm_event event;
	struct rpma_srq *srq = NULL;
	struct rpma_cm *cm = NULL;
	struct rpma_cq *cq = NULL;

	ck_assert_int_eq(rpma_cm_new(&cm), 0);
	ck_assert_int_eq(rpma_srq_new(peer, NULL, &srq), 0);
	ck_assert_int_eq(rpma_cq_new(peer, 20, &cq), 0);
	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_srq(cfg, srq), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_cq(cfg, cq), 0);
	fake_dial_script(FIXTURE_ADDR, 0, 0,
	    _i ? FAKE_DIAL_ADDR_SILENT : FAKE_DIAL_ACCEPT, 0, NULL, 0);
	ck_assert_int_eq(rpma_cm_dial(cm, peer, (const struct sockaddr *)&dst, cfg,
			     1000, NULL, &conn),
	    0);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
	assert_provider(rpma_srq_delete(&srq), EBUSY);
	assert_provider(rpma_cq_delete(&cq), EBUSY);
	ck_assert_uint_eq(fake_live(FAKE_SRQ), 1);
	if (_i == 0) {
		ck_assert_int_eq(rpma_cm_next_event(cm, &event), 0);
		ck_assert_int_eq(event.kind, RPMA_CM_ESTABLISHED);
		ck_assert_uint_eq(fake_live(FAKE_SRQ), 1);
	}
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	ck_assert_uint_eq(fake_live(FAKE_SRQ), 0);
	ck_assert_uint_eq(fake_live(FAKE_CQ), 0);
	ck_assert_int_eq(rpma_cm_delete(&cm), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_order");
	TCase *tc = fixture_case(suite, "order");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, test_peer_before_mr);
	tcase_add_test(tc, test_peer_before_srq);
	tcase_add_test(tc, test_peer_before_conn);
	tcase_add_test(tc, test_srq_before_conn);
	tcase_add_test(tc, test_cq_before_conn);
	tcase_add_loop_test(tc, test_queues_before_dial, 0, 2);
	return harness_run(suite);
}
