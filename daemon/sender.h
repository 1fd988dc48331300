/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending: registered send slots, one completion queue for all connections, and who
 * waits for which send. The object lives as long as the engine, its queue as long as
 * the device.
 */
#ifndef RPMAD_DAEMON_SENDER_H
#define RPMAD_DAEMON_SENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/conn.h"
#include "daemon/cq.h"
#include "daemon/device.h"
#include "daemon/settings.h"
#include "lib/core/err.h"

struct sender;

/* How many sends one connection may have under way. */
#define SENDER_SQ_SIZE 32u

/*
 * settings  borrowed
 * failed    called when a send of a connection completed with an error, status being an
 * enum ibv_wc_status return    0; negative errno with err
 */
RPMAD_MUST_USE int sender_new(const struct settings *settings,
    void (*failed)(void *arg, struct conn *conn, int status), void *arg,
    const struct conn_table *conns, struct sender **out, struct err *err);
/* NULL is fine. */
void sender_free(struct sender *sender);

/*
 * Register the slots and make the queue. return 0; ERR_LIMIT, ERR_MEMLOCK_LIMIT,
 * ERR_PROVIDER
 */
RPMAD_MUST_USE int sender_open(struct sender *sender, struct device *device,
    struct err *err);
/* After the last connection is gone. */
void sender_close(struct sender *sender);

/* The queue for connections' configuration, and for draining. */
struct rpma_cq *sender_rpma_cq(const struct sender *sender);
struct cq *sender_cq(struct sender *sender);

/*
 * Copy a message into a free slot and send it. On success done is called later, once;
 * otherwise not at all.
 *
 * imm       PARAM_UNSET: without
 * return    0; ERR_BUSY, ERR_TOO_LARGE, ERR_PROVIDER
 */
int sender_send(struct sender *sender, struct conn *conn, const void *data, size_t len,
    uint64_t imm, uint64_t deadline_ns, engine_done_fn done, void *arg,
    struct err *err);

/* Tell those whose time is over; their slots stay taken until the sends complete. */
void sender_expire(struct sender *sender, uint64_t now_ns);
/* The connection's queue pair is gone: its sends have failed, their slots are free. */
void sender_conn_gone(struct sender *sender, struct conn *conn);
/* Whether somebody waits for a send. */
bool sender_is_waiting(const struct sender *sender);

struct sender_stats {
	uint32_t free;
	uint32_t total;
	uint64_t messages;
	uint64_t bytes;
	uint64_t failures;
	uint64_t registered_bytes;
};
void sender_get_stats(const struct sender *sender, struct sender_stats *out);

#endif
