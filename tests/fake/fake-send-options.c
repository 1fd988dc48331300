/* SPDX-License-Identifier: BSD-3-Clause */
/* fake-send-options.c: what fake-send sends. */
#include <config.h>

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fake/fake-send.h"

static const char usage[] =
    "Usage: fake-send ADDR:PORT [OPTION]...\n"
    "Send messages to a program that runs over doubles of the RDMA libraries.\n"
    "\n"
    "  --count N          messages on each connection, default 1\n"
    "  --size N           bytes of each, default 16: \"CONN INDEX \" and a pattern\n"
    "  --text STR         send this text\n"
    "  --file F           send the contents of this file\n"
    "  --random-max N     1 to N random bytes each\n"
    "  --seed S           of the random bytes, default 1\n"
    "  --imm N            with this immediate\n"
    "  --conns N          connections, default 1\n"
    "  --window N         messages in flight on each, default 32\n"
    "  --hold SECONDS     stay connected, and acknowledge what comes\n"
    "  --timeout SECONDS  for all acknowledgements, default 30\n"
    "  --too-long         send 4 MiB (or --size), which must be refused as too long\n"
    "  --die              end without disconnecting\n"
    "  --private STR      private data of the request\n"
    "  --dump DIR         write each message to DIR/CONN-INDEX\n"
    "  --verbose          print \"sent CONN INDEX LEN\" for each acknowledged message\n"
    "  --show-private     print \"private CONN HEX\", what the accept carried\n"
    "  --show-received    print \"received CONN HEX\" and \"imm CONN N\"\n"
    "  --help, --version\n"
    "Exit status: 0 all was acknowledged (or refused, with --too-long), 1 not, 2 usage.\n";

enum {
	OPT_COUNT = 1,
	OPT_SIZE,
	OPT_TEXT,
	OPT_FILE,
	OPT_RANDOM_MAX,
	OPT_SEED,
	OPT_IMM,
	OPT_CONNS,
	OPT_WINDOW,
	OPT_HOLD,
	OPT_TIMEOUT,
	OPT_TOO_LONG,
	OPT_DIE,
	OPT_PRIVATE,
	OPT_DUMP,
	OPT_VERBOSE,
	OPT_SHOW_PRIVATE,
	OPT_SHOW_RECEIVED,
	OPT_HELP,
	OPT_VERSION,
};

static const struct option long_options[] = {
	{ "count", required_argument, NULL, OPT_COUNT },
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "text", required_argument, NULL, OPT_TEXT },
	{ "file", required_argument, NULL, OPT_FILE },
	{ "random-max", required_argument, NULL, OPT_RANDOM_MAX },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "imm", required_argument, NULL, OPT_IMM },
	{ "conns", required_argument, NULL, OPT_CONNS },
	{ "window", required_argument, NULL, OPT_WINDOW },
	{ "hold", required_argument, NULL, OPT_HOLD },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "too-long", no_argument, NULL, OPT_TOO_LONG },
	{ "die", no_argument, NULL, OPT_DIE },
	{ "private", required_argument, NULL, OPT_PRIVATE },
	{ "dump", required_argument, NULL, OPT_DUMP },
	{ "verbose", no_argument, NULL, OPT_VERBOSE },
	{ "show-private", no_argument, NULL, OPT_SHOW_PRIVATE },
	{ "show-received", no_argument, NULL, OPT_SHOW_RECEIVED },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

static bool
number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (*text < '0' || *text > '9' || *end || errno || value < min || value > max)
		return false;
	*out = value;
	return true;
}

static bool
set_unsigned(const char *text, unsigned min, unsigned max, unsigned *out)
{
	uint64_t value;

	if (!number(text, min, max, &value))
		return false;
	*out = (unsigned)value;
	return true;
}

static bool
set_size(const char *text, size_t min, size_t *out)
{
	uint64_t value;

	if (!number(text, min, WIRE_LEN_MAX, &value))
		return false;
	*out = (size_t)value;
	return true;
}

static bool
read_file(const char *path, struct send_options *options)
{
	FILE *file = fopen(path, "rb");
	long size;
	bool ok;

	if (!file)
		return false;
	ok = fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
	    size <= (long)WIRE_LEN_MAX && fseek(file, 0, SEEK_SET) == 0;
	if (ok) {
		options->size = (size_t)size;
		options->file = malloc(options->size + 1);
		ok = options->file &&
		    fread(options->file, 1, options->size, file) == options->size;
	}
	fclose(file);
	return ok;
}

static bool
set_imm(const char *text, int64_t *imm)
{
	uint64_t value;

	if (!number(text, 0, UINT32_MAX, &value))
		return false;
	*imm = (int64_t)value;
	return true;
}

static bool
set_text(const char *text, struct send_options *options)
{
	options->text = text;
	options->size = strlen(text);
	return true;
}

/* Options that take a value. */
static bool
set_value(int opt, const char *text, struct send_options *options)
{
	switch (opt) {
	case OPT_COUNT:
		return set_unsigned(text, 0, UINT32_MAX, &options->count);
	case OPT_SIZE:
		return set_size(text, 0, &options->size);
	case OPT_TEXT:
		return set_text(text, options);
	case OPT_FILE:
		return read_file(text, options);
	case OPT_RANDOM_MAX:
		return set_size(text, 1, &options->random_max);
	case OPT_SEED:
		return set_unsigned(text, 1, UINT32_MAX, &options->seed);
	case OPT_IMM:
		return set_imm(text, &options->imm);
	case OPT_CONNS:
		return set_unsigned(text, 1, 10000, &options->conns);
	case OPT_WINDOW:
		return set_unsigned(text, 1, WIRE_WINDOW, &options->window);
	case OPT_HOLD:
		return set_unsigned(text, 0, 86400, &options->hold_s);
	case OPT_TIMEOUT:
		return set_unsigned(text, 1, 86400, &options->timeout_s);
	case OPT_PRIVATE:
		options->private_data = text;
		return true;
	case OPT_DUMP:
		options->dump = text;
		return true;
	default:
		return false;
	}
}

/* Options that take none. */
static bool
set_flag(int opt, struct send_options *options)
{
	switch (opt) {
	case OPT_TOO_LONG:
		options->too_long = true;
		return true;
	case OPT_DIE:
		options->die = true;
		return true;
	case OPT_VERBOSE:
		options->verbose = true;
		return true;
	case OPT_SHOW_PRIVATE:
		options->show_private = true;
		return true;
	case OPT_SHOW_RECEIVED:
		options->show_received = true;
		return true;
	default:
		return false;
	}
}

/* "127.0.0.1:7471" or "[::1]:7471". */
static bool
split_address(const char *text, struct send_options *options)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;

	if (len == 0 || colon[1] == '\0')
		return false;
	if (text[0] == '[' && len > 2 && text[len - 1] == ']') {
		text++;
		len -= 2;
	}
	options->host = strndup(text, len);
	options->port = strdup(colon + 1);
	return options->host && options->port;
}

int
options_parse(int argc, char **argv, struct send_options *options)
{
	bool ok = true;
	int opt;

	*options = (struct send_options){ .count = 1,
		.conns = 1,
		.window = WIRE_WINDOW,
		.timeout_s = 30,
		.imm = -1,
		.size = SIZE_MAX,
		.seed = 1 };
	while (ok && (opt = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (opt == OPT_HELP) {
			fputs(usage, stdout);
			return 0;
		}
		if (opt == OPT_VERSION) {
			puts("fake-send 1");
			return 0;
		}
		ok = optarg ? set_value(opt, optarg, options) : set_flag(opt, options);
	}
	if (options->size == SIZE_MAX)
		options->size = options->too_long ? 4u << 20 : 16;
	if (!ok || optind != argc - 1 || !split_address(argv[optind], options)) {
		fputs(usage, stderr);
		options_free(options);
		return 2;
	}
	return -1;
}

void
options_free(struct send_options *options)
{
	free(options->host);
	free(options->port);
	free(options->file);
}

/* ---- messages ----------------------------------------------------------------- */

static uint32_t
next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static uint32_t
message_seed(const struct send_options *options, unsigned conn, unsigned index)
{
	uint32_t state =
	    options->seed * 2654435761u ^ (conn + 1) * 40503u ^ index * 69069u;

	state = state ? state : 1;
	next_random(&state);
	return state;
}

size_t
message_size(const struct send_options *options, unsigned conn, unsigned index)
{
	uint32_t state = message_seed(options, conn, index);

	if (!options->random_max)
		return options->size;
	return next_random(&state) % options->random_max + 1;
}

static void
dump(const struct send_options *options, unsigned conn, unsigned index,
    const unsigned char *data, size_t size)
{
	char path[4096];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), "%s/%u-%u", options->dump, conn, index);
	file = fopen(path, "wb");
	ok = file && fwrite(data, 1, size, file) == size;
	if (!file || fclose(file) != 0 || !ok)
		fprintf(stderr, "fake-send: %s: %s\n", path, strerror(errno));
}

unsigned char *
message_make(const struct send_options *options, unsigned conn, unsigned index)
{
	size_t size = message_size(options, conn, index);
	uint32_t state = message_seed(options, conn, index);
	unsigned char *data = malloc(size + 1);
	char head[32];
	size_t head_len;
	size_t i;

	if (!data)
		return NULL;
	head_len = (size_t)snprintf(head, sizeof(head), "%u %u ", conn, index);
	next_random(&state);
	for (i = 0; i < size; i++) {
		if (options->text)
			data[i] = (unsigned char)options->text[i];
		else if (options->file)
			data[i] = options->file[i];
		else if (options->random_max)
			data[i] = (unsigned char)next_random(&state);
		else
			data[i] =
			    (unsigned char)(i < head_len ? head[i]
							 : "abcdefghijklmnop"[i % 16]);
	}
	if (options->dump)
		dump(options, conn, index, data, size);
	return data;
}
