/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGINT and SIGTERM as a descriptor, for commands that end in an orderly way. */
#ifndef RPMAD_CTL_INTERRUPT_H
#define RPMAD_CTL_INTERRUPT_H

#include <stdbool.h>

#include "lib/core/err.h"

/*
 * Block both signals and return a descriptor that becomes readable when one arrives; a
 * signal that is ignored (as a shell does for background jobs) stays ignored.
 * return   descriptor, to be closed with close(2); negative errno with err
 */
int interrupt_open(struct err *err);

/* The same for what else a terminal sends: SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH. */
int interrupt_open_terminal(struct err *err);

/* Take one that has arrived. return   its number; 0: there was none */
int interrupt_take_signal(int fd);

/* Take one that has arrived, so that the next can be seen. false: there was none. */
bool interrupt_take(int fd);

/* Whether one has arrived. fd -1: never. */
bool interrupt_is_pending(int fd);

/*
 * Wait until fd is ready for events of poll(2), or an interrupt.
 * return   0; -EINTR an interrupt came first
 */
int interrupt_wait(int interrupt_fd, int fd, short events);

/*
 * Block SIGCHLD and return a descriptor that becomes readable when a child has ended,
 * be the signal ignored by whom started us or not.
 * return   descriptor, to be closed with close(2); negative errno with err
 */
int interrupt_open_children(struct err *err);

/*
 * Let time pass.
 *
 * output_fd  whose reader may go away meanwhile; -1: none
 * return     0; -EINTR an interrupt came; -EPIPE the reader went away
 */
int interrupt_pause(int interrupt_fd, int output_fd, int pause_ms);

#endif
