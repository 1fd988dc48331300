/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses that lead to the doubles, which sysfs does not know: linked before the daemon's. */
#include <config.h>

#include "daemon/engine.h"
#include "lib/core/addr.h"
#include "lib/rpma/librpma.h"

struct search {
	void (*fn)(void *arg, const struct sockaddr_storage *addr, const char *device);
	void *arg;
};

static void
look_at(void *arg, const struct sockaddr_storage *addr, const char *interface)
{
	const struct search *search = arg;
	struct ibv_context *context;
	char ip[ADDR_TEXT_MAX];

	(void)interface;
	addr_format_ip(addr, ip, sizeof(ip));
	if (rpma_utils_get_ibv_context(ip, RPMA_UTIL_IBV_CONTEXT_LOCAL, &context) == 0)
		search->fn(search->arg, addr, rpma_utils_ibv_context_2name(context));
}

void
engine_usable_addrs(void (*fn)(void *arg, const struct sockaddr_storage *addr,
			const char *device),
    void *arg)
{
	struct search search = { fn, arg };

	addr_each_local(look_at, &search);
}
