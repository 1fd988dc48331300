/* SPDX-License-Identifier: BSD-3-Clause */
/* rpma_fixture.c: set-up and proof of cleanliness of the tests of librpma. */
#include <config.h>

#include "tests/unit/rpma_fixture.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct rpma_peer *the_peer;
static struct rpma_mr_local *the_mr;
static char memory[FIXTURE_MR_SIZE] __attribute__((aligned(FIXTURE_MR_SIZE)));
static unsigned int logs;
static char last_log[1024];

static void __attribute__((format(printf, 5, 6)))
record_log(enum rpma_log_level level, const char *file_name, const int line_no,
    const char *function_name, const char *message_format, ...)
{
	va_list args;

	(void)level;
	(void)file_name;
	(void)line_no;
	(void)function_name;
	va_start(args, message_format);
	(void)vsnprintf(last_log, sizeof(last_log), message_format, args);
	va_end(args);
	logs++;
}

static void
set_up(void)
{
	fake_reset();
	rpma_log_set_function(record_log);
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_LEVEL_WARNING);
	the_mr = NULL;
	ck_assert_int_eq(rpma_peer_new(fake_context(0), &the_peer), 0);
	fake_trace_clear();
	logs = 0;
	last_log[0] = '\0';
}

static void
tear_down(void)
{
	ck_assert_int_eq(rpma_mr_dereg(&the_mr), 0);
	ck_assert_int_eq(rpma_peer_delete(&the_peer), 0);
	ck_assert_str_eq(fake_misuse(), "");
	ck_assert_str_eq(fake_leaks(), "");
	fake_reset();
}

TCase *
fixture_case(Suite *suite, const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60); /* valgrind, on a busy machine */
	suite_add_tcase(suite, tc);
	return tc;
}

struct rpma_peer *
fixture_peer(void)
{
	return the_peer;
}

unsigned int
fixture_logs(void)
{
	return logs;
}

const char *
fixture_last_log(void)
{
	return last_log;
}

struct sockaddr *
fixture_sockaddr(const char *addr, uint16_t port)
{
	static struct sockaddr_storage storage;
	struct sockaddr_in *sin = (struct sockaddr_in *)&storage;
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)&storage;

	memset(&storage, 0, sizeof(storage));
	if (inet_pton(AF_INET, addr, &sin->sin_addr) == 1) {
		sin->sin_family = AF_INET;
		sin->sin_port = htons(port);
	} else {
		memset(&storage, 0, sizeof(storage));
		ck_assert_int_eq(inet_pton(AF_INET6, addr, &sin6->sin6_addr), 1);
		sin6->sin6_family = AF_INET6;
		sin6->sin6_port = htons(port);
	}
	return (struct sockaddr *)&storage;
}

uint16_t
fixture_port(const struct sockaddr_storage *storage)
{
	return ntohs(storage->ss_family == AF_INET6
		? ((const struct sockaddr_in6 *)storage)->sin6_port
		: ((const struct sockaddr_in *)storage)->sin_port);
}

bool
fixture_is_addr(const struct sockaddr_storage *storage, const char *addr, uint16_t port)
{
	char text[INET6_ADDRSTRLEN];
	const void *bytes = storage->ss_family == AF_INET6
	    ? (const void *)&((const struct sockaddr_in6 *)storage)->sin6_addr
	    : (const void *)&((const struct sockaddr_in *)storage)->sin_addr;

	if (!inet_ntop(storage->ss_family, bytes, text, sizeof(text)))
		return false;
	return !strcmp(text, addr) && (port == 0 || fixture_port(storage) == port);
}

struct rpma_conn *
fixture_connect(const struct rpma_conn_cfg *cfg)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	struct rpma_conn_req *req = NULL;
	struct rpma_conn *conn = NULL;

	fake_dial_script(FIXTURE_ADDR, 0, 0, FAKE_DIAL_ACCEPT, 0, NULL, 0);
	ck_assert_int_eq(rpma_conn_req_new(the_peer, FIXTURE_ADDR, FIXTURE_PORT_STR,
			     cfg, &req),
	    0);
	ck_assert_int_eq(rpma_conn_req_connect(&req, NULL, &conn), 0);
	ck_assert_int_eq(rpma_conn_next_event(conn, &event), 0);
	ck_assert_int_eq(event, RPMA_CONN_ESTABLISHED);
	fake_trace_clear();
	return conn;
}

uint32_t
fixture_qp_num(const struct rpma_conn *conn)
{
	uint32_t qp_num = 0;

	ck_assert_int_eq(rpma_conn_get_qp_num(conn, &qp_num), 0);
	return qp_num;
}

struct rpma_mr_local *
fixture_mr(void)
{
	if (!the_mr)
		ck_assert_int_eq(rpma_mr_reg(the_peer, memory, sizeof(memory),
				     RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &the_mr),
		    0);
	return the_mr;
}

char *
fixture_memory(void)
{
	return memory;
}

void
fixture_nonblock(int fd)
{
	ck_assert_int_eq(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
}
