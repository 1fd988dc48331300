/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_impl.h: the model behind fake.h, shared by the files of this folder alone.
 *
 * Every entry point takes the one recursive lock (fake_begin() or fake_lock()); the
 * functions below expect it held.
 */
#ifndef RPMAD_TESTS_FAKE_FAKE_IMPL_H
#define RPMAD_TESTS_FAKE_FAKE_IMPL_H

#include "tests/fake/fake_types.h"

/* ---- the state ---------------------------------------------------------------- */

struct fake_fault {
	TAILQ_ENTRY(fake_fault) entry;
	char name[48];
	unsigned n; /* calls until it strikes; 0: every one */
	int error;
};

struct fake_tally {
	const char *name;
	unsigned n;
};

struct fake_text {
	char *s;
	size_t len;
	size_t size;
};

struct fake {
	_Atomic bool ready;
	struct fake_options options;
	uint32_t random;
	unsigned live[FAKE_OBJECT_COUNT];
	unsigned made[FAKE_OBJECT_COUNT];
	struct fake_text misuse;
	struct fake_text trace;
	struct fake_text trace_args;
	struct fake_text leaks;
	TAILQ_HEAD(, fake_fault) faults;
	unsigned fail_n;
	int fail_error;
	unsigned remove_n;
	unsigned calls;
	bool fired;
	struct fake_tally tallies[96];
	struct fake_wire *wire;  /* NULL: it does not run */
	struct fake_ctx *ctx[2]; /* the present life of each device; NULL: out */
	TAILQ_HEAD(, fake_ctx) ctxs;
	TAILQ_HEAD(, fake_addr) addrs;
	TAILQ_HEAD(, fake_pd) pds;
	TAILQ_HEAD(, fake_mr) mrs;
	TAILQ_HEAD(, fake_comp) comps;
	TAILQ_HEAD(, fake_cq) cqs;
	TAILQ_HEAD(, fake_srq) srqs;
	TAILQ_HEAD(, fake_qp) qps;
	TAILQ_HEAD(, fake_channel) channels;
	TAILQ_HEAD(, fake_id) ids;
	TAILQ_HEAD(, fake_script) scripts;
	TAILQ_HEAD(, fake_peer) peers;
	struct fake_events held;
	struct fake_events fetched;
	bool hold;
	unsigned n_peers;
	uint32_t next_key;
	uint32_t next_qp_num;
	uint16_t next_port;
	uint64_t mr_bytes;
	struct fake_wr last_wr;
	unsigned lose_notify;
	bool notify_before;
	void (*notify_fn)(void *arg);
	void *notify_arg;
};

/* fake.c: the state, the lock, the faults. */
struct fake *fake_get(void);
void fake_lock(void);
void fake_unlock(void);
bool fake_inside(void);        /* this thread is inside the doubles */
void *fake_alloc(size_t size); /* zeroed; aborts when there is none */
uint32_t fake_random(void);
void fake_count(enum fake_object kind, int delta);
void fake_text_add(struct fake_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void fake_blame(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Enter a double: lock, count, trace, and see whether a fault is due. format is the
 * text of the arguments, "%s" with "" for none. return   the errno to fail with, or 0
 */
int fake_begin(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a call that is traced by fake_trace_add() when it did something. */
int fake_begin_quiet(const char *name);

/* The same for a call that cannot fail. */
void fake_begin_void(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void fake_trace_add(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Leave a double, in each of the three conventions. */
int fake_end_rdma(int error);
int fake_end_verbs(int error);
void *fake_end_ptr(int error, void *ptr);

/* fake_options.c */
void fake_options_default(struct fake_options *options);

/* fake_signal.c */
void fake_signal_init(struct fake_signal *signal);
void fake_signal_close(struct fake_signal *signal);
void fake_signal_set(struct fake_signal *signal, bool raised);

/*
 * Wait, with the lock given back meanwhile, until the signal may be raised.
 * return   0 look again; EAGAIN the descriptor does not block; EINTR; ETIMEDOUT the
 * call blocked for ever
 */
int fake_signal_wait(struct fake_signal *signal, const char *who);

/* fake_addr.c */
int fake_addr_parse(const char *text, uint16_t port, struct sockaddr_storage *addr);
void fake_addr_format(const struct sockaddr *addr, char *text, size_t size);
bool fake_addr_same(const struct sockaddr *a,
    const struct sockaddr *b); /* but for ports */
bool fake_addr_is_any(const struct sockaddr *addr);
uint16_t fake_addr_port(const struct sockaddr *addr);
void fake_addr_set_port(struct sockaddr *addr, uint16_t port);
socklen_t fake_addr_len(const struct sockaddr *addr); /* 0: neither IPv4 nor IPv6 */
const struct fake_addr *fake_addr_find(const struct sockaddr *addr);
const struct fake_addr *fake_addr_of_device(unsigned device, int family);
struct fake_script *fake_script_find(const struct sockaddr *addr);
void fake_addr_reset(bool defaults);

/* fake_device.c */
struct fake_ctx *fake_ctx_new(unsigned device);
struct fake_ctx *fake_ctx_of(struct ibv_context *context);
void fake_ctx_free(struct fake_ctx *ctx);
void fake_ctx_async(struct fake_ctx *ctx, const struct ibv_async_event *event);
void fake_ctx_forget(struct fake_ctx *ctx, const void *element); /* drop its events */
bool fake_ctx_gone(const struct ibv_context *context);

/* fake_query.c */
int fake_query_device_ex(struct ibv_context *context,
    const struct ibv_query_device_ex_input *input, struct ibv_device_attr_ex *attr,
    size_t size);

/* fake_mem.c: protection domains and memory regions. */
int fake_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
    struct ibv_sge *sge, uint32_t num_sge);
void fake_mem_reset(void);
struct fake_mr *fake_mr_find(const struct ibv_pd *pd, const struct ibv_sge *sge);
struct fake_mr *fake_mr_find_remote(uint32_t rkey, uint64_t addr, uint64_t len);

/* fake_cq.c */
void fake_cq_add(struct ibv_cq *cq, const struct ibv_wc *wc, struct fake_qp *qp,
    unsigned slots);
void fake_cq_forget(struct ibv_cq *cq, struct fake_qp *qp, bool drop);
void fake_cq_reset(void);
int fake_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int fake_req_notify_cq(struct ibv_cq *cq, int solicited);

/* fake_srq.c: receives. */
int fake_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
    struct ibv_recv_wr **bad);
int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
struct fake_recv *fake_recv_take(struct fake_qp *qp); /* NULL: none is posted */
void fake_srq_reset(void);

/* fake_qp.c: the life of queue pairs; fake_recv.c: what they receive. */
struct fake_qp *fake_qp_find(uint32_t qp_num);
struct fake_qp *fake_qp_new(struct fake_id *id, struct ibv_pd *pd,
    const struct ibv_qp_init_attr_ex *attr, int *error);
void fake_qp_destroy(struct fake_qp *qp);
void fake_qp_error(struct fake_qp *qp);                         /* flush */
void fake_qp_receive(struct fake_qp *qp, struct fake_msg *msg); /* takes the message */
bool fake_qp_pump(struct fake_qp *qp); /* deliver one message; false: none can be */
void fake_qp_flush_recvs(struct fake_qp *qp);
void fake_qp_drop_in(struct fake_qp *qp);
void fake_qp_show_late(struct fake_qp *qp);
void fake_qp_ends(struct fake_qp *qp); /* show them, unless that comes later still */

/* fake_rma.c: operations of remote memory, and queue pairs that build requests. */
bool fake_rma_is_one_sided(enum ibv_wr_opcode opcode); /* needs no receive */
bool fake_rma_is_known(enum ibv_wr_opcode opcode);     /* by ibv_post_send() */
int fake_rma_do(const struct fake_qp *qp, const struct fake_send *send); /* a status */
enum ibv_wc_opcode fake_rma_wc(enum ibv_wr_opcode opcode);
bool fake_rma_has_ops(uint64_t send_ops); /* whether the device does them all */
void fake_rma_equip(struct fake_qp *qp, uint64_t send_ops);
uint64_t fake_rma_device_caps(void);
bool fake_rma_has_access(unsigned access); /* whether the device does such flushes */

/* fake_send.c: what queue pairs send. */
int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
void fake_qp_push(struct fake_qp *qp);
void fake_qp_sent(struct fake_qp *qp, int status); /* the oldest that was handed over */
void fake_qp_flush_sends(struct fake_qp *qp);
int fake_send_queue(struct fake_qp *qp, struct fake_send *send); /* or an errno */
void fake_send_free(struct fake_send *send);
size_t fake_send_gather(const struct fake_send *send, unsigned char *out);

/* fake_event.c: channels and events. */
struct fake_channel *fake_channel_new(void);
void fake_channel_free(struct fake_channel *channel);
struct fake_event *fake_event_new(struct fake_id *id, enum rdma_cm_event_type type,
    int status);
void fake_event_pdata(struct fake_event *event, const void *pdata, size_t len,
    size_t pad);
void fake_event_queue(struct fake_event *event);
void fake_event_add(struct fake_id *id, enum rdma_cm_event_type type, int status);
void fake_event_forget(struct fake_id *id); /* those not fetched */
void fake_event_move(struct fake_id *id, struct fake_channel *to);
void fake_event_reset(void);
int fake_event_take(struct fake_channel *channel, struct rdma_cm_event **event);
void fake_event_ack(struct fake_event *event);
int fake_sync_complete(struct fake_id *id); /* wait for the event of a synchronous id */

/* fake_id.c: ids and addresses. */
struct fake_id *fake_id_new(struct fake_channel *channel, void *context);
void fake_id_free(struct fake_id *id);
void fake_id_reset(void);
struct fake_id *fake_listener_find(const struct sockaddr *addr);
bool fake_port_taken(const struct sockaddr *addr);
uint16_t fake_port_choose(void);
bool fake_backlog_full(const struct fake_id *listener);

/* fake_conn.c: what a far end does to the near one. */
struct fake_id *fake_request(struct fake_id *listener, struct fake_far *far,
    const struct sockaddr *src, const struct sockaddr *dst, const void *pdata,
    size_t len);
void fake_answer(struct fake_id *id, const void *pdata, size_t len); /* accepted */
void fake_refuse(struct fake_id *id, enum rdma_cm_event_type type, int status,
    const void *pdata, size_t len);
void fake_confirm(struct fake_id *id);
void fake_timewait(struct fake_id *id);
void fake_hangup(struct fake_id *id);  /* a disconnect, or the answer to one */
void fake_abandon(struct fake_id *id); /* tell the far end that the id goes */

/* fake_peer.c, fake_loop.c, fake_wire.c: the three kinds of far ends. */
void fake_peer_dial(struct fake_id *id, const struct fake_script *script);
void fake_peer_reset(void);
bool fake_loop_dial(struct fake_id *id);
bool fake_wire_dial(struct fake_id *id); /* false: the wire does not run */
int fake_wire_bind(struct fake_id *id,
    struct sockaddr *addr); /* errno; sets the port */
int fake_wire_listen(struct fake_id *id);
void fake_wire_close(struct fake_id *id);

#endif
