/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_addrinfo.c: rdma_getaddrinfo(3) over getaddrinfo(3), and port numbers. */
#include <config.h>

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_impl.h"

/* One entry whose addresses are allocated with it. */
static struct rdma_addrinfo *
make(const struct addrinfo *from, const struct rdma_addrinfo *hints)
{
	size_t head = (sizeof(struct rdma_addrinfo) + 15) / 16 * 16;
	char *block = fake_alloc(head + from->ai_addrlen);
	struct rdma_addrinfo *info = (struct rdma_addrinfo *)(void *)block;
	struct sockaddr *addr = (struct sockaddr *)(void *)(block + head);

	memcpy(addr, from->ai_addr, from->ai_addrlen);
	if (hints) {
		info->ai_flags = hints->ai_flags;
		info->ai_qp_type = hints->ai_qp_type;
		info->ai_port_space = hints->ai_port_space;
	}
	info->ai_family = from->ai_family;
	if (hints && hints->ai_flags & RAI_PASSIVE) {
		info->ai_src_addr = addr;
		info->ai_src_len = from->ai_addrlen;
	} else {
		info->ai_dst_addr = addr;
		info->ai_dst_len = from->ai_addrlen;
	}
	return info;
}

/*
 * As librdmacm does it: the first address alone, unless told otherwise, and on failure
 * the EAI_* number, which is negative, as errno.
 */
static int
look_up(const char *node, const char *service, const struct rdma_addrinfo *hints,
    struct rdma_addrinfo **res)
{
	struct addrinfo want = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL;
	int eai;

	if (!node && !service)
		return EINVAL;
	if (hints && hints->ai_flags & RAI_PASSIVE)
		want.ai_flags |= AI_PASSIVE;
	if (hints && hints->ai_flags & RAI_NUMERICHOST)
		want.ai_flags |= AI_NUMERICHOST;
	if (hints)
		want.ai_family = hints->ai_family;
	eai = getaddrinfo(node, service, &want, &list);
	if (eai)
		return eai;
	for (const struct addrinfo *ai = list; ai; ai = ai->ai_next) {
		*res = make(ai, hints);
		res = &(*res)->ai_next;
		if (!fake_options()->all_addrs)
			break;
	}
	freeaddrinfo(list);
	fake_count(FAKE_ADDRINFO, 1);
	return 0;
}

int
rdma_getaddrinfo(const char *node, const char *service,
    const struct rdma_addrinfo *hints, struct rdma_addrinfo **res)
{
	int error = fake_begin("rdma_getaddrinfo", "node=%s,service=%s,flags=%d",
	    node ? node : "", service ? service : "", hints ? hints->ai_flags : 0);

	if (!error)
		error = look_up(node, service, hints, res);
	return fake_end_rdma(error);
}

void
rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	struct rdma_addrinfo *next;

	fake_begin_void("rdma_freeaddrinfo", "%s", "");
	if (res)
		fake_count(FAKE_ADDRINFO, -1);
	for (; res; res = next) {
		next = res->ai_next;
		free(res);
	}
	fake_unlock();
}

__be16
rdma_get_src_port(struct rdma_cm_id *id)
{
	return id->route.addr.src_sin.sin_port;
}

__be16
rdma_get_dst_port(struct rdma_cm_id *id)
{
	return id->route.addr.dst_sin.sin_port;
}
