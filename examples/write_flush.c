/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client writes into a server's memory, and flushes what it wrote.
 *
 *   write_flush server ADDR PORT         offers memory to one client, prints what is there
 *   write_flush client ADDR PORT TEXT    writes TEXT
 *
 * The server's processor takes no part: it neither receives nor learns of the write. What
 * the client needs is the region's descriptor (address, size and key, 21 bytes), which
 * the server puts into the private data of its answer to the connection request.
 */
#include "common.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY_BYTES 4096

/*
 * The private data. On InfiniBand and RoCE it arrives padded to 196 bytes, so that it has
 * to say its own lengths.
 */
struct offer {
	uint8_t region_len;
	uint8_t peer_cfg_len;
	uint8_t descriptors[30]; /* of the region, then of the peer configuration */
};

static void
make_offer(const struct rpma_mr_local *region, struct offer *offer)
{
	struct rpma_peer_cfg *cfg;
	size_t region_len, cfg_len;

	MUST(rpma_mr_get_descriptor_size(region, &region_len));
	MUST(rpma_mr_get_descriptor(region, offer->descriptors));
	/*
	 * Whether a flush can make writes persistent is a property of this machine: its
	 * memory is persistent and no cache lies between it and the device. Ours is not.
	 */
	MUST(rpma_peer_cfg_new(&cfg));
	MUST(rpma_peer_cfg_set_direct_write_to_pmem(cfg, false));
	MUST(rpma_peer_cfg_get_descriptor_size(cfg, &cfg_len));
	MUST(rpma_peer_cfg_get_descriptor(cfg, offer->descriptors + region_len));
	MUST(rpma_peer_cfg_delete(&cfg));
	offer->region_len = (uint8_t)region_len;
	offer->peer_cfg_len = (uint8_t)cfg_len;
}

static void
serve(const char *addr, const char *port)
{
	struct rpma_peer *peer = peer_at(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct offer offer = { 0 };
	struct rpma_conn_private_data pdata = { &offer, sizeof(offer) };
	char *memory = memory_new(MEMORY_BYTES);
	struct rpma_mr_local *region;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_ep *ep;

	MUST(rpma_mr_reg(peer, memory, MEMORY_BYTES,
	    RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY, &region));
	make_offer(region, &offer);
	MUST(rpma_ep_listen(peer, addr, port, &ep));
	printf("listening at %s %s\n", addr, port);

	MUST(rpma_ep_next_conn_req(ep, NULL, &req));
	conn = establish(req, &pdata);
	wait_for_hang_up(conn);
	printf("the memory says: %.*s\n", MEMORY_BYTES, memory);

	MUST(rpma_ep_shutdown(&ep));
	MUST(rpma_mr_dereg(&region));
	MUST(rpma_peer_delete(&peer));
	free(memory);
}

/* What the server offers: its region, and for the connection what kind of memory that is. */
static struct rpma_mr_remote *
take_offer(struct rpma_conn *conn)
{
	struct rpma_conn_private_data pdata;
	struct rpma_mr_remote *remote;
	struct rpma_peer_cfg *cfg;
	struct offer offer;

	MUST(rpma_conn_get_private_data(conn, &pdata));
	if (pdata.len < sizeof(offer)) {
		fprintf(stderr, "the server offers nothing\n");
		exit(1);
	}
	memcpy(&offer, pdata.ptr, sizeof(offer));
	if (offer.region_len + offer.peer_cfg_len > (int)sizeof(offer.descriptors)) {
		fprintf(stderr, "the server's offer makes no sense\n");
		exit(1);
	}
	MUST(rpma_mr_remote_from_descriptor(offer.descriptors, offer.region_len,
	    &remote));
	MUST(rpma_peer_cfg_from_descriptor(offer.descriptors + offer.region_len,
	    offer.peer_cfg_len, &cfg));
	MUST(rpma_conn_apply_remote_peer_cfg(conn, cfg));
	MUST(rpma_peer_cfg_delete(&cfg));
	return remote;
}

static void
write_text(const char *addr, const char *port, const char *text)
{
	struct rpma_peer *peer = peer_at(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_conn *conn = dial(peer, addr, port, NULL);
	struct rpma_mr_remote *remote = take_offer(conn);
	size_t size, len = strlen(text) + 1;
	struct rpma_mr_local *region;
	struct rpma_cq *cq;
	struct ibv_wc wc;
	char *memory;

	MUST(rpma_mr_remote_get_size(remote, &size));
	if (len > size) {
		fprintf(stderr, "the server has %zu bytes\n", size);
		exit(1);
	}
	memory = memory_new(len);
	memcpy(memory, text, len);
	MUST(rpma_mr_reg(peer, memory, len, RPMA_MR_USAGE_WRITE_SRC, &region));
	/*
	 * Operations are done in the order of the calls, and a failure always has a
	 * completion. So the write needs none of its own: the flush's says that all is well.
	 * RPMA_FLUSH_TYPE_PERSISTENT is for regions registered for it, at a server whose peer
	 * configuration allows it; anywhere else it is RPMA_E_NOSUPP.
	 */
	MUST(rpma_write(conn, remote, 0, region, 0, len, RPMA_F_COMPLETION_ON_ERROR,
	    NULL));
	MUST(rpma_flush(conn, remote, 0, len, RPMA_FLUSH_TYPE_VISIBILITY,
	    RPMA_F_COMPLETION_ALWAYS, NULL));
	MUST(rpma_conn_get_cq(conn, &cq));
	next_completion(cq, &wc);
	printf("wrote and flushed %zu bytes\n", len);

	hang_up(conn);
	MUST(rpma_mr_remote_delete(&remote));
	MUST(rpma_mr_dereg(&region));
	MUST(rpma_peer_delete(&peer));
	free(memory);
}

int
main(int argc, char *argv[])
{
	if (is_server(argc, argv, "[TEXT]"))
		serve(argv[2], argv[3]);
	else
		write_text(argv[2], argv[3], argc > 4 ? argv[4] : "hello");
	return 0;
}
