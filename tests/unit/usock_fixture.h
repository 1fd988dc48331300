/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of usock share: a folder of their own, sockets and children in it. */
#ifndef RPMAD_TESTS_UNIT_USOCK_FIXTURE_H
#define RPMAD_TESTS_UNIT_USOCK_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/core/err.h"

/* Set up for each test; path and lock_path are in the folder. */
extern char folder[64];
extern char path[96];
extern char lock_path[104];

void usock_setup(void);
void usock_teardown(void);

/* Permission bits of a file, and whether there is one. */
mode_t mode_of(const char *name);
bool exists(const char *name);

/* A socket at path as other programs make one: bound, and with no lock; or -1. */
int bare_listener(int backlog);

/* usock_connect() to path within a second. */
int connect_now(struct err *err);

/* Run body(ready_fd) in a child, which calls tell(ready_fd) when it is ready. */
pid_t child_that(void (*body)(int ready_fd));
void tell(int fd);

/* Send the signal unless it is 0, and wait. return   the status of waitpid(2) */
int end_child(pid_t pid, int signal_number);

#endif
