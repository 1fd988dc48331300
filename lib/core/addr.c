/* SPDX-License-Identifier: BSD-3-Clause */
/* Numeric addresses by inet_pton(3), with the zones of RFC 4007 that it lacks. */
#include <config.h>

#include "lib/core/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "lib/core/num.h"

#define BITS_V4     32u
#define BITS_V6     128u
#define MAPPED_BITS 96u /* of ::ffff:0:0/96, the IPv4-mapped addresses */

/* An address without family-specific layout; IPv4-mapped ones are AF_INET here. */
struct plain {
	int family; /* 0: neither IPv4 nor IPv6 */
	uint8_t bytes[16];
	size_t len; /* of bytes, 4 or 16 */
	uint32_t zone;
	uint16_t port;
};

static struct plain
to_plain(const struct sockaddr_storage *addr)
{
	struct plain plain = { 0 };
	struct sockaddr_in6 in6;
	struct sockaddr_in in;

	if (addr->ss_family == AF_INET) {
		memcpy(&in, addr, sizeof(in));
		plain.family = AF_INET;
		plain.len = 4;
		memcpy(plain.bytes, &in.sin_addr, plain.len);
		plain.port = ntohs(in.sin_port);
	} else if (addr->ss_family == AF_INET6) {
		memcpy(&in6, addr, sizeof(in6));
		plain.port = ntohs(in6.sin6_port);
		if (IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr)) {
			plain.family = AF_INET;
			plain.len = 4;
			memcpy(plain.bytes, in6.sin6_addr.s6_addr + 12, plain.len);
		} else {
			plain.family = AF_INET6;
			plain.len = 16;
			memcpy(plain.bytes, &in6.sin6_addr, plain.len);
			plain.zone = in6.sin6_scope_id;
		}
	}
	return plain;
}

/* A zone is an interface's name or number. */
static int
parse_zone(const char *addr, const char *zone, uint32_t *out, struct err *err)
{
	uint64_t number;

	if (num_parse_u64(zone, &number) == 0 && number > 0 && number <= UINT32_MAX) {
		*out = (uint32_t)number;
		return 0;
	}
	*out = if_nametoindex(zone);
	if (*out != 0)
		return 0;
	(void)err_set(err, ERR_INVALID_PARAMS, 0,
	    "address \"%s\": there is no interface \"%s\"", addr, zone);
	err_hint(err, "`ip link` lists the interfaces");
	return -EINVAL;
}

static int
parse_v6(const char *addr, uint16_t port, struct sockaddr_storage *out, struct err *err)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	const char *zone = strchr(addr, '%');
	char text[INET6_ADDRSTRLEN] = "";
	size_t len = zone ? (size_t)(zone - addr) : strlen(addr);
	int rc;

	if (len < sizeof(text))
		memcpy(text, addr, len);
	if (inet_pton(AF_INET6, text, &in6.sin6_addr) != 1)
		return err_set(err, ERR_INVALID_PARAMS, 0,
		    "\"%s\" is not an IPv6 address", addr);
	if (zone) {
		rc = parse_zone(addr, zone + 1, &in6.sin6_scope_id, err);
		if (rc != 0)
			return rc;
	}
	memset(out, 0, sizeof(*out));
	memcpy(out, &in6, sizeof(in6));
	return 0;
}

int
addr_parse(const char *addr, uint16_t port, struct sockaddr_storage *out,
    struct err *err)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (strchr(addr, ':'))
		return parse_v6(addr, port, out, err);
	if (inet_pton(AF_INET, addr, &in.sin_addr) != 1) {
		(void)err_set(err, ERR_INVALID_PARAMS, 0,
		    "\"%s\" is not a numeric address", addr);
		err_hint(err,
		    "write IPv4 as 192.0.2.1 and IPv6 as 2001:db8::1 or fe80::1%%eth0; "
		    "names are not looked up");
		return -EINVAL;
	}
	memset(out, 0, sizeof(*out));
	memcpy(out, &in, sizeof(in));
	return 0;
}

static int
bad_form(const char *text, const char *why, struct err *err)
{
	(void)err_set(err, ERR_INVALID_PARAMS, 0, "\"%s\" %s", text, why);
	err_hint(err, "write ADDR:PORT, with an IPv6 address in brackets: [ADDR]:PORT");
	return -EINVAL;
}

int
addr_split(const char *text, char *host, size_t host_size, uint16_t *port,
    struct err *err)
{
	const char *begin = text, *end, *colon;
	uint64_t number;
	size_t len;

	if (*text == '[') {
		begin++;
		end = strchr(begin, ']');
		if (!end)
			return bad_form(text, "has no closing bracket", err);
		if (!memchr(begin, ':', (size_t)(end - begin)))
			return bad_form(text, "has no IPv6 address in its brackets",
			    err);
		colon = end + 1;
	} else {
		end = strchr(text, ':');
		colon = end;
		if (end && strchr(end + 1, ':'))
			return bad_form(text, "has more than one colon", err);
	}
	if (!colon || *colon != ':')
		return bad_form(text, "has no port", err);
	if (num_parse_u64(colon + 1, &number) != 0 || number > UINT16_MAX)
		return bad_form(text, "has no port from 0 to 65535", err);
	len = (size_t)(end - begin);
	if (len == 0)
		return bad_form(text, "has no address before the port", err);
	if (len >= host_size)
		return bad_form(text, "is too long", err);
	memcpy(host, begin, len);
	host[len] = '\0';
	*port = (uint16_t)number;
	return 0;
}

int
addr_parse_hostport(const char *text, struct sockaddr_storage *out, struct err *err)
{
	char host[ADDR_TEXT_MAX];
	uint16_t port;
	int rc;

	rc = addr_split(text, host, sizeof(host), &port, err);
	if (rc != 0)
		return rc;
	return addr_parse(host, port, out, err);
}

socklen_t
addr_len(const struct sockaddr_storage *addr)
{
	switch (addr->ss_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	default:
		return 0;
	}
}

const char *
addr_format_ip(const struct sockaddr_storage *addr, char *buf, size_t size)
{
	struct plain plain = to_plain(addr);
	char text[INET6_ADDRSTRLEN], zone[IF_NAMESIZE];

	if (plain.family == 0 ||
	    !inet_ntop(plain.family, plain.bytes, text, sizeof(text)))
		(void)snprintf(buf, size, "-");
	else if (plain.zone == 0)
		(void)snprintf(buf, size, "%s", text);
	else if (if_indextoname(plain.zone, zone))
		(void)snprintf(buf, size, "%s%%%s", text, zone);
	else
		(void)snprintf(buf, size, "%s%%%u", text, (unsigned int)plain.zone);
	return buf;
}

const char *
addr_format(const struct sockaddr_storage *addr, char *buf, size_t size)
{
	struct plain plain = to_plain(addr);
	char ip[ADDR_TEXT_MAX];

	(void)addr_format_ip(addr, ip, sizeof(ip));
	if (plain.family == 0)
		(void)snprintf(buf, size, "-");
	else if (plain.family == AF_INET6)
		(void)snprintf(buf, size, "[%s]:%u", ip, (unsigned int)plain.port);
	else
		(void)snprintf(buf, size, "%s:%u", ip, (unsigned int)plain.port);
	return buf;
}

uint16_t
addr_port(const struct sockaddr_storage *addr)
{
	return to_plain(addr).port;
}

bool
addr_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	struct plain x = to_plain(a), y = to_plain(b);

	return x.family != 0 && x.family == y.family && x.port == y.port &&
	    x.zone == y.zone && memcmp(x.bytes, y.bytes, x.len) == 0;
}

bool
addr_is_wildcard(const struct sockaddr_storage *addr)
{
	static const uint8_t zero[16];
	struct plain plain = to_plain(addr);

	return plain.family != 0 && memcmp(plain.bytes, zero, plain.len) == 0;
}

bool
addr_is_multicast(const struct sockaddr_storage *addr)
{
	struct plain plain = to_plain(addr);

	return (plain.family == AF_INET && plain.bytes[0] >= 0xe0) ||
	    (plain.family == AF_INET6 && plain.bytes[0] == 0xff);
}

/* Clear what lies behind the first bits; whether anything was set there. */
static bool
clear_host_bits(uint8_t *bytes, size_t len, unsigned int bits)
{
	bool was_set = false;
	unsigned int keep;
	uint8_t masked;
	size_t i;

	for (i = 0; i < len; i++) {
		keep = bits > 8 ? 8 : bits;
		bits -= keep;
		masked = (uint8_t)(bytes[i] & (0xff00u >> keep));
		was_set = was_set || masked != bytes[i];
		bytes[i] = masked;
	}
	return was_set;
}

/* The part behind the slash. */
static int
parse_prefix(const char *text, const char *slash, unsigned int max, unsigned int *out,
    struct err *err)
{
	uint64_t bits = max;

	if (slash && (num_parse_u64(slash + 1, &bits) != 0 || bits > max))
		return err_set(err, ERR_INVALID_PARAMS, 0,
		    "network \"%s\" has no prefix length from 0 to %u", text, max);
	*out = (unsigned int)bits;
	return 0;
}

int
addr_net_parse(const char *text, struct addr_net *out, struct err *err)
{
	const char *slash = strchr(text, '/');
	struct addr_net net = { .family = AF_INET };
	char addr[INET6_ADDRSTRLEN] = "";
	size_t len = slash ? (size_t)(slash - text) : strlen(text), size;
	unsigned int max;
	int rc;

	if (len < sizeof(addr))
		memcpy(addr, text, len);
	if (strchr(addr, ':'))
		net.family = AF_INET6;
	max = net.family == AF_INET6 ? BITS_V6 : BITS_V4;
	size = max / 8;
	if (inet_pton(net.family, addr, net.bytes) != 1)
		return err_set(err, ERR_INVALID_PARAMS, 0,
		    "\"%s\" is not a network like 10.0.0.0/8 or 2001:db8::/32", text);
	rc = parse_prefix(text, slash, max, &net.prefix_bits, err);
	if (rc != 0)
		return rc;
	if (clear_host_bits(net.bytes, size, net.prefix_bits)) {
		rc = err_set(err, ERR_INVALID_PARAMS, 0,
		    "network \"%s\" has bits set behind its prefix", text);
		(void)inet_ntop(net.family, net.bytes, addr, sizeof(addr));
		err_hint(err, "write %s/%u for the network", addr, net.prefix_bits);
		return rc;
	}
	if (net.family == AF_INET6 && net.prefix_bits >= MAPPED_BITS &&
	    IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)net.bytes)) {
		net.family = AF_INET;
		net.prefix_bits -= MAPPED_BITS;
		memmove(net.bytes, net.bytes + 12, 4);
		memset(net.bytes + 4, 0, sizeof(net.bytes) - 4);
	}
	*out = net;
	return 0;
}

bool
addr_net_contains(const struct addr_net *net, const struct sockaddr_storage *addr)
{
	struct plain plain = to_plain(addr);

	if (plain.family == 0 || plain.family != net->family)
		return false;
	(void)clear_host_bits(plain.bytes, plain.len, net->prefix_bits);
	return memcmp(plain.bytes, net->bytes, plain.len) == 0;
}

void
addr_each_local(addr_local_fn fn, void *arg)
{
	struct ifaddrs *all, *one;

	if (getifaddrs(&all) != 0)
		return;
	for (one = all; one; one = one->ifa_next) {
		struct sockaddr_storage addr = { .ss_family = AF_UNSPEC };

		if (!one->ifa_addr || !(one->ifa_flags & IFF_UP))
			continue;
		addr.ss_family = one->ifa_addr->sa_family;
		if (addr_len(&addr) == 0)
			continue;
		memcpy(&addr, one->ifa_addr, addr_len(&addr));
		fn(arg, &addr, one->ifa_name);
	}
	freeifaddrs(all);
}
