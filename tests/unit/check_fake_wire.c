/* SPDX-License-Identifier: BSD-3-Clause */
/* check_fake_wire.c: doubles in different processes reach each other. */
#include <config.h>

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/fake_rig.h"
#include "tests/unit/harness.h"

static struct rig rig;

static void
setup(void)
{
	fake_reset();
	ck_assert_int_eq(fake_wire_start(NULL), 0);
	rig_open(&rig, RIG_SLOTS);
}

static void
teardown(void)
{
	rig_close(&rig);
	fake_wire_stop();
	fake_reset();
}

/* ---- fake-send ---------------------------------------------------------------- */

static FILE *
start_sender(const char *options)
{
	const char *program = getenv("FAKE_SEND");
	char command[512];
	FILE *out;

	snprintf(command, sizeof(command), "%s 127.0.0.1:%u %s",
	    program ? program : "tests/fake/fake-send", rig.port, options);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	return out;
}

static struct rdma_cm_id *
accept_sender(void)
{
	struct rdma_conn_param param = { .private_data = "slot",
		.private_data_len = 4 };
	struct rdma_cm_id *id = rig_event(&rig, RDMA_CM_EVENT_CONNECT_REQUEST);

	ck_assert_int_eq(rig_qp(&rig, id, 4), 0);
	ck_assert_int_eq(rdma_accept(id, &param), 0);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_ESTABLISHED), id);
	return id;
}

static void
expect_line(FILE *out, const char *expected)
{
	char line[512] = "";

	ck_assert_ptr_nonnull(fgets(line, sizeof(line), out));
	ck_assert_str_eq(line, expected);
}

START_TEST(messages_from_a_sender)
{
	FILE *out = start_sender("--count 50 --size 20 --imm 5 --verbose");
	struct rdma_cm_id *id = accept_sender();
	struct ibv_wc wc;
	char text[32];
	unsigned i;

	/* Four buffers for fifty messages: the sender waits again and again. */
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(rig_post(&rig, i), 0);
	for (i = 0; i < 50; i++) {
		rig_wait(&rig, 1, &wc);
		ck_assert_int_eq((int)wc.status, IBV_WC_SUCCESS);
		ck_assert_uint_eq(wc.byte_len, 20);
		ck_assert_uint_eq(ntohl(wc.imm_data), 5);
		snprintf(text, sizeof(text), "0 %u ", i);
		ck_assert_mem_eq(rig.buf[wc.wr_id], text, strlen(text));
		ck_assert_int_eq(rig_post(&rig, (unsigned)wc.wr_id), 0);
	}
	rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED);
	ck_assert_int_eq(rdma_disconnect(id), 0);
	for (i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "sent 0 %u 20\n", i);
		expect_line(out, text);
	}
	ck_assert_int_eq(pclose(out), 0);
	rig_drop(id);
}
END_TEST

START_TEST(messages_to_a_sender)
{
	FILE *out = start_sender("--count 0 --hold 30 --show-private --show-received");
	struct rdma_cm_id *id = accept_sender();
	char line[512];
	struct ibv_wc wc;

	ck_assert_int_eq(rig_send(&rig, id, "AB", 8), 0);
	rig_wait(&rig, 1, &wc);
	ck_assert_uint_eq(wc.wr_id, 8);
	ck_assert_int_eq((int)wc.status, IBV_WC_SUCCESS);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), out));
	ck_assert_int_eq(strncmp(line, "private 0 736c6f74", 18), 0);
	expect_line(out, "imm 0 77\n");
	expect_line(out, "received 0 4142\n");
	ck_assert_int_eq(rdma_disconnect(id), 0);
	rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED);
	expect_line(out, "bye 0\n");
	ck_assert_int_eq(pclose(out), 0);
	rig_drop(id);
}
END_TEST

START_TEST(too_long_over_the_wire)
{
	FILE *out = start_sender("--too-long --size 100");
	struct rdma_cm_id *id;
	struct ibv_wc wc;

	ck_assert_int_eq(rig_post(&rig, 0), 0);
	id = accept_sender();
	rig_wait(&rig, 1, &wc);
	ck_assert_int_eq((int)wc.status, IBV_WC_LOC_LEN_ERR);
	rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED);
	ck_assert_int_eq(rdma_disconnect(id), 0);
	ck_assert_int_eq(pclose(out), 0);
	rig_drop(id);
}
END_TEST

START_TEST(sender_is_rejected)
{
	FILE *out = start_sender("");
	struct rdma_cm_id *id = rig_event(&rig, RDMA_CM_EVENT_CONNECT_REQUEST);

	ck_assert_int_eq(rdma_reject(id, NULL, 0), 0);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	expect_line(out, "rejected 0 28\n");
	ck_assert_int_eq(WEXITSTATUS(pclose(out)), 1);
}
END_TEST

START_TEST(sender_dies)
{
	FILE *out = start_sender("--die");
	struct rdma_cm_id *id;
	struct ibv_wc wc;

	ck_assert_int_eq(rig_post(&rig, 0), 0);
	id = accept_sender();
	rig_wait(&rig, 1, &wc);
	ck_assert_int_eq(pclose(out), 0);
	rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED);
	ck_assert_int_eq(rdma_disconnect(id), 0);
	rig_drop(id);
}
END_TEST

START_TEST(many_connections)
{
	FILE *out = start_sender("--conns 8 --count 4 --random-max 60 --seed 7");
	struct rdma_cm_id *ids[8];
	struct ibv_wc wc[32];
	unsigned i;

	/* One connects after the other. */
	for (i = 0; i < 32; i++)
		ck_assert_int_eq(rig_post(&rig, i), 0);
	for (i = 0; i < 8; i++)
		ids[i] = accept_sender();
	rig_wait(&rig, 32, wc);
	for (i = 0; i < 32; i++)
		ck_assert_int_eq((int)wc[i].status, IBV_WC_SUCCESS);
	for (i = 0; i < 8; i++)
		ck_assert_int_eq(rdma_disconnect(rig_event(&rig,
				     RDMA_CM_EVENT_DISCONNECTED)),
		    0);
	ck_assert_int_eq(pclose(out), 0);
	for (i = 0; i < 8; i++)
		rig_drop(ids[i]);
}
END_TEST

START_TEST(port_is_free_again)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(rig.port) };
	unsigned i;

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (i = 0; i < 20; i++) {
		ck_assert_int_eq(rdma_destroy_id(rig.listener), 0);
		ck_assert_int_eq(rdma_create_id(rig.channel, &rig.listener, NULL,
				     RDMA_PS_TCP),
		    0);
		ck_assert_int_eq(rdma_bind_addr(rig.listener, (struct sockaddr *)&sin),
		    0);
		ck_assert_int_eq(rdma_listen(rig.listener, 0), 0);
	}
}
END_TEST

START_TEST(commands_from_a_fifo)
{
	char dir[] = "/tmp/fake-wire-XXXXXX";
	struct ibv_async_event event;
	char path[64];
	FILE *fifo;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fifo", dir);
	ck_assert_int_eq(fake_wire_start(path), 0);
	rig_open(&rig, RIG_SLOTS);
	fifo = fopen(path, "w");
	ck_assert_ptr_nonnull(fifo);
	fputs("set kind=iwarp,max_srq_wr=7\nremove 0\n", fifo);
	fclose(fifo);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_DEVICE_REMOVAL), rig.listener);
	ck_assert_int_eq(ibv_get_async_event(rig.verbs, &event), 0);
	ibv_ack_async_event(&event);
	ck_assert_uint_eq(fake_options()->max_srq_wr, 7);
	ck_assert_ptr_null(fake_context(0));
	teardown();
	unlink(path);
	rmdir(dir);
}
END_TEST

/* ---- two programs ------------------------------------------------------------- */

/* The other program: accept one connection, answer one message, wait for the end. */
static void
serve(int port_fd)
{
	struct rdma_cm_id *id;
	struct ibv_wc wc;

	fake_reset();
	ck_assert_int_eq(fake_wire_start(NULL), 0);
	rig_open(&rig, RIG_SLOTS);
	ck_assert_int_eq(rig_post(&rig, 0), 0);
	ck_assert_int_eq(write(port_fd, &rig.port, sizeof(rig.port)), sizeof(rig.port));
	id = accept_sender();
	rig_wait(&rig, 1, &wc);
	ck_assert_str_eq(rig.buf[0], "question");
	ck_assert_int_eq(rig_send(&rig, id, "answer", 1), 0);
	rig_wait(&rig, 1, &wc);
	rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED);
	ck_assert_int_eq(rdma_disconnect(id), 0);
	rig_drop(id);
	teardown();
}

static pid_t
start_server(uint16_t *port)
{
	int fds[2];
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		serve(fds[1]);
		_exit(0);
	}
	ck_assert_int_eq(read(fds[0], port, sizeof(*port)), sizeof(*port));
	close(fds[0]);
	close(fds[1]);
	return pid;
}

static struct rdma_cm_id *
dial_server(uint16_t port)
{
	struct rdma_cm_id *id;

	ck_assert_int_eq(fake_wire_start(NULL), 0);
	rig_open(&rig, RIG_SLOTS);
	id = rig_dial(&rig, "127.0.0.1", port);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_ESTABLISHED), id);
	return id;
}

START_TEST(two_programs)
{
	uint16_t port;
	pid_t pid = start_server(&port);
	struct rdma_cm_id *id = dial_server(port);
	struct ibv_wc wc[2];
	int status;

	ck_assert_int_eq(rig_post(&rig, 3), 0);
	ck_assert_int_eq(rig_send(&rig, id, "question", 1), 0);
	rig_wait(&rig, 2, wc);
	ck_assert_str_eq(rig.buf[3], "answer");
	ck_assert_int_eq(rdma_disconnect(id), 0);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED), id);
	rig_drop(id);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	teardown();
}
END_TEST

START_TEST(other_program_is_killed)
{
	uint16_t port;
	pid_t pid = start_server(&port);
	struct rdma_cm_id *id = dial_server(port);

	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_DISCONNECTED), id);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(rdma_disconnect(id), 0);
	rig_drop(id);
	id = rig_dial(&rig, "127.0.0.1", port);
	ck_assert_ptr_eq(rig_event(&rig, RDMA_CM_EVENT_REJECTED), id);
	rig_drop(id);
	teardown();
}
END_TEST

static Suite *
make_suite(void)
{
	Suite *suite = suite_create("fake_wire");
	TCase *tc = tcase_create("sender");
	TCase *two = tcase_create("two");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, messages_from_a_sender);
	tcase_add_test(tc, messages_to_a_sender);
	tcase_add_test(tc, too_long_over_the_wire);
	tcase_add_test(tc, sender_is_rejected);
	tcase_add_test(tc, sender_dies);
	tcase_add_test(tc, many_connections);
	tcase_add_test(tc, port_is_free_again);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(two, 60);
	tcase_add_test(two, commands_from_a_fifo);
	tcase_add_test(two, two_programs);
	tcase_add_test(two, other_program_is_killed);
	suite_add_tcase(suite, two);
	return suite;
}

int
main(void)
{
	return harness_run(make_suite());
}
