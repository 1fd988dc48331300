/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control protocol: lines of JSON-RPC 2.0 to calls of handlers, each answered
 * exactly once, see rpmad-rpc(7).
 */
#ifndef RPMAD_DAEMON_RPC_H
#define RPMAD_DAEMON_RPC_H

#include <stdint.h>

#include "daemon/control_client.h"
#include "lib/core/err.h"

struct access;
struct control;
struct engine;
struct events;
struct loop;
struct rpc;
struct settings;
struct settings_diff;

/* All borrowed for the life of the rpc. */
struct rpc_config {
	struct loop *loop;
	const struct settings *settings;
	const struct access *access;
	struct events *events;   /* what has happened; lives longer */
	void (*stop)(void *arg); /* daemon.stop was called and its answer written */
	/* daemon.reload was called, see reload.h. return   0; negative errno with err */
	int (*reload)(void *arg, struct settings_diff *diff, struct err *err);
	void *arg;
	const char *devices_root; /* NULL: that of devices.h; tests have their own */
};

/* return   0; -ENOMEM (ERR_INTERNAL_ERROR) */
RPMAD_MUST_USE int rpc_new(const struct rpc_config *config, struct rpc **out,
    struct err *err);
/* After control and engine are freed: their last calls come here. NULL is fine. */
void rpc_free(struct rpc *rpc);

/* What calls work on; both borrowed until each is freed. Before any client comes. */
void rpc_attach(struct rpc *rpc, struct engine *engine, struct control *control);

/* What the control socket tells: the way in for clients and their lines. */
struct client_hooks rpc_hooks(struct rpc *rpc);
/* The line that tells one client too many why it is closed. */
const char *rpc_refusal(const struct rpc *rpc);

/* Messages are ready: polls that wait are answered on the next turn. */
void rpc_messages_ready(struct rpc *rpc);

/* What access_role() says is not what it was: for the clients that are there too. */
void rpc_roles_changed(struct rpc *rpc);

/* Answer the polls that wait with SHUTTING_DOWN, and from now on all that changes
 * something. */
void rpc_begin_stop(struct rpc *rpc);
/* Answer every call that still waits with SHUTTING_DOWN, and end the subscriptions; from now
 * on no call waits, and nobody subscribes. */
void rpc_end_calls(struct rpc *rpc);

#endif
