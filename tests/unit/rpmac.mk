# SPDX-License-Identifier: BSD-3-Clause
# librpmac against the daemon over the doubles, which is built with the rest.
if HAVE_CHECK
rpmac_rig = %D%/rpmac_rig.c %D%/rpmac_rig.h %D%/daemon_rig.c %D%/daemon_rig.h %D%/harness.h
rpmac_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
rpmac_ldadd = lib/rpmac/librpmac-core.la $(JANSSON_LIBS) $(CHECK_LIBS)
check_PROGRAMS += %D%/check_rpmac %D%/check_rpmac_hostile %D%/check_rpmac_kill %D%/check_rpmac_reply \
  %D%/check_rpmac_restart %D%/check_rpmac_ring
%C%_check_rpmac_SOURCES = %D%/check_rpmac.c $(rpmac_rig)
%C%_check_rpmac_CFLAGS = $(rpmac_cflags)
%C%_check_rpmac_LDFLAGS = $(AM_LDFLAGS) $(fake_alloc_ldflags)
%C%_check_rpmac_LDADD = $(rpmac_ldadd) $(fake_libs)
hostile_rig = %D%/hostile_rig.c %D%/hostile_rig.h %D%/harness.h
%C%_check_rpmac_hostile_SOURCES = %D%/check_rpmac_hostile.c $(hostile_rig)
%C%_check_rpmac_hostile_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_check_rpmac_hostile_LDADD = lib/rpmac/librpmac-core.la $(CHECK_LIBS)
%C%_check_rpmac_kill_SOURCES = %D%/check_rpmac_kill.c $(rpmac_rig)
%C%_check_rpmac_kill_CFLAGS = $(rpmac_cflags)
%C%_check_rpmac_kill_LDADD = $(rpmac_ldadd)
%C%_check_rpmac_reply_SOURCES = %D%/check_rpmac_reply.c %D%/harness.h
%C%_check_rpmac_reply_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_check_rpmac_reply_LDADD = lib/rpmac/librpmac-core.la $(CHECK_LIBS)
%C%_check_rpmac_restart_SOURCES = %D%/check_rpmac_restart.c %D%/manager_rig.c %D%/manager_rig.h $(rpmac_rig)
%C%_check_rpmac_restart_CFLAGS = $(rpmac_cflags)
%C%_check_rpmac_restart_LDADD = $(rpmac_ldadd)
endif
%C%_check_rpmac_ring_SOURCES = %D%/check_rpmac_ring.c $(hostile_rig)
%C%_check_rpmac_ring_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_check_rpmac_ring_LDADD = lib/rpmac/librpmac-core.la $(CHECK_LIBS)
