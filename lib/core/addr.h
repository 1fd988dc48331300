/* SPDX-License-Identifier: BSD-3-Clause */
/* Numeric addresses, ports and networks, from and to text; names are never looked up.
 */
#ifndef RPMAD_LIB_CORE_ADDR_H
#define RPMAD_LIB_CORE_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "lib/core/err.h"

/* Long enough for "[IPv6%zone]:65535" and its NUL. */
#define ADDR_TEXT_MAX 96

/*
 * An address (IPv4 dotted, IPv6 with an optional %zone, without brackets) and a port.
 * return   0 and *out; -EINVAL with err (code ERR_INVALID_PARAMS) naming the text and
 * what is wrong with it
 */
int addr_parse(const char *addr, uint16_t port, struct sockaddr_storage *out,
    struct err *err);

/* "ADDR:PORT" or "[ADDR]:PORT"; the same errors. */
int addr_parse_hostport(const char *text, struct sockaddr_storage *out,
    struct err *err);

/*
 * Split "HOST:PORT" or "[HOST]:PORT" without judging HOST: for callers that look names
 * up. return   0; -EINVAL with err
 */
int addr_split(const char *text, char *host, size_t host_size, uint16_t *port,
    struct err *err);

/* Length of the right kind of address, 0 for other families. */
socklen_t addr_len(const struct sockaddr_storage *addr);

/* "1.2.3.4" / "fe80::1%eth0" without port, else as addr_format(); buf of
 * ADDR_TEXT_MAX, returned. */
const char *addr_format_ip(const struct sockaddr_storage *addr, char *buf, size_t size);
/* "1.2.3.4:5" / "[::1]:5"; IPv4-mapped IPv6 as IPv4; "-" for other families. */
const char *addr_format(const struct sockaddr_storage *addr, char *buf, size_t size);
uint16_t addr_port(const struct sockaddr_storage *addr);
/* The same address, zone and port; an IPv4-mapped one equals its IPv4 form. */
bool addr_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
/* Multicast or broadcast: no host's own. */
bool addr_is_multicast(const struct sockaddr_storage *addr);
bool addr_is_wildcard(const struct sockaddr_storage *addr);

typedef void (*addr_local_fn)(void *arg, const struct sockaddr_storage *addr,
    const char *interface);

/*
 * Call fn for each IPv4 and IPv6 address of the host's interfaces that are up; for none where
 * they cannot be read. source   getifaddrs(3)
 */
void addr_each_local(addr_local_fn fn, void *arg);

/* A network in CIDR form. */
struct addr_net {
	int family;        /* AF_INET or AF_INET6 */
	uint8_t bytes[16]; /* network order, host bits zero */
	unsigned int prefix_bits;
};

/*
 * "10.0.0.0/8", "2001:db8::/32", or a single address. Host bits that are set are an
 * error, so that a typing slip is seen. return   0; -EINVAL with err
 */
int addr_net_parse(const char *text, struct addr_net *out, struct err *err);

/* An IPv4-mapped IPv6 address, or network, counts as IPv4. */
bool addr_net_contains(const struct addr_net *net, const struct sockaddr_storage *addr);

#endif
