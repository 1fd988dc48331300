/* SPDX-License-Identifier: BSD-3-Clause */
/* The receive engine over the doubles: its start, limits and listeners. */
#include <config.h>

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "daemon/devnode.h"
#include "daemon/sender.h"
#include "lib/core/addr.h"
#include "tests/unit/engine_rig.h"
#include "tests/unit/harness.h"

static struct rig rig;

/* What is found out about nodes that may not be opened. */
static int forbidden_errno;
static char asked_device[64];

int __wrap_devnode_forbidden(const char *root, const char *class, const char *device,
    char path[DEVNODE_PATH_MAX]);

int
__wrap_devnode_forbidden(const char *root, const char *class, const char *device,
    char path[DEVNODE_PATH_MAX])
{
	ck_assert_str_eq(root, DEVNODE_ROOT);
	ck_assert_str_eq(class, DEVNODE_CLASS);
	(void)snprintf(asked_device, sizeof(asked_device), "%s", device);
	(void)snprintf(path, DEVNODE_PATH_MAX, "/dev/infiniband/uverbs7");
	return forbidden_errno;
}

/* Whether the node of the device that was opened is there. */
static bool is_node_gone;

void __wrap_devnode_find(const char *class, const char *device, struct devnode *out);
bool __wrap_devnode_is_gone(const char *class, const struct devnode *node);

void
__wrap_devnode_find(const char *class, const char *device, struct devnode *out)
{
	ck_assert_str_eq(class, DEVNODE_CLASS);
	ck_assert_str_eq(device, "fake0");
	*out = (struct devnode){ .name = "uverbs7", .inode = 77 };
}

bool
__wrap_devnode_is_gone(const char *class, const struct devnode *node)
{
	ck_assert_str_eq(class, DEVNODE_CLASS);
	ck_assert_str_eq(node->name, "uverbs7");
	return is_node_gone && node->inode == 77;
}

static void
set_up(void)
{
	is_node_gone = false;
	fake_reset();
	rig_settings(&rig);
}

START_TEST(test_device_too_small)
{
	fake_options()->max_srq_wr = 31;
	ck_assert_int_ne(rig_start(&rig), 0);
	ck_assert_int_eq(rig.err.code, ERR_LIMIT);
	ck_assert_str_eq(rig.err.path, "pool.slots");
	rig_end(&rig);
	rig_settings(&rig);
	fake_options()->max_srq_wr = 0;
	ck_assert_int_ne(rig_start(&rig), 0);
	ck_assert_int_eq(rig.err.code, ERR_SRQ_UNSUPPORTED);
	rig_end(&rig);
	rig_settings(&rig);
	fake_options()->max_cqe = 64;
	ck_assert_int_ne(rig_start(&rig), 0);
	ck_assert_int_eq(rig.err.code, ERR_LIMIT);
	rig_end(&rig);
}
END_TEST

/* A node that may not be opened is said behind what was looked for, and in its place never. */
START_TEST(test_forbidden_device)
{
	char name[sizeof(rig.settings.device)] = "mlx9_9";

	forbidden_errno = EACCES;
	rig.settings.listen_count = 0;
	(void)snprintf(rig.settings.device, sizeof(rig.settings.device), "%s", name);
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_WAITING_FOR_DEVICE);
	ck_assert_str_eq(asked_device, name);
	ck_assert_ptr_nonnull(strstr(engine_reason(rig.engine),
	    "there is no RDMA device mlx9_9; device_forbidden: /dev/infiniband/uverbs7 "
	    "cannot be opened (Permission denied)"));
	ck_assert_ptr_nonnull(strstr(engine_reason(rig.engine), "restart the service"));
	rig_end(&rig);
	rig_settings(&rig);
	ck_assert_int_eq(addr_parse_hostport("192.0.2.9:7471", &rig.settings.listen[0],
			     &rig.err),
	    0);
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_str_eq(asked_device, "");
	ck_assert_ptr_nonnull(strstr(engine_reason(rig.engine),
	    "no RDMA device has the address 192.0.2.9; device_forbidden: "));
	rig_end(&rig);
	forbidden_errno = 0;
}
END_TEST

START_TEST(test_too_many_send_slots)
{
	rig.settings.send_slots = 64;
	fake_options()->max_cqe = 127;
	ck_assert_int_ne(rig_start(&rig), 0);
	ck_assert_int_eq(rig.err.code, ERR_LIMIT);
	ck_assert_str_eq(rig.err.path, "send.slots");
	ck_assert_ptr_nonnull(strstr(rig.err.hint, "at most 63"));
	rig_end(&rig);
	rig_settings(&rig);
	rig.settings.send_slots = 63;
	ck_assert_int_eq(rig_start(&rig), 0);
	rig_end(&rig);
}
END_TEST

START_TEST(test_memlock_limit)
{
	struct rlimit limit = { .rlim_cur = 4096, .rlim_max = 4096 };

	ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	fake_options()->memlock_bytes = 1;
	ck_assert_int_ne(rig_start(&rig), 0);
	ck_assert_int_eq(rig.err.code, ERR_MEMLOCK_LIMIT);
	ck_assert_ptr_nonnull(strstr(rig.err.text, "4096"));
	ck_assert_ptr_nonnull(strstr(rig.err.hint, "LimitMEMLOCK=infinity"));
	rig_end(&rig);
}
END_TEST

START_TEST(test_memory_region_limit)
{
	rig.settings.pool_slot_size = 4096;
	fake_options()->max_mr_bytes = 32 * 4096 - 1;
	ck_assert_int_ne(rig_start(&rig), 0);
	ck_assert_int_eq(rig.err.code, ERR_LIMIT);
	ck_assert_ptr_nonnull(strstr(rig.err.text, "needs 131072 bytes"));
	ck_assert_ptr_nonnull(strstr(rig.err.text, "at most 131071"));
	ck_assert_ptr_nonnull(strstr(rig.err.hint, "pool.slots"));
	rig_end(&rig);
}
END_TEST

START_TEST(test_effective_depth)
{
	struct srq_info info;

	fake_options()->srq_pow2 = true;
	ck_assert_int_eq(rig_start(&rig), 0);
	engine_srq_info(rig.engine, &info);
	ck_assert_uint_eq(info.asked, 32);
	ck_assert_uint_eq(info.effective, 63);
	rig_end(&rig);
}
END_TEST

START_TEST(test_listeners)
{
	struct sockaddr_storage addr;
	struct listener_info info, again;

	rig.settings.listen_count = 0;
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_WAITING_FOR_LISTENER);
	fake_addr_local("192.0.2.7");
	ck_assert_int_eq(addr_parse("192.0.2.7", 7471, &addr, &rig.err), 0);
	ck_assert_int_ne(engine_listener_add(rig.engine, &addr, &info, &rig.err), 0);
	ck_assert_int_eq(rig.err.code, ERR_ADDR_NOT_RDMA);
	ck_assert_ptr_nonnull(strstr(rig.err.hint, "127.0.0.1 (fake0)"));
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_WAITING_FOR_LISTENER);
	ck_assert_int_eq(addr_parse("0.0.0.0", 7471, &addr, &rig.err), 0);
	ck_assert_int_ne(engine_listener_add(rig.engine, &addr, &info, &rig.err), 0);
	ck_assert_int_eq(rig.err.code, ERR_ADDR_NOT_RDMA);
	ck_assert_int_eq(addr_parse("127.0.0.1", 0, &addr, &rig.err), 0);
	ck_assert_int_eq(engine_listener_add(rig.engine, &addr, &info, &rig.err), 0);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_RUNNING);
	ck_assert(info.is_up);
	ck_assert_uint_ne(addr_port(&info.addr), 0);
	ck_assert_int_ne(engine_listener_add(rig.engine, &info.addr, &again, &rig.err),
	    0);
	ck_assert_int_eq(rig.err.code, ERR_ALREADY_EXISTS);
	ck_assert_int_eq(engine_listener_remove(rig.engine, info.id, &rig.err), 0);
	ck_assert_int_ne(engine_listener_remove(rig.engine, info.id, &rig.err), 0);
	ck_assert_int_eq(rig.err.code, ERR_NO_SUCH_LISTENER);
	ck_assert_ptr_null(fake_peer_connect(addr_port(&info.addr), NULL, 0));
	rig_end(&rig);
}
END_TEST

/* No device is behind "any address": nothing listens, and the addresses that would do are named. */
START_TEST(test_any_address)
{
	static const char *const any[] = { "0.0.0.0", "::", "::ffff:0.0.0.0" };
	struct sockaddr_storage addr;
	struct listener_info info;

	/* _i: while a device serves, or before one is open. */
	if (_i % 2)
		rig.settings.listen_count = 0;
	ck_assert_int_eq(rig_start(&rig), 0);
	fake_trace_clear();
	ck_assert_int_eq(addr_parse(any[_i / 2], 7471, &addr, &rig.err), 0);
	ck_assert_int_ne(engine_listener_add(rig.engine, &addr, &info, &rig.err), 0);
	ck_assert_int_eq(rig.err.code, ERR_ADDR_NOT_RDMA);
	ck_assert_ptr_nonnull(strstr(rig.err.text,
	    strchr(any[_i / 2], '.') ? "0.0.0.0" : "::"));
	ck_assert_ptr_nonnull(strstr(rig.err.hint, "127.0.0.1 (fake0)"));
	ck_assert_ptr_null(strstr(fake_trace(), "rdma_listen"));
	ck_assert_uint_eq(rig_stats(&rig).listeners, _i % 2 ? 0 : 1);
	ck_assert_int_eq(engine_state(rig.engine),
	    _i % 2 ? ENGINE_WAITING_FOR_LISTENER : ENGINE_RUNNING);
	rig_end(&rig);
}
END_TEST

/*
 * A device that refuses a queue pair whose own receive queue is large, though an SRQ leaves that
 * unused: its limit is below all that the pool needs.
 */
START_TEST(test_receive_size_of_queue_pairs)
{
	fake_options()->max_qp_wr = SENDER_SQ_SIZE;
	rig.settings.pool_slots = 4 * SENDER_SQ_SIZE;
	rig.settings.receive_target = 2 * SENDER_SQ_SIZE;
	ck_assert_int_eq(rig_start(&rig), 0);
	fake_trace_clear();
	(void)rig_peer(&rig);
	ck_assert_ptr_nonnull(strstr(fake_trace_args(), "recv_wr=0,"));
	rig_end(&rig);
}
END_TEST

/* A refused listener leaves nothing open that was opened for it. */
START_TEST(test_refused_listener_opens_nothing)
{
	struct sockaddr_storage addr;
	struct listener_info info;

	rig.settings.listen_count = 0;
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(addr_parse("127.0.0.1", 0, &addr, &rig.err), 0);
	fake_fail_call("rdma_listen", 0, EADDRINUSE);
	ck_assert_int_ne(engine_listener_add(rig.engine, &addr, &info, &rig.err), 0);
	ck_assert_int_eq(rig.err.code, ERR_ADDR_IN_USE);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_WAITING_FOR_LISTENER);
	ck_assert_str_eq(engine_device(rig.engine), "");
	fake_fail_call("rdma_listen", 0, 0);
	ck_assert_int_eq(engine_listener_add(rig.engine, &addr, &info, &rig.err), 0);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_RUNNING);
	rig_end(&rig);
}
END_TEST

START_TEST(test_wrong_device)
{
	struct sockaddr_storage addr;
	struct listener_info info;

	fake_options()->devices = 2;
	fake_addr_add("127.0.0.9", 1);
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(addr_parse("127.0.0.9", 0, &addr, &rig.err), 0);
	ck_assert_int_ne(engine_listener_add(rig.engine, &addr, &info, &rig.err), 0);
	ck_assert_int_eq(rig.err.code, ERR_WRONG_DEVICE);
	ck_assert_uint_eq(rig_stats(&rig).listeners, 1);
	rig_end(&rig);
}
END_TEST

START_TEST(test_device_by_name)
{
	rig.settings.listen_count = 0;
	(void)snprintf(rig.settings.device, sizeof(rig.settings.device), "fake0");
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_RUNNING);
	rig_end(&rig);
	rig_settings(&rig);
	(void)snprintf(rig.settings.device, sizeof(rig.settings.device), "mlx9");
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_WAITING_FOR_DEVICE);
	ck_assert_ptr_nonnull(strstr(engine_reason(rig.engine), "mlx9"));
	rig_end(&rig);
}
END_TEST

static bool
is_up(struct rig *r, void *arg)
{
	(void)arg;
	return engine_state(r->engine) == ENGINE_RUNNING;
}

static bool
both_listen(struct rig *r, void *arg)
{
	(void)r;
	(void)arg;
	return fake_listen_port(0) != 0 && fake_listen_port(1) != 0;
}

/* One address that is taken meanwhile does not keep the others down. */
START_TEST(test_taken_port_later)
{
	struct sockaddr_storage addr;
	struct listener_info info;

	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(addr_parse("127.0.0.1", 0, &addr, &rig.err), 0);
	ck_assert_int_eq(engine_listener_add(rig.engine, &addr, &info, &rig.err), 0);
	fake_device_remove(0);
	rig_settle(&rig);
	fake_device_return(0);
	fake_fail_call("rdma_listen", 1, EADDRINUSE);
	ck_assert(rig_until(&rig, is_up, NULL));
	ck_assert(!both_listen(&rig, NULL));
	ck_assert(rig_until(&rig, both_listen, NULL));
	rig_end(&rig);
}
END_TEST

static bool
is_down(struct rig *r, void *arg)
{
	(void)arg;
	return engine_state(r->engine) == ENGINE_WAITING_FOR_DEVICE;
}

/* A device that reports a fatal error and stays serves again, without end. */
START_TEST(test_fatal_error_of_a_device_that_stays)
{
	const struct ibv_context *context = fake_context(0);
	unsigned int i;

	ck_assert_int_eq(rig_start(&rig), 0);
	for (i = 0; i < 2; i++) {
		(void)rig_peer(&rig);
		fake_async_event(0, IBV_EVENT_DEVICE_FATAL, 0, 0);
		ck_assert(rig_until(&rig, is_down, NULL));
		ck_assert_ptr_nonnull(strstr(engine_reason(rig.engine), "fatal error"));
		ck_assert_str_eq(rig_conn(&rig, i + 1).reason, "device_gone");
		ck_assert(!fake_device_released(context));
		ck_assert(rig_until(&rig, is_up, NULL));
	}
	(void)rig_peer(&rig);
	ck_assert_uint_eq(rig_counts(&rig).posted, 16);
	rig_end(&rig);
}
END_TEST

/*
 * To look through the host's addresses takes a while: it is done for what is told, and not each
 * time that a device, or the address of a listener, is still not there.
 */
START_TEST(test_looks_once)
{
	unsigned int before;

	if (_i) {
		ck_assert_int_eq(addr_parse("192.0.2.7", 7471, &rig.settings.listen[1],
				     &rig.err),
		    0);
		rig.settings.listen_count = 2;
		fake_addr_local("192.0.2.7");
	} else {
		fake_device_remove(0);
	}
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(engine_state(rig.engine),
	    _i ? ENGINE_RUNNING : ENGINE_WAITING_FOR_DEVICE);
	before = rig_looks;
	ck_assert_uint_gt(before, 0);
	rig_turn_ms(&rig, 2200);
	ck_assert_uint_eq(rig_looks, before);
	rig_end(&rig);
}
END_TEST

/* Nothing is on the device that could hear of its removal: the daemon lets go all the same. */
START_TEST(test_removed_without_an_event)
{
	const struct ibv_context *context = fake_context(0);

	rig.settings.listen_count = 0;
	(void)snprintf(rig.settings.device, sizeof(rig.settings.device), "fake0");
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_RUNNING);
	rig_turn_ms(&rig, 1100);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_RUNNING);
	is_node_gone = true;
	ck_assert(rig_until(&rig, is_down, NULL));
	ck_assert_ptr_nonnull(strstr(engine_reason(rig.engine), "it was removed"));
	ck_assert(fake_device_released(context));
	fake_device_remove(0);
	is_node_gone = false;
	fake_device_return(0);
	ck_assert(rig_until(&rig, is_up, NULL));
	rig_end(&rig);
}
END_TEST

/* The same of one that it opened in vain, and does not use. */
START_TEST(test_removed_unused)
{
	const struct ibv_context *context = fake_context(0);
	struct sockaddr_storage addr;
	struct listener_info info;

	rig.settings.listen_count = 0;
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(addr_parse("127.0.0.1", 7471, &addr, &rig.err), 0);
	fake_fail_call("rdma_listen", 0, EADDRINUSE);
	ck_assert_int_ne(engine_listener_add(rig.engine, &addr, &info, &rig.err), 0);
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_WAITING_FOR_LISTENER);
	rig_turn_ms(&rig, 1100);
	/* It may be asked for again. */
	ck_assert(!fake_device_released(context));
	is_node_gone = true;
	rig_turn_ms(&rig, 1100);
	ck_assert(fake_device_released(context));
	ck_assert_int_eq(engine_state(rig.engine), ENGINE_WAITING_FOR_LISTENER);
	rig_end(&rig);
}
END_TEST

/* Every provider call of the start fails in turn; each time all is taken back. */
START_TEST(test_nth_call_fails_at_start)
{
	unsigned int n;

	for (n = 1; n < 200; n++) {
		bool fired;

		rig_settings(&rig);
		fake_fail_nth(n, EIO);
		if (rig_start(&rig) == 0)
			ck_assert_int_ne(engine_state(rig.engine), ENGINE_STOPPED);
		fired = fake_fired();
		fake_fail_nth(0, 0);
		rig_end(&rig);
		if (!fired)
			break;
	}
	ck_assert_uint_gt(n, 15);
	ck_assert_uint_lt(n, 200);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("engine_start");
	TCase *tc = tcase_create("engine_start");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, test_device_too_small);
	tcase_add_test(tc, test_forbidden_device);
	tcase_add_test(tc, test_too_many_send_slots);
	tcase_add_test(tc, test_memlock_limit);
	tcase_add_test(tc, test_memory_region_limit);
	tcase_add_test(tc, test_effective_depth);
	tcase_add_test(tc, test_listeners);
	tcase_add_loop_test(tc, test_any_address, 0, 6);
	tcase_add_test(tc, test_receive_size_of_queue_pairs);
	tcase_add_test(tc, test_refused_listener_opens_nothing);
	tcase_add_test(tc, test_wrong_device);
	tcase_add_test(tc, test_taken_port_later);
	tcase_add_test(tc, test_device_by_name);
	tcase_add_test(tc, test_fatal_error_of_a_device_that_stays);
	tcase_add_loop_test(tc, test_looks_once, 0, 2);
	tcase_add_test(tc, test_removed_without_an_event);
	tcase_add_test(tc, test_removed_unused);
	tcase_add_test(tc, test_nth_call_fails_at_start);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(suite, tc);
	return harness_run(suite);
}
