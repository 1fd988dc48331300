/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes that tell: a client fills slots of a server's memory, and each write carries a
 * number, the slot's, of which the server learns. InfiniBand and RoCE only, iWARP has none.
 *
 *   write_imm server ADDR PORT            prints the slots as they are filled
 *   write_imm client ADDR PORT TEXT...    one slot for each, up to 8
 *
 * Each such write takes one receive of the server's. The data goes to where the client
 * says, not to the receive's buffer, so that the receives may be empty.
 */
#include "common.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS        8
#define SLOT_BYTES   256
#define MEMORY_BYTES (SLOTS * SLOT_BYTES)
#define LAST         UINT32_MAX /* instead of a slot: there are no more */

static void
serve(const char *addr, const char *port)
{
	struct rpma_peer *peer = peer_at(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	char *memory = memory_new(MEMORY_BYTES);
	uint8_t descriptor[32];
	struct rpma_conn_private_data pdata = { descriptor, 0 };
	struct rpma_mr_local *region;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_ep *ep;
	struct ibv_wc wc;
	uint32_t slot;
	size_t size;

	MUST(rpma_mr_reg(peer, memory, MEMORY_BYTES, RPMA_MR_USAGE_WRITE_DST, &region));
	MUST(rpma_mr_get_descriptor_size(region, &size));
	MUST(rpma_mr_get_descriptor(region, descriptor));
	pdata.len = (uint8_t)size;
	MUST(rpma_ep_listen(peer, addr, port, &ep));
	printf("listening at %s %s\n", addr, port);

	/* By default a connection has room for ten receives, and we need one a slot and
	 * one more. */
	MUST(rpma_ep_next_conn_req(ep, NULL, &req));
	for (int i = 0; i < SLOTS + 1; i++)
		MUST(rpma_conn_req_recv(req, NULL, 0, 0, NULL));
	conn = establish(req, &pdata);
	MUST(rpma_conn_get_cq(conn, &cq));
	for (;;) {
		next_completion(cq, &wc);
		/* The number travels in network order. */
		slot = ntohl(wc.imm_data);
		if (slot >= SLOTS)
			break;
		printf("slot %u, %u bytes: %.*s\n", slot, wc.byte_len, SLOT_BYTES,
		    memory + slot * SLOT_BYTES);
	}

	wait_for_hang_up(conn);
	MUST(rpma_ep_shutdown(&ep));
	MUST(rpma_mr_dereg(&region));
	MUST(rpma_peer_delete(&peer));
	free(memory);
}

static void
fill_slots(const char *addr, const char *port, char *texts[], int count)
{
	struct rpma_peer *peer = peer_at(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_conn *conn = dial(peer, addr, port, NULL);
	char *memory = memory_new(MEMORY_BYTES);
	struct rpma_conn_private_data pdata;
	struct rpma_mr_remote *remote;
	struct rpma_mr_local *region;
	struct rpma_cq *cq;
	struct ibv_wc wc;

	MUST(rpma_conn_get_private_data(conn, &pdata));
	MUST(rpma_mr_remote_from_descriptor(pdata.ptr, pdata.len, &remote));
	MUST(rpma_mr_reg(peer, memory, MEMORY_BYTES, RPMA_MR_USAGE_WRITE_SRC, &region));
	MUST(rpma_conn_get_cq(conn, &cq));

	for (int i = 0; i < count; i++) {
		size_t at = (size_t)i * SLOT_BYTES;
		int len = snprintf(memory + at, SLOT_BYTES, "%s", texts[i]);
		size_t bytes = (size_t)(len < SLOT_BYTES ? len + 1 : SLOT_BYTES);

		MUST(rpma_write_with_imm(conn, remote, at, region, at, bytes,
		    RPMA_F_COMPLETION_ALWAYS, (uint32_t)i, NULL));
		next_completion(cq, &wc);
	}
	/* A write of nothing still carries its number. */
	MUST(rpma_write_with_imm(conn, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS,
	    LAST, NULL));
	next_completion(cq, &wc);
	printf("filled %d slots\n", count);

	hang_up(conn);
	MUST(rpma_mr_remote_delete(&remote));
	MUST(rpma_mr_dereg(&region));
	MUST(rpma_peer_delete(&peer));
	free(memory);
}

int
main(int argc, char *argv[])
{
	int texts = argc - 4;

	if (is_server(argc, argv, "[TEXT...]"))
		serve(argv[2], argv[3]);
	else
		fill_slots(argv[2], argv[3], argv + 4, texts < SLOTS ? texts : SLOTS);
	return 0;
}
