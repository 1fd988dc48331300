/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_ep.c: endpoints with a channel of their own and their requests. */
#include <config.h>

#include <errno.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "tests/fake/fake_alloc.h"
#include "tests/unit/rpma_fixture.h"

static struct rpma_ep *ep;

/* An endpoint whose descriptor does not block. */
static void
start_listening(void)
{
	int fd;

	ck_assert_int_eq(rpma_ep_listen(fixture_peer(), FIXTURE_ADDR, FIXTURE_PORT_STR,
			     &ep),
	    0);
	ck_assert_int_eq(rpma_ep_get_fd(ep, &fd), 0);
	fixture_nonblock(fd);
	fake_trace_clear();
}

static void
stop_listening(void)
{
	ck_assert_int_eq(rpma_ep_shutdown(&ep), 0);
}

static struct fake_peer *
arrive(void)
{
	struct fake_peer *client = fake_peer_connect(FIXTURE_PORT, NULL, 0);

	ck_assert_ptr_nonnull(client);
	return client;
}

static struct rpma_conn_req *
next_req(void)
{
	struct rpma_conn_req *req = NULL;

	ck_assert_int_eq(rpma_ep_next_conn_req(ep, NULL, &req), 0);
	ck_assert_ptr_nonnull(req);
	return req;
}

START_TEST(test_listen)
{
	ck_assert_int_eq(rpma_ep_listen(fixture_peer(), FIXTURE_ADDR, FIXTURE_PORT_STR,
			     &ep),
	    0);
	ck_assert_str_eq(fake_trace(),
	    "rdma_create_event_channel rdma_getaddrinfo rdma_create_id rdma_bind_addr "
	    "rdma_listen rdma_freeaddrinfo");
	ck_assert_int_eq(fake_listen_backlog(0), 0);
	fake_trace_clear();
	ck_assert_int_eq(rpma_ep_shutdown(&ep), 0);
	ck_assert_ptr_null(ep);
	ck_assert_str_eq(fake_trace(), "rdma_destroy_id rdma_destroy_event_channel");
	ck_assert_int_eq(rpma_ep_shutdown(&ep), 0);
	ck_assert_uint_eq(fixture_logs(), 0);
}
END_TEST

START_TEST(test_listen_invalid)
{
	struct rpma_ep *none = UNTOUCHED(struct rpma_ep);
	struct rpma_peer *peer = fixture_peer();

	ck_assert_int_eq(rpma_ep_listen(NULL, "127.0.0.1", "1", &none), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_ep_listen(peer, NULL, "1", &none), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_ep_listen(peer, "127.0.0.1", NULL, &none), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_ep_listen(peer, "127.0.0.1", "1", NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_ep_shutdown(NULL), RPMA_E_INVAL);
	ck_assert_ptr_eq(none, UNTOUCHED(struct rpma_ep));
	ck_assert_str_eq(fake_trace(), "");
}
END_TEST

/* clang-format off */
static const struct {
	const char *addr;
	int errnum;
} bad_addrs[] = {
	{ "192.0.2.1", EADDRNOTAVAIL },
	{ "192.0.2.2", ENODEV }, /* of this host, not of a device */
	{ "192.0.2.3", EXDEV },  /* of another device */
};
/* clang-format on */

START_TEST(test_listen_bad_addr)
{
	struct rpma_ep *none = UNTOUCHED(struct rpma_ep);

	fake_addr_local("192.0.2.2");
	fake_addr_add("192.0.2.3", 1);
	assert_provider(rpma_ep_listen(fixture_peer(), bad_addrs[_i].addr, "1", &none),
	    bad_addrs[_i].errnum);
	ck_assert_ptr_eq(none, UNTOUCHED(struct rpma_ep));
	ck_assert_str_eq(fake_leaks(), "pd 1");
}
END_TEST

START_TEST(test_addr)
{
	struct sockaddr_storage addr = { .ss_family = 77 };
	int fd = -77;

	ck_assert_int_eq(rpma_ep_get_addr(NULL, &addr), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_ep_get_addr(ep, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(addr.ss_family, 77);
	ck_assert_int_eq(rpma_ep_get_addr(ep, &addr), 0);
	ck_assert(fixture_is_addr(&addr, FIXTURE_ADDR, FIXTURE_PORT));
	ck_assert_int_eq(rpma_ep_get_fd(NULL, &fd), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_ep_get_fd(ep, NULL), RPMA_E_INVAL);
	ck_assert_int_eq(fd, -77);
	stop_listening();
	ck_assert_int_eq(rpma_ep_listen(fixture_peer(), "::1", "0", &ep), 0);
	ck_assert_int_eq(rpma_ep_get_addr(ep, &addr), 0);
	ck_assert(fixture_is_addr(&addr, "::1", fake_listen_port(0)));
	ck_assert_uint_ne(fixture_port(&addr), 0);
}
END_TEST

START_TEST(test_shutdown_fails)
{
	fake_fail_call("rdma_destroy_id", 1, EIO);
	assert_provider(rpma_ep_shutdown(&ep), EIO);
	ck_assert_ptr_null(ep);
}
END_TEST

START_TEST(test_next_invalid)
{
	struct rpma_conn_req *req = UNTOUCHED(struct rpma_conn_req);

	ck_assert_int_eq(rpma_ep_next_conn_req(NULL, NULL, &req), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_ep_next_conn_req(ep, NULL, NULL), RPMA_E_INVAL);
	ck_assert_ptr_eq(req, UNTOUCHED(struct rpma_conn_req));
}
END_TEST

/* clang-format off */
static const struct {
	int errnum;
	int ret;
} failures[] = {
	{ 0, RPMA_E_NO_EVENT }, /* nothing waits */
	{ EAGAIN, RPMA_E_NO_EVENT },
	{ ENODATA, RPMA_E_NO_EVENT },
	{ EIO, RPMA_E_PROVIDER },
	{ EINTR, RPMA_E_NO_EVENT },
};
/* clang-format on */

START_TEST(test_next_fails)
{
	struct rpma_conn_req *req = UNTOUCHED(struct rpma_conn_req);

	fake_fail_call("rdma_get_cm_event", 1, failures[_i].errnum);
	ck_assert_int_eq(rpma_ep_next_conn_req(ep, NULL, &req), failures[_i].ret);
	ck_assert_ptr_eq(req, UNTOUCHED(struct rpma_conn_req));
	ck_assert_uint_eq(fixture_logs(), failures[_i].ret == RPMA_E_PROVIDER);
}
END_TEST

START_TEST(test_next_no_request)
{
	struct rpma_conn_req *req = UNTOUCHED(struct rpma_conn_req);

	fake_cm_event(fake_id(0), RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	ck_assert_int_eq(rpma_ep_next_conn_req(ep, NULL, &req), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_ep_next_conn_req(ep, NULL, &req), RPMA_E_NO_EVENT);
	ck_assert_ptr_eq(req, UNTOUCHED(struct rpma_conn_req));
	ck_assert_uint_eq(fake_live(FAKE_CM_EVENT), 0);
}
END_TEST

/*
 * The id is on a channel of its own before it is accepted, and its first event was
 * acknowledged before that: so no other thread can get at the connection's events.
 */
START_TEST(test_accept)
{
	static const char hello[] = "hello";
	struct rpma_conn_private_data pdata;
	struct fake_peer *client;
	struct rpma_conn_req *req;
	struct rpma_conn *conn = NULL;
	enum rpma_conn_event event;
	void *bytes;

	client =
	    fake_peer_connect_from("127.0.0.1", FIXTURE_PORT, hello, sizeof(hello));
	req = next_req();
	ck_assert_str_eq(fake_trace(),
	    "rdma_get_cm_event rdma_ack_cm_event rdma_create_event_channel "
	    "rdma_migrate_id ibv_create_comp_channel ibv_create_cq ibv_req_notify_cq "
	    "rdma_create_qp_ex");
	ck_assert_int_eq(rpma_conn_req_get_private_data(req, &pdata), 0);
	ck_assert_uint_eq(pdata.len, 56);
	ck_assert_mem_eq(pdata.ptr, hello, sizeof(hello));
	bytes = pdata.ptr;
	fake_trace_clear();
	pdata = (struct rpma_conn_private_data){ bytes, 4 };
	ck_assert_int_eq(rpma_conn_req_connect(&req, &pdata, &conn), 0);
	ck_assert_ptr_null(req);
	ck_assert_str_eq(fake_trace_args(),
	    "rdma_accept(pdata=4,resp=255,init=255,flow=1,retry=7,rnr=7)");
	/* the private data of the client stays where it was */
	ck_assert_int_eq(rpma_conn_get_private_data(conn, &pdata), 0);
	ck_assert_ptr_eq(pdata.ptr, bytes);
	ck_assert_uint_eq(pdata.len, 56);
	ck_assert_int_eq(rpma_conn_next_event(conn, &event), 0);
	ck_assert_int_eq(event, RPMA_CONN_ESTABLISHED);
	ck_assert_int_eq(fake_peer_state(client), FAKE_PEER_ESTABLISHED);
	ck_assert_int_eq(rpma_conn_get_private_data(conn, &pdata), 0);
	ck_assert_ptr_eq(pdata.ptr, bytes);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}
END_TEST

START_TEST(test_peer_addr)
{
	struct rpma_conn_req *req;
	struct sockaddr_storage addr;

	ck_assert_ptr_nonnull(fake_peer_connect_from("192.0.2.55", FIXTURE_PORT, NULL,
	    0));
	req = next_req();
	ck_assert_int_eq(rpma_conn_req_get_peer_addr(req, &addr), 0);
	ck_assert(fixture_is_addr(&addr, "192.0.2.55", 0));
	ck_assert_int_eq(rpma_conn_req_delete(&req), 0);
}
END_TEST

/* A request that is not accepted is refused, and nothing of it is left. */
START_TEST(test_delete)
{
	struct fake_peer *client = arrive();
	struct rpma_conn_req *req = next_req();

	fake_trace_clear();
	ck_assert_int_eq(rpma_conn_req_delete(&req), 0);
	ck_assert_ptr_null(req);
	ck_assert_str_eq(fake_trace(),
	    "rdma_destroy_qp ibv_destroy_cq ibv_destroy_comp_channel rdma_reject "
	    "rdma_destroy_id rdma_destroy_event_channel");
	ck_assert_int_eq(fake_peer_state(client), FAKE_PEER_REJECTED);
	ck_assert_int_eq(fake_peer_reason(client), 28);
	client = arrive();
	req = next_req();
	fake_fail_call("rdma_reject", 1, EIO);
	assert_provider(rpma_conn_req_delete(&req), EIO);
	ck_assert_ptr_null(req);
	ck_assert_int_eq(fake_peer_state(client), FAKE_PEER_REJECTED);
}
END_TEST

static const char *const steps[] = {
	"rdma_ack_cm_event",
	"rdma_create_event_channel",
	"rdma_migrate_id",
	"ibv_create_comp_channel",
	"ibv_create_cq",
	"ibv_req_notify_cq",
	"rdma_create_qp_ex",
};

/* What cannot be served is refused at once, whichever step failed. */
START_TEST(test_refused_on_failure)
{
	struct rpma_conn_req *req = UNTOUCHED(struct rpma_conn_req);
	struct fake_peer *client = arrive();

	fake_fail_call(steps[_i], 1, ENOSPC);
	assert_provider(rpma_ep_next_conn_req(ep, NULL, &req), ENOSPC);
	ck_assert_ptr_eq(req, UNTOUCHED(struct rpma_conn_req));
	ck_assert_int_eq(fake_peer_state(client), FAKE_PEER_REJECTED);
	ck_assert_int_eq(fake_peer_reason(client), 28);
	ck_assert_uint_eq(fake_called("rdma_reject"), 1);
	ck_assert_uint_eq(fake_live(FAKE_ID), 1);
	ck_assert_uint_eq(fake_live(FAKE_EVENT_CHANNEL), 1);
}
END_TEST

START_TEST(test_refused_for_memory)
{
	struct rpma_conn_req *req = UNTOUCHED(struct rpma_conn_req);
	unsigned int n = 0;

	do {
		struct fake_peer *client = arrive();
		int ret;

		fake_alloc_fail_nth(++n);
		ret = rpma_ep_next_conn_req(ep, NULL, &req);
		if (!fake_alloc_fired()) {
			ck_assert_int_eq(ret, 0);
			break;
		}
		ck_assert_int_eq(ret, RPMA_E_NOMEM);
		ck_assert_ptr_eq(req, UNTOUCHED(struct rpma_conn_req));
		ck_assert_int_eq(fake_peer_state(client), FAKE_PEER_REJECTED);
		ck_assert_uint_eq(fake_live(FAKE_ID), 1);
	} while (n < 100);
	fake_alloc_fail_nth(0);
	ck_assert_uint_gt(n, 2);
	ck_assert_int_eq(rpma_conn_req_delete(&req), 0);
}
END_TEST

/* A client that comes in over another device than the peer's. */
START_TEST(test_refused_for_device)
{
	struct rpma_conn_req *req = UNTOUCHED(struct rpma_conn_req);
	struct rpma_peer *other = NULL;
	struct fake_peer *client;

	stop_listening();
	ck_assert_int_eq(rpma_peer_new(fake_context(1), &other), 0);
	ck_assert_int_eq(rpma_ep_listen(other, "0.0.0.0", FIXTURE_PORT_STR, &ep), 0);
	client = arrive();
	assert_provider(rpma_ep_next_conn_req(ep, NULL, &req), EXDEV);
	ck_assert_ptr_eq(req, UNTOUCHED(struct rpma_conn_req));
	ck_assert_int_eq(fake_peer_state(client), FAKE_PEER_REJECTED);
	stop_listening();
	ck_assert_int_eq(rpma_peer_delete(&other), 0);
}
END_TEST

START_TEST(test_accept_fails)
{
	struct rpma_conn *conn = UNTOUCHED(struct rpma_conn);
	struct fake_peer *client = arrive();
	struct rpma_conn_req *req = next_req();

	fake_fail_call("rdma_accept", 1, EIO);
	assert_provider(rpma_conn_req_connect(&req, NULL, &conn), EIO);
	ck_assert_ptr_null(req);
	ck_assert_ptr_eq(conn, UNTOUCHED(struct rpma_conn));
	ck_assert_int_eq(fake_peer_state(client), FAKE_PEER_REJECTED);
	ck_assert_uint_eq(fake_called("rdma_reject"), 1);
	/* which could wait for an event that does not come, on some ids */
	ck_assert_uint_eq(fake_called("rdma_disconnect"), 0);
	ck_assert_uint_eq(fixture_logs(), 1);
	/* a wrong argument refuses the client, too */
	client = arrive();
	req = next_req();
	ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, NULL), RPMA_E_INVAL);
	ck_assert_ptr_null(req);
	ck_assert_int_eq(fake_peer_state(client), FAKE_PEER_REJECTED);
}
END_TEST

/* The client is gone before it was answered: one line in the log, nothing left. */
START_TEST(test_accept_dead_client)
{
	struct rpma_conn *conn = UNTOUCHED(struct rpma_conn);
	struct fake_peer *client = arrive();
	struct rpma_conn_req *req = next_req();

	fake_peer_kill(client);
	assert_provider(rpma_conn_req_connect(&req, NULL, &conn), EINVAL);
	ck_assert_ptr_null(req);
	ck_assert_uint_eq(fixture_logs(), 1);
}
END_TEST

/* Requests and connections do not need their endpoint any more. */
START_TEST(test_outlive_endpoint)
{
	struct fake_peer *client = arrive();
	struct rpma_conn_req *req = next_req();
	struct rpma_conn_req *other;
	struct rpma_conn *conn = NULL;
	enum rpma_conn_event event;

	(void)arrive();
	other = next_req();
	stop_listening();
	ck_assert_int_eq(rpma_conn_req_delete(&other), 0);
	ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, &conn), 0);
	ck_assert_int_eq(rpma_conn_next_event(conn, &event), 0);
	ck_assert_int_eq(event, RPMA_CONN_ESTABLISHED);
	fake_peer_disconnect(client);
	ck_assert_int_eq(rpma_conn_next_event(conn, &event), 0);
	ck_assert_int_eq(event, RPMA_CONN_CLOSED);
	ck_assert_int_eq(rpma_conn_disconnect(conn), 0);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_ep");
	TCase *tc = fixture_case(suite, "listen");

	tcase_add_test(tc, test_listen);
	tcase_add_test(tc, test_listen_invalid);
	tcase_add_loop_test(tc, test_listen_bad_addr, 0,
	    sizeof(bad_addrs) / sizeof(bad_addrs[0]));
	tc = fixture_case(suite, "requests");
	tcase_add_checked_fixture(tc, start_listening, stop_listening);
	tcase_add_test(tc, test_addr);
	tcase_add_test(tc, test_shutdown_fails);
	tcase_add_test(tc, test_next_invalid);
	tcase_add_loop_test(tc, test_next_fails, 0,
	    sizeof(failures) / sizeof(failures[0]));
	tcase_add_test(tc, test_next_no_request);
	tcase_add_test(tc, test_accept);
	tcase_add_test(tc, test_peer_addr);
	tcase_add_test(tc, test_delete);
	tcase_add_loop_test(tc, test_refused_on_failure, 0,
	    sizeof(steps) / sizeof(steps[0]));
	tcase_add_test(tc, test_refused_for_memory);
	tcase_add_test(tc, test_refused_for_device);
	tcase_add_test(tc, test_accept_fails);
	tcase_add_test(tc, test_accept_dead_client);
	tcase_add_test(tc, test_outlive_endpoint);
	return harness_run(suite);
}
