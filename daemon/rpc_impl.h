/* SPDX-License-Identifier: BSD-3-Clause */
/* What rpc.c and rpc_call.c share: clients, calls and batches. */
#ifndef RPMAD_DAEMON_RPC_IMPL_H
#define RPMAD_DAEMON_RPC_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "daemon/ledger.h"
#include "daemon/rpc.h"
#include "daemon/rpc_call.h"
#include "daemon/rpc_text.h"
#include "lib/core/log.h"

struct jsonrpc_request;
struct rpc_ring;

/* Somebody wants to know whether a reply was written. */
struct written {
	struct written *next;
	client_written_fn fn;
	void *arg;
};

/* A batch that is being carried out; its replies go out as one array. */
struct rpc_batch {
	struct json_t *list; /* owned; NULL: there is none */
	size_t next;         /* member of it */
	struct rpc_text text;
	struct written *written;
	unsigned int left; /* members that are not answered yet */
	bool is_broken;    /* a reply is missing for want of memory */
};

struct rpc_call {
	TAILQ_ENTRY(rpc_call)
	link; /* in client->calls or rpc->orphans while it waits */
	struct rpc *rpc;
	struct rpc_client *client; /* NULL: gone, or already answered */
	struct rpc_batch *batch;   /* NULL: alone in its line */
	struct json_t *request;    /* owned: params borrow from it */
	const struct json_t *id;   /* borrowed from request; NULL: null */
	enum method_id method;     /* METHOD_COUNT: none that exists */
	struct written *written;
	void (*cancel)(void *arg); /* NULL: it ends later all the same */
	void *cancel_arg;
	int pass_fds[CLIENT_FDS_MAX]; /* owned, go with the result */
	size_t pass_count;
	bool wants_reply;   /* true in all that a handler is called for */
	bool is_in_handler; /* the memory is still needed */
	bool is_ended;
	bool is_waiting; /* it is in a list */
	uint64_t started_ns;
};

/* What a client is told of without asking each time. */
struct rpc_sub {
	TAILQ_ENTRY(rpc_client) link; /* while is_on */
	uint64_t last;                /* number of the last event that was dealt with */
	uint32_t types;               /* a bit for each that is wanted */
	bool is_on;
	bool is_writing; /* what it was told last is not written yet */
};

struct rpc_client {
	TAILQ_ENTRY(rpc_client) link;
	struct rpc *rpc;
	struct client *client;
	pid_t pid;
	uid_t uid;
	gid_t *gids; /* owned */
	size_t gid_count;
	enum role role;
	struct ledger_owner owner;
	struct rpc_ring *ring; /* NULL: it has none */
	struct rpc_sub sub;
	struct rpc_batch batch;
	TAILQ_HEAD(, rpc_call) calls; /* that wait */
	unsigned int call_count;
	uint64_t done[METHOD_COUNT]; /* calls that ended well */
	bool has_map;                /* it reads in the pool's memory */
	bool has_used_data;          /* its first call of role post was logged */
};

struct rpc {
	struct rpc_context context;
	const struct access *access;
	TAILQ_HEAD(, rpc_client) clients;
	TAILQ_HEAD(, rpc_call) orphans; /* nobody waits for them any more */
	char *refusal;
	struct log_limit denials; /* that are logged */
};

/*
 * Answer one request of a client: read it, find its method, check role and parameters,
 * and call the handler.
 *
 * value    the request, whatever it is; the call takes a reference of its own
 * batch    NULL: it is alone in its line
 */
void rpc_call_run(struct rpc_client *client, const struct json_t *value,
    struct rpc_batch *batch);
/* Whether the role of its client does not suffice; *err says so. */
bool rpc_call_is_denied(const struct rpc_call *call, struct err *err);
/* Its client has gone: the calls that wait are given up, or end unheard. */
void rpc_call_client_gone(struct rpc_client *client);
/* Answer a call that waits with an error, now; where it cannot be given up it goes on
 * unheard. */
void rpc_call_abort(struct rpc_call *call, const struct err *err);
/* End a call without a reply, a count or a line in the log. */
void rpc_call_drop(struct rpc_call *call);
/* Free a call that will never end by itself: its engine is no more. */
void rpc_call_free(struct rpc_call *call);

/* Its client has gone, and nothing of its subscription is being written any more. */
void rpc_sub_client_gone(struct rpc_client *client);
/* Tell the client what there is left to tell, and why it was the last. */
void rpc_sub_end(struct rpc_client *client, const char *reason);

/* It has gone, or may not receive any more: take what it was through with, and end its ring.
 */
void rpc_ring_client_gone(struct rpc_client *client);

/* An error of no request in particular, with id null. */
void rpc_client_error(struct rpc_client *client, const struct err *err);
/* Send the array of a batch's replies, if there are any. */
void rpc_batch_end(struct rpc_client *client, struct rpc_batch *batch);

/*
 * Carry out a batch, of which list takes a reference, or answer what is wrong with it.
 * return   true: its time is over and it is not, rpc_batch_step() goes on before the next line
 */
bool rpc_batch_run(struct rpc_client *client, struct json_t *list);
bool rpc_batch_step(struct rpc_client *client);
/* Its client has gone: what is left of it is not carried out. */
void rpc_batch_client_gone(struct rpc_client *client);

#endif
