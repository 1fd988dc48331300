/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening devices, and finding the addresses that lead to one. */
#include <config.h>

#include "daemon/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/devices.h"
#include "daemon/rpma_err.h"
#include "lib/core/addr.h"
#include "lib/core/log.h"
#include "lib/rpma/librpma.h"

/* soft-RoCE's vendor, which has no assigned number. */
#define VENDOR_SOFT_ROCE 0xffffffu

struct device {
	struct ibv_context *context; /* librdmacm's */
	struct rpma_peer *peer;
	struct rpma_peer_limits limits;
	int async_fd;
	bool no_last_wqe;
	bool last_wqe_seen;
};

static int
device_open(struct ibv_context *context, struct device **out, struct err *err)
{
	struct device *device = calloc(1, sizeof(*device));
	int rc;

	if (!device)
		return err_set(err, ERR_INTERNAL_ERROR, ENOMEM,
		    "device: out of memory");
	device->context = context;
	rc = rpma_peer_new(context, &device->peer);
	if (rc == 0)
		rc = rpma_peer_get_limits(device->peer, &device->limits);
	if (rc == 0)
		rc = rpma_peer_get_async_fd(device->peer, &device->async_fd);
	if (rc != 0) {
		rc = rpma_err_set(err, rc, "device %s cannot be used",
		    rpma_utils_ibv_context_2name(context));
		device_close(device, false);
		return rc;
	}
	device->no_last_wqe =
	    device->limits.is_iwarp || device->limits.vendor_id == VENDOR_SOFT_ROCE;
	*out = device;
	return 0;
}

int
device_open_by_addr(const struct sockaddr_storage *addr, struct device **out,
    struct err *err)
{
	struct ibv_context *context;
	char ip[ADDR_TEXT_MAX];

	addr_format_ip(addr, ip, sizeof(ip));
	if (addr_is_wildcard(addr) ||
	    rpma_utils_get_ibv_context(ip, RPMA_UTIL_IBV_CONTEXT_LOCAL, &context) != 0)
		return device_addr_not_rdma(addr, rpma_err_last_errno(), err);
	return device_open(context, out, err);
}

/* The first address that leads to the device of a name. */
struct search {
	const char *name;
	struct sockaddr_storage addr; /* AF_UNSPEC: none was found */
};

static void
look_at(void *arg, const struct sockaddr_storage *addr, const char *device)
{
	struct search *search = arg;

	if (search->addr.ss_family == AF_UNSPEC && strcmp(device, search->name) == 0)
		search->addr = *addr;
}

static int
no_device(const char *name, int errnum, struct err *err)
{
	int rc =
	    err_set(err, ERR_DEVICE_GONE, errnum, "there is no RDMA device %s", name);

	err_hint(err, "rpmactl devices lists those there are");
	return rc;
}

/* Whether the host has a device of that name, as far as can be seen without opening it. */
static bool
is_there(const char *name)
{
	char path[sizeof(DEVICES_ROOT) + DEVICES_NAME_MAX + 1];

	(void)snprintf(path, sizeof(path), "%s/%s", DEVICES_ROOT, name);
	return access(path, F_OK) == 0;
}

/*
 * By an address of it where it has one: to look through librdmacm's list would open all devices
 * of the host, and keep the others from being removed.
 */
int
device_open_by_name(const char *name, struct device **out, struct err *err)
{
	struct search search = { .name = name, .addr = { .ss_family = AF_UNSPEC } };
	struct ibv_context *context;
	int rc;

	engine_usable_addrs(look_at, &search);
	if (search.addr.ss_family != AF_UNSPEC) {
		rc = device_open_by_addr(&search.addr, out, err);
		if (rc != 0)
			return err->code == ERR_ADDR_NOT_RDMA
			    ? no_device(name, err->errnum, err)
			    : rc;
		if (strcmp(device_name(*out), name) == 0)
			return 0;
		device_close(*out, false);
	}
	if (!is_there(name))
		return no_device(name, ENODEV, err);
	if (rpma_utils_ibv_context_by_name(name, &context) != 0)
		return no_device(name, rpma_err_last_errno(), err);
	return device_open(context, out, err);
}

void
device_leave(struct device *device)
{
	if (rpma_peer_delete(&device->peer) != 0)
		log_error("device", "%s: its protection domain is still in use",
		    device->limits.device);
}

void
device_close(struct device *device, bool release)
{
	if (!device)
		return;
	device_leave(device);
	if (release && rpma_utils_ibv_context_release(device->context) != 0)
		log_error("device", "%s: cannot let go of its descriptors",
		    device->limits.device);
	free(device);
}

struct rpma_peer *
device_peer(const struct device *device)
{
	return device->peer;
}

const char *
device_name(const struct device *device)
{
	return device->limits.device;
}

void
device_get_limits(const struct device *device, struct device_limits *out)
{
	const struct rpma_peer_limits *limits = &device->limits;

	out->max_srq = limits->max_srq;
	out->max_srq_wr = limits->max_srq_wr;
	out->max_cqe = limits->max_cqe;
	out->max_qp = limits->max_qp;
	out->max_qp_wr = limits->max_qp_wr;
	out->max_mr_bytes = limits->max_mr_bytes;
	out->is_iwarp = limits->is_iwarp;
}

bool
device_is_soft_roce(const struct device *device)
{
	return device->limits.vendor_id == VENDOR_SOFT_ROCE;
}

bool
device_sends_last_wqe(const struct device *device)
{
	return !device->no_last_wqe;
}

void
device_last_wqe_missed(struct device *device)
{
	if (device->last_wqe_seen || device->no_last_wqe)
		return;
	device->no_last_wqe = true;
	log_notice("device",
	    "%s: sends no LAST_WQE_REACHED, it is not waited for again",
	    device->limits.device);
}

int
device_async_fd(const struct device *device)
{
	return device->async_fd;
}

static enum device_event_kind
event_kind(enum rpma_async_kind kind)
{
	switch (kind) {
	case RPMA_ASYNC_LAST_WQE:
		return DEVICE_EVENT_LAST_WQE;
	case RPMA_ASYNC_QP_FATAL:
		return DEVICE_EVENT_QP_FATAL;
	case RPMA_ASYNC_CQ_ERR:
	case RPMA_ASYNC_SRQ_ERR:
		return DEVICE_EVENT_QUEUE_FATAL;
	case RPMA_ASYNC_DEVICE_FATAL:
		return DEVICE_EVENT_FATAL;
	case RPMA_ASYNC_PORT_ACTIVE:
		return DEVICE_EVENT_PORT_UP;
	case RPMA_ASYNC_PORT_ERR:
		return DEVICE_EVENT_PORT_DOWN;
	case RPMA_ASYNC_SRQ_LIMIT:
	case RPMA_ASYNC_OTHER:
		break;
	}
	return DEVICE_EVENT_OTHER;
}

void
device_next_event(struct device *device, struct device_event *out)
{
	struct rpma_async_event event;
	int rc = rpma_peer_next_async_event(device->peer, &event);

	memset(out, 0, sizeof(*out));
	if (rc == RPMA_E_NO_EVENT) {
		out->kind = DEVICE_EVENT_NONE;
	} else if (rc != 0) {
		/* The channel is dead; so is the device. */
		out->kind = DEVICE_EVENT_FATAL;
	} else {
		out->kind = event_kind(event.kind);
		if (out->kind == DEVICE_EVENT_LAST_WQE) {
			device->last_wqe_seen = true;
			device->no_last_wqe = false;
		}
		out->qp_num = event.qp_num;
		out->port = event.port_num;
	}
}

struct text {
	char *buf;
	size_t size;
	size_t used;
};

static void
add_addr(void *arg, const struct sockaddr_storage *addr, const char *device)
{
	struct text *text = arg;
	char ip[ADDR_TEXT_MAX];
	int n;

	n = snprintf(text->buf + text->used, text->size - text->used, "%s%s (%s)",
	    text->used ? ", " : "", addr_format_ip(addr, ip, sizeof(ip)), device);
	if (n > 0 && (size_t)n < text->size - text->used)
		text->used += (size_t)n;
	else
		text->buf[text->used] = '\0';
}

int
device_addr_not_rdma(const struct sockaddr_storage *addr, int errnum, struct err *err)
{
	char ip[ADDR_TEXT_MAX];

	return err_set(err, ERR_ADDR_NOT_RDMA, errnum,
	    "no RDMA device has the address %s", addr_format_ip(addr, ip, sizeof(ip)));
}

void
device_hint_addrs(struct err *err)
{
	char usable[384] = "";
	struct text text = { .buf = usable, .size = sizeof(usable) };

	if (err->code != ERR_ADDR_NOT_RDMA)
		return;
	engine_usable_addrs(add_addr, &text);
	if (usable[0])
		err_hint(err, "addresses that RDMA devices have: %s", usable);
	else
		err_hint(err,
		    "no address of this host leads to an RDMA device; "
		    "see rpmactl devices");
}
