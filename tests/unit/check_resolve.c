/* SPDX-License-Identifier: BSD-3-Clause */
/* Names with several addresses: which are asked for, and when the next one is tried.
 * The resolver is a double, so that no network is needed. */
#include <config.h>

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/exit.h"
#include "ctl/resolve.h"
#include "lib/core/addr.h"
#include "lib/core/compiler.h"
#include "tests/unit/ctl_harness.h"
#include "tests/unit/harness.h"

#define END                             \
	{                               \
		NULL, STEP_RESULT, NULL \
	}

/* What a name leads to: addresses with the port that was asked for. */
static const char *const two_homes[] = { "2001:db8::9", "192.0.2.9", NULL };
static const char *const many[] = { "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4",
	"192.0.2.5", "192.0.2.6", "192.0.2.7", "192.0.2.8", "192.0.2.9", "192.0.2.10",
	"192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.14", "192.0.2.15",
	"192.0.2.16", "192.0.2.17", "192.0.2.18", NULL };

/* An entry with its address behind it. */
struct entry {
	struct addrinfo info;
	struct sockaddr_storage addr;
};

int
getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
    struct addrinfo **out)
{
	const char *const *addrs = strcmp(node, "two-homes") == 0 ? two_homes
	    : strcmp(node, "many") == 0                           ? many
								  : NULL;
	struct addrinfo **end = out;
	struct entry *entry;

	ck_assert_int_eq(hints->ai_socktype, SOCK_STREAM);
	*out = NULL;
	if (!addrs)
		return EAI_NONAME;
	for (; *addrs; addrs++) {
		entry = calloc(1, sizeof(*entry));
		ck_assert_int_eq(addr_parse(*addrs, (uint16_t)atoi(service),
				     &entry->addr, NULL),
		    0);
		entry->info.ai_addr = (struct sockaddr *)&entry->addr;
		entry->info.ai_addrlen = addr_len(&entry->addr);
		*end = &entry->info;
		end = &entry->info.ai_next;
	}
	return 0;
}

void
freeaddrinfo(struct addrinfo *list)
{
	struct addrinfo *next;

	for (; list; list = next) {
		next = list->ai_next;
		free(list);
	}
}

START_TEST(addresses)
{
	struct sockaddr_storage addrs[RESOLVE_MAX];
	char text[ADDR_TEXT_MAX];
	struct err err;

	ck_assert_int_eq(resolve_hostport("two-homes:7471", addrs, &err), 2);
	ck_assert_str_eq(addr_format(&addrs[0], text, sizeof(text)),
	    "[2001:db8::9]:7471");
	ck_assert_str_eq(addr_format(&addrs[1], text, sizeof(text)), "192.0.2.9:7471");
	ck_assert_int_eq(resolve_hostport("many:1", addrs, &err), RESOLVE_MAX);
	ck_assert_int_eq(resolve_hostport("[fe80::1%lo]:1", addrs, &err), 1);
	ck_assert_str_eq(addr_format(&addrs[0], text, sizeof(text)), "[fe80::1%lo]:1");
	ck_assert_int_eq(resolve_hostport("nowhere:1", addrs, &err), -EREMOTEIO);
	ck_assert_int_eq(err.code, ERR_ADDR_UNRESOLVED);
	ck_assert_int_eq(resolve_hostport("two-homes", addrs, &err), -EINVAL);
	ck_assert_int_eq(resolve_hostport(":1", addrs, &err), -EINVAL);
	ck_assert_int_eq(resolve_hostport("[2001:db8::x]:1", addrs, &err), -EINVAL);
}
END_TEST

/* clang-format off */
#define FIRST  "\"method\":\"conn.open\",\"params\":{\"addr\":\"2001:db8::9\",\"port\":7,\"timeout_ms\":50}}"
#define SECOND "\"method\":\"conn.open\",\"params\":{\"addr\":\"192.0.2.9\",\"port\":7,\"timeout_ms\":50}}"
#define ERROR(name, code) "{\"code\":" code ",\"message\":\"no\",\"data\":{\"name\":\"" name "\",\"retryable\":true}}"
#define OPENED "{\"conn\":4,\"peer\":\"192.0.2.9:7\",\"local\":\"192.0.2.7:9\",\"peer_slot_size\":null}"
/* clang-format on */

static struct capture capture;

static void
run(const struct step *steps)
{
	struct server server;

	server_start(&server, NULL, steps);
	ctl_run(&capture, server.path,
	    ARGS("connect", "two-homes:7", "--timeout-ms", "50"));
	ck_assert_int_eq(server_stop(&server), 0);
}

START_TEST(the_next_address_is_tried)
{
	static const struct step steps[] = {
		{ FIRST, STEP_ERROR, ERROR("CONN_UNREACHABLE", "-32023") },
		{ SECOND, STEP_RESULT, OPENED },
		END,
	};

	run(steps);
	ck_assert_int_eq(capture.status, 0);
	ck_assert_str_eq(capture.out, "connection 4 to 192.0.2.9:7 is open\n");
}
END_TEST

START_TEST(the_last_address_decides)
{
	static const struct step steps[] = {
		{ FIRST, STEP_ERROR, ERROR("ADDR_UNRESOLVED", "-32021") },
		{ SECOND, STEP_ERROR, ERROR("WRONG_DEVICE", "-32020") },
		END,
	};

	run(steps);
	ck_assert_int_eq(capture.status, EXIT_STATUS_FAILED);
	ck_assert_str_eq(capture.err, "rpmactl: connect: no\n");
}
END_TEST

/* What concerns no address concerns them all. */
START_TEST(other_errors_end_it)
{
	static const struct step steps[] = {
		{ FIRST, STEP_ERROR, ERROR("NOT_READY", "-32000") },
		END,
	};

	run(steps);
	ck_assert_int_eq(capture.status, EXIT_STATUS_NOT_READY);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("resolve");
	TCase *tcase = tcase_create("resolve");

	tcase_add_test(tcase, addresses);
	tcase_add_test(tcase, the_next_address_is_tried);
	tcase_add_test(tcase, the_last_address_decides);
	tcase_add_test(tcase, other_errors_end_it);
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
