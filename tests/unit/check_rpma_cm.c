/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_cm.c: endpoints and incoming connections on one shared channel. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "tests/fake/fake_alloc.h"
#include "tests/unit/rpma_cm_fixture.h"

START_TEST(test_new)
{
	struct rpma_cm *cm = NULL;
	int fd = -77;

	ck_assert_int_eq(rpma_cm_new(NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_delete(NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_new(&cm), 0);
	ck_assert_int_eq(rpma_cm_get_fd(NULL, &fd), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_get_fd(cm, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(fd, -77);
	ck_assert_int_eq(rpma_cm_get_fd(cm, &fd), 0);
	ck_assert_int_ne(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	ck_assert_int_eq(rpma_cm_delete(&cm), 0);
	ck_assert_ptr_null(cm);
	ck_assert_int_eq(rpma_cm_delete(&cm), 0);
	cm = UNTOUCHED(struct rpma_cm);
	fake_fail_call("rdma_create_event_channel", 1, ENODEV);
	assert_provider(rpma_cm_new(&cm), ENODEV);
	fake_alloc_fail_nth(1);
	ck_assert_int_eq(rpma_cm_new(&cm), RPMA_E_NOMEM);
	ck_assert_ptr_eq(cm, UNTOUCHED(struct rpma_cm));
}
END_TEST

START_TEST(test_listen)
{
	struct sockaddr_storage addr;
	struct rpma_ep *ep = NULL;
	int fd = -77;

	ck_assert_int_eq(rpma_cm_listen(cm_fixture_cm(), fixture_peer(),
			     fixture_sockaddr("::1", 0), 5, &ep),
	    0);
	ck_assert_str_eq(fake_trace_args(),
	    "rdma_create_id(sync=0) rdma_bind_addr(addr=[::1]:0) "
	    "rdma_listen(backlog=5)");
	ck_assert_int_eq(rpma_ep_get_addr(ep, &addr), 0);
	ck_assert(fixture_is_addr(&addr, "::1", fake_listen_port(1)));
	ck_assert_uint_ne(fixture_port(&addr), 0);
	ck_assert_int_eq(rpma_ep_get_fd(ep, &fd), RPMA_E_NOSUPP);
	ck_assert_int_eq(rpma_ep_next_conn_req(ep, NULL, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(fd, -77);
	fake_trace_clear();
	ck_assert_int_eq(rpma_ep_shutdown(&ep), 0);
	ck_assert_str_eq(fake_trace(), "rdma_destroy_id");
}
END_TEST

START_TEST(test_listen_invalid)
{
	struct rpma_ep *ep = UNTOUCHED(struct rpma_ep);
	struct rpma_conn_req *req = UNTOUCHED(struct rpma_conn_req);
	struct sockaddr *addr = fixture_sockaddr(FIXTURE_ADDR, 1);
	struct rpma_cm *cm = cm_fixture_cm();
	const struct sockaddr other = { .sa_family = AF_UNIX };

	ck_assert_int_eq(rpma_cm_listen(NULL, fixture_peer(), addr, 0, &ep),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_listen(cm, NULL, addr, 0, &ep), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_listen(cm, fixture_peer(), NULL, 0, &ep),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_listen(cm, fixture_peer(), &other, 0, &ep),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_listen(cm, fixture_peer(), addr, -1, &ep),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_listen(cm, fixture_peer(), addr, 0, NULL),
	    RPMA_E_INVAL);
	ck_assert_ptr_eq(ep, UNTOUCHED(struct rpma_ep));
	ck_assert_str_eq(fake_trace(), "");
	/* its requests come by rpma_cm_next_event() alone */
	ck_assert_int_eq(rpma_ep_next_conn_req(cm_fixture_ep(), NULL, &req),
	    RPMA_E_NOSUPP);
	ck_assert_ptr_eq(req, UNTOUCHED(struct rpma_conn_req));
}
END_TEST

/* clang-format off */
static const struct {
	const char *addr;
	uint16_t port;
	int errnum;
} bad_addrs[] = {
	{ FIXTURE_ADDR, FIXTURE_PORT, EADDRINUSE },
	{ "192.0.2.1", 1, EADDRNOTAVAIL },
	{ "192.0.2.2", 1, ENODEV }, /* of this host, not of a device */
	{ "192.0.2.3", 1, EXDEV },  /* of another device */
};
/* clang-format on */

START_TEST(test_listen_bad_addr)
{
	struct rpma_ep *ep = UNTOUCHED(struct rpma_ep);

	fake_addr_local("192.0.2.2");
	fake_addr_add("192.0.2.3", 1);
	assert_provider(rpma_cm_listen(cm_fixture_cm(), fixture_peer(),
			    fixture_sockaddr(bad_addrs[_i].addr, bad_addrs[_i].port), 0,
			    &ep),
	    bad_addrs[_i].errnum);
	ck_assert_ptr_eq(ep, UNTOUCHED(struct rpma_ep));
	ck_assert_uint_eq(fake_live(FAKE_ID), 1);
}
END_TEST

START_TEST(test_next_event_fails)
{
	struct rpma_cm_event event = { .status = 77 };

	ck_assert_int_eq(rpma_cm_next_event(NULL, &event), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_next_event(cm_fixture_cm(), NULL), RPMA_E_INVAL);
	fake_fail_call("rdma_get_cm_event", 1, EIO);
	assert_provider(rpma_cm_next_event(cm_fixture_cm(), &event), EIO);
	fake_fail_call("rdma_get_cm_event", 1, EINTR);
	ck_assert_int_eq(rpma_cm_next_event(cm_fixture_cm(), &event), RPMA_E_NO_EVENT);
	fake_cm_event(fake_id(0), RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	fake_fail_call("rdma_ack_cm_event", 1, EINVAL);
	assert_provider(rpma_cm_next_event(cm_fixture_cm(), &event), EINVAL);
	ck_assert_int_eq(event.status, 77);
}
END_TEST

START_TEST(test_request)
{
	static const char hello[] = "hello";
	struct rpma_conn_private_data pdata;
	struct sockaddr_storage addr;
	struct rpma_cm_event event;

	ck_assert_ptr_nonnull(fake_peer_connect_from("192.0.2.55", FIXTURE_PORT, hello,
	    sizeof(hello)));
	event = cm_fixture_expect(RPMA_CM_REQUEST);
	ck_assert_ptr_eq(event.ep, cm_fixture_ep());
	/* nothing is made for a request before it is accepted */
	ck_assert_str_eq(fake_trace(), "rdma_get_cm_event rdma_ack_cm_event");
	ck_assert_int_eq(rpma_conn_req_get_private_data(event.req, &pdata), 0);
	ck_assert_uint_eq(pdata.len, 56);
	ck_assert_mem_eq(pdata.ptr, hello, sizeof(hello));
	ck_assert_int_eq(rpma_conn_req_get_peer_addr(event.req, &addr), 0);
	ck_assert(fixture_is_addr(&addr, "192.0.2.55", 0));
	assert_provider(rpma_conn_req_recv(event.req, NULL, 0, 0, NULL), ENOTCONN);
	ck_assert_int_eq(rpma_cm_reject(&event.req, NULL), 0);
}
END_TEST

START_TEST(test_accept)
{
	static char hello[] = "hello";
	const struct rpma_conn_private_data pdata = { hello, sizeof(hello) };
	struct fake_peer *client;
	struct rpma_conn_req *req = cm_fixture_request(&client);
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn *conn = NULL;
	struct sockaddr_storage addr;
	enum rpma_conn_event event;
	int fd;

	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_rnr_retry(cfg, 6), 0);
	fake_trace_clear();
	ck_assert_int_eq(rpma_cm_accept(&req, cfg, &pdata, &conn), 0);
	ck_assert_ptr_null(req);
	ck_assert_str_eq(fake_trace(),
	    "ibv_create_comp_channel ibv_create_cq ibv_req_notify_cq rdma_create_qp_ex "
	    "rdma_accept");
	ck_assert_ptr_nonnull(strstr(fake_trace_args(),
	    "rdma_accept(pdata=6,resp=255,init=255,flow=1,retry=7,rnr=6)"));
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
	ck_assert_ptr_eq(cm_fixture_expect(RPMA_CM_ESTABLISHED).conn, conn);
	ck_assert_int_eq(rpma_conn_get_event_fd(conn, &fd), RPMA_E_NOSUPP);
	ck_assert_int_eq(rpma_conn_next_event(conn, &event), RPMA_E_NOSUPP);
	ck_assert_int_eq(rpma_conn_get_local_addr(conn, &addr), 0);
	ck_assert(fixture_is_addr(&addr, FIXTURE_ADDR, FIXTURE_PORT));
	fake_trace_clear();
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	ck_assert_str_eq(fake_trace(),
	    "rdma_destroy_qp ibv_destroy_cq ibv_destroy_comp_channel rdma_destroy_id");
}
END_TEST

/* A send queue that many share is not a connection's to destroy. */
START_TEST(test_accept_shared_cq)
{
	struct fake_peer *client;
	struct rpma_conn_req *req;
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn *conns[2] = { NULL, NULL };
	struct rpma_cq *cq = NULL;
	struct ibv_wc wc[2];
	int got = 0;

	ck_assert_int_eq(rpma_cq_new(fixture_peer(), 20, &cq), 0);
	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_cq(cfg, cq), 0);
	for (int i = 0; i < 2; i++) {
		req = cm_fixture_request(&client);
		ck_assert_int_eq(rpma_cm_accept(&req, cfg, NULL, &conns[i]), 0);
		(void)cm_fixture_expect(RPMA_CM_ESTABLISHED);
		ck_assert_int_eq(rpma_send(conns[i], NULL, 0, 0, 3, NULL), 0);
	}
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
	ck_assert_int_eq(rpma_cq_get_wc(cq, 2, wc, &got), 0);
	ck_assert_int_eq(got, 2);
	ck_assert_uint_eq(wc[0].qp_num, fixture_qp_num(conns[0]));
	ck_assert_uint_eq(wc[1].qp_num, fixture_qp_num(conns[1]));
	ck_assert_int_eq(rpma_conn_delete(&conns[0]), 0);
	ck_assert_int_eq(rpma_conn_delete(&conns[1]), 0);
	ck_assert_int_eq(rpma_cq_delete(&cq), 0);
}
END_TEST

/* Whatever is wrong but a missing request: the client is refused. */
START_TEST(test_accept_invalid)
{
	const struct rpma_conn_private_data no_ptr = { NULL, 1 };
	struct rpma_conn *conn = UNTOUCHED(struct rpma_conn);
	struct rpma_conn_req *req = NULL;
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_cq *cq = NULL;
	struct fake_peer *client;

	ck_assert_int_eq(rpma_cm_accept(NULL, NULL, NULL, &conn), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_accept(&req, NULL, NULL, &conn), RPMA_E_INVAL);
	req = cm_fixture_request(&client);
	ck_assert_int_eq(rpma_cm_accept(&req, NULL, NULL, NULL), RPMA_E_INVAL);
	ck_assert_ptr_null(req);
	ck_assert_int_eq(fake_peer_state(client), FAKE_PEER_REJECTED);
	req = cm_fixture_request(&client);
	ck_assert_int_eq(rpma_cm_accept(&req, NULL, &no_ptr, &conn), RPMA_E_INVAL);
	ck_assert_ptr_null(req);
	ck_assert_int_eq(fake_peer_state(client), FAKE_PEER_REJECTED);
	req = cm_fixture_request(&client);
	ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, &conn), RPMA_E_INVAL);
	ck_assert_ptr_null(req);
	ck_assert_int_eq(fake_peer_state(client), FAKE_PEER_REJECTED);
	ck_assert_int_eq(rpma_cq_new(fixture_peer(), 20, &cq), 0);
	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_cq(cfg, cq), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_compl_channel(cfg, true), 0);
	req = cm_fixture_request(&client);
	ck_assert_int_eq(rpma_cm_accept(&req, cfg, NULL, &conn), RPMA_E_INVAL);
	ck_assert_int_eq(fake_peer_state(client), FAKE_PEER_REJECTED);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
	ck_assert_int_eq(rpma_cq_delete(&cq), 0);
	ck_assert_ptr_eq(conn, UNTOUCHED(struct rpma_conn));
	ck_assert_uint_eq(fake_live(FAKE_ID), 1);
}
END_TEST

/* A request with a channel of its own is not for rpma_cm_accept(). */
START_TEST(test_accept_other_request)
{
	struct rpma_conn *conn = UNTOUCHED(struct rpma_conn);
	struct rpma_conn_req *req = NULL;
	struct rpma_ep *ep = NULL;

	ck_assert_int_eq(rpma_ep_listen(fixture_peer(), FIXTURE_ADDR, "7472", &ep), 0);
	ck_assert_ptr_nonnull(fake_peer_connect(7472, NULL, 0));
	ck_assert_int_eq(rpma_ep_next_conn_req(ep, NULL, &req), 0);
	ck_assert_int_eq(rpma_cm_accept(&req, NULL, NULL, &conn), RPMA_E_INVAL);
	ck_assert_ptr_null(req);
	ck_assert_int_eq(fake_peer_state(fake_peer_last()), FAKE_PEER_REJECTED);
	ck_assert_int_eq(rpma_ep_shutdown(&ep), 0);
}
END_TEST

START_TEST(test_accept_device)
{
	struct rpma_conn *conn = UNTOUCHED(struct rpma_conn);
	struct rpma_peer *other = NULL;
	struct rpma_cm_event event;
	struct rpma_ep *ep = NULL;

	ck_assert_int_eq(rpma_peer_new(fake_context(1), &other), 0);
	ck_assert_int_eq(rpma_cm_listen(cm_fixture_cm(), other,
			     fixture_sockaddr("0.0.0.0", 7472), 0, &ep),
	    0);
	ck_assert_ptr_nonnull(fake_peer_connect(7472, NULL, 0));
	event = cm_fixture_expect(RPMA_CM_REQUEST);
	assert_provider(rpma_cm_accept(&event.req, NULL, NULL, &conn), EXDEV);
	ck_assert_ptr_null(event.req);
	ck_assert_int_eq(fake_peer_state(fake_peer_last()), FAKE_PEER_REJECTED);
	ck_assert_int_eq(rpma_ep_shutdown(&ep), 0);
	ck_assert_int_eq(rpma_peer_delete(&other), 0);
}
END_TEST

START_TEST(test_reject)
{
	static char why[] = "full";
	const struct rpma_conn_private_data pdata = { why, 4 };
	const struct rpma_conn_private_data no_len = { why, 0 };
	struct rpma_conn_req *req = NULL;
	struct fake_peer *client;
	size_t len = 0;

	ck_assert_int_eq(rpma_cm_reject(NULL, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_cm_reject(&req, NULL), RPMA_E_INVAL);
	req = cm_fixture_request(&client);
	fake_trace_clear();
	ck_assert_int_eq(rpma_cm_reject(&req, &pdata), 0);
	ck_assert_ptr_null(req);
	ck_assert_str_eq(fake_trace_args(), "rdma_reject(pdata=4) rdma_destroy_id");
	ck_assert_int_eq(fake_peer_state(client), FAKE_PEER_REJECTED);
	ck_assert_int_eq(fake_peer_reason(client), 28);
	ck_assert_mem_eq(fake_peer_pdata(client, &len), "full", 4);
	ck_assert_uint_eq(len, 4);
	req = cm_fixture_request(&client);
	ck_assert_int_eq(rpma_cm_reject(&req, &no_len), RPMA_E_INVAL);
	ck_assert_ptr_null(req);
	ck_assert_int_eq(fake_peer_state(client), FAKE_PEER_REJECTED);
	req = cm_fixture_request(&client);
	fake_fail_call("rdma_reject", 1, EIO);
	assert_provider(rpma_cm_reject(&req, NULL), EIO);
	ck_assert_ptr_null(req);
}
END_TEST

/* A client that is gone is neither an event nor an error. */
START_TEST(test_dead_client)
{
	struct rpma_conn *conn = UNTOUCHED(struct rpma_conn);
	struct fake_peer *client;
	struct rpma_conn_req *req = cm_fixture_request(&client);

	fake_peer_kill(client);
	cm_fixture_expect_none();
	ck_assert_int_eq(rpma_cm_reject(&req, NULL), 0);
	req = cm_fixture_request(&client);
	fake_fail_call("rdma_reject", 1, ECONNRESET); /* how iWARP says it */
	ck_assert_int_eq(rpma_cm_reject(&req, NULL), 0);
	ck_assert_uint_eq(fixture_logs(), 0);
	req = cm_fixture_request(&client);
	fake_peer_kill(client);
	assert_provider(rpma_cm_accept(&req, NULL, NULL, &conn), EINVAL);
	ck_assert_ptr_eq(conn, UNTOUCHED(struct rpma_conn));
	ck_assert_uint_eq(fixture_logs(), 1);
}
END_TEST

START_TEST(test_request_for_memory)
{
	struct rpma_cm_event event = { .status = 77 };
	struct fake_peer *client;
	unsigned int n = 0;

	for (;;) {
		client = fake_peer_connect(FIXTURE_PORT, NULL, 0);
		fake_alloc_fail_nth(++n);
		if (rpma_cm_next_event(cm_fixture_cm(), &event) == 0)
			break;
		ck_assert(fake_alloc_fired());
		ck_assert_int_eq(rpma_err_last_errno(), ENOMEM);
		ck_assert_int_eq(event.status, 77);
		ck_assert_int_eq(fake_peer_state(client), FAKE_PEER_REJECTED);
		ck_assert_uint_eq(fake_live(FAKE_ID), 1);
	}
	fake_alloc_fail_nth(0);
	ck_assert_uint_gt(n, 1);
	ck_assert_int_eq(rpma_cm_reject(&event.req, NULL), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_cm");
	TCase *tc = fixture_case(suite, "channel");

	tcase_add_test(tc, test_new);
	tc = fixture_case(suite, "requests");
	tcase_add_checked_fixture(tc, cm_fixture_set_up, cm_fixture_tear_down);
	tcase_add_test(tc, test_listen);
	tcase_add_test(tc, test_listen_invalid);
	tcase_add_loop_test(tc, test_listen_bad_addr, 0,
	    sizeof(bad_addrs) / sizeof(bad_addrs[0]));
	tcase_add_test(tc, test_next_event_fails);
	tcase_add_test(tc, test_request);
	tcase_add_test(tc, test_accept);
	tcase_add_test(tc, test_accept_shared_cq);
	tcase_add_test(tc, test_accept_invalid);
	tcase_add_test(tc, test_accept_other_request);
	tcase_add_test(tc, test_accept_device);
	tcase_add_test(tc, test_reject);
	tcase_add_test(tc, test_dead_client);
	tcase_add_test(tc, test_request_for_memory);
	return harness_run(suite);
}
