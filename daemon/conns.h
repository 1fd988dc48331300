/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of connections: accepted or dialled, established, drained, gone. The object
 * lives as long as the engine; connections as long as the device.
 */
#ifndef RPMAD_DAEMON_CONNS_H
#define RPMAD_DAEMON_CONNS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/conn.h"
#include "daemon/device.h"
#include "daemon/ledger.h"
#include "daemon/named_count.h"
#include "daemon/sender.h"
#include "daemon/settings.h"
#include "daemon/srq.h"
#include "lib/core/err.h"
#include "lib/core/log.h"

struct events;
struct rpma_cm;
struct rpma_cm_event;
struct rpma_conn_cfg;
struct rpma_conn_req;

/* Plain state that the parts of this module share; others use the functions below. */
struct conns {
	const struct settings *settings;
	struct conn_table table;
	uint32_t draining;   /* connections in CONN_DRAINING */
	uint32_t connecting; /* in CONN_CONNECTING or CONN_ACCEPTING */
	uint32_t established;
	bool is_stopping;
	/* while a device is open; all borrowed but cfg */
	struct device *device;
	struct rpma_cm *cm;
	struct srq *srq;
	struct sender *sender;
	struct rpma_conn_cfg *cfg; /* owned */
	bool is_iwarp;
	/* called when a connection wants its completions collected */
	void (*wants_drain)(void *arg);
	void *arg;
	struct events *events; /* may be NULL */
	uint64_t polled;       /* completions read from the receive queue, ever */
	uint64_t left_until; /* so many when none of a destroyed queue pair is unread */
	/* counters */
	uint64_t requests, accepted, opened, established_total, late;
	uint64_t rnr_failures; /* established without their RNR timer */
	struct named_counts rejected, closes;
	struct log_limit reject_log;
};

/* last_id: see conn_table_init(). return 0; -ENOMEM */
RPMAD_MUST_USE int conns_init(struct conns *conns, const struct settings *settings,
    uint64_t last_id, void (*wants_drain)(void *arg), void *arg);
void conns_fini(struct conns *conns);

/* A device is there. return 0; ERR_PROVIDER or -ENOMEM with err */
RPMAD_MUST_USE int conns_open(struct conns *conns, struct device *device,
    struct rpma_cm *cm, struct srq *srq, struct sender *sender, struct err *err);
/* All connections end at once with that reason; then the device is let go. */
void conns_shut(struct conns *conns, const char *reason);

/*
 * A peer asks: accept or refuse it. req is taken.
 * return   true accepted
 */
bool conns_request(struct conns *conns, struct rpma_conn_req *req, uint64_t listener);
/* An event of a connection. */
void conns_event(struct conns *conns, const struct rpma_cm_event *event);

/* See engine_conn_open(). */
void conns_dial(struct conns *conns, const struct sockaddr_storage *peer,
    uint64_t timeout_ms, engine_done_fn done, void *arg);

/*
 * Begin to close: the queue pair goes to error, its completions are collected, then it
 * is destroyed. The first reason stays. Does nothing to one that is draining already.
 */
void conns_close(struct conns *conns, struct conn *conn, const char *reason);
void conns_close_all(struct conns *conns, const char *reason);

/*
 * Destroy the draining connections whose completions have all been read.
 * empty    the completion queues were seen empty on this turn
 */
void conns_settle(struct conns *conns, uint64_t now_ns, bool empty);
/*
 * Whether the queue may hold completions of queue pairs that are gone. They are read before
 * a queue pair is made, which may get the number of one of those.
 */
bool conns_have_left(const struct conns *conns);
/* The queue was seen empty, so it holds none. */
void conns_none_left(struct conns *conns);
/* Time-outs of dials, idle connections. */
void conns_tick(struct conns *conns, uint64_t now_ns);

/* One that holds too much is closed, but only where others go short. */
void conns_check_quota(struct conns *conns, struct conn *conn);
/* A message of a connection that is gone. return NULL: it is not remembered */
const struct conn_info *conns_late_message(struct conns *conns, uint32_t qp_num,
    uint32_t len);

/* How many slots a connection may hold before it is looked at. */
static inline uint32_t
conns_quota(const struct conns *conns)
{
	const uint32_t quota = conns->settings->conns_quota_slots;

	return quota != 0 ? quota : UINT32_MAX;
}

/*
 * A message of that many bytes arrived: count it for its connection.
 *
 * recent   the connection of the last one, for they come in bursts; NULL at first, and whenever
 *          connections may have been destroyed
 * return   the connection's, which may be closed; NULL: not known
 */
static inline const struct conn_info *
conns_message(struct conns *conns, uint32_t qp_num, uint32_t len, uint64_t now_ns,
    uint32_t quota, struct conn **recent)
{
	struct conn *conn = *recent;
	uint32_t held;

	if (!conn || conn->info.qp_num != qp_num)
		conn = *recent = conn_by_qp(&conns->table, qp_num);
	if (RPMAD_UNLIKELY(!conn))
		return conns_late_message(conns, qp_num, len);
	conn->info.messages++;
	conn->info.last_recv_ns = now_ns;
	held = ++conn->info.held;
	if (held > conn->info.held_max)
		conn->info.held_max = held;
	conn->info.bytes += len;
	if (RPMAD_UNLIKELY(conn->info.state == CONN_DRAINING))
		conns->late++;
	else if (RPMAD_UNLIKELY(held > quota))
		conns_check_quota(conns, conn);
	return &conn->info;
}

/* A receive of that queue pair failed with that status. */
void conns_recv_failed(struct conns *conns, uint32_t qp_num, int status);
/* A send of the connection failed with that status. */
void conns_send_failed(struct conns *conns, struct conn *conn, int status);
/* A message of a connection that is gone left the pool. */
void conns_late_released(struct conns *conns, uint64_t id);
/* A message of that connection left the pool. recent: as in conns_message() */
static inline void
conns_released(struct conns *conns, uint64_t id, struct conn **recent)
{
	struct conn *conn = *recent;

	if (!conn || conn->info.id != id)
		conn = *recent = conn_by_id(&conns->table, id);
	if (RPMAD_UNLIKELY(!conn))
		conns_late_released(conns, id);
	else if (conn->info.held > 0)
		conn->info.held--;
}
/* LAST_WQE_REACHED, or a fatal error, of a queue pair. */
void conns_last_wqe(struct conns *conns, uint32_t qp_num);
void conns_qp_fatal(struct conns *conns, uint32_t qp_num);

/* Internal to the module: a new connection object in the table, NULL: no memory. */
struct conn *conns_make(struct conns *conns, bool is_outgoing);
/* How many completions the receive queue can hold. */
uint32_t conns_queue_size(const struct conns *conns);
/* Remove a connection for good; whoever waits is told. */
void conns_destroy(struct conns *conns, struct conn *conn);
/* Give it its timer and enter its queue pair in the table; for conns_dial.c too. */
void conns_qp_ready(struct conns *conns, struct conn *conn);
/* The end of a dial that did not become a connection. */
void conns_dial_failed(struct conns *conns, struct conn *conn,
    const struct rpma_cm_event *event);
/* What the peer announced when it accepted. */
void conns_read_announcement(struct conn *conn, const struct rpma_cm_event *event);

#endif
