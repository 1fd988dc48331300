/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_addr.c: which addresses lead where, and what dials to them meet. */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_impl.h"

int
fake_addr_parse(const char *text, uint16_t port, struct sockaddr_storage *addr)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6,
		.sin6_port = htons(port) };

	memset(addr, 0, sizeof(*addr));
	if (inet_pton(AF_INET, text, &sin.sin_addr) == 1) {
		memcpy(addr, &sin, sizeof(sin));
		return 0;
	}
	if (inet_pton(AF_INET6, text, &sin6.sin6_addr) == 1) {
		memcpy(addr, &sin6, sizeof(sin6));
		return 0;
	}
	return -1;
}

socklen_t
fake_addr_len(const struct sockaddr *addr)
{
	if (addr->sa_family == AF_INET)
		return sizeof(struct sockaddr_in);
	if (addr->sa_family == AF_INET6)
		return sizeof(struct sockaddr_in6);
	return 0;
}

/* Where the IP address of either family lies; *len is 0 for other families. */
static const void *
ip_bytes(const struct sockaddr *addr, size_t *len)
{
	*len = 0;
	if (addr->sa_family == AF_INET) {
		*len = sizeof(struct in_addr);
		return (const char *)addr + offsetof(struct sockaddr_in, sin_addr);
	}
	if (addr->sa_family == AF_INET6)
		*len = sizeof(struct in6_addr);
	return (const char *)addr + offsetof(struct sockaddr_in6, sin6_addr);
}

void
fake_addr_format(const struct sockaddr *addr, char *text, size_t size)
{
	char ip[INET6_ADDRSTRLEN] = "?";
	size_t len;
	const void *bytes = ip_bytes(addr, &len);
	bool v6 = addr->sa_family == AF_INET6;

	if (len)
		inet_ntop(addr->sa_family, bytes, ip, sizeof(ip));
	snprintf(text, size, "%s%s%s:%u", v6 ? "[" : "", ip, v6 ? "]" : "",
	    fake_addr_port(addr));
}

bool
fake_addr_same(const struct sockaddr *a, const struct sockaddr *b)
{
	size_t len_a;
	size_t len_b;
	const void *bytes_a = ip_bytes(a, &len_a);
	const void *bytes_b = ip_bytes(b, &len_b);

	return len_a > 0 && len_a == len_b && memcmp(bytes_a, bytes_b, len_a) == 0;
}

bool
fake_addr_is_any(const struct sockaddr *addr)
{
	static const unsigned char zero[sizeof(struct in6_addr)];
	size_t len;
	const void *bytes = ip_bytes(addr, &len);

	return len > 0 && memcmp(bytes, zero, len) == 0;
}

/* Both families keep the port at the same place. */
_Static_assert(offsetof(struct sockaddr_in, sin_port) ==
	offsetof(struct sockaddr_in6, sin6_port),
    "ports");

uint16_t
fake_addr_port(const struct sockaddr *addr)
{
	uint16_t port;

	memcpy(&port, (const char *)addr + offsetof(struct sockaddr_in, sin_port),
	    sizeof(port));
	return ntohs(port);
}

void
fake_addr_set_port(struct sockaddr *addr, uint16_t port)
{
	port = htons(port);
	memcpy((char *)addr + offsetof(struct sockaddr_in, sin_port), &port,
	    sizeof(port));
}

/* ---- the table of addresses --------------------------------------------------- */

const struct fake_addr *
fake_addr_find(const struct sockaddr *addr)
{
	const struct fake_addr *row;

	TAILQ_FOREACH(row, &fake_get()->addrs, entry) {
		if (fake_addr_same((const struct sockaddr *)&row->addr, addr))
			return row;
	}
	return NULL;
}

const struct fake_addr *
fake_addr_of_device(unsigned device, int family)
{
	const struct fake_addr *row;

	TAILQ_FOREACH(row, &fake_get()->addrs, entry) {
		if (row->device == (int)device && row->addr.ss_family == family)
			return row;
	}
	return NULL;
}

static void
addr_add(const char *text, int device)
{
	struct fake_addr *row;

	fake_lock();
	fake_addr_remove(text);
	row = fake_alloc(sizeof(*row));
	row->device = device;
	if (fake_addr_parse(text, 0, &row->addr) != 0) {
		fake_blame("\"%s\" is no numeric address", text);
		free(row);
	} else {
		TAILQ_INSERT_TAIL(&fake_get()->addrs, row, entry);
	}
	fake_unlock();
}

void
fake_addr_add(const char *addr, unsigned device)
{
	addr_add(addr, (int)device);
}

void
fake_addr_local(const char *addr)
{
	addr_add(addr, -1);
}

void
fake_addr_remove(const char *text)
{
	struct sockaddr_storage addr;
	struct fake_addr *row;

	if (fake_addr_parse(text, 0, &addr) != 0)
		return;
	fake_lock();
	TAILQ_FOREACH(row, &fake_get()->addrs, entry) {
		if (!fake_addr_same((struct sockaddr *)&row->addr,
			(struct sockaddr *)&addr))
			continue;
		TAILQ_REMOVE(&fake_get()->addrs, row, entry);
		free(row);
		break;
	}
	fake_unlock();
}

/* ---- scripts of dials --------------------------------------------------------- */

struct fake_script *
fake_script_find(const struct sockaddr *addr)
{
	uint16_t port = fake_addr_port(addr);
	struct fake_script *any = NULL;
	struct fake_script *script;

	TAILQ_FOREACH(script, &fake_get()->scripts, entry) {
		const struct sockaddr *row = (const struct sockaddr *)&script->addr;

		if (!fake_addr_same(row, addr))
			continue;
		if (fake_addr_port(row) == port)
			return script;
		if (!any && fake_addr_port(row) == 0)
			any = script;
	}
	return any;
}

void
fake_dial_script(const char *addr, uint16_t port, unsigned device,
    enum fake_dial outcome, int status, const void *pdata, size_t len)
{
	struct fake_script *script = fake_alloc(sizeof(*script));

	if (fake_addr_parse(addr, port, &script->addr) != 0 || len > FAKE_PDATA_MAX) {
		fake_blame("script for \"%s\" is not understood", addr);
		free(script);
		return;
	}
	script->device = device;
	script->outcome = outcome;
	script->status = status;
	script->len = len;
	if (len)
		memcpy(script->pdata, pdata, len);
	fake_lock();
	/* The newest is found first; ids keep pointers to the older ones. */
	TAILQ_INSERT_HEAD(&fake_get()->scripts, script, entry);
	fake_unlock();
}

void
fake_addr_reset(bool defaults)
{
	struct fake *fake = fake_get();
	struct fake_script *script;
	struct fake_addr *row;

	while ((row = TAILQ_FIRST(&fake->addrs))) {
		TAILQ_REMOVE(&fake->addrs, row, entry);
		free(row);
	}
	while ((script = TAILQ_FIRST(&fake->scripts))) {
		TAILQ_REMOVE(&fake->scripts, script, entry);
		free(script);
	}
	if (defaults) {
		fake_addr_add("127.0.0.1", 0);
		fake_addr_add("::1", 0);
	}
}
