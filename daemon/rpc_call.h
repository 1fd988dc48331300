/* SPDX-License-Identifier: BSD-3-Clause */
/* One call of a method: what its handler is given, and how it ends. */
#ifndef RPMAD_DAEMON_RPC_CALL_H
#define RPMAD_DAEMON_RPC_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/control_client.h"
#include "lib/core/err.h"
#include "lib/core/histogram.h"
#include "lib/core/method.h"

struct control;
struct engine;
struct events;
struct json_t;
struct rpc_text;
struct ledger_owner;
struct loop;
struct rpc_addrs;
struct rpc_call;
struct rpc_polls;
struct rpc_ports;
struct rpc_rings;
struct rpc_subs;
struct rpc_watches;
struct settings;
struct settings_diff;

#define RPC_REPLY_MAX   3145728u /* bytes of a reply */
#define RPC_WAITING_MAX 256u     /* calls of one client that have no answer yet */

struct rpc_stats {
	uint64_t requests;
	/*
	 * Requests that failed, also where nobody wanted a reply or the client was gone,
	 * and lines refused as a whole, which are no requests: it may exceed those.
	 */
	uint64_t request_errors;
	uint64_t parse_errors; /* lines that held no request */
	uint64_t notifications_refused;
	uint64_t calls_ok[METHOD_COUNT];
	uint64_t calls_failed[METHOD_COUNT];
	struct histogram request_ns; /* of calls that had not to wait */
	uint64_t subscribers;
	uint64_t events_missed; /* that subscribers were not told of */
};

/* What handlers work on. */
struct rpc_context {
	struct loop *loop;
	const struct settings *settings;
	struct engine *engine;
	struct events *events;
	struct control *control;
	void (*stop)(void *arg);
	int (*reload)(void *arg, struct settings_diff *diff, struct err *err);
	void *arg; /* of both */
	const char *devices_root;
	struct rpc_stats stats;
	struct rpc_polls *polls;     /* that wait */
	struct rpc_rings *rings;     /* of readers in place */
	struct rpc_watches *watches; /* calls that wait for events */
	struct rpc_subs *subs;       /* clients that are told of them */
	struct rpc_addrs *addrs;     /* found lately */
	struct rpc_ports *ports;     /* read lately */
	uint64_t started_ns;         /* monotonic */
	bool is_stopping;
	bool is_ended; /* calls that would wait are answered at once */
};

/*
 * What a method does. It ends the call by exactly one rpc_reply() or rpc_fail(), now or
 * (methods that wait) later; the call is gone then. Pointers in params hold until then.
 */
typedef void (*rpc_handler_fn)(struct rpc_call *call, const void *params);

/* The handler of each method. */
extern const rpc_handler_fn rpc_handlers[METHOD_COUNT];

struct rpc_context *rpc_call_context(const struct rpc_call *call);
/* What leases for the call's client are bound to. Not after it has gone. */
struct ledger_owner *rpc_call_owner(const struct rpc_call *call);
enum role rpc_call_role(const struct rpc_call *call);
/*
 * Whether a call may wait for what it was asked to: none in a batch may.
 * wait_ms  its parameter of that name
 * return   0; -EOPNOTSUPP with err
 */
RPMAD_MUST_USE int rpc_call_check_wait(const struct rpc_call *call, uint64_t wait_ms,
    struct err *err);
/* Bytes that the reply, envelope included, may have. */
size_t rpc_call_room(const struct rpc_call *call);
/* Whether its client reads what it gets: a large reply does not pile up behind others. */
bool rpc_call_is_read(const struct rpc_call *call);

/* Whether its client reads messages in the pool's memory; from now on it does. */
bool rpc_call_has_map(const struct rpc_call *call);
void rpc_call_set_map(const struct rpc_call *call);
/*
 * Have a descriptor, which is taken, go with the result, behind those that were given before.
 * For methods that say so, and at most CLIENT_FDS_MAX.
 */
void rpc_call_pass_fd(struct rpc_call *call, int fd);

/*
 * Call fn once: with true when the last byte of the reply went to the kernel, with false
 * when it never will. Before rpc_reply(); may be called from within that.
 * return   0; -ENOMEM
 */
RPMAD_MUST_USE int rpc_call_on_written(struct rpc_call *call, client_written_fn fn,
    void *arg);
/* The client has gone: fn must let go of the call, which ends by itself. */
void rpc_call_on_cancel(struct rpc_call *call, void (*fn)(void *arg), void *arg);

/* Whether nobody waits for the answer any more: what the call made is not wanted either. */
bool rpc_call_is_orphan(const struct rpc_call *call);

/*
 * Answer. Where the client has gone, the reply is dropped.
 *
 * result   the reference is taken; NULL stands for: no memory
 * return   0; -ENOMEM, -EMSGSIZE: an error was answered in its place. Most handlers do
 *          not care, since the call has ended either way
 */
int rpc_reply(struct rpc_call *call, struct json_t *result);
/*
 * The same for a result that is long, and written as text: begin with the envelope, add
 * the value of the result, end. The text for a call that has become an orphan is dropped.
 *
 * text     empty at first; taken by the end, to be freed where that is not reached
 * return   0; -ENOMEM; the end, also -EMSGSIZE: an error was answered in its place
 */
RPMAD_MUST_USE int rpc_reply_begin(const struct rpc_call *call, struct rpc_text *text);
int rpc_reply_end(struct rpc_call *call, struct rpc_text *text);
void rpc_fail(struct rpc_call *call, const struct err *err);
/* The commonest failures: no memory, and a wrong parameter. */
void rpc_fail_memory(struct rpc_call *call);
void rpc_fail_param(struct rpc_call *call, const char *path, const char *fmt, ...)
    RPMAD_PRINTF(3, 4);

#endif
