# SPDX-License-Identifier: BSD-3-Clause
# What librpma and the control socket cost: "make bench" prints a table of each.
EXTRA_DIST += %D%/control.c %D%/control.sh %D%/issue.c %D%/issue.sh

if BUILD_DAEMON
bench_programs = rpmactl tests/fake/rpmad-fake tests/fake/fake-send
endif

bench: config.h lib/rpma/librpma.la $(bench_programs)
	@top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' CC='$(CC)' \
	  CPPFLAGS='$(VERBS_CFLAGS) $(RDMACM_CFLAGS)' $(SHELL) $(abs_top_srcdir)/%D%/issue.sh
	@top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' CC='$(CC)' \
	  $(SHELL) $(abs_top_srcdir)/%D%/control.sh

.PHONY: bench
