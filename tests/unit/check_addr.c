/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses: forms that are taken and refused, and networks that hold them. */
#include <config.h>

#include "lib/core/addr.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "lib/core/compiler.h"
#include "tests/unit/harness.h"

START_TEST(addresses_taken)
{
	static const struct {
		const char *text;
		int family;
		const char *ip;
		const char *shown;
	} cases[] = {
		{ "192.0.2.1", AF_INET, "192.0.2.1", "192.0.2.1:7471" },
		{ "0.0.0.0", AF_INET, "0.0.0.0", "0.0.0.0:7471" },
		{ "::", AF_INET6, "::", "[::]:7471" },
		{ "::1", AF_INET6, "::1", "[::1]:7471" },
		{ "2001:DB8:0:0::0001", AF_INET6, "2001:db8::1", "[2001:db8::1]:7471" },
		{ "fe80::1%lo", AF_INET6, "fe80::1%lo", "[fe80::1%lo]:7471" },
		{ "::ffff:192.0.2.1", AF_INET6, "192.0.2.1", "192.0.2.1:7471" },
		{ "fe80::1%4294967295", AF_INET6, "fe80::1%4294967295",
		    "[fe80::1%4294967295]:7471" },
		{ "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", AF_INET6,
		    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		    "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:7471" },
	};
	struct sockaddr_storage addr;
	char buf[ADDR_TEXT_MAX];
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		memset(&addr, 0xff, sizeof(addr));
		ck_assert_msg(addr_parse(cases[i].text, 7471, &addr, NULL) == 0, "%s",
		    cases[i].text);
		ck_assert_int_eq(addr.ss_family, cases[i].family);
		ck_assert_uint_eq(addr_port(&addr), 7471);
		ck_assert_str_eq(addr_format_ip(&addr, buf, sizeof(buf)), cases[i].ip);
		ck_assert_str_eq(addr_format(&addr, buf, sizeof(buf)), cases[i].shown);
	}
}
END_TEST

START_TEST(the_zone_is_the_interface)
{
	struct sockaddr_storage addr;
	struct sockaddr_in6 in6;

	ck_assert_int_eq(addr_parse("fe80::1%lo", 1, &addr, NULL), 0);
	memcpy(&in6, &addr, sizeof(in6));
	ck_assert_uint_eq(in6.sin6_scope_id, if_nametoindex("lo"));
}
END_TEST

START_TEST(addresses_refused)
{
	static const char *const cases[] = { "", "localhost", "192.0.2", "192.0.2.256",
		"192.0.2.1.", "192.0.2.1 ", " 192.0.2.1", "0x7f.0.0.1", "127.1",
		"010.0.0.1", "2130706433", "192.0.2.1%lo", "192.0.2.1/32", ":",
		":::", "1::2::3", "[::1]", "::1 ", "g::1", "fe80::1%",
		"fe80::1%nosuchif0", "fe80::1%0", "fe80::1%4294967296", "fe80::1%lo%lo",
		"%lo", "::1%%", "1:2:3:4:5:6:7:8:9", "::ffff:192.0.2.256",
		"0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000" };
	struct sockaddr_storage addr;
	struct err err;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		memset(&err, 0, sizeof(err));
		memset(&addr, 0x55, sizeof(addr));
		ck_assert_msg(addr_parse(cases[i], 1, &addr, &err) == -EINVAL, "\"%s\"",
		    cases[i]);
		ck_assert_int_eq(err.code, ERR_INVALID_PARAMS);
		ck_assert_msg(strstr(err.text, cases[i]) != NULL, "%s", err.text);
		ck_assert_uint_eq(addr.ss_family, 0x5555);
	}
}
END_TEST

START_TEST(host_and_port)
{
	static const struct {
		const char *text;
		const char *host; /* NULL: refused */
		uint16_t port;
	} cases[] = {
		{ "192.0.2.1:7471", "192.0.2.1", 7471 },
		{ "node7.example:1", "node7.example", 1 },
		{ "[::1]:0", "::1", 0 },
		{ "[fe80::1%eth0]:65535", "fe80::1%eth0", 65535 },
		{ "", NULL, 0 },
		{ ":", NULL, 0 },
		{ ":1", NULL, 0 },
		{ "[]:1", NULL, 0 },
		{ "192.0.2.1", NULL, 0 },
		{ "192.0.2.1:", NULL, 0 },
		{ "192.0.2.1:65536", NULL, 0 },
		{ "192.0.2.1:99999999999999999999", NULL, 0 },
		{ "192.0.2.1:-1", NULL, 0 },
		{ "192.0.2.1:+1", NULL, 0 },
		{ "192.0.2.1: 1", NULL, 0 },
		{ "192.0.2.1:1x", NULL, 0 },
		{ "192.0.2.1:1:2", NULL, 0 },
		{ "::1:1", NULL, 0 },
		{ "[::1]", NULL, 0 },
		{ "[::1]1", NULL, 0 },
		{ "[::1]:", NULL, 0 },
		{ "[::1", NULL, 0 },
		{ "[::1:1", NULL, 0 },
		{ "[192.0.2.1]:1", NULL, 0 },
	};
	uint16_t port;
	struct err err;
	char host[64];
	size_t i;
	int rc;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		memset(&err, 0, sizeof(err));
		rc = addr_split(cases[i].text, host, sizeof(host), &port, &err);
		ck_assert_msg(rc == (cases[i].host ? 0 : -EINVAL), "\"%s\": %d",
		    cases[i].text, rc);
		if (cases[i].host) {
			ck_assert_str_eq(host, cases[i].host);
			ck_assert_uint_eq(port, cases[i].port);
		} else {
			ck_assert_int_eq(err.code, ERR_INVALID_PARAMS);
			ck_assert_msg(err.text[0] && err.hint[0], "%s", cases[i].text);
		}
	}
	ck_assert_int_eq(addr_split("12345678:1", host, 9, &port, NULL), 0);
	ck_assert_int_eq(addr_split("12345678:1", host, 8, &port, NULL), -EINVAL);
}
END_TEST

START_TEST(hostport_is_parsed)
{
	struct sockaddr_storage addr;
	char buf[ADDR_TEXT_MAX], large[256];
	struct err err;

	ck_assert_int_eq(addr_parse_hostport("[fe80::2%lo]:9", &addr, NULL), 0);
	ck_assert_str_eq(addr_format(&addr, buf, sizeof(buf)), "[fe80::2%lo]:9");
	ck_assert_int_eq(addr_parse_hostport("node7:9", &addr, &err), -EINVAL);
	ck_assert_str_eq(err.text, "\"node7\" is not a numeric address");
	ck_assert_int_eq(addr_parse_hostport("node7", &addr, &err), -EINVAL);
	memset(large, '1', sizeof(large));
	memcpy(large + sizeof(large) - 3, ":1", 3);
	ck_assert_int_eq(addr_parse_hostport(large, &addr, &err), -EINVAL);
}
END_TEST

static struct sockaddr_storage
parsed(const char *hostport)
{
	struct sockaddr_storage addr;

	ck_assert_msg(addr_parse_hostport(hostport, &addr, NULL) == 0, "%s", hostport);
	return addr;
}

START_TEST(equality)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} cases[] = {
		{ "192.0.2.1:1", "192.0.2.1:1", true },
		{ "192.0.2.1:1", "192.0.2.1:2", false },
		{ "192.0.2.1:1", "192.0.2.2:1", false },
		{ "192.0.2.1:1", "[::ffff:192.0.2.1]:1", true },
		{ "[::1]:1", "[0::1]:1", true },
		{ "[::1]:1", "0.0.0.1:1", false },
		{ "[fe80::1%1]:1", "[fe80::1%2]:1", false },
		{ "0.0.0.0:1", "[::]:1", false },
	};
	struct sockaddr_storage a, b;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		a = parsed(cases[i].a);
		b = parsed(cases[i].b);
		ck_assert_msg(addr_equal(&a, &b) == cases[i].equal, "%s %s", cases[i].a,
		    cases[i].b);
		ck_assert_msg(addr_equal(&b, &a) == cases[i].equal, "%s %s", cases[i].b,
		    cases[i].a);
	}
}
END_TEST

START_TEST(wildcards_and_lengths)
{
	struct sockaddr_storage addr;

	addr = parsed("0.0.0.0:1");
	ck_assert(addr_is_wildcard(&addr));
	ck_assert_uint_eq(addr_len(&addr), sizeof(struct sockaddr_in));
	addr = parsed("[::]:1");
	ck_assert(addr_is_wildcard(&addr));
	ck_assert_uint_eq(addr_len(&addr), sizeof(struct sockaddr_in6));
	addr = parsed("[::ffff:0.0.0.0]:1");
	ck_assert(addr_is_wildcard(&addr));
	addr = parsed("[::1]:1");
	ck_assert(!addr_is_wildcard(&addr));
	addr = parsed("127.0.0.1:1");
	ck_assert(!addr_is_wildcard(&addr));
}
END_TEST

START_TEST(multicast)
{
	static const struct {
		const char *text;
		bool is_multicast;
	} cases[] = { { "223.255.255.255", false }, { "224.0.0.1", true },
		{ "255.255.255.255", true }, { "fe80::1", false }, { "ff02::1", true },
		{ "::ffff:224.0.0.1", true } };
	struct sockaddr_storage addr;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		ck_assert_int_eq(addr_parse(cases[i].text, 1, &addr, NULL), 0);
		ck_assert_msg(addr_is_multicast(&addr) == cases[i].is_multicast, "%s",
		    cases[i].text);
	}
}
END_TEST

START_TEST(other_families)
{
	struct sockaddr_storage addr = { .ss_family = AF_UNIX };
	char buf[ADDR_TEXT_MAX];

	ck_assert_str_eq(addr_format(&addr, buf, sizeof(buf)), "-");
	ck_assert_str_eq(addr_format_ip(&addr, buf, sizeof(buf)), "-");
	ck_assert_uint_eq(addr_len(&addr), 0);
	ck_assert_uint_eq(addr_port(&addr), 0);
	ck_assert(!addr_is_wildcard(&addr));
	ck_assert(!addr_equal(&addr, &addr));
}
END_TEST

START_TEST(networks)
{
	static const struct {
		const char *net;
		const char *addr;
		bool holds;
	} cases[] = {
		{ "10.0.0.0/8", "10.255.255.255:1", true },
		{ "10.0.0.0/8", "11.0.0.0:1", false },
		{ "10.0.0.0/8", "9.255.255.255:1", false },
		{ "10.0.0.0/8", "[::ffff:10.1.2.3]:1", true },
		{ "10.0.0.0/8", "[a00::]:1", false },
		{ "192.0.2.128/25", "192.0.2.128:1", true },
		{ "192.0.2.128/25", "192.0.2.127:1", false },
		{ "192.0.2.4/30", "192.0.2.7:1", true },
		{ "192.0.2.4/30", "192.0.2.8:1", false },
		{ "192.0.2.1", "192.0.2.1:9", true },
		{ "192.0.2.1", "192.0.2.2:9", false },
		{ "0.0.0.0/0", "255.255.255.255:1", true },
		{ "0.0.0.0/0", "[::]:1", false },
		{ "2001:db8::/32", "[2001:db8:ffff::1]:1", true },
		{ "2001:db8::/32", "[2001:db9::1]:1", false },
		{ "2001:db8::/33", "[2001:db8:8000::]:1", false },
		{ "fe80::/10", "[fe80::1%1]:1", true },
		{ "::1", "[::1]:1", true },
		{ "::1/128", "[::2]:1", false },
		{ "::/0", "[2001:db8::1]:1", true },
		{ "::/0", "192.0.2.1:1", false },
		{ "::ffff:10.0.0.0/104", "10.9.9.9:1", true },
		{ "::ffff:10.0.0.0/104", "11.9.9.9:1", false },
		{ "::ffff:0:0/96", "203.0.113.9:1", true },
	};
	struct sockaddr_storage addr;
	struct addr_net net;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		ck_assert_msg(addr_net_parse(cases[i].net, &net, NULL) == 0, "%s",
		    cases[i].net);
		addr = parsed(cases[i].addr);
		ck_assert_msg(addr_net_contains(&net, &addr) == cases[i].holds, "%s %s",
		    cases[i].net, cases[i].addr);
	}
	memset(&addr, 0, sizeof(addr));
	ck_assert(!addr_net_contains(&net, &addr));
}
END_TEST

START_TEST(networks_refused)
{
	static const char *const cases[] = { "", "/", "/8", "10.0.0.0/", "10.0.0.0/33",
		"10.0.0.0/-1", "10.0.0.0/8x", "10.0.0.0/8/8", "10.0.0.0/255.0.0.0",
		"10.0.0/8", "net/8", "::/129", "fe80::%lo/10", "10.0.0.1/8",
		"2001:db8::1/64", "192.0.2.255/31", "::ffff:10.0.0.1/104",
		"1111:1111:1111:1111:1111:1111:1111:1111:1111:1111:1111/8" };
	struct addr_net net = { .family = -1 };
	struct err err;
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		memset(&err, 0, sizeof(err));
		ck_assert_msg(addr_net_parse(cases[i], &net, &err) == -EINVAL, "\"%s\"",
		    cases[i]);
		ck_assert_int_eq(net.family, -1);
		ck_assert_int_eq(err.code, ERR_INVALID_PARAMS);
		ck_assert_msg(strstr(err.text, cases[i]) != NULL, "%s", err.text);
	}
	ck_assert_int_eq(addr_net_parse("192.0.2.255/31", &net, &err), -EINVAL);
	ck_assert_str_eq(err.hint, "write 192.0.2.254/31 for the network");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("addr");
	TCase *tcase = tcase_create("addr");

	tcase_add_test(tcase, addresses_taken);
	tcase_add_test(tcase, the_zone_is_the_interface);
	tcase_add_test(tcase, addresses_refused);
	tcase_add_test(tcase, host_and_port);
	tcase_add_test(tcase, hostport_is_parsed);
	tcase_add_test(tcase, equality);
	tcase_add_test(tcase, wildcards_and_lengths);
	tcase_add_test(tcase, multicast);
	tcase_add_test(tcase, other_families);
	tcase_add_test(tcase, networks);
	tcase_add_test(tcase, networks_refused);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
