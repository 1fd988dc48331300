/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that tell themselves apart, and the manifest of those that were sent. */
#include "message.h"

#include <endian.h>
#include <string.h>

/* splitmix64: one step of a generator that is good enough and has no state of its own.
 */
static uint64_t
next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void
fill(uint8_t *buf, uint32_t len, uint64_t *state)
{
	uint64_t word;
	uint32_t at = 0;

	for (; len - at >= sizeof(word); at += (uint32_t)sizeof(word)) {
		word = htole64(next_random(state));
		memcpy(buf + at, &word, sizeof(word));
	}
	word = htole64(next_random(state));
	memcpy(buf + at, &word, len - at);
}

void
message_make(const struct options *options, uint32_t conn, uint32_t seq, uint8_t *buf,
    struct message *message)
{
	uint64_t state = options->seed ^ (uint64_t)conn << 32 ^ seq;
	uint64_t range = (uint64_t)options->max_len - options->min_len + 1;
	uint32_t len;

	if (options->text_count > 0) {
		len = (uint32_t)strlen(options->texts[seq % options->text_count]);
		memcpy(buf, options->texts[seq % options->text_count], len);
	} else {
		(void)next_random(&state);
		len = options->min_len + (uint32_t)(next_random(&state) % range);
		fill(buf, len, &state);
		if (len >= MESSAGE_HEADER) {
			uint32_t head[4] = { htobe32(MESSAGE_MAGIC), htobe32(conn),
				htobe32(seq), htobe32(len) };

			memcpy(buf, head, sizeof(head));
		}
	}
	message->conn = conn;
	message->seq = seq;
	message->len = len;
	if (options->manifest || options->posted)
		sha256_hex(buf, len, message->sha256);
}

static void
write_line(FILE *manifest, const struct message *message)
{
	if (manifest)
		(void)fprintf(manifest, "%u %u %u %s\n", (unsigned)message->conn,
		    (unsigned)message->seq, (unsigned)message->len, message->sha256);
}

void
message_posted(const struct options *options, const struct message *message)
{
	write_line(options->posted, message);
}

void
message_sent(const struct options *options, const struct message *message)
{
	write_line(options->manifest, message);
	if (options->verbose)
		(void)printf("sent conn=%u seq=%u len=%u\n", (unsigned)message->conn,
		    (unsigned)message->seq, (unsigned)message->len);
}
