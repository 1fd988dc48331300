# SPDX-License-Identifier: BSD-3-Clause
# rpmactl: its parts alone, and whole commands against a scripted daemon.
if HAVE_CHECK
ctl_check_sources = %D%/ctl_harness.c %D%/ctl_harness.h %D%/harness.h
ctl_check_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
ctl_check_libs = ctl/libctl.a lib/core/libcore.a lib/rpmac/librpmac-core.la $(JANSSON_LIBS) $(CHECK_LIBS)
check_PROGRAMS += %D%/check_client %D%/check_command %D%/check_doctor %D%/check_poll %D%/check_resolve \
  %D%/check_run %D%/check_split %D%/check_top %D%/check_top_draw \
  %D%/check_view
%C%_check_client_SOURCES = %D%/check_client.c $(ctl_check_sources)
%C%_check_client_CFLAGS = $(ctl_check_cflags)
%C%_check_client_LDADD = $(ctl_check_libs)
%C%_check_command_SOURCES = %D%/check_command.c $(ctl_check_sources)
%C%_check_command_CFLAGS = $(ctl_check_cflags)
%C%_check_command_LDADD = $(ctl_check_libs)
%C%_check_doctor_SOURCES = %D%/check_doctor.c $(ctl_check_sources)
%C%_check_doctor_CFLAGS = $(ctl_check_cflags)
%C%_check_doctor_LDADD = $(ctl_check_libs)
%C%_check_poll_SOURCES = %D%/check_poll.c $(ctl_check_sources)
%C%_check_poll_CFLAGS = $(ctl_check_cflags)
%C%_check_poll_LDADD = $(ctl_check_libs)
%C%_check_resolve_SOURCES = %D%/check_resolve.c $(ctl_check_sources)
%C%_check_resolve_CFLAGS = $(ctl_check_cflags)
%C%_check_resolve_LDADD = $(ctl_check_libs)
%C%_check_run_SOURCES = %D%/check_run.c $(ctl_check_sources)
%C%_check_run_CFLAGS = $(ctl_check_cflags)
%C%_check_run_LDADD = $(ctl_check_libs)
%C%_check_split_SOURCES = %D%/check_split.c %D%/harness.h
%C%_check_split_CFLAGS = $(ctl_check_cflags)
%C%_check_split_LDADD = $(ctl_check_libs)
%C%_check_top_SOURCES = %D%/check_top.c %D%/top_rig.c %D%/top_rig.h %D%/harness.h
%C%_check_top_CFLAGS = $(ctl_check_cflags)
%C%_check_top_LDADD = $(ctl_check_libs)
%C%_check_top_draw_SOURCES = %D%/check_top_draw.c %D%/top_rig.c %D%/top_rig.h %D%/harness.h
%C%_check_top_draw_CFLAGS = $(ctl_check_cflags)
%C%_check_top_draw_LDADD = $(ctl_check_libs)
%C%_check_view_SOURCES = %D%/check_view.c $(ctl_check_sources)
%C%_check_view_CFLAGS = $(ctl_check_cflags)
%C%_check_view_LDADD = $(ctl_check_libs)
endif
