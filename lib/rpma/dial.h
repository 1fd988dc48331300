/* SPDX-License-Identifier: BSD-3-Clause */
/* dial.h: the steps of an outgoing connection on a shared channel. */
#ifndef RPMAD_LIB_RPMA_DIAL_H
#define RPMAD_LIB_RPMA_DIAL_H

#include <stdbool.h>

struct rpma_cm_event;
struct rpma_conn;
struct rpmai_dial;

/*
 * Take the next step of a dial.
 *
 * conn     with a dial under way
 * type     the RDMA_CM_EVENT_ of ADDR_RESOLVED, ADDR_ERROR, ROUTE_RESOLVED, ROUTE_ERROR
 * found    with the status of the event; kind and status are set when the dial is over
 * return   true: the dial is over, and found to be reported; false: it goes on
 */
bool rpmai_dial_step(struct rpma_conn *conn, int type, struct rpma_cm_event *found);

/* Free what a dial remembers. NULL is fine. ret: takes the first error. */
void rpmai_dial_free(struct rpmai_dial *dial, int *ret);

#endif
