/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RPMAD_TESTS_PEERS_MUST_H
#define RPMAD_TESTS_PEERS_MUST_H

/* Of the peers on our librpma: one whose call failed says which and why, and ends with status 1. */
void must(int result, const char *what);

#endif
