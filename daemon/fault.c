/* SPDX-License-Identifier: BSD-3-Clause */
/* A handler for the signals of faults. */
#include <config.h>

#include "daemon/fault.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

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

/*
 * A stack for the handler: one that has overflowed has no room for it. It stays to the end of
 * the process; where there is none, an overflow leaves no mark.
 */
static void
make_stack(void)
{
	stack_t stack = { 0 };

	if (sigaltstack(NULL, &stack) != 0 || !(stack.ss_flags & SS_DISABLE))
		return; /* it is there already */
	stack.ss_size = (size_t)sysconf(_SC_SIGSTKSZ);
	stack.ss_flags = 0;
	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack.ss_sp != MAP_FAILED)
		(void)sigaltstack(&stack, NULL);
}

void
fault_watch(_Atomic uint64_t *mark)
{
	struct sigaction action = { .sa_sigaction = on_fault,
		.sa_flags =
		    (int)(SA_SIGINFO | SA_RESETHAND | SA_NODEFER | SA_ONSTACK) };
	size_t i;

	make_stack();
	atomic_store(&fault_mark, mark);
	(void)sigemptyset(&action.sa_mask);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		(void)sigaction(signals[i], &action, NULL);
}
