/* SPDX-License-Identifier: BSD-3-Clause */
/* The handle: its errors, its end, and its messages. */
#include <config.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/rpmac/impl.h"

/* ---- errors ---- */

int
rpmac_fail(struct rpmac *rpmac, int rc, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(rpmac->text, sizeof(rpmac->text), fmt, args);
	va_end(args);
	rpmac->name[0] = '\0';
	return rc;
}

int
rpmac_fail_memory(struct rpmac *rpmac)
{
	return rpmac_fail(rpmac, -ENOMEM, "out of memory");
}

int
rpmac_fail_slow(struct rpmac *rpmac)
{
	return rpmac_fail(rpmac, -ETIMEDOUT, "rpmad did not answer within %d ms",
	    rpmac->answer_ms);
}

static int
fail_closed(struct rpmac *rpmac)
{
	return rpmac_fail(rpmac, -ECONNRESET,
	    "there is no connection to rpmad: it was not opened, or has ended; open it "
	    "anew");
}

int
rpmac_fail_protocol(struct rpmac *rpmac, const char *what)
{
	rpmac_hang_up(rpmac);
	return rpmac_fail(rpmac, -EPROTO,
	    "rpmad answered what this library does not understand (%s): the connection is "
	    "closed",
	    what);
}

int
rpmac_fail_lost(struct rpmac *rpmac)
{
	rpmac_hang_up(rpmac);
	return rpmac_fail(rpmac, -ECONNRESET,
	    "the connection to rpmad ended, as it does when rpmad stops or restarts: open "
	    "it anew; what was not acknowledged comes again");
}

const char *
rpmac_error(const struct rpmac *rpmac)
{
	return rpmac ? rpmac->text : "out of memory";
}

const char *
rpmac_error_name(const struct rpmac *rpmac)
{
	return rpmac ? rpmac->name : "";
}

/* ---- the handle ---- */

struct rpmac *
rpmac_new(void)
{
	struct rpmac *rpmac = calloc(1, sizeof(*rpmac));

	if (rpmac) {
		rpmac->fd = rpmac->bell = -1;
		rpmac->max = RPMAC_BATCH_MAX;
		rpmac->alive_ms = RPMAC_ALIVE_MS;
	}
	return rpmac;
}

void
rpmac_hang_up(struct rpmac *rpmac)
{
	if (rpmac->fd >= 0)
		(void)close(rpmac->fd);
	if (rpmac->bell >= 0)
		(void)close(rpmac->bell);
	rpmac->fd = rpmac->bell = -1;
	rpmac_wire_drop_fds(rpmac);
	rpmac->in_len = 0;
}

void
rpmac_shut(struct rpmac *rpmac)
{
	rpmac_hang_up(rpmac);
	rpmac_ring_end(rpmac);
	if (rpmac->base)
		(void)munmap((void *)(uintptr_t)rpmac->base, rpmac->bytes);
	rpmac->base = NULL;
	if (rpmac->items)
		memset(rpmac->items, 0, rpmac->item_count * sizeof(rpmac->items[0]));
}

void
rpmac_close(struct rpmac **handle)
{
	struct rpmac *rpmac = handle ? *handle : NULL;

	if (!rpmac)
		return;
	/* The daemon deals with what was answered when it sees the end. */
	rpmac_shut(rpmac);
	free(rpmac->items);
	free(rpmac->in);
	free(rpmac);
	*handle = NULL;
}

int
rpmac_set_batch(struct rpmac *rpmac, unsigned int max)
{
	if (!rpmac)
		return -EINVAL;
	if (max == 0 || max > RPMAC_BATCH_MAX)
		return rpmac_fail(rpmac, -EINVAL, "a batch has 1 to %u messages",
		    RPMAC_BATCH_MAX);
	rpmac->max = max;
	return 0;
}

const char *
rpmac_instance(const struct rpmac *rpmac)
{
	return rpmac ? rpmac->instance : "";
}

const char *
rpmac_version(void)
{
	return PACKAGE_VERSION;
}

/* ---- messages ---- */

int
rpmac_next(struct rpmac *rpmac, int wait_ms, const struct rpmac_msg **msg)
{
	uint64_t now_ms;
	int rc;

	if (!rpmac)
		return -EINVAL;
	if (!msg || wait_ms < RPMAC_FOREVER) {
		rpmac->name[0] = '\0';
		return rpmac_fail(rpmac, -EINVAL,
		    "rpmac_next(): msg is NULL, or wait_ms below %d", RPMAC_FOREVER);
	}
	if (rpmac->fd < 0)
		return fail_closed(rpmac);
	rc = rpmac_ring_take(rpmac, msg);
	if (rc != -EAGAIN)
		return rc;
	rpmac->name[0] = '\0';
	now_ms = rpmac_now_ms();
	if (wait_ms == 0)
		rc = rpmac_ring_ask(rpmac, now_ms + (uint64_t)rpmac->answer_ms);
	else
		rc = rpmac_ring_wait(rpmac,
		    wait_ms == RPMAC_FOREVER ? UINT64_MAX : now_ms + (uint64_t)wait_ms);
	if (rc == 0)
		rc = rpmac_ring_take(rpmac, msg);
	if (rc == -EAGAIN)
		return rpmac_fail(rpmac, rc, "no message arrived within %d ms",
		    wait_ms);
	return rc;
}

static int
settle(struct rpmac *rpmac, const struct rpmac_msg *msg, enum ring_verb verb)
{
	struct item *item = (struct item *)(uintptr_t)msg;

	if (!rpmac)
		return -EINVAL;
	if (!item || !item->is_handed_out) {
		rpmac->name[0] = '\0';
		return rpmac_fail(rpmac, -EINVAL,
		    "this message is settled already, or of a connection that ended");
	}
	item->is_handed_out = false;
	rpmac_ring_answer(rpmac, item, verb);
	return 0;
}

int
rpmac_ack(struct rpmac *rpmac, const struct rpmac_msg *msg)
{
	return settle(rpmac, msg, RING_ACK);
}

int
rpmac_nack(struct rpmac *rpmac, const struct rpmac_msg *msg)
{
	return settle(rpmac, msg, RING_NACK);
}

int
rpmac_flush(struct rpmac *rpmac)
{
	if (!rpmac)
		return -EINVAL;
	rpmac->name[0] = '\0';
	if (rpmac->fd < 0)
		return fail_closed(rpmac);
	return rpmac_ring_flush(rpmac, rpmac_now_ms() + (uint64_t)rpmac->answer_ms);
}

int
rpmac_check(struct rpmac *rpmac)
{
	if (!rpmac)
		return -EINVAL;
	rpmac->name[0] = '\0';
	if (rpmac->fd < 0)
		return fail_closed(rpmac);
	/* The messages stay, for they can be read on: only opening takes them away. */
	return rpmac_wire_is_up(rpmac) && rpmac_ring_is_held(rpmac)
	    ? 0
	    : rpmac_fail(rpmac, -ECONNRESET,
		  "the connection to rpmad has ended: what was "
		  "read may be half another message, and comes again");
}
