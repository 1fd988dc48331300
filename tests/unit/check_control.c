/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket: who comes, how many, and want of descriptors. */
#include <config.h>

#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/harness.h"
#include "tests/unit/socket_rig.h"

START_TEST(test_credentials)
{
	int fd;

	rig_start();
	fd = rig_connect();
	ck_assert_int_eq(rig.seen.opened, 1);
	ck_assert_uint_eq(rig.seen.uid, geteuid());
	ck_assert_int_eq(rig.seen.pid, getpid());
	ck_assert_uint_ge(rig.seen.gid_count, 1);
	(void)close(fd);
	rig_settle();
	ck_assert_int_eq(rig.seen.closed, 1);
	ck_assert_uint_eq(rig_stats().clients, 0);
	ck_assert_uint_eq(rig_stats().dropped, 0);
	rig.seen.refuses = true;
	fd = rig_connect();
	ck_assert_int_eq(recv(fd, rig.seen.last, 1, 0), 0);
	ck_assert_uint_eq(rig_stats().clients, 0);
	(void)close(fd);
}
END_TEST

/* More groups than fit the first guess. */
START_TEST(test_many_groups)
{
	gid_t gids[200];
	int fd, i;

	if (geteuid() != 0) {
		harness_skip("test_many_groups", "only root may choose its groups");
		return;
	}
	for (i = 0; i < 200; i++)
		gids[i] = (gid_t)(70000 + i);
	ck_assert_int_eq(setgroups(200, gids), 0);
	rig_start();
	fd = rig_connect();
	ck_assert_uint_eq(rig.seen.gid_count, 201);
	(void)close(fd);
}
END_TEST

START_TEST(test_too_many_clients)
{
	char text[64];
	int a, b, c;

	rig_start();
	a = rig_connect();
	b = rig_connect();
	c = rig_connect();
	ck_assert_int_eq(recv(c, text, sizeof(text), 0), (ssize_t)strlen(REFUSAL));
	ck_assert_int_eq(strncmp(text, REFUSAL, strlen(REFUSAL)), 0);
	ck_assert_int_eq(recv(c, text, sizeof(text), 0), 0);
	ck_assert_uint_eq(rig_stats().refused, 1);
	ck_assert_int_eq(rig.seen.opened, 2);
	(void)close(c);
	(void)close(a);
	rig_settle();
	a = rig_connect();
	ck_assert_int_eq(rig.seen.opened, 3);
	ck_assert_uint_eq(rig_stats().clients, 2);
	ck_assert_uint_eq(rig_stats().clients_total, 3);
	(void)close(a);
	(void)close(b);
}
END_TEST

static int
listen_at(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	(void)unlink(path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_int_eq(listen(fd, 64), 0);
	return fd;
}

static int
dial(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

START_TEST(test_accept)
{
	char path[64];
	int fd, clients[20], i;

	(void)snprintf(path, sizeof(path), "/tmp/check_control.%ld", (long)getpid());
	rig.config.listen_fd = fd = listen_at(path);
	rig.config.max_clients = 20;
	rig_start();
	for (i = 0; i < 20; i++)
		clients[i] = dial(path);
	rig_settle();
	ck_assert_int_eq(rig.seen.opened, 20);
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	for (i = 0; i < 20; i++)
		(void)close(clients[i]);
	rig_settle();
	ck_assert_int_eq(rig.seen.closed, 20);
	control_free(rig.control);
	rig.control = NULL;
	(void)close(fd);
	(void)unlink(path);
}
END_TEST

/* Without descriptors it waits, costs next to nothing, and recovers by itself. */
START_TEST(test_no_descriptors)
{
	struct rlimit limit;
	struct loop_stats before, after;
	char path[64];
	int fd, client, spare;

	(void)snprintf(path, sizeof(path), "/tmp/check_control.%ld", (long)getpid());
	rig.config.listen_fd = fd = listen_at(path);
	rig_start();
	client = dial(path);
	spare = dup(fd);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)spare + 1;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	loop_get_stats(rig.loop, &before);
	rig_run_ms(250);
	loop_get_stats(rig.loop, &after);
	ck_assert_int_eq(rig.seen.opened, 0);
	ck_assert_uint_lt(after.turns - before.turns, 200); /* of at least 2 ms */
	(void)close(spare);
	rig_run_ms(600);
	ck_assert_int_eq(rig.seen.opened, 1);
	(void)close(client);
	rig_settle();
	control_free(rig.control);
	rig.control = NULL;
	(void)close(fd);
	(void)unlink(path);
}
END_TEST

START_TEST(test_free_with_clients)
{
	char text[16];
	int fd;

	rig.seen.answers = true;
	rig_start();
	fd = rig_connect();
	(void)rig_connect();
	rig_put(fd, "x\n");
	ck_assert_int_eq(loop_turn(rig.loop, 0), 0);
	control_free(rig.control);
	rig.control = NULL;
	ck_assert_int_eq(rig.seen.closed, 2);
	ck_assert_int_eq(recv(fd, text, sizeof(text), 0), 2);
	(void)close(fd);
	control_free(NULL);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("control");
	TCase *tc = tcase_create("control");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, test_credentials);
	tcase_add_test(tc, test_many_groups);
	tcase_add_test(tc, test_too_many_clients);
	tcase_add_test(tc, test_accept);
	tcase_add_test(tc, test_no_descriptors);
	tcase_add_test(tc, test_free_with_clients);
	suite_add_tcase(s, tc);
	return s;
}

int
main(void)
{
	return harness_run(suite());
}
