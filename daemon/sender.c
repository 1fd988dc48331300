/* SPDX-License-Identifier: BSD-3-Clause */
/* Send slots and their completions. */
#include <config.h>

#include "daemon/sender.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/region.h"
#include "daemon/rpma_err.h"
#include "daemon/srq.h"
#include "lib/rpma/librpma.h"

/*
 * Every send occupies a slot until it completes, so the queue never holds more
 * completions than there are slots; the margin is for those of connections that are
 * gone.
 */
#define CQ_MARGIN 64u

_Static_assert(sizeof(uintptr_t) == 8, "a send's op_context holds slot and generation");

struct send {
	bool is_used;
	uint32_t generation; /* of the slot's use: tells a late completion of an earlier
				one */
	uint64_t conn;
	uint32_t len;
	uint64_t deadline_ns;
	engine_done_fn done; /* NULL: nobody waits any more */
	void *arg;
};

struct sender {
	const struct settings *settings;
	const struct conn_table *conns;
	void (*failed)(void *arg, struct conn *conn, int status);
	void *failed_arg;
	struct region region;
	struct send *sends;
	uint32_t *free_slots; /* a stack */
	uint32_t waiting;     /* sends with done */
	struct rpma_mr_local *mr;
	struct rpma_cq *rpma_cq;
	struct cq cq;
	struct sender_stats stats;
};

static void on_wcs(void *arg, const struct ibv_wc *wcs, int count);

int
sender_new(const struct settings *settings,
    void (*failed)(void *arg, struct conn *conn, int status), void *arg,
    const struct conn_table *conns, struct sender **out, struct err *err)
{
	struct sender *sender = calloc(1, sizeof(*sender));
	uint32_t slot;
	int rc;

	if (!sender)
		return err_set(err, ERR_INTERNAL_ERROR, ENOMEM,
		    "sender: out of memory");
	sender->settings = settings;
	sender->conns = conns;
	sender->failed = failed;
	sender->failed_arg = arg;
	sender->region = (struct region)REGION_NONE;
	sender->cq.on_wcs = on_wcs;
	sender->cq.arg = sender;
	sender->stats.total = settings->send_slots;
	sender->sends = calloc(settings->send_slots, sizeof(*sender->sends));
	sender->free_slots = calloc(settings->send_slots, sizeof(*sender->free_slots));
	if (!sender->sends || !sender->free_slots) {
		rc = err_set(err, ERR_INTERNAL_ERROR, ENOMEM, "sender: out of memory");
		goto fail;
	}
	rc = region_open("rpmad-send",
	    (size_t)settings->send_slots * settings->pool_slot_size, &sender->region,
	    err);
	if (rc != 0)
		goto fail;
	for (slot = 0; slot < settings->send_slots; slot++)
		sender->free_slots[sender->stats.free++] = slot;
	*out = sender;
	return 0;

fail:
	sender_free(sender);
	return rc;
}

void
sender_free(struct sender *sender)
{
	if (!sender)
		return;
	sender_close(sender);
	region_close(&sender->region);
	free(sender->free_slots);
	free(sender->sends);
	free(sender);
}

static int
check_limits(const struct sender *sender, struct device *device, struct err *err)
{
	struct device_limits limits;
	int rc;

	device_get_limits(device, &limits);
	if (sender->settings->send_slots + CQ_MARGIN <= limits.max_cqe)
		return 0;
	rc = err_set(err, ERR_LIMIT, 0,
	    "send.slots %u is more than device %s can hold: %u completions",
	    (unsigned int)sender->settings->send_slots, device_name(device),
	    limits.max_cqe);
	err_path(err, "send.slots");
	if (limits.max_cqe > CQ_MARGIN)
		err_hint(err, "set send.slots to at most %u",
		    limits.max_cqe - CQ_MARGIN);
	return rc;
}

int
sender_open(struct sender *sender, struct device *device, struct err *err)
{
	int rc = check_limits(sender, device, err);

	if (rc == 0)
		rc = memory_register(device, &sender->region, RPMA_MR_USAGE_SEND,
		    "the send slots", &sender->mr, err);
	if (rc == 0) {
		rc = rpma_cq_new(device_peer(device),
		    sender->settings->send_slots + CQ_MARGIN, &sender->rpma_cq);
		if (rc != 0)
			rc = rpma_err_set(err, rc,
			    "cannot make a completion queue for sends");
	}
	if (rc == 0)
		rc = cq_open(&sender->cq, sender->rpma_cq, err);
	if (rc != 0)
		sender_close(sender);
	return rc;
}

void
sender_close(struct sender *sender)
{
	sender->cq.rpma = NULL;
	/* A failure leaves an object behind that the device's own end removes. */
	(void)rpma_cq_delete(&sender->rpma_cq);
	(void)rpma_mr_dereg(&sender->mr);
}

struct rpma_cq *
sender_rpma_cq(const struct sender *sender)
{
	return sender->rpma_cq;
}

struct cq *
sender_cq(struct sender *sender)
{
	return &sender->cq;
}

static const void *
op_context(const struct sender *sender, uint32_t slot)
{
	uint64_t id = (uint64_t)sender->sends[slot].generation << 16 | slot;

	return (const void *)(uintptr_t)id;
}

static void
release(struct sender *sender, uint32_t slot)
{
	struct send *send = &sender->sends[slot];
	struct conn *conn = conn_by_id(sender->conns, send->conn);

	if (conn)
		conn->sends--;
	send->is_used = false;
	send->generation++;
	sender->free_slots[sender->stats.free++] = slot;
}

/* Tell the one who waits, once. */
static void
answer(struct sender *sender, uint32_t slot, const struct err *err)
{
	struct send *send = &sender->sends[slot];
	engine_done_fn done = send->done;
	struct conn *conn;

	if (!done)
		return;
	send->done = NULL;
	sender->waiting--;
	conn = conn_by_id(sender->conns, send->conn);
	done(send->arg, err, conn ? &conn->info : NULL);
}

static int
post(struct sender *sender, struct conn *conn, uint32_t slot, size_t len, uint64_t imm)
{
	size_t offset = (size_t)slot * sender->settings->pool_slot_size;
	const struct rpma_mr_local *mr = len ? sender->mr : NULL;

	if (len == 0)
		offset = 0;
	if (imm == PARAM_UNSET)
		return rpma_send(conn->rpma, mr, offset, len, RPMA_F_COMPLETION_ALWAYS,
		    op_context(sender, slot));
	return rpma_send_with_imm(conn->rpma, mr, offset, len, RPMA_F_COMPLETION_ALWAYS,
	    (uint32_t)imm, op_context(sender, slot));
}

/* Of the connections with a send whose time is over, the one with the most under way. */
static const struct conn *
find_blocker(const struct sender *sender)
{
	const struct conn *found = NULL;
	uint32_t slot;

	for (slot = 0; slot < sender->stats.total; slot++) {
		const struct send *send = &sender->sends[slot];
		const struct conn *conn;

		if (!send->is_used || send->done)
			continue;
		conn = conn_by_id(sender->conns, send->conn);
		if (conn && (!found || conn->sends > found->sends))
			found = conn;
	}
	return found;
}

/* No slot is free, or no more may be under way on that connection. */
static int
refuse_busy(const struct sender *sender, const struct conn *conn, struct err *err)
{
	const struct conn *blocker = find_blocker(sender);
	int rc;

	if (sender->stats.free == 0)
		rc = err_set(err, ERR_BUSY, 0, "no send slot is free of %u",
		    sender->stats.total);
	else
		rc = err_set(err, ERR_BUSY, 0, "connection %llu has %u sends under way",
		    (unsigned long long)conn->info.id, conn->sends);
	if (!blocker || (sender->stats.free > 0 && blocker != conn))
		err_hint(err, "try again when a send has completed");
	else
		err_hint(err,
		    "connection %llu has %u under way, which its peer does not take: "
		    "rpmactl disconnect %llu gives their slots back",
		    (unsigned long long)blocker->info.id, blocker->sends,
		    (unsigned long long)blocker->info.id);
	return rc;
}

static int
check(const struct sender *sender, const struct conn *conn, size_t len, struct err *err)
{
	uint32_t limit = conn->info.peer_slot_size;

	if (limit != 0 && len > limit)
		return err_set(err, ERR_TOO_LARGE, 0,
		    "%zu bytes are more than the peer's slots of %u bytes take", len,
		    limit);
	if (len > sender->settings->pool_slot_size)
		return err_set(err, ERR_TOO_LARGE, 0,
		    "%zu bytes are more than a send slot of %u bytes (pool.slot_size) takes",
		    len, sender->settings->pool_slot_size);
	if (conn->sends < SENDER_SQ_SIZE && sender->stats.free > 0)
		return 0;
	return refuse_busy(sender, conn, err);
}

int
sender_send(struct sender *sender, struct conn *conn, const void *data, size_t len,
    uint64_t imm, uint64_t deadline_ns, engine_done_fn done, void *arg, struct err *err)
{
	struct send *send;
	uint32_t slot;
	int rc = check(sender, conn, len, err);

	if (rc != 0)
		return rc;
	slot = sender->free_slots[sender->stats.free - 1];
	if (len)
		memcpy((char *)sender->region.base +
			(size_t)slot * sender->settings->pool_slot_size,
		    data, len);
	rc = post(sender, conn, slot, len, imm);
	if (rc != 0) {
		sender->stats.failures++;
		return rpma_err_set(err, rc, "the provider refused the send");
	}
	sender->stats.free--;
	send = &sender->sends[slot];
	send->is_used = true;
	send->conn = conn->info.id;
	send->len = (uint32_t)len;
	send->deadline_ns = deadline_ns;
	send->done = done;
	send->arg = arg;
	sender->waiting++;
	conn->sends++;
	return 0;
}

static void
succeed(struct sender *sender, uint32_t slot, struct conn *conn)
{
	uint32_t len = sender->sends[slot].len;

	sender->stats.messages++;
	sender->stats.bytes += len;
	if (conn) {
		conn->info.sent_messages++;
		conn->info.sent_bytes += len;
	}
	answer(sender, slot, NULL);
	release(sender, slot);
}

/* conn may be NULL: it is not known any more. */
static void
fail(struct sender *sender, uint32_t slot, const struct conn *conn, const char *why)
{
	struct err err;

	sender->stats.failures++;
	(void)err_set(&err, conn ? conn_lost_code(conn->info.reason) : ERR_CONN_LOST, 0,
	    "connection %llu: the send failed: %s",
	    (unsigned long long)sender->sends[slot].conn, why);
	err_hint(&err, "rpmactl conn %llu shows why it ended",
	    (unsigned long long)sender->sends[slot].conn);
	answer(sender, slot, &err);
	release(sender, slot);
}

static void
on_wc(struct sender *sender, const struct ibv_wc *wc)
{
	uint32_t slot = (uint32_t)(wc->wr_id & 0xffff);
	uint32_t generation = (uint32_t)(wc->wr_id >> 16);
	struct conn *conn;

	if (slot >= sender->stats.total || !sender->sends[slot].is_used ||
	    sender->sends[slot].generation != generation)
		return;
	conn = conn_by_id(sender->conns, sender->sends[slot].conn);
	if (wc->status == IBV_WC_SUCCESS) {
		succeed(sender, slot, conn);
		return;
	}
	fail(sender, slot, conn, wc_status_name(wc->status));
	if (conn)
		sender->failed(sender->failed_arg, conn, wc->status);
}

static void
on_wcs(void *arg, const struct ibv_wc *wcs, int count)
{
	int i;

	for (i = 0; i < count; i++)
		on_wc(arg, &wcs[i]);
}

void
sender_expire(struct sender *sender, uint64_t now_ns)
{
	uint32_t slot;

	for (slot = 0; slot < sender->stats.total && sender->waiting > 0; slot++) {
		struct send *send = &sender->sends[slot];
		struct err err;

		if (!send->is_used || !send->done || send->deadline_ns > now_ns)
			continue;
		(void)err_set(&err, ERR_TIMEOUT, ETIMEDOUT,
		    "connection %llu: the send has not completed in time; it may still arrive",
		    (unsigned long long)send->conn);
		err_hint(&err, "the receiver may have no buffer posted");
		answer(sender, slot, &err);
	}
}

void
sender_conn_gone(struct sender *sender, struct conn *conn)
{
	uint32_t slot;

	for (slot = 0; slot < sender->stats.total && conn->sends > 0; slot++)
		if (sender->sends[slot].is_used &&
		    sender->sends[slot].conn == conn->info.id)
			fail(sender, slot, conn, "the connection was closed");
}

bool
sender_is_waiting(const struct sender *sender)
{
	return sender->waiting > 0;
}

void
sender_get_stats(const struct sender *sender, struct sender_stats *out)
{
	*out = sender->stats;
	out->registered_bytes = sender->mr ? sender->region.bytes : 0;
}
