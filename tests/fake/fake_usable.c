/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses that lead to the doubles, which sysfs does not know: linked before the daemon's. */
#include <config.h>

#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>

#include "daemon/engine.h"
#include "lib/core/addr.h"
#include "lib/rpma/librpma.h"

void
engine_usable_addrs(void (*fn)(void *arg, const struct sockaddr_storage *addr,
			const char *device),
    void *arg)
{
	struct ifaddrs *all, *one;

	if (getifaddrs(&all) != 0)
		return;
	for (one = all; one; one = one->ifa_next) {
		struct sockaddr_storage addr = { .ss_family = AF_UNSPEC };
		struct ibv_context *context;
		char ip[ADDR_TEXT_MAX];

		if (!one->ifa_addr || !(one->ifa_flags & IFF_UP))
			continue;
		addr.ss_family = one->ifa_addr->sa_family;
		if (addr_len(&addr) == 0)
			continue;
		memcpy(&addr, one->ifa_addr, addr_len(&addr));
		addr_format_ip(&addr, ip, sizeof(ip));
		if (rpma_utils_get_ibv_context(ip, RPMA_UTIL_IBV_CONTEXT_LOCAL,
			&context) == 0)
			fn(arg, &addr, rpma_utils_ibv_context_2name(context));
	}
	freeifaddrs(all);
}
