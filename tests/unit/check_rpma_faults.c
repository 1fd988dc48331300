/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_rpma_faults.c: whole lives of objects, in which the n-th call of the provider,
 * or the n-th allocation, fails, for every n: always an error, never a leak.
 */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/fake/fake_alloc.h"
#include "tests/unit/rpma_fixture.h"

/* Lives longer than this are taken for endless. */
#define CALLS_MAX 200

/*
 * Lives make no assertions, because those allocate memory, too. Keep the first failure
 * of two.
 */
static int
first(int ret, int next)
{
	return ret ? ret : next;
}

static int
life_of_peer(void)
{
	struct rpma_peer *peer = NULL;
	int ret = rpma_peer_new(fake_context(0), &peer);

	return first(ret, rpma_peer_delete(&peer));
}

static int
life_of_device(void)
{
	struct ibv_context *context = NULL;
	int odp;
	int ret;

	ret = rpma_utils_get_ibv_context(FIXTURE_ADDR, RPMA_UTIL_IBV_CONTEXT_LOCAL,
	    &context);
	ret = first(ret,
	    rpma_utils_get_ibv_context(FIXTURE_ADDR, RPMA_UTIL_IBV_CONTEXT_REMOTE,
		&context));
	ret = first(ret, rpma_utils_ibv_context_by_name("fake0", &context));
	return first(ret, rpma_utils_ibv_context_is_odp_capable(fake_context(0), &odp));
}

static int
life_of_mr(void)
{
	struct rpma_mr_local *mr = NULL;
	int ret =
	    rpma_mr_reg(fixture_peer(), fixture_memory(), 64, RPMA_MR_USAGE_RECV, &mr);

	return first(ret, rpma_mr_dereg(&mr));
}

static int
life_of_peer_cfg(void)
{
	struct rpma_peer_cfg *pcfg = NULL;
	struct rpma_peer_cfg *copy = NULL;
	char desc = 0;
	int ret = rpma_peer_cfg_new(&pcfg);

	if (!ret)
		ret = rpma_peer_cfg_get_descriptor(pcfg, &desc);
	if (!ret)
		ret = rpma_peer_cfg_from_descriptor(&desc, 1, &copy);
	ret = first(ret, rpma_peer_cfg_delete(&copy));
	return first(ret, rpma_peer_cfg_delete(&pcfg));
}

/* Everything that is done to a remote region, once. */
static int
use_remote(struct rpma_conn *conn, struct rpma_mr_local *mr,
    struct rpma_mr_remote *remote)
{
	int always = RPMA_F_COMPLETION_ALWAYS;
	int ret = rpma_mr_advise(mr, 0, 8, IBV_ADVISE_MR_ADVICE_PREFETCH, 0);

	if (!ret)
		ret = rpma_read(conn, mr, 0, remote, 0, 8, always, NULL);
	if (!ret)
		ret = rpma_write(conn, remote, 0, mr, 0, 8, always, NULL);
	if (!ret)
		ret = rpma_write_with_imm(conn, remote, 0, mr, 0, 8, always, 1, NULL);
	if (!ret)
		ret = rpma_atomic_write(conn, remote, 0, "01234567", always, NULL);
	if (!ret)
		ret = rpma_flush(conn, remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, always,
		    NULL);
	return ret;
}

/* Remote memory over a connection that leaves to the device what it can do. */
static int
remote_memory(struct rpma_peer *peer, struct rpma_conn_cfg *cfg)
{
	struct rpma_mr_remote *remote = NULL;
	struct rpma_mr_local *mr = NULL;
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;
	enum rpma_conn_event event;
	char desc[21];
	int ret;

	fake_dial_script(FIXTURE_ADDR, 0, 0, FAKE_DIAL_ACCEPT, 0, NULL, 0);
	ret = rpma_mr_reg(peer, fixture_memory(), 64, 0xff, &mr);
	if (!ret)
		ret = rpma_mr_get_descriptor(mr, desc);
	if (!ret)
		ret = rpma_mr_remote_from_descriptor(desc, sizeof(desc), &remote);
	if (!ret)
		ret =
		    rpma_conn_req_new(peer, FIXTURE_ADDR, FIXTURE_PORT_STR, cfg, &req);
	if (!ret)
		ret = rpma_conn_req_connect(&req, NULL, &conn);
	if (!ret)
		ret = rpma_conn_next_event(conn, &event);
	if (!ret)
		ret = use_remote(conn, mr, remote);
	ret = first(ret, rpma_conn_delete(&conn));
	ret = first(ret, rpma_mr_remote_delete(&remote));
	return first(ret, rpma_mr_dereg(&mr));
}

static int
life_of_remote(void)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_peer *peer = NULL;
	int ret;

	fake_options()->odp = true;
	fake_options()->native_atomic_write = true;
	ret = rpma_conn_cfg_new(&cfg);
	if (!ret)
		ret = rpma_conn_cfg_set_native_ops(cfg, RPMA_NATIVE_ATOMIC_WRITE);
	if (!ret)
		ret = rpma_peer_new(fake_context(0), &peer);
	if (!ret)
		ret = remote_memory(peer, cfg);
	ret = first(ret, rpma_conn_cfg_delete(&cfg));
	return first(ret, rpma_peer_delete(&peer));
}

static int
life_of_cq(void)
{
	struct rpma_cq *cq = NULL;
	int ret = rpma_cq_new(fixture_peer(), 20, &cq);

	return first(ret, rpma_cq_delete(&cq));
}

static int
life_of_srq(void)
{
	struct rpma_srq *srq = NULL;
	int ret = rpma_srq_new(fixture_peer(), NULL, &srq);

	if (!ret)
		ret = rpma_srq_recv(srq, NULL, 0, 0, NULL);
	if (!ret)
		ret = rpma_srq_set_limit(srq, 1);
	return first(ret, rpma_srq_delete(&srq));
}

/* With everything that a connection can have of its own. */
static int
rich_cfg(struct rpma_conn_cfg **cfg)
{
	int ret = rpma_conn_cfg_new(cfg);

	if (!ret) {
		(void)rpma_conn_cfg_set_rcq_size(*cfg, 10);
		(void)rpma_conn_cfg_set_compl_channel(*cfg, true);
	}
	return ret;
}

/* Take the event that says that a connection stands. */
static int
established(struct rpma_conn *conn)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	int ret = rpma_conn_next_event(conn, &event);

	return ret || event == RPMA_CONN_ESTABLISHED ? ret : RPMA_E_UNKNOWN;
}

static int
life_of_active(const struct rpma_conn_cfg *cfg)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;
	int ret;

	fake_dial_script(FIXTURE_ADDR, 0, 0, FAKE_DIAL_ACCEPT, 0, NULL, 0);
	ret = rpma_conn_req_new(fixture_peer(), FIXTURE_ADDR, FIXTURE_PORT_STR, cfg,
	    &req);
	if (!ret)
		ret = rpma_conn_req_connect(&req, NULL, &conn);
	if (!ret)
		ret = established(conn);
	if (!ret)
		ret = rpma_conn_disconnect(conn);
	if (!ret)
		ret = rpma_conn_drain(conn);
	if (req) /* used up, whatever the result */
		ret = RPMA_E_INVAL;
	return first(ret, rpma_conn_delete(&conn));
}

static int
life_of_conn(void)
{
	return life_of_active(NULL);
}

static int
life_of_rich_conn(void)
{
	struct rpma_conn_cfg *cfg = NULL;
	int ret = rich_cfg(&cfg);

	if (!ret)
		ret = life_of_active(cfg);
	return first(ret, rpma_conn_cfg_delete(&cfg));
}

/* One client accepted, one refused. */
static int
life_of_ep(void)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;
	struct rpma_ep *ep = NULL;
	int ret = rpma_ep_listen(fixture_peer(), FIXTURE_ADDR, FIXTURE_PORT_STR, &ep);

	if (!ret) {
		(void)fake_peer_connect(FIXTURE_PORT, NULL, 0);
		(void)fake_peer_connect(FIXTURE_PORT, NULL, 0);
		ret = rpma_ep_next_conn_req(ep, NULL, &req);
	}
	if (!ret)
		ret = rpma_conn_req_connect(&req, NULL, &conn);
	if (!ret)
		ret = established(conn);
	if (!ret)
		ret = rpma_ep_next_conn_req(ep, NULL, &req);
	ret = first(ret, rpma_conn_req_delete(&req));
	ret = first(ret, rpma_conn_delete(&conn));
	return first(ret, rpma_ep_shutdown(&ep));
}

/* Take one event of a channel, which must be of a kind. */
static int
expect(struct rpma_cm *cm, enum rpma_cm_event_kind kind, struct rpma_conn_req **req)
{
	struct rpma_cm_event event;
	int ret = rpma_cm_next_event(cm, &event);

	if (ret)
		return ret;
	if (req)
		*req = event.req;
	return event.kind == kind ? 0 : RPMA_E_UNKNOWN;
}

/* One client accepted, one refused, one dial. */
static int
life_of_cm(void)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conns[2] = { NULL, NULL };
	struct rpma_cm *cm = NULL;
	struct rpma_ep *ep = NULL;
	struct sockaddr *addr = fixture_sockaddr(FIXTURE_ADDR, FIXTURE_PORT);
	int ret = rpma_cm_new(&cm);

	if (!ret)
		ret = rpma_cm_listen(cm, fixture_peer(), addr, 0, &ep);
	if (!ret) {
		(void)fake_peer_connect(FIXTURE_PORT, NULL, 0);
		ret = expect(cm, RPMA_CM_REQUEST, &req);
	}
	if (!ret)
		ret = rpma_cm_accept(&req, NULL, NULL, &conns[0]);
	if (!ret)
		ret = expect(cm, RPMA_CM_ESTABLISHED, NULL);
	if (!ret) {
		(void)fake_peer_connect(FIXTURE_PORT, NULL, 0);
		ret = expect(cm, RPMA_CM_REQUEST, &req);
	}
	if (!ret)
		ret = rpma_cm_reject(&req, NULL);
	if (!ret) {
		fake_dial_script(FIXTURE_ADDR, 1, 0, FAKE_DIAL_ACCEPT, 0, NULL, 0);
		addr = fixture_sockaddr(FIXTURE_ADDR, 1);
		ret = rpma_cm_dial(cm, fixture_peer(), addr, NULL, 1, NULL, &conns[1]);
	}
	if (!ret)
		ret = expect(cm, RPMA_CM_ESTABLISHED, NULL);
	ret = first(ret, rpma_conn_delete(&conns[0]));
	ret = first(ret, rpma_conn_delete(&conns[1]));
	ret = first(ret, rpma_ep_shutdown(&ep));
	return first(ret, rpma_cm_delete(&cm));
}

/* clang-format off */
static const struct {
	const char *name;
	int (*live)(void);
	int calls_min; /* fewer would not be a test */
} lives[] = {
	{ "peer", life_of_peer, 3 },
	{ "device", life_of_device, 8 },
	{ "mr", life_of_mr, 2 },
	{ "peer cfg", life_of_peer_cfg, 0 },
	{ "remote", life_of_remote, 28 },
	{ "cq", life_of_cq, 5 },
	{ "srq", life_of_srq, 9 },
	{ "conn", life_of_conn, 15 },
	{ "rich conn", life_of_rich_conn, 17 },
	{ "ep", life_of_ep, 30 },
	{ "cm", life_of_cm, 35 },
};
/* clang-format on */

#define LIVES ((int)(sizeof(lives) / sizeof(lives[0])))

/* Nothing but the fixture's peer may be left. */
static void
check_clean(int i, unsigned int n)
{
	ck_assert_msg(!strcmp(fake_leaks(), "pd 1"), "%s, %u: %s", lives[i].name, n,
	    fake_leaks());
	ck_assert_msg(!strcmp(fake_misuse(), ""), "%s, %u: %s", lives[i].name, n,
	    fake_misuse());
}

START_TEST(test_calls)
{
	unsigned int n;
	int ret;

	for (n = 1; n < CALLS_MAX; n++) {
		fake_fail_nth(n, EIO);
		ret = lives[_i].live();
		if (!fake_fired())
			break;
		fake_fail_nth(0, 0);
		ck_assert_msg(ret == RPMA_E_PROVIDER || ret == RPMA_E_UNKNOWN,
		    "%s, call %u: %d", lives[_i].name, n, ret);
		check_clean(_i, n);
	}
	fake_fail_nth(0, 0);
	ck_assert_int_eq(ret, 0);
	ck_assert_int_gt((int)n, lives[_i].calls_min);
	ck_assert_int_lt((int)n, CALLS_MAX);
}
END_TEST

START_TEST(test_allocations)
{
	unsigned int n;
	int ret;

	for (n = 1; n < CALLS_MAX; n++) {
		fake_alloc_fail_nth(n);
		ret = lives[_i].live();
		if (!fake_alloc_fired())
			break;
		fake_alloc_fail_nth(0);
		ck_assert_msg(ret == RPMA_E_NOMEM || ret == RPMA_E_UNKNOWN,
		    "%s, allocation %u: %d", lives[_i].name, n, ret);
		check_clean(_i, n);
	}
	fake_alloc_fail_nth(0);
	ck_assert_int_eq(ret, 0);
	ck_assert_int_lt((int)n, CALLS_MAX);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_faults");
	TCase *tc = fixture_case(suite, "faults");

	tcase_add_loop_test(tc, test_calls, 0, LIVES);
	tcase_add_loop_test(tc, test_allocations, 0, LIVES);
	return harness_run(suite);
}
