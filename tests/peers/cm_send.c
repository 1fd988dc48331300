/* SPDX-License-Identifier: BSD-3-Clause */
/* A sender on plain librdmacm and libibverbs, for tests and demonstrations. */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "message.h"
#include "options.h"

#define CM_TIMEOUT_MS 5000
#define POLL_BATCH    32

enum conn_state {
	CONN_NEW,
	CONN_OPEN,
	CONN_CLOSING, /* we asked for the end */
	CONN_CLOSED
};

struct conn {
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	uint8_t *buf;             /* window slots of slot_size bytes */
	struct message *messages; /* one per slot */
	uint32_t index;           /* over all rounds */
	uint32_t posted;
	uint32_t done;
	enum conn_state state;
	bool failed;
};

struct sender {
	struct options options;
	struct rdma_event_channel *events;
	struct ibv_comp_channel *completions;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct sockaddr_storage addr;
	struct conn *conns;
	uint32_t slot_size;
	uint64_t messages, bytes, errors, flushed;
	uint64_t refused; /* of the messages that are too long */
	bool expect_refusal;
};

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list args;
	int saved = errno;

	va_start(args, format);
	(void)fprintf(stderr, "cm_send: ");
	(void)vfprintf(stderr, format, args);
	(void)fprintf(stderr, saved ? ": %s\n" : "\n", strerror(saved));
	va_end(args);
	exit(1);
}

static uint64_t
now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Wait until a descriptor is readable; false after ms. */
static bool
wait_readable(int fd, uint64_t ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, (int)ms) > 0;
}

static void
on_closed(struct conn *conn)
{
	if (conn->state == CONN_OPEN)
		(void)rdma_disconnect(conn->id);
	conn->state = CONN_CLOSED;
}

/* One event of any connection: what it was; the connection in *out. */
static enum rdma_cm_event_type
next_event(struct sender *s, struct conn **out, int *status)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(s->events, &event))
		die("no CM event");
	type = event->event;
	*out = event->id->context;
	*status = event->status;
	(void)rdma_ack_cm_event(event);
	if (type == RDMA_CM_EVENT_DISCONNECTED)
		on_closed(*out);
	return type;
}

static void
expect_event(struct sender *s, struct conn *conn, enum rdma_cm_event_type wanted)
{
	/* On a bad link the kernel says again, every 4.3 s, what the peer has to hear. */
	uint64_t ms =
	    wanted == RDMA_CM_EVENT_ESTABLISHED || wanted == RDMA_CM_EVENT_DISCONNECTED
	    ? 1000ull * s->options.stall_s
	    : 2 * CM_TIMEOUT_MS;
	uint64_t deadline = now_ms() + ms;
	struct conn *other;
	int status;

	for (;;) {
		enum rdma_cm_event_type type;
		uint64_t now = now_ms();

		errno = 0;
		if (now >= deadline || !wait_readable(s->events->fd, deadline - now))
			die("connection %u: no %s", conn->index,
			    rdma_event_str(wanted));
		type = next_event(s, &other, &status);
		errno = 0;
		if (other == conn && type == wanted)
			return;
		if (other == conn)
			die("connection %u: %s (%d) instead of %s", conn->index,
			    rdma_event_str(type), status, rdma_event_str(wanted));
	}
}

/* Things that all connections share belong to the device, known with the first route.
 */
static void
share(struct sender *s, struct ibv_context *verbs)
{
	uint32_t depth = s->options.conns * s->options.window;

	if (s->cq)
		return;
	s->pd = ibv_alloc_pd(verbs);
	s->completions = ibv_create_comp_channel(verbs);
	if (!s->pd || !s->completions)
		die("cannot use the device");
	s->cq = ibv_create_cq(verbs, (int)depth + 1, NULL, s->completions, 0);
	if (!s->cq)
		die("no completion queue of %u", depth + 1);
}

static void
conn_open(struct sender *s, struct conn *conn, uint32_t index)
{
	uint32_t window = s->options.window;
	struct ibv_qp_init_attr qp = { .qp_type = IBV_QPT_RC, .sq_sig_all = 1 };
	struct rdma_conn_param param = { .responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = s->options.retries,
		.rnr_retry_count = s->options.rnr_retries };

	conn->index = index;
	conn->posted = conn->done = 0;
	conn->failed = false;
	conn->state = CONN_NEW;
	if (rdma_create_id(s->events, &conn->id, conn, RDMA_PS_TCP))
		die("no CM id");
	if (rdma_resolve_addr(conn->id, NULL, (struct sockaddr *)&s->addr,
		CM_TIMEOUT_MS))
		die("cannot resolve the address");
	expect_event(s, conn, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(conn->id, CM_TIMEOUT_MS))
		die("cannot resolve the route");
	expect_event(s, conn, RDMA_CM_EVENT_ROUTE_RESOLVED);
	share(s, conn->id->verbs);
	qp.send_cq = qp.recv_cq = s->cq;
	qp.cap = (struct ibv_qp_cap){ .max_send_wr = window,
		.max_recv_wr = 1,
		.max_send_sge = 1,
		.max_recv_sge = 1 };
	if (rdma_create_qp(conn->id, s->pd, &qp))
		die("no queue pair");
	if (!conn->mr) {
		conn->mr =
		    ibv_reg_mr(s->pd, conn->buf, (size_t)window * s->slot_size, 0);
		if (!conn->mr)
			die("cannot register %zu bytes", (size_t)window * s->slot_size);
	}
	if (rdma_connect(conn->id, &param))
		die("cannot connect");
	expect_event(s, conn, RDMA_CM_EVENT_ESTABLISHED);
	conn->state = CONN_OPEN;
}

static bool
post(struct sender *s, struct conn *conn, uint32_t slot, uint32_t len, uint32_t imm)
{
	struct ibv_sge sge = { .addr =
				   (uintptr_t)(conn->buf + (size_t)slot * s->slot_size),
		.length = len,
		.lkey = conn->mr->lkey };
	struct ibv_send_wr *bad,
	    wr = { .wr_id = (uint64_t)(uintptr_t)conn,
		    .sg_list = &sge,
		    .num_sge = len > 0,
		    .opcode = IBV_WR_SEND };

	if (s->options.imm) {
		wr.opcode = IBV_WR_SEND_WITH_IMM;
		wr.imm_data = htonl(imm);
	}
	/* A positive errno, but soft-iWARP returns a negative one. */
	errno = abs(ibv_post_send(conn->id->qp, &wr, &bad));
	if (errno == 0)
		return true;
	conn->failed = true;
	/* A flood ends like this when the peer closes, before that is seen otherwise. */
	if (s->options.flood) {
		s->flushed++;
		return false;
	}
	(void)fprintf(stderr, "cm_send: connection %u: cannot send: %s\n", conn->index,
	    strerror(errno));
	s->errors++;
	return false;
}

static bool
can_send(const struct sender *s, const struct conn *conn)
{
	return conn->state == CONN_OPEN && !conn->failed &&
	    conn->posted < s->options.count &&
	    conn->posted - conn->done < s->options.window;
}

static void
fill_window(struct sender *s, struct conn *conn)
{
	while (can_send(s, conn)) {
		uint32_t slot = conn->posted % s->options.window;
		struct message *message = &conn->messages[slot];

		message_make(&s->options, conn->index, conn->posted,
		    conn->buf + (size_t)slot * s->slot_size, message);
		message_posted(&s->options, message);
		if (!post(s, conn, slot, message->len, conn->posted))
			return;
		conn->posted++;
	}
}

static void
on_completion(struct sender *s, const struct ibv_wc *wc)
{
	struct conn *conn = (struct conn *)(uintptr_t)wc->wr_id;
	const struct message *message = &conn->messages[conn->done % s->options.window];

	conn->done++;
	if (wc->status == IBV_WC_SUCCESS && s->expect_refusal)
		return;
	if (wc->status == IBV_WC_SUCCESS) {
		message_sent(&s->options, message);
		s->messages++;
		s->bytes += message->len;
		if (s->messages == s->options.kill_after)
			(void)raise(SIGKILL);
		return;
	}
	conn->failed = true;
	if (s->expect_refusal) {
		s->refused++;
		(void)printf("refused: %s\n", ibv_wc_status_str(wc->status));
	} else if (s->options.flood) {
		s->flushed++;
	} else {
		s->errors++;
		(void)fprintf(stderr, "cm_send: connection %u: message %u: %s\n",
		    conn->index, conn->done - 1, ibv_wc_status_str(wc->status));
	}
}

static int
poll_completions(struct sender *s)
{
	struct ibv_wc wc[POLL_BATCH];
	int n = ibv_poll_cq(s->cq, POLL_BATCH, wc);

	if (n < 0)
		die("cannot poll completions");
	for (int i = 0; i < n; i++)
		on_completion(s, &wc[i]);
	return n;
}

/* Sleep until a completion or a CM event, which is handled; false after ms of neither.
 */
static bool
wait_for_anything(struct sender *s, uint64_t ms)
{
	struct pollfd fds[2] = { { .fd = s->completions->fd, .events = POLLIN },
		{ .fd = s->events->fd, .events = POLLIN } };
	struct ibv_cq *cq;
	struct conn *conn;
	void *context;
	int status;

	if (ibv_req_notify_cq(s->cq, 0))
		die("cannot arm the completion queue");
	if (poll_completions(s) > 0)
		return true;
	if (poll(fds, 2, (int)ms) <= 0)
		return false;
	if (fds[0].revents) {
		if (ibv_get_cq_event(s->completions, &cq, &context))
			die("no completion event");
		ibv_ack_cq_events(cq, 1);
	}
	if (fds[1].revents)
		(void)next_event(s, &conn, &status);
	return true;
}

static void
conn_disconnect(struct conn *conn)
{
	if (conn->state != CONN_OPEN)
		return;
	if (rdma_disconnect(conn->id))
		die("connection %u: cannot disconnect", conn->index);
	conn->state = CONN_CLOSING;
}

/* After a failure not every device completes the other sends by itself. */
static bool
is_done(const struct sender *s, const struct conn *conn)
{
	if (conn->failed || conn->state != CONN_OPEN)
		return true;
	return conn->posted == conn->done && conn->done >= s->options.count;
}

/* Send everything on all connections and wait for the completions. */
static void
send_all(struct sender *s)
{
	const struct options *o = &s->options;
	uint64_t stop =
	    o->flood && o->hold_s ? now_ms() + 1000ull * o->hold_s : UINT64_MAX;

	for (;;) {
		uint32_t left = 0;

		if (now_ms() >= stop)
			s->options.count = 0;
		for (uint32_t i = 0; i < o->conns; i++) {
			struct conn *conn = &s->conns[i];

			fill_window(s, conn);
			if (!is_done(s, conn))
				left++;
			else if (o->disconnect_at_once)
				conn_disconnect(conn);
		}
		if (left == 0)
			return;
		if (poll_completions(s) == 0 &&
		    !wait_for_anything(s, 1000ull * o->stall_s)) {
			errno = 0;
			die("no completion for %u s, %" PRIu64 " messages sent",
			    o->stall_s, s->messages);
		}
	}
}

/* One message more, which the peer has no room for: its refusal ends the connection. */
static void
send_too_long(struct sender *s)
{
	struct conn *conn = &s->conns[0];
	uint64_t deadline = now_ms() + 10000;

	s->expect_refusal = true;
	conn->messages[conn->posted % s->options.window].len = s->options.too_long;
	if (!post(s, conn, 0, s->options.too_long, 0))
		return;
	conn->posted++;
	/* soft-iWARP completes what it gave to TCP; there the peer's hang-up is the
	 * answer. */
	while (now_ms() < deadline && s->refused == 0 && conn->state == CONN_OPEN)
		if (poll_completions(s) == 0)
			(void)wait_for_anything(s, 1000);
	if (s->refused == 0 && conn->state == CONN_CLOSED) {
		(void)printf("refused: the peer closed\n");
		s->refused++;
	}
	if (s->refused == 0) {
		(void)fprintf(stderr, "cm_send: %u bytes were not refused\n",
		    s->options.too_long);
		s->errors++;
	}
}

/* Sends without a completion when the connection is over. */
static void
count_lost(struct sender *s, const struct conn *conn)
{
	uint32_t lost = conn->posted - conn->done;

	s->flushed += lost;
	if (lost == 0 || conn->failed || s->options.flood || s->expect_refusal)
		return;
	(void)fprintf(stderr, "cm_send: connection %u: %u sends were not completed\n",
	    conn->index, lost);
	s->errors++;
}

static void
close_all(struct sender *s)
{
	for (uint32_t i = 0; i < s->options.conns; i++)
		conn_disconnect(&s->conns[i]);
	for (uint32_t i = 0; i < s->options.conns; i++) {
		struct conn *conn = &s->conns[i];

		if (conn->state == CONN_CLOSING)
			expect_event(s, conn, RDMA_CM_EVENT_DISCONNECTED);
		while (poll_completions(s) > 0)
			;
		count_lost(s, conn);
		rdma_destroy_qp(conn->id);
		if (rdma_destroy_id(conn->id))
			die("connection %u: cannot destroy its id", conn->index);
	}
}

static void
prepare(struct sender *s)
{
	struct options *o = &s->options;
	struct addrinfo *info,
	    hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };

	errno = 0;
	if (getaddrinfo(o->addr, o->port, &hints, &info))
		die("%s port %s is no address", o->addr, o->port);
	memcpy(&s->addr, info->ai_addr, info->ai_addrlen);
	freeaddrinfo(info);
	s->slot_size = o->max_len > o->too_long ? o->max_len : o->too_long;
	if (s->slot_size == 0)
		s->slot_size = 1;
	s->events = rdma_create_event_channel();
	s->conns = calloc(o->conns, sizeof(*s->conns));
	if (!s->events || !s->conns)
		die("cannot start");
	for (uint32_t i = 0; i < o->conns; i++) {
		s->conns[i].buf = calloc(o->window, s->slot_size);
		s->conns[i].messages = calloc(o->window, sizeof(struct message));
		if (!s->conns[i].buf || !s->conns[i].messages)
			die("out of memory");
	}
}

int
main(int argc, char *argv[])
{
	static struct sender s;
	const struct options *o = &s.options;

	options_parse(&s.options, argc, argv);
	prepare(&s);
	for (uint32_t round = 0; round < o->rounds; round++) {
		for (uint32_t i = 0; i < o->conns; i++)
			conn_open(&s, &s.conns[i], o->first + round * o->conns + i);
		send_all(&s);
		if (o->too_long > 0)
			send_too_long(&s);
		options_hold(o);
		close_all(&s);
	}
	if (o->manifest && fclose(o->manifest))
		die("cannot write the manifest");
	(void)printf("cm_send: messages=%" PRIu64 " bytes=%" PRIu64 " conns=%" PRIu64
		     " errors=%" PRIu64 " flushed=%" PRIu64 " refused=%" PRIu64 "\n",
	    s.messages, s.bytes, (uint64_t)o->conns * o->rounds, s.errors, s.flushed,
	    s.refused);
	return s.errors == 0 ? 0 : 1;
}
