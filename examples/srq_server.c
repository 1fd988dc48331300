/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One server for many clients, which all draw on one shared receive queue (SRQ).
 *
 *   srq_server server ADDR PORT [COUNT]    prints what arrives, COUNT messages or for ever
 *   srq_server client ADDR PORT TEXT...    sends a message for each TEXT
 *
 * A connection costs the server neither buffers nor descriptors: the buffers are the
 * SRQ's, all events come from one CM channel, all completions from two queues.
 */
#include "common.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define BUFFERS      64
#define BUFFER_BYTES 1024

struct client {
	struct client *next;
	struct rpma_conn *conn;
	uint32_t qp_num; /* by which completions tell whose they are */
	int number;
};

struct server {
	struct rpma_peer *peer;
	struct rpma_cm *cm;
	struct rpma_ep *ep;
	struct rpma_srq *srq;
	struct rpma_cq *rcq; /* the SRQ's: what arrived, from whomever */
	struct rpma_cq
	    *cq; /* of sends; this server sends nothing, but a queue it takes */
	struct rpma_conn_cfg *cfg;
	struct rpma_mr_local *region;
	char *memory;
	struct client *clients;
	int clients_ever;
	long messages;
};

/* Give a buffer to the SRQ, that is, to the message that comes next, whoever sends it. */
static void
give_buffer(struct server *s, size_t index)
{
	MUST(rpma_srq_recv(s->srq, s->region, index * BUFFER_BYTES, BUFFER_BYTES,
	    (void *)index));
}

static void
make_queues(struct server *s)
{
	struct rpma_srq_cfg *cfg;

	MUST(rpma_srq_cfg_new(&cfg));
	MUST(rpma_srq_cfg_set_rq_size(cfg, BUFFERS));
	MUST(rpma_srq_cfg_set_rcq_size(cfg, BUFFERS));
	MUST(rpma_srq_new(s->peer, cfg, &s->srq));
	MUST(rpma_srq_cfg_delete(&cfg));
	MUST(rpma_srq_get_rcq(s->srq, &s->rcq));
	MUST(rpma_cq_new(s->peer, 16, &s->cq));

	s->memory = memory_new(BUFFERS * BUFFER_BYTES);
	MUST(rpma_mr_reg(s->peer, s->memory, BUFFERS * BUFFER_BYTES, RPMA_MR_USAGE_RECV,
	    &s->region));
	for (size_t i = 0; i < BUFFERS; i++)
		give_buffer(s, i);

	MUST(rpma_conn_cfg_new(&s->cfg));
	MUST(rpma_conn_cfg_set_srq(s->cfg, s->srq));
	MUST(rpma_conn_cfg_set_cq(s->cfg, s->cq));
}

static void
start_listening(struct server *s, const char *addr, const char *port)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_PASSIVE };
	struct addrinfo *info;

	if (getaddrinfo(addr, port, &hints, &info) != 0) {
		fprintf(stderr, "%s %s is no numeric address and port\n", addr, port);
		exit(2);
	}
	MUST(rpma_cm_new(&s->cm));
	MUST(rpma_cm_listen(s->cm, s->peer, info->ai_addr, 0, &s->ep));
	freeaddrinfo(info);
	printf("listening at %s %s\n", addr, port);
}

static struct client *
client_of(struct server *s, uint32_t qp_num)
{
	struct client *client = s->clients;

	while (client && client->qp_num != qp_num)
		client = client->next;
	return client;
}

/* Print all that has arrived; the buffers go back at once. */
static void
read_messages(struct server *s)
{
	struct ibv_wc wc[16];
	int n;

	while (rpma_cq_get_wc(s->rcq, 16, wc, &n) == 0) {
		for (int i = 0; i < n; i++) {
			size_t index = (size_t)wc[i].wr_id;
			struct client *client = client_of(s, wc[i].qp_num);

			/* Of a failed one, only wr_id, status and qp_num mean something. */
			if (wc[i].status == IBV_WC_SUCCESS) {
				printf("client %d: %.*s\n", client ? client->number : 0,
				    (int)wc[i].byte_len,
				    s->memory + index * BUFFER_BYTES);
				s->messages++;
			}
			give_buffer(s, index);
		}
	}
}

static void
accept_client(struct server *s, struct rpma_conn_req *req)
{
	struct client *client = calloc(1, sizeof(*client));
	struct rpma_conn *conn;

	if (!client) {
		MUST(rpma_cm_reject(&req, NULL));
		return;
	}
	/* One that is gone already cannot be accepted, which is no reason to stop. */
	if (rpma_cm_accept(&req, s->cfg, NULL, &conn) != 0) {
		free(client);
		return;
	}
	MUST(rpma_conn_get_qp_num(conn, &client->qp_num));
	MUST(rpma_conn_set_context(conn, client));
	client->conn = conn;
	client->number = ++s->clients_ever;
	client->next = s->clients;
	s->clients = client;
}

static void
end_client(struct server *s, struct rpma_conn *conn)
{
	struct client **link = &s->clients;
	struct client *client;
	void *context;

	MUST(rpma_conn_get_context(conn, &context));
	client = context;
	/* Messages may have come before the end although we see them after it. */
	(void)rpma_conn_disconnect(conn);
	MUST(rpma_conn_drain(conn));
	read_messages(s);
	while (*link != client)
		link = &(*link)->next;
	*link = client->next;
	MUST(rpma_conn_delete(&client->conn));
	printf("client %d is gone\n", client->number);
	free(client);
}

static void
read_events(struct server *s)
{
	struct rpma_cm_event event;
	int result;

	while ((result = rpma_cm_next_event(s->cm, &event)) == 0) {
		switch (event.kind) {
		case RPMA_CM_REQUEST:
			accept_client(s, event.req);
			break;
		case RPMA_CM_CLOSED:
		case RPMA_CM_LOST:
			end_client(s, event.conn);
			break;
		case RPMA_CM_DEVICE_REMOVED:
			fprintf(stderr, "the device is going away\n");
			exit(1);
		default:
			break;
		}
	}
	if (result != RPMA_E_NO_EVENT)
		must(result, "rpma_cm_next_event");
}

static void
clean_up(struct server *s)
{
	/* What was made last goes first. */
	while (s->clients)
		end_client(s, s->clients->conn);
	MUST(rpma_ep_shutdown(&s->ep));
	MUST(rpma_cm_delete(&s->cm));
	MUST(rpma_conn_cfg_delete(&s->cfg));
	MUST(rpma_cq_delete(&s->cq));
	MUST(rpma_srq_delete(&s->srq));
	MUST(rpma_mr_dereg(&s->region));
	MUST(rpma_peer_delete(&s->peer));
	free(s->memory);
}

static void
serve(const char *addr, const char *port, long count)
{
	struct pollfd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	struct server s = { 0 };

	s.peer = peer_at(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	make_queues(&s);
	start_listening(&s, addr, port);
	MUST(rpma_cm_get_fd(s.cm, &fds[0].fd));
	MUST(rpma_cq_get_fd(s.rcq, &fds[1].fd));
	while (count == 0 || s.messages < count) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[0].revents)
			read_events(&s);
		if (fds[1].revents) {
			/* Take the event, which arms the queue again, and then read all. */
			MUST(rpma_cq_wait(s.rcq));
			read_messages(&s);
		}
	}
	clean_up(&s);
}

static void
send_texts(const char *addr, const char *port, char *texts[], int count)
{
	struct rpma_peer *peer = peer_at(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_conn *conn = dial(peer, addr, port, NULL);
	char *memory = memory_new(BUFFER_BYTES);
	struct rpma_mr_local *region;
	struct rpma_cq *cq;
	struct ibv_wc wc;

	MUST(rpma_mr_reg(peer, memory, BUFFER_BYTES, RPMA_MR_USAGE_SEND, &region));
	MUST(rpma_conn_get_cq(conn, &cq));
	for (int i = 0; i < count; i++) {
		size_t len = strnlen(texts[i], BUFFER_BYTES);

		memcpy(memory, texts[i], len);
		MUST(rpma_send(conn, region, 0, len, RPMA_F_COMPLETION_ALWAYS, NULL));
		next_completion(cq, &wc);
	}
	hang_up(conn);
	MUST(rpma_mr_dereg(&region));
	MUST(rpma_peer_delete(&peer));
	free(memory);
}

int
main(int argc, char *argv[])
{
	if (is_server(argc, argv, "[COUNT | TEXT...]"))
		serve(argv[2], argv[3], argc > 4 ? atol(argv[4]) : 0);
	else
		send_texts(argv[2], argv[3], argv + 4, argc - 4);
	return 0;
}
