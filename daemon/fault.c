/* SPDX-License-Identifier: BSD-3-Clause */
/* A handler for the signals of faults. */
#include <config.h>

#include "daemon/fault.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

/* A handler is given nothing of its own: it finds this here. */
static _Atomic(_Atomic uint64_t *) fault_mark;

uint64_t
fault_now_ns(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void
on_fault(int number, siginfo_t *info, void *context)
{
	_Atomic uint64_t *mark = atomic_load(&fault_mark);

	(void)context;
	if (mark)
		atomic_store(mark, fault_now_ns());
	/* Of the kernel: the instruction faults again, at its own place in the core. */
	if (info->si_code <= 0)
		(void)raise(number);
}

void
fault_watch(_Atomic uint64_t *mark)
{
	struct sigaction action = { .sa_sigaction = on_fault,
		.sa_flags = (int)(SA_SIGINFO | SA_RESETHAND | SA_NODEFER) };
	size_t i;

	atomic_store(&fault_mark, mark);
	(void)sigemptyset(&action.sa_mask);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		(void)sigaction(signals[i], &action, NULL);
}
