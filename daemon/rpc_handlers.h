/* SPDX-License-Identifier: BSD-3-Clause */
/* The handlers of all methods, and the parts of the protocol that keep something. */
#ifndef RPMAD_DAEMON_RPC_HANDLERS_H
#define RPMAD_DAEMON_RPC_HANDLERS_H

#include <stdbool.h>

#include "daemon/ledger.h"
#include "daemon/rpc_call.h"

struct event;
struct events;

/* rpc_daemon.c */
void rpc_list(struct rpc_call *call, const void *params);
void rpc_hello(struct rpc_call *call, const void *params);
void rpc_daemon_status(struct rpc_call *call, const void *params);
void rpc_daemon_stop(struct rpc_call *call, const void *params);
void rpc_daemon_reload(struct rpc_call *call, const void *params);
void rpc_log_set(struct rpc_call *call, const void *params);
/* rpc_device.c */
void rpc_device_list(struct rpc_call *call, const void *params);
void rpc_srq_show(struct rpc_call *call, const void *params);
/* rpc_recv.c */
void rpc_recv_post(struct rpc_call *call, const void *params);
void rpc_recv_ack(struct rpc_call *call, const void *params);
void rpc_recv_nack(struct rpc_call *call, const void *params);
/* rpc_pool.c */
void rpc_pool_map(struct rpc_call *call, const void *params);
/* Whether clients may read in the pool. return   0; negative errno with err */
RPMAD_MUST_USE int rpc_pool_check_share(const struct rpc_call *call, struct err *err);
/* rpc_poll.c */
void rpc_recv_poll(struct rpc_call *call, const void *params);
/* rpc_ring.c */
void rpc_recv_ring(struct rpc_call *call, const void *params);
/* rpc_listener.c */
void rpc_listener_add(struct rpc_call *call, const void *params);
void rpc_listener_remove(struct rpc_call *call, const void *params);
void rpc_listener_list(struct rpc_call *call, const void *params);
/* rpc_conn.c */
void rpc_conn_list(struct rpc_call *call, const void *params);
void rpc_conn_show(struct rpc_call *call, const void *params);
void rpc_conn_open(struct rpc_call *call, const void *params);
void rpc_conn_close(struct rpc_call *call, const void *params);
void rpc_conn_send(struct rpc_call *call, const void *params);
/* rpc_stats.c */
void rpc_stats_get(struct rpc_call *call, const void *params);
void rpc_stats_metrics(struct rpc_call *call, const void *params);
/* The result of stats.get: a new reference; NULL: no memory. */
struct json_t *rpc_stats_to_json(struct rpc_context *context);

/* rpc_ports.c: the ports of the open device; a new reference, NULL: no memory. */
struct json_t *rpc_ports_to_json(struct rpc_context *context);
/* NULL is fine. */
void rpc_ports_free(struct rpc_ports *ports);

/* rpc_event.c */
void rpc_event_get(struct rpc_call *call, const void *params);
/* rpc_subscribe.c */
void rpc_event_subscribe(struct rpc_call *call, const void *params);
void rpc_event_unsubscribe(struct rpc_call *call, const void *params);

/* An event as event.get returns it: a new reference; NULL: no memory. */
struct json_t *rpc_event_to_json(const struct event *event);
/* A bit for each type that is named, all where none is. return   0; -EINVAL with err */
RPMAD_MUST_USE int rpc_event_types(const struct param_list *names, uint32_t *types,
    struct err *err);
/* Whether params.since can be of this ring. return   0; -EINVAL with err */
RPMAD_MUST_USE int rpc_event_check_since(const struct events *events, uint64_t since,
    struct err *err);

/* The calls of event.get that wait. return   0; -ENOMEM */
RPMAD_MUST_USE int rpc_watches_new(struct rpc_context *context,
    struct rpc_watches **out);
/* None waits any more. NULL is fine. */
void rpc_watches_free(struct rpc_watches *watches);
/* Events have come: answer on the next turn. */
void rpc_watches_wake(struct rpc_watches *watches);

/* The clients that have subscribed. return   0; -ENOMEM */
RPMAD_MUST_USE int rpc_subs_new(struct rpc_context *context, struct rpc_subs **out);
/* All clients are gone. NULL is fine. */
void rpc_subs_free(struct rpc_subs *subs);
/* Events have come, or a client has room again: tell on the next turn. */
void rpc_subs_wake(struct rpc_subs *subs);
/* Tell all what there is left to tell, and that it was the last. */
void rpc_subs_end(struct rpc_subs *subs);

/* The polls that wait. return   0; -ENOMEM */
RPMAD_MUST_USE int rpc_polls_new(struct rpc_context *context, struct rpc_polls **out);
/* None waits any more. NULL is fine. */
void rpc_polls_free(struct rpc_polls *polls);
/* Messages are ready: answer them on the next turn. */
void rpc_polls_wake(struct rpc_polls *polls);
/* Answer them all with SHUTTING_DOWN. */
void rpc_polls_stop(struct rpc_polls *polls);

/* Whether any waits. */
bool rpc_polls_are_waiting(const struct rpc_polls *polls);

/* The rings of clients. return   0; -ENOMEM */
RPMAD_MUST_USE int rpc_rings_new(struct rpc_context *context, struct rpc_rings **out);
/* There is none any more. NULL is fine. */
void rpc_rings_free(struct rpc_rings *rings);
/* Take what readers are through with, and give them what is ready. */
void rpc_rings_serve(struct rpc_rings *rings);
/* No more messages: the daemon stops. What readers are through with is still taken. */
void rpc_rings_stop(struct rpc_rings *rings);
/* How many are open. */
uint32_t rpc_rings_count(const struct rpc_rings *rings);

/* The devices and the addresses that lead to them, remembered for a second. NULL is fine. */
void rpc_addrs_free(struct rpc_addrs *addrs);

/*
 * Acknowledge or give back tokens.
 *
 * call     who asks
 * fn       engine_ack() or engine_nack()
 * done     how many were known
 * unknown  list that takes the others
 * return   0; -ENOMEM: not all were looked at; -EINVAL with err: one cannot be a token,
 *          nothing was done
 */
RPMAD_MUST_USE int rpc_recv_apply(const struct rpc_call *call,
    enum ledger_result (*fn)(struct engine *engine, const struct ledger_owner *owner,
	const char *token),
    const struct param_list *tokens, const char *path, uint64_t *done,
    struct json_t *unknown, struct err *err);

#endif
