/* SPDX-License-Identifier: BSD-3-Clause */
/* The small parts of the engine: connection table, announcement, named counts, numbers.
 */
#include <config.h>

#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#include "daemon/announce.h"
#include "daemon/conn.h"
#include "daemon/named_count.h"
#include "daemon/rpma_err.h"
#include "lib/rpma/librpma.h"
#include "tests/unit/harness.h"

#define CONNS 100u

START_TEST(test_table_finds)
{
	static struct conn conns[CONNS];
	struct conn_table table;
	uint32_t i;

	ck_assert_int_eq(conn_table_init(&table, CONNS, 0), 0);
	for (i = 0; i < CONNS; i++) {
		conn_table_add(&table, &conns[i]);
		/* All in few buckets. */
		conn_table_add_qp(&table, &conns[i], i * 256);
		conn_table_add_qp(&table, &conns[i], 1);
	}
	ck_assert_uint_eq(table.count, CONNS);
	for (i = 0; i < CONNS; i++) {
		ck_assert_ptr_eq(conn_by_id(&table, i + 1), &conns[i]);
		ck_assert_ptr_eq(conn_by_qp(&table, i * 256), &conns[i]);
	}
	ck_assert_ptr_null(conn_by_qp(&table, 1));
	ck_assert_ptr_null(conn_by_id(&table, CONNS + 1));
	for (i = 0; i < CONNS; i += 2)
		conn_table_remove(&table, &conns[i]);
	for (i = 0; i < CONNS; i++) {
		ck_assert_ptr_eq(conn_by_id(&table, i + 1), i % 2 ? &conns[i] : NULL);
		ck_assert_ptr_eq(conn_by_qp(&table, i * 256), i % 2 ? &conns[i] : NULL);
	}
	for (i = 1; i < CONNS; i += 2)
		conn_table_forget(&table, &conns[i]);
	ck_assert_uint_eq(table.count, 0);
	ck_assert_uint_eq(table.closed_total, CONNS / 2);
	conn_table_fini(&table);
}
END_TEST

START_TEST(test_table_remembers_the_closed)
{
	struct conn_table table;
	struct conn conn;
	uint32_t i;

	ck_assert_int_eq(conn_table_init(&table, 4, 0), 0);
	for (i = 1; i <= CONN_CLOSED_MAX + 10; i++) {
		memset(&conn, 0, sizeof(conn));
		conn_table_add(&table, &conn);
		conn_table_add_qp(&table, &conn, 17);
		conn_table_remove(&table, &conn);
	}
	ck_assert_ptr_null(conn_closed_by_id(&table, 0));
	ck_assert_ptr_null(conn_closed_by_id(&table, 10));
	ck_assert_uint_eq(conn_closed_by_id(&table, 11)->id, 11);
	ck_assert_uint_eq(conn_closed_by_id(&table, 74)->id, 74);
	/* A number that is used again means its last user. */
	ck_assert_uint_eq(conn_closed_entry(&table, 0, 17)->id, 74);
	ck_assert_ptr_null(conn_closed_entry(&table, 0, 0));
	ck_assert_ptr_null(conn_closed_entry(&table, 0, 18));
	conn_table_fini(&table);
}
END_TEST

START_TEST(test_announcement)
{
	uint8_t wire[196] = { 0 };

	announce_write(wire, 2097152);
	ck_assert_mem_eq(wire, "RPMD\1\0\0\0\0\x20\0\0", 12);
	ck_assert_uint_eq(announce_read(wire, 12), 2097152);
	ck_assert_uint_eq(announce_read(wire, sizeof(wire)), 2097152);
	ck_assert_uint_eq(announce_read(wire, 11), 0);
	wire[4] = 2;
	ck_assert_uint_eq(announce_read(wire, 12), 0);
	memset(wire, 0, sizeof(wire));
	ck_assert_uint_eq(announce_read(wire, sizeof(wire)), 0);
}
END_TEST

START_TEST(test_named_counts)
{
	struct named_counts counts;
	char name[16];
	uint64_t total = 0;
	unsigned int i;

	memset(&counts, 0, sizeof(counts));
	named_counts_add(&counts, "a");
	named_counts_add(&counts, "b");
	named_counts_add(&counts, "a");
	ck_assert_uint_eq(counts.count, 2);
	ck_assert_uint_eq(counts.list[0].count, 2);
	for (i = 0; i < 2 * ENGINE_NAMED_MAX; i++) {
		(void)snprintf(name, sizeof(name), "n%u", i);
		named_counts_add(&counts, name);
	}
	ck_assert_uint_eq(counts.count, ENGINE_NAMED_MAX);
	for (i = 0; i < ENGINE_NAMED_MAX; i++)
		total += counts.list[i].count;
	ck_assert_uint_eq(total, 3 + 2 * ENGINE_NAMED_MAX);
}
END_TEST

/* InfiniBand Architecture Specification volume 1, encoding of the RNR NAK timer field.
 */
START_TEST(test_rnr_timer)
{
	static const struct {
		uint32_t us;
		unsigned int code;
	} rows[] = { { 10, 1 }, { 11, 2 }, { 20, 2 }, { 640, 12 }, { 641, 13 },
		{ 655, 13 }, { 960, 13 }, { 10240, 20 }, { 491520, 31 }, { 491521, 0 },
		{ 655360, 0 }, { 0, 1 } };
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		ck_assert_uint_eq(rnr_timer_code(rows[i].us), rows[i].code);
	ck_assert_uint_eq(rnr_timer_us(0), 655360);
	ck_assert_uint_eq(rnr_timer_us(12), 640);
	ck_assert_uint_eq(rnr_timer_us(31), 491520);
}
END_TEST

/* What an earlier call left behind is not the cause of a later one. */
START_TEST(test_error_names)
{
	struct ibv_context *context;
	int rc;

	ck_assert_str_eq(rpma_err_name(RPMA_E_PROVIDER), "unknown");
	rc = rpma_utils_ibv_context_by_name("fake9", &context);
	ck_assert_int_eq(rc, RPMA_E_PROVIDER);
	ck_assert_str_eq(rpma_err_name(rc), "ENODEV");
	ck_assert_str_eq(rpma_err_name(RPMA_E_INVAL), "unknown");
	ck_assert_str_eq(rpma_err_name(RPMA_E_NOMEM), "ENOMEM");
}
END_TEST

START_TEST(test_status_names)
{
	ck_assert_str_eq(wc_status_name(IBV_WC_SUCCESS), "SUCCESS");
	ck_assert_str_eq(wc_status_name(IBV_WC_LOC_LEN_ERR), "LOC_LEN_ERR");
	ck_assert_str_eq(wc_status_name(IBV_WC_RNR_RETRY_EXC_ERR), "RNR_RETRY_EXC_ERR");
	ck_assert_str_eq(wc_status_name(IBV_WC_GENERAL_ERR), "GENERAL_ERR");
	ck_assert_str_eq(wc_status_name(-1), "UNKNOWN");
	ck_assert_str_eq(wc_status_name(12345), "UNKNOWN");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("engine_parts");
	TCase *tc = tcase_create("engine_parts");

	tcase_add_test(tc, test_table_finds);
	tcase_add_test(tc, test_table_remembers_the_closed);
	tcase_add_test(tc, test_announcement);
	tcase_add_test(tc, test_named_counts);
	tcase_add_test(tc, test_rnr_timer);
	tcase_add_test(tc, test_error_names);
	tcase_add_test(tc, test_status_names);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
