/* SPDX-License-Identifier: BSD-3-Clause */
/* The death of the process by its own fault, written down for the next one. */
#ifndef RPMAD_DAEMON_FAULT_H
#define RPMAD_DAEMON_FAULT_H

#include <stdint.h>

/* ns since boot, also of the time that the machine slept. */
uint64_t fault_now_ns(void);

/*
 * Have the time written to *mark when SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT (which the
 * watchdog sends too) ends the process, which they do as before. SIGKILL leaves no mark: it
 * comes from others. NULL: nowhere from now on.
 */
void fault_watch(_Atomic uint64_t *mark);

#endif
