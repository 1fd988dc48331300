# SPDX-License-Identifier: BSD-3-Clause
# What librpma costs: "make bench" counts instructions and prints a table.
EXTRA_DIST += %D%/issue.c %D%/issue.sh

bench: config.h lib/rpma/librpma.la
	@top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' CC='$(CC)' \
	  CPPFLAGS='$(VERBS_CFLAGS) $(RDMACM_CFLAGS)' $(SHELL) $(abs_top_srcdir)/%D%/issue.sh

.PHONY: bench
