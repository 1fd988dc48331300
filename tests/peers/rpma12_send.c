/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sender on the archived librpma 1.2.0, as Debian 12 ships it: what the users of that
 * library have. build.sh links it with Debian's own files, never with the library of
 * this tree.
 */
#include <errno.h>
#include <inttypes.h>
#include <librpma.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "message.h"
#include "options.h"

#define POLL_BATCH 32
#define CONNS_MAX  64u
#define TIMEOUT_MS 5000
#define CLOSE_MS   10000

struct conn {
	struct rpma_conn *rpma;
	struct rpma_cq *cq;
	int cq_fd;
	int event_fd;
	struct rpma_mr_local *mr;
	uint8_t *buf; /* window slots of slot_size bytes */
	struct message *messages;
	uint32_t index; /* over all rounds */
	uint32_t posted;
	uint32_t done;
	bool closed; /* by either side */
	bool failed;
};

struct sender {
	struct options options;
	struct rpma_peer *peer;
	struct rpma_conn_cfg *cfg;
	struct conn *conns;
	uint32_t slot_size;
	uint64_t messages, bytes, errors, flushed;
};

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)fprintf(stderr, "rpma12_send: ");
	(void)vfprintf(stderr, format, args);
	(void)fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

static void
must(int rc, const char *what)
{
	if (rc)
		die("%s: %s", what, rpma_err_2str(rc));
}

static uint64_t
now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void
conn_open(struct sender *s, struct conn *conn, uint32_t index)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	struct rpma_conn_req *req;

	conn->index = index;
	conn->posted = conn->done = 0;
	conn->closed = conn->failed = false;
	must(rpma_conn_req_new(s->peer, s->options.addr, s->options.port, s->cfg, &req),
	    "rpma_conn_req_new");
	must(rpma_conn_req_connect(&req, NULL, &conn->rpma), "rpma_conn_req_connect");
	must(rpma_conn_next_event(conn->rpma, &event), "rpma_conn_next_event");
	if (event != RPMA_CONN_ESTABLISHED)
		die("connection %u: %s", index, rpma_utils_conn_event_2str(event));
	must(rpma_conn_get_cq(conn->rpma, &conn->cq), "rpma_conn_get_cq");
	must(rpma_cq_get_fd(conn->cq, &conn->cq_fd), "rpma_cq_get_fd");
	must(rpma_conn_get_event_fd(conn->rpma, &conn->event_fd),
	    "rpma_conn_get_event_fd");
}

static bool
post(struct sender *s, struct conn *conn, uint32_t slot, const struct message *message)
{
	struct rpma_mr_local *mr = message->len > 0 ? conn->mr : NULL;
	size_t offset = message->len > 0 ? (size_t)slot * s->slot_size : 0;
	int rc;

	if (s->options.imm)
		rc = rpma_send_with_imm(conn->rpma, mr, offset, message->len,
		    RPMA_F_COMPLETION_ALWAYS, message->seq, conn);
	else
		rc = rpma_send(conn->rpma, mr, offset, message->len,
		    RPMA_F_COMPLETION_ALWAYS, conn);
	if (rc == 0)
		return true;
	conn->failed = true;
	/* A flood ends like this when the peer closes, before that is seen otherwise. */
	if (s->options.flood) {
		s->flushed++;
		return false;
	}
	(void)fprintf(stderr, "rpma12_send: connection %u: message %u: %s\n",
	    conn->index, message->seq, rpma_err_2str(rc));
	s->errors++;
	return false;
}

static void
fill_window(struct sender *s, struct conn *conn)
{
	while (!conn->closed && !conn->failed && conn->posted < s->options.count &&
	    conn->posted - conn->done < s->options.window) {
		uint32_t slot = conn->posted % s->options.window;
		struct message *message = &conn->messages[slot];

		message_make(&s->options, conn->index, conn->posted,
		    conn->buf + (size_t)slot * s->slot_size, message);
		message_posted(&s->options, message);
		if (!post(s, conn, slot, message))
			return;
		conn->posted++;
	}
}

static void
on_completion(struct sender *s, struct conn *conn, const struct ibv_wc *wc)
{
	const struct message *message = &conn->messages[conn->done % s->options.window];

	conn->done++;
	if (wc->status == IBV_WC_SUCCESS) {
		message_sent(&s->options, message);
		s->messages++;
		s->bytes += message->len;
		return;
	}
	conn->failed = true;
	if (s->options.flood) {
		s->flushed++;
		return;
	}
	s->errors++;
	(void)fprintf(stderr, "rpma12_send: connection %u: message %u: status %d\n",
	    conn->index, conn->done - 1, (int)wc->status);
}

static int
poll_completions(struct sender *s, struct conn *conn)
{
	struct ibv_wc wc[POLL_BATCH];
	int n = 0, rc = rpma_cq_get_wc(conn->cq, POLL_BATCH, wc, &n);

	if (rc == RPMA_E_NO_COMPLETION)
		return 0;
	must(rc, "rpma_cq_get_wc");
	for (int i = 0; i < n; i++)
		on_completion(s, conn, &wc[i]);
	return n;
}

static void
conn_disconnect(struct conn *conn)
{
	if (conn->closed)
		return;
	must(rpma_conn_disconnect(conn->rpma), "rpma_conn_disconnect");
	conn->closed = true;
}

static void
on_event(struct conn *conn)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	must(rpma_conn_next_event(conn->rpma, &event), "rpma_conn_next_event");
	conn_disconnect(conn);
}

/* Sleep until any connection has a completion or an event; false after ms of neither.
 */
static bool
wait_for_anything(struct sender *s, int ms)
{
	struct pollfd fds[2 * CONNS_MAX];
	uint32_t n = s->options.conns;

	for (uint32_t i = 0; i < n; i++) {
		fds[2 * i] =
		    (struct pollfd){ .fd = s->conns[i].cq_fd, .events = POLLIN };
		fds[2 * i + 1] =
		    (struct pollfd){ .fd = s->conns[i].event_fd, .events = POLLIN };
	}
	if (poll(fds, 2 * n, ms) <= 0)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (fds[2 * i].revents)
			must(rpma_cq_wait(s->conns[i].cq), "rpma_cq_wait");
		if (fds[2 * i + 1].revents && !s->conns[i].closed)
			on_event(&s->conns[i]);
	}
	return true;
}

/* After a failure not every device completes the other sends by itself. */
static bool
is_done(const struct sender *s, const struct conn *conn)
{
	if (conn->failed || conn->closed)
		return true;
	return conn->posted == conn->done && conn->done >= s->options.count;
}

static void
send_all(struct sender *s)
{
	struct options *o = &s->options;
	uint64_t stop =
	    o->flood && o->hold_s ? now_ms() + 1000ull * o->hold_s : UINT64_MAX;

	for (;;) {
		uint32_t left = 0;
		int got = 0;

		if (now_ms() >= stop)
			o->count = 0;
		for (uint32_t i = 0; i < o->conns; i++) {
			fill_window(s, &s->conns[i]);
			if (!is_done(s, &s->conns[i]))
				left++;
			else if (o->disconnect_at_once)
				conn_disconnect(&s->conns[i]);
		}
		if (left == 0)
			return;
		for (uint32_t i = 0; i < o->conns; i++)
			got += poll_completions(s, &s->conns[i]);
		if (got == 0 && !wait_for_anything(s, (int)o->stall_s * 1000))
			die("no completion for %u s, %" PRIu64 " messages sent",
			    o->stall_s, s->messages);
	}
}

static void
conn_close(struct sender *s, struct conn *conn)
{
	struct pollfd fd = { .fd = conn->event_fd, .events = POLLIN };
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	uint32_t lost;

	while (poll_completions(s, conn) > 0)
		;
	lost = conn->posted - conn->done;
	s->flushed += lost;
	if (lost > 0 && !conn->failed && !s->options.flood) {
		(void)fprintf(stderr,
		    "rpma12_send: connection %u: %u sends were not completed\n",
		    conn->index, lost);
		s->errors++;
	}
	if (poll(&fd, 1, CLOSE_MS) > 0)
		must(rpma_conn_next_event(conn->rpma, &event), "rpma_conn_next_event");
	if (event != RPMA_CONN_CLOSED && !s->options.flood) {
		(void)fprintf(stderr,
		    "rpma12_send: connection %u: not closed in order\n", conn->index);
		s->errors++;
	}
	must(rpma_conn_delete(&conn->rpma), "rpma_conn_delete");
}

static void
prepare(struct sender *s)
{
	struct options *o = &s->options;
	struct ibv_context *context;
	size_t size;

	if (o->conns > CONNS_MAX || o->too_long > 0 || o->kill_after > 0 ||
	    o->retries != 7 || o->rnr_retries != 7)
		die("up to %u connections, no --too-long, --kill-after, --retries or --rnr-retries",
		    CONNS_MAX);
	s->slot_size = o->max_len > 0 ? o->max_len : 1;
	size = (size_t)o->window * s->slot_size;
	must(rpma_utils_get_ibv_context(o->addr, RPMA_UTIL_IBV_CONTEXT_REMOTE,
		 &context),
	    "rpma_utils_get_ibv_context");
	must(rpma_peer_new(context, &s->peer), "rpma_peer_new");
	must(rpma_conn_cfg_new(&s->cfg), "rpma_conn_cfg_new");
	must(rpma_conn_cfg_set_sq_size(s->cfg, o->window), "rpma_conn_cfg_set_sq_size");
	must(rpma_conn_cfg_set_cq_size(s->cfg, o->window + 1),
	    "rpma_conn_cfg_set_cq_size");
	must(rpma_conn_cfg_set_timeout(s->cfg, TIMEOUT_MS),
	    "rpma_conn_cfg_set_timeout");
	s->conns = calloc(o->conns, sizeof(*s->conns));
	if (!s->conns)
		die("out of memory");
	for (uint32_t i = 0; i < o->conns; i++) {
		struct conn *conn = &s->conns[i];

		conn->messages = calloc(o->window, sizeof(*conn->messages));
		if (posix_memalign((void **)&conn->buf, 4096, size) || !conn->messages)
			die("out of memory");
		must(rpma_mr_reg(s->peer, conn->buf, size, RPMA_MR_USAGE_SEND,
			 &conn->mr),
		    "rpma_mr_reg");
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
		options_hold(o);
		for (uint32_t i = 0; i < o->conns; i++)
			conn_disconnect(&s.conns[i]);
		for (uint32_t i = 0; i < o->conns; i++)
			conn_close(&s, &s.conns[i]);
	}
	if (o->manifest && fclose(o->manifest))
		die("cannot write the manifest: %s", strerror(errno));
	(void)printf("rpma12_send: messages=%" PRIu64 " bytes=%" PRIu64
		     " conns=%" PRIu64 " errors=%" PRIu64 " flushed=%" PRIu64 "\n",
	    s.messages, s.bytes, (uint64_t)o->conns * o->rounds, s.errors, s.flushed);
	return s.errors == 0 ? 0 : 1;
}
