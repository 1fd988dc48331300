/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of the senders. */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage_text[] =
    "usage: %s --addr IP --port PORT [OPTION...]\n"
    "Sends messages of pseudo-random length and content, several at a time, and exits\n"
    "with 0 when each was completed without error and the connections closed in order.\n"
    "  --conns N             connections at once (1)\n"
    "  --rounds R            times that they are opened, used and closed (1)\n"
    "  --first N             number of the first connection (0)\n"
    "  --count M             messages of one connection and round (1)\n"
    "  --min-len BYTES       (0)\n"
    "  --max-len BYTES       (4096)\n"
    "  --text STRING         send this instead; may be repeated\n"
    "  --seed S              of lengths and contents (1)\n"
    "  --window N            sends of one connection under way (16)\n"
    "  --imm                 send with immediate data, the message's sequence number\n"
    "  --manifest FILE       one line \"CONN SEQ LEN SHA256\" for each completed message\n"
    "  --posted FILE         the same for each message before it is sent\n"
    "  --disconnect-at-once  close each connection right after its last completion\n"
    "  --hold S              wait before closing, or until SIGUSR1\n"
    "  --flood               send for --hold seconds, or until the peer closes\n"
    "  --stall S             give up after so long without a completion, or an end (60)\n"
    "  --too-long BYTES      at last one message that the peer must refuse\n"
    "  --kill-after N        die by SIGKILL after N completions\n"
    "  --retries N           of what the peer does not answer (7)\n"
    "  --rnr-retries N       at an empty queue, as far as the sender asks (7)\n"
    "  --verbose\n"
    "Other contents begin with four big-endian words: \"RPMT\", connection, sequence\n"
    "number, length.\n";

enum option_id {
	OPT_ADDR = 256,
	OPT_PORT,
	OPT_CONNS,
	OPT_ROUNDS,
	OPT_FIRST,
	OPT_COUNT,
	OPT_MIN_LEN,
	OPT_MAX_LEN,
	OPT_TEXT,
	OPT_SEED,
	OPT_WINDOW,
	OPT_IMM,
	OPT_MANIFEST,
	OPT_POSTED,
	OPT_DISCONNECT_AT_ONCE,
	OPT_HOLD,
	OPT_FLOOD,
	OPT_STALL,
	OPT_TOO_LONG,
	OPT_KILL_AFTER,
	OPT_RETRIES,
	OPT_RNR_RETRIES,
	OPT_VERBOSE,
	OPT_HELP
};

static const struct option long_options[] = {
	{ "addr", required_argument, NULL, OPT_ADDR },
	{ "port", required_argument, NULL, OPT_PORT },
	{ "conns", required_argument, NULL, OPT_CONNS },
	{ "rounds", required_argument, NULL, OPT_ROUNDS },
	{ "first", required_argument, NULL, OPT_FIRST },
	{ "count", required_argument, NULL, OPT_COUNT },
	{ "min-len", required_argument, NULL, OPT_MIN_LEN },
	{ "max-len", required_argument, NULL, OPT_MAX_LEN },
	{ "text", required_argument, NULL, OPT_TEXT },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "window", required_argument, NULL, OPT_WINDOW },
	{ "imm", no_argument, NULL, OPT_IMM },
	{ "manifest", required_argument, NULL, OPT_MANIFEST },
	{ "posted", required_argument, NULL, OPT_POSTED },
	{ "disconnect-at-once", no_argument, NULL, OPT_DISCONNECT_AT_ONCE },
	{ "hold", required_argument, NULL, OPT_HOLD },
	{ "flood", no_argument, NULL, OPT_FLOOD },
	{ "stall", required_argument, NULL, OPT_STALL },
	{ "too-long", required_argument, NULL, OPT_TOO_LONG },
	{ "kill-after", required_argument, NULL, OPT_KILL_AFTER },
	{ "retries", required_argument, NULL, OPT_RETRIES },
	{ "rnr-retries", required_argument, NULL, OPT_RNR_RETRIES },
	{ "verbose", no_argument, NULL, OPT_VERBOSE },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

static void __attribute__((noreturn, format(printf, 2, 3)))
fail(const char *program, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)fprintf(stderr, "%s: ", program);
	(void)vfprintf(stderr, format, args);
	(void)fprintf(stderr, "; see --help\n");
	va_end(args);
	exit(2);
}

static uint32_t
number(const char *program, const char *text, uint32_t min, uint32_t max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno != 0 || *end != '\0' || end == text || *text == '-' || value < min ||
	    value > max)
		fail(program, "%s is no number that fits here", text);
	return (uint32_t)value;
}

static void
add_text(struct options *options, const char *program, const char *text)
{
	size_t len = strlen(text);

	if (options->text_count == OPTIONS_TEXTS_MAX)
		fail(program, "too many texts: %s", text);
	options->texts[options->text_count++] = text;
	options->count = options->text_count;
	if (len > options->max_len)
		options->max_len = (uint32_t)len;
}

static FILE *
manifest(const char *program, const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		fail(program, "cannot write %s", path);
	/* So it is whole, however the sender dies. */
	(void)setvbuf(file, NULL, _IOLBF, 0);
	return file;
}

static void
set(struct options *o, const char *program, int id, const char *arg)
{
	switch (id) {
	/* clang-format off */
	case OPT_ADDR: o->addr = arg; break;
	case OPT_PORT: o->port = arg; break;
	case OPT_CONNS: o->conns = number(program, arg, 1, 65535); break;
	case OPT_ROUNDS: o->rounds = number(program, arg, 1, 1000000); break;
	case OPT_FIRST: o->first = number(program, arg, 0, UINT32_MAX); break;
	case OPT_COUNT: o->count = number(program, arg, 0, UINT32_MAX - 1); break;
	case OPT_MIN_LEN: o->min_len = number(program, arg, 0, 1u << 30); break;
	case OPT_MAX_LEN: o->max_len = number(program, arg, 0, 1u << 30); break;
	case OPT_TEXT: add_text(o, program, arg); break;
	case OPT_SEED: o->seed = number(program, arg, 0, UINT32_MAX); break;
	case OPT_WINDOW: o->window = number(program, arg, 1, 4096); break;
	case OPT_IMM: o->imm = true; break;
	case OPT_DISCONNECT_AT_ONCE: o->disconnect_at_once = true; break;
	case OPT_HOLD: o->hold_s = number(program, arg, 0, 86400); break;
	case OPT_FLOOD: o->flood = true; break;
	case OPT_STALL: o->stall_s = number(program, arg, 1, 86400); break;
	case OPT_TOO_LONG: o->too_long = number(program, arg, 1, 1u << 30); break;
	case OPT_KILL_AFTER: o->kill_after = number(program, arg, 1, UINT32_MAX); break;
	case OPT_RETRIES: o->retries = (uint8_t)number(program, arg, 0, 7); break;
	case OPT_RNR_RETRIES: o->rnr_retries = (uint8_t)number(program, arg, 0, 7); break;
	case OPT_VERBOSE: o->verbose = true; break;
	/* clang-format on */
	case OPT_MANIFEST:
		o->manifest = manifest(program, arg);
		break;
	case OPT_POSTED:
		o->posted = manifest(program, arg);
		break;
	case OPT_HELP:
		(void)printf(usage_text, program);
		exit(0);
	default:
		exit(2);
	}
}

static void
block_signal(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
}

void
options_parse(struct options *options, int argc, char *argv[])
{
	int id;

	*options = (struct options){
		.conns = 1,
		.rounds = 1,
		.count = 1,
		.max_len = 4096,
		.window = 16,
		.seed = 1,
		.stall_s = 60,
		.retries = 7,
		.rnr_retries = 7,
	};
	while ((id = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		set(options, argv[0], id, optarg);
	if (optind < argc)
		fail(argv[0], "%s is no option", argv[optind]);
	if (!options->addr || !options->port)
		fail(argv[0], "--addr and --port are needed");
	if (options->min_len > options->max_len)
		fail(argv[0], "--min-len is above --max-len");
	if (options->flood)
		options->count = UINT32_MAX;
	/* The signal may come before it is waited for. */
	if (options->hold_s > 0 && !options->flood)
		block_signal();
}

void
options_hold(const struct options *options)
{
	const struct timespec timeout = { .tv_sec = options->hold_s };
	sigset_t set;

	if (options->hold_s == 0 || options->flood)
		return;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	while (sigtimedwait(&set, NULL, &timeout) < 0 && errno == EINTR)
		;
}
