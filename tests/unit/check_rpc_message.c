/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages as text: the same as jansson writes of the same values, whatever came before. */
#include <config.h>

#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <jansson.h>

#include "daemon/rpc_message.h"
#include "daemon/rpc_text.h"
#include "lib/core/addr.h"
#include "lib/core/compiler.h"
#include "tests/unit/harness.h"

#define INSTANCE 0x0123456789abcdefu

/* Times of a clock, and what they are by date(1). */
static const struct {
	uint64_t ns;
	const char *text;
} times[] = {
	{ 0, "1970-01-01T00:00:00.000000Z" },
	{ 1767323045123456789, "2026-01-02T03:04:05.123456Z" },
	{ 1767323045999999999, "2026-01-02T03:04:05.999999Z" },
	{ 1767323046000000999, "2026-01-02T03:04:06.000000Z" },
	{ 1767323045000001000, "2026-01-02T03:04:05.000001Z" },
	{ 951782399000000000, "2000-02-28T23:59:59.000000Z" },
	{ 951868799000000000, "2000-02-29T23:59:59.000000Z" },
};
/* NULL: not known any more. */
static const char *const peers[] = { "10.0.0.1:4711", "10.0.0.1:4712", NULL,
	"[2001:db8::1]:1", "[2001:db8::2]:1" };
static const uint64_t numbers[] = { 0, 9, 10, 99999999999, 4294967295, 9007199254740991,
	INT64_MAX };
/* Text, its base64 by base64(1), and whether it may be shown as text. */
static const struct {
	const char *bytes, *base64;
	size_t len;
	bool is_text;
} data[] = {
	{ "", "", 0, true },
	{ "hello", "aGVsbG8=", 5, true },
	{ "q\"\\\n\x01\x7f/", "cSJcCgF/Lw==", 7, true },
	{ "\xc3\xa4\xf0\x9f\x98\x80", "w6Twn5iA", 6, true },
	{ "a\0b", "YQBi", 3, false },
	{ "\xff\xfe", "//4=", 2, false },
};

static void *memory;
static struct ledger *ledger;

static void
setup(void)
{
	memory = calloc(1, ledger_memory_size(16));
	ck_assert_int_eq(ledger_new(memory, 16, 4096, INSTANCE, &ledger), 0);
}

static void
teardown(void)
{
	ledger_free(ledger);
	free(memory);
}

/* The i-th of many messages, no two neighbours alike. */
static struct ledger_message
message_of(unsigned int i)
{
	const char *peer = peers[i / 3 % ARRAY_LEN(peers)];
	struct sockaddr_storage addr;
	struct ledger_message message = {
		.slot = i % 16,
		.generation = i * 7,
		.seq = numbers[i % ARRAY_LEN(numbers)],
		.deliveries = i % 3 + 1,
		.context = i % 2 ? "l\xc3\xa4\"" : NULL,
		.context_len = i % 2 ? 4 : 0,
	};

	message.arrival.conn = numbers[(i + 1) % ARRAY_LEN(numbers)];
	if (peer) {
		ck_assert_int_eq(addr_parse_hostport(peer, &addr, NULL), 0);
		memcpy(&message.arrival.peer, &addr, sizeof(message.arrival.peer));
	}
	message.arrival.qp_num = i * 100;
	message.arrival.len = (uint32_t)data[i % ARRAY_LEN(data)].len;
	message.arrival.has_imm = i % 4 == 1;
	message.arrival.imm = 4294967295u;
	message.arrival.is_rdma_write = i % 4 == 1;
	message.arrival.received_ns = times[i / 2 % ARRAY_LEN(times)].ns;
	return message;
}

/* What it is to look like, as jansson writes it. */
static char *
wanted_of(unsigned int i, const struct ledger_message *message,
    enum data_encoding encoding)
{
	const size_t k = i % ARRAY_LEN(data);
	bool is_text = encoding == DATA_TEXT && data[k].is_text;
	char token[64], *text;
	json_t *json, *payload;

	(void)snprintf(token, sizeof(token), "0123456789abcdef.%u.%u", message->slot,
	    message->generation);
	payload = encoding == DATA_NONE ? json_null()
	    : is_text                   ? json_stringn(data[k].bytes, data[k].len)
					: json_string(data[k].base64);
	json =
	    json_pack("{s:s,s:I,s:s,s:s,s:I,s:s?,s:I,s:I,s:I,s:o,s:o,s:s,s:I,s:s,s:o}",
		"token", token, "seq", (json_int_t)message->seq, "status", "SUCCESS",
		"opcode", i % 4 == 1 ? "RECV_RDMA_WITH_IMM" : "RECV", "conn",
		(json_int_t)message->arrival.conn, "peer",
		peers[i / 3 % ARRAY_LEN(peers)], "qp_num",
		(json_int_t)message->arrival.qp_num, "slot", (json_int_t)message->slot,
		"len", (json_int_t)message->arrival.len, "imm",
		i % 4 == 1 ? json_integer(4294967295) : json_null(), "context",
		message->context ? json_string("l\xc3\xa4\"") : json_null(),
		"received_at", times[i / 2 % ARRAY_LEN(times)].text, "deliveries",
		(json_int_t)message->deliveries, "encoding",
		encoding == DATA_NONE ? "none"
		    : is_text         ? "text"
				      : "base64",
		"data", payload);
	ck_assert_ptr_nonnull(json);
	text = json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(json);
	return text;
}

START_TEST(same_as_jansson)
{
	const enum data_encoding encoding = (enum data_encoding)_i;
	struct rpc_message_cache cache = { 0 };
	struct rpc_text text = { 0 };
	struct ledger_message message;
	size_t before, room;
	unsigned int i;
	char *wanted;

	for (i = 0; i < 840; i++) {
		message = message_of(i);
		room = rpc_message_room(&message, encoding);
		before = text.len;
		ck_assert_int_eq(rpc_message_add(&text, ledger, &message,
				     data[i % ARRAY_LEN(data)].bytes, encoding,
				     room + 64, &cache),
		    0);
		wanted = wanted_of(i, &message, encoding);
		ck_assert_msg(text.len - before == strlen(wanted) &&
			memcmp(text.bytes + before, wanted, strlen(wanted)) == 0,
		    "%u: wanted %s\ngot %.*s", i, wanted, (int)(text.len - before),
		    text.bytes + before);
		ck_assert_uint_le(text.len - before, room + 64);
		free(wanted);
	}
	rpc_text_free(&text);
}
END_TEST

/* As text it would take six bytes for each, and there is room for base64 alone. */
START_TEST(too_long_as_text)
{
	struct rpc_message_cache cache = { 0 };
	struct rpc_text text = { 0 };
	struct ledger_message message = message_of(0);
	char bytes[300];

	memset(bytes, 1, sizeof(bytes));
	message.arrival.len = sizeof(bytes);
	ck_assert_int_eq(rpc_message_add(&text, ledger, &message, bytes, DATA_TEXT,
			     rpc_message_room(&message, DATA_TEXT), &cache),
	    0);
	ck_assert_int_eq(rpc_text_add(&text, "", 1), 0);
	ck_assert_ptr_nonnull(strstr(text.bytes, "\"encoding\":\"base64\""));
	ck_assert_uint_le(text.len, rpc_message_room(&message, DATA_TEXT));
	rpc_text_free(&text);
}
END_TEST

/* RFC 3629, section 3. */
static size_t
put_utf8(char *at, uint32_t character)
{
	if (character < 0x80) {
		at[0] = (char)character;
		return 1;
	}
	if (character < 0x800) {
		at[0] = (char)(0xc0 | character >> 6);
		at[1] = (char)(0x80 | (character & 0x3f));
		return 2;
	}
	if (character < 0x10000) {
		at[0] = (char)(0xe0 | character >> 12);
		at[1] = (char)(0x80 | (character >> 6 & 0x3f));
		at[2] = (char)(0x80 | (character & 0x3f));
		return 3;
	}
	at[0] = (char)(0xf0 | character >> 18);
	at[1] = (char)(0x80 | (character >> 12 & 0x3f));
	at[2] = (char)(0x80 | (character >> 6 & 0x3f));
	at[3] = (char)(0x80 | (character & 0x3f));
	return 4;
}

/* Every character there is, 256 at a time: what jansson writes, byte for byte. */
START_TEST(test_all_characters)
{
	struct rpc_text ours = { 0 }, theirs = { 0 };
	char utf8[256 * 4];
	uint32_t first, i;
	json_t *json;
	size_t len;

	for (first = 0; first < 0x110000; first += 256) {
		if (first >= 0xd800 && first < 0xe000)
			continue;
		for (i = first == 0, len = 0; i < 256; i++)
			len += put_utf8(utf8 + len, first + i);
		ours.len = theirs.len = 0;
		json = json_stringn(utf8, len);
		ck_assert_ptr_nonnull(json);
		ck_assert_int_eq(rpc_text_add_json(&theirs, json, SIZE_MAX / 2), 0);
		ck_assert_int_eq(rpc_text_add_string(&ours, utf8, len), 0);
		ck_assert_uint_eq(ours.len, theirs.len);
		ck_assert_int_eq(memcmp(ours.bytes, theirs.bytes, ours.len), 0);
		json_decref(json);
	}
	ours.len = 0;
	ck_assert_int_eq(rpc_text_add_string(&ours, "", 0), 0);
	ck_assert_uint_eq(ours.len, 2);
	rpc_text_free(&ours);
	rpc_text_free(&theirs);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpc_message");
	TCase *tcase = tcase_create("rpc_message");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, same_as_jansson, DATA_BASE64, DATA_NONE + 1);
	tcase_add_test(tcase, test_all_characters);
	tcase_add_test(tcase, too_long_as_text);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
