/* SPDX-License-Identifier: BSD-3-Clause */
/* librpmac and something at the other end that is no daemon of ours, or a broken one. */
#include <config.h>

#include <errno.h>
#include <string.h>

#include "lib/core/compiler.h"
#include "tests/unit/harness.h"
#include "tests/unit/hostile_rig.h"

#define SHORT_MS 50
#define LONG     200000 /* bytes, over what a reply may have */

static struct hostile h;

static void
setup(void)
{
	hostile_start(&h);
}

static void
teardown(void)
{
	hostile_end(&h);
}

/* ---- a pool or a ring that is none ---- */

#define OPEN(pool_gift, map, ring_gift, reply, result)                             \
	{                                                                          \
		{ { map, GIFT_##pool_gift }, { reply, GIFT_##ring_gift } }, result \
	}
#define POOL_ROW(gift, map, result)   OPEN(gift, map, RING, GOOD_RING, result)
#define RING_ROW(gift, reply, result) OPEN(POOL, GOOD_MAP, gift, reply, result)

static const struct {
	struct step steps[3];
	int rc;
} opens[] = {
	POOL_ROW(POOL, GOOD_MAP, 0),
	POOL_ROW(MANY, GOOD_MAP, -EPROTO),
	POOL_ROW(NONE, GOOD_MAP, -EPROTO),
	POOL_ROW(UNSEALED, GOOD_MAP, -EPROTO),
	POOL_ROW(PIPE, GOOD_MAP, -EPROTO),
	POOL_ROW(ZERO, GOOD_MAP, -EPROTO),
	POOL_ROW(POOL, MAP("4", "1024", "4097"), -EPROTO),
	POOL_ROW(POOL, MAP("4", "1024", "9007199254740991"), -EPROTO),
	POOL_ROW(POOL, MAP("4", "1024", "9007199254740992"), -EPROTO),
	POOL_ROW(POOL, MAP("5", "1024", "4096"), -EPROTO),
	POOL_ROW(POOL, MAP("4", "1025", "4096"), -EPROTO),
	POOL_ROW(POOL, MAP("0", "1024", "4096"), -EPROTO),
	POOL_ROW(POOL, MAP("4", "0", "4096"), -EPROTO),
	POOL_ROW(POOL, MAP("4", "1024", "0"), -EPROTO),
	POOL_ROW(POOL, MAP("-4", "1024", "4096"), -EPROTO),
	POOL_ROW(POOL, MAP("65537", "0", "4096"), -EPROTO),
	POOL_ROW(POOL, MAP("4294967295", "4294967295", "4096"), -EPROTO),
	POOL_ROW(POOL, MAP("\"4\"", "1024", "4096"), -EPROTO),
	POOL_ROW(POOL, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", -EPROTO),
	POOL_ROW(POOL, GOOD_RING, -EPROTO),
	POOL_ROW(POOL, GOOD_MAP GOOD_MAP, -EPROTO),
	POOL_ROW(POOL, "220 mail.example ESMTP\n", -EPROTO),
	POOL_ROW(POOL, "\n", -EPROTO),
	POOL_ROW(POOL, NULL, -ECONNRESET),
	RING_ROW(NONE, GOOD_RING, -EPROTO),
	RING_ROW(RING_ONLY, GOOD_RING, -EPROTO),
	RING_ROW(RING_POOL, GOOD_RING, -EPROTO),
	RING_ROW(PIPE, GOOD_RING, -EPROTO),
	RING_ROW(MANY, GOOD_RING, -EPROTO),
	RING_ROW(RING, RING("8", "8193"), -EPROTO),
	RING_ROW(RING, RING("8", "6207"), -EPROTO),
	RING_ROW(RING, RING("8", "4096"), -EPROTO),
	RING_ROW(RING, RING("8", "0"), -EPROTO),
	RING_ROW(RING, RING("8", "9007199254740991"), -EPROTO),
	RING_ROW(RING, RING("7", "8192"), -EPROTO),
	RING_ROW(RING, RING("0", "8192"), -EPROTO),
	RING_ROW(RING, RING("16", "8192"), -EPROTO),
	RING_ROW(RING, RING("8192", "8192"), -EPROTO),
	RING_ROW(RING, RING("-8", "8192"), -EPROTO),
	RING_ROW(RING, GOOD_MAP, -EPROTO),
	RING_ROW(NONE,
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,\"message\":"
	    "\"there is no method\",\"data\":{\"name\":\"METHOD_NOT_FOUND\"}}}\n",
	    -EOPNOTSUPP),
	RING_ROW(NONE,
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"message\":\"no\",\"data\":"
	    "{\"name\":\"A_NAME_THAT_IS_LONGER_THAN_ANY_THAT_A_DAEMON_HAS\"}}}\n",
	    -EREMOTEIO),
	RING_ROW(RING, NULL, -ECONNRESET),
};

START_TEST(test_open)
{
	const unsigned int fds = harness_open_fds();

	hostile_serve(&h, opens[_i].steps);
	ck_assert_int_eq(rpmac_open(h.rpmac, h.path, HOSTILE_ANSWER_MS), opens[_i].rc);
	ck_assert_int_eq(rpmac_check(h.rpmac), opens[_i].rc == 0 ? 0 : -ECONNRESET);
	rpmac_close(&h.rpmac);
	ck_assert_uint_eq(harness_open_fds(), fds);
	hostile_stop(&h);
}
END_TEST

/* What the memory itself says. */
static const struct {
	char magic[9];
	uint32_t version, answers;
} forms[] = {
	{ "rpmadRNH", RING_VERSION, HOSTILE_ANSWERS },
	{ RING_MAGIC, RING_VERSION + 1, HOSTILE_ANSWERS },
	{ RING_MAGIC, RING_VERSION, 2 },
	{ RING_MAGIC, RING_VERSION, 0 },
	{ RING_MAGIC, RING_VERSION, 5 },
	{ RING_MAGIC, RING_VERSION, 1024 },
	{ RING_MAGIC, RING_VERSION, 0x80000000u },
};

START_TEST(test_form)
{
	memcpy(h.ring->magic, forms[_i].magic, sizeof(h.ring->magic));
	h.ring->version = forms[_i].version;
	h.ring->answers = forms[_i].answers;
	hostile_serve(&h, hostile_good);
	ck_assert_int_eq(rpmac_open(h.rpmac, h.path, HOSTILE_ANSWER_MS), -EPROTO);
	hostile_stop(&h);
}
END_TEST

START_TEST(test_unsealed_ring)
{
	hostile_new_ring(&h, false);
	hostile_serve(&h, hostile_good);
	ck_assert_int_eq(rpmac_open(h.rpmac, h.path, HOSTILE_ANSWER_MS), -EPROTO);
	hostile_stop(&h);
}
END_TEST

/* It says nothing, and hangs: the call does not. */
START_TEST(test_silent)
{
	static const struct step steps[] = { { "", GIFT_NONE }, { NULL, GIFT_NONE } };

	hostile_serve(&h, steps);
	ck_assert_int_eq(rpmac_open(h.rpmac, h.path, SHORT_MS), -ETIMEDOUT);
	hostile_stop(&h);
}
END_TEST

/* A line that does not end takes no more memory than a reply may. */
START_TEST(test_endless)
{
	static char text[LONG + 1];
	const struct step steps[] = { { text, GIFT_NONE }, { NULL, GIFT_NONE } };

	memset(text, ' ', LONG);
	hostile_serve(&h, steps);
	ck_assert_int_eq(rpmac_open(h.rpmac, h.path, HOSTILE_ANSWER_MS), -EPROTO);
	ck_assert_ptr_nonnull(strstr(rpmac_error(h.rpmac), "a line without end"));
	hostile_stop(&h);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpmac_hostile");
	TCase *tc = tcase_create("rpmac_hostile");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_open, 0, (int)ARRAY_LEN(opens));
	tcase_add_loop_test(tc, test_form, 0, (int)ARRAY_LEN(forms));
	tcase_add_test(tc, test_unsealed_ring);
	tcase_add_test(tc, test_silent);
	tcase_add_test(tc, test_endless);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
