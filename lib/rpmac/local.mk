# SPDX-License-Identifier: BSD-3-Clause
# librpmac, shared and static; it needs nothing but the C library. Its objects are also a
# convenience library for rpmactl and the tests.
noinst_LTLIBRARIES += %D%/librpmac-core.la
%C%_librpmac_core_la_SOURCES = \
  %D%/impl.h %D%/reply.c %D%/ring.c %D%/rpmac.c %D%/rpmac_open.c %D%/scan.c %D%/scan.h \
  %D%/show.c %D%/wire.c %D%/librpmac.h
%C%_librpmac_core_la_CFLAGS = $(AM_CFLAGS)

lib_LTLIBRARIES += %D%/librpmac.la
%C%_librpmac_la_SOURCES =
%C%_librpmac_la_LIBADD = %D%/librpmac-core.la
%C%_librpmac_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
  -Wl,--version-script=$(top_srcdir)/%D%/librpmac.map
EXTRA_%C%_librpmac_la_DEPENDENCIES = %D%/librpmac.map

include_HEADERS += %D%/librpmac.h

pkgconfig_DATA += %D%/librpmac.pc
EXTRA_DIST += %D%/librpmac.map %D%/librpmac.pc.in
CLEANFILES += %D%/librpmac.pc
%D%/librpmac.pc: %D%/librpmac.pc.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(subst) $(srcdir)/%D%/librpmac.pc.in >$@.tmp && mv $@.tmp $@
