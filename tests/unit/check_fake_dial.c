/* SPDX-License-Identifier: BSD-3-Clause */
/* check_fake_dial.c: what dials over the doubles meet. */
#include <config.h>

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fake_rig.h"
#include "tests/unit/harness.h"

static struct rig rig;

static void
setup(void)
{
	fake_reset();
	rig_open(&rig, RIG_SLOTS);
}

static void
teardown(void)
{
	rig_close(&rig);
	fake_reset();
}

START_TEST(dial_accepted)
{
	struct rdma_cm_id *id;
	struct rdma_cm_event *event;
	struct ibv_wc wc;
	size_t len;

	fake_dial_script("10.1.1.1", 0, 0, FAKE_DIAL_ACCEPT, 0, "yes", 3);
	id = rig_dial(&rig, "10.1.1.1", 7);
	ck_assert_mem_eq(fake_peer_pdata(fake_peer_last(), &len), "dial", 4);
	/* Not ready before the event was fetched. */
	ck_assert_int_eq(rig_send(&rig, id, "x", 1), EINVAL);
	ck_assert_int_eq(rdma_get_cm_event(rig.channel, &event), 0);
	ck_assert_int_eq((int)event->event, RDMA_CM_EVENT_ESTABLISHED);
	ck_assert_uint_eq(event->param.conn.private_data_len, 196);
	ck_assert_mem_eq(event->param.conn.private_data, "yes\0", 4);
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	ck_assert_int_eq(rig_send(&rig, id, "x", 1), 0);
	ck_assert_int_eq(rig_poll(&rig, 1, &wc), 1);
	ck_assert_uint_eq(fake_peer_received(fake_peer_last()), 1);
	rig_drop(id);
}
END_TEST

START_TEST(dial_fails)
{
	static const struct {
		enum fake_dial outcome;
		enum rdma_cm_event_type event;
	} rows[] = {
		{ FAKE_DIAL_REJECT, RDMA_CM_EVENT_REJECTED },
		{ FAKE_DIAL_UNREACHABLE, RDMA_CM_EVENT_UNREACHABLE },
		{ FAKE_DIAL_CONNECT_ERROR, RDMA_CM_EVENT_CONNECT_ERROR },
	};
	struct rdma_cm_id *id;
	unsigned i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_dial_script("10.1.1.1", 7, 0, rows[i].outcome, 0, NULL, 0);
		id = rig_dial(&rig, "10.1.1.1", 7);
		ck_assert_ptr_eq(rig_event(&rig, rows[i].event), id);
		rig_no_event(&rig);
		rig_drop(id);
	}
	id = rig_dial(&rig, "127.0.0.1", 9);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_REJECTED), id);
	rig_drop(id);
}
END_TEST

START_TEST(resolving_synchronously)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(7) };
	struct sockaddr *dst = (struct sockaddr *)&sin;
	struct rdma_cm_id *id;

	inet_pton(AF_INET, "10.1.1.1", &sin.sin_addr);
	ck_assert_int_eq(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, dst, 1000), -1);
	ck_assert_int_eq(errno, ENODEV);
	fake_dial_script("10.1.1.1", 7, 0, FAKE_DIAL_ADDR_SILENT, 0, NULL, 0);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, dst, 1000), -1);
	ck_assert_int_eq(errno, ETIMEDOUT);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	ck_assert_int_eq(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
	fake_dial_script("10.1.1.1", 7, 0, FAKE_DIAL_ACCEPT, 0, NULL, 0);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, dst, 1000), 0);
	ck_assert_ptr_eq(id->verbs, rig.verbs);
	ck_assert_int_eq(rdma_resolve_route(id, 1000), 0);
	ck_assert_int_eq(rdma_migrate_id(id, rig.channel), 0);
	ck_assert_int_eq(rig_qp(&rig, id, 4), 0);
	ck_assert_int_eq(rdma_connect(id, NULL), 0);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_ESTABLISHED), id);
	rig_drop(id);
}
END_TEST

START_TEST(loopback)
{
	struct rdma_cm_id *active = rig_dial(&rig, "127.0.0.1", rig.port);
	struct rdma_cm_id *passive = rig_event(&rig, RDMA_CM_EVENT_CONNECT_REQUEST);
	struct ibv_wc wc[2];

	ck_assert_int_eq(rig_qp(&rig, passive, 4), 0);
	ck_assert_int_eq(rdma_accept(passive, NULL), 0);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_ESTABLISHED), active);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_ESTABLISHED), passive);
	ck_assert_int_eq(rig_send(&rig, active, "ping", 100), 0);
	ck_assert_int_eq(rig_poll(&rig, 2, wc), 0);
	ck_assert_int_eq(rig_post(&rig, 3), 0);
	ck_assert_int_eq(rig_poll(&rig, 2, wc), 2);
	ck_assert_str_eq(rig.buf[3], "ping");
	ck_assert_uint_eq(wc[0].qp_num, passive->qp->qp_num);
	ck_assert_uint_eq(wc[1].wr_id, 100);
	ck_assert_int_eq(rdma_disconnect(passive), 0);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED), active);
	rig_no_event(&rig);
	ck_assert_int_eq(rdma_disconnect(active), 0);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED), passive);
	rig_drop(active);
	rig_drop(passive);
}
END_TEST

START_TEST(resolving_fails)
{
	static const struct {
		enum fake_dial outcome;
		enum rdma_cm_event_type event;
	} rows[] = {
		{ FAKE_DIAL_ADDR_ERROR, RDMA_CM_EVENT_ADDR_ERROR },
		{ FAKE_DIAL_ADDR_SILENT, RDMA_CM_EVENT_ADDR_RESOLVED },
		{ FAKE_DIAL_ROUTE_ERROR, RDMA_CM_EVENT_ROUTE_ERROR },
		{ FAKE_DIAL_ROUTE_SILENT, RDMA_CM_EVENT_ROUTE_RESOLVED },
	};
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(7) };
	struct rdma_cm_id *id;
	unsigned i;

	inet_pton(AF_INET, "10.1.1.1", &sin.sin_addr);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake_dial_script("10.1.1.1", 0, 0, rows[i].outcome, 0, NULL, 0);
		ck_assert_int_eq(rdma_create_id(rig.channel, &id, NULL, RDMA_PS_TCP),
		    0);
		ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&sin,
				     1000),
		    0);
		if (i >= 2) {
			rig_event(&rig, RDMA_CM_EVENT_ADDR_RESOLVED);
			ck_assert_int_eq(rdma_resolve_route(id, 1000), 0);
		}
		if (i % 2 == 0)
			ck_assert_ptr_eq(rig_event(&rig, rows[i].event), id);
		rig_no_event(&rig);
		ck_assert_int_eq(rdma_destroy_id(id), 0);
	}
}
END_TEST

/* A queue pair with the domain of another device is refused. */
START_TEST(dial_through_another_device)
{
	struct rdma_cm_id *id;
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(7) };

	fake_dial_script("10.1.1.1", 0, 1, FAKE_DIAL_ACCEPT, 0, NULL, 0);
	inet_pton(AF_INET, "10.1.1.1", &sin.sin_addr);
	ck_assert_int_eq(rdma_create_id(rig.channel, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&sin, 1000), 0);
	rig_event(&rig, RDMA_CM_EVENT_ADDR_RESOLVED);
	ck_assert_ptr_eq(id->verbs, fake_context(1));
	ck_assert_int_eq(rig_qp(&rig, id, 4), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
}
END_TEST

START_TEST(held_dial)
{
	struct rdma_cm_id *id;

	fake_dial_script("10.1.1.1", 0, 0, FAKE_DIAL_HOLD, 0, NULL, 0);
	id = rig_dial(&rig, "10.1.1.1", 7);
	rig_no_event(&rig);
	ck_assert_int_eq((int)fake_peer_state(fake_peer_last()), FAKE_PEER_WAITING);
	fake_peer_accept(fake_peer_last(), "late", 4);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_ESTABLISHED), id);
	rig_drop(id);
	ck_assert_int_eq((int)fake_peer_state(fake_peer_last()),
	    FAKE_PEER_DISCONNECTED);
	id = rig_dial(&rig, "10.1.1.1", 7);
	fake_peer_reject(fake_peer_last(), 0, NULL, 0);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_REJECTED), id);
	rig_drop(id);
	ck_assert_uint_eq(fake_peers(), 2);
}
END_TEST

static Suite *
make_suite(void)
{
	Suite *suite = suite_create("fake_dial");
	TCase *tc = tcase_create("dial");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, dial_accepted);
	tcase_add_test(tc, dial_fails);
	tcase_add_test(tc, resolving_synchronously);
	tcase_add_test(tc, loopback);
	tcase_add_test(tc, resolving_fails);
	tcase_add_test(tc, dial_through_another_device);
	tcase_add_test(tc, held_dial);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return harness_run(make_suite());
}
