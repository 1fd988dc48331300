/* SPDX-License-Identifier: BSD-3-Clause */
/* What librpmac makes of a daemon's line, good, cut short, or of another kind. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/rpmac/impl.h"
#include "lib/rpmac/scan.h"
#include "tests/unit/harness.h"

#define MAP(members) "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{" members "}}"
#define GOOD                                                                       \
	MAP("\"instance\":\"c0ffee\",\"slots\":4,\"slot_size\":64,\"bytes\":4096," \
	    "\"page_size\":4096")

static struct rpmac *rpmac;

static void
setup(void)
{
	rpmac = rpmac_new();
	ck_assert_ptr_nonnull(rpmac);
}

static void
teardown(void)
{
	rpmac_close(&rpmac);
}

/* As if it were open, with a request under way. */
static void
open_again(enum request request)
{
	rpmac_shut(rpmac);
	rpmac->fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	rpmac->waits_for = request;
}

/* Give it a line of len bytes. */
static int
give(const char *line, size_t len)
{
	char *copy = malloc(len + 1);
	int rc;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, line, len);
	copy[len] = '\n';
	rc = rpmac_reply(rpmac, copy, len);
	free(copy);
	return rc;
}

START_TEST(test_map)
{
	open_again(REQUEST_MAP);
	ck_assert_int_eq(give(GOOD, sizeof(GOOD) - 1), 0);
	ck_assert_str_eq(rpmac_instance(rpmac), "c0ffee");
	ck_assert_uint_eq(rpmac->slots, 4);
	ck_assert_uint_eq(rpmac->slot_size, 64);
	ck_assert_uint_eq(rpmac->bytes, 4096);
}
END_TEST

START_TEST(test_ring)
{
	static const char line[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"version\":1,\"entries\":256,"
	    "\"bytes\":73728}}";

	open_again(REQUEST_RING);
	ck_assert_int_eq(give(line, sizeof(line) - 1), 0);
	ck_assert_uint_eq(rpmac->ring_entries, 256);
	ck_assert_uint_eq(rpmac->ring_bytes, 73728);
}
END_TEST

/* Of no line that is cut short anything is believed. */
START_TEST(test_cut_short)
{
	size_t len;
	int rc;

	for (len = 0; len < sizeof(GOOD) - 2; len++) {
		open_again(REQUEST_MAP);
		rc = give(GOOD, len);
		ck_assert_msg(rc == -EPROTO, "%zu bytes: %d", len, rc);
		ck_assert_int_eq(rpmac->fd, -1);
	}
}
END_TEST

/* Whatever a byte of it becomes, it is understood or not, and its numbers are in range. */
START_TEST(test_mutated)
{
	char copy[sizeof(GOOD)];
	size_t at;
	int c;

	for (at = 0; at < sizeof(GOOD) - 1; at++)
		for (c = 1; c < 256; c += 3) {
			memcpy(copy, GOOD, sizeof(copy));
			copy[at] = (char)c;
			open_again(REQUEST_MAP);
			if (give(copy, sizeof(copy) - 1) != 0)
				continue;
			ck_assert_uint_le(rpmac->slots, UINT32_MAX);
			ck_assert_uint_le(rpmac->bytes, 9007199254740991u);
			ck_assert_uint_lt(strlen(rpmac->instance), RPMAC_INSTANCE_MAX);
		}
}
END_TEST

START_TEST(test_refused)
{
	static const char *const lines[] = { "", "[]", "null", "{}",
		"{\"jsonrpc\":\"2.0\",\"id\":1}",
		/* Never asked for, or by nobody. */
		"{\"id\":2,\"result\":{}}", "{\"id\":99,\"result\":{}}",
		"{\"id\":null,\"result\":{}}", "{\"id\":1,\"result\":[]}",
		MAP("\"slots\":-1"), MAP("\"slots\":99999999999999999999999"),
		MAP("\"slots\":4294967296"), MAP("\"slots\":null"),
		MAP("\"bytes\":9007199254740992"), MAP("\"instance\":7"),
		MAP("\"instance\":\"\\ud800\""), MAP("\"instance\":\"\\u0000\""),
		MAP("\"x\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]") };

	open_again(REQUEST_MAP);
	ck_assert_int_eq(give(lines[_i], strlen(lines[_i])), -EPROTO);
	ck_assert_int_eq(rpmac->fd, -1);
	ck_assert_ptr_nonnull(strstr(rpmac_error(rpmac), "does not understand"));
}
END_TEST

/* Members may come in any order, more of them than are known, and written in any way. */
START_TEST(test_order)
{
	static const char line[] =
	    "{ \"result\" : {\"new\":{\"a\":[1,-2.5e3,\"]\\\"}\",{}],\"b\":null},"
	    "\"bytes\":\t128 ,\"slot_si\\u007ae\":32,\"instance\":\"\\u0061\",\"slots\":3"
	    "} , \"id\" : 1, \"jsonrpc\":\"2.0\"}";

	open_again(REQUEST_MAP);
	ck_assert_int_eq(give(line, sizeof(line) - 1), 0);
	ck_assert_uint_eq(rpmac->slots, 3);
	ck_assert_uint_eq(rpmac->slot_size, 32);
	ck_assert_uint_eq(rpmac->bytes, 128);
	ck_assert_str_eq(rpmac_instance(rpmac), "a");
}
END_TEST

START_TEST(test_errors)
{
	static const char line[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32007,\"message\":\"the daemon "
	    "is stopping\",\"data\":{\"name\":\"SHUTTING_DOWN\",\"retryable\":true,"
	    "\"hint\":\"wait\"}}}";
	static const char refusal[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32006,\"message\":\"64 "
	    "clients\",\"data\":{\"name\":\"TOO_MANY_CLIENTS\"}}}";

	open_again(REQUEST_RING);
	ck_assert_int_eq(give(line, sizeof(line) - 1), -ESHUTDOWN);
	ck_assert_str_eq(rpmac_error(rpmac), "the daemon is stopping; wait");
	ck_assert_str_eq(rpmac_error_name(rpmac), "SHUTTING_DOWN");
	ck_assert_int_eq(give(refusal, sizeof(refusal) - 1), -EUSERS);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpmac_reply");
	TCase *tc = tcase_create("rpmac_reply");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_map);
	tcase_add_test(tc, test_ring);
	tcase_add_test(tc, test_cut_short);
	tcase_add_test(tc, test_mutated);
	tcase_add_loop_test(tc, test_refused, 0, 18);
	tcase_add_test(tc, test_order);
	tcase_add_test(tc, test_errors);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
