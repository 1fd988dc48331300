/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection that wants answers, and one that wants none, on plain librdmacm.
 *
 *   ping ADDR PORT FILE            until SIGTERM
 *   ping ADDR PORT flood RATE N    until N messages were sent or the peer closes
 *
 * The first sends "ping NUMBER", waits until a message with the same text comes back, and
 * begins again; each round trip is a line of FILE: when it ended and how long it took, in
 * microseconds. One that takes more than 30 s, or an answer to another ping, is a failure.
 * The second sends "flood" RATE times a second, waits for no answer, and prints when it began
 * and ended and how many were sent.
 *
 * status   0: every ping was answered; all of the flood was sent. 1: something is wrong.
 *          3: the peer closed the connection.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT_MAX  64u
#define ANSWER_S  30u
#define SECOND_US 1000000u

static volatile sig_atomic_t is_over;

struct link {
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	char out[TEXT_MAX];
	char in[TEXT_MAX];
};

static void __attribute__((noreturn)) die(const char *what)
{
	(void)fprintf(stderr, "ping: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void
on_term(int sig)
{
	(void)sig;
	is_over = 1;
}

static void
on_alarm(int sig)
{
	static const char text[] = "ping: no answer for 30 s\n";

	(void)sig;
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(1);
}

static uint64_t
now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SECOND_US + (uint64_t)ts.tv_nsec / 1000;
}

static void
receive(struct link *link)
{
	if (rdma_post_recv(link->id, NULL, link->in, TEXT_MAX, link->mr) != 0)
		die("cannot post a receive");
}

static void
dial(struct link *link, const char *addr, const char *port)
{
	struct rdma_addrinfo *info,
	    hints = { .ai_flags = RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP };
	struct ibv_qp_init_attr qp = { .cap = { .max_send_wr = 2,
					   .max_recv_wr = 2,
					   .max_send_sge = 1,
					   .max_recv_sge = 1 },
		.sq_sig_all = 1 };
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };

	if (rdma_getaddrinfo(addr, port, &hints, &info) != 0)
		die(addr);
	if (rdma_create_ep(&link->id, info, NULL, &qp) != 0)
		die("no endpoint");
	rdma_freeaddrinfo(info);
	link->mr =
	    rdma_reg_msgs(link->id, link->out, sizeof(link->out) + sizeof(link->in));
	if (!link->mr)
		die("cannot register");
	receive(link);
	if (rdma_connect(link->id, &param) != 0)
		die("cannot connect");
}

static void
hang_up(struct link *link)
{
	(void)rdma_disconnect(link->id);
	(void)rdma_dereg_mr(link->mr);
	rdma_destroy_ep(link->id);
}

/*
 * Wait for the completion of a send, 1: it is here, 0: the peer has hung up. The send of a
 * connection that is gone would be tried again for many seconds. No other event can come.
 */
static int
await_send(struct link *link, struct ibv_wc *wc)
{
	struct rdma_cm_id *id = link->id;
	struct pollfd fds[2] = { { .fd = id->send_cq_channel->fd, .events = POLLIN },
		{ .fd = id->channel->fd, .events = POLLIN } };
	struct ibv_cq *cq;
	void *context;

	for (;;) {
		if (ibv_poll_cq(id->send_cq, 1, wc) > 0)
			return 1;
		if (ibv_req_notify_cq(id->send_cq, 0) != 0)
			die("cannot arm the completion queue");
		if (ibv_poll_cq(id->send_cq, 1, wc) > 0)
			return 1;
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			die("cannot wait");
		if (fds[1].revents)
			return 0;
		if (!fds[0].revents)
			continue;
		if (ibv_get_cq_event(id->send_cq_channel, &cq, &context) != 0)
			die("no completion event");
		ibv_ack_cq_events(cq, 1);
	}
}

/* Send what is in link->out; false: the connection has ended. */
static bool
say(struct link *link)
{
	struct ibv_wc wc;

	if (rdma_post_send(link->id, NULL, link->out, strlen(link->out), link->mr, 0) !=
	    0)
		return false;
	return await_send(link, &wc) == 1 && wc.status == IBV_WC_SUCCESS;
}

static void
ping(struct link *link, const char *path)
{
	FILE *file = fopen(path, "we");
	uint64_t number = 0;

	/* By lines, so that what has been is there to be read. */
	if (!file || setvbuf(file, NULL, _IOLBF, 0) != 0)
		die(path);
	while (!is_over) {
		uint64_t begin = now_us(), end;
		struct ibv_wc wc;

		(void)snprintf(link->out, sizeof(link->out), "ping %" PRIu64, number++);
		(void)alarm(ANSWER_S);
		if (!say(link))
			die("cannot send");
		if (rdma_get_recv_comp(link->id, &wc) != 1 ||
		    wc.status != IBV_WC_SUCCESS)
			die("no answer");
		(void)alarm(0);
		end = now_us();
		(void)fprintf(file, "%" PRIu64 " %" PRIu64 "\n", end, end - begin);
		if (wc.byte_len != strlen(link->out) ||
		    memcmp(link->in, link->out, wc.byte_len) != 0)
			die("the answer is to another ping");
		receive(link);
	}
	if (fclose(file) != 0)
		die(path);
}

static int
flood(struct link *link, uint64_t rate, uint64_t count)
{
	uint64_t begin = now_us(), sent = 0;
	bool is_open = true;

	(void)snprintf(link->out, sizeof(link->out), "flood");
	while (is_open && sent < count) {
		uint64_t due = begin + sent * SECOND_US / rate, now = now_us();

		if (now < due)
			(void)usleep((useconds_t)(due - now));
		is_open = say(link);
		sent += is_open;
	}
	(void)printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", begin, now_us(), sent);
	return is_open ? 0 : 3;
}

int
main(int argc, char **argv)
{
	struct link link = { .id = NULL };
	int status = 0;

	if (argc != 4 && (argc != 6 || strcmp(argv[3], "flood") != 0)) {
		(void)fprintf(stderr, "usage: ping ADDR PORT FILE | flood RATE N\n");
		return 2;
	}
	(void)signal(SIGTERM, on_term);
	(void)signal(SIGALRM, on_alarm);
	dial(&link, argv[1], argv[2]);
	if (argc == 4)
		ping(&link, argv[3]);
	else
		status = flood(&link, strtoull(argv[4], NULL, 10),
		    strtoull(argv[5], NULL, 10));
	hang_up(&link);
	return status;
}
