/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tries one RDMA read or write of a peer's memory, whose address and key it is told, over a
 * connection of plain librdmacm. Prints the status of the completion, and of a success
 * whether what was read is the peer's. With "write+read", a read of the same memory follows
 * a write that seems to succeed: on iWARP the completion of a write only says that it is on
 * its way, but nothing gets through behind a write that was refused.
 *
 *   rkey_probe ADDR PORT read|write|write+read ADDRESS KEY
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES   64u
#define WAIT_MS 3000

static void
must(bool good, const char *what)
{
	if (good)
		return;
	(void)fprintf(stderr, "rkey_probe: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A connected id with a queue pair of its own; librdmacm's synchronous calls. */
static struct rdma_cm_id *
connect_to(const char *addr, const char *port)
{
	const struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 2,
		    .max_recv_wr = 2,
		    .max_send_sge = 1,
		    .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct rdma_conn_param param = {
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
	struct rdma_addrinfo *info;
	struct rdma_cm_id *id;

	must(rdma_getaddrinfo(addr, port, &hints, &info) == 0, "rdma_getaddrinfo");
	must(rdma_create_ep(&id, info, NULL, &attr) == 0, "rdma_create_ep");
	rdma_freeaddrinfo(info);
	must(rdma_connect(id, &param) == 0, "rdma_connect");
	/* Soft-iWARP of Linux 6.1 may overlook what arrives right behind its answer. */
	(void)poll(NULL, 0, 20);
	return id;
}

/* The status of its completion; -1: it has none. */
static int
try(struct rdma_cm_id *id, enum ibv_wr_opcode opcode, struct ibv_mr *mr,
    uint64_t address, uint32_t key)
{
	struct ibv_sge sge = { (uintptr_t)mr->addr, BYTES, mr->lkey };
	struct ibv_send_wr *bad,
	    wr = {
		    .sg_list = &sge,
		    .num_sge = 1,
		    .opcode = opcode,
		    .send_flags = IBV_SEND_SIGNALED,
		    .wr.rdma = { .remote_addr = address, .rkey = key },
	    };
	struct ibv_wc wc;
	int n = 0;

	must(ibv_post_send(id->qp, &wr, &bad) == 0, "ibv_post_send");
	for (int ms = 0; n == 0 && ms < WAIT_MS; ms += 5) {
		n = ibv_poll_cq(id->send_cq, 1, &wc);
		if (n == 0)
			(void)poll(NULL, 0, 5);
	}
	return n == 1 ? (int)wc.status : -1;
}

int
main(int argc, char *argv[])
{
	uint8_t *memory = aligned_alloc(4096, 4096);
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	uint64_t address;
	uint32_t key;
	bool is_read;
	int status;

	if (argc != 6 || !memory) {
		(void)fprintf(stderr,
		    "usage: rkey_probe ADDR PORT read|write|write+read ADDRESS KEY\n");
		return 2;
	}
	address = strtoull(argv[4], NULL, 10);
	key = (uint32_t)strtoull(argv[5], NULL, 10);
	is_read = strcmp(argv[3], "read") == 0;
	memset(memory, 'p', BYTES);
	id = connect_to(argv[1], argv[2]);
	/* Also for reads on iWARP, which needs a remote right for where they go to. */
	mr = ibv_reg_mr(id->pd, memory, BYTES,
	    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	must(mr != NULL, "ibv_reg_mr");
	status =
	    try(id, is_read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, mr, address, key);
	(void)printf("%d", status);
	if (is_read && memory[0] == 'o' && memory[BYTES - 1] == 'o')
		(void)printf(" the peer's");
	if (status == IBV_WC_SUCCESS && strcmp(argv[3], "write+read") == 0)
		(void)printf(" then %d", try(id, IBV_WR_RDMA_READ, mr, address, key));
	(void)printf("\n");
	(void)rdma_disconnect(id);
	(void)ibv_dereg_mr(mr);
	rdma_destroy_ep(id);
	free(memory);
	return 0;
}
