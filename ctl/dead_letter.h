/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder of messages that no command could deal with. */
#ifndef RPMAD_CTL_DEAD_LETTER_H
#define RPMAD_CTL_DEAD_LETTER_H

#include "lib/core/compiler.h"
#include "lib/core/err.h"

struct json_t;

/* return   a descriptor of the folder, to be closed with close(2); -EINVAL with err */
RPMAD_MUST_USE int dead_letter_open(const char *dir, struct err *err);

/*
 * Write a message into the file TOKEN.json, on disk when this returns; what was written
 * of it before, by one who did not get to acknowledge it, is replaced.
 *
 * completion  of recv.poll
 * why         how the command failed
 * return      0; -EIO with err, and nothing is left in the folder
 */
RPMAD_MUST_USE int dead_letter_write(int dir_fd, const char *dir,
    struct json_t *completion, const char *why, struct err *err);

#endif
