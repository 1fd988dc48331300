/* SPDX-License-Identifier: BSD-3-Clause */
/* What the examples share: errors end the program, and the steps that each of them takes. */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <librpma.h>

/* A call that must succeed, or the program says which one failed and why, and ends. */
#define MUST(call) must((call), #call)
void must(int result, const char *call);

/* Print the usage and end unless argv is PROGRAM server|client ADDR PORT [...]. */
int is_server(int argc, char *argv[], const char *more);

/* The device behind an address, and a protection domain on it. */
struct rpma_peer *peer_at(const char *addr, enum rpma_util_ibv_context_type type);

/* Memory of whole pages, all zero. RDMA wants no more than memory that stays where it is. */
void *memory_new(size_t size);

/* Connect and wait until the connection is there. cfg NULL: the defaults. */
struct rpma_conn *dial(struct rpma_peer *peer, const char *addr, const char *port,
    const struct rpma_conn_cfg *cfg);

/* Accept a request and wait until the connection is there. pdata NULL: none. */
struct rpma_conn *establish(struct rpma_conn_req *req,
    const struct rpma_conn_private_data *pdata);

/* End a connection from this side. */
void hang_up(struct rpma_conn *conn);

/* Wait until the peer ends the connection, and end it here. */
void wait_for_hang_up(struct rpma_conn *conn);

/* Sleep until there is a completion. What it says of success was checked. */
void next_completion(struct rpma_cq *cq, struct ibv_wc *wc);

#endif
