/* SPDX-License-Identifier: BSD-3-Clause */
/* Name lookup by getaddrinfo(3); numeric addresses never get that far. */
#include <config.h>

#include "ctl/resolve.h"

#include <errno.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lib/core/addr.h"

#define HOST_MAX 256u /* of a name with its NUL, see RFC 1035 */

static int
look_up(const char *host, uint16_t port, struct sockaddr_storage addrs[RESOLVE_MAX],
    struct err *err)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct addrinfo *list, *info;
	char service[8], text[128];
	unsigned int n = 0;
	int rc;

	(void)snprintf(service, sizeof(service), "%u", (unsigned int)port);
	hints.ai_flags = AI_NUMERICSERV;
	rc = getaddrinfo(host, service, &hints, &list);
	if (rc != 0) {
		(void)err_set(err, ERR_ADDR_UNRESOLVED, rc == EAI_SYSTEM ? errno : 0,
		    "no address of \"%s\" was found: %s", host,
		    rc == EAI_SYSTEM ? err_errno_text(errno, text, sizeof(text))
				     : gai_strerror(rc));
		return -EREMOTEIO;
	}
	for (info = list; info && n < RESOLVE_MAX; info = info->ai_next) {
		if (info->ai_addrlen > sizeof(addrs[n]))
			continue;
		memset(&addrs[n], 0, sizeof(addrs[n]));
		memcpy(&addrs[n++], info->ai_addr, info->ai_addrlen);
	}
	freeaddrinfo(list);
	return (int)n;
}

int
resolve_hostport(const char *text, struct sockaddr_storage addrs[RESOLVE_MAX],
    struct err *err)
{
	char host[HOST_MAX];
	uint16_t port;
	int rc;

	rc = addr_split(text, host, sizeof(host), &port, err);
	if (rc != 0)
		return rc;
	if (addr_parse(host, port, &addrs[0], NULL) == 0)
		return 1;
	/* Only an address has colons or a zone: what is wrong with it is known. */
	if (strpbrk(host, ":%"))
		return addr_parse(host, port, &addrs[0], err);
	return look_up(host, port, addrs, err);
}
