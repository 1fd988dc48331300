/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conn.h: a connection from the first sign of it to its end: as a request that came in,
 * as a dial under way, and established. The handles of the public interface are views
 * of it.
 */
#ifndef RPMAD_LIB_RPMA_CONN_H
#define RPMAD_LIB_RPMA_CONN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/rpma/librpma.h"
#include "lib/rpma/node.h"
#include "lib/rpma/queues.h"

struct rdma_cm_id;
struct rdma_conn_param;
struct rdma_event_channel;
struct rpmai_dial;

/* The most private data that librdmacm can carry; its lengths are of 8 bits. */
#define RPMAI_PDATA_MAX 255

enum rpmai_conn_state {
	CONN_REQUESTED,  /* incoming, neither accepted nor refused */
	CONN_IDLE,       /* outgoing, resolved, not asked for yet */
	CONN_DIAL_ADDR,  /* outgoing, the address is being resolved */
	CONN_DIAL_ROUTE, /* outgoing, the route is being resolved */
	CONN_CONNECTING, /* asked for, or accepted */
	CONN_ESTABLISHED,
	CONN_ENDED,
};

struct rpma_conn {
	struct rpmai_node node; /* what the id's context points to */
	struct rpma_peer *peer; /* referred to */
	struct rdma_cm_id *id;  /* owned */
	/* owned; NULL: that of a struct rpma_cm is used */
	struct rdma_event_channel *channel;
	struct rpmai_queues queues;
	struct rpmai_dial *dial; /* owned; NULL: none is under way */
	void *context;           /* the caller's */
	enum rpmai_conn_state state;
	bool is_passive;
	bool can_flush_to_pmem;  /* the peer said so, see rpma_peer_cfg_* */
	bool is_pdata_of_reject; /* pdata came with a refusal */
	int event_status;  /* of the last event, see rpma_conn_get_event_status() */
	uint8_t rnr_retry; /* 0 .. 7 */
	uint8_t pdata_len; /* bytes; 0: the peer sent none */
	uint8_t pdata[RPMAI_PDATA_MAX];
};

/* A handle of a connection that was not connected or accepted yet. */
struct rpma_conn_req {
	struct rpma_conn *conn; /* owned */
};

/* Allocate a connection without an id. NULL: out of memory. */
struct rpma_conn *rpmai_conn_new(struct rpma_peer *peer);

/*
 * Destroy a connection with all that is its own; NULL and half-built ones are allowed.
 * A request that was neither accepted nor refused is refused.
 *
 * ret      see rpmai_err_note()
 */
void rpmai_conn_free(struct rpma_conn *conn, int *ret);

/*
 * Give the id an event channel of the connection's own. No event of the id may be
 * waiting for its acknowledgement.
 *
 * return   0; RPMA_E_PROVIDER
 * source   rdma_create_event_channel(3), rdma_migrate_id(3)
 */
int rpmai_conn_own_channel(struct rpma_conn *conn);

/* Keep the peer's private data, unless there is some already. */
void rpmai_conn_keep_pdata(struct rpma_conn *conn, const struct rdma_conn_param *param);

/*
 * Ask the peer for the connection, or accept the request. Both return before it is
 * established.
 *
 * pdata    borrowed; NULL: none
 * return   0; RPMA_E_PROVIDER
 * source   rdma_connect(3), rdma_accept(3)
 */
int rpmai_conn_connect(struct rpma_conn *conn,
    const struct rpma_conn_private_data *pdata);
int rpmai_conn_accept(struct rpma_conn *conn,
    const struct rpma_conn_private_data *pdata);

/* Whether private data is given as it must be, NULL standing for none. */
bool rpmai_pdata_is_valid(const struct rpma_conn_private_data *pdata);

#endif
