/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The catalogue of methods: name, role, parameters, errors and help of each, once.
 * Dispatch, rpmactl's options and help, rpc.list and the check of the manual read it.
 */
#ifndef RPMAD_LIB_CORE_METHOD_H
#define RPMAD_LIB_CORE_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/core/err.h"
#include "lib/core/param.h"

struct json_t;

enum method_id {
	METHOD_RPC_LIST,
	METHOD_RPC_HELLO,
	METHOD_DAEMON_STATUS,
	METHOD_DAEMON_STOP,
	METHOD_DAEMON_RELOAD,
	METHOD_LOG_SET,
	METHOD_DEVICE_LIST,
	METHOD_SRQ_SHOW,
	METHOD_POOL_MAP,
	METHOD_RECV_POST,
	METHOD_RECV_POLL,
	METHOD_RECV_RING,
	METHOD_RECV_ACK,
	METHOD_RECV_NACK,
	METHOD_LISTENER_ADD,
	METHOD_LISTENER_REMOVE,
	METHOD_LISTENER_LIST,
	METHOD_CONN_LIST,
	METHOD_CONN_SHOW,
	METHOD_CONN_OPEN,
	METHOD_CONN_CLOSE,
	METHOD_CONN_SEND,
	METHOD_STATS_GET,
	METHOD_STATS_METRICS,
	METHOD_EVENT_GET,
	METHOD_EVENT_SUBSCRIBE,
	METHOD_EVENT_UNSUBSCRIBE,
	METHOD_COUNT
};

/* Each role includes those before it. */
enum role {
	ROLE_NONE,
	ROLE_READ,
	ROLE_POST,
	ROLE_ADMIN
};

/* "none", "read", "post", "admin". */
const char *role_name(enum role role);

struct method_spec {
	const char *name; /* "recv.post" */
	enum role role;   /* the least that may call it */
	bool changes;     /* refused as a notification */
	bool waits;     /* may answer after later requests; not in a batch when it would
		       wait */
	bool passes_fd; /* a descriptor comes with the result; never in a batch */
	struct param_table params;
	const char *result;          /* a member that each result of it has */
	bool has_list;               /* that member is a list */
	const enum err_code *errors; /* its own, besides those every call can give */
	unsigned int error_count;
	const char *help; /* one line */
};

extern const struct method_spec methods[METHOD_COUNT];

/* The method of that name, or METHOD_COUNT. */
enum method_id method_by_name(const char *name);

/* The catalogue as rpc.list returns it: {"methods": [...]}; a new reference, NULL: no
 * memory. */
struct json_t *method_catalogue_to_json(void);

/* ---- the structs that the tables decode into
 * -------------------------------------------- */

#define RECV_CONTEXT_MAX   128u  /* bytes of a label */
#define RECV_TOKENS_MAX    4096u /* tokens in one request */
#define RECV_WAIT_MS_MAX   600000u
#define RECV_LEASE_MS_MAX  86400000u
#define RECV_POLL_MAX      65536u
#define RECV_MAX_BYTES_MAX 2097152u
#define EVENT_LIMIT_MAX    1024u
#define EVENT_TYPES_MAX    32u

enum recv_ack {
	RECV_ACK_MANUAL,
	RECV_ACK_AUTO
};
enum data_encoding {
	DATA_BASE64,
	DATA_TEXT,
	DATA_NONE
};

struct no_params {
	char nothing;
};

struct log_set_params {
	unsigned int level; /* enum log_level */
};

struct recv_post_params {
	uint64_t count; /* PARAM_UNSET: not given */
	uint64_t slot;  /* PARAM_UNSET: not given */
	uint64_t len;   /* PARAM_UNSET: the whole slot */
	struct param_string context;
};

struct recv_poll_params {
	uint64_t max;
	uint64_t max_bytes;
	uint64_t wait_ms;
	uint64_t
	    lease_ms;     /* PARAM_UNSET: the lease ends with the client's connection */
	unsigned int ack; /* enum recv_ack */
	unsigned int encoding; /* enum data_encoding */
	struct param_list ack_tokens;
	bool ack_held;
};

struct recv_ring_params {
	uint64_t entries;
};

struct recv_tokens_params {
	struct param_list tokens;
};

struct listener_add_params {
	struct param_string addr;
	uint64_t port;
};

struct listener_remove_params {
	uint64_t listener;
};

struct event_get_params {
	uint64_t since;
	uint64_t limit;
	uint64_t wait_ms;
	struct param_list types;
};

struct event_subscribe_params {
	uint64_t since; /* PARAM_UNSET: from now on */
	struct param_list types;
};

struct conn_list_params {
	bool closed;
};

struct conn_params {
	uint64_t conn;
};

struct conn_open_params {
	struct param_string addr;
	uint64_t port;
	uint64_t timeout_ms;
};

struct conn_send_params {
	uint64_t conn;
	struct param_string data;
	unsigned int encoding; /* DATA_BASE64 or DATA_TEXT */
	uint64_t imm;          /* PARAM_UNSET: without */
	uint64_t timeout_ms;
};

#endif
