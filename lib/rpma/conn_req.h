/* SPDX-License-Identifier: BSD-3-Clause */
/* conn_req.h: requests for a connection, as the files that receive them make them. */
#ifndef RPMAD_LIB_RPMA_CONN_REQ_H
#define RPMAD_LIB_RPMA_CONN_REQ_H

struct rdma_cm_event;
struct rpma_conn_req;
struct rpma_peer;

/*
 * Make a request of an event RDMA_CM_EVENT_CONNECT_REQUEST and acknowledge the event.
 * The request holds the client's private data, and is what the new id's context points
 * to. When this fails the client is refused.
 *
 * event    consumed
 * return   0; RPMA_E_NOMEM; RPMA_E_PROVIDER
 */
int rpmai_conn_req_of_event(struct rpma_peer *peer, struct rdma_cm_event *event,
    struct rpma_conn_req **req_ptr);

/* Destroy a request with its connection; refuses an incoming one. NULL is allowed. */
void rpmai_conn_req_free(struct rpma_conn_req *req, int *ret);

/* Free a request that has become a connection, which is returned. */
struct rpma_conn *rpmai_conn_req_leave(struct rpma_conn_req *req);

#endif
