/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_rpma_names.c: names that stand for several addresses, over a name service of
 * its own: "many.test" is 192.0.2.1, 192.0.2.2 and 127.0.0.1 (in this order),
 * "bad.test" the first two.
 */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/rpma_fixture.h"

/* One entry of a list, with its address. */
struct entry {
	struct addrinfo ai;
	struct sockaddr_in sin;
};

static struct addrinfo *
prepend(const char *addr, const char *port, struct addrinfo *next)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	ck_assert_ptr_nonnull(entry);
	entry->sin.sin_family = AF_INET;
	entry->sin.sin_port = htons(port ? (uint16_t)atoi(port) : 0);
	ck_assert_int_eq(inet_pton(AF_INET, addr, &entry->sin.sin_addr), 1);
	entry->ai.ai_family = AF_INET;
	entry->ai.ai_addr = (struct sockaddr *)&entry->sin;
	entry->ai.ai_addrlen = sizeof(entry->sin);
	entry->ai.ai_next = next;
	return &entry->ai;
}

/* How many look-ups from now on succeed. */
static int lookups_left;

int
getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
    struct addrinfo **list)
{
	struct in_addr number;

	if (lookups_left-- <= 0)
		return EAI_AGAIN;
	if (inet_pton(AF_INET, node, &number) == 1) {
		*list = prepend(node, service, NULL);
		return 0;
	}
	if (hints->ai_flags & AI_NUMERICHOST || !strstr(node, ".test"))
		return EAI_NONAME;
	*list = strcmp(node, "bad.test") ? prepend("127.0.0.1", service, NULL) : NULL;
	*list = prepend("192.0.2.2", service, *list);
	*list = prepend("192.0.2.1", service, *list);
	return 0;
}

void
freeaddrinfo(struct addrinfo *list)
{
	struct addrinfo *next;

	for (; list; list = next) {
		next = list->ai_next;
		free(list); /* is the first member of its entry */
	}
}

static void
set_up(void)
{
	lookups_left = 100;
	fake_addr_local("192.0.2.2");
}

static void
tear_down(void)
{
	ck_assert_uint_eq(fake_live(FAKE_ADDRINFO), 0);
}

START_TEST(test_listen)
{
	struct rpma_ep *ep = NULL;
	struct sockaddr_storage addr;

	ck_assert_int_eq(rpma_ep_listen(fixture_peer(), "many.test", "7471", &ep), 0);
	ck_assert_ptr_nonnull(strstr(fake_trace_args(), "addr=192.0.2.1:7471"));
	ck_assert_ptr_nonnull(strstr(fake_trace_args(), "addr=192.0.2.2:7471"));
	ck_assert_uint_eq(fake_called("rdma_bind_addr"), 3);
	ck_assert_uint_eq(fake_called("rdma_getaddrinfo"), 1);
	ck_assert_int_eq(rpma_ep_get_addr(ep, &addr), 0);
	ck_assert(fixture_is_addr(&addr, "127.0.0.1", 7471));
	ck_assert_int_eq(rpma_ep_shutdown(&ep), 0);
}
END_TEST

START_TEST(test_connect)
{
	struct rpma_conn_req *req = NULL;
	struct sockaddr_storage addr;

	ck_assert_int_eq(rpma_conn_req_new(fixture_peer(), "many.test", "7471", NULL,
			     &req),
	    0);
	ck_assert_uint_eq(fake_called("rdma_resolve_addr"), 3);
	ck_assert_uint_eq(fake_called("rdma_resolve_route"), 1);
	ck_assert_int_eq(rpma_conn_req_get_peer_addr(req, &addr), 0);
	ck_assert(fixture_is_addr(&addr, "127.0.0.1", 7471));
	ck_assert_int_eq(rpma_conn_req_delete(&req), 0);
}
END_TEST

/* All that rdma_getaddrinfo(3) lists are tried, each once; no other look-up is needed. */
START_TEST(test_list)
{
	struct rpma_conn_req *req = NULL;
	struct rpma_ep *ep = UNTOUCHED(struct rpma_ep);
	struct sockaddr_storage addr;

	fake_options()->all_addrs = true;
	lookups_left = 1;
	ck_assert_int_eq(rpma_conn_req_new(fixture_peer(), "many.test", "7471", NULL,
			     &req),
	    0);
	ck_assert_uint_eq(fake_called("rdma_resolve_addr"), 3);
	ck_assert_int_eq(rpma_conn_req_get_peer_addr(req, &addr), 0);
	ck_assert(fixture_is_addr(&addr, "127.0.0.1", 7471));
	ck_assert_int_eq(rpma_conn_req_delete(&req), 0);

	lookups_left = 100;
	assert_provider(rpma_ep_listen(fixture_peer(), "bad.test", "1", &ep), ENODEV);
	ck_assert_uint_eq(fake_called("rdma_bind_addr"), 2);
	ck_assert_ptr_eq(ep, UNTOUCHED(struct rpma_ep));
}
END_TEST

START_TEST(test_context)
{
	struct ibv_context *context = NULL;

	ck_assert_int_eq(rpma_utils_get_ibv_context("many.test",
			     RPMA_UTIL_IBV_CONTEXT_LOCAL, &context),
	    0);
	ck_assert_ptr_eq(context, fake_context(0));
	context = NULL;
	ck_assert_int_eq(rpma_utils_get_ibv_context("many.test",
			     RPMA_UTIL_IBV_CONTEXT_REMOTE, &context),
	    0);
	ck_assert_ptr_eq(context, fake_context(0));
}
END_TEST

/* When none is good, the last says why. */
START_TEST(test_none)
{
	struct rpma_ep *ep = UNTOUCHED(struct rpma_ep);

	assert_provider(rpma_ep_listen(fixture_peer(), "bad.test", "1", &ep), ENODEV);
	ck_assert_uint_eq(fake_called("rdma_bind_addr"), 2);
	assert_provider(rpma_ep_listen(fixture_peer(), "unknown", "1", &ep), 0);
	ck_assert_ptr_nonnull(strstr(fixture_last_log(), gai_strerror(EAI_NONAME)));
	ck_assert_ptr_eq(ep, UNTOUCHED(struct rpma_ep));
}
END_TEST

/* The name service gives out in between: the first address says why. */
START_TEST(test_name_service_fails)
{
	struct rpma_ep *ep = UNTOUCHED(struct rpma_ep);

	lookups_left = 1;
	assert_provider(rpma_ep_listen(fixture_peer(), "many.test", "1", &ep),
	    EADDRNOTAVAIL);
	ck_assert_uint_eq(fake_called("rdma_bind_addr"), 1);
	ck_assert_ptr_eq(ep, UNTOUCHED(struct rpma_ep));
}
END_TEST

/* A numeric address has no others. */
START_TEST(test_number)
{
	struct rpma_ep *ep = UNTOUCHED(struct rpma_ep);

	assert_provider(rpma_ep_listen(fixture_peer(), "192.0.2.1", "1", &ep),
	    EADDRNOTAVAIL);
	ck_assert_uint_eq(fake_called("rdma_bind_addr"), 1);
	ck_assert_ptr_eq(ep, UNTOUCHED(struct rpma_ep));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpma_names");
	TCase *tc = fixture_case(suite, "names");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, test_listen);
	tcase_add_test(tc, test_connect);
	tcase_add_test(tc, test_list);
	tcase_add_test(tc, test_context);
	tcase_add_test(tc, test_none);
	tcase_add_test(tc, test_name_service_fails);
	tcase_add_test(tc, test_number);
	return harness_run(suite);
}
