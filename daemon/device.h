/* SPDX-License-Identifier: BSD-3-Clause */
/* One open RDMA device: protection domain, limits and asynchronous events. */
#ifndef RPMAD_DAEMON_DEVICE_H
#define RPMAD_DAEMON_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "daemon/engine.h"
#include "lib/core/err.h"

struct device;
struct rpma_peer;

/*
 * Open the device behind a local address, or by name.
 * return   0; ERR_ADDR_NOT_RDMA (see device_hint_addrs()); ERR_DEVICE_GONE there is none of
 * that name; ERR_PROVIDER; -ENOMEM
 */
RPMAD_MUST_USE int device_open_by_addr(const struct sockaddr_storage *addr,
    struct device **out, struct err *err);
RPMAD_MUST_USE int device_open_by_name(const char *name, struct device **out,
    struct err *err);

/*
 * Close. NULL is fine. With release the context that librdmacm keeps open is let go, so
 * that the kernel can remove the device.
 */
void device_close(struct device *device, bool release);

/*
 * It is not used any more, and its context stays open, as librdmacm has it, for device_close() to
 * let go. Nothing else may be done with it.
 */
void device_leave(struct device *device);

struct rpma_peer *device_peer(const struct device *device);
const char *device_name(const struct device *device);
void device_get_limits(const struct device *device, struct device_limits *out);

/* Whether it is soft-RoCE, which has ways of its own. */
bool device_is_soft_roce(const struct device *device);

/*
 * Whether a LAST_WQE_REACHED event tells that a queue pair in error takes no more
 * receives. soft-RoCE and iWARP never send it; where it was waited for in vain and
 * never seen, it is not waited for again.
 */
bool device_sends_last_wqe(const struct device *device);
void device_last_wqe_missed(struct device *device);

/* What happened to the device. */
enum device_event_kind {
	DEVICE_EVENT_NONE, /* no event waits */
	DEVICE_EVENT_OTHER,
	DEVICE_EVENT_LAST_WQE,    /* qp_num */
	DEVICE_EVENT_QP_FATAL,    /* qp_num */
	DEVICE_EVENT_QUEUE_FATAL, /* the SRQ or a completion queue is dead */
	DEVICE_EVENT_FATAL,       /* the device is */
	DEVICE_EVENT_PORT_UP,
	DEVICE_EVENT_PORT_DOWN,
};
struct device_event {
	enum device_event_kind kind;
	uint32_t qp_num;
	unsigned int port;
};
int device_async_fd(const struct device *device);
/* Take one event; never blocks. */
void device_next_event(struct device *device, struct device_event *out);

/* Fill err for an address that leads to no RDMA device. Returns as err_set(). */
int device_addr_not_rdma(const struct sockaddr_storage *addr, int errnum,
    struct err *err);
/*
 * Give such an error the addresses that do lead to one as its hint: "192.168.77.1 (rxe0), ...".
 * That takes a while, and is for errors that somebody will read. Does nothing to others.
 */
void device_hint_addrs(struct err *err);

#endif
