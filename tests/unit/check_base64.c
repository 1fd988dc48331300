/* SPDX-License-Identifier: BSD-3-Clause */
/* Base64: the vectors of RFC 4648 section 10, base64(1), and what is refused. */
#include <config.h>

#include "lib/core/base64.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/core/compiler.h"
#include "tests/unit/harness.h"

#define RANDOM_BYTES 10000u

static const struct {
	const char *plain;
	const char *encoded;
} vectors[] = {
	{ "", "" },
	{ "f", "Zg==" },
	{ "fo", "Zm8=" },
	{ "foo", "Zm9v" },
	{ "foob", "Zm9vYg==" },
	{ "fooba", "Zm9vYmE=" },
	{ "foobar", "Zm9vYmFy" },
	{ "\xfb\xff\xbe", "+/++" },
};

START_TEST(rfc_vectors)
{
	size_t i, n, len;
	uint8_t out[16];
	char buf[16];

	for (i = 0; i < ARRAY_LEN(vectors); i++) {
		n = strlen(vectors[i].plain);
		len = strlen(vectors[i].encoded);
		ck_assert_uint_eq(base64_encoded_len(n), len);
		memset(buf, '#', sizeof(buf));
		base64_encode(vectors[i].plain, n, buf);
		ck_assert_mem_eq(buf, vectors[i].encoded, len);
		ck_assert_int_eq(buf[len], '#');
		ck_assert_uint_ge(base64_decoded_max(len), n);
		len = 99;
		ck_assert_int_eq(base64_decode(vectors[i].encoded,
				     strlen(vectors[i].encoded), out, &len),
		    0);
		ck_assert_uint_eq(len, n);
		ck_assert_mem_eq(out, vectors[i].plain, n);
	}
}
END_TEST

START_TEST(other_texts_are_refused)
{
	static const char *const cases[] = { "Z", "Zg", "Zg=", "Zg===", "Zm9vYg=", "=",
		"==", "====", "Z===",
		/* padding inside or before the end */
		"Zg==Zg==", "Zm=v", "=m9v", "Zm8=Zm9v",
		/* unused bits */
		"Zh==", "Zm9=", "Zk==",
		/* other alphabets, blanks, lines */
		"-_--", "Zm9v\n", "Zm 9", "Zm9v\r\n\r\n", "\nZm9", "Zm9*", "Zm9\x80",
		"Zm9\xff" };
	uint8_t out[16];
	size_t i, len = 99;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		ck_assert_msg(base64_decode(cases[i], strlen(cases[i]), out, &len) ==
			-EINVAL,
		    "\"%s\"", cases[i]);
		ck_assert_uint_eq(len, 99);
	}
	ck_assert_int_eq(base64_decode("Zm9\0", 4, out, &len), -EINVAL);
}
END_TEST

/* Each 12 bits become the two characters of their halves, wherever they stand. */
START_TEST(pairs)
{
	static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				  "0123456789+/";
	uint8_t data[9];
	unsigned int i, at;
	char text[12];

	for (i = 0; i < 4096; i++) {
		for (at = 0; at < sizeof(data); at += 3) {
			data[at] = (uint8_t)(i >> 4);
			data[at + 1] = (uint8_t)(i << 4 | i >> 8);
			data[at + 2] = (uint8_t)i;
		}
		base64_encode(data, sizeof(data), text);
		for (at = 0; at < sizeof(text); at += 2) {
			ck_assert_int_eq(text[at], all[i >> 6]);
			ck_assert_int_eq(text[at + 1], all[i & 63]);
		}
	}
}
END_TEST

/* Each byte at each place decodes only where it is in the alphabet. */
START_TEST(alphabet)
{
	static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				  "0123456789+/";
	uint8_t out[3];
	char text[4];
	int c, place, rc;
	size_t len;

	for (c = 0; c < 256; c++) {
		for (place = 0; place < 4; place++) {
			memcpy(text, "AAAA", 4);
			text[place] = (char)c;
			rc = base64_decode(text, 4, out, &len);
			if ((c != 0 && strchr(all, c)) || (c == '=' && place == 3))
				ck_assert_msg(rc == 0, "%d at %d", c, place);
			else
				ck_assert_msg(rc == -EINVAL, "%d at %d", c, place);
		}
	}
}
END_TEST

static void
fill_random(uint8_t *data, size_t n)
{
	uint32_t state = 2463534242u;
	size_t i;

	for (i = 0; i < n; i++) {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		data[i] = (uint8_t)(state >> 11);
	}
}

START_TEST(every_length_comes_back)
{
	uint8_t data[100], out[100];
	char text[136];
	size_t n, len;

	fill_random(data, sizeof(data));
	for (n = 0; n <= sizeof(data); n++) {
		base64_encode(data, n, text);
		ck_assert_int_eq(base64_decode(text, base64_encoded_len(n), out, &len),
		    0);
		ck_assert_uint_eq(len, n);
		ck_assert_mem_eq(out, data, n);
	}
}
END_TEST

START_TEST(base64_1_agrees)
{
	char path[] = "/tmp/check_base64.XXXXXX", command[128];
	static char ours[RANDOM_BYTES * 2], theirs[RANDOM_BYTES * 2];
	static uint8_t data[RANDOM_BYTES];
	FILE *output;
	size_t n;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	fill_random(data, sizeof(data));
	ck_assert_int_eq(write(fd, data, sizeof(data)), sizeof(data));
	(void)close(fd);
	(void)snprintf(command, sizeof(command), "base64 -w 0 %s", path);
	output = popen(command, "r");
	ck_assert_ptr_nonnull(output);
	n = fread(theirs, 1, sizeof(theirs), output);
	ck_assert_int_eq(pclose(output), 0);
	(void)unlink(path);
	base64_encode(data, sizeof(data), ours);
	ck_assert_uint_eq(n, base64_encoded_len(sizeof(data)));
	ck_assert_mem_eq(ours, theirs, n);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("base64");
	TCase *tcase = tcase_create("base64");

	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, rfc_vectors);
	tcase_add_test(tcase, other_texts_are_refused);
	tcase_add_test(tcase, pairs);
	tcase_add_test(tcase, alphabet);
	tcase_add_test(tcase, every_length_comes_back);
	tcase_add_test(tcase, base64_1_agrees);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
