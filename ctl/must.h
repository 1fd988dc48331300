/* SPDX-License-Identifier: BSD-3-Clause */
/* Out of memory ends the program: a command line has nothing better to do. */
#ifndef RPMAD_CTL_MUST_H
#define RPMAD_CTL_MUST_H

/* Return what was allocated; NULL ends the program with exit status 1 and a message. */
void *must(void *allocated);

/* The same for calls that return 0 on success and can only fail for want of memory. */
void must_0(int rc);

#endif
