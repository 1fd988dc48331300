/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine over the doubles, with a loop that the test turns. */
#ifndef RPMAD_TESTS_UNIT_ENGINE_RIG_H
#define RPMAD_TESTS_UNIT_ENGINE_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/engine.h"
#include "daemon/loop.h"
#include "daemon/settings.h"
#include "tests/fake/fake.h"

struct rig {
	struct settings settings;
	struct loop *loop;
	struct engine *engine;
	struct events *events; /* NULL, or the test's own: takes what happens */
	struct store *store;   /* NULL, or the test's own: keeps the pool */
	struct err err;
	unsigned int ready; /* calls of the hooks */
	unsigned int states;
	unsigned int busy;
	bool is_stopped;
};

/* The end of an asynchronous call. */
struct rig_done {
	unsigned int calls;
	bool failed;
	struct err err;
	struct conn_info info;
	bool has_info;
};

/* How often the host's addresses were looked through. */
extern unsigned int rig_looks;

/* Settings for the tests: 32 slots of 64 bytes, target 16, listening at 127.0.0.1:0. */
void rig_settings(struct rig *rig);
/* Make loop and engine; what engine_new() returned. */
int rig_start(struct rig *rig);
/* Free both, and demand that no object is left and no rule was broken. */
void rig_end(struct rig *rig);

/* Turn the loop until *condition(arg), at most 20 s; whether it came true. */
bool rig_until(struct rig *rig, bool (*condition)(struct rig *rig, void *arg),
    void *arg);
/*
 * Some of these: no connection is open, or one, and a closed one is until it is drained; the
 * target is posted; a lease has expired; a completion was found that no event announced.
 */
bool rig_no_conns(struct rig *rig, void *arg);
bool rig_one_conn(struct rig *rig, void *arg);
bool rig_is_filled(struct rig *rig, void *arg);
bool rig_has_expired(struct rig *rig, void *arg);
bool rig_has_looked(struct rig *rig, void *arg);
/* Turn it until nothing happens for one turn without waiting. */
void rig_settle(struct rig *rig);
/* Turn it for a time. */
void rig_turn_ms(struct rig *rig, unsigned int ms);

/* The port that it listens at. */
uint16_t rig_port(struct rig *rig);
/* A peer that is connected and established. */
struct fake_peer *rig_peer(struct rig *rig);
/* Send text from a peer. */
int rig_send(struct fake_peer *peer, const char *text);

/* Lease the oldest message, and compare its content; fails when there is none. */
struct ledger_message rig_expect(struct rig *rig, const char *text);
/* Acknowledge it. */
void rig_ack(struct rig *rig, const struct ledger_message *message);

struct ledger_counts rig_counts(struct rig *rig);
struct engine_stats rig_stats(struct rig *rig);
/* The count of a name in a list of stats; 0: not there. */
uint64_t rig_named(const struct engine_named_count *list, size_t n, const char *name);
/* The info of a connection, open or closed. */
struct conn_info rig_conn(struct rig *rig, uint64_t id);

/* An engine_done_fn; arg is a struct rig_done. */
void rig_done(void *arg, const struct err *err, const struct conn_info *info);
/* Turn until it was called. */
bool rig_wait(struct rig *rig, struct rig_done *done);

#endif
