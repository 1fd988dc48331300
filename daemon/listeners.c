/* SPDX-License-Identifier: BSD-3-Clause */
/* Listening endpoints over one CM channel. */
#include <config.h>

#include "daemon/listeners.h"

#include <errno.h>
#include <string.h>

#include "daemon/rpma_err.h"
#include "lib/core/addr.h"
#include "lib/rpma/librpma.h"

/* Requests that may wait for us; the kernel refuses more. */
#define BACKLOG 1024

int
listeners_add(struct listeners *listeners, const struct sockaddr_storage *addr,
    struct listener **out, struct err *err)
{
	char text[ADDR_TEXT_MAX];
	struct listener *listener;
	size_t i;

	for (i = 0; i < listeners->count; i++) {
		listener = &listeners->list[i];
		if (addr_port(addr) != 0 && addr_equal(&listener->info.addr, addr))
			return err_set(err, ERR_ALREADY_EXISTS, 0,
			    "listener %llu listens at %s already",
			    (unsigned long long)listener->info.id,
			    addr_format(addr, text, sizeof(text)));
	}
	if (listeners->count == SETTINGS_LISTEN_MAX)
		return err_set(err, ERR_LIMIT, 0, "there are %u listeners already",
		    SETTINGS_LISTEN_MAX);
	listener = &listeners->list[listeners->count++];
	memset(listener, 0, sizeof(*listener));
	listener->info.id = ++listeners->next_id;
	listener->info.addr = *addr;
	listener->wanted = *addr;
	*out = listener;
	return 0;
}

struct listener *
listener_by_id(struct listeners *listeners, uint64_t id)
{
	size_t i;

	for (i = 0; i < listeners->count; i++)
		if (listeners->list[i].info.id == id)
			return &listeners->list[i];
	return NULL;
}

struct listener *
listener_by_ep(struct listeners *listeners, const struct rpma_ep *ep)
{
	size_t i;

	for (i = 0; i < listeners->count; i++)
		if (listeners->list[i].ep == ep)
			return &listeners->list[i];
	return NULL;
}

void
listeners_remove(struct listeners *listeners, struct listener *listener)
{
	size_t index = (size_t)(listener - listeners->list);

	listener_down(listener);
	listeners->count--;
	memmove(listener, listener + 1, (listeners->count - index) * sizeof(*listener));
}

static int
failed(const struct listener *listener, const struct device *device, int rpma_rc,
    struct err *err)
{
	const struct sockaddr_storage *addr = &listener->info.addr;
	int errnum = rpma_err_last_errno();
	char text[ADDR_TEXT_MAX];
	int rc;

	addr_format(addr, text, sizeof(text));
	if (rpma_rc != RPMA_E_PROVIDER)
		return rpma_err_set(err, rpma_rc, "cannot listen at %s", text);
	switch (errnum) {
	case EADDRINUSE:
		rc = err_set(err, ERR_ADDR_IN_USE, errnum,
		    "another program listens at %s already", text);
		err_hint(err, "choose another port, or stop that program");
		return rc;
	case EADDRNOTAVAIL:
	case ENODEV:
	case ENOENT:
		return device_addr_not_rdma(addr, errnum, err);
	case EXDEV:
		rc = err_set(err, ERR_WRONG_DEVICE, errnum,
		    "%s belongs to another device than %s, which this daemon serves",
		    text, device_name(device));
		err_hint(err, "run a second instance for the other device");
		return rc;
	default:
		return rpma_err_set(err, rpma_rc, "cannot listen at %s", text);
	}
}

int
listener_up(struct listener *listener, struct rpma_cm *cm, struct device *device,
    struct err *err)
{
	int rc;

	if (listener->ep)
		return 0;
	if (addr_is_wildcard(&listener->info.addr))
		return device_addr_not_rdma(&listener->info.addr, 0, err);
	rc = rpma_cm_listen(cm, device_peer(device),
	    (const struct sockaddr *)&listener->info.addr, BACKLOG, &listener->ep);
	if (rc != 0)
		return failed(listener, device, rc, err);
	/* NULL arguments alone could make this fail. */
	(void)rpma_ep_get_addr(listener->ep, &listener->info.addr);
	listener->info.is_up = true;
	return 0;
}

void
listener_down(struct listener *listener)
{
	/* A failure leaves an object behind that the device's own end removes. */
	(void)rpma_ep_shutdown(&listener->ep);
	listener->info.is_up = false;
}
