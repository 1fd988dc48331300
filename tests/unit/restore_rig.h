/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines one after the other, each given what the service manager kept of the one before. */
#ifndef RPMAD_TESTS_UNIT_RESTORE_RIG_H
#define RPMAD_TESTS_UNIT_RESTORE_RIG_H

#include "tests/unit/engine_rig.h"
#include "tests/unit/manager_rig.h"

extern struct rig rig;
extern struct manager manager;
extern char logged[8192]; /* lines of the log since the last begin */

void restore_setup(void);
void restore_teardown(void);

void restore_begin(void);
/* In good order. */
void restore_end(void);
/* Messages "0", "11", "222", ..., of one peer. */
void restore_receive(unsigned int count);
/* A process that begins, receives, and dies of a signal. */
void restore_die(unsigned int messages, int number);

/* Text that the log, and a warning of the engine, must have. */
void restore_logged(const char *text);
void restore_warns(const char *text);

#endif
