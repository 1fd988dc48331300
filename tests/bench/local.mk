# SPDX-License-Identifier: BSD-3-Clause
# What librpma, the control socket and the way of a message cost: "make bench" prints a table of each, scripts/bench one of what is
# measured over a device.
EXTRA_DIST += %D%/compare.sh %D%/control.sh %D%/issue.c %D%/issue.sh %D%/path.sh %D%/serve_rpma.c %D%/table.awk

if BUILD_DAEMON
noinst_PROGRAMS += %D%/control %D%/flood %D%/serve_verbs %D%/serve_verbs_fake %D%/take %D%/take_json
bench_meter = %D%/meter.c %D%/meter.h
bench_dial = %D%/dial.c %D%/dial.h
bench_handover = %D%/handover.c %D%/handover.h $(bench_meter)
bench_verbs = %D%/serve_verbs.c %D%/serve_verbs.h $(bench_handover)

%C%_control_SOURCES = %D%/control.c $(bench_dial)

%C%_flood_SOURCES = %D%/flood.c $(bench_meter)
%C%_flood_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS) $(RDMACM_CFLAGS)
%C%_flood_LDADD = $(RDMACM_LIBS) $(VERBS_LIBS)

%C%_serve_verbs_SOURCES = %D%/serve_verbs_main.c $(bench_verbs)
%C%_serve_verbs_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS) $(RDMACM_CFLAGS)
%C%_serve_verbs_LDADD = $(RDMACM_LIBS) $(VERBS_LIBS)

%C%_serve_verbs_fake_SOURCES = %D%/serve_verbs_fake.c $(bench_verbs)
%C%_serve_verbs_fake_CFLAGS = $(AM_CFLAGS) $(VERBS_CFLAGS) $(RDMACM_CFLAGS)
%C%_serve_verbs_fake_LDADD = $(fake_libs)

%C%_take_SOURCES = %D%/take.c $(bench_dial) $(bench_handover)
%C%_take_LDADD = lib/rpmac/librpmac-core.la

%C%_take_json_SOURCES = %D%/take_json.c $(bench_dial) $(bench_meter)
%C%_take_json_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_take_json_LDADD = $(JANSSON_LIBS)

bench_programs = rpmactl tests/fake/rpmad-fake tests/fake/fake-send %D%/control %D%/serve_verbs_fake %D%/take
endif

bench: config.h lib/rpma/librpma.la $(bench_programs)
	@top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' CC='$(CC)' \
	  CPPFLAGS='$(VERBS_CFLAGS) $(RDMACM_CFLAGS)' $(SHELL) $(abs_top_srcdir)/%D%/issue.sh
	@top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' $(SHELL) $(abs_top_srcdir)/%D%/control.sh
	@top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' $(SHELL) $(abs_top_srcdir)/%D%/path.sh

.PHONY: bench
