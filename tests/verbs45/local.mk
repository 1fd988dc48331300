# SPDX-License-Identifier: BSD-3-Clause
# Flushes by the device need headers of rdma-core 45. With those of 44 (Debian 12), what makes them is compiled and
# tested against the same headers with what 45 added; with newer ones check_rpma_native itself does that.
EXTRA_DIST += %D%/config.h %D%/verbs.awk
if VERBS_OF_44
if HAVE_CHECK
verbs45_header = %D%/infiniband/verbs.h
verbs45_cppflags = -I$(top_srcdir)/%D% -I$(top_builddir)/%D% $(AM_CPPFLAGS)
CLEANFILES += $(verbs45_header)
%D%/infiniband/verbs.h: %D%/verbs.awk Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	header=`echo '#include <infiniband/verbs.h>' | $(CC) -E $(CPPFLAGS) $(VERBS_CFLAGS) - | \
	  $(SED) -n '/^# 1 "\(.*\/infiniband\/verbs\.h\)".*/{s//\1/p;q;}'` && \
	$(AWK) -f $(srcdir)/%D%/verbs.awk "$$header" >$@.tmp && mv $@.tmp $@

check_LIBRARIES += %D%/libfake45.a
%C%_libfake45_a_SOURCES = $(tests_fake_libfake_a_SOURCES)
%C%_libfake45_a_CPPFLAGS = $(verbs45_cppflags)
%C%_libfake45_a_CFLAGS = $(tests_fake_libfake_a_CFLAGS)
$(%C%_libfake45_a_OBJECTS): $(verbs45_header)

# native.o comes before librpma-core.la, whose own is left out then.
check_PROGRAMS += tests/unit/check_rpma_native45
tests_unit_check_rpma_native45_SOURCES = tests/unit/check_rpma_native.c lib/rpma/native.c
tests_unit_check_rpma_native45_CPPFLAGS = $(verbs45_cppflags)
tests_unit_check_rpma_native45_CFLAGS = $(rpma_check_cflags)
tests_unit_check_rpma_native45_LDFLAGS = $(rpma_check_ldflags)
tests_unit_check_rpma_native45_LDADD = tests/unit/librpma-fixture.a lib/rpma/librpma-core.la \
  %D%/libfake45.a -lpthread $(CHECK_LIBS)
$(tests_unit_check_rpma_native45_OBJECTS): $(verbs45_header)
endif
endif
