/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completions that are still unread when their connection ends are not taken for those of
 * the next one, although that has the same queue pair number.
 */
#include <config.h>

#include <netinet/in.h>
#include <string.h>

#include "lib/core/addr.h"
#include "tests/unit/engine_rig.h"
#include "tests/unit/harness.h"

static struct rig rig;

static void
set_up(void)
{
	fake_reset();
	rig_settings(&rig);
}

static bool
has_messages(struct rig *r, void *arg)
{
	return rig_stats(r).messages == *(const unsigned int *)arg;
}

/* The next connection, from or to 192.0.2.2. */
static struct fake_peer *
next_peer(bool is_dialled)
{
	struct rig_done done = { .calls = 0 };
	struct sockaddr_storage addr;

	if (!is_dialled) {
		(void)fake_peer_connect_from("192.0.2.2", rig_port(&rig), NULL, 0);
		rig_settle(&rig);
		return fake_peer_last();
	}
	fake_dial_script("192.0.2.2", 0, 0, FAKE_DIAL_ACCEPT, 0, NULL, 0);
	ck_assert_int_eq(addr_parse("192.0.2.2", 7471, &addr, &rig.err), 0);
	engine_conn_open(rig.engine, &addr, 1000, rig_done, &done);
	ck_assert(rig_wait(&rig, &done));
	ck_assert(!done.failed);
	return fake_peer_last();
}

static void
expect_from(const char *text, uint64_t conn, const char *peer)
{
	struct ledger_message message = rig_expect(&rig, text);
	struct sockaddr_storage addr = { 0 };
	char ip[ADDR_TEXT_MAX];

	ck_assert_uint_eq(message.arrival.conn, conn);
	memcpy(&addr, &message.arrival.peer, sizeof(message.arrival.peer));
	ck_assert_str_eq(addr_format_ip(&addr, ip, sizeof(ip)), peer);
}

/*
 * A driver completes a message when its queue pair is destroyed, the event of that is lost,
 * and the next connection gets the same number. _i: that one is dialled.
 */
START_TEST(test_reused_qp_num)
{
	struct fake_peer *first, *second;
	unsigned int two = 2;
	uint32_t qp_num;

	fake_set_kind(FAKE_RXE);
	fake_options()->reuse_qp_num = true;
	fake_options()->late_at_destroy = true;
	ck_assert_int_eq(rig_start(&rig), 0);
	first = fake_peer_connect_from("192.0.2.1", rig_port(&rig), NULL, 0);
	rig_settle(&rig);
	qp_num = fake_peer_qp_num(first);
	ck_assert_int_ge(rig_send(first, "of the first"), 0);
	fake_peer_disconnect(first);
	fake_lose_notify(1);
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	ck_assert_uint_eq(rig_stats(&rig).messages, 0);

	fake_options()->late_at_destroy = false;
	second = next_peer(_i);
	ck_assert_uint_eq(fake_peer_qp_num(second), qp_num);
	ck_assert_int_ge(rig_send(second, "of the second"), 0);
	ck_assert(rig_until(&rig, has_messages, &two));
	expect_from("of the first", 1, "192.0.2.1");
	expect_from("of the second", 2, "192.0.2.2");
	ck_assert_uint_eq(rig_conn(&rig, 1).messages, 1);
	ck_assert_uint_eq(rig_conn(&rig, 1).held, 1);
	ck_assert_str_eq(rig_conn(&rig, 1).reason, "peer");
	ck_assert_uint_eq(rig_conn(&rig, 2).messages, 1);
	ck_assert_uint_eq(rig_conn(&rig, 2).held, 1);
	ck_assert_uint_eq(rig_stats(&rig).late, 1);
	rig_end(&rig);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("engine_late");
	TCase *tc = tcase_create("engine_late");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_loop_test(tc, test_reused_qp_num, 0, 2);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
