/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of methods and of their parameters and errors. */
#include <config.h>

#include "lib/core/method.h"

#include <stddef.h>
#include <string.h>

#include "lib/core/log.h"
#include "lib/core/ring.h"

static const char *const ack_words[] = { "manual", "auto", NULL };
static const char *const encoding_words[] = { "base64", "text", "none", NULL };
static const char *const send_encoding_words[] = { "base64", "text", NULL };

#define CONN_MAX     9007199254740991u /* 2^53 - 1: what every JSON reader keeps exact */
#define SEND_MAX     4194304u
#define ADDR_MAX     80u
#define TIMEOUT_MAX  600000u
#define AT(s, field) offsetof(struct s, field)

/* clang-format off */
static const struct param_spec log_set_specs[] = {
	{ .name = "level", .type = PARAM_ENUM, .words = log_level_words, .required = true,
	  .doc = "the least important lines that are logged", .offset = AT(log_set_params, level) },
};
static const struct param_spec recv_post_specs[] = {
	{ .name = "count", .type = PARAM_UINT, .min = 1, .max = 65536, .unit = "slots", .option = "n",
	  .doc = "how many free slots to post", .offset = AT(recv_post_params, count) },
	{ .name = "slot", .type = PARAM_UINT, .max = 65535,
	  .doc = "post this one slot instead", .offset = AT(recv_post_params, slot) },
	{ .name = "len", .type = PARAM_UINT, .max = 2097152, .unit = "bytes",
	  .doc = "with slot: the longest message it takes (default: the whole slot)", .offset = AT(recv_post_params, len) },
	{ .name = "context", .type = PARAM_STRING, .min = 0, .max = RECV_CONTEXT_MAX, .unit = "bytes",
	  .doc = "with slot: a label that comes back with its completion", .offset = AT(recv_post_params, context) },
};
static const struct param_spec recv_poll_specs[] = {
	{ .name = "max", .type = PARAM_UINT, .min = 1, .max = RECV_POLL_MAX, .unit = "messages", .def = "16", .option = "n",
	  .doc = "the most messages to return", .offset = AT(recv_poll_params, max) },
	{ .name = "max_bytes", .type = PARAM_UINT, .min = 1, .max = RECV_MAX_BYTES_MAX, .unit = "bytes", .def = "1048576",
	  .doc = "the most payload to return; the first message always comes", .offset = AT(recv_poll_params, max_bytes) },
	{ .name = "wait_ms", .type = PARAM_UINT, .max = RECV_WAIT_MS_MAX, .unit = "ms", .def = "0", .option = "w",
	  .doc = "how long to wait for the first message", .offset = AT(recv_poll_params, wait_ms) },
	{ .name = "lease_ms", .type = PARAM_UINT, .min = 1, .max = RECV_LEASE_MS_MAX, .unit = "ms", .option = "lease",
	  .doc = "the messages come back after this time unless acknowledged (default: when this client's connection ends)",
	  .offset = AT(recv_poll_params, lease_ms) },
	{ .name = "ack", .type = PARAM_ENUM, .words = ack_words, .def = "manual",
	  .doc = "auto: acknowledge when the reply was written", .offset = AT(recv_poll_params, ack) },
	{ .name = "encoding", .type = PARAM_ENUM, .words = encoding_words, .def = "base64",
	  .doc = "how data is shown", .offset = AT(recv_poll_params, encoding) },
	{ .name = "ack_tokens", .type = PARAM_STRINGS, .min = 0, .max = RECV_TOKENS_MAX,
	  .doc = "acknowledge these first", .offset = AT(recv_poll_params, ack_tokens) },
	{ .name = "ack_held", .type = PARAM_BOOL, .def = "false",
	  .doc = "acknowledge all that this client holds first", .offset = AT(recv_poll_params, ack_held) },
};
static const struct param_spec recv_ring_specs[] = {
	{ .name = "entries", .type = PARAM_UINT, .min = RING_ENTRIES_MIN, .max = RING_ENTRIES_MAX, .unit = "messages", .def = "256",
	  .doc = "how many messages the ring has room for, rounded up to a power of two", .offset = AT(recv_ring_params, entries) },
};
static const struct param_spec recv_tokens_specs[] = {
	{ .name = "tokens", .type = PARAM_STRINGS, .required = true, .min = 1, .max = RECV_TOKENS_MAX,
	  .doc = "tokens of polled messages", .offset = AT(recv_tokens_params, tokens) },
};
static const struct param_spec listener_add_specs[] = {
	{ .name = "addr", .type = PARAM_STRING, .required = true, .min = 1, .max = ADDR_MAX,
	  .doc = "numeric address of the RDMA device", .offset = AT(listener_add_params, addr) },
	{ .name = "port", .type = PARAM_UINT, .required = true, .max = 65535,
	  .doc = "port; 0 chooses one", .offset = AT(listener_add_params, port) },
};
static const struct param_spec listener_remove_specs[] = {
	{ .name = "listener", .type = PARAM_UINT, .required = true, .min = 1, .max = CONN_MAX,
	  .doc = "listener id", .offset = AT(listener_remove_params, listener) },
};
static const struct param_spec conn_list_specs[] = {
	{ .name = "closed", .type = PARAM_BOOL, .def = "false",
	  .doc = "also the last 64 that were closed", .offset = AT(conn_list_params, closed) },
};
static const struct param_spec conn_specs[] = {
	{ .name = "conn", .type = PARAM_UINT, .required = true, .min = 1, .max = CONN_MAX,
	  .doc = "connection id", .offset = AT(conn_params, conn) },
};
static const struct param_spec conn_open_specs[] = {
	{ .name = "addr", .type = PARAM_STRING, .required = true, .min = 1, .max = ADDR_MAX,
	  .doc = "numeric address of the peer", .offset = AT(conn_open_params, addr) },
	{ .name = "port", .type = PARAM_UINT, .required = true, .min = 1, .max = 65535,
	  .doc = "its port", .offset = AT(conn_open_params, port) },
	{ .name = "timeout_ms", .type = PARAM_UINT, .min = 1, .max = TIMEOUT_MAX, .unit = "ms", .def = "5000",
	  .doc = "how long to try", .offset = AT(conn_open_params, timeout_ms) },
};
static const struct param_spec conn_send_specs[] = {
	{ .name = "conn", .type = PARAM_UINT, .required = true, .min = 1, .max = CONN_MAX,
	  .doc = "connection id", .offset = AT(conn_send_params, conn) },
	{ .name = "data", .type = PARAM_STRING, .required = true, .max = SEND_MAX, .unit = "bytes",
	  .doc = "the message", .offset = AT(conn_send_params, data) },
	{ .name = "encoding", .type = PARAM_ENUM, .words = send_encoding_words, .def = "base64",
	  .doc = "how data is written", .offset = AT(conn_send_params, encoding) },
	{ .name = "imm", .type = PARAM_UINT, .max = 4294967295u,
	  .doc = "immediate data that goes with it", .offset = AT(conn_send_params, imm) },
	{ .name = "timeout_ms", .type = PARAM_UINT, .min = 1, .max = TIMEOUT_MAX, .unit = "ms", .def = "30000",
	  .doc = "how long to wait for the completion", .offset = AT(conn_send_params, timeout_ms) },
};

static const struct param_spec event_get_specs[] = {
	{ .name = "since", .type = PARAM_UINT, .max = CONN_MAX, .def = "0",
	  .doc = "the number of the last event that is known already", .offset = AT(event_get_params, since) },
	{ .name = "limit", .type = PARAM_UINT, .min = 1, .max = EVENT_LIMIT_MAX, .unit = "events", .def = "256", .option = "n",
	  .doc = "the most events to return, the oldest first", .offset = AT(event_get_params, limit) },
	{ .name = "wait_ms", .type = PARAM_UINT, .max = RECV_WAIT_MS_MAX, .unit = "ms", .def = "0", .option = "w",
	  .doc = "how long to wait for the first event", .offset = AT(event_get_params, wait_ms) },
	{ .name = "types", .type = PARAM_STRINGS, .min = 0, .max = EVENT_TYPES_MAX,
	  .doc = "only events of these types (default: all)", .offset = AT(event_get_params, types) },
};

static const struct param_spec event_subscribe_specs[] = {
	{ .name = "since", .type = PARAM_UINT, .max = CONN_MAX,
	  .doc = "also the events after this number that are kept (default: from now on)", .offset = AT(event_subscribe_params, since) },
	{ .name = "types", .type = PARAM_STRINGS, .min = 0, .max = EVENT_TYPES_MAX,
	  .doc = "only events of these types (default: all)", .offset = AT(event_subscribe_params, types) },
};

static const enum err_code reload_errors[] = { ERR_CONFIG_INVALID };
static const enum err_code map_errors[] = { ERR_UNSUPPORTED, ERR_ALREADY_EXISTS, ERR_LIMIT, ERR_SHUTTING_DOWN };
static const enum err_code post_errors[] = { ERR_NOT_READY, ERR_SRQ_FULL, ERR_SLOT_BUSY, ERR_SLOT_RANGE, ERR_PROVIDER };
static const enum err_code poll_errors[] = { ERR_CANCELLED, ERR_SHUTTING_DOWN };
static const enum err_code event_errors[] = { ERR_CANCELLED, ERR_SHUTTING_DOWN };
static const enum err_code subscribe_errors[] = { ERR_ALREADY_EXISTS, ERR_SHUTTING_DOWN };
static const enum err_code token_errors[] = { ERR_NO_SUCH_TOKEN };
static const enum err_code listen_errors[] = { ERR_ADDR_NOT_RDMA, ERR_ADDR_IN_USE, ERR_WRONG_DEVICE, ERR_ALREADY_EXISTS, ERR_DEVICE_GONE, ERR_LIMIT, ERR_MEMLOCK_LIMIT, ERR_SRQ_UNSUPPORTED, ERR_PROVIDER };
static const enum err_code unlisten_errors[] = { ERR_NO_SUCH_LISTENER };
static const enum err_code conn_errors[] = { ERR_NO_SUCH_CONN };
static const enum err_code open_errors[] = { ERR_NOT_READY, ERR_ADDR_UNRESOLVED, ERR_WRONG_DEVICE, ERR_CONN_REJECTED, ERR_CONN_UNREACHABLE, ERR_CONN_LOST, ERR_TIMEOUT, ERR_LIMIT, ERR_DEVICE_GONE, ERR_SHUTTING_DOWN, ERR_PROVIDER };
static const enum err_code send_errors[] = { ERR_NO_SUCH_CONN, ERR_NOT_READY, ERR_BUSY, ERR_TOO_LARGE, ERR_CONN_LOST, ERR_TIMEOUT, ERR_DEVICE_GONE, ERR_PROVIDER };
static const enum err_code close_errors[] = { ERR_NO_SUCH_CONN, ERR_SHUTTING_DOWN };

#define NO_PARAMS { NULL, 0 }
#define P(specs) { (specs), ARRAY_LEN(specs) }
#define RESULT(name) .result = (name)
#define LIST(name) .result = (name), .has_list = true
#define E(codes) .errors = (codes), .error_count = ARRAY_LEN(codes)

const struct method_spec methods[METHOD_COUNT] = {
	[METHOD_RPC_LIST] = { .name = "rpc.list", .role = ROLE_READ, .params = NO_PARAMS,
	  LIST("methods"),
	  .help = "list the methods with their parameters and errors" },
	[METHOD_RPC_HELLO] = { .name = "rpc.hello", .role = ROLE_READ, .params = NO_PARAMS,
	  RESULT("protocol"),
	  .help = "version, instance, pid and limits" },
	[METHOD_DAEMON_STATUS] = { .name = "daemon.status", .role = ROLE_READ, .params = NO_PARAMS,
	  RESULT("state"),
	  .help = "the state of the daemon in words and numbers" },
	[METHOD_DAEMON_STOP] = { .name = "daemon.stop", .role = ROLE_ADMIN, .changes = true, .params = NO_PARAMS,
	  RESULT("stopping"),
	  .help = "drain the connections and stop" },
	[METHOD_DAEMON_RELOAD] = { .name = "daemon.reload", .role = ROLE_ADMIN, .changes = true, .params = NO_PARAMS, E(reload_errors),
	  LIST("changed"),
	  .help = "read the configuration again and take over what may change" },
	[METHOD_LOG_SET] = { .name = "log.set", .role = ROLE_ADMIN, .changes = true, .params = P(log_set_specs),
	  RESULT("level"),
	  .help = "change the level of the log until the next reload or restart" },
	[METHOD_DEVICE_LIST] = { .name = "device.list", .role = ROLE_READ, .params = NO_PARAMS,
	  LIST("devices"),
	  .help = "the RDMA devices, their ports and addresses" },
	[METHOD_SRQ_SHOW] = { .name = "srq.show", .role = ROLE_READ, .params = NO_PARAMS,
	  RESULT("state"),
	  .help = "the shared receive queue: sizes asked and effective, watermark, timer" },
	[METHOD_POOL_MAP] = { .name = "pool.map", .role = ROLE_POST, .changes = true, .passes_fd = true, .params = NO_PARAMS, E(map_errors),
	  .help = "pass a descriptor of the pool's memory, to read messages where they are" },
	[METHOD_RECV_POST] = { .name = "recv.post", .role = ROLE_POST, .changes = true, .params = P(recv_post_specs), E(post_errors),
	  RESULT("accepted"),
	  .help = "post free slots to the shared receive queue" },
	[METHOD_RECV_POLL] = { .name = "recv.poll", .role = ROLE_POST, .changes = true, .waits = true, .params = P(recv_poll_specs), E(poll_errors),
	  LIST("completions"),
	  .help = "lease the messages that have arrived" },
	[METHOD_RECV_RING] = { .name = "recv.ring", .role = ROLE_POST, .changes = true, .passes_fd = true, .params = P(recv_ring_specs), E(map_errors),
	  RESULT("entries"),
	  .help = "pass memory and a bell by which messages come without a request for each" },
	[METHOD_RECV_ACK] = { .name = "recv.ack", .role = ROLE_POST, .changes = true, .params = P(recv_tokens_specs), E(token_errors),
	  RESULT("acked"),
	  .help = "acknowledge messages: their slots become free" },
	[METHOD_RECV_NACK] = { .name = "recv.nack", .role = ROLE_POST, .changes = true, .params = P(recv_tokens_specs), E(token_errors),
	  RESULT("nacked"),
	  .help = "give messages back: they are delivered again" },
	[METHOD_LISTENER_ADD] = { .name = "listener.add", .role = ROLE_ADMIN, .changes = true, .params = P(listener_add_specs), E(listen_errors),
	  RESULT("listener"),
	  .help = "listen for connections at an address of the device" },
	[METHOD_LISTENER_REMOVE] = { .name = "listener.remove", .role = ROLE_ADMIN, .changes = true, .params = P(listener_remove_specs), E(unlisten_errors),
	  RESULT("listener"),
	  .help = "stop listening; connections stay" },
	[METHOD_LISTENER_LIST] = { .name = "listener.list", .role = ROLE_READ, .params = NO_PARAMS,
	  LIST("listeners"),
	  .help = "the listeners" },
	[METHOD_CONN_LIST] = { .name = "conn.list", .role = ROLE_READ, .params = P(conn_list_specs),
	  LIST("conns"),
	  .help = "the connections" },
	[METHOD_CONN_SHOW] = { .name = "conn.show", .role = ROLE_READ, .params = P(conn_specs), E(conn_errors),
	  RESULT("conn"),
	  .help = "one connection, also one of the last 64 closed" },
	[METHOD_CONN_OPEN] = { .name = "conn.open", .role = ROLE_POST, .changes = true, .waits = true, .params = P(conn_open_specs), E(open_errors),
	  RESULT("conn"),
	  .help = "connect to a peer" },
	[METHOD_CONN_CLOSE] = { .name = "conn.close", .role = ROLE_POST, .changes = true, .waits = true, .params = P(conn_specs), E(close_errors),
	  RESULT("conn"),
	  .help = "end a connection; answers when it is drained" },
	[METHOD_CONN_SEND] = { .name = "conn.send", .role = ROLE_POST, .changes = true, .waits = true, .params = P(conn_send_specs), E(send_errors),
	  RESULT("conn"),
	  .help = "send one message; answers when its send completed" },
	[METHOD_STATS_GET] = { .name = "stats.get", .role = ROLE_READ, .params = NO_PARAMS,
	  RESULT("slots"),
	  .help = "counters and gauges" },
	[METHOD_STATS_METRICS] = { .name = "stats.metrics", .role = ROLE_READ, .params = NO_PARAMS,
	  RESULT("text"),
	  .help = "the same numbers as metrics in the text format of Prometheus" },
	[METHOD_EVENT_GET] = { .name = "event.get", .role = ROLE_READ, .waits = true, .params = P(event_get_specs), E(event_errors),
	  LIST("events"),
	  .help = "what has happened lately" },
	[METHOD_EVENT_SUBSCRIBE] = { .name = "event.subscribe", .role = ROLE_READ, .params = P(event_subscribe_specs), E(subscribe_errors),
	  RESULT("next"),
	  .help = "be told of events as they happen, by notifications" },
	[METHOD_EVENT_UNSUBSCRIBE] = { .name = "event.unsubscribe", .role = ROLE_READ, .params = NO_PARAMS,
	  RESULT("next"),
	  .help = "be told no more" },
};
/* clang-format on */

const char *
role_name(enum role role)
{
	switch (role) {
	case ROLE_NONE:
		return "none";
	case ROLE_READ:
		return "read";
	case ROLE_POST:
		return "post";
	case ROLE_ADMIN:
		return "admin";
	}
	return "none";
}

enum method_id
method_by_name(const char *name)
{
	unsigned int id;

	for (id = 0; id < METHOD_COUNT; id++)
		if (strcmp(methods[id].name, name) == 0)
			return (enum method_id)id;
	return METHOD_COUNT;
}
