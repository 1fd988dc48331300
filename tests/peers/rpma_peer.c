/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Server and client that play scenarios with each other and write down what they see. The
 * program is compiled once, against the header of the archived librpma 1.2.0 (build.sh),
 * and run unchanged with that library and with ours, so that the transcripts tell whether
 * a program and its peer can see which library they have.
 *
 *   rpma_peer server|client ADDR PORT SCENARIO...
 *
 * Both are told the same scenarios. A scenario whose end is the death of a role is the last
 * of that process.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rpma_peer.h"

#define SCENARIO_S 30

static const struct scenario {
	const char *name;
	void (*play)(struct run *run);
} scenarios[] = {
	/* clang-format off */
	{ "send",            play_send },
	{ "send-imm",        play_send_imm },
	{ "rcq",             play_rcq },
	{ "srq-own-cq",      play_srq_own_cq },
	{ "srq-conn-cq",     play_srq_conn_cq },
	{ "srq-conn-rcq",    play_srq_conn_rcq },
	{ "shared-channel",  play_shared_channel },
	{ "read",            play_read },
	{ "read-nothing",    play_read_nothing },
	{ "write",           play_write },
	{ "write-imm",       play_write_imm },
	{ "flush",           play_flush },
	{ "atomic-write",    play_atomic_write },
	{ "private-data",    play_private_data },
	{ "reject",          play_reject },
	{ "nobody",          play_nobody },
	{ "client-ends",     play_client_ends },
	{ "server-ends",     play_server_ends },
	{ "client-dies",     play_client_dies },
	{ "server-dies",     play_server_dies },
	{ "arguments",       play_arguments },
	{ "remedies",        play_remedies },
	{ "recv-with-srq",   play_recv_with_srq },
	{ "beyond",          play_beyond },
	{ "tail-flush",      play_tail_flush },
	/* clang-format on */
};

static const struct scenario *
find(const char *name)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (strcmp(scenarios[i].name, name) == 0)
			return &scenarios[i];
	die("no scenario %s", name);
}

static void
set_up(struct run *run)
{
	enum rpma_util_ibv_context_type type =
	    run->is_server ? RPMA_UTIL_IBV_CONTEXT_LOCAL : RPMA_UTIL_IBV_CONTEXT_REMOTE;
	struct ibv_context *context;

	/* What goes wrong on purpose need not be in the system's log. */
	must(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED), "log");
	must(rpma_utils_get_ibv_context(run->addr, type, &context),
	    "rpma_utils_get_ibv_context");
	must(rpma_peer_new(context, &run->peer), "rpma_peer_new");
	if (posix_memalign((void **)&run->memory, 4096, REGION_BYTES))
		die("out of memory");
	memset(run->memory, 0, REGION_BYTES);
	/* All uses. */
	must(rpma_mr_reg(run->peer, run->memory, REGION_BYTES, 0xff, &run->region),
	    "rpma_mr_reg");
	if (!run->is_server)
		return;
	must(rpma_ep_listen(run->peer, run->addr, run->port, &run->ep),
	    "rpma_ep_listen");
	run->scenario = "start";
	say(run, "listening");
}

static void
tear_down(struct run *run)
{
	run->scenario = "end";
	if (run->is_server)
		must(rpma_ep_shutdown(&run->ep), "rpma_ep_shutdown");
	must(rpma_mr_dereg(&run->region), "rpma_mr_dereg");
	must(rpma_peer_delete(&run->peer), "rpma_peer_delete");
	say(run, "nothing is left");
	free(run->memory);
}

int
main(int argc, char *argv[])
{
	struct run run = { 0 };

	if (argc < 5)
		die("usage: rpma_peer server|client ADDR PORT SCENARIO...");
	/* Lines are out before a role dies. */
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	run.is_server = strcmp(argv[1], "server") == 0;
	run.addr = argv[2];
	run.port = argv[3];
	set_up(&run);
	for (int i = 4; i < argc; i++) {
		const struct scenario *scenario = find(argv[i]);

		/* Nothing may hang: the signal's status says so. */
		(void)alarm(SCENARIO_S);
		run.scenario = scenario->name;
		say(&run, "begins");
		scenario->play(&run);
		say(&run, "is done");
	}
	tear_down(&run);
	return 0;
}
