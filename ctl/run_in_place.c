/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * poll --in-place. Messages are gathered as long as they are there and written with one
 * call. Behind it they are acknowledged in the ring, one by one and without a request; only
 * the end waits until the daemon has dealt with that.
 */
#include <config.h>

#include "ctl/run_in_place.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ctl/ctl.h"
#include "ctl/interrupt.h"
#include "lib/rpmac/librpmac.h"

#define GATHER_MAX     1048576u /* bytes that are written at once */
#define FOLLOW_WAIT_MS 250      /* between looks for an interrupt */

struct in_place {
	struct ctl *ctl;
	const struct in_place_options *options;
	struct rpmac *rpmac;
	const struct rpmac_msg *held[RPMAC_BATCH_MAX]; /* gathered, not yet written */
	unsigned int held_count;
	uint64_t count; /* gathered in all */
};

/* What the library says, as an error of this program. return   rc for ctl_status() */
static int
fail(struct in_place *self, int rc)
{
	static const struct {
		int errnum;
		enum err_code code;
		int rc;
	} rows[] = {
		{ EOPNOTSUPP, ERR_UNSUPPORTED, -EREMOTEIO },
		{ EACCES, ERR_DENIED, -EACCES },
		{ ESHUTDOWN, ERR_SHUTTING_DOWN, -EREMOTEIO },
		{ EUSERS, ERR_TOO_MANY_CLIENTS, -EREMOTEIO },
		{ ETIMEDOUT, ERR_TIMEOUT, -ETIMEDOUT },
		{ ENOENT, ERR_NOT_READY, -ENOTCONN },
		{ ECONNREFUSED, ERR_NOT_READY, -ENOTCONN },
		{ ECONNRESET, ERR_NOT_READY, -ENOTCONN },
		{ EPROTO, ERR_INTERNAL_ERROR, -EPROTO },
	};
	enum err_code code = ERR_INTERNAL_ERROR;
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].errnum == -rc) {
			code = rows[i].code;
			rc = rows[i].rc;
			break;
		}
	(void)err_set(&self->ctl->err, code, 0, "%s", rpmac_error(self->rpmac));
	return rc;
}

static void
gather(struct in_place *self, const struct rpmac_msg *msg)
{
	struct buf *buf = &self->ctl->out.buf;
	const uint32_t prefix = htonl((uint32_t)msg->len);

	if (self->options->is_length_prefix)
		buf_add(buf, &prefix, sizeof(prefix));
	buf_add(buf, msg->data, msg->len);
	self->held[self->held_count++] = msg;
	self->count++;
}

/*
 * Write what was gathered, then acknowledge it. What cannot be written comes again, and so
 * does what the daemon's successor may have overwritten while it was gathered.
 */
static int
write_out(struct in_place *self)
{
	unsigned int i;
	int rc;

	if (self->held_count == 0)
		return 0;
	rc = rpmac_check(self->rpmac);
	if (rc < 0) {
		self->held_count = 0;
		self->ctl->out.buf.len = 0;
		return fail(self, rc);
	}
	rc = out_flush(&self->ctl->out, &self->ctl->err);
	for (i = 0; rc == 0 && i < self->held_count; i++)
		(void)rpmac_ack(self->rpmac, self->held[i]);
	self->held_count = 0;
	return rc;
}

/* How long the next message may take: none, while there is something to be written. */
static int
wait_ms(const struct in_place *self)
{
	const struct in_place_options *options = self->options;

	if (self->held_count > 0)
		return 0;
	if (options->is_follow)
		return FOLLOW_WAIT_MS;
	return self->count > 0 ? 0 : (int)options->wait_ms;
}

/* No more than are wanted: others would have to wait for the rest, and see it as tried. */
static void
limit_batch(const struct in_place *self)
{
	const uint64_t left = self->options->count - self->count;

	/* Its range is the array's. */
	(void)rpmac_set_batch(self->rpmac,
	    left < RPMAC_BATCH_MAX ? (unsigned int)left : RPMAC_BATCH_MAX);
}

/* One message, or what there is to do without. return   0; -ENODATA: there is no more */
static int
step(struct in_place *self)
{
	const struct rpmac_msg *msg;
	int rc;

	limit_batch(self);
	rc = rpmac_next(self->rpmac, wait_ms(self), &msg);
	if (rc == -EAGAIN) {
		if (self->held_count > 0)
			return write_out(self);
		if (!self->options->is_follow)
			return -ENODATA;
		return interrupt_is_pending(self->ctl->interrupt_fd) ? -EINTR : 0;
	}
	if (rc < 0)
		return rc == -EINTR ? rc : fail(self, rc);
	gather(self, msg);
	if (self->held_count == ARRAY_LEN(self->held) ||
	    self->ctl->out.buf.len >= GATHER_MAX || self->count == self->options->count)
		rc = write_out(self);
	if (rc == 0 && self->options->is_follow &&
	    interrupt_is_pending(self->ctl->interrupt_fd)) {
		rc = write_out(self);
		return rc == 0 ? -EINTR : rc;
	}
	return rc;
}

/* Connect, by the way that knows how to wait for a daemon, then by the library's. */
static int
connect_both(struct in_place *self)
{
	struct ctl *ctl = self->ctl;
	const uint64_t timeout_ms = ctl->settings.timeout_ms;
	char path[sizeof(ctl->settings.path) + 2];
	int rc = self->options->is_follow ? ctl_watch(ctl) : 0;

	if (rc == 0)
		rc = ctl_connect(ctl);
	if (rc != 0)
		return rc;
	/* A path without a slash would be an instance's name. */
	(void)snprintf(path, sizeof(path), "%s%s",
	    strchr(ctl->settings.path, '/') ? "" : "./", ctl->settings.path);
	rc = rpmac_open(self->rpmac, path,
	    timeout_ms > 0 && timeout_ms < INT_MAX ? (int)timeout_ms : INT_MAX);
	return rc == 0 ? 0 : fail(self, rc);
}

int
in_place_run(struct ctl *ctl, const struct in_place_options *options)
{
	struct in_place self = { .ctl = ctl, .options = options, .rpmac = rpmac_new() };
	struct json_t *result;
	int rc, flushed;

	if (ctl->settings.is_dry_run) {
		rpmac_close(&self.rpmac);
		return ctl_status(ctl, ctl_call(ctl, METHOD_POOL_MAP, NULL, &result));
	}
	if (!self.rpmac)
		rc = fail(&self, -ENOMEM);
	else
		rc = connect_both(&self);
	while (rc == 0 && self.count < options->count)
		rc = step(&self);
	if (rc == -ENODATA || rc == -EINTR)
		rc = 0;
	/* What was written is acknowledged, whatever ended the loop. */
	flushed = self.rpmac ? rpmac_flush(self.rpmac) : 0;
	if (rc == 0 && flushed < 0)
		rc = fail(&self, flushed);
	rpmac_close(&self.rpmac);
	if (rc != 0)
		return ctl_status(ctl, rc);
	return self.count > 0 || options->is_follow ? EXIT_STATUS_OK
						    : EXIT_STATUS_NOTHING;
}
