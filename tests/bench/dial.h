/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection to a socket in the file system. */
#ifndef RPMAD_TESTS_BENCH_DIAL_H
#define RPMAD_TESTS_BENCH_DIAL_H

/* A descriptor, to be closed; ends the process on errors. */
int dial(const char *path);

#endif
