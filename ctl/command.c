/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of commands. */
#include <config.h>

#include "ctl/command.h"

#include <string.h>

#include "ctl/exit.h"
#include "ctl/run.h"
#include "ctl/suggest.h"
#include "ctl/view.h"

/* Names of parameters that are no options of a command. */
#define HIDDEN(...)                     \
	.hidden = (const char *const[]) \
	{                               \
		__VA_ARGS__, NULL       \
	}
#define WORDS(min, max) .min_words = (min), .max_words = (max)

/* clang-format off */
const struct command commands[] = {
	{ .name = "status", .usage = "", .method = METHOD_DAEMON_STATUS, .view = view_status,
	  .help = "show the state of the daemon, and what is wrong",
	  .example = "rpmactl status" },
	{ .name = "stats", .usage = "[--watch[=S]]", .method = METHOD_STATS_GET, .own = &run_stats_options, .run = run_stats,
	  .help = "show counters and gauges by name",
	  .example = "rpmactl stats --json | jq .slots.ready",
	  .note = "With --watch all numbers come first, then those that have changed with by how much,\n"
		  "without the buckets of histograms; with --json each line is one whole look." },
	{ .name = "metrics", .usage = "[--http]", .method = METHOD_STATS_METRICS, .own = &run_metrics_options, .run = run_metrics,
	  .help = "show the counters and gauges in the text format of Prometheus",
	  .example = "rpmactl metrics >rpmad.prom",
	  .note = "With --http one request is read from standard input and answered, which is what a\n"
		  "socket of systemd with Accept=yes needs." },
	{ .name = "top", .usage = "[-d S] [--sort rate|messages|held|age|id] [--once]", .method = METHOD_STATS_GET, .own = &run_top_options, .run = run_top,
	  .help = "watch rates, slots, latencies and connections on a full screen",
	  .example = "rpmactl top -d 2 --sort held",
	  .note = "Keys: q quits; s and the arrows to the right and left change the order, r m h a i\n"
		  "choose it; + and - change the interval; the arrows up and down scroll. While the\n"
		  "daemon is away the last picture stays, and it is asked again." },
	{ .name = "wait", .usage = "EXPR", .method = METHOD_STATS_GET, WORDS(1, 1), .run = run_wait,
	  .help = "wait until a number of stats is as it should be",
	  .example = "rpmactl wait 'slots.ready>=10' -t 30",
	  .note = "EXPR is a name, one of >= <= != == > <, and a whole number; rpmactl stats lists the\n"
		  "names. -t is how long it may take; after that the exit status is 4." },
	{ .name = "post", .usage = "[-n N | --slot N [--len BYTES] [--context TEXT]]", .method = METHOD_RECV_POST, .view = view_posted,
	  .help = "give receive slots to the shared receive queue",
	  .example = "rpmactl post -n 64",
	  .note = "Without options one free slot is posted." },
	{ .name = "poll", .usage = "[-n N] [-w S] [--follow] [--raw [--length-prefix] [--in-place]] [--encoding base64|text|none] [--no-ack --lease S] "
	  "[--exec [--jobs N] [--job-timeout S] [--dead-letter DIR [--retries N]] [--retry-delay S] -- COMMAND ARGUMENT...]",
	  .method = METHOD_RECV_POLL, WORDS(0, COMMAND_WORDS_ANY), HIDDEN("ack", "ack_held", "ack_tokens"), .own = &run_poll_options, .run = run_poll,
	  .exits = 1u << EXIT_STATUS_NOTHING,
	  .help = "take the messages that have arrived",
	  .example = "rpmactl poll --follow --json | jq -r .peer",
	  .note = "A message is acknowledged after it was written to standard output; one that could not\n"
		  "be written stays in the daemon. Data is asked for as text, unless --json, --raw or\n"
		  "--encoding is given. With --follow, -n ends the command after N messages.\n\n"
		  "--exec acknowledges a message when its command ends with status 0. The message is in\n"
		  "its environment as RPMA_CONN, RPMA_PEER, RPMA_LEN, RPMA_SEQ, RPMA_IMM, RPMA_CONTEXT and\n"
		  "RPMA_DELIVERIES. SIGTERM lets running commands end, a second one ends them." },
	{ .name = "ack", .usage = "TOKEN...", .method = METHOD_RECV_ACK, .word_param = "tokens", WORDS(1, COMMAND_WORDS_ANY), .view = view_acked,
	  .help = "acknowledge messages: their slots become free",
	  .example = "rpmactl ack 0123456789abcdef.7.1" },
	{ .name = "nack", .usage = "TOKEN...", .method = METHOD_RECV_NACK, .word_param = "tokens", WORDS(1, COMMAND_WORDS_ANY), .view = view_nacked,
	  .help = "give messages back: they are delivered again",
	  .example = "rpmactl nack 0123456789abcdef.7.1" },
	{ .name = "send", .usage = "CONN|HOST:PORT [FILE|- | --text TEXT] [--imm N] [--chunk BYTES]", .method = METHOD_CONN_SEND,
	  HIDDEN("conn", "data", "encoding"), .own = &run_send_options, WORDS(1, 2), .run = run_send,
	  .help = "send a message",
	  .example = "rpmactl send 192.0.2.7:7471 --text hello",
	  .note = "The message is TEXT, the content of FILE, or what standard input holds. To HOST:PORT a\n"
		  "connection is opened, and closed behind it." },
	{ .name = "listen", .usage = "HOST:PORT", .method = METHOD_LISTENER_ADD, HIDDEN("addr", "port"), WORDS(1, 1), .run = run_listen,
	  .help = "listen for connections",
	  .example = "rpmactl listen 192.0.2.7:7471",
	  .note = "Port 0 lets the system choose one." },
	{ .name = "unlisten", .usage = "LISTENER", .method = METHOD_LISTENER_REMOVE, .word_param = "listener", WORDS(1, 1), .view = view_unlistened,
	  .help = "stop listening; connections stay",
	  .example = "rpmactl unlisten 1" },
	{ .name = "listeners", .usage = "", .method = METHOD_LISTENER_LIST, .view = view_listeners,
	  .help = "list the listeners",
	  .example = "rpmactl listeners" },
	{ .name = "conns", .usage = "[--closed]", .method = METHOD_CONN_LIST, .view = view_conns,
	  .help = "list the connections",
	  .example = "rpmactl conns --closed" },
	{ .name = "conn", .usage = "CONN", .method = METHOD_CONN_SHOW, .word_param = "conn", WORDS(1, 1), .view = view_conn,
	  .help = "show one connection",
	  .example = "rpmactl conn 3" },
	{ .name = "connect", .usage = "HOST:PORT [--timeout-ms MS]", .method = METHOD_CONN_OPEN, HIDDEN("addr", "port"), WORDS(1, 1), .run = run_connect,
	  .help = "open a connection to a peer",
	  .example = "rpmactl connect node7:7471" },
	{ .name = "disconnect", .usage = "CONN", .method = METHOD_CONN_CLOSE, .word_param = "conn", WORDS(1, 1), .view = view_closed,
	  .help = "end a connection",
	  .example = "rpmactl disconnect 3" },
	{ .name = "srq", .usage = "", .method = METHOD_SRQ_SHOW, .view = view_srq,
	  .help = "show the shared receive queue",
	  .example = "rpmactl srq" },
	{ .name = "devices", .usage = "", .method = METHOD_DEVICE_LIST, .view = view_devices,
	  .help = "list the RDMA devices, and why one cannot be used",
	  .example = "rpmactl devices" },
	{ .name = "events", .usage = "[TYPE...] [-f | -n N] [-w S] [--since N]", .method = METHOD_EVENT_GET,
	  .word_param = "types", WORDS(0, COMMAND_WORDS_ANY), .own = &run_events_options, .run = run_events,
	  .help = "show what has happened lately",
	  .example = "rpmactl events -f conn.closed srq.empty",
	  .note = "The daemon keeps the last 1024 events. With --json and -f each line is one event." },
	{ .name = "doctor", .usage = "", .method = METHOD_COUNT, .run = run_doctor,
	  .help = "find out what is wrong, with the daemon and around it",
	  .example = "rpmactl doctor --json | jq '.findings[] | select(.state != \"ok\")'",
	  .note = "Exits with 0 if all is well, with 1 if there is a warning or a problem." },
	{ .name = "log", .usage = "error|warning|notice|info|debug", .method = METHOD_LOG_SET, .word_param = "level", WORDS(1, 1), .view = view_log_level,
	  .help = "change the level of the daemon's log",
	  .example = "rpmactl log debug",
	  .note = "It holds until the next reload, or the daemon's end; log.level in its configuration\n"
		  "is what it has by itself." },
	{ .name = "reload", .usage = "", .method = METHOD_DAEMON_RELOAD, .view = view_reloaded,
	  .help = "read the daemon's configuration again",
	  .example = "rpmactl reload",
	  .note = "Keys that can change only with a restart are named. When the file is not valid nothing\n"
		  "changes." },
	{ .name = "stop", .usage = "", .method = METHOD_DAEMON_STOP, .view = view_stopping,
	  .help = "stop the daemon in an orderly way",
	  .example = "rpmactl stop" },
	{ .name = "methods", .usage = "", .method = METHOD_RPC_LIST, .view = view_methods,
	  .help = "list the methods of the control protocol",
	  .example = "rpmactl methods --json | jq -r '.methods[].name'" },
	{ .name = "call", .usage = "METHOD [JSON]", .method = METHOD_COUNT, WORDS(1, 2), .run = run_call, .calls_any = true,
	  .help = "call any method with parameters as JSON",
	  .example = "rpmactl call recv.post '{\"count\": 4}'" },
	{ .name = "batch", .usage = "", .method = METHOD_COUNT, .run = run_batch,
	  .exits = 1u << EXIT_STATUS_NO_DAEMON | 1u << EXIT_STATUS_TIMED_OUT,
	  .help = "run commands from standard input, a line of JSON for each",
	  .example = "printf 'post -n 4\\nstats\\n' | rpmactl batch",
	  .note = "Each line is a command as it would stand behind rpmactl, quoted as in a shell. For each\n"
		  "one comes {\"line\", \"status\", \"result\", \"error\"}: its number, exit status, and what it\n"
		  "would print with --json, or null. The exit status is 1 if one of them failed." },
	{ .name = "completion", .usage = "bash|zsh|fish", .method = METHOD_COUNT, .own = &run_completion_options, WORDS(0, COMMAND_WORDS_ANY), .run = run_completion,
	  .help = "print the completion script of a shell",
	  .example = "eval \"$(rpmactl completion bash)\"" },
	{ .name = "help", .usage = "[COMMAND]", .method = METHOD_COUNT, WORDS(0, 1), .run = run_help,
	  .help = "tell about a command",
	  .example = "rpmactl help poll" },
};
/* clang-format on */

const size_t command_count = ARRAY_LEN(commands);

const struct command *
command_by_name(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

const char *
command_suggest(const char *word)
{
	struct suggest suggest = { .word = word };
	size_t i;

	for (i = 0; i < ARRAY_LEN(commands); i++)
		suggest_offer(&suggest, commands[i].name);
	return suggest.best;
}
