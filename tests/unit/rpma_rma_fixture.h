/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpma_rma_fixture.h: what the tests of remote memory share: a connection, memory on this
 * side and on the other, and a request for the device compared member by member.
 */
#ifndef RPMAD_TESTS_UNIT_RPMA_RMA_FIXTURE_H
#define RPMAD_TESTS_UNIT_RPMA_RMA_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/rpma/librpma.h"
#include "tests/fake/fake.h"

#define RMA_SIZE 256

/* One test's world; everything lives in the fixture of rpma_fixture.h. */
struct rma {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_local *local; /* to read into and to write from */
	unsigned char *here;         /* its RMA_SIZE bytes */
	struct rpma_mr_local *target;
	struct rpma_mr_remote *remote; /* of the target, with its usage */
	unsigned char *there;          /* its RMA_SIZE bytes, aligned to 64 */
};

/* Connect (cfg NULL: the defaults) and register; here is 0x11, there is 0x22. */
void rma_start(struct rma *rma, const struct rpma_conn_cfg *cfg, int usage);
void rma_stop(struct rma *rma);

/* A remote region of the target's key and usage, elsewhere or of another size. */
struct rpma_mr_remote *rma_remote(const struct rma *rma, uint64_t addr, uint64_t size,
    int usage);

/* Assert that the newest request was this one. len 0: it has no memory of this side. */
void rma_check(const struct rma *rma, int opcode, unsigned int send_flags,
    size_t here_offset, size_t len, size_t there_offset);

/* Assert that one completion of success waits, of this operation. */
void rma_check_wc(const struct rma *rma, uint64_t wr_id, int opcode);

#endif
