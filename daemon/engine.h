/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receive engine: pool, ledger, and (while a device is there) shared receive queue,
 * completion queues, listeners and connections. Handlers of the control protocol see it
 * through these plain functions. All of it runs on the loop thread and never blocks.
 */
#ifndef RPMAD_DAEMON_ENGINE_H
#define RPMAD_DAEMON_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "daemon/ledger.h"
#include "daemon/settings.h"
#include "lib/core/err.h"
#include "lib/core/histogram.h"

struct engine;
struct loop;
struct ring;

/* Where the engine stands. */
enum engine_state {
	ENGINE_WAITING_FOR_LISTENER, /* no device is named and nothing listens */
	ENGINE_WAITING_FOR_DEVICE,   /* it is not there (yet, or any more) */
	ENGINE_RUNNING,
	ENGINE_STOPPING,
	ENGINE_STOPPED,
};
/* "waiting_for_listener" .. "stopped". */
const char *engine_state_name(enum engine_state state);

/* What the engine tells its owner; each may be NULL. Called on the loop thread. */
struct events;
struct store;

struct engine_hooks {
	void *arg;
	void (*ready)(void *arg);   /* messages are ready; at most once a turn */
	void (*state)(void *arg);   /* engine_state() changed */
	void (*stopped)(void *arg); /* engine_stop() is through */
	void (*busy)(void *arg); /* engine_new() takes long, and goes on; may be NULL */
	struct events *events;   /* takes what happens; borrowed, may be NULL */
	struct store *store;     /* keeps the pool; borrowed, may be NULL */
};

/*
 * Make pool and ledger and try to open the device; that none is there yet is no error.
 *
 * settings  borrowed for the engine's life
 * return    0; -ENOMEM; a configuration that cannot work (memory lock limit, no SRQ,
 *           addresses that are not RDMA addresses): negative errno with err
 */
RPMAD_MUST_USE int engine_new(struct loop *loop, const struct settings *settings,
    const struct engine_hooks *hooks, struct engine **out, struct err *err);
/* Close all at once, without draining. NULL is fine. */
void engine_free(struct engine *engine);

enum engine_state engine_state(const struct engine *engine);
/* Why it waits: a sentence, "" when it does not. */
const char *engine_reason(const struct engine *engine);
/* "" while there is none. */
const char *engine_device(const struct engine *engine);

/* Drain every connection, then call hooks.stopped, within 4 s. Repeated calls do
 * nothing. */
void engine_stop(struct engine *engine);

struct ledger *engine_ledger(struct engine *engine);
/* The bytes of a slot, slot < slots; valid while the slot is leased. */
const void *engine_slot_data(const struct engine *engine, uint32_t slot);

/*
 * A descriptor of the pool's memory that can only be read, see region_open_readonly().
 * The bytes of slot s are those from s * pool.slot_size on.
 */
RPMAD_MUST_USE int engine_open_memory(const struct engine *engine, int *fd,
    struct err *err);

/*
 * Post free slots. accepted: how many, less than count when fewer are free.
 * return    0; ERR_SRQ_FULL nothing is free, ERR_NOT_READY no device, ERR_PROVIDER
 */
int engine_post(struct engine *engine, uint32_t count, uint32_t *accepted,
    struct err *err);
/*
 * Post one slot for messages of at most len bytes.
 * return    0; ERR_SLOT_RANGE, ERR_SLOT_BUSY, ERR_INVALID_PARAMS (len over the slot
 * size), ERR_NOT_READY, ERR_PROVIDER
 */
int engine_post_slot(struct engine *engine, uint32_t slot, uint32_t len,
    const char *context, size_t context_len, struct err *err);

/*
 * Lease, acknowledge and give back, with the counters, refill and quotas that go with
 * it. See ledger.h. lease_ms PARAM_UNSET: bound to owner; otherwise by time.
 */
bool engine_lease(struct engine *engine, struct ledger_owner *owner, uint64_t lease_ms,
    struct ledger_message *out);
/* What many messages share, whose time is read once. */
struct engine_clock {
	uint64_t now_ns;  /* monotonic */
	uint64_t wall_ns; /* since 1970 */
};
struct engine_clock engine_clock(void);
/*
 * Lease for a reader in place, bound to owner, into its ring: as many as are ready, as it has room
 * for, and max. return   how many
 */
unsigned int engine_ring_deliver(struct engine *engine, struct ledger_owner *owner,
    const struct engine_clock *clock, struct ring *ring, unsigned int max);
/*
 * Acknowledge and give back what its answers say, of what owner holds; what names nothing of
 * that is counted by the ring. At most budget answers.
 */
void engine_ring_settle(struct engine *engine, struct ledger_owner *owner,
    const struct engine_clock *clock, struct ring *ring, unsigned int budget);
/* Whether fewer receives are posted than receive.low_watermark. */
bool engine_is_low(const struct engine *engine);
bool engine_peek(struct engine *engine, struct ledger_message *out);
/*
 * owner    who asks; LEDGER_UNKNOWN where another one reads the message in place
 */
enum ledger_result engine_ack(struct engine *engine, const struct ledger_owner *owner,
    const char *token);
enum ledger_result engine_nack(struct engine *engine, const struct ledger_owner *owner,
    const char *token);
/* Acknowledge all that owner holds; the number. */
uint32_t engine_ack_held(struct engine *engine, struct ledger_owner *owner);
/* Acknowledge what was leased with ack "auto". */
void engine_auto_ack(struct engine *engine, uint32_t slot, uint32_t generation);
/* The reply that carried this delivery was lost. See ledger_undeliver(). */
void engine_undeliver(struct engine *engine, uint32_t slot, uint32_t generation,
    uint32_t deliveries);
void engine_owner_gone(struct engine *engine, struct ledger_owner *owner);

struct listener_info {
	uint64_t id;
	struct sockaddr_storage addr; /* with the port it listens at */
	uint64_t requests;
	uint64_t accepted;
	bool is_up; /* false while there is no device */
};

/*
 * Listen; opens the device behind the address when none is open.
 * return    0; ERR_ADDR_NOT_RDMA (the hint lists the addresses that are),
 * ERR_ADDR_IN_USE, ERR_WRONG_DEVICE, ERR_ALREADY_EXISTS, ERR_LIMIT, ERR_MEMLOCK_LIMIT,
 *           ERR_SRQ_UNSUPPORTED, ERR_NOT_READY (stopping), ERR_PROVIDER
 */
int engine_listener_add(struct engine *engine, const struct sockaddr_storage *addr,
    struct listener_info *out, struct err *err);
/* return    0; ERR_NO_SUCH_LISTENER */
int engine_listener_remove(struct engine *engine, uint64_t id, struct err *err);
/* Call fn for each, in order of id. */
void engine_listeners(const struct engine *engine,
    void (*fn)(void *arg, const struct listener_info *info), void *arg);

enum conn_state {
	CONN_CONNECTING, /* ours, on its way */
	CONN_ACCEPTING,  /* the peer's, accepted, not yet established */
	CONN_ESTABLISHED,
	CONN_DRAINING, /* being closed: its completions are still collected */
	CONN_CLOSED,
};
const char *conn_state_name(enum conn_state state);

#define CONN_REASON_MAX 40u /* characters of a close reason with its NUL */

struct conn_info {
	uint64_t id;
	enum conn_state state;
	bool is_outgoing;
	struct sockaddr_storage peer;
	struct sockaddr_storage local;
	uint32_t qp_num;    /* 0: none yet */
	uint64_t listener;  /* 0: outgoing */
	uint64_t since_ns;  /* wall clock: established, else made */
	uint64_t closed_ns; /* wall clock; 0: open */
	uint64_t messages;
	uint64_t bytes;
	uint64_t sent_messages;
	uint64_t sent_bytes;
	uint32_t held;           /* slots of its messages, ready or leased */
	uint32_t held_max;       /* the most that these ever were */
	uint64_t last_recv_ns;   /* monotonic; 0: never */
	uint32_t peer_slot_size; /* bytes; 0: unknown */
	uint64_t errors;
	char reason[CONN_REASON_MAX]; /* "" while open */
};

/* The open ones by id, or with closed the last 64 closed ones too (oldest first). */
void engine_conns(const struct engine *engine, bool closed,
    void (*fn)(void *arg, const struct conn_info *info), void *arg);
/* return    0; ERR_NO_SUCH_CONN */
int engine_conn_info(const struct engine *engine, uint64_t id, struct conn_info *out,
    struct err *err);

/*
 * The end of something that was started: err NULL on success. Called exactly once,
 * possibly before the starting call returns; info is valid during the call (for a
 * failed open too).
 */
typedef void (*engine_done_fn)(void *arg, const struct err *err,
    const struct conn_info *info);

/* Connect. ERR_NOT_READY, ERR_LIMIT, ERR_ADDR_UNRESOLVED, ... through done. */
void engine_conn_open(struct engine *engine, const struct sockaddr_storage *peer,
    uint64_t timeout_ms, engine_done_fn done, void *arg);
/* Close (reason "local"); done when it is drained and gone. ERR_NO_SUCH_CONN through
 * done. */
void engine_conn_close(struct engine *engine, uint64_t id, engine_done_fn done,
    void *arg);
/*
 * Send one message (copied into a send slot); done when the send completed.
 * imm       PARAM_UNSET: without; otherwise 32 bits
 * Errors through done: ERR_NO_SUCH_CONN, ERR_NOT_READY (not established; on iWARP the
 * accepting side before its first receive), ERR_BUSY (no send slot), ERR_TOO_LARGE
 * (over the slot size of the peer, or ours), ERR_CONN_LOST, ERR_TIMEOUT, ERR_PROVIDER.
 */
void engine_conn_send(struct engine *engine, uint64_t id, const void *data, size_t len,
    uint64_t imm, uint64_t timeout_ms, engine_done_fn done, void *arg);

/* A counter by name: errno, completion status, reason. */
struct engine_named_count {
	char name[CONN_REASON_MAX];
	uint64_t count;
};
#define ENGINE_NAMED_MAX 40u

struct engine_stats {
	struct ledger_counts slots;
	/* srq */
	uint64_t posted, refills, post_failures, times_low, times_empty, empty_ns;
	bool is_empty;
	struct engine_named_count
	    post_errors[ENGINE_NAMED_MAX]; /* post_failures by errno */
	size_t post_error_count;
	/* recv */
	uint64_t messages, bytes, imms, polled, redelivered, acked, nacked, expired,
	    auto_acked;
	uint64_t flushed, late, dropped, ledger_faults;
	uint64_t restored;           /* at the start */
	uint64_t maybe_lost;         /* by a crash before it, or a dead queue */
	bool is_kept;                /* the service manager was given the pool */
	struct histogram size_bytes; /* of messages */
	struct histogram queue_ns; /* from a message's arrival to its first delivery */
	struct histogram hold_ns;  /* from its last delivery to its acknowledgement */
	struct engine_named_count recv_errors[ENGINE_NAMED_MAX];
	size_t recv_error_count;
	struct engine_named_count drops[ENGINE_NAMED_MAX]; /* dropped by reason */
	size_t drop_count;
	/* send */
	uint32_t send_free, send_total;
	uint64_t sent, sent_bytes, send_failures;
	/* cq */
	uint32_t cq_size;
	uint64_t cq_events, cq_empty_wakeups, cq_late, cq_batch_max;
	/* cm */
	uint64_t requests, accepted, established, opened, closed, unknown_events;
	uint32_t conns, listeners;
	uint32_t cm_ids; /* of listeners that are up, and of connections */
	struct engine_named_count rejected[ENGINE_NAMED_MAX];
	size_t rejected_count;
	struct engine_named_count closes[ENGINE_NAMED_MAX];
	size_t close_count;
	/* memory */
	uint64_t registered_bytes;
	uint64_t memlock_limit_bytes; /* UINT64_MAX: none */
	uint64_t huge_page_bytes;     /* of the pool; 0: it is in ordinary pages */
};
void engine_stats(const struct engine *engine, struct engine_stats *out);

struct srq_info {
	bool is_active;
	uint32_t asked, effective, cq_asked;
	bool huge_pages;     /* asked for */
	uint64_t pool_bytes; /* effective: whole pages */
	uint64_t page_size;  /* effective, bytes */
	uint32_t target, low_watermark;
	enum refill_mode refill;
	uint32_t min_rnr_timer_us;
	unsigned int min_rnr_timer_code;
};
void engine_srq_info(const struct engine *engine, struct srq_info *out);

/* Limits of the open device. false: none is open. */
struct device_limits {
	uint32_t max_srq, max_srq_wr, max_cqe, max_qp, max_qp_wr;
	uint64_t max_mr_bytes;
	bool is_iwarp;
};
bool engine_device_limits(const struct engine *engine, struct device_limits *out);

/*
 * Sentences for a person: what is wrong, or was, with the remedy. Calls fn for
 * each.
 */
void engine_warnings(const struct engine *engine,
    void (*fn)(void *arg, const char *sentence), void *arg);

/*
 * The local addresses that lead to an RDMA device, with its name. Reads of sysfs, and opens
 * none; some milliseconds.
 */
void engine_usable_addrs(void (*fn)(void *arg, const struct sockaddr_storage *addr,
			     const char *device),
    void *arg);

#endif
