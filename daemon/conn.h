/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection as the engine keeps it, and the tables that find it. */
#ifndef RPMAD_DAEMON_CONN_H
#define RPMAD_DAEMON_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "daemon/engine.h"
#include "lib/core/compiler.h"
#include "lib/core/err.h"

struct rpma_conn;

/* Somebody who waits for the end of something. */
struct conn_waiter {
	engine_done_fn done;
	void *arg;
	STAILQ_ENTRY(conn_waiter) entry;
};
STAILQ_HEAD(conn_waiters, conn_waiter);

struct conn {
	struct conn_info info;
	struct rpma_conn *rpma;
	bool is_qp_known; /* info.qp_num is valid and in the table */
	bool is_rnr_set;  /* the RNR timer was given */
	bool is_quiet;    /* draining: its completion queues were seen empty since */
	bool last_wqe_seen;
	uint32_t sends; /* outstanding */
	uint64_t
	    drain_until;    /* completions read in all when none of its can be unread */
	uint64_t active_ns; /* monotonic: dialled, established, the last send */
	uint64_t deadline_ns;  /* connecting: give up; draining: destroy anyway */
	engine_done_fn opened; /* connecting: who asked */
	void *opened_arg;
	struct conn_waiters closers; /* who waits for the end */
	TAILQ_ENTRY(conn) entry;
	struct conn *next_by_id;
	struct conn *next_by_qp;
};
TAILQ_HEAD(conn_list, conn);

/* What a call that waits for a connection gets when that ends for this reason. */
enum err_code conn_lost_code(const char *reason);

/* How many closed connections are remembered. */
#define CONN_CLOSED_MAX 64u

struct conn_table {
	struct conn_list list; /* by id */
	struct conn **by_id;
	struct conn **by_qp;
	uint32_t mask;
	uint32_t count;
	uint64_t next_id;
	struct conn_info closed[CONN_CLOSED_MAX]; /* a ring */
	uint64_t closed_total;
};

/*
 * For up to max connections.
 * last_id  ids up to it were given by an earlier process; 0: none
 * return   0; -ENOMEM
 */
RPMAD_MUST_USE int conn_table_init(struct conn_table *table, uint32_t max,
    uint64_t last_id);
/* The table is empty. */
void conn_table_fini(struct conn_table *table);

/* Add a connection and give it the next id. */
void conn_table_add(struct conn_table *table, struct conn *conn);
/* Its queue pair's number is known now. */
void conn_table_add_qp(struct conn_table *table, struct conn *conn, uint32_t qp_num);
/* Take it out and remember its info among the closed. */
void conn_table_remove(struct conn_table *table, struct conn *conn);

/* Take it out without remembering: it never was a connection. */
void conn_table_forget(struct conn_table *table, struct conn *conn);

/* NULL: there is none. Here, for each is done for every message. */
static inline struct conn *
conn_by_id(const struct conn_table *table, uint64_t id)
{
	struct conn *conn = table->by_id[id & table->mask];

	while (conn && conn->info.id != id)
		conn = conn->next_by_id;
	return conn;
}

static inline struct conn *
conn_by_qp(const struct conn_table *table, uint32_t qp_num)
{
	struct conn *conn = table->by_qp[qp_num & table->mask];

	while (conn && conn->info.qp_num != qp_num)
		conn = conn->next_by_qp;
	return conn;
}

/* The closed one of that id, NULL: not remembered. */
const struct conn_info *conn_closed_by_id(const struct conn_table *table, uint64_t id);
/*
 * The same, or (id 0) the last closed one of that queue pair, for what is still counted
 * of it: messages that come late, slots that it holds.
 */
struct conn_info *conn_closed_entry(struct conn_table *table, uint64_t id,
    uint32_t qp_num);

#endif
