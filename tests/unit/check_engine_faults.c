/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What devices and peers do that they should not, or seldom do: storms of flushes and of
 * connections, events twice and too early; and what the daemon says of a stall.
 */
#include <config.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/engine_impl.h"
#include "lib/core/log.h"
#include "lib/rpma/librpma.h"
#include "tests/unit/engine_rig.h"
#include "tests/unit/harness.h"

#define STORM         300u
#define STORM_TURN    64u /* requests that are served before others have their turn */
#define STORM_TURNS   (STORM / STORM_TURN + 1)
#define SENTENCES_MAX 4u

static struct rig rig;

static void
set_up(void)
{
	fake_reset();
	rig_settings(&rig);
}

/*
 * A driver that flushes what its SRQ holds: the slots are free again and are posted again;
 * it is no failure, and nobody's end.
 */
START_TEST(test_storm_of_flushes)
{
	struct fake_peer *peer;
	struct engine_stats stats;
	uint32_t slot;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	for (slot = 0; slot < rig.settings.pool_slots; slot++)
		if (ledger_state(engine_ledger(rig.engine), slot) == SLOT_POSTED)
			fake_inject_wc(fake_peer_qp_num(peer), slot,
			    IBV_WC_WR_FLUSH_ERR);
	rig_settle(&rig);
	stats = rig_stats(&rig);
	ck_assert_uint_eq(stats.flushed, 16);
	ck_assert_uint_eq(stats.dropped, 0);
	ck_assert_uint_eq(stats.recv_error_count, 0);
	ck_assert_uint_eq(stats.messages, 0);
	ck_assert_uint_eq(stats.slots.posted, 16);
	ck_assert_uint_eq(stats.slots.free, 16);
	ck_assert_uint_eq(stats.posted, 32);
	ck_assert_int_eq(rig_conn(&rig, 1).state, CONN_ESTABLISHED);
	/* Those of a slot that is not posted change nothing and are counted. */
	ck_assert_int_eq(rig_conn(&rig, 1).errors, 0);
	for (slot = 0; slot < 20; slot++)
		fake_inject_wc(fake_peer_qp_num(peer), 1000 + slot,
		    IBV_WC_WR_FLUSH_ERR);
	rig_settle(&rig);
	stats = rig_stats(&rig);
	ck_assert_uint_eq(stats.dropped, 20);
	ck_assert_uint_eq(stats.drop_count, 1);
	ck_assert_uint_eq(rig_named(stats.drops, 1, "error_not_posted"), 20);
	ck_assert_uint_eq(stats.slots.posted, 16);
	rig_end(&rig);
}
END_TEST

static uint32_t
slot_in(enum slot_state state)
{
	uint32_t slot = 0;

	while (ledger_state(engine_ledger(rig.engine), slot) != state)
		slot++;
	return slot;
}

/* What no driver should say is no message; each kind is counted by its reason. */
START_TEST(test_impossible_completions)
{
	struct ledger_message none;
	struct engine_stats stats;
	uint32_t qp_num;

	ck_assert_int_eq(rig_start(&rig), 0);
	qp_num = fake_peer_qp_num(rig_peer(&rig));
	fake_inject_bytes(qp_num, slot_in(SLOT_FREE), 8);
	fake_inject_bytes(qp_num, rig.settings.pool_slots, 8);
	fake_inject_bytes(qp_num, UINT64_MAX, 8);
	fake_inject_bytes(qp_num, slot_in(SLOT_POSTED),
	    rig.settings.pool_slot_size + 1);
	fake_inject_wc(qp_num, UINT64_MAX, IBV_WC_WR_FLUSH_ERR);
	fake_inject_wc(qp_num, slot_in(SLOT_FREE), IBV_WC_WR_FLUSH_ERR);
	rig_settle(&rig);
	stats = rig_stats(&rig);
	ck_assert_uint_eq(stats.dropped, 6);
	ck_assert_uint_eq(stats.drop_count, 3);
	ck_assert_uint_eq(rig_named(stats.drops, 3, "not_posted"), 3);
	ck_assert_uint_eq(rig_named(stats.drops, 3, "too_long"), 1);
	ck_assert_uint_eq(rig_named(stats.drops, 3, "error_not_posted"), 2);
	ck_assert_uint_eq(stats.messages, 0);
	ck_assert(!engine_peek(rig.engine, &none));
	ck_assert_uint_eq(stats.slots.posted, 16);
	/* One that fills its slot is a message. */
	fake_inject_bytes(qp_num, slot_in(SLOT_POSTED), rig.settings.pool_slot_size);
	rig_settle(&rig);
	ck_assert_uint_eq(rig_stats(&rig).messages, 1);
	ck_assert_uint_eq(rig_stats(&rig).dropped, 6);
	rig_end(&rig);
}
END_TEST

/* _i: the end, or the loss, is told before the beginning, which comes late. */
START_TEST(test_end_before_the_beginning)
{
	struct fake_peer *peer;

	fake_options()->auto_rtu = false;
	ck_assert_int_eq(rig_start(&rig), 0);
	peer = fake_peer_connect(rig_port(&rig), NULL, 0);
	rig_settle(&rig);
	ck_assert_int_eq(rig_conn(&rig, 1).state, CONN_ACCEPTING);
	fake_cm_event(fake_id_of_qp(fake_peer_qp_num(peer)),
	    _i ? RDMA_CM_EVENT_CONNECT_ERROR : RDMA_CM_EVENT_DISCONNECTED, 0);
	fake_peer_confirm(peer);
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	ck_assert_str_eq(rig_conn(&rig, 1).reason, _i ? "lost" : "peer");
	ck_assert_uint_eq(rig_stats(&rig).established, 0);
	fake_options()->auto_rtu = true;
	(void)rig_peer(&rig);
	rig_end(&rig);
}
END_TEST

/* An end that is told several times is one end. */
START_TEST(test_end_told_twice)
{
	struct rdma_cm_id *id;
	struct fake_peer *peer;

	fake_options()->timewait_exit = true;
	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	ck_assert_int_ge(rig_send(peer, "kept"), 0);
	id = fake_id_of_qp(fake_peer_qp_num(peer));
	fake_cm_event(id, RDMA_CM_EVENT_DISCONNECTED, 0);
	fake_cm_event(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
	fake_cm_event(id, RDMA_CM_EVENT_DISCONNECTED, 0);
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	ck_assert_uint_eq(rig_stats(&rig).closed, 1);
	ck_assert_str_eq(rig_conn(&rig, 1).reason, "peer");
	(void)rig_expect(&rig, "kept");
	rig_end(&rig);
}
END_TEST

/* All are served, and between them everything else has its turn. */
START_TEST(test_storm_of_connections)
{
	uint64_t accepted = 0;
	unsigned int i, turns = 0;

	rig.settings.conns_max = STORM;
	ck_assert_int_eq(rig_start(&rig), 0);
	for (i = 0; i < STORM; i++)
		ck_assert_ptr_nonnull(fake_peer_connect(rig_port(&rig), NULL, 0));
	while (accepted < STORM) {
		uint64_t before = accepted;

		ck_assert_int_eq(loop_turn(rig.loop, 0), 0);
		accepted = rig_stats(&rig).accepted;
		ck_assert_uint_le(accepted - before, STORM_TURN);
		/* An ESTABLISHED of those before takes its share. */
		ck_assert_uint_le(++turns, 2 * STORM_TURNS);
	}
	rig_settle(&rig);
	ck_assert_uint_eq(rig_stats(&rig).established, STORM);
	ck_assert_uint_eq(rig_stats(&rig).rejected_count, 0);
	for (i = 0; i < STORM; i++)
		fake_peer_disconnect(fake_peer(i));
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	ck_assert_uint_eq(rig_stats(&rig).closed, STORM);
	rig_end(&rig);
}
END_TEST

static bool
is_rebuilt(struct rig *r, void *arg)
{
	(void)arg;
	return engine_state(r->engine) == ENGINE_RUNNING && rig_stats(r).conns == 0;
}

/* All queues are made anew, in order; what had arrived is kept, and in order too. */
START_TEST(test_dead_queue)
{
	static const int events[] = { IBV_EVENT_SRQ_ERR, IBV_EVENT_CQ_ERR };
	struct fake_peer *peer;
	uint16_t port;

	ck_assert_int_eq(rig_start(&rig), 0);
	port = rig_port(&rig);
	peer = rig_peer(&rig);
	ck_assert_int_ge(rig_send(peer, "first"), 0);
	ck_assert_int_ge(rig_send(peer, "second"), 0);
	rig_settle(&rig);
	fake_async_event(0, events[_i], 0, 0);
	rig_settle(&rig);
	ck_assert_str_eq(rig_conn(&rig, 1).reason, "error:QUEUE_FATAL");
	ck_assert(rig_until(&rig, is_rebuilt, NULL));
	rig_settle(&rig);
	ck_assert_uint_eq(fake_made(FAKE_SRQ), 2);
	ck_assert_uint_eq(fake_live(FAKE_SRQ), 1);
	ck_assert_uint_eq(rig_port(&rig), port);
	ck_assert_uint_eq(rig_counts(&rig).posted, 16);
	ck_assert_int_ge(rig_send(rig_peer(&rig), "third"), 0);
	rig_settle(&rig);
	(void)rig_expect(&rig, "first");
	(void)rig_expect(&rig, "second");
	(void)rig_expect(&rig, "third");
	rig_end(&rig);
}
END_TEST

/* A queue pair's own failure is its connection's alone. */
START_TEST(test_dead_queue_pair)
{
	struct fake_peer *bad, *good;

	ck_assert_int_eq(rig_start(&rig), 0);
	bad = rig_peer(&rig);
	good = rig_peer(&rig);
	fake_async_event(0, IBV_EVENT_QP_FATAL, fake_peer_qp_num(bad), 0);
	ck_assert(rig_until(&rig, rig_one_conn, NULL));
	ck_assert_str_eq(rig_conn(&rig, 1).reason, "error:QP_FATAL");
	ck_assert_int_eq(rig_conn(&rig, 2).state, CONN_ESTABLISHED);
	ck_assert_int_ge(rig_send(good, "fine"), 0);
	rig_settle(&rig);
	(void)rig_expect(&rig, "fine");
	rig_end(&rig);
}
END_TEST

static void
send_in_window(void *arg)
{
	(void)rig_send(arg, "window");
}

/* What arrives once the queue is armed is read at once; its event wakes nobody again. */
START_TEST(test_completion_behind_the_arming)
{
	struct fake_peer *peer;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	fake_on_notify(false, send_in_window, peer);
	ck_assert_int_ge(rig_send(peer, "event"), 0);
	rig_settle(&rig);
	ck_assert_uint_eq(rig_stats(&rig).messages, 2);
	ck_assert_uint_eq(rig_stats(&rig).cq_events, 2);
	ck_assert_uint_eq(rig_stats(&rig).cq_empty_wakeups, 0);
	ck_assert_uint_eq(rig_stats(&rig).cq_late, 0);
	rig_end(&rig);
}
END_TEST

static void
count_line(void *arg, enum log_level level, const char *tag, const char *text)
{
	(void)level;
	(void)tag;
	(void)text;
	++*(unsigned int *)arg;
}

/* A descriptor is readable for one turn although nothing is to be read from it. */
static void
wake_in_vain(int fd)
{
	uint64_t value = 1;

	ck_assert_int_eq(write(fd, &value, sizeof(value)), sizeof(value));
	ck_assert_int_eq(loop_turn(rig.loop, 100), 0);
	ck_assert_int_eq(read(fd, &value, sizeof(value)), sizeof(value));
}

/* Being woken for nothing is no failure: not a line, not a change; it is counted at the most. */
START_TEST(test_woken_in_vain)
{
	unsigned int lines = 0, i;
	int cm_fd = -1;

	ck_assert_int_eq(rig_start(&rig), 0);
	(void)rig_peer(&rig);
	ck_assert_int_eq(rpma_cm_get_fd(rig.engine->cm, &cm_fd), 0);
	log_set_level(LOG_LEVEL_DEBUG);
	log_set_sink(count_line, &lines);
	for (i = 0; i < 100; i++) {
		wake_in_vain(rig.engine->recv_cq.fd);
		wake_in_vain(sender_cq(rig.engine->sender)->fd);
		wake_in_vain(cm_fd);
		wake_in_vain(device_async_fd(rig.engine->device));
	}
	log_set_sink(NULL, NULL);
	ck_assert_uint_eq(lines, 0);
	ck_assert_uint_eq(rig_stats(&rig).cq_empty_wakeups, 100);
	ck_assert_uint_eq(rig_stats(&rig).unknown_events, 0);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_RUNNING);
	ck_assert_int_eq(rig_conn(&rig, 1).state, CONN_ESTABLISHED);
	rig_end(&rig);
}
END_TEST

static bool
has_polled(struct rig *r, void *arg)
{
	(void)r;
	return fake_called("ibv_poll_cq") >= *(unsigned int *)arg;
}

/* With nothing to do it says nothing, and looks at both queues once a second. */
START_TEST(test_idle)
{
	unsigned int lines = 0, before, wanted;
	uint64_t start_ns, seconds;

	ck_assert_int_eq(rig_start(&rig), 0);
	(void)rig_peer(&rig);
	log_set_level(LOG_LEVEL_DEBUG);
	log_set_sink(count_line, &lines);
	before = fake_called("ibv_poll_cq");
	wanted = before + 4;
	start_ns = loop_now_ns();
	ck_assert(rig_until(&rig, has_polled, &wanted));
	seconds = (loop_now_ns() - start_ns) / 1000000000;
	log_set_sink(NULL, NULL);
	ck_assert_uint_eq(lines, 0);
	/* The first look is due within a second. */
	ck_assert_uint_le(fake_called("ibv_poll_cq") - before, 2 * (seconds + 1));
	rig_end(&rig);
}
END_TEST

struct sentences {
	char list[SENTENCES_MAX][256];
	unsigned int count;
};

static void
keep_sentence(void *arg, const char *sentence)
{
	struct sentences *sentences = arg;

	ck_assert_uint_lt(sentences->count, SENTENCES_MAX);
	(void)snprintf(sentences->list[sentences->count++], 256, "%s", sentence);
}

static struct sentences
warnings(void)
{
	struct sentences sentences = { .count = 0 };

	engine_warnings(rig.engine, keep_sentence, &sentences);
	return sentences;
}

/* The device's word that receives run short changes nothing: the daemon counts for itself. */
START_TEST(test_limit_event)
{
	struct fake_peer *peer;
	unsigned int i;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	for (i = 0; i < 20; i++)
		fake_async_event(0, IBV_EVENT_SRQ_LIMIT_REACHED, 0, 0);
	rig_settle(&rig);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_RUNNING);
	ck_assert_int_eq(rig_conn(&rig, 1).state, CONN_ESTABLISHED);
	ck_assert_uint_eq(rig_counts(&rig).posted, 16);
	ck_assert_uint_eq(rig_stats(&rig).times_low, 0);
	ck_assert_uint_eq(warnings().count, 0);
	ck_assert_int_ge(rig_send(peer, "fine"), 0);
	rig_settle(&rig);
	(void)rig_expect(&rig, "fine");
	rig_end(&rig);
}
END_TEST

/* Senders stood still: for how long and what to do, while it lasts and a minute after. */
START_TEST(test_stall_in_words)
{
	struct ledger_message message;
	struct sentences said;
	struct fake_peer *peer;
	unsigned int i;

	ck_assert_int_eq(rig_start(&rig), 0);
	peer = rig_peer(&rig);
	ck_assert_uint_eq(warnings().count, 0);
	for (i = 0; i < 33; i++) {
		ck_assert_int_ge(rig_send(peer, "x"), 0);
		rig_settle(&rig);
	}
	rig_turn_ms(&rig, 150);
	said = warnings();
	ck_assert_uint_eq(said.count, 1);
	ck_assert_ptr_nonnull(strstr(said.list[0], "SRQ is empty now, was empty 0."));
	ck_assert_ptr_nonnull(strstr(said.list[0], "in the last minute"));
	ck_assert_ptr_nonnull(strstr(said.list[0],
	    "raise pool.slots or acknowledge faster"));
	message = rig_expect(&rig, "x");
	rig_ack(&rig, &message);
	message = rig_expect(&rig, "x");
	rig_ack(&rig, &message);
	rig_settle(&rig);
	said = warnings();
	ck_assert_uint_eq(said.count, 1);
	ck_assert_ptr_nonnull(strstr(said.list[0], "SRQ empty 0."));
	/* It is said as long also of one that has waited, and left. */
	fake_peer_disconnect(peer);
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	ck_assert_uint_eq(warnings().count, 1);
	rig_turn_ms(&rig, 1500);
	ck_assert_uint_eq(warnings().count, 1);
	rig_end(&rig);
}
END_TEST

/* Where nothing is posted by itself, that is what to do. */
START_TEST(test_stall_of_manual_refill)
{
	struct sentences said;
	struct fake_peer *peer;

	rig.settings.refill = REFILL_MANUAL;
	ck_assert_int_eq(rig_start(&rig), 0);
	rig_turn_ms(&rig, 150);
	/* Nobody is there to wait. */
	ck_assert_uint_eq(warnings().count, 0);
	peer = rig_peer(&rig);
	ck_assert_int_ge(rig_send(peer, "x"), 0);
	rig_turn_ms(&rig, 150);
	said = warnings();
	ck_assert_uint_eq(said.count, 1);
	ck_assert_ptr_nonnull(strstr(said.list[0], "rpmactl post"));
	rig_end(&rig);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("engine_faults");
	TCase *tc = tcase_create("engine_faults");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, test_storm_of_flushes);
	tcase_add_test(tc, test_impossible_completions);
	tcase_add_loop_test(tc, test_end_before_the_beginning, 0, 2);
	tcase_add_test(tc, test_end_told_twice);
	tcase_add_test(tc, test_storm_of_connections);
	tcase_add_loop_test(tc, test_dead_queue, 0, 2);
	tcase_add_test(tc, test_dead_queue_pair);
	tcase_add_test(tc, test_limit_event);
	tcase_add_test(tc, test_completion_behind_the_arming);
	tcase_add_test(tc, test_woken_in_vain);
	tcase_add_test(tc, test_idle);
	tcase_add_test(tc, test_stall_in_words);
	tcase_add_test(tc, test_stall_of_manual_refill);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
