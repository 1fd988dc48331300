/* SPDX-License-Identifier: BSD-3-Clause */
/* The bare loop as a function, so that it runs over a device and over doubles of one. */
#ifndef RPMAD_TESTS_BENCH_SERVE_VERBS_H
#define RPMAD_TESTS_BENCH_SERVE_VERBS_H

/* main() of it, see serve_verbs.c. */
int serve_verbs(int argc, char **argv);

#endif
