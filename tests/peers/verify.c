/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verify [--imm] [--extra] [--missing] [--posted FILE]... RECEIVED MANIFEST...
 *
 * Compares what "rpmactl poll --json" printed (objects of one completion or of whole
 * results) with the senders' manifests: every message exactly once, with its length and
 * content, in the order of sending within a connection. With --imm each message with a
 * header carries its sequence number, else no message carries immediate data. With
 * --extra more may have arrived than was sent for certain, but nothing twice; with
 * --posted of that only what is in these files, each once. With --missing the last
 * messages of a connection may not have arrived, but none before one that has. It prints
 * how many of those in the manifests are missing, and of how many sending connections.
 */
#include <config.h>

#include <endian.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "message.h"
#include "sha256.h"

#define CONN_MAX  65536u
#define SHOWN_MAX 10u

struct list {
	struct message *items;
	size_t count, size;
};

struct verify {
	struct list sent, posted, received;
	bool imm, extra, missing;
	uint64_t faults;
	uint8_t base64[256];
	uint32_t *next_seq; /* of each receiving connection, from the headers */
	uint32_t *sender;   /* + 1: the sending connection behind it */
	uint32_t *end;      /* of each sending connection, behind the last that came */
	bool *is_lossy;     /* the same, of which something is missing */
	uint64_t missed, lossy;
};

static void
fault(struct verify *v, const char *what, const struct message *m)
{
	if (v->faults++ < SHOWN_MAX)
		(void)printf("%s: conn=%u seq=%u len=%u sha256=%s\n", what,
		    (unsigned)m->conn, (unsigned)m->seq, (unsigned)m->len, m->sha256);
}

static void
list_add(struct list *list, const struct message *message)
{
	if (list->count == list->size) {
		list->size = list->size ? 2 * list->size : 1024;
		list->items = realloc(list->items, list->size * sizeof(*list->items));
		if (!list->items)
			abort();
	}
	list->items[list->count++] = *message;
}

static bool
read_manifest(struct list *list, const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned conn, seq, len;
	struct message message;

	if (!file) {
		(void)fprintf(stderr, "verify: %s: %s\n", path, strerror(errno));
		return false;
	}
	while (fscanf(file, "%u %u %u %64s", &conn, &seq, &len, message.sha256) == 4) {
		message.conn = conn;
		message.seq = seq;
		message.len = len;
		list_add(list, &message);
	}
	(void)fclose(file);
	return true;
}

/* Values of the digits plus one; 0 elsewhere. */
static void
base64_table(uint8_t table[256])
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	memset(table, 0, 256);
	for (unsigned i = 0; i < 64; i++)
		table[(uint8_t)digits[i]] = (uint8_t)(i + 1);
}

/* To out, which holds as many bytes as text has characters; the number of bytes, or -1.
 */
static long
decode_base64(const uint8_t table[256], const char *text, uint8_t *out)
{
	uint32_t word = 0, bits = 0;
	long len = 0;

	for (; *text && *text != '='; text++) {
		uint8_t digit = table[(uint8_t)*text];

		if (digit == 0)
			return -1;
		word = word << 6 | (uint32_t)(digit - 1);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			out[len++] = (uint8_t)(word >> bits);
		}
	}
	return len;
}

static void
check_header(struct verify *v, const uint8_t *data, struct message *m, json_int_t conn,
    const json_t *imm)
{
	uint32_t head[4];

	if (m->len < MESSAGE_HEADER)
		return;
	memcpy(head, data, sizeof(head));
	if (be32toh(head[0]) != MESSAGE_MAGIC)
		return;
	m->conn = be32toh(head[1]);
	m->seq = be32toh(head[2]);
	if (be32toh(head[3]) != m->len)
		fault(v, "cut", m);
	if (v->imm && (!json_is_integer(imm) || json_integer_value(imm) != m->seq))
		fault(v, "wrong immediate data", m);
	if (m->conn < CONN_MAX && m->seq >= v->end[m->conn])
		v->end[m->conn] = m->seq + 1;
	if (conn < 0 || conn >= CONN_MAX)
		return;
	if (v->sender[conn] != 0 && v->sender[conn] != m->conn + 1)
		fault(v, "of another sender", m);
	if (m->seq < v->next_seq[conn])
		fault(v, "out of order", m);
	v->sender[conn] = m->conn + 1;
	v->next_seq[conn] = m->seq + 1;
}

static void
read_completion(struct verify *v, json_t *completion)
{
	const char *text = json_string_value(json_object_get(completion, "data"));
	const char *encoding =
	    json_string_value(json_object_get(completion, "encoding"));
	const json_t *imm = json_object_get(completion, "imm");
	json_int_t conn = json_integer_value(json_object_get(completion, "conn"));
	json_int_t len = json_integer_value(json_object_get(completion, "len"));
	struct message m = { .conn = (uint32_t)conn, .len = (uint32_t)len };
	size_t text_len = text ? strlen(text) : 0;
	uint8_t *data = malloc(text_len + 1);
	long size = (long)text_len;

	if (!data)
		abort();
	if (encoding && strcmp(encoding, "base64") == 0)
		size = decode_base64(v->base64, text ? text : "", data);
	else if (text)
		memcpy(data, text, text_len);
	if (!text || size != len) {
		(void)snprintf(m.sha256, sizeof(m.sha256), "%ld bytes of data", size);
		fault(v, "length and data differ", &m);
	} else {
		sha256_hex(data, (size_t)size, m.sha256);
		check_header(v, data, &m, conn, imm);
		if (!v->imm && !json_is_null(imm))
			fault(v, "unexpected immediate data", &m);
		list_add(&v->received, &m);
	}
	free(data);
}

static void
read_value(struct verify *v, json_t *value)
{
	json_t *list = json_object_get(value, "completions"), *item;
	size_t i;

	if (!list) {
		read_completion(v, value);
		return;
	}
	json_array_foreach(list, i, item)
		read_completion(v, item);
}

static bool
read_received(struct verify *v, const char *path)
{
	FILE *file = fopen(path, "re");
	json_error_t error = { .text = "cannot read" };
	char *line = NULL;
	size_t size = 0;
	bool ok = file != NULL;
	ssize_t len;

	while (ok && (len = getline(&line, &size, file)) > 0) {
		json_t *value = json_loadb(line, (size_t)len, 0, &error);

		ok = value != NULL;
		if (ok)
			read_value(v, value);
		json_decref(value);
	}
	free(line);
	if (file)
		(void)fclose(file);
	if (!ok)
		(void)fprintf(stderr, "verify: %s: %s\n", path, error.text);
	return ok;
}

/* By content alone: a message without header does not say where it comes from. */
static int
compare(const void *a, const void *b)
{
	const struct message *x = a, *y = b;
	int rc = strcmp(x->sha256, y->sha256);

	if (rc != 0)
		return rc;
	return x->len < y->len ? -1 : x->len > y->len;
}

/* Must it have come, as one behind it on its connection has? */
static bool
is_due(const struct verify *v, const struct message *m)
{
	return m->conn < CONN_MAX && m->seq < v->end[m->conn];
}

static void
missing(struct verify *v, const struct message *m, bool allowed)
{
	if (!allowed)
		fault(v, "missing", m);
	else if (is_due(v, m))
		fault(v, "missing before one that came", m);
}

static void
count_missing(struct verify *v, const struct message *m)
{
	v->missed++;
	if (m->conn >= CONN_MAX || v->is_lossy[m->conn])
		return;
	v->is_lossy[m->conn] = true;
	v->lossy++;
}

/* Both sorted. The second may have more or less. */
static void
compare_lists(struct verify *v, const struct list *some, bool more, bool less)
{
	const struct message *sent = some->items, *received = v->received.items;
	size_t s = 0, r = 0;

	while (s < some->count || r < v->received.count) {
		int order;

		if (s == some->count)
			order = 1;
		else if (r == v->received.count)
			order = -1;
		else
			order = compare(&sent[s], &received[r]);
		if (order < 0) {
			missing(v, &sent[s], less);
			if (some == &v->sent)
				count_missing(v, &sent[s]);
			s++;
		} else if (order == 0) {
			s++;
			r++;
		} else {
			bool twice =
			    r > 0 && compare(&received[r - 1], &received[r]) == 0;

			if (!more || (twice && received[r].len >= MESSAGE_HEADER))
				fault(v, twice ? "twice" : "never sent", &received[r]);
			r++;
		}
	}
}

/*
 * What was sent, of equal content first what must have come: of three empty messages of
 * which two arrived, only one may be missing that may be.
 */
static int
compare_sent(const void *a, const void *b, void *arg)
{
	const struct verify *v = arg;
	int rc = compare(a, b);

	return rc != 0 ? rc : is_due(v, b) - is_due(v, a);
}

static void
sort(struct verify *v, struct list *list)
{
	if (list->count > 0)
		qsort_r(list->items, list->count, sizeof(*list->items), compare_sent,
		    v);
}

static void
prepare(struct verify *v)
{
	base64_table(v->base64);
	v->next_seq = calloc(CONN_MAX, sizeof(*v->next_seq));
	v->sender = calloc(CONN_MAX, sizeof(*v->sender));
	v->end = calloc(CONN_MAX, sizeof(*v->end));
	v->is_lossy = calloc(CONN_MAX, sizeof(*v->is_lossy));
	if (!v->next_seq || !v->sender || !v->end || !v->is_lossy)
		abort();
}

int
main(int argc, char *argv[])
{
	static struct verify v;
	bool has_posted = false;
	int i = 1;

	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		v.imm = v.imm || strcmp(argv[i], "--imm") == 0;
		v.extra = v.extra || strcmp(argv[i], "--extra") == 0;
		v.missing = v.missing || strcmp(argv[i], "--missing") == 0;
		if (strcmp(argv[i], "--posted") != 0 || i + 1 == argc)
			continue;
		has_posted = true;
		if (!read_manifest(&v.posted, argv[++i]))
			return 2;
	}
	if (argc - i < 2) {
		(void)fprintf(stderr,
		    "usage: verify [--imm] [--extra] [--missing] [--posted FILE]... "
		    "RECEIVED MANIFEST...\n");
		return 2;
	}
	prepare(&v);
	if (!read_received(&v, argv[i]))
		return 2;
	while (++i < argc)
		if (!read_manifest(&v.sent, argv[i]))
			return 2;
	sort(&v, &v.sent);
	sort(&v, &v.posted);
	sort(&v, &v.received);
	compare_lists(&v, &v.sent, v.extra || has_posted, v.missing);
	if (has_posted)
		compare_lists(&v, &v.posted, false, true);
	(void)printf(
	    "verify: sent=%zu received=%zu missing=%llu lossy=%llu faults=%llu\n",
	    v.sent.count, v.received.count, (unsigned long long)v.missed,
	    (unsigned long long)v.lossy, (unsigned long long)v.faults);
	return v.faults == 0 ? 0 : 1;
}
