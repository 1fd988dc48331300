/* SPDX-License-Identifier: BSD-3-Clause */
/* Help pages out of the tables. */
#ifndef RPMAD_CTL_HELP_H
#define RPMAD_CTL_HELP_H

struct buf;
struct command;

/* Add the page of a command; NULL: the list of commands and global options. */
void help_add(struct buf *buf, const struct command *command);

#endif
