/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of the engine in a reader's ring, and the reader's answers: what rpmad-rpc(7), THE RING, says of
 * an entry and of an answer, and that counters, slots and connections are what they are without a ring.
 */
#include <config.h>

#include <limits.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/ring.h"
#include "lib/core/compiler.h"
#include "lib/core/param.h"
#include "tests/unit/engine_rig.h"
#include "tests/unit/harness.h"

#define ENTRIES 8u

static struct rig rig;
static struct ring *ring;
static struct ledger_owner owner;

static void
set_up(void)
{
	struct err err;

	fake_reset();
	rig_settings(&rig);
	owner = (struct ledger_owner){ 0 };
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(ring_new(ENTRIES, rig.settings.pool_slots, &ring, &err), 0);
}

static void
tear_down(void)
{
	engine_owner_gone(rig.engine, &owner);
	ck_assert(ledger_check(engine_ledger(rig.engine)));
	ring_free(ring);
	rig_end(&rig);
}

/* The reader's side: so many more may come. */
static void
grant(uint32_t count)
{
	const char *why;

	ring->header->granted += count;
	ring->header->is_waiting = 1;
	ck_assert(ring_look(ring, &why));
}

static void
answer(const struct ring_entry *entry, uint32_t verb, uint32_t generation)
{
	struct ring_answer *answers = (struct ring_answer *)(uintptr_t)ring->answers;

	answers[ring->header->answered++ % ring->header->answers] =
	    (struct ring_answer){
		    .slot = entry->slot, .generation = generation, .verb = verb
	    };
}

static void
settle(unsigned int budget)
{
	const struct engine_clock clock = engine_clock();
	const char *why;

	ck_assert(ring_look(ring, &why));
	engine_ring_settle(rig.engine, &owner, &clock, ring, budget);
	ck_assert(ledger_check(engine_ledger(rig.engine)));
}

static unsigned int
deliver(unsigned int max)
{
	const struct engine_clock clock = engine_clock();
	unsigned int count = engine_ring_deliver(rig.engine, &owner, &clock, ring, max);

	ck_assert(ledger_check(engine_ledger(rig.engine)));
	return count;
}

static const struct ring_entry *
entry(uint32_t i)
{
	return &ring->entries[i % ENTRIES];
}

static void
expect_text(uint32_t i, const char *text, uint32_t deliveries)
{
	const struct ring_entry *e = entry(i);

	ck_assert_uint_eq(e->len, strlen(text));
	ck_assert_int_eq(memcmp(engine_slot_data(rig.engine, e->slot), text, e->len),
	    0);
	ck_assert_uint_eq(e->deliveries, deliveries);
}

static struct fake_peer *
send_texts(const char *const *texts, size_t n)
{
	struct fake_peer *peer = rig_peer(&rig);
	size_t i;

	for (i = 0; i < n; i++)
		ck_assert_int_ge(rig_send(peer, texts[i]), 0);
	rig_settle(&rig);
	return peer;
}

/* Of the doubles' queue any receive may be the next one, so the label is on any of the messages. */
START_TEST(test_fields)
{
	static const char label[] = "a label of mine";
	struct fake_peer *peer = rig_peer(&rig);
	uint32_t i, labels = 0;
	struct sockaddr_in sin;
	struct conn_info conn;

	ck_assert_int_eq(engine_post_slot(rig.engine, 20, 64, label, strlen(label),
			     &rig.err),
	    0);
	for (i = 0; i < 16; i++)
		ck_assert_int_ge(rig_send(peer, "before it"), 0);
	ck_assert_int_ge(fake_peer_send(peer, "the last", 8, 0xfedcba98), 0);
	rig_settle(&rig);
	conn = rig_conn(&rig, 1);
	grant(1);
	for (i = 0; i < 17; i++) {
		const struct ring_entry *e = entry(i);
		const bool is_last = i == 16;
		bool has_label;

		ck_assert_uint_eq(deliver(1), 1);
		has_label = e->slot == 20;
		ck_assert_uint_eq(e->seq, i + 1);
		ck_assert_uint_eq(e->conn, 1);
		ck_assert_uint_ge(e->received_ns, conn.since_ns);
		ck_assert_uint_eq(e->qp_num, conn.qp_num);
		memcpy(&sin, e->peer, sizeof(sin));
		ck_assert_int_eq(memcmp(&sin, &conn.peer, sizeof(sin)), 0);
		ck_assert_uint_eq(e->imm, is_last ? 0xfedcba98 : 0);
		ck_assert_uint_eq(e->flags,
		    (is_last ? RING_IMM : 0) | (has_label ? RING_CONTEXT : 0));
		ck_assert_uint_eq(e->context_len, has_label ? strlen(label) : 0);
		if (has_label)
			ck_assert_int_eq(memcmp(e->context, label, strlen(label)), 0);
		labels += has_label;
		expect_text(i, is_last ? "the last" : "before it", 1);
		answer(e, RING_ACK, e->generation);
		settle(1);
		grant(1);
	}
	ck_assert_uint_eq(labels, 1);
}
END_TEST

/* As many as there is room for, as are wanted, and as there are. */
START_TEST(test_how_many)
{
	static const char *const texts[] = { "a", "b", "c", "d", "e" };

	(void)send_texts(texts, ARRAY_LEN(texts));
	ck_assert_uint_eq(deliver(100), 0);
	grant(2);
	ck_assert_uint_eq(deliver(1), 1);
	ck_assert_uint_eq(deliver(100), 1);
	ck_assert_uint_eq(deliver(100), 0);
	grant(6);
	ck_assert_uint_eq(deliver(0), 0);
	ck_assert_uint_eq(deliver(100), 3);
	ck_assert_uint_eq(deliver(100), 0);
	expect_text(0, "a", 1);
	expect_text(4, "e", 1);
	ck_assert_uint_eq(owner.count, 5);
	ck_assert_uint_eq(rig_counts(&rig).leased, 5);
	ck_assert_uint_eq(rig_counts(&rig).ready, 0);
	ck_assert_uint_eq(rig_stats(&rig).polled, 5);
}
END_TEST

/* What came back is the oldest, and comes first, again; what was never out comes behind it. */
START_TEST(test_order_of_what_came_back)
{
	static const char *const texts[] = { "a", "b", "c", "d", "e" };

	(void)send_texts(texts, ARRAY_LEN(texts));
	grant(8);
	ck_assert_uint_eq(deliver(3), 3);
	answer(entry(1), RING_NACK, entry(1)->generation);
	answer(entry(2), RING_ACK, entry(2)->generation);
	answer(entry(0), RING_NACK, entry(0)->generation);
	settle(100);
	ck_assert_uint_eq(owner.count, 0);
	ck_assert_uint_eq(rig_counts(&rig).ready, 4);
	ck_assert_uint_eq(deliver(100), 4);
	expect_text(3, "a", 2);
	expect_text(4, "b", 2);
	expect_text(5, "d", 1);
	expect_text(6, "e", 1);
	ck_assert_uint_eq(rig_stats(&rig).redelivered, 2);
	ck_assert_uint_eq(rig_stats(&rig).polled, 7);
	ck_assert_uint_eq(rig_stats(&rig).nacked, 2);
	ck_assert_uint_eq(rig_stats(&rig).acked, 1);
	ck_assert_uint_eq(ring_unknown(ring), 0);
}
END_TEST

/* Only what the owner holds, once, and only what answers are: each other one changes nothing, and is counted. */
START_TEST(test_wrong_answers)
{
	static const char *const texts[] = { "a", "b", "c" };
	const uint32_t slots = rig.settings.pool_slots;
	struct ledger_owner other = { 0 };
	struct ledger_message message;
	struct ring_entry theirs = { 0 }, beyond = { .slot = slots },
			  far = { .slot = UINT32_MAX };
	uint32_t verb;

	(void)send_texts(texts, ARRAY_LEN(texts));
	grant(2);
	ck_assert(engine_lease(rig.engine, &other, PARAM_UNSET, &message));
	theirs.slot = message.slot;
	ck_assert_uint_eq(deliver(100), 2);
	for (verb = RING_ACK; verb <= RING_NACK + 1; verb++) {
		answer(&theirs, verb, message.generation);
		answer(&beyond, verb, 1);
		answer(&far, verb, 1);
		answer(entry(0), verb, entry(0)->generation + 1);
		answer(entry(0), verb, entry(0)->generation - 1);
	}
	answer(entry(0), RING_NACK + 1, entry(0)->generation);
	answer(entry(0), UINT32_MAX, entry(0)->generation);
	settle(100);
	ck_assert_uint_eq(ring_unknown(ring), 17);
	ck_assert_uint_eq(owner.count, 2);
	ck_assert_uint_eq(rig_counts(&rig).leased, 3);
	answer(entry(0), RING_ACK, entry(0)->generation);
	answer(entry(0), RING_ACK, entry(0)->generation);
	answer(entry(0), RING_NACK, entry(0)->generation);
	settle(100);
	ck_assert_uint_eq(ring_unknown(ring), 19);
	ck_assert_uint_eq(owner.count, 1);
	ck_assert_uint_eq(rig_stats(&rig).acked, 1);
	ck_assert_uint_eq(rig_stats(&rig).nacked, 0);
	engine_owner_gone(rig.engine, &other);
}
END_TEST

/* Counters, times and what connections hold, as for every other consumer. */
START_TEST(test_counters)
{
	static const char *const texts[] = { "12", "123", "1234" };
	struct engine_stats stats;
	uint32_t i;

	(void)send_texts(texts, ARRAY_LEN(texts));
	ck_assert_uint_eq(rig_conn(&rig, 1).held, 3);
	grant(3);
	ck_assert_uint_eq(deliver(100), 3);
	stats = rig_stats(&rig);
	ck_assert_uint_eq(histogram_count(&stats.queue_ns), 3);
	ck_assert_uint_eq(histogram_count(&stats.hold_ns), 0);
	ck_assert_uint_eq(histogram_count(&stats.size_bytes), 3);
	ck_assert_uint_eq(stats.size_bytes.sum, 9);
	ck_assert_uint_eq(stats.bytes, 9);
	for (i = 0; i < 3; i++)
		answer(entry(i), RING_ACK, entry(i)->generation);
	settle(2);
	ck_assert_uint_eq(ring_answers(ring), 1);
	ck_assert_uint_eq(rig_conn(&rig, 1).held, 1);
	settle(2);
	ck_assert_uint_eq(rig_conn(&rig, 1).held, 0);
	ck_assert_uint_eq(rig_conn(&rig, 1).held_max, 3);
	stats = rig_stats(&rig);
	ck_assert_uint_eq(stats.acked, 3);
	ck_assert_uint_eq(histogram_count(&stats.hold_ns), 3);
	ck_assert_uint_ge(stats.hold_ns.sum, 3);
	/* The slots are posted again. */
	rig_settle(&rig);
	ck_assert_uint_eq(rig_counts(&rig).posted, 16);
	ck_assert_uint_eq(rig_counts(&rig).leased, 0);
}
END_TEST

/* The connection is gone when its messages are acknowledged, and in between. */
START_TEST(test_closed_connection)
{
	static const char *const texts[] = { "a", "b" };
	struct fake_peer *peer = send_texts(texts, ARRAY_LEN(texts));

	grant(2);
	ck_assert_uint_eq(deliver(1), 1);
	fake_peer_disconnect(peer);
	ck_assert(rig_until(&rig, rig_no_conns, NULL));
	ck_assert_uint_eq(deliver(1), 1);
	ck_assert_uint_eq(entry(1)->conn, 1);
	ck_assert_uint_eq(rig_conn(&rig, 1).held, 2);
	answer(entry(1), RING_ACK, entry(1)->generation);
	answer(entry(0), RING_ACK, entry(0)->generation);
	settle(100);
	ck_assert_uint_eq(rig_conn(&rig, 1).held, 0);
	ck_assert_uint_eq(ring_unknown(ring), 0);
}
END_TEST

/* All that the owner holds comes back, whatever slots that are, and nothing of others. */
START_TEST(test_owner_gone)
{
	static const char *const texts[] = { "a", "b", "c", "d", "e", "f" };
	struct ledger_owner other = { 0 };
	struct ledger_message message;

	(void)send_texts(texts, ARRAY_LEN(texts));
	grant(4);
	ck_assert_uint_eq(deliver(2), 2);
	ck_assert(engine_lease(rig.engine, &other, PARAM_UNSET, &message));
	ck_assert_uint_eq(deliver(2), 2);
	answer(entry(1), RING_ACK, entry(1)->generation);
	settle(100);
	engine_owner_gone(rig.engine, &owner);
	ck_assert_uint_eq(owner.count, 0);
	ck_assert_uint_eq(rig_counts(&rig).ready, 4);
	ck_assert_uint_eq(rig_counts(&rig).leased, 1);
	ck_assert(ledger_is_held(engine_ledger(rig.engine), &other, message.slot,
	    message.generation));
	/* Once more, from the first slot on. */
	grant(4);
	ck_assert_uint_eq(deliver(100), 4);
	expect_text(4, "a", 2);
	expect_text(7, "f", 1);
	engine_owner_gone(rig.engine, &other);
	ck_assert_uint_eq(rig_counts(&rig).ready, 1);
}
END_TEST

/* The manual's tables, by which other programs are written, have each field where it is. */
START_TEST(test_manual)
{
#define HEADER(field)                                       \
	{                                                   \
#field, offsetof(struct ring_header, field) \
	}
#define ENTRY(field, words)                               \
	{                                                 \
		words, offsetof(struct ring_entry, field) \
	}
	static const struct {
		const char *words;
		size_t offset;
	} rows[] = { HEADER(version), HEADER(entries), HEADER(answers),
		HEADER(delivered), HEADER(settled), HEADER(unknown), HEADER(served),
		HEADER(state), HEADER(granted), HEADER(answered), HEADER(request),
		HEADER(is_waiting), HEADER(wants_reader), HEADER(wants_daemon),
		ENTRY(seq, "seq, 64"), ENTRY(conn, "conn, 64"),
		ENTRY(received_ns, "received at"), ENTRY(len, "len"), ENTRY(imm, "imm"),
		ENTRY(qp_num, "qp_num"), ENTRY(flags, "flags"),
		ENTRY(context_len, "length of the context"), ENTRY(peer, "peer"),
		ENTRY(slot, "slot"), ENTRY(generation, "generation"),
		ENTRY(deliveries, "deliveries"), ENTRY(context, "context") };
	static char page[256 * 1024];
	const char *top = getenv("top_srcdir");
	char path[PATH_MAX], row[80];
	FILE *file;
	size_t i;

	ck_assert_ptr_nonnull(top);
	(void)snprintf(path, sizeof(path), "%s/man/rpmad-rpc.7", top);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_lt(fread(page, 1, sizeof(page) - 1, file), sizeof(page) - 1);
	(void)fclose(file);
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		(void)snprintf(row, sizeof(row), "\n.It %zu Ta %s", rows[i].offset,
		    rows[i].words);
		ck_assert_msg(strstr(page, row) != NULL, "no row \"%s\"", row + 1);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("engine_ring");
	TCase *tc = tcase_create("ring");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, test_fields);
	tcase_add_test(tc, test_how_many);
	tcase_add_test(tc, test_order_of_what_came_back);
	tcase_add_test(tc, test_wrong_answers);
	tcase_add_test(tc, test_counters);
	tcase_add_test(tc, test_closed_connection);
	tcase_add_test(tc, test_owner_gone);
	tcase_add_test(tc, test_manual);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
