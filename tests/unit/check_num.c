/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers from text: forms, limits and exactness. */
#include <config.h>

#include "lib/core/num.h"

#include <errno.h>
#include <string.h>

#include "lib/core/compiler.h"
#include "tests/unit/harness.h"

#define UNTOUCHED UINT64_C(0x5555555555555555)

struct number_case {
	const char *text;
	int rc;
	uint64_t value;
};

static void
run(const struct number_case *cases, size_t n, int (*parse)(const char *, uint64_t *))
{
	uint64_t value;
	size_t i;
	int rc;

	for (i = 0; i < n; i++) {
		value = UNTOUCHED;
		rc = parse(cases[i].text, &value);
		ck_assert_msg(rc == cases[i].rc, "\"%s\": %d", cases[i].text, rc);
		ck_assert_msg(value == (rc == 0 ? cases[i].value : UNTOUCHED),
		    "\"%s\": %llu", cases[i].text, (unsigned long long)value);
	}
}

START_TEST(integers)
{
	static const struct number_case cases[] = {
		{ "0", 0, 0 },
		{ "7", 0, 7 },
		{ "007", 0, 7 },
		{ "65535", 0, 65535 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "18446744073709551620", -ERANGE, 0 },
		{ "99999999999999999999999999", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "1\n", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
		{ "1.0", -EINVAL, 0 },
		{ "99999999999999999999999999x", -EINVAL, 0 },
		{ "\xd9\xa1", -EINVAL, 0 },
	};

	run(cases, ARRAY_LEN(cases), num_parse_u64);
}
END_TEST

START_TEST(sizes)
{
	static const struct number_case cases[] = {
		{ "0", 0, 0 },
		{ "4096", 0, 4096 },
		{ "4K", 0, 4096 },
		{ "4KiB", 0, 4096 },
		{ "2M", 0, 2097152 },
		{ "2MiB", 0, 2097152 },
		{ "1G", 0, 1073741824 },
		{ "1GiB", 0, 1073741824 },
		{ "17179869183GiB", 0, UINT64_C(18446744072635809792) },
		{ "17179869184GiB", -ERANGE, 0 },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "K", -EINVAL, 0 },
		{ "4k", -EINVAL, 0 },
		{ "4kB", -EINVAL, 0 },
		{ "4 KiB", -EINVAL, 0 },
		{ "4KiBx", -EINVAL, 0 },
		{ "4KiB ", -EINVAL, 0 },
		{ "4B", -EINVAL, 0 },
		{ "1.5K", -EINVAL, 0 },
		{ "-4K", -EINVAL, 0 },
		{ "99999999999999999999X", -EINVAL, 0 },
	};

	run(cases, ARRAY_LEN(cases), num_parse_bytes);
}
END_TEST

START_TEST(durations)
{
	static const struct number_case cases[] = {
		{ "0", 0, 0 },
		{ "2", 0, 2000 },
		{ "0.25", 0, 250 },
		{ "0.001", 0, 1 },
		{ "1.5", 0, 1500 },
		{ "1.2500", 0, 1250 },
		{ "250ms", 0, 250 },
		{ "2s", 0, 2000 },
		{ "3m", 0, 180000 },
		{ "1h", 0, 3600000 },
		{ "18446744073709551615ms", 0, UINT64_MAX },
		{ "18446744073709551.615", 0, UINT64_MAX },
		{ "18446744073709551.616", -ERANGE, 0 },
		{ "18446744073709552", -ERANGE, 0 },
		{ "18446744073709551616ms", -ERANGE, 0 },
		{ "99999999999999999999.5", -ERANGE, 0 },
		{ "5124095576030431h", -ERANGE, 0 },
		{ "0.0001", -EINVAL, 0 },
		{ "1.2501", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ ".", -EINVAL, 0 },
		{ "1.", -EINVAL, 0 },
		{ ".5", -EINVAL, 0 },
		{ "1.5s", -EINVAL, 0 },
		{ "1.5.5", -EINVAL, 0 },
		{ "1,5", -EINVAL, 0 },
		{ "ms", -EINVAL, 0 },
		{ "5 ms", -EINVAL, 0 },
		{ "5us", -EINVAL, 0 },
		{ "5d", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
	};

	run(cases, ARRAY_LEN(cases), num_parse_ms);
}
END_TEST

START_TEST(sizes_shown)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{ 0, "0 B" },
		{ 1, "1 B" },
		{ 1023, "1023 B" },
		{ 1024, "1 KiB" },
		{ 1536, "1.5 KiB" },
		{ 1075, "1 KiB" },
		{ 1076, "1.1 KiB" },
		{ 4096, "4 KiB" },
		{ 1048575, "1 MiB" },
		{ 1048524, "1023.9 KiB" },
		{ 1048576, "1 MiB" },
		{ UINT64_C(1) << 30, "1 GiB" },
		{ UINT64_C(1) << 40, "1 TiB" },
		{ UINT64_C(1) << 50, "1 PiB" },
		{ UINT64_C(3) << 59, "1.5 EiB" },
		{ UINT64_MAX, "16 EiB" },
	};
	char buf[32];
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		ck_assert_ptr_eq(num_format_bytes(cases[i].bytes, buf, sizeof(buf)),
		    buf);
		ck_assert_str_eq(buf, cases[i].text);
	}
}
END_TEST

START_TEST(hexadecimal)
{
	static const struct {
		const char *text;
		int rc;
		uint8_t bytes[4];
	} cases[] = {
		{ "", 0, { 0 } },
		{ "00", 1, { 0 } },
		{ "cf3a", 2, { 0xcf, 0x3a } },
		{ "CF3A", 2, { 0xcf, 0x3a } },
		{ "0123beef", 4, { 0x01, 0x23, 0xbe, 0xef } },
		{ "0123beef00", -ENOSPC, { 0 } },
		{ "cf3", -EINVAL, { 0 } },
		{ "0xcf", -EINVAL, { 0 } },
		{ "cg", -EINVAL, { 0 } },
		{ " cf3", -EINVAL, { 0 } },
		{ "-1", -EINVAL, { 0 } },
	};
	uint8_t out[4];
	size_t i;
	int rc;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		rc = num_parse_hex(cases[i].text, out, sizeof(out));
		ck_assert_msg(rc == cases[i].rc, "\"%s\": %d", cases[i].text, rc);
		if (rc > 0)
			ck_assert_mem_eq(out, cases[i].bytes, (size_t)rc);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("num");
	TCase *tcase = tcase_create("num");

	tcase_add_test(tcase, integers);
	tcase_add_test(tcase, sizes);
	tcase_add_test(tcase, durations);
	tcase_add_test(tcase, sizes_shown);
	tcase_add_test(tcase, hexadecimal);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
