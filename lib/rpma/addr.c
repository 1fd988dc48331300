/* SPDX-License-Identifier: BSD-3-Clause */
/* addr.c: host names and ports to addresses, one after the other until one is good. */
#include <config.h>

#include "lib/rpma/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "lib/rpma/err.h"
#include "lib/rpma/librpma.h"
#include "lib/rpma/log.h"

int
rpmai_addr_copy(struct sockaddr_storage *to, const struct sockaddr *from)
{
	size_t len;

	switch (from->sa_family) {
	case AF_INET:
		len = sizeof(struct sockaddr_in);
		break;
	case AF_INET6:
		len = sizeof(struct sockaddr_in6);
		break;
	default:
		return RPMA_E_INVAL;
	}
	memset(to, 0, sizeof(*to));
	memcpy(to, from, len);
	return 0;
}

bool
rpmai_addr_is_any(const struct sockaddr *addr)
{
	struct sockaddr_storage copy;

	if (rpmai_addr_copy(&copy, addr))
		return false;
	if (copy.ss_family == AF_INET6)
		return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)&copy)
						    ->sin6_addr);
	return ((const struct sockaddr_in *)&copy)->sin_addr.s_addr ==
	    htonl(INADDR_ANY);
}

/* What rdma_getaddrinfo(3) knows; it leaves the code of getaddrinfo(3) in errno. */
static int
lookup(const char *addr, const char *port, bool passive, struct rdma_addrinfo **list)
{
	const struct rdma_addrinfo hints = {
		.ai_flags = passive ? RAI_PASSIVE : 0,
		.ai_qp_type = IBV_QPT_RC,
		.ai_port_space = RDMA_PS_TCP,
	};
	int errnum;

	errno = 0;
	if (!rdma_getaddrinfo(addr, port, &hints, list))
		return 0;
	errnum = errno;
	if (errnum >= 0)
		return rpmai_err_provider(errnum,
		    "rdma_getaddrinfo(node=%s, service=%s)", addr,
		    port ? port : "none");
	RPMAI_ERROR("rdma_getaddrinfo(node=%s, service=%s) failed: %s", addr,
	    port ? port : "none", gai_strerror(errnum));
	return rpmai_err_set(RPMA_E_PROVIDER, 0);
}

/* Whether an address was among those that were tried already. */
static bool
is_tried(const struct rdma_addrinfo *list, bool passive, const struct addrinfo *ai)
{
	for (; list; list = list->ai_next) {
		const struct sockaddr *tried =
		    passive ? list->ai_src_addr : list->ai_dst_addr;
		socklen_t len = passive ? list->ai_src_len : list->ai_dst_len;

		if (tried && len == ai->ai_addrlen && !memcmp(tried, ai->ai_addr, len))
			return true;
	}
	return false;
}

/* The addresses of a name that rdma_getaddrinfo(3) left out. ret: the result so far. */
static int
try_others(const char *addr, const char *port, bool passive,
    const struct rdma_addrinfo *tried, rpmai_addr_fn *try_one, void *arg, int ret)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST };
	struct addrinfo *list;
	int cause = rpma_err_last_errno();

	if (!getaddrinfo(addr, port, &hints, &list)) {
		freeaddrinfo(list);
		return ret; /* a number stands for itself alone */
	}
	hints.ai_flags = passive ? AI_PASSIVE : 0;
	if (getaddrinfo(addr, port, &hints, &list))
		return rpmai_err_set(ret, cause);
	for (const struct addrinfo *ai = list; ai && ret == RPMA_E_PROVIDER;
	     ai = ai->ai_next) {
		if (is_tried(tried, passive, ai))
			continue;
		ret = passive ? try_one(ai->ai_addr, NULL, arg)
			      : try_one(NULL, ai->ai_addr, arg);
	}
	freeaddrinfo(list);
	return ret;
}

int
rpmai_addr_try(const char *addr, const char *port, bool passive, rpmai_addr_fn *try_one,
    void *arg)
{
	struct rdma_addrinfo *list = NULL;
	int ret = lookup(addr, port, passive, &list);

	if (ret)
		return ret;
	ret = RPMA_E_PROVIDER;
	for (struct rdma_addrinfo *rai = list; rai && ret == RPMA_E_PROVIDER;
	     rai = rai->ai_next)
		ret = try_one(rai->ai_src_addr, rai->ai_dst_addr, arg);
	if (ret == RPMA_E_PROVIDER)
		ret = try_others(addr, port, passive, list, try_one, arg, ret);
	rdma_freeaddrinfo(list);
	return ret;
}
