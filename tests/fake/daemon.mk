# SPDX-License-Identifier: BSD-3-Clause
# The daemon over the doubles, reachable at real TCP ports.
noinst_PROGRAMS += %D%/rpmad-fake
%C%_rpmad_fake_SOURCES = %D%/rpmad_fake_main.c %D%/fake_usable.c
%C%_rpmad_fake_LDADD = daemon/libdaemon.a lib/rpma/librpma-core.la lib/core/libcore.a \
  $(fake_libs) $(EVENT_LIBS) $(JANSSON_LIBS) $(SYSTEMD_LIBS)
