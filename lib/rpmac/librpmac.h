/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * librpmac.h: the messages that rpmad received, read where they are.
 *
 * A handle is a connection to the daemon's control socket with its pool mapped for reading,
 * and memory shared with it by which messages come and are settled, without a request for
 * any of them. Nothing of their payload is copied. See librpmac(3).
 *
 * Conventions of every call, unless its own text says otherwise:
 * - int results are 0 or a negative errno; rpmac_error() has the sentence to it. errno is
 *   not part of the contract.
 * - one handle is for one thread at a time; different handles for different threads. The
 *   payload of a message may be read by any thread until the message is settled.
 * - no signal is blocked or caught, and SIGPIPE never raised.
 */
#ifndef LIBRPMAC_H
#define LIBRPMAC_H 1

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most messages that are on their way to a handle. */
#define RPMAC_BATCH_MAX 256u
/* Wait for ever. */
#define RPMAC_FOREVER   (-1)

struct rpmac;

/*
 * A message, made by rpmac_next() alone: later versions may add members at its end. It
 * holds until it is settled, by rpmac_ack() or rpmac_nack(), or its handle is opened anew
 * or closed. See recv.poll in rpmad-rpc(7) for the meaning of its members.
 */
struct rpmac_msg {
	const void *data; /* len bytes in the pool, never NULL */
	size_t len;
	uint64_t seq;
	uint64_t conn;
	const char *peer;
	const char *context; /* NULL: none */
	const char *received_at;
	const char *token;
	uint32_t slot;
	uint32_t qp_num;
	uint32_t imm; /* where has_imm */
	uint32_t deliveries;
	bool has_imm;
	bool is_rdma_write;
};

/* A handle that is not open. NULL: no memory. */
struct rpmac *rpmac_new(void);

/*
 * Connect and map the pool. An open handle is closed first, as by rpmac_close(): so what was
 * lost is opened anew.
 *
 * where      the path of a socket (with a slash in it), or the name of an instance, or NULL:
 *            RPMAD_SOCKET of the environment, else the socket of rpmad.service
 * answer_ms  how long the daemon may take for an answer, this one and all later ones; above
 *            0
 * return     0; -EINVAL; -ENOENT, -ECONNREFUSED nobody listens there; -EACCES no permission,
 *            or the daemon gives the caller no role; -EOPNOTSUPP the daemon does not share
 *            its pool, or is too old; -ETIMEDOUT; -ENOMEM; -EPROTO; -ECONNRESET; others of
 *            connect(2), mmap(2)
 */
int rpmac_open(struct rpmac *rpmac, const char *where, int answer_ms);

/*
 * How many messages may be on their way here, kept from other consumers: 1 ..
 * RPMAC_BATCH_MAX, which it is at first. return   0; -EINVAL
 */
int rpmac_set_batch(struct rpmac *rpmac, unsigned int max);

/*
 * The next message.
 *
 * wait_ms    how long to wait for one; 0: only what is there; RPMAC_FOREVER
 * return     0; -EAGAIN none came; -EINTR a signal was caught; -ETIMEDOUT the daemon did not
 *            answer, wait_ms and answer_ms being over: all three may be tried again;
 *            -ECONNRESET the connection ended: see rpmac_open(); -ESHUTDOWN the
 *            daemon is stopping, and knows what was settled; -EACCES the user may not
 *            receive any more; -EPROTO; -EINVAL
 */
int rpmac_next(struct rpmac *rpmac, int wait_ms, const struct rpmac_msg **msg);

/*
 * Whether what was read so far, of the messages that are not settled, is whole. A daemon
 * that took over the pool of one that died may give their slots to other messages, so ask
 * between reading a message and acting upon it. Nothing is sent, and nothing waited for.
 *
 * return     0; -ECONNRESET: the connection has ended, or the daemon took the messages away
 *            with the user's role, and what was read may be of two
 *            messages; all of it comes again; -EINVAL
 */
int rpmac_check(struct rpmac *rpmac);

/*
 * Settle a message: it was dealt with, or is to be delivered again. It is not valid any more.
 * Neither waits for anything or fails for want of memory. The daemon finds it soon, within
 * a second; it counts also when this process dies before.
 *
 * return     0; -EINVAL: it is NULL or settled already
 */
int rpmac_ack(struct rpmac *rpmac, const struct rpmac_msg *msg);
int rpmac_nack(struct rpmac *rpmac, const struct rpmac_msg *msg);

/*
 * Wait until the daemon has dealt with all that was settled. After 0 no acknowledged message
 * comes again, even if the daemon dies.
 *
 * return     0; -ETIMEDOUT, -ECONNRESET, -EINVAL as rpmac_next()
 */
int rpmac_flush(struct rpmac *rpmac);

/*
 * Close, without waiting for anything. The daemon deals with what was settled when it sees
 * the end of the connection; what was not is delivered again. The handle is NULL afterwards;
 * NULL is fine.
 */
void rpmac_close(struct rpmac **rpmac);

/* Why the last call failed: a sentence, "" at first. It holds until the next call. */
const char *rpmac_error(const struct rpmac *rpmac);
/* The daemon's name for it, "UNSUPPORTED"; "" where it was not the daemon's. */
const char *rpmac_error_name(const struct rpmac *rpmac);

/* Of the open pool, in hexadecimal; "" before it was opened. */
const char *rpmac_instance(const struct rpmac *rpmac);

/* The version of the library at run time, "MAJOR.MINOR.PATCH"; a static string. */
const char *rpmac_version(void);

#ifdef __cplusplus
}
#endif

#endif
