/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of rpma_peer share: the two roles, their connections, and lines of a
 * transcript that are the same with any library that keeps the interface of librpma 1.3.0.
 */
#ifndef RPMAD_TESTS_PEERS_RPMA_PEER_H
#define RPMAD_TESTS_PEERS_RPMA_PEER_H

#include <librpma.h>

/* The one region of a process: what it sends, what it receives, what its peer writes. */
#define SEND_AT      0u
#define RECV_AT      8192u
#define RECV_BYTES   2048u
#define RECV_BUFS    8u
#define TARGET_AT    24576u
#define TARGET_BYTES 8192u
#define REGION_BYTES 32768u

struct run {
	bool is_server;
	const char *addr;
	const char *port;
	const char *scenario;
	struct rpma_peer *peer;
	struct rpma_ep *ep; /* the server's */
	uint8_t *memory;    /* REGION_BYTES */
	struct rpma_mr_local *region;
};

/* How a connection is made. */
struct shape {
	struct rpma_srq *srq;
	uint32_t rcq_size;
	bool shared;         /* one completion channel */
	uint32_t recvs;      /* posted before the connection is there */
	const char *request; /* private data of the client */
};

struct link {
	struct run *run;
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_cq *rcq;           /* where receives complete */
	struct rpma_mr_remote *remote; /* the server's region; the client's alone */
	struct rpma_peer_cfg *remote_cfg;
	uint32_t qp_num;
	bool told[2]; /* the shared channel has told of the main, the receive queue */
};

/* rpma_peer_link.c */

void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...);
void must(int result, const char *what);

/* One line of the transcript. */
void __attribute__((format(printf, 2, 3)))
say(const struct run *run, const char *format, ...);

/* Contents that depend on the scenario and on salt; and what tells contents apart. */
void fill(const struct run *run, size_t at, size_t len, unsigned int salt);
uint32_t sum(const void *memory, size_t len);

/* False after ms without anything to read. */
bool readable(int fd, int ms);

/* The server takes and accepts a request, the client makes one; both to the end. */
void link_open(struct run *run, const struct shape *shape, struct link *link);
struct rpma_conn_cfg *cfg_of(const struct shape *shape);

/* The next event of a connection, by its name in the transcript. */
void link_event(struct link *link);

/* One role ends the connection and the other answers; then both delete it. */
void link_close(struct link *link, bool by_server);
void link_delete(struct link *link);

/* The next completion of a queue, which must come. */
void take(struct rpma_cq *cq, struct ibv_wc *wc);
void say_wc(const struct run *run, const char *what, const struct ibv_wc *wc);

/* Wait for the completion of the operation that the call queued; one line. */
void finish_op(struct link *link, const char *what, int result);

/* rpma_peer_msg.c, _mem.c, _end.c, _remedy.c: each plays one part of the scenario. */
void play_send(struct run *run);
void play_send_imm(struct run *run);
void play_rcq(struct run *run);
void play_srq_own_cq(struct run *run);
void play_srq_conn_cq(struct run *run);
void play_srq_conn_rcq(struct run *run);
void play_shared_channel(struct run *run);
void play_read(struct run *run);
void play_read_nothing(struct run *run);
void play_write(struct run *run);
void play_write_imm(struct run *run);
void play_flush(struct run *run);
void play_atomic_write(struct run *run);
void play_private_data(struct run *run);
void play_reject(struct run *run);
void play_nobody(struct run *run);
void play_client_ends(struct run *run);
void play_server_ends(struct run *run);
void play_client_dies(struct run *run);
void play_server_dies(struct run *run);
void play_arguments(struct run *run);
void play_remedies(struct run *run);
void play_recv_with_srq(struct run *run);
void play_beyond(struct run *run);
void play_tail_flush(struct run *run);

#endif
