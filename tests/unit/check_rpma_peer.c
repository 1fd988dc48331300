/* SPDX-License-Identifier: BSD-3-Clause */
/* check_rpma_peer.c: peers, their devices and their asynchronous events. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "tests/fake/fake_alloc.h"
#include "tests/unit/rpma_fixture.h"

START_TEST(test_new)
{
	struct rpma_peer *peer = NULL;

	ck_assert_int_eq(rpma_peer_new(fake_context(0), &peer), 0);
	ck_assert_ptr_nonnull(peer);
	ck_assert_str_eq(fake_trace(), "ibv_query_device_ex ibv_alloc_pd");
	ck_assert_int_eq(rpma_peer_delete(&peer), 0);
	ck_assert_ptr_null(peer);
	ck_assert_int_eq(rpma_peer_delete(&peer), 0);
	ck_assert_uint_eq(fixture_logs(), 0);
}
END_TEST

START_TEST(test_new_invalid)
{
	struct rpma_peer *peer = UNTOUCHED(struct rpma_peer);

	ck_assert_int_eq(rpma_peer_new(NULL, &peer), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_new(fake_context(0), NULL), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_delete(NULL), RPMA_E_INVAL);
	ck_assert_ptr_eq(peer, UNTOUCHED(struct rpma_peer));
	ck_assert_str_eq(fake_trace(), "");
}
END_TEST

/* clang-format off */
static const struct {
	const char *call;
	int errnum;
	int ret;
} new_failures[] = {
	{ "ibv_query_device_ex", EIO, RPMA_E_PROVIDER },
	{ "ibv_query_device_ex", ENOMEM, RPMA_E_PROVIDER },
	{ "ibv_alloc_pd", EMFILE, RPMA_E_PROVIDER },
	{ "ibv_alloc_pd", ENOMEM, RPMA_E_NOMEM },
};
/* clang-format on */

START_TEST(test_new_fails)
{
	struct rpma_peer *peer = UNTOUCHED(struct rpma_peer);

	fake_fail_call(new_failures[_i].call, 1, new_failures[_i].errnum);
	ck_assert_int_eq(rpma_peer_new(fake_context(0), &peer), new_failures[_i].ret);
	ck_assert_int_eq(rpma_err_last_errno(), new_failures[_i].errnum);
	ck_assert_ptr_eq(peer, UNTOUCHED(struct rpma_peer));
	ck_assert_uint_eq(fixture_logs(), 1);
}
END_TEST

START_TEST(test_new_nomem)
{
	struct rpma_peer *peer = UNTOUCHED(struct rpma_peer);

	fake_alloc_fail_nth(1);
	ck_assert_int_eq(rpma_peer_new(fake_context(0), &peer), RPMA_E_NOMEM);
	ck_assert_int_eq(rpma_err_last_errno(), ENOMEM);
	ck_assert_ptr_eq(peer, UNTOUCHED(struct rpma_peer));
}
END_TEST

/* The peer is gone even when its protection domain could not be given back. */
START_TEST(test_delete_fails)
{
	struct rpma_peer *peer = NULL;

	ck_assert_int_eq(rpma_peer_new(fake_context(0), &peer), 0);
	fake_fail_call("ibv_dealloc_pd", 1, EBUSY);
	errno = ENOENT; /* of no meaning here, but it used to be what was logged */
	assert_provider(rpma_peer_delete(&peer), EBUSY);
	ck_assert_ptr_null(peer);
	ck_assert_str_eq(fixture_last_log(),
	    "ibv_dealloc_pd() failed: Device or resource busy\n");
}
END_TEST

START_TEST(test_limits)
{
	struct rpma_peer_limits limits;

	fake_options()->max_srq_wr = 0;
	fake_options()->max_cqe = 1000;
	fake_options()->max_qp_wr = 64;
	fake_options()->max_qp = 32;
	ck_assert_int_eq(rpma_peer_get_limits(fixture_peer(), &limits), 0);
	ck_assert_str_eq(limits.device, "fake0");
	ck_assert_uint_eq(limits.node_guid, 0x0200f4fe00000000u);
	ck_assert_uint_eq(limits.vendor_id, 0xfafa);
	ck_assert_uint_eq(limits.vendor_part_id, 1);
	ck_assert(!limits.is_iwarp);
	ck_assert_uint_eq(limits.ports, 1);
	ck_assert_uint_eq(limits.max_srq, 0);
	ck_assert_uint_eq(limits.max_srq_wr, 0);
	ck_assert_uint_eq(limits.max_cqe, 1000);
	ck_assert_uint_eq(limits.max_qp_wr, 64);
	ck_assert_uint_eq(limits.max_qp, 32);
	ck_assert_uint_eq(limits.max_mr_bytes, UINT64_MAX);
}
END_TEST

START_TEST(test_limits_iwarp)
{
	struct rpma_peer_limits limits;
	struct rpma_peer *peer = NULL;

	fake_set_kind(FAKE_IWARP);
	ck_assert_int_eq(rpma_peer_new(fake_context(0), &peer), 0);
	ck_assert_int_eq(rpma_peer_get_limits(peer, &limits), 0);
	ck_assert(limits.is_iwarp);
	ck_assert_int_eq(rpma_peer_delete(&peer), 0);
}
END_TEST

START_TEST(test_limits_fail)
{
	struct rpma_peer_limits limits = { .ports = 77 };

	ck_assert_int_eq(rpma_peer_get_limits(NULL, &limits), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_get_limits(fixture_peer(), NULL), RPMA_E_INVAL);
	fake_fail_call("ibv_query_device", 1, EIO);
	assert_provider(rpma_peer_get_limits(fixture_peer(), &limits), EIO);
	ck_assert_uint_eq(limits.ports, 77);
}
END_TEST

START_TEST(test_port)
{
	struct rpma_peer_port port = { .max_msg_bytes = 77 };

	ck_assert_int_eq(rpma_peer_get_port(NULL, 1, &port), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_get_port(fixture_peer(), 0, &port), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_get_port(fixture_peer(), 1, NULL), RPMA_E_INVAL);
	assert_provider(rpma_peer_get_port(fixture_peer(), 2, &port), EINVAL);
	ck_assert_uint_eq(port.max_msg_bytes, 77);
	ck_assert_int_eq(rpma_peer_get_port(fixture_peer(), 1, &port), 0);
	ck_assert_int_eq(port.state, IBV_PORT_ACTIVE);
	ck_assert_uint_eq(port.max_msg_bytes, 1u << 30);
	ck_assert_uint_eq(port.active_mtu_bytes, 1024);
	fake_options()->port_state = IBV_PORT_DOWN;
	ck_assert_int_eq(rpma_peer_get_port(fixture_peer(), 1, &port), 0);
	ck_assert_int_eq(port.state, IBV_PORT_DOWN);
}
END_TEST

enum about {
	ABOUT_NOTHING,
	ABOUT_QP,
	ABOUT_PORT,
};

/* clang-format off */
static const struct {
	enum ibv_event_type type;
	enum rpma_async_kind kind;
	enum about about;
} async_events[] = {
	{ IBV_EVENT_CQ_ERR, RPMA_ASYNC_CQ_ERR, ABOUT_NOTHING },
	{ IBV_EVENT_QP_FATAL, RPMA_ASYNC_QP_FATAL, ABOUT_QP },
	{ IBV_EVENT_QP_REQ_ERR, RPMA_ASYNC_QP_FATAL, ABOUT_QP },
	{ IBV_EVENT_QP_ACCESS_ERR, RPMA_ASYNC_QP_FATAL, ABOUT_QP },
	{ IBV_EVENT_COMM_EST, RPMA_ASYNC_OTHER, ABOUT_QP },
	{ IBV_EVENT_SQ_DRAINED, RPMA_ASYNC_OTHER, ABOUT_QP },
	{ IBV_EVENT_PATH_MIG, RPMA_ASYNC_OTHER, ABOUT_QP },
	{ IBV_EVENT_PATH_MIG_ERR, RPMA_ASYNC_OTHER, ABOUT_QP },
	{ IBV_EVENT_DEVICE_FATAL, RPMA_ASYNC_DEVICE_FATAL, ABOUT_NOTHING },
	{ IBV_EVENT_PORT_ACTIVE, RPMA_ASYNC_PORT_ACTIVE, ABOUT_PORT },
	{ IBV_EVENT_PORT_ERR, RPMA_ASYNC_PORT_ERR, ABOUT_PORT },
	{ IBV_EVENT_LID_CHANGE, RPMA_ASYNC_OTHER, ABOUT_PORT },
	{ IBV_EVENT_PKEY_CHANGE, RPMA_ASYNC_OTHER, ABOUT_PORT },
	{ IBV_EVENT_SM_CHANGE, RPMA_ASYNC_OTHER, ABOUT_PORT },
	{ IBV_EVENT_SRQ_ERR, RPMA_ASYNC_SRQ_ERR, ABOUT_NOTHING },
	{ IBV_EVENT_SRQ_LIMIT_REACHED, RPMA_ASYNC_SRQ_LIMIT, ABOUT_NOTHING },
	{ IBV_EVENT_QP_LAST_WQE_REACHED, RPMA_ASYNC_LAST_WQE, ABOUT_QP },
	{ IBV_EVENT_CLIENT_REREGISTER, RPMA_ASYNC_OTHER, ABOUT_PORT },
	{ IBV_EVENT_GID_CHANGE, RPMA_ASYNC_OTHER, ABOUT_PORT },
	{ IBV_EVENT_WQ_FATAL, RPMA_ASYNC_OTHER, ABOUT_NOTHING },
};
/* clang-format on */

START_TEST(test_async_event)
{
	struct rpma_conn *conn = fixture_connect(NULL);
	uint32_t qp_num = fixture_qp_num(conn);
	struct rpma_async_event event;
	enum about about = async_events[_i].about;

	fake_async_event(0, (int)async_events[_i].type, about == ABOUT_QP ? qp_num : 0,
	    about == ABOUT_PORT);
	ck_assert_int_eq(rpma_peer_next_async_event(fixture_peer(), &event), 0);
	ck_assert_int_eq(event.kind, async_events[_i].kind);
	ck_assert_int_eq(event.ibv_type, async_events[_i].type);
	ck_assert_uint_eq(event.qp_num, about == ABOUT_QP ? qp_num : 0);
	ck_assert_uint_eq(event.port_num, about == ABOUT_PORT);
	ck_assert_uint_eq(fake_live(FAKE_ASYNC_EVENT), 0);
	ck_assert_int_eq(rpma_peer_next_async_event(fixture_peer(), &event),
	    RPMA_E_NO_EVENT);
	ck_assert_int_eq(rpma_conn_delete(&conn), 0);
}
END_TEST

/* Never blocks, whatever the descriptor was before. */
START_TEST(test_async_empty)
{
	struct rpma_async_event event = { .qp_num = 77 };

	ck_assert_int_eq(fcntl(fake_context(0)->async_fd, F_GETFL) & O_NONBLOCK, 0);
	ck_assert_int_eq(rpma_peer_next_async_event(fixture_peer(), &event),
	    RPMA_E_NO_EVENT);
	ck_assert_uint_eq(event.qp_num, 77);
	ck_assert_int_ne(fcntl(fake_context(0)->async_fd, F_GETFL) & O_NONBLOCK, 0);
	ck_assert_int_eq(rpma_peer_next_async_event(NULL, &event), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_next_async_event(fixture_peer(), NULL),
	    RPMA_E_INVAL);
	ck_assert_uint_eq(fixture_logs(), 0);
}
END_TEST

START_TEST(test_async_fails)
{
	struct rpma_async_event event = { .qp_num = 77 };

	fake_async_event(0, IBV_EVENT_SM_CHANGE, 0, 1);
	fake_fail_call("ibv_get_async_event", 1, EIO);
	assert_provider(rpma_peer_next_async_event(fixture_peer(), &event), EIO);
	ck_assert_uint_eq(event.qp_num, 77);
	fake_fail_call("ibv_get_async_event", 1, EINTR);
	ck_assert_int_eq(rpma_peer_next_async_event(fixture_peer(), &event), 0);
	ck_assert_int_eq(event.ibv_type, IBV_EVENT_SM_CHANGE);
}
END_TEST

START_TEST(test_async_fd)
{
	int fd = -77;

	ck_assert_int_eq(rpma_peer_get_async_fd(NULL, &fd), RPMA_E_INVAL);
	ck_assert_int_eq(rpma_peer_get_async_fd(fixture_peer(), NULL), RPMA_E_INVAL);
	ck_assert_int_eq(fd, -77);
	ck_assert_int_eq(rpma_peer_get_async_fd(fixture_peer(), &fd), 0);
	ck_assert_int_eq(fd, fake_context(0)->async_fd);
	ck_assert_int_ne(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
	ck_assert_int_eq(poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 0), 0);
	fake_async_event(0, IBV_EVENT_SM_CHANGE, 0, 1);
	ck_assert_int_eq(poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 0), 1);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_peer");
	TCase *tc = fixture_case(suite, "life");

	tcase_add_test(tc, test_new);
	tcase_add_test(tc, test_new_invalid);
	tcase_add_loop_test(tc, test_new_fails, 0,
	    sizeof(new_failures) / sizeof(new_failures[0]));
	tcase_add_test(tc, test_new_nomem);
	tcase_add_test(tc, test_delete_fails);
	tc = fixture_case(suite, "limits");
	tcase_add_test(tc, test_limits);
	tcase_add_test(tc, test_limits_iwarp);
	tcase_add_test(tc, test_limits_fail);
	tcase_add_test(tc, test_port);
	tc = fixture_case(suite, "async");
	tcase_add_loop_test(tc, test_async_event, 0,
	    sizeof(async_events) / sizeof(async_events[0]));
	tcase_add_test(tc, test_async_empty);
	tcase_add_test(tc, test_async_fails);
	tcase_add_test(tc, test_async_fd);
	return harness_run(suite);
}
