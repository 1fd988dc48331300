/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_types.h: the objects of the model behind fake.h.
 *
 * Public structures are the first member of ours, so a pointer to the one is a pointer
 * to the other; only for contexts see fake_ctx_of().
 */
#ifndef RPMAD_TESTS_FAKE_FAKE_TYPES_H
#define RPMAD_TESTS_FAKE_FAKE_TYPES_H

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "tests/fake/fake.h"

#define FAKE_PDATA_MAX 512
#define FAKE_SGE_MAX   4

enum {
	FAKE_REJ_NO_LISTENER = 8, /* invalid service id */
	FAKE_REJ_CONSUMER = 28,
	FAKE_MSG_DROPPED = -1, /* for far_ops.done: the receiver is gone, no answer */
};

/* A descriptor that is readable while something waits; level, not count. */
struct fake_signal {
	int fd;
	bool raised;
};

/* ---- devices ------------------------------------------------------------------ */

struct fake_async {
	TAILQ_ENTRY(fake_async) entry;
	struct ibv_async_event event;
};

/* One life of a device; fake_device_return() makes the next. The context is v.context.
 */
struct fake_ctx {
	struct verbs_context v;
	TAILQ_ENTRY(fake_ctx) entry;
	unsigned device;
	bool gone;
	struct fake_signal async;
	TAILQ_HEAD(, fake_async) events;
	struct ibv_device dev;
};

struct fake_addr {
	TAILQ_ENTRY(fake_addr) entry;
	struct sockaddr_storage addr; /* port 0 */
	int device;                   /* -1: of the host, not of a device */
};

/* ---- verbs objects ------------------------------------------------------------ */

struct fake_pd {
	struct ibv_pd pub;
	TAILQ_ENTRY(fake_pd) entry;
	unsigned uses;
};

struct fake_mr {
	struct ibv_mr pub;
	TAILQ_ENTRY(fake_mr) entry;
	unsigned access;
};

struct fake_comp {
	struct ibv_comp_channel pub;
	TAILQ_ENTRY(fake_comp) entry;
	struct fake_signal signal;
	TAILQ_HEAD(, fake_cq) ready; /* queues whose event was not fetched */
};

struct fake_wc {
	TAILQ_ENTRY(fake_wc) entry;
	struct ibv_wc wc;
	struct fake_qp *qp; /* whose send slots it frees; NULL: gone or a receive */
	unsigned slots;
};

TAILQ_HEAD(fake_wcs, fake_wc);

struct fake_cq {
	struct ibv_cq pub;
	TAILQ_ENTRY(fake_cq) entry;
	TAILQ_ENTRY(fake_cq) ready; /* in fake_comp.ready while events > 0 */
	struct fake_wcs wcs;
	unsigned count;
	unsigned uses;   /* by queue pairs, as send or receive queue */
	unsigned events; /* not fetched */
	unsigned unacked;
	bool armed;
	bool dead;
};

struct fake_recv {
	TAILQ_ENTRY(fake_recv) entry;
	uint64_t wr_id;
	int num_sge;
	struct ibv_sge sge[FAKE_SGE_MAX];
};

TAILQ_HEAD(fake_recvs, fake_recv);

struct fake_srq {
	struct ibv_srq pub;
	TAILQ_ENTRY(fake_srq) entry;
	struct fake_recv **recvs; /* posted of depth, in no order */
	uint32_t posted;
	uint32_t depth;
	uint32_t max_sge;
	uint32_t limit;
	unsigned uses;
};

/* A message on its way to a near end. */
struct fake_msg {
	TAILQ_ENTRY(fake_msg) entry;
	int index;
	bool waited;
	bool with_imm;
	bool written; /* is where it belongs already; takes a receive, but no memory */
	uint32_t imm;
	size_t len;
	unsigned char data[];
};

TAILQ_HEAD(fake_msgs, fake_msg);

struct fake_send {
	TAILQ_ENTRY(fake_send) entry;
	uint64_t wr_id;
	bool signaled;
	bool with_imm;
	bool handed; /* over to the far end, which will call fake_qp_sent() */
	enum ibv_wr_opcode opcode;
	uint64_t raddr;
	uint32_t rkey;
	uint32_t imm;
	int num_sge;
	struct ibv_sge sge[FAKE_SGE_MAX];
	unsigned char *copy; /* of inline data */
	size_t len;
};

struct fake_qp {
	union {
		struct ibv_qp pub;
		struct ibv_qp_ex ex;
	};
	TAILQ_ENTRY(fake_qp) entry;
	struct fake_id *id;
	struct ibv_qp_cap cap;
	bool sig_all;
	bool passive;
	bool has_received;
	struct fake_recvs recvs; /* without an SRQ */
	unsigned posted;
	TAILQ_HEAD(, fake_send) sends;
	unsigned sq_used;
	unsigned sq_silent; /* finished without completion since the last one */
	struct fake_msgs in;
	struct fake_wcs late; /* receive completions withheld */
	bool last_wqe_sent;
	int min_rnr_timer;
	unsigned min_rnr_sets;
	uint64_t min_rnr_set_at;
	bool is_ex;              /* made with operations for the builder interface */
	struct fake_send *built; /* between wr_start() and wr_complete() */
};

/* ---- far ends ----------------------------------------------------------------- */

enum fake_take {
	FAKE_TAKE_OK,      /* arrived */
	FAKE_TAKE_LATER,   /* handed over; fake_qp_sent() will follow */
	FAKE_TAKE_BLOCKED, /* not taken: try again at fake_qp_push() */
	FAKE_TAKE_LONG,    /* too long for the receiver */
	FAKE_TAKE_DEAD,    /* nobody answers */
};

struct fake_far;

/* What a near end tells the far one. Members that are NULL are of no interest to it. */
struct fake_far_ops {
	void (*connect)(struct fake_far *far, const struct rdma_conn_param *param);
	void (*accepted)(struct fake_far *far, const struct rdma_conn_param *param);
	void (*rejected)(struct fake_far *far, int reason, const void *pdata,
	    size_t len);
	void (*confirmed)(struct fake_far *far); /* the active side saw the answer */
	void (*hangup)(struct fake_far *far); /* a disconnect, or the answer to one */
	void (*gone)(struct fake_far
		*far); /* the near id is no more; frees what is its own */
	void (*aborted)(struct fake_far
		*far); /* the near QP died: recall what was handed over */
	enum fake_take (*take)(struct fake_far *far, struct fake_send *send);
	/* a message of the far end is done: enum ibv_wc_status, or FAKE_MSG_DROPPED */
	void (*done)(struct fake_far *far, struct fake_msg *msg, int status, bool lost);
	void (*waits)(struct fake_far *far, struct fake_msg *msg);
};

struct fake_far {
	const struct fake_far_ops *ops;
	struct fake_id *id; /* the near end; NULL: none any more */
};

/* ---- connection manager ------------------------------------------------------- */

struct fake_event {
	struct rdma_cm_event pub;
	TAILQ_ENTRY(fake_event) entry;
	struct fake_id *id;
	struct fake_id *owner; /* whose destruction waits for the acknowledgement */
	unsigned char pdata[FAKE_PDATA_MAX];
};

TAILQ_HEAD(fake_events, fake_event);

struct fake_channel {
	struct rdma_event_channel pub;
	TAILQ_ENTRY(fake_channel) entry;
	struct fake_signal signal;
	struct fake_events events;
	bool is_private; /* of a synchronous id */
};

static inline struct fake_channel *
fake_channel_of(struct rdma_event_channel *pub)
{
	return (struct fake_channel *)(void *)pub;
}

enum fake_id_state {
	ID_IDLE,
	ID_BOUND,
	ID_LISTENING,
	ID_RESOLVING,
	ID_RESOLVED,
	ID_ROUTING,
	ID_ROUTED,
	ID_CONNECTING, /* request sent */
	ID_REQUEST,    /* request received */
	ID_ACCEPTED,   /* accepted, not confirmed */
	ID_CONNECTED,
	ID_CLOSING, /* this side hung up */
	ID_CLOSED,  /* the other side hung up, or both did */
	ID_FAILED,  /* refused, died before acceptance */
};

struct fake_id {
	struct rdma_cm_id pub;
	TAILQ_ENTRY(fake_id) entry;
	enum fake_id_state state;
	bool hidden; /* a request whose event was not fetched */
	bool passive;
	bool sync;
	bool ended;               /* DISCONNECTED was queued */
	bool timewait;            /* TIMEWAIT_EXIT was queued */
	struct fake_id *listener; /* of a passive id, while that lives */
	unsigned unacked;
	int backlog;
	unsigned pending;
	struct fake_ctx *ctx;
	struct fake_script *script;
	struct fake_far *far;
	void *wire; /* fake_wire.c's own: the socket of a bound or listening id */
};

struct fake_script {
	TAILQ_ENTRY(fake_script) entry;
	struct sockaddr_storage addr;
	unsigned device;
	enum fake_dial outcome;
	int status;
	size_t len;
	unsigned char pdata[FAKE_PDATA_MAX];
};

#endif
