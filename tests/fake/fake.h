/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake.h: the script side of the doubles of libibverbs and librdmacm.
 *
 * A program that links libfake.a instead of -libverbs -lrdmacm gets a small model of a
 * reliable-connection RDMA device: "fake0" on 127.0.0.1 and ::1, and, when asked,
 * "fake1". Descriptors are real, so poll(2) and event loops work. Without
 * fake_wire_start() there is no thread: whatever a call causes has happened when the
 * call returns.
 *
 * Everything lives in one state that fake_reset() empties; call it before and after
 * each test. Calls may come from any thread. Strings given out live until the next call
 * of the same function or fake_reset(). Numbers: ports and immediates in host order.
 */
#ifndef RPMAD_TESTS_FAKE_FAKE_H
#define RPMAD_TESTS_FAKE_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ibv_context;
struct rdma_cm_id;

/* State and options. */

enum fake_kind {
	FAKE_IB = 0,  /* InfiniBand or RoCE hardware */
	FAKE_RXE = 1, /* soft-RoCE: too long is REM_INV_REQ_ERR, no LAST_WQE event */
	FAKE_IWARP =
	    2, /* full SRQ -ENOMEM, an empty SRQ ends the connection, exact private
		  data, the accepting side must receive before it may send */
};

/* Behaviour that may be changed at any time through fake_options(). */
struct fake_options {
	enum fake_kind
	    kind; /* set by fake_set_kind(), together with what follows from it */
	uint32_t
	    seed; /* not 0; setting it restarts the order in which SRQs give buffers */

	/* shared receive queues */
	int srq_full;  /* what a post to a full queue returns: ENOMEM, -ENOMEM, -1 */
	bool srq_pow2; /* effective depth is the next 2^n - 1 instead of what was asked
			*/
	uint32_t srq_extra;      /* effective depth is larger by this */
	uint32_t srq_missing;    /* it is full so many receives before that depth */
	bool srq_query_nonsense; /* ibv_query_srq() tells a wrong max_wr */

	/* connections */
	int too_long_status; /* enum ibv_wc_status at the receiver of a too long message
			      */
	bool last_wqe;       /* LAST_WQE_REACHED when a QP with an SRQ goes to error */
	bool drop_unread;    /* destroying a QP removes its unread completions */
	bool reuse_qp_num;   /* a new QP gets the lowest number that is free */
	bool cm_event_first; /* completions of received messages stay unseen until the
				connection's DISCONNECTED event was fetched, its QP was
				set to error, or fake_flush_late() */
	bool
	    late_at_destroy; /* completions of received messages stay unseen until their QP
				 is destroyed, or fake_flush_late() */
	bool auto_rtu; /* a peer confirms an accept at once (ESTABLISHED); default true
			 */
	bool
	    all_addrs; /* rdma_getaddrinfo(3) lists every address of a name, as its manual
			   allows (default false: the first alone, as librdmacm does) */
	bool auto_drep; /* a peer answers a disconnect at once (DISCONNECTED); default
			   true */
	bool timewait_exit; /* TIMEWAIT_EXIT follows the end of a connection */
	bool fail_keeps; /* an injected failure of a destroying call leaves the object
			    alive (default false: it reports failure and destroys) */

	/* limits */
	uint32_t max_srq_wr; /* 0: the device has no SRQs */
	uint32_t max_cqe;
	uint32_t max_qp_wr;
	uint32_t max_qp;
	uint64_t memlock_bytes; /* registering more fails with ENOMEM; 0: no limit */
	uint64_t max_mr_bytes; /* and with EINVAL more than this at once; 0: no limit */
	unsigned devices;      /* 1 or 2: how many device lists show; default 1 */
	int port_state;        /* enum ibv_port_state; default ACTIVE */
	bool odp;              /* the device does on-demand paging */

	/* remote memory */
	unsigned
	    native_flush; /* flushes that the device does by itself: 0 none, 1 global,
				  2 persistent, 3 both */
	bool native_atomic_write; /* the device does atomic writes by itself */
	int no_send_ops;  /* what a driver answers that knows plain queue pairs alone:
			    EOPNOTSUPP, EINVAL; 0: it knows the others, too */
	bool no_builders; /* a driver makes queue pairs for such operations that lack
			     the calls which build them */

	/*
	 * A call that blocks longer than this, which without a thread is for ever,
	 * fails with ETIMEDOUT and is reported by fake_misuse(). Default 5000; 0: no
	 * limit.
	 */
	unsigned block_limit_ms;
};

/* The options in force; never NULL. Write to them freely. */
struct fake_options *fake_options(void);

/* Take on a personality: sets kind and srq_full, too_long_status, last_wqe,
 * drop_unread. */
void fake_set_kind(enum fake_kind kind);

/*
 * Set options from text, "kind=iwarp,srq_pow2=1,max_srq_wr=64": names of struct
 * fake_options with numbers, kind as ib, rxe or iwarp. return   0, or -1 at the first
 * item that is not understood
 */
int fake_options_parse(const char *text);

/*
 * Forget everything: objects still alive are freed and their descriptors closed, the
 * options, addresses, faults, scripts and the trace are as at the start. Pointers from
 * before are dead. Not while the wire runs.
 */
void fake_reset(void);

/* What the code under test left behind or did wrong. */

enum fake_object {
	FAKE_PD,
	FAKE_MR,
	FAKE_COMP_CHANNEL,
	FAKE_CQ,
	FAKE_SRQ,
	FAKE_QP,
	FAKE_EVENT_CHANNEL,
	FAKE_ID,
	FAKE_CM_EVENT,    /* fetched and not acknowledged */
	FAKE_COMP_EVENT,  /* fetched and not acknowledged */
	FAKE_ASYNC_EVENT, /* fetched and not acknowledged */
	FAKE_ADDRINFO,
	FAKE_DEVICE_LIST,
	FAKE_OBJECT_COUNT
};

/* How many of a kind live now; how many were ever made since fake_reset(). */
unsigned fake_live(enum fake_object kind);
unsigned fake_made(enum fake_object kind);

/* What lives, as "pd 1, mr 2"; "" when nothing does. */
const char *fake_leaks(void);

/*
 * What no program may do, one per line, "" when nothing: destroying or migrating what
 * has unacknowledged events (the real call blocks for ever), an event channel with live
 * ids, an id that still has its QP, rdma_destroy_qp() without a QP, acknowledging more
 * events than were fetched, a call that would block for ever, a descriptor closed by
 * the wrong hands.
 */
const char *fake_misuse(void);

/* Faults and the trace. */

/*
 * Let the n-th provider call from now on (1: the next) fail with an errno, in the way
 * that call reports errors; 0 switches it off. All calls that can fail count, hot ones
 * too.
 */
void fake_fail_nth(unsigned n, int error);

/*
 * Pull device 0 out inside the n-th provider call from now on (1: the next), before that has
 * done anything; 0: not any more.
 */
void fake_remove_nth(unsigned n);

/*
 * Let the n-th call of a function from now on (1: the next; 0: every one) fail. name is
 * the public name, inline ones too: "ibv_poll_cq", "ibv_post_srq_recv". Several may be
 * set, one per name; error 0 removes it.
 */
void fake_fail_call(const char *name, unsigned n, int error);

/* Whether a fault of either kind struck since it was armed; how many calls were counted
 * since fake_fail_nth() or fake_reset(). */
bool fake_fired(void);
unsigned fake_calls(void);

/*
 * The calls in order, separated by blanks: names alone, or with the arguments that
 * matter, as "rdma_resolve_addr(dst=127.0.0.1:7471,timeout_ms=1000)". Arguments shown:
 *   ibv_reg_mr(length=,access=) ibv_advise_mr(advice=,flags=,n=) ibv_create_cq(cqe=) ibv_req_notify_cq(solicited=)
 *   ibv_create_srq(max_wr=,max_sge=) ibv_modify_srq(limit=) ibv_post_srq_recv(n=)
 *   ibv_ack_cq_events(n=) ibv_modify_qp(state=) or (min_rnr_timer=)
 *   rdma_create_id(sync=) rdma_bind_addr(addr=) rdma_listen(backlog=)
 *   rdma_resolve_addr(dst=,timeout_ms=) rdma_resolve_route(timeout_ms=)
 *   rdma_create_qp_ex(send_wr=,recv_wr=,send_sge=,recv_sge=,inline=,sig_all=,srq=,cqs=)
 *     cqs= is same or two, ops= only when asked for; rdma_create_qp() the same
 *   rdma_connect and rdma_accept(pdata=LEN,resp=,init=,flow=,retry=,rnr=)
 *   rdma_reject(pdata=LEN) ibv_post_send(opcode=,len=,signaled=,inline=)
 *   ibv_wr_complete(opcode=)
 * Empty polls and gets that found nothing are not shown. Off while the wire runs.
 */
const char *fake_trace(void);
const char *fake_trace_args(void);
void fake_trace_clear(void);

/* How often a function was called since fake_reset(), successfully or not. */
unsigned fake_called(const char *name);

/* Devices and addresses. */

/*
 * Let a device own a numeric address (device 0 or 1). Only owned addresses can be
 * bound. fake_addr_local() makes an address one of this host without an RDMA device:
 * binding it gives ENODEV. All others give EADDRNOTAVAIL.
 */
void fake_addr_add(const char *addr, unsigned device);
void fake_addr_remove(const char *addr);
void fake_addr_local(const char *addr);

/* The context that librdmacm would have open for a device; NULL: the device is gone. */
struct ibv_context *fake_context(unsigned device);

/*
 * Pull a device out: DEVICE_REMOVAL on each of its ids, DEVICE_FATAL on its context,
 * QPs to error; calls on the old context fail with EIO, destroying excepted.
 * fake_device_return() brings it back with a new context. fake_device_released(): the
 * old context's descriptors are no longer the device's, so that a kernel could finish
 * the removal.
 */
void fake_device_remove(unsigned device);
void fake_device_return(unsigned device);
bool fake_device_released(const struct ibv_context *context);

/* Queue an asynchronous event (enum ibv_event_type) about a port, or about the QP with
 * this number, or (qp_num 0, port 0) about the device. */
void fake_async_event(unsigned device, int event_type, uint32_t qp_num, int port);

/* Connection manager. */

/*
 * Hold CM events back: with true, new ones stay invisible until fake_cm_release(n) lets
 * the n oldest through (0: all). fake_cm_held(): how many wait.
 */
void fake_cm_hold(bool hold);
void fake_cm_release(unsigned n);
unsigned fake_cm_held(void);

/*
 * Queue any CM event (enum rdma_cm_event_type) for an id, out of the blue, with a
 * status. ids are found by fake_id_of_qp() or from the code under test.
 */
void fake_cm_event(struct rdma_cm_id *id, int event_type, int status);

/* The id whose QP has this number; NULL: none. The n-th id alive, oldest first; or
 * NULL. */
struct rdma_cm_id *fake_id_of_qp(uint32_t qp_num);
struct rdma_cm_id *fake_id(unsigned n);

/* The port that the n-th listener (oldest first, from 0) listens at; 0: none. */
uint16_t fake_listen_port(unsigned n);

/* Its backlog as given to rdma_listen(); -1: no such listener. */
int fake_listen_backlog(unsigned n);

/* Peers: the far ends of connections. */

struct fake_peer; /* lives until fake_reset() */

enum fake_peer_state {
	FAKE_PEER_WAITING,  /* its request, or a dial to it, is not answered yet */
	FAKE_PEER_ACCEPTED, /* its request was accepted; it has not confirmed (auto_rtu
			       off) */
	FAKE_PEER_ESTABLISHED,  /* messages can pass */
	FAKE_PEER_REJECTED,     /* its request was refused, fake_peer_reason() */
	FAKE_PEER_DISCONNECTED, /* the code under test hung up, or both did */
	FAKE_PEER_LEAVING,      /* it hung up and has no answer yet */
	FAKE_PEER_DEAD,         /* killed or vanished */
};

/*
 * Dial a listener of the code under test.
 *
 * port     of a listener; from 127.0.0.1, or with fake_peer_connect_from() a numeric
 * address pdata    len bytes, 0 .. 56 (IB) or 512 (iWARP); NULL with 0: none return the
 * peer; NULL when nothing listens there or the backlog is full
 */
struct fake_peer *fake_peer_connect(uint16_t port, const void *pdata, size_t len);
struct fake_peer *fake_peer_connect_from(const char *addr, uint16_t port,
    const void *pdata, size_t len);

/* The n-th peer ever made, from 0, dialled ones too; NULL: none. How many. The newest.
 */
struct fake_peer *fake_peer(unsigned n);
unsigned fake_peers(void);
struct fake_peer *fake_peer_last(void);

enum fake_peer_state fake_peer_state(const struct fake_peer *peer);

/* Why it was refused: 28 by rdma_reject(3), 8 by closing the listener; 0 before. */
int fake_peer_reason(const struct fake_peer *peer);

/* The private data that an accept, a reject or (dials) the request carried, as sent. */
const void *fake_peer_pdata(const struct fake_peer *peer, size_t *len);

/* The parameters of the accept or of the dial's request; -1 before. */
int fake_peer_rnr_retry(const struct fake_peer *peer);
int fake_peer_retry(const struct fake_peer *peer);

/* The QP number of the near end; 0 while it has none. */
uint32_t fake_peer_qp_num(const struct fake_peer *peer);

/* With auto_rtu off: confirm the accept now. */
void fake_peer_confirm(struct fake_peer *peer);

/* Messages of a peer. */

#define FAKE_NO_IMM (-1)

enum fake_sent {
	FAKE_SENT_WAITING, /* no receive was posted (RNR); it is tried again at each
			      post */
	FAKE_SENT_OK,      /* landed in a buffer: a sender saw success */
	FAKE_SENT_ERROR,   /* too long, or the connection ended first */
	FAKE_SENT_LOST,    /* iWARP: the sender saw success, no receive was there */
};

/*
 * Send one message to the code under test. Copied.
 *
 * imm      FAKE_NO_IMM, or the immediate in host order, 0 .. 2^32 - 1
 * return   its index, from 0, for fake_peer_sent(); -1: not established
 */
int fake_peer_send(struct fake_peer *peer, const void *data, size_t len, int64_t imm);
enum fake_sent fake_peer_sent(const struct fake_peer *peer, int index);

/* Messages in each state; how often one had to begin waiting for a receive. */
unsigned fake_peer_sent_count(const struct fake_peer *peer, enum fake_sent state);
unsigned fake_peer_rnr_waits(const struct fake_peer *peer);

/* With cm_event_first: show the completions withheld from all queues now. */
void fake_flush_late(void);

/* How many messages it got; the n-th: its bytes (NUL added), *len and *imm (may be
 * NULL). */
unsigned fake_peer_received(const struct fake_peer *peer);
const void *fake_peer_message(const struct fake_peer *peer, unsigned n, size_t *len,
    int64_t *imm);

/*
 * What it can receive. false: its receive queue is empty, so sends to it stay
 * outstanding; true delivers them. Longer messages than max_len break the connection
 * (0: no limit).
 */
void fake_peer_set_ready(struct fake_peer *peer, bool ready);
void fake_peer_set_max_len(struct fake_peer *peer, size_t max_len);

/*
 * Remote memory. Any region that is registered in this process can be accessed over any
 * connection by its rkey, which is not its lkey, as far as its access allows: a queue
 * pair that does otherwise gets REM_ACCESS_ERR and goes to error. A write with immediate
 * is a message at the far end, besides.
 */

/* The newest request that a program gave to a send queue, and what it said. */
struct fake_wr {
	uint64_t wr_id;
	int opcode; /* enum ibv_wr_opcode */
	unsigned send_flags;
	int num_sge;
	uint64_t addr; /* of the first entry, as are length and lkey */
	uint32_t length;
	uint32_t lkey;
	uint64_t raddr;
	uint32_t rkey;
	uint32_t imm_data;  /* as given: network order */
	bool is_built;      /* by the builder interface */
	uint64_t flush_len; /* of a native flush, as are the next two */
	unsigned flush_type;
	unsigned flush_level;
};
struct fake_wr fake_last_wr(void);

/* The end of a peer. */

/* It hangs up in good order: DISCONNECTED; waiting messages end in error. */
void fake_peer_disconnect(struct fake_peer *peer);

/* With auto_drep off: answer the other side's disconnect now. */
void fake_peer_answer(struct fake_peer *peer);

/*
 * Its process dies: DISCONNECTED; before its request was accepted: the request dies,
 * REJECTED, and accepting or refusing it fails with EINVAL.
 */
void fake_peer_kill(struct fake_peer *peer);

/* Its host dies: no event at all; sends to it end with RETRY_EXC_ERR. */
void fake_peer_vanish(struct fake_peer *peer);

/* Dials of the code under test. */

enum fake_dial {
	FAKE_DIAL_ACCEPT, /* a peer appears and accepts, with the private data */
	FAKE_DIAL_REJECT, /* REJECTED; status: reason, 0 stands for 28; private data */
	FAKE_DIAL_HOLD,   /* a peer appears in state WAITING; see fake_peer_accept() */
	FAKE_DIAL_UNREACHABLE,   /* UNREACHABLE; status 0 stands for -ETIMEDOUT */
	FAKE_DIAL_CONNECT_ERROR, /* CONNECT_ERROR; status 0 stands for -EINVAL */
	FAKE_DIAL_ADDR_ERROR,    /* ADDR_ERROR; status 0 stands for -ETIMEDOUT */
	FAKE_DIAL_ADDR_SILENT,   /* no answer to rdma_resolve_addr(), ever */
	FAKE_DIAL_ROUTE_ERROR,   /* ROUTE_ERROR; status 0 stands for -ETIMEDOUT */
	FAKE_DIAL_ROUTE_SILENT,  /* no answer to rdma_resolve_route(), ever */
};

/*
 * What dials to an address meet, until the next script for it. Without a script a dial
 * meets a listener of this process (a loopback connection with two real ends), else
 * REJECTED with reason 8 at an owned address and ADDR_ERROR with -ENODEV at any other.
 *
 * addr     numeric; port 0: every port
 * device   0 or 1: the device that leads there
 * pdata    len bytes, copied
 */
void fake_dial_script(const char *addr, uint16_t port, unsigned device,
    enum fake_dial outcome, int status, const void *pdata, size_t len);

/* Answer a held dial; status 0 stands for reason 28. */
void fake_peer_accept(struct fake_peer *peer, const void *pdata, size_t len);
void fake_peer_reject(struct fake_peer *peer, int status, const void *pdata,
    size_t len);

/* Queues. */

/* Receives posted to all SRQs now; to the receive queues of QPs. */
unsigned fake_srq_posted(void);
unsigned fake_rq_posted(void);

/* Effective depth of the newest SRQ; its armed limit, 0: none. */
uint32_t fake_srq_depth(void);
uint32_t fake_srq_limit(void);

/* min_rnr_timer of a QP, -1: never set by ibv_modify_qp(); how often it was set; when,
 * CLOCK_MONOTONIC in ns, 0: never. */
int fake_qp_min_rnr_timer(uint32_t qp_num);
unsigned fake_qp_min_rnr_sets(uint32_t qp_num);
uint64_t fake_qp_min_rnr_set_at(uint32_t qp_num);

/* enum ibv_qp_state of a QP; -1: there is none of this number. */
int fake_qp_state(uint32_t qp_num);

/*
 * Run fn once inside the next ibv_req_notify_cq(), before (true) or after the queue is
 * armed: the window in which a completion meets an unarmed queue.
 */
void fake_on_notify(bool before, void (*fn)(void *arg), void *arg);

/*
 * Lose the next n events that armed queues would raise: the queue is no longer armed,
 * and nothing reaches its channel.
 */
void fake_lose_notify(unsigned n);

/* Put one completion (enum ibv_wc_status) of no message into the CQ of received
 * messages of a QP. */
void fake_inject_wc(uint32_t qp_num, uint64_t wr_id, int status);
/* The same of success, which claims to have received so many bytes. */
void fake_inject_bytes(uint32_t qp_num, uint64_t wr_id, uint32_t bytes);

/* Overrun the receive CQ of a QP: CQ_ERR, its QPs go to error. */
void fake_overrun(uint32_t qp_num);

/* Wire mode. */

/*
 * From now on listeners are reachable from other processes at real TCP ports of the
 * same number, and dials to owned addresses that no listener or script of this process
 * answers go out over TCP. One thread plays the hardware. The protocol is
 * fake_wire.h's.
 *
 * control  path of a FIFO of commands, made when it is not there; NULL: none. One a
 * line: "set OPTIONS", "remove DEVICE", "return DEVICE", "add ADDR DEVICE", "local
 * ADDR", "fail CALL N ERRNO", "async DEVICE TYPE" (port events name port 1),
 *          "complete QP WR_ID STATUS" as fake_inject_wc(), "hold", "release"
 * return   0 or -1 with errno
 */
int fake_wire_start(const char *control);

/* Stop the thread; live connections end as if all peers had died. */
void fake_wire_stop(void);

#endif
