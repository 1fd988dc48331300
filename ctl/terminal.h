/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole terminal: taken for a while, and given back as it was. */
#ifndef RPMAD_CTL_TERMINAL_H
#define RPMAD_CTL_TERMINAL_H

#include <stdbool.h>
#include <termios.h>

#include "lib/core/compiler.h"
#include "lib/core/err.h"

struct terminal {
	int in_fd;     /* where keys come from; -1: nowhere */
	int out_fd;    /* the screen */
	int signal_fd; /* readable: terminal_signal() has something */
	bool is_taken;
	struct termios modes; /* of in_fd, as they were */
};

enum terminal_signal {
	TERMINAL_NOTHING,
	TERMINAL_CHANGED, /* its size, or somebody else wrote to it: draw again */
	TERMINAL_STOP,    /* terminal_stop() is asked for */
	TERMINAL_END      /* it is gone, or the program is to end */
};

/*
 * Take the terminal at standard output: a screen of its own without a cursor, and keys
 * from standard input, if that is a terminal, without an echo. From now on the signals of
 * the terminal come as terminal_signal(), those that are ignored apart; SIGINT and
 * SIGTERM are for interrupt_open().
 * return   0; negative errno with err
 */
RPMAD_MUST_USE int terminal_open(struct terminal *out, struct err *err);

/* Give it back. Twice is harmless, after terminal_open() has failed too. */
void terminal_close(struct terminal *terminal);

/* What happened since, one thing at a time. */
enum terminal_signal terminal_signal(const struct terminal *terminal);

/* Give the terminal back and stop, as a shell expects; when continued take it again. */
void terminal_stop(struct terminal *terminal);
/* Take it again, after somebody else stopped and continued this process. */
void terminal_renew(struct terminal *terminal);

/* Its size; 80 columns and 24 lines where it does not tell. */
void terminal_size(const struct terminal *terminal, unsigned int *width,
    unsigned int *height);

/* Whether text is in UTF-8, as the environment's locale says. */
bool terminal_is_utf8(void);

#endif
