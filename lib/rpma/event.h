/* SPDX-License-Identifier: BSD-3-Clause */
/* event.h: taking events off a channel of the connection manager. */
#ifndef RPMAD_LIB_RPMA_EVENT_H
#define RPMAD_LIB_RPMA_EVENT_H

struct rdma_cm_event;
struct rdma_event_channel;

/*
 * Take one event. Where librdmacm itself made it a failure, its status is a negative
 * errno, too.
 *
 * event    to be given to rpmai_event_ack()
 * return   0; RPMA_E_NO_EVENT; RPMA_E_PROVIDER
 * context  blocks if the channel does
 * source   rdma_get_cm_event(3)
 */
int rpmai_event_take(struct rdma_event_channel *channel, struct rdma_cm_event **event);

/* Acknowledge an event, which is gone then. 0; RPMA_E_PROVIDER. */
int rpmai_event_ack(struct rdma_cm_event *event);

#endif
