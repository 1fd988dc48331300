/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_queues.c: which queues a connection gets from which configuration. */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/rpma_fixture.h"

enum srq_kind {
	NO_SRQ,
	SRQ_WITHOUT_CQ,
	SRQ_WITH_CQ,
};

#define SRQ_SIZE 30

struct row {
	uint32_t cq_size;
	uint32_t rcq_size;
	uint32_t sq_size;
	uint32_t rq_size;
	bool is_channel_shared;
	enum srq_kind srq;
	bool own_cq; /* of rpma_cq_new() */
	bool has_rcq;
	const char *trace;
};

#define CHANNEL "ibv_create_comp_channel "
#define CQ(cqe) "ibv_create_cq(cqe=" cqe ") ibv_req_notify_cq(solicited=0) "
#define QP(send, recv, srq, cqs)                           \
	"rdma_create_qp_ex(send_wr=" send ",recv_wr=" recv \
	",send_sge=1,recv_sge=1,inline=8,sig_all=0,srq=" srq ",cqs=" cqs ")"

/* clang-format off */
static const struct row rows[] = {
	/* the defaults: room for 10 sends and 10 receives, although cq_size says 10 */
	{ 10, 0, 10, 10, false, NO_SRQ, false, false,
	  CHANNEL CQ("20") QP("10", "10", "0", "same") },
	{ 64, 0, 10, 10, false, NO_SRQ, false, false,
	  CHANNEL CQ("64") QP("10", "10", "0", "same") },
	{ 1, 0, 3, 4, false, NO_SRQ, false, false,
	  CHANNEL CQ("7") QP("3", "4", "0", "same") },
	{ 10, 5, 10, 10, false, NO_SRQ, false, true,
	  CHANNEL CQ("10") CHANNEL CQ("5") QP("10", "10", "0", "two") },
	{ 10, 5, 12, 10, true, NO_SRQ, false, true,
	  CHANNEL CQ("12") CQ("5") QP("12", "10", "0", "two") },
	{ 10, 0, 10, 10, true, NO_SRQ, false, false,
	  CHANNEL CQ("20") QP("10", "10", "0", "same") },
	/* with an SRQ the receive queue's size is not used */
	{ 10, 0, 10, 10, false, SRQ_WITHOUT_CQ, false, false,
	  CHANNEL CQ("40") QP("10", "0", "1", "same") },
	{ 10, 5, 10, 10, false, SRQ_WITHOUT_CQ, false, true,
	  CHANNEL CQ("10") CHANNEL CQ("5") QP("10", "0", "1", "two") },
	{ 10, 5, 10, 10, true, SRQ_WITHOUT_CQ, false, true,
	  CHANNEL CQ("10") CQ("5") QP("10", "0", "1", "two") },
	/* an SRQ's own queue takes all receives: rcq_size is not used */
	{ 10, 0, 10, 10, false, SRQ_WITH_CQ, false, false,
	  CHANNEL CQ("10") QP("10", "0", "1", "two") },
	{ 10, 5, 10, 10, false, SRQ_WITH_CQ, false, false,
	  CHANNEL CQ("10") QP("10", "0", "1", "two") },
	/* a send queue for many connections */
	{ 10, 0, 10, 10, false, NO_SRQ, true, false, QP("10", "10", "0", "same") },
	{ 10, 5, 10, 10, false, NO_SRQ, true, true,
	  CHANNEL CQ("5") QP("10", "10", "0", "two") },
	{ 10, 0, 10, 10, false, SRQ_WITH_CQ, true, false, QP("10", "0", "1", "two") },
	/* exclude each other */
	{ 10, 0, 10, 10, true, SRQ_WITH_CQ, false, false, NULL },
	{ 10, 5, 10, 10, true, SRQ_WITH_CQ, false, false, NULL },
	{ 10, 0, 10, 10, true, NO_SRQ, true, false, NULL },
};
/* clang-format on */

#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

static struct rpma_srq *srq;
static struct rpma_cq *own_cq;
static struct rpma_conn_cfg *cfg;

/* Make the configuration of a row, and what it refers to. */
static void
configure(const struct row *row)
{
	struct rpma_srq_cfg *srq_cfg = NULL;

	srq = NULL;
	own_cq = NULL;
	if (row->srq != NO_SRQ) {
		ck_assert_int_eq(rpma_srq_cfg_new(&srq_cfg), 0);
		(void)rpma_srq_cfg_set_rq_size(srq_cfg, SRQ_SIZE);
		(void)rpma_srq_cfg_set_rcq_size(srq_cfg,
		    row->srq == SRQ_WITH_CQ ? SRQ_SIZE : 0);
		ck_assert_int_eq(rpma_srq_new(fixture_peer(), srq_cfg, &srq), 0);
		ck_assert_int_eq(rpma_srq_cfg_delete(&srq_cfg), 0);
	}
	if (row->own_cq)
		ck_assert_int_eq(rpma_cq_new(fixture_peer(), 99, &own_cq), 0);
	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	(void)rpma_conn_cfg_set_cq_size(cfg, row->cq_size);
	(void)rpma_conn_cfg_set_rcq_size(cfg, row->rcq_size);
	(void)rpma_conn_cfg_set_sq_size(cfg, row->sq_size);
	(void)rpma_conn_cfg_set_rq_size(cfg, row->rq_size);
	(void)rpma_conn_cfg_set_compl_channel(cfg, row->is_channel_shared);
	(void)rpma_conn_cfg_set_srq(cfg, srq);
	(void)rpma_conn_cfg_set_cq(cfg, own_cq);
	fake_trace_clear();
}

static void
forget(void)
{
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
	ck_assert_int_eq(rpma_cq_delete(&own_cq), 0);
}

/* The part of the trace that is about queues. */
static const char *
queue_trace(void)
{
	const char *trace = fake_trace_args();
	const char *migrated = strstr(trace, "rdma_migrate_id(sync=0) ");

	return migrated ? migrated + strlen("rdma_migrate_id(sync=0) ") : trace;
}

/* What a connection of a row says of its queues. */
static void
check_queues(const struct row *row, const struct rpma_conn *conn)
{
	struct rpma_cq *cq = NULL;
	struct rpma_cq *rcq = UNTOUCHED(struct rpma_cq);
	int fds[3] = { -1, -1, -1 };

	ck_assert_int_eq(rpma_conn_get_cq(conn, &cq), 0);
	ck_assert_int_eq(rpma_conn_get_rcq(conn, &rcq), 0);
	ck_assert_ptr_nonnull(cq);
	if (row->own_cq)
		ck_assert_ptr_eq(cq, own_cq);
	ck_assert_int_eq(rcq != NULL, row->has_rcq);
	ck_assert_int_eq(rpma_cq_get_fd(cq, &fds[0]), 0);
	if (!row->is_channel_shared) {
		ck_assert_int_eq(rpma_conn_get_compl_fd(conn, &fds[2]),
		    RPMA_E_NOT_SHARED_CHNL);
		ck_assert_int_eq(fds[2], -1);
		return;
	}
	ck_assert_int_eq(rpma_conn_get_compl_fd(conn, &fds[2]), 0);
	ck_assert_int_eq(fds[0], fds[2]);
	if (rcq) {
		ck_assert_int_eq(rpma_cq_get_fd(rcq, &fds[1]), 0);
		ck_assert_int_eq(fds[1], fds[2]);
		ck_assert_int_eq(rpma_cq_wait(rcq), RPMA_E_SHARED_CHANNEL);
	}
	ck_assert_int_eq(rpma_cq_wait(cq), RPMA_E_SHARED_CHANNEL);
}

/* Outgoing: what cannot work is refused before anything is asked of the network. */
START_TEST(test_active)
{
	const struct row *row = &rows[_i];
	struct rpma_conn_req *req = UNTOUCHED(struct rpma_conn_req);
	struct rpma_conn *conn = NULL;
	int ret;

	configure(row);
	ret = rpma_conn_req_new(fixture_peer(), FIXTURE_ADDR, FIXTURE_PORT_STR, cfg,
	    &req);
	if (row->trace) {
		ck_assert_int_eq(ret, 0);
		ck_assert_str_eq(queue_trace(), row->trace);
		ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, &conn), 0);
		check_queues(row, conn);
		ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	} else {
		ck_assert_int_eq(ret, RPMA_E_INVAL);
		ck_assert_ptr_eq(req, UNTOUCHED(struct rpma_conn_req));
		ck_assert_str_eq(fake_trace(), "");
		ck_assert_uint_eq(fixture_logs(), 1);
	}
	forget();
}
END_TEST

/* Incoming: what cannot work leaves the request where it is. */
START_TEST(test_passive)
{
	const struct row *row = &rows[_i];
	struct rpma_conn_req *req = UNTOUCHED(struct rpma_conn_req);
	struct rpma_conn *conn = NULL;
	struct rpma_ep *ep = NULL;
	int ret;

	ck_assert_int_eq(rpma_ep_listen(fixture_peer(), FIXTURE_ADDR, FIXTURE_PORT_STR,
			     &ep),
	    0);
	ck_assert_ptr_nonnull(fake_peer_connect(FIXTURE_PORT, NULL, 0));
	configure(row);
	ret = rpma_ep_next_conn_req(ep, cfg, &req);
	if (row->trace) {
		ck_assert_int_eq(ret, 0);
		ck_assert_str_eq(queue_trace(), row->trace);
		ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, &conn), 0);
		check_queues(row, conn);
		ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	} else {
		ck_assert_int_eq(ret, RPMA_E_INVAL);
		ck_assert_ptr_eq(req, UNTOUCHED(struct rpma_conn_req));
		ck_assert_str_eq(fake_trace(), "");
		ck_assert_int_eq(rpma_ep_next_conn_req(ep, NULL, &req), 0);
		ck_assert_int_eq(rpma_conn_req_delete(&req), 0);
	}
	ck_assert_int_eq(rpma_ep_shutdown(&ep), 0);
	forget();
}
END_TEST

/* The main queue is never asked to be larger than devices can make it on our account.
 */
START_TEST(test_cq_limit)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_peer *peer = NULL;

	fake_options()->max_cqe = 15;
	ck_assert_int_eq(rpma_peer_new(fake_context(0), &peer), 0);
	fake_trace_clear();
	ck_assert_int_eq(rpma_conn_req_new(peer, FIXTURE_ADDR, FIXTURE_PORT_STR, NULL,
			     &req),
	    0);
	ck_assert_ptr_nonnull(strstr(fake_trace_args(), "ibv_create_cq(cqe=15)"));
	ck_assert_int_eq(rpma_conn_req_delete(&req), 0);
	ck_assert_int_eq(rpma_peer_delete(&peer), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_queues");
	TCase *tc = fixture_case(suite, "queues");

	tcase_add_loop_test(tc, test_active, 0, ROWS);
	tcase_add_loop_test(tc, test_passive, 0, ROWS);
	tcase_add_test(tc, test_cq_limit);
	return harness_run(suite);
}
