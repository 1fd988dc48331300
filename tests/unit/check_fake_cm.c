/* SPDX-License-Identifier: BSD-3-Clause */
/* check_fake_cm.c: the doubles of the connection manager keep the rules of the real
 * one. */
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

static int
bind_errno(const char *addr, uint16_t port, struct ibv_context **verbs)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct rdma_cm_id *id;
	int rc;
	int error;

	inet_pton(AF_INET, addr, &sin.sin_addr);
	ck_assert_int_eq(rdma_create_id(rig.channel, &id, NULL, RDMA_PS_TCP), 0);
	rc = rdma_bind_addr(id, (struct sockaddr *)&sin);
	error = rc ? errno : 0;
	*verbs = id->verbs;
	rdma_destroy_id(id);
	return error;
}

START_TEST(bind_answers)
{
	struct ibv_context *verbs;

	fake_addr_local("10.0.0.1");
	ck_assert_int_eq(bind_errno("127.0.0.1", 0, &verbs), 0);
	ck_assert_ptr_eq(verbs, rig.verbs);
	ck_assert_int_eq(bind_errno("0.0.0.0", 0, &verbs), 0);
	ck_assert_ptr_null(verbs);
	ck_assert_int_eq(bind_errno("127.0.0.1", rig.port, &verbs), EADDRINUSE);
	ck_assert_int_eq(bind_errno("0.0.0.0", rig.port, &verbs), EADDRINUSE);
	ck_assert_int_eq(bind_errno("10.0.0.1", 0, &verbs), ENODEV);
	ck_assert_int_eq(bind_errno("10.0.0.2", 0, &verbs), EADDRNOTAVAIL);
}
END_TEST

static void
check_request_pdata(size_t len)
{
	static const char zero[256];
	struct rdma_cm_event *event;

	ck_assert_int_eq(rdma_get_cm_event(rig.channel, &event), 0);
	ck_assert_int_eq((int)event->event, RDMA_CM_EVENT_CONNECT_REQUEST);
	ck_assert_ptr_eq(event->listen_id, rig.listener);
	ck_assert_ptr_eq(event->id->context, &rig);
	ck_assert_ptr_eq(event->id->verbs, rig.verbs);
	ck_assert_uint_eq(event->param.conn.private_data_len, len);
	ck_assert_mem_eq(event->param.conn.private_data, "hello", 5);
	ck_assert_mem_eq((const char *)event->param.conn.private_data + 5, zero,
	    len - 5);
	ck_assert_int_eq(rdma_reject(event->id, "no", 2), 0);
	ck_assert_int_eq(rdma_destroy_id(event->id), 0);
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
}

START_TEST(private_data_is_padded_on_ib)
{
	struct fake_peer *peer = fake_peer_connect(rig.port, "hello", 5);
	const void *pdata;
	size_t len;

	check_request_pdata(56);
	ck_assert_int_eq((int)fake_peer_state(peer), FAKE_PEER_REJECTED);
	ck_assert_int_eq(fake_peer_reason(peer), 28);
	pdata = fake_peer_pdata(peer, &len);
	ck_assert_uint_eq(len, 2);
	ck_assert_mem_eq(pdata, "no", 2);
	fake_set_kind(FAKE_IWARP);
	fake_peer_connect(rig.port, "hello", 5);
	check_request_pdata(5);
}
END_TEST

START_TEST(accept_and_hang_up)
{
	struct fake_peer *peer;
	struct rdma_cm_id *id = rig_accept(&rig, &peer);
	uint32_t qp_num = id->qp->qp_num;
	struct ibv_wc wc;
	size_t len;

	ck_assert_int_eq((int)fake_peer_state(peer), FAKE_PEER_ESTABLISHED);
	ck_assert_mem_eq(fake_peer_pdata(peer, &len), "reply", 5);
	ck_assert_int_eq(fake_peer_rnr_retry(peer), 7);
	fake_peer_set_ready(peer, false);
	ck_assert_int_eq(rig_send(&rig, id, "out", 9), 0);
	ck_assert_int_eq(rig_poll(&rig, 1, &wc), 0);
	ck_assert_int_eq(rdma_disconnect(id), 0);
	ck_assert_int_eq(rig_poll(&rig, 1, &wc), 1);
	ck_assert_int_eq((int)wc.status, IBV_WC_WR_FLUSH_ERR);
	ck_assert_uint_eq(wc.wr_id, 9);
	ck_assert_int_eq(fake_qp_state(qp_num), IBV_QPS_ERR);
	ck_assert_int_eq((int)fake_peer_state(peer), FAKE_PEER_DISCONNECTED);
	rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED);
	rig_no_event(&rig);
	rig_drop(id);
}
END_TEST

START_TEST(peer_hangs_up)
{
	struct fake_peer *peer;
	struct rdma_cm_id *id = rig_accept(&rig, &peer);

	fake_options()->timewait_exit = true;
	fake_peer_disconnect(peer);
	rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED);
	ck_assert_int_eq(fake_qp_state(id->qp->qp_num), IBV_QPS_RTS);
	ck_assert_int_eq((int)fake_peer_state(peer), FAKE_PEER_LEAVING);
	ck_assert_int_eq(rdma_disconnect(id), 0);
	ck_assert_int_eq((int)fake_peer_state(peer), FAKE_PEER_DISCONNECTED);
	rig_event(&rig, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	rig_no_event(&rig);
	rig_drop(id);
}
END_TEST

START_TEST(request_dies_before_it_is_accepted)
{
	struct fake_peer *peer = fake_peer_connect(rig.port, NULL, 0);
	struct rdma_cm_id *id = rig_event(&rig, RDMA_CM_EVENT_CONNECT_REQUEST);

	fake_peer_kill(peer);
	ck_assert_int_eq(rig_qp(&rig, id, 4), 0);
	ck_assert_int_eq(rdma_accept(id, NULL), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(rdma_reject(id, NULL, 0), -1);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_REJECTED), id);
	rig_drop(id);
}
END_TEST

START_TEST(unfetched_requests_die_with_the_listener)
{
	struct fake_peer *peer = fake_peer_connect(rig.port, NULL, 0);

	ck_assert_int_eq(rdma_destroy_id(rig.listener), 0);
	ck_assert_int_eq((int)fake_peer_state(peer), FAKE_PEER_REJECTED);
	ck_assert_int_eq(fake_peer_reason(peer), 8);
	rig_no_event(&rig);
	ck_assert_ptr_null(fake_peer_connect(rig.port, NULL, 0));
	ck_assert_int_eq(rdma_create_id(rig.channel, &rig.listener, NULL, RDMA_PS_TCP),
	    0);
}
END_TEST

/* ---- messages ----------------------------------------------------------------- */

START_TEST(empty_srq_makes_senders_wait)
{
	struct fake_peer *peer;
	struct rdma_cm_id *id = rig_accept(&rig, &peer);
	struct ibv_wc wc[4];
	unsigned i;

	for (i = 0; i < 3; i++)
		ck_assert_int_ge(fake_peer_send(peer, &"abc"[i], 1, FAKE_NO_IMM), 0);
	ck_assert_uint_eq(fake_peer_sent_count(peer, FAKE_SENT_WAITING), 3);
	ck_assert_uint_eq(fake_peer_rnr_waits(peer), 1);
	ck_assert_int_eq(rig_poll(&rig, 4, wc), 0);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(rig_post(&rig, i), 0);
	ck_assert_uint_eq(fake_peer_sent_count(peer, FAKE_SENT_OK), 3);
	ck_assert_int_eq(rig_poll(&rig, 4, wc), 3);
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(rig.buf[wc[i].wr_id][0], "abc"[i]);
	rig_drop(id);
}
END_TEST

START_TEST(empty_srq_ends_iwarp_connections)
{
	struct fake_peer *peer;
	struct rdma_cm_id *id;

	fake_set_kind(FAKE_IWARP);
	id = rig_accept(&rig, &peer);
	ck_assert_int_eq(fake_peer_send(peer, "a", 1, FAKE_NO_IMM), 0);
	ck_assert_int_eq((int)fake_peer_sent(peer, 0), FAKE_SENT_LOST);
	rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED);
	ck_assert_int_eq(fake_qp_state(id->qp->qp_num), IBV_QPS_ERR);
	rig_drop(id);
}
END_TEST

START_TEST(too_long)
{
	static const int statuses[] = { IBV_WC_LOC_LEN_ERR, IBV_WC_REM_INV_REQ_ERR };
	char big[RIG_SLOT + 1] = "";
	struct fake_peer *peer;
	struct rdma_cm_id *id;
	struct ibv_wc wc;
	int kind;

	for (kind = FAKE_IB; kind <= FAKE_RXE; kind++) {
		fake_set_kind((enum fake_kind)kind);
		id = rig_accept(&rig, &peer);
		ck_assert_int_eq(rig_post(&rig, 5), 0);
		fake_peer_send(peer, big, sizeof(big), FAKE_NO_IMM);
		ck_assert_int_eq((int)fake_peer_sent(peer, 0), FAKE_SENT_ERROR);
		ck_assert_int_eq(rig_poll(&rig, 1, &wc), 1);
		ck_assert_int_eq((int)wc.status, statuses[kind]);
		ck_assert_uint_eq(wc.wr_id, 5);
		ck_assert_uint_gt(wc.byte_len, RIG_SLOT + 1); /* rubbish, on purpose */
		ck_assert_int_eq(fake_qp_state(id->qp->qp_num), IBV_QPS_ERR);
		rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED);
		rig_drop(id);
	}
}
END_TEST

START_TEST(event_before_completions)
{
	struct fake_peer *peer;
	struct rdma_cm_id *id = rig_accept(&rig, &peer);
	struct ibv_wc wc[2];

	fake_options()->cm_event_first = true;
	ck_assert_int_eq(rig_post(&rig, 0), 0);
	ck_assert_int_eq(rig_post(&rig, 1), 0);
	fake_peer_send(peer, "a", 1, FAKE_NO_IMM);
	fake_peer_send(peer, "b", 1, FAKE_NO_IMM);
	ck_assert_uint_eq(fake_peer_sent_count(peer, FAKE_SENT_OK), 2);
	fake_peer_disconnect(peer);
	ck_assert_int_eq(rig_poll(&rig, 2, wc), 0);
	rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED);
	ck_assert_int_eq(rig_poll(&rig, 2, wc), 2);
	rig_drop(id);
}
END_TEST

START_TEST(sends_take_slots_until_polled)
{
	struct fake_peer *peer;
	struct rdma_cm_id *id = rig_accept(&rig, &peer);
	struct ibv_wc wc[4];
	int64_t imm;
	size_t len;
	int i;

	for (i = 0; i < 4; i++)
		ck_assert_int_eq(rig_send(&rig, id, "four", (uint64_t)i), 0);
	ck_assert_int_eq(rig_send(&rig, id, "five", 4), ENOMEM);
	ck_assert_uint_eq(fake_peer_received(peer), 4);
	ck_assert_str_eq(fake_peer_message(peer, 3, &len, &imm), "four");
	ck_assert_uint_eq(len, 4);
	ck_assert_int_eq(imm, 77);
	ck_assert_int_eq(rig_poll(&rig, 4, wc), 4);
	ck_assert_int_eq((int)wc[3].opcode, IBV_WC_SEND);
	fake_peer_set_max_len(peer, 4);
	ck_assert_int_eq(rig_send(&rig, id, "longer", 5), 0);
	ck_assert_int_eq(rig_poll(&rig, 4, wc), 1);
	ck_assert_int_eq((int)wc[0].status, IBV_WC_REM_INV_REQ_ERR);
	rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED);
	rig_drop(id);
}
END_TEST

/* ---- events and devices ------------------------------------------------------- */

START_TEST(events_follow_a_migrated_id)
{
	struct rdma_event_channel *other = rdma_create_event_channel();
	struct fake_peer *peer = fake_peer_connect(rig.port, NULL, 0);
	struct rdma_cm_id *id = rig_event(&rig, RDMA_CM_EVENT_CONNECT_REQUEST);
	struct rdma_cm_event *event;

	ck_assert_int_eq(rig_qp(&rig, id, 4), 0);
	ck_assert_int_eq(rdma_accept(id, NULL), 0);
	fake_peer_disconnect(peer);
	ck_assert_int_eq(rdma_migrate_id(id, other), 0);
	rig_no_event(&rig);
	ck_assert_int_eq(rdma_get_cm_event(other, &event), 0);
	ck_assert_int_eq((int)event->event, RDMA_CM_EVENT_ESTABLISHED);
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	rig_drop(id);
	rdma_destroy_event_channel(other);
}
END_TEST

START_TEST(unacknowledged_event_is_reported)
{
	struct rdma_cm_event *event;
	struct fake_peer *peer;
	struct rdma_cm_id *id = rig_accept(&rig, &peer);

	fake_peer_disconnect(peer);
	ck_assert_int_eq(rdma_get_cm_event(rig.channel, &event), 0);
	rdma_destroy_qp(id);
	ck_assert_int_eq(rdma_destroy_id(id), -1);
	ck_assert_int_eq(errno, EBUSY);
	ck_assert_ptr_nonnull(strstr(fake_misuse(), "rdma_destroy_id: 1 events"));
	fake_reset();
	rig_open(&rig, RIG_SLOTS);
}
END_TEST

START_TEST(blocking_for_ever_is_reported)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;

	fake_options()->block_limit_ms = 10;
	ck_assert_int_eq(rdma_get_cm_event(channel, &event), -1);
	ck_assert_int_eq(errno, ETIMEDOUT);
	ck_assert_str_eq(fake_misuse(), "rdma_get_cm_event blocks for ever\n");
	fake_reset();
	rig_open(&rig, RIG_SLOTS);
}
END_TEST

START_TEST(events_held_back)
{
	struct fake_peer *peer;
	struct rdma_cm_id *id = rig_accept(&rig, &peer);

	fake_cm_hold(true);
	fake_peer_disconnect(peer);
	ck_assert_uint_eq(fake_cm_held(), 1);
	rig_no_event(&rig);
	fake_cm_hold(false);
	fake_cm_release(0);
	rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED);
	rig_drop(id);
}
END_TEST

START_TEST(device_goes_and_comes_back)
{
	struct ibv_device_attr attr;
	struct fake_peer *peer;
	struct rdma_cm_id *id = rig_accept(&rig, &peer);
	struct ibv_context *verbs;
	struct ibv_async_event event;

	fake_device_remove(0);
	ck_assert_int_eq(ibv_get_async_event(rig.verbs, &event), 0);
	ck_assert_int_eq((int)event.event_type, IBV_EVENT_DEVICE_FATAL);
	ibv_ack_async_event(&event);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_DEVICE_REMOVAL), rig.listener);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_DEVICE_REMOVAL), id);
	ck_assert_int_eq(ibv_query_device(rig.verbs, &attr), EIO);
	ck_assert_int_eq(bind_errno("127.0.0.1", 0, &verbs), ENODEV);
	ck_assert_ptr_null(fake_context(0));
	fake_device_return(0);
	ck_assert_ptr_ne(fake_context(0), rig.verbs);
	ck_assert_int_eq(bind_errno("127.0.0.1", 0, &verbs), 0);
	ck_assert_ptr_eq(verbs, fake_context(0));
	rig_drop(id);
}
END_TEST

static Suite *
make_suite(void)
{
	Suite *suite = suite_create("fake_cm");
	TCase *tc = tcase_create("cm");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, bind_answers);
	tcase_add_test(tc, private_data_is_padded_on_ib);
	tcase_add_test(tc, accept_and_hang_up);
	tcase_add_test(tc, peer_hangs_up);
	tcase_add_test(tc, request_dies_before_it_is_accepted);
	tcase_add_test(tc, unfetched_requests_die_with_the_listener);
	tcase_add_test(tc, empty_srq_makes_senders_wait);
	tcase_add_test(tc, empty_srq_ends_iwarp_connections);
	tcase_add_test(tc, too_long);
	tcase_add_test(tc, event_before_completions);
	tcase_add_test(tc, sends_take_slots_until_polled);
	tcase_add_test(tc, events_follow_a_migrated_id);
	tcase_add_test(tc, unacknowledged_event_is_reported);
	tcase_add_test(tc, blocking_for_ever_is_reported);
	tcase_add_test(tc, events_held_back);
	tcase_add_test(tc, device_goes_and_comes_back);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return harness_run(make_suite());
}
