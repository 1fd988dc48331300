/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool's memory in the hands of a client: read in place, and never written. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "tests/unit/crig.h"
#include "tests/unit/harness.h"

#define SLOTS     16
#define SLOT_SIZE 4096
#define NOBODY    65534

#define LINE(method) "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\"}\n"

static struct crig rig;
static struct crig_client a, b;

static void
setup(void)
{
	crig_start_two(&rig, "{\"pool\":{\"slots\":16,\"share\":true}}", &a, &b);
}

static void
teardown(void)
{
	crig_end_two(&rig, &a, &b);
}

/* What a client has got, as far as it fits, and the descriptor beside it. */
struct got {
	char *bytes;
	size_t size, len;
	int fd;         /* -1: none came */
	size_t fd_from; /* it came with one of the bytes fd_from .. fd_to - 1 */
	size_t fd_to;
	unsigned int fds;
};

static void
note_fd(struct got *got, struct msghdr *msg, size_t n)
{
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg);

	ck_assert(!(msg->msg_flags & MSG_CTRUNC));
	if (!cmsg)
		return;
	ck_assert_int_eq(cmsg->cmsg_type, SCM_RIGHTS);
	ck_assert_uint_eq(cmsg->cmsg_len, CMSG_LEN(sizeof(int)));
	memcpy(&got->fd, CMSG_DATA(cmsg), sizeof(int));
	got->fd_from = got->len;
	got->fd_to = got->len + n;
	got->fds++;
}

/* Read until so many lines are there. */
static void
take(struct crig_client *client, struct got *got, unsigned int lines)
{
	char control[CMSG_SPACE(8 * sizeof(int))];
	unsigned int turns = 0;
	ssize_t n;

	while (lines > 0) {
		struct iovec iov = { got->bytes + got->len, got->size - got->len };
		struct msghdr msg = { .msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control,
			.msg_controllen = sizeof(control) };

		ck_assert_uint_gt(iov.iov_len, 0);
		n = recvmsg(client->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		if (n < 0) {
			ck_assert_int_eq(errno, EAGAIN);
			ck_assert_uint_lt(++turns, 1000);
			ck_assert_int_eq(loop_turn(rig.loop, 10), 0);
			continue;
		}
		ck_assert_int_gt(n, 0);
		note_fd(got, &msg, (size_t)n);
		for (; n > 0; n--)
			lines -= got->bytes[got->len++] == '\n';
	}
}

/* Ask, and take the descriptor and the result. */
static int
map(struct crig_client *client, json_t **result)
{
	static char bytes[4096];
	struct got got = { .bytes = bytes, .size = sizeof(bytes), .fd = -1 };
	json_t *reply;

	crig_puts(client, LINE("pool.map"));
	take(client, &got, 1);
	reply = json_loadb(bytes, got.len, 0, NULL);
	*result = json_incref(json_object_get(reply, "result"));
	ck_assert_ptr_nonnull(*result);
	json_decref(reply);
	ck_assert_uint_eq(got.fds, 1);
	ck_assert_uint_eq(got.fd_from, 0);
	return got.fd;
}

/* ---- what it is for ---- */

START_TEST(test_read_in_place)
{
	json_t *result, *completion;
	const char *base, *data;
	int fd = map(&a, &result);

	ck_assert_str_eq(crig_text(result, "instance"), "c0ffee0123456789");
	ck_assert_int_eq(crig_integer(result, "slots"), SLOTS);
	ck_assert_int_eq(crig_integer(result, "slot_size"), SLOT_SIZE);
	ck_assert_int_eq(crig_integer(result, "bytes"), 4194304);
	ck_assert_int_eq(crig_integer(result, "page_size"), 2097152);
	ck_assert_uint_eq(json_object_size(result), 5);
	json_decref(result);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_ne(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK, 0);
	base = mmap(NULL, SLOTS * SLOT_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(base, MAP_FAILED);
	crig_arrive(&rig, "first");
	crig_arrive(&rig, "second");
	result = crig_call(&a, "recv.poll", "{\"encoding\":\"none\",\"max\":256}");
	ck_assert_uint_eq(crig_count(result), 2);
	completion = crig_completion(result, 1);
	ck_assert(json_is_null(json_object_get(completion, "data")));
	ck_assert_int_eq(crig_integer(completion, "len"), 6);
	data = base + crig_integer(completion, "slot") * SLOT_SIZE;
	ck_assert_mem_eq(data, "second", 6);
	json_decref(result);
	(void)close(fd);
	(void)munmap((void *)(uintptr_t)base, SLOTS * SLOT_SIZE);
}
END_TEST

/* A round of 256 is one exchange, however long the messages are. */
START_TEST(test_one_exchange)
{
	json_t *result;
	char *params;
	size_t i, len;

	teardown();
	crig_start_two(&rig,
	    "{\"pool\":{\"slots\":512,\"slot_size\":16384,\"share\":true}}", &a, &b);
	crig_post(&rig, 512);
	for (i = 0; i < 512; i++)
		stub_engine_arrive(rig.engine, rig.engine->data, 16384);
	(void)close(map(&a, &result));
	json_decref(result);
	result = crig_call(&a, "recv.poll", "{\"encoding\":\"none\",\"max\":256}");
	ck_assert_uint_eq(crig_count(result), 256);
	params = calloc(256, 64);
	ck_assert_ptr_nonnull(params);
	len = (size_t)sprintf(params,
	    "{\"encoding\":\"none\",\"max\":256,\"ack_tokens\":[");
	for (i = 0; i < 256; i++)
		len += (size_t)sprintf(params + len, "%s\"%s\"", i ? "," : "",
		    crig_text(crig_completion(result, i), "token"));
	(void)sprintf(params + len, "]}");
	json_decref(result);
	result = crig_call(&a, "recv.poll", params);
	ck_assert_int_eq(crig_integer(result, "acked"), 256);
	ck_assert_uint_eq(crig_count(result), 256);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).free, 256);
	json_decref(result);
	free(params);
}
END_TEST

/* What would free a slot under the reader's eyes is refused; with data it is not. */
START_TEST(test_leases)
{
	json_t *result, *error;

	crig_arrive(&rig, "x");
	crig_arrive(&rig, "y");
	crig_arrive(&rig, "z");
	(void)close(map(&a, &result));
	json_decref(result);
	error = crig_fail(&a, "recv.poll", "{\"encoding\":\"none\",\"lease_ms\":1000}",
	    "INVALID_PARAMS");
	ck_assert_str_eq(crig_text(json_object_get(error, "data"), "path"),
	    "params.lease_ms");
	json_decref(error);
	error = crig_fail(&a, "recv.poll", "{\"encoding\":\"none\",\"ack\":\"auto\"}",
	    "INVALID_PARAMS");
	ck_assert_str_eq(crig_text(json_object_get(error, "data"), "path"),
	    "params.ack");
	json_decref(error);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).ready, 3);
	json_decref(crig_call(&a, "recv.poll", "{\"max\":1,\"lease_ms\":60000}"));
	json_decref(crig_call(&b, "recv.poll",
	    "{\"max\":1,\"encoding\":\"none\",\"ack\":\"auto\"}"));
	/* Bound to the connection: it goes back with it. */
	json_decref(crig_call(&a, "recv.poll", "{\"max\":1,\"encoding\":\"none\"}"));
	ck_assert_uint_eq(stub_engine_counts(rig.engine).leased, 2);
	crig_close(&a);
	crig_settle(&rig);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).leased, 1);
	ck_assert_uint_eq(stub_engine_counts(rig.engine).ready, 1);
	crig_open(&rig, &a);
}
END_TEST

/* ---- what it is not for ---- */

/* In a process that is neither root nor has any of its rights. return   0: cannot write */
static int
try_to_reopen(int fd)
{
	char path[64];

	if (geteuid() == 0 &&
	    (setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
		setresuid(NOBODY, NOBODY, NOBODY) != 0))
		return 2;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (open(path, O_RDWR | O_CLOEXEC) >= 0 ||
	    open(path, O_WRONLY | O_CLOEXEC) >= 0 || truncate(path, 0) == 0)
		return 1;
	return errno == EACCES ? 0 : 3;
}

START_TEST(test_never_written)
{
	json_t *result;
	int fd = map(&a, &result), status;
	char *base;
	pid_t pid;

	json_decref(result);
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	ck_assert_int_eq(write(fd, "x", 1), -1);
	ck_assert_int_eq(errno, EBADF);
	ck_assert_int_ne(ftruncate(fd, 0), 0);
	ck_assert_int_ne(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			     SLOT_SIZE),
	    0);
	ck_assert_int_ne(fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0);
	ck_assert_ptr_eq(mmap(NULL, SLOT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			     0),
	    MAP_FAILED);
	ck_assert_int_eq(errno, EACCES);
	base = mmap(NULL, SLOT_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(base, MAP_FAILED);
	ck_assert_int_ne(mprotect(base, SLOT_SIZE, PROT_READ | PROT_WRITE), 0);
	ck_assert_int_eq(errno, EACCES);
	(void)munmap(base, SLOT_SIZE);
	/* A copy of one's own may be written; it stays one's own. */
	base = mmap(NULL, SLOT_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(base, MAP_FAILED);
	memset(base, '!', SLOT_SIZE);
	(void)munmap(base, SLOT_SIZE);
	ck_assert_int_ne(rig.engine->data[0], '!');
	pid = fork();
	if (pid == 0)
		_exit(try_to_reopen(fd));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	(void)close(fd);
}
END_TEST

START_TEST(test_off_unless_given)
{
	json_t *error;

	teardown();
	crig_start_two(&rig, "{\"pool\":{\"slots\":16}}", &a, &b);
	error = crig_fail(&a, "pool.map", NULL, "UNSUPPORTED");
	ck_assert_ptr_nonnull(strstr(crig_text(json_object_get(error, "data"), "hint"),
	    "pool.share"));
	json_decref(error);
	/* It is looked up each time. */
	rig.settings->pool_share = true;
	(void)close(map(&a, &error));
	json_decref(error);
}
END_TEST

START_TEST(test_refused)
{
	static const char batch[] =
	    "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pool.map\"}]\n";
	json_t *result, *reply;
	unsigned int fds = harness_open_fds();

	crig_puts(&a, batch);
	reply = crig_reply(&a);
	result = json_object_get(json_array_get(reply, 0), "error");
	ck_assert_str_eq(crig_text(json_object_get(result, "data"), "name"),
	    "UNSUPPORTED");
	json_decref(reply);
	(void)close(map(&a, &result));
	json_decref(result);
	json_decref(crig_fail(&a, "pool.map", NULL, "ALREADY_EXISTS"));
	/* Nobody waits for the answer to a notification. */
	crig_puts(&b, "{\"jsonrpc\":\"2.0\",\"method\":\"pool.map\"}\n");
	crig_settle(&rig);
	ck_assert(crig_is_silent(&b));
	(void)close(map(&b, &result));
	json_decref(result);
	ck_assert_uint_eq(harness_open_fds(), fds);
}
END_TEST

START_TEST(test_roles)
{
	char config[256];

	teardown();
	(void)snprintf(config, sizeof(config),
	    "{\"pool\":{\"slots\":16,\"share\":true},\"control\":{\"roles\":{"
	    "\"admin\":{},\"post\":{},\"read\":{\"users\":[\"%s\"]}}}}",
	    geteuid() == 0 ? "root" : "nobody");
	crig_start_two(&rig, config, &a, &b);
	json_decref(crig_fail(&a, "pool.map", NULL, "DENIED"));
	rpc_begin_stop(rig.rpc);
	teardown();
	setup();
	rpc_begin_stop(rig.rpc);
	json_decref(crig_fail(&a, "pool.map", NULL, "SHUTTING_DOWN"));
}
END_TEST

/* ---- its way ---- */

/* It comes with its own reply, not with what was asked before or behind. */
START_TEST(test_order)
{
	static char bytes[4194304];
	struct got got = { .bytes = bytes, .size = sizeof(bytes), .fd = -1 };
	const char *at;
	json_t *reply;
	int i;

	/* More than the socket takes at once. */
	for (i = 0; i < 40; i++)
		crig_puts(&a, LINE("rpc.list"));
	crig_puts(&a, LINE("pool.map") LINE("rpc.hello"));
	crig_settle(&rig);
	take(&a, &got, 42);
	ck_assert_uint_eq(got.fds, 1);
	for (i = 0, at = bytes; i < 40; i++)
		at = strchr(at, '\n') + 1;
	ck_assert_uint_le(got.fd_from, (size_t)(at - bytes));
	ck_assert_uint_gt(got.fd_to, (size_t)(at - bytes));
	reply = json_loadb(at, (size_t)(strchr(at, '\n') - at), 0, NULL);
	ck_assert_int_eq(crig_integer(json_object_get(reply, "result"), "slots"),
	    SLOTS);
	json_decref(reply);
	(void)close(got.fd);
}
END_TEST

/* A client that leaves, read or unread, leaves no descriptor behind. */
START_TEST(test_leaving)
{
	unsigned int fds = harness_open_fds();
	int i;

	for (i = 0; i < 3; i++) {
		struct crig_client c;
		int n;

		crig_open(&rig, &c);
		/* In the socket; behind what is not read; asked by one that is gone. */
		for (n = 0; n < 40 && i == 1; n++)
			crig_puts(&c, LINE("rpc.list"));
		crig_puts(&c, LINE("pool.map"));
		if (i < 2)
			crig_settle(&rig);
		crig_close(&c);
		crig_settle(&rig);
		ck_assert_uint_eq(harness_open_fds(), fds);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("rpc_pool");
	TCase *tc = tcase_create("rpc_pool");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_read_in_place);
	tcase_add_test(tc, test_one_exchange);
	tcase_add_test(tc, test_leases);
	tcase_add_test(tc, test_never_written);
	tcase_add_test(tc, test_off_unless_given);
	tcase_add_test(tc, test_refused);
	tcase_add_test(tc, test_roles);
	tcase_add_test(tc, test_order);
	tcase_add_test(tc, test_leaving);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
