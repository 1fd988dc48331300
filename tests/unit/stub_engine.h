/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine in memory over the real ledger: no device, its events come from the test.
 */
#ifndef RPMAD_TESTS_UNIT_STUB_ENGINE_H
#define RPMAD_TESTS_UNIT_STUB_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/engine.h"
#include "daemon/loop.h"
#include "daemon/region.h"

#define STUB_OPS_MAX   512
#define STUB_INSTANCE  0xc0ffee0123456789u
#define STUB_CONNS_MAX 16384

/* An asynchronous call that was started. */
struct stub_op {
	engine_done_fn done;
	void *arg;
	uint64_t conn;
	size_t len;    /* of a send */
	char data[64]; /* its first bytes */
	uint64_t imm;
	uint64_t timeout_ms;
};

struct engine {
	struct loop *loop;
	const struct settings *settings;
	struct engine_hooks hooks;
	enum engine_state state;
	void *memory;
	struct ledger *ledger;
	struct region pool;
	char *data; /* in the pool */
	struct loop_deferred ready;
	struct loop_timer *lease_timer;
	struct engine_stats stats; /* what the test puts there, and counts made here */
	const char *reason;
	const char *device;
	const char *warning; /* NULL: none */
	bool has_limits;
	bool is_low;              /* engine_is_low() */
	enum err_code post_fails; /* the next engine_post() gives it */
	struct stub_op ops[STUB_OPS_MAX];
	size_t op_count;
	bool finishes_at_once; /* asynchronous calls end before they return */
	bool stops_at_once;    /* engine_stop() calls its hook before it returns */
	uint32_t conns;        /* how many conn.list shows */
	bool has_closed;       /* and one closed */
	uint32_t listeners;
	unsigned int stops; /* calls of engine_stop() */
	unsigned int frees_data;
};

/* What stops_at_once of the next engines is. */
extern bool stub_engine_stops_at_once;

/* The engine made last, for tests of what makes its own. */
struct engine *stub_engine_last(void);

/* A message arrives in a posted slot; fails the test when none is posted. */
void stub_engine_arrive(struct engine *engine, const void *data, size_t len);
/* With immediate data, by an RDMA write. */
void stub_engine_arrive_imm(struct engine *engine, const void *data, size_t len,
    uint32_t imm);

/* End the oldest call that was started: ERR_NONE is success. */
void stub_engine_finish(struct engine *engine, enum err_code code);

/* Call the hook "stopped". */
void stub_engine_stopped(struct engine *engine);

struct ledger_counts stub_engine_counts(struct engine *engine);

/*
 * One of each list: recv_errors LOC_LEN_ERR 3, post_errors ENOMEM 5, drops too_long 7,
 * closes peer 2, rejected limit 4; 9 cm_ids, 4194304 huge_page_bytes.
 */
void stub_engine_count(struct engine *engine);

#endif
