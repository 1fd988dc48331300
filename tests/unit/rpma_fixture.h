/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpma_fixture.h: what the tests of librpma share: the doubles of the provider, a peer
 * on device fake0, and the proof after each test that nothing is left of either.
 */
#ifndef RPMAD_TESTS_UNIT_RPMA_FIXTURE_H
#define RPMAD_TESTS_UNIT_RPMA_FIXTURE_H

#include <stdint.h>
#include <sys/socket.h>

#include "lib/rpma/librpma.h"
#include "tests/fake/fake.h"
#include "tests/unit/harness.h"

/* Where outgoing connections of the tests go; fake0 owns the address. */
#define FIXTURE_ADDR     "127.0.0.1"
#define FIXTURE_PORT     7471
#define FIXTURE_PORT_STR "7471"

/* A test case whose tests start with a peer and must end without a trace. */
TCase *fixture_case(Suite *suite, const char *name);

/* The peer of the running test. */
struct rpma_peer *fixture_peer(void);

/* Messages that the library logged since the test began; the last of them, or "". */
unsigned int fixture_logs(void);
const char *fixture_last_log(void);

/* A numeric address of either family; aborts the test if it is none. */
struct sockaddr *fixture_sockaddr(const char *addr, uint16_t port);

/* Whether an address is this one; port 0: any. */
bool fixture_is_addr(const struct sockaddr_storage *storage, const char *addr,
    uint16_t port);

/* The port of an address. */
uint16_t fixture_port(const struct sockaddr_storage *storage);

/*
 * An outgoing connection with a channel of its own, established with a peer that
 * accepts at once. cfg: NULL for the defaults.
 */
struct rpma_conn *fixture_connect(const struct rpma_conn_cfg *cfg);

/* The number of a connection's queue pair. */
uint32_t fixture_qp_num(const struct rpma_conn *conn);

/* A registered page of memory, one for each test; RECV and SEND. */
struct rpma_mr_local *fixture_mr(void);
#define FIXTURE_MR_SIZE 4096
char *fixture_memory(void);

/* Give a descriptor back its O_NONBLOCK, or take it. */
void fixture_nonblock(int fd);

/* Assert that a call failed in the provider, and with which errno. */
#define assert_provider(call, errnum)                              \
	do {                                                       \
		ck_assert_int_eq((call), RPMA_E_PROVIDER);         \
		ck_assert_int_eq(rpma_err_last_errno(), (errnum)); \
	} while (0)

/* A pointer that no call may write to a variable of it. */
#define UNTOUCHED(type) ((type *)(uintptr_t)0x5a5a5a50u)

#endif
