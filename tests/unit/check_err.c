/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors: the table against the protocol's document, texts that are cut and cleaned. */
#include <config.h>

#include "lib/core/err.h"

#include <errno.h>
#include <string.h>

#include "lib/core/text.h"
#include "tests/unit/harness.h"

/* Names and numbers as rpmad-rpc(7) promises them to scripts. */
static const struct {
	int rpc_code;
	const char *name;
	int exit_code;
	bool retryable;
} promised[] = {
	{ -32700, "PARSE_ERROR", 1, false },
	{ -32600, "INVALID_REQUEST", 1, false },
	{ -32601, "METHOD_NOT_FOUND", 11, false },
	{ -32602, "INVALID_PARAMS", 1, false },
	{ -32603, "INTERNAL_ERROR", 1, false },
	{ -32000, "NOT_READY", 9, true },
	{ -32001, "BUSY", 8, true },
	{ -32002, "DENIED", 5, false },
	{ -32003, "TIMEOUT", 4, true },
	{ -32004, "CANCELLED", 1, false },
	{ -32005, "TOO_LARGE", 1, false },
	{ -32006, "TOO_MANY_CLIENTS", 8, true },
	{ -32007, "SHUTTING_DOWN", 9, false },
	{ -32008, "UNSUPPORTED", 1, false },
	{ -32009, "LIMIT", 8, false },
	{ -32010, "SRQ_FULL", 8, true },
	{ -32011, "SRQ_UNSUPPORTED", 1, false },
	{ -32012, "SLOT_BUSY", 1, true },
	{ -32013, "SLOT_RANGE", 1, false },
	{ -32014, "NO_SUCH_CONN", 6, false },
	{ -32015, "NO_SUCH_LISTENER", 6, false },
	{ -32016, "NO_SUCH_TOKEN", 6, false },
	{ -32017, "ALREADY_EXISTS", 7, false },
	{ -32018, "ADDR_NOT_RDMA", 1, false },
	{ -32019, "ADDR_IN_USE", 7, true },
	{ -32020, "WRONG_DEVICE", 1, false },
	{ -32021, "ADDR_UNRESOLVED", 1, true },
	{ -32022, "CONN_REJECTED", 1, false },
	{ -32023, "CONN_UNREACHABLE", 1, true },
	{ -32024, "CONN_LOST", 1, true },
	{ -32025, "DEVICE_GONE", 10, true },
	{ -32026, "MEMLOCK_LIMIT", 1, false },
	{ -32027, "PROVIDER", 1, false },
	{ -32028, "CONFIG_INVALID", 1, false },
};

START_TEST(table_is_as_promised)
{
	const struct err_info *info;
	enum err_code code;
	size_t i;

	/* ERR_NONE is in no document. */
	ck_assert_uint_eq(ARRAY_LEN(promised), ERR_CODE_COUNT - 1);
	for (i = 0; i < ARRAY_LEN(promised); i++) {
		code = err_code_by_name(promised[i].name);
		ck_assert_msg(code != ERR_NONE, "%s is missing", promised[i].name);
		info = err_info(code);
		ck_assert_str_eq(info->name, promised[i].name);
		ck_assert_msg(info->rpc_code == promised[i].rpc_code, "%s", info->name);
		ck_assert_msg(info->exit_code == promised[i].exit_code, "%s",
		    info->name);
		ck_assert_msg(info->retryable == promised[i].retryable, "%s",
		    info->name);
		ck_assert_int_eq(err_code_by_rpc_code(info->rpc_code), (int)code);
	}
}
END_TEST

START_TEST(table_is_complete)
{
	const struct err_info *a, *b;
	unsigned int i, j;

	for (i = 0; i < ERR_CODE_COUNT; i++) {
		a = err_info((enum err_code)i);
		ck_assert_ptr_nonnull(a->name);
		ck_assert_ptr_nonnull(a->meaning);
		ck_assert_msg(a->meaning[0] != '\0', "%s", a->name);
		ck_assert_msg(a->meaning[strlen(a->meaning) - 1] != '.', "%s", a->name);
		ck_assert_msg((i == ERR_NONE) == (a->errnum == 0), "%s", a->name);
		for (j = 0; j < i; j++) {
			b = err_info((enum err_code)j);
			ck_assert_str_ne(a->name, b->name);
			ck_assert_msg(a->rpc_code != b->rpc_code, "%s and %s", a->name,
			    b->name);
		}
	}
}
END_TEST

START_TEST(unknown_codes)
{
	ck_assert_ptr_eq(err_info(ERR_CODE_COUNT), err_info(ERR_INTERNAL_ERROR));
	ck_assert_int_eq(err_code_by_name("srq_full"), ERR_NONE);
	ck_assert_int_eq(err_code_by_name(""), ERR_NONE);
	ck_assert_int_eq(err_code_by_rpc_code(-32768), ERR_NONE);
}
END_TEST

START_TEST(set_fills_and_returns)
{
	struct err err;

	memset(&err, 'x', sizeof(err));
	ck_assert_int_eq(err_set(&err, ERR_BUSY, ENOMEM, "conn %d is %s", 3, "sending"),
	    -EBUSY);
	ck_assert_int_eq(err.code, ERR_BUSY);
	ck_assert_int_eq(err.errnum, ENOMEM);
	ck_assert_str_eq(err.text, "conn 3 is sending");
	ck_assert_str_eq(err.path, "");
	ck_assert_str_eq(err.hint, "");
	err_path(&err, "params.%s", "conn");
	err_hint(&err, "try again in %d ms", 5);
	ck_assert_str_eq(err.path, "params.conn");
	ck_assert_str_eq(err.hint, "try again in 5 ms");
}
END_TEST

START_TEST(internal_error_keeps_the_errno)
{
	ck_assert_int_eq(err_set(NULL, ERR_INTERNAL_ERROR, ENOMEM, "x"), -ENOMEM);
	ck_assert_int_eq(err_set(NULL, ERR_INTERNAL_ERROR, 0, "x"), -EIO);
	err_path(NULL, "x");
	err_hint(NULL, "x");
}
END_TEST

START_TEST(texts_are_cut_between_characters)
{
	struct err err;
	char text[2048];
	size_t i;

	for (i = 0; i + 2 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa9", 2);
	text[i] = '\0';
	(void)err_set(&err, ERR_BUSY, 0, "%s", text);
	err_path(&err, "%s", text);
	err_hint(&err, "x%s", text);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
	ck_assert_uint_eq(strlen(err.path), sizeof(err.path) - 1);
	ck_assert_uint_eq(strlen(err.hint), sizeof(err.hint) - 1);
	ck_assert(text_is_utf8(err.text, strlen(err.text)));
	ck_assert(text_is_utf8(err.path, strlen(err.path)));
	ck_assert(text_is_utf8(err.hint, strlen(err.hint)));
}
END_TEST

START_TEST(texts_are_cleaned)
{
	struct err err;

	(void)err_set(&err, ERR_BUSY, 0, "%s", "a\nb\x1b[31m\xff");
	ck_assert_str_eq(err.text, "a?b?[31m?");
}
END_TEST

START_TEST(errno_names)
{
	char buf[128];
	int errnum;

	ck_assert_str_eq(err_errno_name(ENOMEM), "ENOMEM");
	ck_assert_str_eq(err_errno_name(EREMOTEIO), "EREMOTEIO");
	ck_assert_str_eq(err_errno_name(0), "E?");
	ck_assert_str_eq(err_errno_name(-ENOMEM), "E?");
	ck_assert_int_eq(err_errno_by_name("E?"), 0);
	ck_assert_int_eq(err_errno_by_name("EWHAT"), 0);
	for (errnum = 1; errnum < 140; errnum++)
		if (strcmp(err_errno_name(errnum), "E?") != 0)
			ck_assert_int_eq(err_errno_by_name(err_errno_name(errnum)),
			    errnum);
	ck_assert_str_eq(err_errno_text(ENOENT, buf, sizeof(buf)),
	    "No such file or directory");
	ck_assert_ptr_eq(err_errno_text(9999, buf, sizeof(buf)), buf);
	ck_assert_str_eq(err_errno_text(ENOENT, buf, 8), "No such");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("err");
	TCase *tcase = tcase_create("err");

	tcase_add_test(tcase, table_is_as_promised);
	tcase_add_test(tcase, table_is_complete);
	tcase_add_test(tcase, unknown_codes);
	tcase_add_test(tcase, set_fills_and_returns);
	tcase_add_test(tcase, internal_error_keeps_the_errno);
	tcase_add_test(tcase, texts_are_cut_between_characters);
	tcase_add_test(tcase, texts_are_cleaned);
	tcase_add_test(tcase, errno_names);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
