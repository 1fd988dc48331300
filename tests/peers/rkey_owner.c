/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Owns memory that librpma has registered for one use each, tells addresses and keys, and
 * takes connections until its standard input ends. Then it tells which of the memory has
 * changed.
 *
 *   rkey_owner ADDR PORT
 */
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/rpma/librpma.h"

#include "tests/peers/must.h"

#define REGION_BYTES 4096u

static struct region {
	const char *name;
	int usage;
	uint8_t *memory;
	struct rpma_mr_local *mr;
} regions[] = {
	/* clang-format off */
	{ .name = "recv",      .usage = RPMA_MR_USAGE_RECV },
	{ .name = "send",      .usage = RPMA_MR_USAGE_SEND },
	{ .name = "send-recv", .usage = RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV },
	{ .name = "read",      .usage = RPMA_MR_USAGE_READ_SRC },
	{ .name = "write",     .usage = RPMA_MR_USAGE_WRITE_DST },
	/* clang-format on */
};

#define REGIONS (sizeof(regions) / sizeof(regions[0]))

static uint64_t
number(const uint8_t *bytes, size_t n)
{
	uint64_t value = 0;

	while (n-- > 0)
		value = value << 8 | bytes[n];
	return value;
}

static void
open_regions(struct rpma_peer *peer)
{
	for (size_t i = 0; i < REGIONS; i++) {
		struct region *region = &regions[i];
		uint8_t descriptor[32];

		region->memory = aligned_alloc(4096, REGION_BYTES);
		if (!region->memory)
			must(RPMA_E_NOMEM, "memory");
		memset(region->memory, 'o', REGION_BYTES);
		must(rpma_mr_reg(peer, region->memory, REGION_BYTES, region->usage,
			 &region->mr),
		    "rpma_mr_reg");
		must(rpma_mr_get_descriptor(region->mr, descriptor), "descriptor");
		(void)printf("%s %" PRIu64 " %" PRIu64 "\n", region->name,
		    number(descriptor, 8), number(descriptor + 16, 4));
	}
	(void)printf("listening\n");
	(void)fflush(stdout);
}

/* Until the peer, or what it tried, ends the connection. */
static void
serve_one(struct rpma_ep *ep)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;

	must(rpma_ep_next_conn_req(ep, NULL, &req), "rpma_ep_next_conn_req");
	must(rpma_conn_req_connect(&req, NULL, &conn), "rpma_conn_req_connect");
	while (event != RPMA_CONN_CLOSED && event != RPMA_CONN_LOST)
		must(rpma_conn_next_event(conn, &event), "rpma_conn_next_event");
	(void)rpma_conn_disconnect(conn);
	must(rpma_conn_delete(&conn), "rpma_conn_delete");
}

int
main(int argc, char *argv[])
{
	struct pollfd fds[2] = { { .fd = STDIN_FILENO, .events = POLLIN },
		{ .events = POLLIN } };
	struct ibv_context *context;
	struct rpma_peer *peer;
	struct rpma_ep *ep;

	if (argc != 3) {
		(void)fprintf(stderr, "usage: rkey_owner ADDR PORT\n");
		return 2;
	}
	must(rpma_utils_get_ibv_context(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL, &context),
	    "rpma_utils_get_ibv_context");
	must(rpma_peer_new(context, &peer), "rpma_peer_new");
	must(rpma_ep_listen(peer, argv[1], argv[2], &ep), "rpma_ep_listen");
	must(rpma_ep_get_fd(ep, &fds[1].fd), "rpma_ep_get_fd");
	open_regions(peer);
	while (poll(fds, 2, -1) > 0 && fds[0].revents == 0)
		serve_one(ep);
	must(rpma_ep_shutdown(&ep), "rpma_ep_shutdown");
	for (size_t i = 0; i < REGIONS; i++) {
		bool same = true;

		for (size_t at = 0; at < REGION_BYTES; at++)
			same = same && regions[i].memory[at] == 'o';
		(void)printf("%s %s\n", regions[i].name,
		    same ? "unchanged" : "changed");
		must(rpma_mr_dereg(&regions[i].mr), "rpma_mr_dereg");
		free(regions[i].memory);
	}
	must(rpma_peer_delete(&peer), "rpma_peer_delete");
	return 0;
}
