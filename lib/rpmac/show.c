/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a message that are texts. Most of each is that of the message before. */
#include <config.h>

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/rpmac/impl.h"

#define NS_PER_S 1000000000u

_Static_assert(sizeof(struct sockaddr_in6) == RING_PEER_BYTES, "an address fits");

static char *
put_number(char *at, uint32_t number)
{
	char digits[10];
	size_t first = sizeof(digits);

	do {
		digits[--first] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	memcpy(at, digits + first, sizeof(digits) - first);
	return at + sizeof(digits) - first;
}

void
rpmac_show_token(const struct rpmac *rpmac, struct item *item)
{
	const size_t len = strlen(rpmac->instance);
	char *at = item->token + len;

	memcpy(item->token, rpmac->instance, len);
	*at++ = '.';
	at = put_number(at, item->msg.slot);
	*at++ = '.';
	at = put_number(at, item->generation);
	*at = '\0';
	item->msg.token = item->token;
}

static void
format_v4(const void *bytes, in_port_t port, char text[RPMAC_PEER_MAX])
{
	char host[INET_ADDRSTRLEN];

	(void)inet_ntop(AF_INET, bytes, host, sizeof(host));
	(void)snprintf(text, RPMAC_PEER_MAX, "%s:%u", host, ntohs(port));
}

/* With the zone, where there is one, by its name or number. */
static void
format_v6(const struct sockaddr_in6 *in6, char text[RPMAC_PEER_MAX])
{
	char host[INET6_ADDRSTRLEN], zone[IF_NAMESIZE + 1] = "";

	(void)inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
	if (in6->sin6_scope_id != 0) {
		zone[0] = '%';
		if (!if_indextoname(in6->sin6_scope_id, zone + 1))
			(void)snprintf(zone + 1, sizeof(zone) - 1, "%u",
			    in6->sin6_scope_id);
	}
	(void)snprintf(text, RPMAC_PEER_MAX, "[%s%s]:%u", host, zone,
	    ntohs(in6->sin6_port));
}

/* "192.0.2.1:7", "[2001:db8::1]:7", mapped ones as the former; "-": neither. */
static void
format_peer(const uint8_t addr[RING_PEER_BYTES], char text[RPMAC_PEER_MAX])
{
	struct sockaddr_in6 in6;
	struct sockaddr_in in;

	memcpy(&in6, addr, sizeof(in6));
	memcpy(&in, addr, sizeof(in));
	if (in.sin_family == AF_INET)
		format_v4(&in.sin_addr, in.sin_port, text);
	else if (in.sin_family != AF_INET6)
		(void)strcpy(text, "-");
	else if (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr))
		format_v4(in6.sin6_addr.s6_addr + 12, in6.sin6_port, text);
	else
		format_v6(&in6, text);
}

void
rpmac_show_peer(struct rpmac *rpmac, struct item *item,
    const uint8_t addr[RING_PEER_BYTES])
{
	struct peer *peer = &rpmac->peers[item->msg.conn % RPMAC_PEERS];

	if (peer->text[0] == '\0' ||
	    memcmp(peer->addr, addr, sizeof(peer->addr)) != 0) {
		memcpy(peer->addr, addr, sizeof(peer->addr));
		format_peer(addr, peer->text);
	}
	memcpy(item->peer, peer->text, sizeof(item->peer));
	item->msg.peer = item->peer;
}

void
rpmac_show_time(struct rpmac *rpmac, struct item *item, uint64_t wall_ns)
{
	const time_t second = (time_t)(wall_ns / NS_PER_S);
	uint32_t us = (uint32_t)(wall_ns % NS_PER_S / 1000);
	struct tm tm;
	char *at;
	int i;

	if (rpmac->time[0] == '\0' || rpmac->second != (uint64_t)second) {
		rpmac->second = (uint64_t)second;
		if (!gmtime_r(&second, &tm) ||
		    strftime(rpmac->time, sizeof(rpmac->time),
			"%Y-%m-%dT%H:%M:%S.000000Z", &tm) == 0)
			rpmac->time[0] = '\0';
	}
	memcpy(item->received_at, rpmac->time, sizeof(item->received_at));
	at = strchr(item->received_at, '.');
	for (i = 6; at && i > 0; i--, us /= 10)
		at[i] = (char)('0' + us % 10);
	item->msg.received_at = item->received_at;
}
