/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines: the request each one makes, what is refused, help, completion. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/buf.h"
#include "ctl/command.h"
#include "ctl/complete.h"
#include "ctl/exit.h"
#include "ctl/help.h"
#include "ctl/option.h"
#include "ctl/suggest.h"
#include "lib/core/compiler.h"
#include "tests/unit/ctl_harness.h"
#include "tests/unit/harness.h"

static struct capture capture;

/* clang-format off */
static const char *const *const requests[] = {
	ARGS("status"),
	ARGS("stats", "--json"),
	ARGS("stats", "--watch"),
	ARGS("stats", "--watch=2", "--json"),
	ARGS("top", "-d", "2", "--sort", "held"),
	ARGS("wait", "slots.ready>=10"),
	ARGS("post"),
	ARGS("post", "-n", "4"),
	ARGS("post", "-n4"),
	ARGS("post", "--count=4"),
	ARGS("post", "-n", "1", "-n", "2"),
	ARGS("post", "--slot", "3", "--len", "1KiB", "--context", "a \"label\""),
	ARGS("poll"),
	ARGS("poll", "--json"),
	ARGS("poll", "--json", "-n", "1024", "-w", "2.5", "--encoding", "none"),
	ARGS("poll", "--wait", "250ms", "--max-bytes", "64KiB"),
	ARGS("poll", "--raw"),
	ARGS("poll", "--raw", "--length-prefix", "-n", "3"),
	ARGS("poll", "--raw", "--in-place"),
	ARGS("poll", "--no-ack", "--lease", "2m"),
	ARGS("poll", "--follow"),
	ARGS("poll", "--follow", "--json", "-n", "3"),
	ARGS("poll", "--follow", "--raw", "--length-prefix"),
	ARGS("poll", "--exec", "--", "true"),
	ARGS("poll", "--exec", "-n", "2", "-w", "1", "cat", "-"),
	ARGS("ack", "0123456789abcdef.7.1"),
	ARGS("ack", "0123456789abcdef.7.1", "--", "-odd"),
	ARGS("nack", "0123456789abcdef.7.1", "0123456789abcdef.8.1"),
	ARGS("send", "3", "--text", "hello"),
	ARGS("send", "3", "--text", "", "--imm", "4294967295"),
	ARGS("send", "3", "--text", "hello", "--chunk", "2"),
	ARGS("send", "3", "--text", "hello", "--timeout-ms", "500"),
	ARGS("send", "192.0.2.7:7471", "--text", "hello"),
	ARGS("send", "192.0.2.7:7471", "--text", "hello", "--timeout-ms", "40000"),
	ARGS("listen", "192.0.2.7:7471"),
	ARGS("listen", "[2001:db8::1]:0"),
	ARGS("listen", "[fe80::1%lo]:7471"),
	ARGS("unlisten", "1"),
	ARGS("listeners"),
	ARGS("conns"),
	ARGS("conns", "--closed"),
	ARGS("conn", "9007199254740991"),
	ARGS("connect", "192.0.2.7:7471"),
	ARGS("connect", "192.0.2.7:7471", "--timeout-ms", "2s"),
	ARGS("disconnect", "3"),
	ARGS("srq"),
	ARGS("devices"),
	ARGS("stop"),
	ARGS("methods"),
	ARGS("call", "recv.post"),
	ARGS("call", "recv.post", "{\"count\": 4, \"x\": [null, 1.5]}"),
};

static const char *const *const mistakes[] = {
	ARGS(""),
	ARGS("stauts"),
	ARGS("completely-other"),
	ARGS("status", "extra"),
	ARGS("status", "-n", "1"),
	ARGS("status", "--jsn"),
	ARGS("status", "--json=yes"),
	ARGS("status", "-hV"),
	ARGS("status", "-t", "0"),
	ARGS("status", "-t", "soon"),
	ARGS("status", "-t"),
	ARGS("status", "-i", "a/b"),
	ARGS("status", "-i", ""),
	ARGS("status", "-i", "a", "-s", "b"),
	ARGS("stats", "--watch", "2"),
	ARGS("stats", "--watch="),
	ARGS("stats", "--watch=0"),
	ARGS("stats", "--watch=61m"),
	ARGS("top"),
	ARGS("top", "1"),
	ARGS("top", "--once", "--json"),
	ARGS("top", "-d", "99ms"),
	ARGS("top", "-d", "61"),
	ARGS("top", "--sort", "peer"),
	ARGS("wait"),
	ARGS("wait", ""),
	ARGS("wait", "slots.ready"),
	ARGS("wait", ">=10"),
	ARGS("wait", "slots.ready=>10"),
	ARGS("wait", "slots.ready>=ten"),
	ARGS("wait", "slots.ready>=-1"),
	ARGS("wait", "slots.ready>=1.5"),
	ARGS("wait", "slots.ready>="),
	ARGS("wait", "slots.ready>=99999999999999999999"),
	ARGS("wait", "slots.ready", ">=", "10"),
	ARGS("post", "-n", "0"),
	ARGS("post", "-n", "65537"),
	ARGS("post", "-n", "-1"),
	ARGS("post", "-n", "1x"),
	ARGS("post", "-n", "99999999999999999999"),
	ARGS("post", "--count"),
	ARGS("post", "--cout", "1"),
	ARGS("post", "--slot", "1", "--len", "3MiB"),
	ARGS("post", "\xff"),
	ARGS("post", "--context", "\xff"),
	ARGS("poll", "--ack", "auto"),
	ARGS("poll", "--encoding", "hex"),
	ARGS("poll", "-w", "601"),
	ARGS("poll", "--no-ack"),
	ARGS("poll", "--lease", "1"),
	ARGS("poll", "--length-prefix"),
	ARGS("poll", "--in-place"),
	ARGS("poll", "--raw", "--in-place", "--max-bytes", "1"),
	ARGS("poll", "--raw", "--json"),
	ARGS("poll", "--raw", "--encoding", "text"),
	ARGS("poll", "--raw", "-n", "2"),
	ARGS("poll", "--raw", "--follow"),
	ARGS("poll", "--follow", "-w", "1"),
	ARGS("poll", "true"),
	ARGS("poll", "--exec"),
	ARGS("poll", "--jobs", "2"),
	ARGS("poll", "--job-timeout", "1"),
	ARGS("poll", "--dead-letter", "/tmp"),
	ARGS("poll", "--exec", "--jobs", "0", "true"),
	ARGS("poll", "--exec", "--jobs", "257", "true"),
	ARGS("poll", "--exec", "--retries", "1", "true"),
	ARGS("poll", "--exec", "--retry-delay", "1", "true"),
	ARGS("poll", "--exec", "--json", "true"),
	ARGS("poll", "--exec", "--raw", "true"),
	ARGS("poll", "--exec", "--encoding", "text", "true"),
	ARGS("poll", "--exec", "--no-ack", "--lease", "1", "true"),
	ARGS("ack"),
	ARGS("send"),
	ARGS("send", "0", "--text", "x"),
	ARGS("send", "nowhere", "--text", "x"),
	ARGS("send", "1", "-", "--text", "x"),
	ARGS("send", "1", "/nonexistent/file"),
	ARGS("send", "1", "--text", "x", "--imm", "4294967296"),
	ARGS("send", "1", "--text", "x", "--chunk", "0"),
	ARGS("listen", "192.0.2.7"),
	ARGS("listen", "192.0.2.7:65536"),
	ARGS("listen", "2001:db8::1"),
	ARGS("listen", "[2001:db8::x]:1"),
	ARGS("listen", "[fe80::1%no-such-if]:1"),
	ARGS("conn"),
	ARGS("conn", "one"),
	ARGS("conn", "0"),
	ARGS("conn", "1", "2"),
	ARGS("call"),
	ARGS("call", "x", "{"),
	ARGS("call", "x", "[]"),
	ARGS("call", "x", "{\"a\":1,\"a\":2}"),
	ARGS("batch", "post"),
	ARGS("completion"),
	ARGS("completion", "fishy"),
	ARGS("help", "pol"),
	ARGS("help", "post", "poll"),
};
/* clang-format on */

static void
add_line(struct buf *buf, const char *const *argv)
{
	buf_puts(buf, "$ rpmactl");
	for (; *argv; argv++) {
		buf_puts(buf, " '");
		buf_add_escaped(buf, *argv, strlen(*argv));
		buf_puts(buf, "'");
	}
	buf_puts(buf, "\n");
}

START_TEST(each_request)
{
	struct buf all = { 0 };
	const char *argv[32] = { "--dry-run" };
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(requests); i++) {
		for (k = 0; requests[i][k]; k++)
			argv[k + 1] = requests[i][k];
		argv[k + 1] = NULL;
		ctl_run(&capture, NULL, argv);
		ck_assert_str_eq(capture.err, "");
		ck_assert_int_eq(capture.status, 0);
		add_line(&all, requests[i]);
		buf_puts(&all, capture.out);
	}
	golden_check("requests", all.data, all.len);
	buf_free(&all);
}
END_TEST

/* Exit status 2, one line on stderr, nothing on stdout, and no socket was opened. */
START_TEST(each_mistake)
{
	struct buf all = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_LEN(mistakes); i++) {
		ctl_run(&capture, NULL, mistakes[i]);
		ck_assert_msg(capture.status == EXIT_STATUS_USAGE, "%zu: %d %s", i,
		    capture.status, capture.err);
		ck_assert_str_eq(capture.out, "");
		ck_assert_ptr_eq(strchr(capture.err, '\n'),
		    capture.err + strlen(capture.err) - 1);
		add_line(&all, mistakes[i]);
		buf_add_escaped(&all, capture.err, strlen(capture.err) - 1);
		buf_puts(&all, "\n");
	}
	golden_check("mistakes", all.data, all.len);
	buf_free(&all);
}
END_TEST

START_TEST(no_command)
{
	ctl_run(&capture, NULL, (const char *const[]){ NULL });
	ck_assert_int_eq(capture.status, EXIT_STATUS_USAGE);
	ck_assert_str_eq(capture.err,
	    "rpmactl: no command was given (rpmactl help lists them)\n");
}
END_TEST

START_TEST(global_options_anywhere)
{
	ctl_run(&capture, NULL, ARGS("--dry-run", "post", "-n", "2"));
	ck_assert_int_eq(capture.status, 0);
	ck_assert_uint_gt(capture.out_len, 0);
	ctl_run(&capture, NULL, ARGS("post", "--dry-run", "-n", "2"));
	ck_assert_int_eq(capture.status, 0);
	ck_assert_uint_gt(capture.out_len, 0);
}
END_TEST

/* Which socket is asked shows in the message about the one that is not there. */
static void
check_socket(const char *const *argv, const char *path)
{
	ctl_run(&capture, NULL, argv);
	ck_assert_int_eq(capture.status, EXIT_STATUS_NO_DAEMON);
	ck_assert_msg(strstr(capture.err, path) != NULL, "%s: %s", path, capture.err);
}

START_TEST(socket_path)
{
	(void)unsetenv("RPMAD_SOCKET");
	check_socket(ARGS("status", "-i", "nosuch"), RPMAD_RUNSTATEDIR "/nosuch.sock");
	check_socket(ARGS("status", "-s", "/nonexistent/a"), "/nonexistent/a");
	(void)setenv("RPMAD_SOCKET", "/nonexistent/b", 1);
	check_socket(ARGS("status"), "/nonexistent/b");
	check_socket(ARGS("status", "--socket=/nonexistent/c"), "/nonexistent/c");
	check_socket(ARGS("-i", "nosuch", "status"), RPMAD_RUNSTATEDIR "/nosuch.sock");
}
END_TEST

START_TEST(version_and_help)
{
	ctl_run(&capture, NULL, ARGS("--version"));
	ck_assert_int_eq(capture.status, 0);
	ck_assert_str_eq(capture.out, "rpmactl " PACKAGE_VERSION "\n");
	ctl_run(&capture, NULL, ARGS("status", "-V"));
	ck_assert_str_eq(capture.out, "rpmactl " PACKAGE_VERSION "\n");
	ctl_run(&capture, NULL, ARGS("--help"));
	ck_assert_int_eq(capture.status, 0);
	ck_assert_str_eq(capture.err, "");
	ck_assert_ptr_nonnull(strstr(capture.out, "usage: rpmactl"));
}
END_TEST

/* The page of a command by both ways; every option and the example are in it. */
START_TEST(help_of_each_command)
{
	const struct command *command = &commands[_i];
	char name[OPTION_NAME_MAX];
	struct option option;
	char *page;
	size_t i;

	ctl_run(&capture, NULL, ARGS("help", command->name));
	ck_assert_int_eq(capture.status, 0);
	page = strdup(capture.out);
	ctl_run(&capture, NULL, ARGS(command->name, "--help"));
	ck_assert_int_eq(capture.status, 0);
	ck_assert_str_eq(capture.out, page);
	for (i = 0; option_at(command, i, &option); i++)
		if (option.owner != OPTION_GLOBAL)
			ck_assert_ptr_nonnull(strstr(page,
			    option_name(option.spec, name)));
	ck_assert_ptr_nonnull(strstr(page, command->example));
	ck_assert_ptr_nonnull(strstr(page, "exit status:\n   0  done\n"));
	if (strcmp(command->name, "poll") == 0)
		golden_check("help_poll", page, strlen(page));
	free(page);
	ctl_run(&capture, NULL, ARGS("help"));
	ck_assert_ptr_nonnull(strstr(capture.out, command->name));
}
END_TEST

/* A plain command has what it needs; no two options of a command have one name. */
START_TEST(table_is_sound)
{
	const struct command *command = &commands[_i];
	char name[OPTION_NAME_MAX], other[OPTION_NAME_MAX];
	struct option a, b;
	size_t i, k;

	ck_assert(command->run || (command->view && command->method < METHOD_COUNT));
	ck_assert(command->help && command->usage && command->example);
	ck_assert(command->min_words <= command->max_words);
	ck_assert_int_eq(strncmp(command->example, "rpmactl", 7) == 0 ||
		command->method == METHOD_COUNT,
	    1);
	for (i = 0; option_at(command, i, &a); i++) {
		for (k = 0; k < i && option_at(command, k, &b); k++) {
			ck_assert_str_ne(option_name(a.spec, name),
			    option_name(b.spec, other));
			ck_assert(!option_letter(a.spec) ||
			    option_letter(a.spec) != option_letter(b.spec));
		}
	}
}
END_TEST

/* Every method but rpc.hello, which each connection begins with, and those of a
 * subscription, which makes sense on a connection that stays, has its command. */
START_TEST(each_method_has_a_command)
{
	size_t i;

	if (_i == METHOD_RPC_HELLO || _i == METHOD_POOL_MAP || _i == METHOD_RECV_RING ||
	    _i == METHOD_EVENT_SUBSCRIBE || _i == METHOD_EVENT_UNSUBSCRIBE)
		return;
	for (i = 0; i < command_count; i++)
		if (commands[i].method == (enum method_id)_i)
			return;
	ck_abort_msg("%s has no command", methods[_i].name);
}
END_TEST

static void
check_words(const char *const *words, const char *wanted)
{
	struct buf buf = { 0 };
	char *copies[8] = { NULL };
	size_t n;

	for (n = 0; words[n]; n++)
		copies[n] = strdup(words[n]);
	complete_words(&buf, copies, n);
	ck_assert_msg(strstr(buf_text(&buf), wanted) != NULL, "%s not in %s", wanted,
	    buf_text(&buf));
	while (n > 0)
		free(copies[--n]);
	buf_free(&buf);
}

START_TEST(completion_words)
{
	struct buf buf = { 0 };
	char wait[] = "-w", poll[] = "poll";
	char *words[] = { poll, wait };

	check_words((const char *const[]){ NULL }, "post\npoll\n");
	check_words(ARGS("--json"), "post\npoll\n");
	check_words(ARGS("-s", "x"), "post\npoll\n");
	check_words(ARGS("poll"), "--follow\n");
	check_words(ARGS("poll", "-n", "3"), "--follow\n");
	check_words(ARGS("poll", "--encoding"), "base64\ntext\nnone\n");
	check_words(ARGS("help"), "status\n");
	check_words(ARGS("call"), "recv.post\n");
	check_words(ARGS("completion"), "bash\n");
	complete_words(&buf, words, 2); /* a number is to come */
	ck_assert_str_eq(buf_text(&buf), "");
	buf_free(&buf);
}
END_TEST

START_TEST(completion_script_is_the_installed_one)
{
	const char *top = getenv("top_srcdir");
	static char text[8192];
	char path[512];
	FILE *file;
	size_t n;

	(void)snprintf(path, sizeof(path), "%s/ctl/rpmactl.bash", top ? top : ".");
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	(void)fclose(file);
	text[n] = '\0';
	ctl_run(&capture, NULL, ARGS("completion", "bash"));
	ck_assert_int_eq(capture.status, 0);
	ck_assert_str_eq(capture.out, text);
}
END_TEST

START_TEST(suggestions)
{
	struct suggest none = { .word = "x" };

	ck_assert_str_eq(command_suggest("stauts"), "status");
	ck_assert_str_eq(command_suggest("pst"), "post");
	ck_assert_str_eq(command_suggest("disconect"), "disconnect");
	ck_assert_str_eq(command_suggest("listner"), "listen");
	ck_assert_ptr_null(command_suggest("zzz"));
	ck_assert_ptr_null(command_suggest(""));
	ck_assert_ptr_null(
	    command_suggest("a-word-that-is-longer-than-any-command-is"));
	suggest_offer(&none, "y");
	ck_assert_ptr_null(none.best);
}
END_TEST

START_TEST(exit_statuses)
{
	unsigned int i, k;

	for (i = 0; i < EXIT_STATUS_COUNT; i++)
		for (k = 0; k < i; k++)
			ck_assert_str_ne(exit_status_meaning((enum exit_status)i),
			    exit_status_meaning((enum exit_status)k));
	for (i = 1; i < ERR_CODE_COUNT; i++)
		ck_assert(err_info((enum err_code)i)->exit_code > 0 &&
		    err_info((enum err_code)i)->exit_code < EXIT_STATUS_COUNT);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("command");
	TCase *tcase = tcase_create("command");

	tcase_add_test(tcase, each_request);
	tcase_add_test(tcase, each_mistake);
	tcase_add_test(tcase, no_command);
	tcase_add_test(tcase, global_options_anywhere);
	tcase_add_test(tcase, socket_path);
	tcase_add_test(tcase, version_and_help);
	tcase_add_loop_test(tcase, help_of_each_command, 0, (int)command_count);
	tcase_add_loop_test(tcase, table_is_sound, 0, (int)command_count);
	tcase_add_loop_test(tcase, each_method_has_a_command, 0, METHOD_COUNT);
	tcase_add_test(tcase, completion_words);
	tcase_add_test(tcase, completion_script_is_the_installed_one);
	tcase_add_test(tcase, suggestions);
	tcase_add_test(tcase, exit_statuses);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
