/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flood.c: sends to a server, never more than it has receives for, and measures the two
 * processes behind it.
 *
 *   flood rate ADDR PORT METER SERVER CONSUMER CONNS LEN COUNT
 *   flood trip ADDR PORT METER SERVER CONSUMER CONNS LEN COUNT
 *   flood room ADDR PORT METER SERVER CONSUMER CONNS
 *
 * METER is the consumer's count, SERVER and CONSUMER are process ids.
 *
 * "rate" sends COUNT messages over all connections together, after a fifth as many that warm
 * up, and prints "RATE SERVER CONSUMER SENDER": messages per second, and the processor time of
 * each process by message in ns, as their clocks have it: what the kernel did on their behalf
 * is in it, and what it did in interrupts while they ran.
 * "trip" sends messages that are answered, one after the other, and prints the median time in ns.
 * "room" prints how many bytes of resident memory the server has for each of 1, of 100 and of
 * 500 connections, as far as CONNS goes. The server must be a new one.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/meter.h"

#define GROUP      8u   /* messages posted with one call, one completion for them */
#define CREDIT     512u /* messages under way that the consumer has not taken */
#define SQ_MAX     128u
#define CM_MS      10000
#define PATIENCE_S 60u
#define TRIPS_MAX  100000u
#define NS_PER_S   1000000000u
#define LEN_MAX    65536u

struct conn {
	struct rdma_cm_id *id;
	uint32_t posted, done;
};

struct flood {
	const char *addr, *port;
	pid_t server, consumer;
	uint32_t count, len, conns;
	uint32_t open; /* of the connections */
	struct meter *meter;
	struct rdma_event_channel *events;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	char *memory; /* a message, and room for an answer behind it */
	struct conn *list;
	uint32_t sq_size; /* of a connection */
	uint32_t sent;    /* as the meter counts */
};

static void __attribute__((noreturn)) stop(const char *what)
{
	errno = 0;
	die(what);
}

static uint64_t
read_clock(clockid_t clock)
{
	struct timespec now;

	if (clock_gettime(clock, &now) != 0)
		die("a process that is measured");
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* The processor time of a process. */
static uint64_t
cpu_ns(pid_t pid)
{
	clockid_t clock;

	errno = clock_getcpuclockid(pid, &clock);
	if (errno)
		die("a process that is measured");
	return read_clock(clock);
}

/* ---- connections ---- */

static void
expect(struct flood *f, enum rdma_cm_event_type wanted)
{
	struct pollfd pfd = { .fd = f->events->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	enum rdma_cm_event_type type;

	if (poll(&pfd, 1, CM_MS) <= 0 || rdma_get_cm_event(f->events, &event) != 0)
		stop(rdma_event_str(wanted));
	type = event->event;
	(void)rdma_ack_cm_event(event);
	if (type == wanted)
		return;
	fprintf(stderr, "flood: %s instead of %s\n", rdma_event_str(type),
	    rdma_event_str(wanted));
	exit(1);
}

/* What all connections share is made with the first one's device. */
static void
make_shared(struct flood *f, struct ibv_context *verbs)
{
	if (f->pd)
		return;
	f->pd = ibv_alloc_pd(verbs);
	f->channel = ibv_create_comp_channel(verbs);
	if (!f->pd || !f->channel)
		die("the device");
	f->cq = ibv_create_cq(verbs, (int)(f->conns * (f->sq_size + 2)), NULL,
	    f->channel, 0);
	f->mr = ibv_reg_mr(f->pd, f->memory, 2 * LEN_MAX, IBV_ACCESS_LOCAL_WRITE);
	if (!f->cq || !f->mr || ibv_req_notify_cq(f->cq, 0) != 0)
		die("the device");
}

static void
post_recv(struct flood *f, struct conn *conn)
{
	struct ibv_sge sge = { (uintptr_t)f->memory + LEN_MAX, LEN_MAX, f->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	errno = ibv_post_recv(conn->id->qp, &wr, &bad);
	if (errno)
		die("ibv_post_recv");
}

static void
dial(struct flood *f, struct conn *conn)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(f->port)) };
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct ibv_qp_init_attr attr = { .cap = { .max_send_wr = f->sq_size,
					     .max_recv_wr = 2,
					     .max_send_sge = 1,
					     .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC };

	if (inet_pton(AF_INET, f->addr, &sin.sin_addr) != 1)
		stop(f->addr);
	if (rdma_create_id(f->events, &conn->id, conn, RDMA_PS_TCP) != 0 ||
	    rdma_resolve_addr(conn->id, NULL, (struct sockaddr *)&sin, CM_MS) != 0)
		die(f->addr);
	expect(f, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(conn->id, CM_MS) != 0)
		die(f->addr);
	expect(f, RDMA_CM_EVENT_ROUTE_RESOLVED);
	make_shared(f, conn->id->verbs);
	attr.send_cq = attr.recv_cq = f->cq;
	if (rdma_create_qp(conn->id, f->pd, &attr) != 0)
		die("a queue pair");
	if (rdma_connect(conn->id, &param) != 0)
		die("connect");
	expect(f, RDMA_CM_EVENT_ESTABLISHED);
}

/* Have so many connections open. */
static void
dial_up_to(struct flood *f, uint32_t count)
{
	for (; f->open < count; f->open++)
		dial(f, &f->list[f->open]);
}

static void
hang_up_all(struct flood *f)
{
	struct rdma_cm_event *event;
	uint32_t i, closed = 0;

	for (i = 0; i < f->open; i++)
		(void)rdma_disconnect(f->list[i].id);
	while (closed < f->open) {
		struct pollfd pfd = { .fd = f->events->fd, .events = POLLIN };

		if (poll(&pfd, 1, CM_MS) <= 0 ||
		    rdma_get_cm_event(f->events, &event) != 0)
			stop("the end of a connection");
		closed += event->event == RDMA_CM_EVENT_DISCONNECTED;
		(void)rdma_ack_cm_event(event);
	}
	for (i = 0; i < f->open; i++) {
		rdma_destroy_qp(f->list[i].id);
		(void)rdma_destroy_id(f->list[i].id);
	}
}

/* ---- sending ---- */

/* A group of messages over one connection. */
static void
post_group(struct flood *f, struct conn *conn, uint32_t n)
{
	struct ibv_sge sge = { (uintptr_t)f->memory, f->len, f->mr->lkey };
	struct ibv_send_wr wrs[GROUP], *bad;
	uint32_t i;

	for (i = 0; i < n; i++)
		wrs[i] = (struct ibv_send_wr){ .wr_id = (uintptr_t)conn,
			.next = &wrs[i + 1],
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IBV_WR_SEND };
	wrs[n - 1].next = NULL;
	wrs[n - 1].send_flags = IBV_SEND_SIGNALED;
	errno = ibv_post_send(conn->id->qp, wrs, &bad);
	if (errno)
		die("ibv_post_send");
	conn->posted += n;
	f->sent += n;
}

/* Completions that are there; the number of those of receives. */
static uint32_t
reap(struct flood *f)
{
	struct ibv_wc wcs[32];
	uint32_t received = 0;
	int i, n;

	while ((n = ibv_poll_cq(f->cq, 32, wcs)) > 0) {
		for (i = 0; i < n; i++) {
			if (wcs[i].status != IBV_WC_SUCCESS)
				stop(ibv_wc_status_str(wcs[i].status));
			if (wcs[i].opcode == IBV_WC_RECV)
				received++;
			else
				((struct conn *)(uintptr_t)wcs[i].wr_id)->done += GROUP;
		}
	}
	return received;
}

/* Sleep until there is a completion. */
static void
await(struct flood *f)
{
	struct pollfd pfd = { .fd = f->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&pfd, 1, (int)PATIENCE_S * 1000) <= 0)
		stop("no completion");
	if (ibv_get_cq_event(f->channel, &cq, &context) != 0)
		die("ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	if (ibv_req_notify_cq(cq, 0) != 0)
		die("ibv_req_notify_cq");
}

/* Whether anything could be sent. */
static bool
push(struct flood *f, uint32_t *left, bool *has_credit)
{
	bool is_moving = false;
	uint32_t i;

	*has_credit = true;
	for (i = 0; i<f->conns && * left> 0; i++) {
		struct conn *conn = &f->list[i];

		*has_credit = f->sent + GROUP - meter_read(f->meter) <= CREDIT;
		if (!*has_credit)
			break;
		if (conn->posted - conn->done + GROUP > f->sq_size)
			continue;
		post_group(f, conn, GROUP);
		*left -= GROUP;
		is_moving = true;
	}
	return is_moving;
}

/* Send so many, a multiple of GROUP, and wait until all are taken. */
static void
send_all(struct flood *f, uint32_t count)
{
	bool has_credit;
	uint32_t left = count;

	while (left > 0) {
		(void)reap(f);
		if (push(f, &left, &has_credit))
			continue;
		/* A quarter of the credit at a time, so that waking costs little. */
		if (!has_credit &&
		    meter_wait(f->meter, f->sent - CREDIT * 3 / 4, PATIENCE_S) != 0)
			stop("no message is taken");
		if (has_credit && left > 0)
			await(f);
	}
	if (meter_wait(f->meter, f->sent, PATIENCE_S) != 0)
		stop("the last messages are not taken");
}

/* ---- what is measured ---- */

static void
measure_rate(struct flood *f)
{
	const uint32_t warm_up = (f->count / 5 + GROUP - 1) / GROUP * GROUP;
	const uint32_t count = f->count / GROUP * GROUP;
	uint64_t begin, server, consumer, sender;

	dial_up_to(f, f->conns);
	send_all(f, warm_up);
	server = cpu_ns(f->server);
	consumer = cpu_ns(f->consumer);
	sender = read_clock(CLOCK_PROCESS_CPUTIME_ID);
	begin = read_clock(CLOCK_MONOTONIC);
	send_all(f, count);
	begin = read_clock(CLOCK_MONOTONIC) - begin;
	printf("%.0f %.0f %.0f %.0f\n", (double)count * NS_PER_S / (double)begin,
	    (double)(cpu_ns(f->server) - server) / count,
	    (double)(cpu_ns(f->consumer) - consumer) / count,
	    (double)(read_clock(CLOCK_PROCESS_CPUTIME_ID) - sender) / count);
}

static int
compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void
measure_trip(struct flood *f)
{
	static uint64_t ns[TRIPS_MAX];
	uint32_t i;

	if (f->count == 0 || f->count > TRIPS_MAX)
		stop("COUNT");
	dial_up_to(f, f->conns);
	f->memory[0] = 'A';
	for (i = 0; i < f->count; i++) {
		uint64_t begin = read_clock(CLOCK_MONOTONIC);

		post_recv(f, &f->list[0]);
		post_group(f, &f->list[0], 1);
		while (reap(f) == 0)
			await(f);
		ns[i] = read_clock(CLOCK_MONOTONIC) - begin;
		/* The meter is behind the answer. */
		if (meter_wait(f->meter, f->sent, PATIENCE_S) != 0)
			stop("a message is not taken");
	}
	qsort(ns, f->count, sizeof(ns[0]), compare);
	printf("%" PRIu64 "\n", ns[f->count / 2]);
}

/* Resident memory of the server. */
static int64_t
resident_bytes(const struct flood *f)
{
	char path[64], line[128];
	long kib = -1;
	FILE *file;

	/* The sums of status are not exact. */
	(void)snprintf(path, sizeof(path), "/proc/%ld/smaps_rollup", (long)f->server);
	file = fopen(path, "re");
	if (!file)
		die(path);
	while (kib < 0 && fgets(line, sizeof(line), file))
		(void)sscanf(line, "Rss: %ld", &kib);
	(void)fclose(file);
	if (kib < 0)
		stop(path);
	return (int64_t)kib * 1024;
}

/* One connection first, then ever more, as far as they go. */
static void
measure_room(struct flood *f)
{
	static const uint32_t stages[] = { 1, 100, 500 };
	const int64_t before = resident_bytes(f);
	uint32_t i;

	for (i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		if (stages[i] > f->conns)
			break;
		dial_up_to(f, stages[i]);
		printf("%s%" PRId64, i > 0 ? " " : "",
		    (resident_bytes(f) - before) / (int64_t)stages[i]);
	}
	printf("\n");
}

static int
usage(void)
{
	fprintf(stderr,
	    "usage: flood rate|trip|room ADDR PORT METER SERVER CONSUMER CONNS [LEN COUNT]\n");
	return 2;
}

int
main(int argc, char **argv)
{
	static struct flood f;
	const bool is_room = argc > 1 && strcmp(argv[1], "room") == 0;

	if (argc != (is_room ? 8 : 10))
		return usage();
	f = (struct flood){ .addr = argv[2],
		.port = argv[3],
		.meter = meter_open(argv[4]),
		.server = atoi(argv[5]),
		.consumer = atoi(argv[6]),
		.conns = (uint32_t)atoi(argv[7]),
		.len = is_room ? 1 : (uint32_t)atoi(argv[8]),
		.count = is_room ? 0 : (uint32_t)atoi(argv[9]) };
	if (f.conns == 0 || f.len == 0 || f.len > LEN_MAX ||
	    (!is_room && strcmp(argv[1], "rate") != 0 && strcmp(argv[1], "trip") != 0))
		return usage();
	f.sent = meter_read(f.meter);
	f.sq_size = CREDIT / f.conns / GROUP * GROUP;
	f.sq_size = f.sq_size > SQ_MAX ? SQ_MAX : f.sq_size < GROUP ? GROUP : f.sq_size;
	f.memory = calloc(2, LEN_MAX);
	f.list = calloc(f.conns, sizeof(*f.list));
	f.events = rdma_create_event_channel();
	if (!f.memory || !f.list || !f.events)
		die("start");
	memset(f.memory, '.', f.len);
	if (is_room)
		measure_room(&f);
	else if (strcmp(argv[1], "rate") == 0)
		measure_rate(&f);
	else
		measure_trip(&f);
	hang_up_all(&f);
	return 0;
}
