/* SPDX-License-Identifier: BSD-3-Clause */
/* check_fake.c: the doubles of the verbs calls keep the rules of real devices. */
#include <config.h>

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_alloc.h"
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

static bool
readable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

START_TEST(srq_order_is_shuffled)
{
	struct ibv_wc wc[RIG_SLOTS];
	struct fake_peer *peer;
	struct rdma_cm_id *id = rig_accept(&rig, &peer);
	unsigned in_place = 0;
	uint64_t seen = 0;
	unsigned char i;

	for (i = 0; i < RIG_SLOTS; i++)
		ck_assert_int_eq(rig_post(&rig, i), 0);
	ck_assert_uint_eq(fake_srq_posted(), RIG_SLOTS);
	for (i = 0; i < RIG_SLOTS; i++)
		ck_assert_int_eq(fake_peer_send(peer, &i, 1, i), i);
	ck_assert_int_eq(rig_poll(&rig, RIG_SLOTS, wc), RIG_SLOTS);
	for (i = 0; i < RIG_SLOTS; i++) {
		/* Messages keep their order, buffers do not. */
		ck_assert_int_eq(wc[i].status, IBV_WC_SUCCESS);
		ck_assert_uint_eq((unsigned char)rig.buf[wc[i].wr_id][0], i);
		ck_assert_uint_eq(wc[i].byte_len, 1);
		ck_assert_uint_eq(ntohl(wc[i].imm_data), i);
		ck_assert_uint_eq(wc[i].qp_num, id->qp->qp_num);
		seen |= UINT64_C(1) << wc[i].wr_id;
		in_place += wc[i].wr_id == i;
	}
	ck_assert(seen == UINT64_MAX);
	ck_assert_uint_lt(in_place, RIG_SLOTS / 4);
	rig_drop(id);
}
END_TEST

START_TEST(srq_full)
{
	unsigned i;

	for (i = 0; i < RIG_SLOTS; i++)
		ck_assert_int_eq(rig_post(&rig, i), 0);
	ck_assert_int_eq(rig_post(&rig, 0), ENOMEM);
	fake_options()->srq_full = -1;
	ck_assert_int_eq(rig_post(&rig, 0), -1);
	fake_set_kind(FAKE_IWARP);
	ck_assert_int_eq(rig_post(&rig, 0), -ENOMEM);
	ck_assert_uint_eq(fake_srq_posted(), RIG_SLOTS);
}
END_TEST

START_TEST(srq_may_be_full_early)
{
	unsigned i;

	fake_options()->srq_missing = 3;
	for (i = 0; i < RIG_SLOTS - 3; i++)
		ck_assert_int_eq(rig_post(&rig, i), 0);
	ck_assert_int_eq(rig_post(&rig, i), ENOMEM);
	ck_assert_uint_eq(fake_srq_posted(), RIG_SLOTS - 3);
	ck_assert_uint_eq(fake_srq_depth(), RIG_SLOTS);
}
END_TEST

START_TEST(srq_batch_stops_at_the_bad_one)
{
	struct ibv_recv_wr wr[3] = { { .wr_id = 0 }, { .wr_id = 1 }, { .wr_id = 2 } };
	struct ibv_recv_wr *bad = NULL;
	unsigned i;

	for (i = 2; i < RIG_SLOTS; i++)
		ck_assert_int_eq(rig_post(&rig, i), 0);
	wr[0].next = &wr[1];
	wr[1].next = &wr[2];
	ck_assert_int_eq(ibv_post_srq_recv(rig.srq, wr, &bad), ENOMEM);
	ck_assert_ptr_eq(bad, &wr[2]);
	ck_assert_uint_eq(fake_srq_posted(), RIG_SLOTS);
}
END_TEST

START_TEST(srq_depth_may_be_larger)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 100, .max_sge = 1 } };
	struct ibv_srq *srq;
	struct ibv_srq_attr query;

	fake_options()->srq_pow2 = true;
	srq = ibv_create_srq(rig.pd, &attr);
	ck_assert_ptr_nonnull(srq);
	ck_assert_uint_eq(attr.attr.max_wr, 127);
	ck_assert_int_eq(ibv_query_srq(srq, &query), 0);
	ck_assert_uint_eq(query.max_wr, 127);
	fake_options()->srq_query_nonsense = true;
	ck_assert_int_eq(ibv_query_srq(srq, &query), 0);
	ck_assert_uint_ne(query.max_wr, 127);
	ck_assert_int_eq(ibv_destroy_srq(srq), 0);
}
END_TEST

START_TEST(srq_limit_fires_once)
{
	struct ibv_srq_attr attr = { .srq_limit = 2 };
	struct ibv_async_event event;
	struct fake_peer *peer;
	struct rdma_cm_id *id = rig_accept(&rig, &peer);
	unsigned i;

	for (i = 0; i < 4; i++)
		ck_assert_int_eq(rig_post(&rig, i), 0);
	ck_assert_int_eq(ibv_modify_srq(rig.srq, &attr, IBV_SRQ_LIMIT), 0);
	fake_peer_send(peer, "a", 1, FAKE_NO_IMM);
	fake_peer_send(peer, "b", 1, FAKE_NO_IMM);
	ck_assert(!readable(rig.verbs->async_fd));
	fake_peer_send(peer, "c", 1, FAKE_NO_IMM);
	fake_peer_send(peer, "d", 1, FAKE_NO_IMM);
	ck_assert(readable(rig.verbs->async_fd));
	ck_assert_int_eq(ibv_get_async_event(rig.verbs, &event), 0);
	ck_assert_int_eq((int)event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	ck_assert_ptr_eq(event.element.srq, rig.srq);
	ibv_ack_async_event(&event);
	ck_assert(!readable(rig.verbs->async_fd));
	ck_assert_uint_eq(fake_srq_limit(), 0);
	rig_drop(id);
}
END_TEST

/* ---- completion queues -------------------------------------------------------- */

static void
take_comp_event(void)
{
	struct ibv_cq *cq;
	void *context;

	ck_assert_int_eq(ibv_get_cq_event(rig.comp, &cq, &context), 0);
	ck_assert_ptr_eq(cq, rig.cq);
	ibv_ack_cq_events(cq, 1);
}

START_TEST(events_only_when_armed)
{
	struct ibv_wc wc[4];
	struct fake_peer *peer;
	struct rdma_cm_id *id = rig_accept(&rig, &peer);
	unsigned i;

	for (i = 0; i < 8; i++)
		ck_assert_int_eq(rig_post(&rig, i), 0);
	fake_peer_send(peer, "a", 1, FAKE_NO_IMM);
	ck_assert(!readable(rig.comp->fd));
	/* Arming after the completion tells nothing about it: polled, not waited for.
	 */
	ck_assert_int_eq(ibv_req_notify_cq(rig.cq, 0), 0);
	ck_assert(!readable(rig.comp->fd));
	ck_assert_int_eq(rig_poll(&rig, 4, wc), 1);
	/* One event for two completions, then the queue is not armed any more. */
	fake_peer_send(peer, "b", 1, FAKE_NO_IMM);
	ck_assert(readable(rig.comp->fd));
	fake_peer_send(peer, "c", 1, FAKE_NO_IMM);
	take_comp_event();
	ck_assert(!readable(rig.comp->fd));
	ck_assert_int_eq(rig_poll(&rig, 4, wc), 2);
	fake_peer_send(peer, "d", 1, FAKE_NO_IMM);
	ck_assert(!readable(rig.comp->fd));
	ck_assert_int_eq(rig_poll(&rig, 4, wc), 1);
	rig_drop(id);
}
END_TEST

static void
send_in_window(void *arg)
{
	fake_peer_send(arg, "w", 1, FAKE_NO_IMM);
}

START_TEST(completion_in_the_window)
{
	struct ibv_wc wc;
	struct fake_peer *peer;
	struct rdma_cm_id *id = rig_accept(&rig, &peer);

	ck_assert_int_eq(rig_post(&rig, 0), 0);
	fake_on_notify(true, send_in_window, peer);
	ck_assert_int_eq(rig_poll(&rig, 1, &wc), 0);
	ck_assert_int_eq(ibv_req_notify_cq(rig.cq, 0), 0);
	ck_assert(!readable(rig.comp->fd));
	ck_assert_int_eq(rig_poll(&rig, 1, &wc), 1);
	rig_drop(id);
}
END_TEST

START_TEST(lost_event)
{
	struct ibv_wc wc;
	struct fake_peer *peer;
	struct rdma_cm_id *id = rig_accept(&rig, &peer);

	ck_assert_int_eq(rig_post(&rig, 0), 0);
	ck_assert_int_eq(ibv_req_notify_cq(rig.cq, 0), 0);
	fake_lose_notify(1);
	fake_peer_send(peer, "a", 1, FAKE_NO_IMM);
	ck_assert(!readable(rig.comp->fd));
	ck_assert_int_eq(rig_poll(&rig, 1, &wc), 1);
	rig_drop(id);
}
END_TEST

/* A receive queue of its own is first in, first out, and flushed by an error. */
START_TEST(queue_pair_without_srq)
{
	struct ibv_srq *srq = rig.srq;
	struct fake_peer *peer;
	struct rdma_cm_id *id;
	struct ibv_wc wc[4];
	unsigned i;

	rig.srq = NULL;
	id = rig_accept(&rig, &peer);
	rig.srq = srq;
	for (i = 0; i < RIG_QP_RECVS; i++)
		ck_assert_int_eq(rig_post_qp(&rig, id, i), 0);
	ck_assert_int_eq(rig_post_qp(&rig, id, i), ENOMEM);
	ck_assert_uint_eq(fake_rq_posted(), RIG_QP_RECVS);
	fake_peer_send(peer, "a", 1, FAKE_NO_IMM);
	fake_peer_send(peer, "b", 1, FAKE_NO_IMM);
	ck_assert_int_eq(rdma_disconnect(id), 0);
	ck_assert_int_eq(rig_poll(&rig, 4, wc), 3);
	for (i = 0; i < 3; i++) {
		ck_assert_uint_eq(wc[i].wr_id, i);
		ck_assert_int_eq((int)wc[i].status,
		    i < 2 ? IBV_WC_SUCCESS : IBV_WC_WR_FLUSH_ERR);
	}
	rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED);
	rig_drop(id);
}
END_TEST

START_TEST(cq_overrun)
{
	struct ibv_async_event event;
	struct fake_peer *peer;
	struct rdma_cm_id *id = rig_accept(&rig, &peer);

	fake_overrun(id->qp->qp_num);
	ck_assert_int_eq(ibv_get_async_event(rig.verbs, &event), 0);
	ck_assert_int_eq((int)event.event_type, IBV_EVENT_CQ_ERR);
	ck_assert_ptr_eq(event.element.cq, rig.cq);
	ibv_ack_async_event(&event);
	ck_assert_int_eq(fake_qp_state(id->qp->qp_num), IBV_QPS_ERR);
	rig_drop(id);
}
END_TEST

START_TEST(unread_completions_of_a_dead_qp)
{
	struct ibv_wc wc;
	struct fake_peer *peer;
	struct rdma_cm_id *id;
	int drop;

	for (drop = 0; drop < 2; drop++) {
		fake_options()->drop_unread = drop;
		id = rig_accept(&rig, &peer);
		ck_assert_int_eq(rig_post(&rig, 0), 0);
		fake_peer_send(peer, "a", 1, FAKE_NO_IMM);
		rig_drop(id);
		ck_assert_int_eq(rig_poll(&rig, 1, &wc), !drop);
	}
}
END_TEST

/* ---- who may go before whom --------------------------------------------------- */

START_TEST(busy_in_the_wrong_order)
{
	struct fake_peer *peer;
	struct rdma_cm_id *id = rig_accept(&rig, &peer);

	ck_assert_int_eq(ibv_dealloc_pd(rig.pd), EBUSY);
	ck_assert_int_eq(ibv_destroy_srq(rig.srq), EBUSY);
	ck_assert_int_eq(ibv_destroy_cq(rig.cq), EBUSY);
	ck_assert_int_eq(ibv_destroy_comp_channel(rig.comp), EBUSY);
	ck_assert_str_eq(fake_misuse(), "");
	rig_drop(id);
}
END_TEST

START_TEST(unacknowledged_events_are_reported)
{
	struct ibv_cq *cq;
	void *context;
	struct fake_peer *peer;
	struct rdma_cm_id *id = rig_accept(&rig, &peer);

	ck_assert_int_eq(ibv_req_notify_cq(rig.cq, 0), 0);
	ck_assert_int_eq(rig_post(&rig, 0), 0);
	fake_peer_send(peer, "a", 1, FAKE_NO_IMM);
	ck_assert_int_eq(ibv_get_cq_event(rig.comp, &cq, &context), 0);
	rig_drop(id);
	ck_assert_int_eq(ibv_destroy_cq(cq), EBUSY);
	ck_assert_ptr_nonnull(strstr(fake_misuse(), "ibv_destroy_cq: 1 events"));
	ck_assert_ptr_nonnull(strstr(fake_leaks(), "comp_event 1"));
	fake_reset();
	rig_open(&rig, RIG_SLOTS);
}
END_TEST

/* ---- faults and the trace ----------------------------------------------------- */

START_TEST(nth_call_fails)
{
	struct ibv_wc wc;

	fake_fail_nth(2, ENOSPC);
	ck_assert_int_eq(rig_post(&rig, 0), 0);
	ck_assert(!fake_fired());
	ck_assert_int_eq(rig_poll(&rig, 1, &wc), -ENOSPC);
	ck_assert(fake_fired());
	ck_assert_uint_eq(fake_calls(), 2);
	ck_assert_int_eq(rig_poll(&rig, 1, &wc), 0);
	fake_fail_call("ibv_post_srq_recv", 1, EPERM);
	ck_assert_int_eq(rig_post(&rig, 1), EPERM);
	ck_assert_int_eq(rig_post(&rig, 1), 0);
	errno = 0;
	fake_fail_call("ibv_alloc_pd", 0, EMFILE);
	ck_assert_ptr_null(ibv_alloc_pd(rig.verbs));
	ck_assert_int_eq(errno, EMFILE);
	ck_assert_ptr_null(ibv_alloc_pd(rig.verbs));
	fake_fail_call("ibv_alloc_pd", 0, 0);
}
END_TEST

START_TEST(trace_tells_the_calls)
{
	struct ibv_wc wc;

	fake_trace_clear();
	ck_assert_int_eq(rig_post(&rig, 0), 0);
	ck_assert_int_eq(rig_poll(&rig, 1, &wc), 0);
	ck_assert_int_eq(ibv_req_notify_cq(rig.cq, 0), 0);
	ck_assert_str_eq(fake_trace(), "ibv_post_srq_recv ibv_req_notify_cq");
	ck_assert_str_eq(fake_trace_args(),
	    "ibv_post_srq_recv(n=1) ibv_req_notify_cq(solicited=0)");
	ck_assert_uint_eq(fake_called("ibv_poll_cq"), 1);
}
END_TEST

START_TEST(nth_allocation_fails)
{
	struct ibv_pd *pd;
	char *volatile text;
	void *volatile ptr;

	fake_alloc_fail_nth(2);
	text = strdup("one");
	pd = ibv_alloc_pd(rig.verbs); /* what doubles allocate does not count */
	errno = 0;
	ptr = malloc(3);
	ck_assert_ptr_null(ptr);
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert(fake_alloc_fired());
	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
	free(text);
}
END_TEST

START_TEST(options_as_text)
{
	ck_assert_int_eq(fake_options_parse("kind=iwarp,max_srq_wr=64,srq_pow2=1"), 0);
	ck_assert_int_eq(fake_options()->srq_full, -ENOMEM);
	ck_assert_uint_eq(fake_options()->max_srq_wr, 64);
	ck_assert(fake_options()->srq_pow2);
	ck_assert_int_eq(fake_options_parse("nonsense=1"), -1);
	ck_assert_int_eq(fake_options_parse("max_cqe"), -1);
	ck_assert_int_eq(fake_options_parse("max_cqe=x"), -1);
}
END_TEST

START_TEST(memory_limit)
{
	char *big = calloc(1, 4096);
	struct ibv_mr *mr;

	fake_options()->memlock_bytes = 8192;
	ck_assert_ptr_null(ibv_reg_mr(rig.pd, big, 8192, IBV_ACCESS_LOCAL_WRITE));
	ck_assert_int_eq(errno, ENOMEM);
	mr = ibv_reg_mr(rig.pd, big, 2048, IBV_ACCESS_LOCAL_WRITE);
	ck_assert_ptr_nonnull(mr);
	ck_assert_int_eq(ibv_dereg_mr(mr), 0);
	free(big);
}
END_TEST

static Suite *
make_suite(void)
{
	Suite *suite = suite_create("fake");
	TCase *tc = tcase_create("verbs");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, srq_order_is_shuffled);
	tcase_add_test(tc, srq_full);
	tcase_add_test(tc, srq_may_be_full_early);
	tcase_add_test(tc, srq_batch_stops_at_the_bad_one);
	tcase_add_test(tc, srq_depth_may_be_larger);
	tcase_add_test(tc, srq_limit_fires_once);
	tcase_add_test(tc, events_only_when_armed);
	tcase_add_test(tc, completion_in_the_window);
	tcase_add_test(tc, lost_event);
	tcase_add_test(tc, queue_pair_without_srq);
	tcase_add_test(tc, cq_overrun);
	tcase_add_test(tc, unread_completions_of_a_dead_qp);
	tcase_add_test(tc, busy_in_the_wrong_order);
	tcase_add_test(tc, unacknowledged_events_are_reported);
	tcase_add_test(tc, nth_call_fails);
	tcase_add_test(tc, trace_tells_the_calls);
	tcase_add_test(tc, nth_allocation_fails);
	tcase_add_test(tc, options_as_text);
	tcase_add_test(tc, memory_limit);
	suite_add_tcase(suite, tc);
	return suite;
}

int
main(void)
{
	return harness_run(make_suite());
}
