/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole program as a function, so that a build with other drivers can wrap it. */
#ifndef RPMAD_DAEMON_RPMAD_H
#define RPMAD_DAEMON_RPMAD_H

/*
 * Parse the options, read the configuration, serve until stopped.
 * return   the exit status: 0, 1 failure, 2 usage or configuration, 3 already running
 */
int rpmad_main(int argc, char **argv);

#endif
