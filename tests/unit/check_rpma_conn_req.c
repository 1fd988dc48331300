/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_conn_req.c: outgoing requests and what becomes of them. */
#include <config.h>

#include <errno.h>
#include <string.h>

#include "tests/unit/rpma_fixture.h"

static struct rpma_conn_req *
new_req(const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_req *req = NULL;

	ck_assert_int_eq(rpma_conn_req_new(fixture_peer(), FIXTURE_ADDR,
			     FIXTURE_PORT_STR, cfg, &req),
	    0);
	ck_assert_ptr_nonnull(req);
	return req;
}

START_TEST(test_new)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn_req *req;

	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_timeout(cfg, 321), 0);
	req = new_req(cfg);
	ck_assert_str_eq(fake_trace(),
	    "rdma_getaddrinfo rdma_create_id rdma_resolve_addr rdma_resolve_route "
	    "rdma_freeaddrinfo rdma_create_event_channel rdma_migrate_id "
	    "ibv_create_comp_channel ibv_create_cq ibv_req_notify_cq rdma_create_qp_ex");
	ck_assert_ptr_nonnull(strstr(fake_trace_args(),
	    "rdma_resolve_addr(dst=127.0.0.1:7471,timeout_ms=321) "
	    "rdma_resolve_route(timeout_ms=321)"));
	fake_trace_clear();
	ck_assert_int_eq(rpma_conn_req_delete(&req), 0);
	ck_assert_ptr_null(req);
	ck_assert_str_eq(fake_trace(),
	    "rdma_destroy_qp ibv_destroy_cq ibv_destroy_comp_channel rdma_destroy_id "
	    "rdma_destroy_event_channel");
	ck_assert_int_eq(rpma_conn_req_delete(&req), 0);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
	ck_assert_uint_eq(fixture_logs(), 0);
}
END_TEST

START_TEST(test_new_default_timeout)
{
	struct rpma_conn_req *req = new_req(NULL);

	ck_assert_ptr_nonnull(strstr(fake_trace_args(),
	    "timeout_ms=1000) "
	    "rdma_resolve_route"));
	ck_assert_int_eq(rpma_conn_req_delete(&req), 0);
}
END_TEST

START_TEST(test_new_invalid)
{
	struct rpma_conn_req *req = UNTOUCHED(struct rpma_conn_req);
	struct rpma_peer *peer = fixture_peer();

	ck_assert_int_eq(rpma_conn_req_new(NULL, "127.0.0.1", "1", NULL, &req),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_req_new(peer, NULL, "1", NULL, &req), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_req_new(peer, "127.0.0.1", NULL, NULL, &req),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_req_new(peer, "127.0.0.1", "1", NULL, NULL),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_req_delete(NULL), RPMA_E_INVAL);
	ck_assert_ptr_eq(req, UNTOUCHED(struct rpma_conn_req));
	ck_assert_str_eq(fake_trace(), "");
}
END_TEST

/* clang-format off */
static const struct {
	unsigned int device;
	enum fake_dial outcome;
	int errnum;
} dead_ends[] = {
	{ 0, FAKE_DIAL_ADDR_ERROR, ETIMEDOUT },
	{ 0, FAKE_DIAL_ADDR_SILENT, ETIMEDOUT },
	{ 0, FAKE_DIAL_ROUTE_ERROR, ETIMEDOUT },
	{ 0, FAKE_DIAL_ROUTE_SILENT, ETIMEDOUT },
	{ 1, FAKE_DIAL_ACCEPT, EXDEV },       /* leads over another device */
};
/* clang-format on */

START_TEST(test_new_dead_end)
{
	struct rpma_conn_req *req = UNTOUCHED(struct rpma_conn_req);

	fake_dial_script("192.0.2.1", 0, dead_ends[_i].device, dead_ends[_i].outcome, 0,
	    NULL, 0);
	assert_provider(rpma_conn_req_new(fixture_peer(), "192.0.2.1", "1", NULL, &req),
	    dead_ends[_i].errnum);
	ck_assert_ptr_eq(req, UNTOUCHED(struct rpma_conn_req));
	ck_assert_str_eq(fake_leaks(), "pd 1");
	ck_assert_uint_eq(fixture_logs(), 1);
}
END_TEST

START_TEST(test_delete_fails)
{
	static const char *const steps[] = { "ibv_destroy_cq",
		"ibv_destroy_comp_channel", "rdma_destroy_id" };
	struct rpma_conn_req *req = new_req(NULL);

	fake_fail_call(steps[_i], 1, EIO);
	assert_provider(rpma_conn_req_delete(&req), EIO);
	ck_assert_ptr_null(req);
}
END_TEST

START_TEST(test_connect_parameters)
{
	char bytes[3] = "abc";
	const struct rpma_conn_private_data pdata = { bytes, sizeof(bytes) };
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn_req *req;
	struct rpma_conn *conn = NULL;
	size_t len = 0;

	fake_dial_script(FIXTURE_ADDR, 0, 0, FAKE_DIAL_HOLD, 0, NULL, 0);
	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_rnr_retry(cfg, 3), 0);
	req = new_req(cfg);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
	fake_trace_clear();
	ck_assert_int_eq(rpma_conn_req_connect(&req, &pdata, &conn), 0);
	ck_assert_ptr_null(req);
	ck_assert_str_eq(fake_trace_args(),
	    "rdma_connect(pdata=3,resp=255,init=255,flow=1,retry=7,rnr=3)");
	ck_assert_mem_eq(fake_peer_pdata(fake_peer_last(), &len), "abc", 3);
	ck_assert_uint_eq(len, 3);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
	req = new_req(NULL);
	fake_trace_clear();
	ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, &conn), 0);
	ck_assert_str_eq(fake_trace_args(),
	    "rdma_connect(pdata=0,resp=255,init=255,flow=1,retry=7,rnr=7)");
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}
END_TEST

/* Whatever is wrong but a missing request: the request is used up. */
START_TEST(test_connect_invalid)
{
	char byte = 1;
	const struct rpma_conn_private_data no_ptr = { NULL, 1 };
	const struct rpma_conn_private_data no_len = { &byte, 0 };
	struct rpma_conn *conn = UNTOUCHED(struct rpma_conn);
	struct rpma_conn_req *req = NULL;

	ck_assert_int_eq(rpma_conn_req_connect(NULL, NULL, &conn), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, &conn), RPMA_E_INVAL);
	req = new_req(NULL);
	ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, NULL), RPMA_E_INVAL);
	ck_assert_ptr_null(req);
	req = new_req(NULL);
	ck_assert_int_eq(rpma_conn_req_connect(&req, &no_ptr, &conn), RPMA_E_INVAL);
	ck_assert_ptr_null(req);
	req = new_req(NULL);
	ck_assert_int_eq(rpma_conn_req_connect(&req, &no_len, &conn), RPMA_E_INVAL);
	ck_assert_ptr_null(req);
	ck_assert_ptr_eq(conn, UNTOUCHED(struct rpma_conn));
	ck_assert_uint_eq(fake_called("rdma_connect"), 0);
}
END_TEST

START_TEST(test_connect_fails)
{
	struct rpma_conn *conn = UNTOUCHED(struct rpma_conn);
	struct rpma_conn_req *req = new_req(NULL);

	fake_fail_call("rdma_connect", 1, ENETUNREACH);
	assert_provider(rpma_conn_req_connect(&req, NULL, &conn), ENETUNREACH);
	ck_assert_ptr_null(req);
	ck_assert_ptr_eq(conn, UNTOUCHED(struct rpma_conn));
	ck_assert_str_eq(fake_leaks(), "pd 1");
}
END_TEST

START_TEST(test_recv)
{
	struct rpma_conn_req *req = new_req(NULL);

	ck_assert_int_eq(rpma_conn_req_recv(NULL, fixture_mr(), 0, 8, NULL),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_req_recv(req, NULL, 1, 0, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_req_recv(req, NULL, 0, 1, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_req_recv(req, fixture_mr(), FIXTURE_MR_SIZE, 1,
			     NULL),
	    RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_req_recv(req, fixture_mr(), 8, 8, NULL), 0);
	ck_assert_int_eq(rpma_conn_req_recv(req, NULL, 0, 0, NULL), 0);
	ck_assert_uint_eq(fake_rq_posted(), 2);
	fake_fail_call("ibv_post_recv", 1, EIO);
	assert_provider(rpma_conn_req_recv(req, NULL, 0, 0, NULL), EIO);
	ck_assert_int_eq(rpma_conn_req_delete(&req), 0);
}
END_TEST

/* With an SRQ receives go there. */
START_TEST(test_recv_srq)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn_req *req;
	struct rpma_srq *srq = NULL;

	ck_assert_int_eq(rpma_srq_new(fixture_peer(), NULL, &srq), 0);
	ck_assert_int_eq(rpma_conn_cfg_new(&cfg), 0);
	ck_assert_int_eq(rpma_conn_cfg_set_srq(cfg, srq), 0);
	req = new_req(cfg);
	ck_assert_int_eq(rpma_conn_req_recv(req, fixture_mr(), 0, 8, NULL), 0);
	ck_assert_uint_eq(fake_srq_posted(), 1);
	ck_assert_uint_eq(fake_rq_posted(), 0);
	ck_assert_int_eq(rpma_conn_req_delete(&req), 0);
	ck_assert_int_eq(rpma_conn_cfg_delete(&cfg), 0);
	ck_assert_int_eq(rpma_srq_delete(&srq), 0);
}
END_TEST

START_TEST(test_getters)
{
	struct rpma_conn_req *req = new_req(NULL);
	struct rpma_conn_private_data pdata = { &req, 77 };
	struct sockaddr_storage addr;

	ck_assert_int_eq(rpma_conn_req_get_private_data(NULL, &pdata), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_req_get_private_data(req, NULL), RPMA_E_INVAL);
	ck_assert_uint_eq(pdata.len, 77);
	ck_assert_int_eq(rpma_conn_req_get_private_data(req, &pdata), 0);
	ck_assert_ptr_null(pdata.ptr);
	ck_assert_uint_eq(pdata.len, 0);
	ck_assert_int_eq(rpma_conn_req_get_peer_addr(NULL, &addr), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_req_get_peer_addr(req, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_conn_req_get_peer_addr(req, &addr), 0);
	ck_assert(fixture_is_addr(&addr, FIXTURE_ADDR, FIXTURE_PORT));
	ck_assert_int_eq(rpma_conn_req_delete(&req), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_conn_req");
	TCase *tc = fixture_case(suite, "new");

	tcase_add_test(tc, test_new);
	tcase_add_test(tc, test_new_default_timeout);
	tcase_add_test(tc, test_new_invalid);
	tcase_add_loop_test(tc, test_new_dead_end, 0,
	    sizeof(dead_ends) / sizeof(dead_ends[0]));
	tcase_add_loop_test(tc, test_delete_fails, 0, 3);
	tc = fixture_case(suite, "connect");
	tcase_add_test(tc, test_connect_parameters);
	tcase_add_test(tc, test_connect_invalid);
	tcase_add_test(tc, test_connect_fails);
	tc = fixture_case(suite, "use");
	tcase_add_test(tc, test_recv);
	tcase_add_test(tc, test_recv_srq);
	tcase_add_test(tc, test_getters);
	return harness_run(suite);
}
